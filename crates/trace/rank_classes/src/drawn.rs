//! Rows of a trace for any ranks, drawn where they have none of their own.

use crate::Kinds;
use kizami_model::{Call, Rank};
use kizami_trace::{Definitions, RankSelection, Trace, TraceError};

/// The rows of chosen ranks, by rank, then by start. Of a trace in which every rank has its rows they are those.
pub struct DrawnCalls<'a> {
    trace: &'a Trace,
    definitions: Definitions,
    kinds: Option<Kinds>,
    ranks: std::ops::RangeInclusive<u32>,
    /// Rows of the rank that was looked at last, which others may be like.
    rows: Vec<Call>,
    next: std::vec::IntoIter<Call>,
    plain: Option<kizami_trace::Calls>,
}

impl<'a> DrawnCalls<'a> {
    /// The rows of the selected ranks.
    pub fn of(trace: &'a Trace, selection: RankSelection) -> Result<DrawnCalls<'a>, TraceError> {
        let definitions = trace.definitions()?;
        let kinds = Kinds::of(&definitions);
        let last = kinds.as_ref().map_or(0, Kinds::ranks).saturating_sub(1);
        let ranks = match &selection {
            RankSelection::All => 0..=last,
            RankSelection::One(rank) => rank.0..=rank.0.min(last),
            RankSelection::Range(ranks) => *ranks.start()..=(*ranks.end()).min(last),
        };
        let plain = if kinds.is_none() { Some(trace.calls(selection)?) } else { None };
        let (rows, next) = (Vec::new(), Vec::new().into_iter());
        Ok(DrawnCalls { trace, definitions, kinds, ranks, rows, next, plain })
    }

    /// Draws the rows of the next rank; false if there is none.
    fn next_rank(&mut self) -> Result<bool, TraceError> {
        let Some(kinds) = &self.kinds else { return Ok(false) };
        let Some(rank) = self.ranks.next().map(Rank) else { return Ok(false) };
        let like = kinds.like(rank);
        if self.rows.first().is_none_or(|row| row.rank != like) {
            self.rows = self.trace.calls(RankSelection::One(like))?.collect::<Result<_, _>>()?;
        }
        let drawn: Vec<Call> = self.rows.iter().map(|row| kinds.draw(row, rank, &self.definitions)).collect();
        self.next = drawn.into_iter();
        Ok(true)
    }
}

impl Iterator for DrawnCalls<'_> {
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
                    self.kinds = None;
                    return Some(Err(error));
                }
            }
        }
    }
}
