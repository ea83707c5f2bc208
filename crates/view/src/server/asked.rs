//! What a question can be asked with: the parameters of a request, read by axum's `Query`.
//!
//! All questions know the same ones; those that mean nothing to a question are not looked at. What is left out is not
//! restricted.

use super::reply::Failure;
use super::text::shown;
use crate::query::Selection;
use crate::query::matrix::By;
use crate::query::order::Order;
use kizami_index::Index;
use kizami_model::{Moment, Op};
use serde::Deserialize;

/// The parameters of a question.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
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
}

impl Asked {
    /// How many are wanted at most.
    pub(super) fn limit(&self, usual: u64, most: u64) -> Result<u64, Failure> {
        whole("limit", self.limit, usual, most)
    }

    pub(super) fn columns(&self, usual: u64, most: u64) -> Result<u64, Failure> {
        whole("columns", self.columns, usual, most)
    }

    pub(super) fn rows(&self, usual: u64, most: u64) -> Result<u64, Failure> {
        whole("rows", self.rows, usual, most)
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

    /// The part of the run that is meant.
    pub(super) fn selection(&self, index: &Index) -> Result<Selection, Failure> {
        let all = Selection::all(index);
        let (from, to) = (self.from.map_or(all.from, Moment), self.to.map_or(all.to, Moment));
        if to < from {
            return Err(Failure::bad("The range ends before it begins.".to_owned()));
        }
        let mut sites = all.sites;
        for (name, list) in [("sites", &self.sites), ("site", &self.site)] {
            for text in list.split(',').filter(|text| !text.is_empty()) {
                let wrong = |_| Failure::bad(format!("{name}={} are no numbers.", shown(text)));
                sites.insert(text.parse().map_err(wrong)?);
            }
        }
        let ranks = if self.ranks.is_empty() { all.ranks } else { numbers(&self.ranks, index.ranks())? };
        Ok(Selection { from, to, ranks, sites })
    }
}

fn whole(name: &str, asked: Option<u64>, usual: u64, most: u64) -> Result<u64, Failure> {
    match asked.unwrap_or(usual) {
        number if (1..=most).contains(&number) => Ok(number),
        _ => Err(Failure::bad(format!("{name} must be from 1 to {most}."))),
    }
}

/// Ranks like `0-63,70`, those there are.
fn numbers(text: &str, limit: u32) -> Result<Vec<u32>, Failure> {
    let mut wanted = vec![false; limit as usize];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let wrong = |_| Failure::bad(format!("ranks={} are no numbers.", shown(text)));
        let (first, last): (u32, u32) = (first.parse().map_err(wrong)?, last.parse().map_err(wrong)?);
        let last = last.saturating_add(1).min(limit);
        (first.min(last)..last).for_each(|number| wanted[number as usize] = true);
    }
    Ok((0..limit).filter(|number| wanted[*number as usize]).collect())
}
