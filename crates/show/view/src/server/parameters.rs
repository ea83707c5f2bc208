//! What a question can be asked with: the parameters of a request, read by axum's `Query`.
//!
//! All questions know the same ones; those that mean nothing to a question are not looked at. What is left out is not
//! restricted.

use super::reply::Failure;
use super::text::shown;
use crate::index::Index;
use crate::query::Selection;
use crate::query::matrix::By;
use crate::query::order::Order;
use kizami_model::{Moment, Op, Rank};
use kizami_tasks::{Part, Strategy, Stretch, Survey};
use serde::Deserialize;

/// Parts of a run's tasks that are looked at together, at most.
const MOST_PARTS: usize = 8;
/// Far outside any run.
const FARTHEST: i64 = 1 << 60;

/// The parameters of a question.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Parameters {
    /// Number of the layer.
    pub layer: usize,
    from: Option<i64>,
    to: Option<i64>,
    /// Like `0-63,70`.
    ranks: String,
    /// Like `3,7`; both names are known.
    sites: String,
    site: String,
    limit: Option<u64>,
    columns: Option<u64>,
    rows: Option<u64>,
    pub order: Order,
    pub by: By,
    op: Option<u16>,
    /// Lengths of calls.
    pub low: Option<i64>,
    pub high: Option<i64>,
    /// `RANK:START`.
    event: String,
    /// Parts of a run's tasks, like `n3,t17,p2`.
    parts: String,
    /// Whether each part begins at 0.
    pub aligned: bool,
    /// Between the markers: of tasks, and what figures of links are about.
    pub mark_from: Option<i64>,
    pub mark_to: Option<i64>,
    processors: Option<u64>,
    /// Whose tasks.
    rank: u32,
    /// Which of the tasks that can run is taken; empty: as the runtime does that ran them.
    strategy: String,
}

impl Parameters {
    /// How many are wanted at most.
    pub(super) fn limit(&self, default: u64, most: u64) -> Result<u64, Failure> {
        whole("limit", self.limit, default, most)
    }

    pub(super) fn columns(&self, default: u64, most: u64) -> Result<u64, Failure> {
        whole("columns", self.columns, default, most)
    }

    pub(super) fn rows(&self, default: u64, most: u64) -> Result<u64, Failure> {
        whole("rows", self.rows, default, most)
    }

    /// The function that is meant, if one is.
    pub(super) fn op(&self) -> Option<Op> {
        self.op.map(Op)
    }

    /// The call that is meant: its rank, and when it began.
    pub(super) fn event(&self) -> Result<(u32, Moment), Failure> {
        let parts = self.event.split_once(':');
        let event = parts.and_then(|(rank, start)| Some((rank.parse().ok()?, Moment(start.parse().ok()?))));
        event.ok_or_else(|| Failure::bad("event must be RANK:START.".to_owned()))
    }

    pub(super) fn processors(&self) -> Result<u32, Failure> {
        Ok(whole("processors", self.processors, 1, u64::from(u32::MAX))? as u32)
    }

    /// Whose tasks are meant.
    pub(super) fn rank(&self) -> Rank {
        Rank(self.rank)
    }

    /// Which of the tasks that can run is taken; none: as the runtime does that ran them.
    pub(super) fn strategy(&self) -> Result<Option<Strategy>, Failure> {
        if self.strategy.is_empty() {
            return Ok(None);
        }
        let known = Strategy::ALL.into_iter().find(|strategy| strategy.name() == self.strategy);
        let unknown = || Failure::bad(format!("Unknown strategy {}.", shown(&self.strategy)));
        known.map(Some).ok_or_else(unknown)
    }

    /// A range of the run's tasks; all of it if none is given.
    pub(super) fn stretch(&self, whole: Stretch) -> Result<Stretch, Failure> {
        stretch(self.from, self.to, whole)
    }

    /// The range between the markers; all of the run if they are not set.
    pub(super) fn marked(&self, whole: Stretch) -> Result<Stretch, Failure> {
        stretch(self.mark_from, self.mark_to, whole)
    }

    /// Parts of a run's tasks that are there, each once.
    pub(super) fn parts(&self, survey: &Survey) -> Result<Vec<Part>, Failure> {
        let mut parts = Vec::new();
        for text in self.parts.split(',').filter(|text| !text.is_empty()) {
            let number = |kind: fn(u32) -> Part| text.get(1..)?.parse().ok().map(kind);
            let part = match text.as_bytes()[0] {
                b'n' => number(Part::Node),
                b't' => number(Part::Task),
                b'p' => number(Part::Place),
                _ => None,
            };
            let part = part.filter(|part| survey.knows(*part));
            let part = part.ok_or_else(|| Failure::bad(format!("Unknown part {}.", shown(text))))?;
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if parts.len() > MOST_PARTS {
            return Err(Failure::bad(format!("Too many parts: the limit is {MOST_PARTS}.")));
        }
        Ok(parts)
    }

    /// The part of the run that is meant.
    pub(super) fn selection(&self, index: &Index) -> Result<Selection, Failure> {
        let all = Selection::all(index);
        let (from, to) = (self.from.map_or(all.from, Moment), self.to.map_or(all.to, Moment));
        if to < from {
            return Err(Failure::bad("The range ends before it starts.".to_owned()));
        }
        let mut sites = all.sites;
        for (name, list) in [("sites", &self.sites), ("site", &self.site)] {
            for text in list.split(',').filter(|text| !text.is_empty()) {
                let wrong = |_| Failure::bad(format!("{name}={} is not a list of numbers.", shown(text)));
                sites.insert(text.parse().map_err(wrong)?);
            }
        }
        let ranks = if self.ranks.is_empty() { all.ranks } else { numbers(&self.ranks, index.ranks())? };
        Ok(Selection { from, to, ranks, sites })
    }
}

fn stretch(from: Option<i64>, to: Option<i64>, whole: Stretch) -> Result<Stretch, Failure> {
    let (from, to) = (from.map_or(whole.from, Moment), to.map_or(whole.to, Moment));
    // Moments far outside would overflow where lengths are added up.
    let far = |moment: Moment| !(-FARTHEST..=FARTHEST).contains(&moment.0);
    if to < from || far(from) || far(to) {
        return Err(Failure::bad("The range ends before it starts, or is outside the run.".to_owned()));
    }
    Ok(Stretch { from, to })
}

fn whole(name: &str, parameters: Option<u64>, default: u64, most: u64) -> Result<u64, Failure> {
    match parameters.unwrap_or(default) {
        number if (1..=most).contains(&number) => Ok(number),
        _ => Err(Failure::bad(format!("{name} must be from 1 to {most}."))),
    }
}

/// Ranks like `0-63,70`, those there are.
fn numbers(text: &str, limit: u32) -> Result<Vec<u32>, Failure> {
    let mut wanted = vec![false; limit as usize];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let wrong =
            |_| Failure::bad(format!("ranks={} is not a list of ranks such as 0-63,70.", shown(text)));
        let (first, last): (u32, u32) = (first.parse().map_err(wrong)?, last.parse().map_err(wrong)?);
        let last = last.saturating_add(1).min(limit);
        (first.min(last)..last).for_each(|number| wanted[number as usize] = true);
    }
    Ok((0..limit).filter(|number| wanted[*number as usize]).collect())
}
