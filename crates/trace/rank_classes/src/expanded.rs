//! Rows of a trace for any ranks, expanded where they have none of their own.

use crate::RankClasses;
use kizami_model::{Call, Rank};
use kizami_trace::{Definitions, RankSelection, Trace, TraceError};

/// The rows of chosen ranks, by rank, then by start. Of a trace in which every rank has its rows they are those.
pub struct ExpandedCalls<'a> {
    trace: &'a Trace,
    definitions: Definitions,
    classes: Option<RankClasses>,
    ranks: std::ops::RangeInclusive<u32>,
    /// Rows of the rank that was looked at last, which others may be like.
    rows: Vec<Call>,
    next: std::vec::IntoIter<Call>,
    plain: Option<kizami_trace::Calls>,
}

impl<'a> ExpandedCalls<'a> {
    /// The rows of the selected ranks.
    pub fn of(trace: &'a Trace, selection: RankSelection) -> Result<ExpandedCalls<'a>, TraceError> {
        let definitions = trace.definitions()?;
        let classes = RankClasses::of(&definitions);
        let last = classes.as_ref().map_or(0, RankClasses::ranks).saturating_sub(1);
        let ranks = match &selection {
            RankSelection::All => 0..=last,
            RankSelection::One(rank) => rank.0..=rank.0.min(last),
            RankSelection::Range(ranks) => *ranks.start()..=(*ranks.end()).min(last),
        };
        let plain = if classes.is_none() { Some(trace.calls(selection)?) } else { None };
        let (rows, next) = (Vec::new(), Vec::new().into_iter());
        Ok(ExpandedCalls { trace, definitions, classes, ranks, rows, next, plain })
    }

    /// Draws the rows of the next rank; false if there is none.
    fn next_rank(&mut self) -> Result<bool, TraceError> {
        let Some(classes) = &self.classes else { return Ok(false) };
        let Some(rank) = self.ranks.next().map(Rank) else { return Ok(false) };
        let like = classes.like(rank);
        if self.rows.first().is_none_or(|row| row.rank != like) {
            self.rows = self.trace.calls(RankSelection::One(like))?.collect::<Result<_, _>>()?;
        }
        let expanded: Vec<Call> =
            self.rows.iter().map(|row| classes.expand(row, rank, &self.definitions)).collect();
        self.next = expanded.into_iter();
        Ok(true)
    }
}

impl Iterator for ExpandedCalls<'_> {
    type Item = Result<Call, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(plain) = &mut self.plain {
            return plain.next();
        }
        loop {
            if let Some(call) = self.next.next() {
                return Some(Ok(call));
            }
            match self.next_rank() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    // Nothing comes after it.
                    self.classes = None;
                    return Some(Err(error));
                }
            }
        }
    }
}
