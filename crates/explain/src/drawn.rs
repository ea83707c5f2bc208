//! A run that was drawn from a reduced trace, beside what is exact about it.
//!
//! A reduced trace knows exactly how long the calls of each place took together. The run that is drawn from it has other
//! times, because waits come from a replay. The difference says how far what the report tells of a place may be off.

use crate::place::Place;
use crate::report::Report;
use crate::window::Borders;
use kizami_store::reduced::What;
use kizami_store::{StoreError, Trace};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What was drawn, and how it compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// Calls that have a row in the reduced trace.
    pub rows_kept: u64,
    /// All calls.
    pub calls: u64,
    /// Time in the calls of each place, longest first.
    pub places: Vec<DrawnPlace>,
}

/// Calls of a function from one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnPlace {
    /// Full name.
    pub function: String,
    /// From where.
    pub place: Place,
    /// How many; exact.
    pub calls: u64,
    /// How long they took, over all ranks; exact.
    pub exact_ns: i64,
    /// How long they take in the run that was drawn.
    pub drawn_ns: i64,
}

impl DrawnPlace {
    /// How far the drawn time is off.
    pub fn off_ns(&self) -> i64 {
        self.drawn_ns - self.exact_ns
    }
}

impl Drawn {
    /// Compares the report of a drawn run with the trace it was drawn from; none if that one has a row for every call.
    fn of(from: &Trace, report: &Report) -> Result<Option<Drawn>, StoreError> {
        let Some(reduced) = &from.run().reduced else { return Ok(None) };
        let (definitions, borders) = (from.definitions()?, Borders::new());
        let mut exact: FxHashMap<(&str, Place), (u64, i64)> = FxHashMap::default();
        for row in from.sums()?.iter().filter(|row| row.what == What::Call) {
            // The beginning and the end of MPI are no part of what a report looks at.
            let Some(op) = row.op.filter(|op| !borders.begins(*op) && !borders.ends(*op)) else { continue };
            let sum = exact.entry((op.name(), Place::of(&definitions, row.callsite))).or_default();
            *sum = (sum.0 + row.calls, sum.1 + row.total.0);
        }
        let mut drawn: FxHashMap<(&str, &Place), i64> = FxHashMap::default();
        for total in &report.places {
            if let Some(place) = &total.place {
                *drawn.entry((&total.function, place)).or_default() += total.ns;
            }
        }
        let mut places: Vec<DrawnPlace> = exact
            .into_iter()
            .map(|((function, place), (calls, exact_ns))| DrawnPlace {
                function: function.to_owned(),
                drawn_ns: drawn.get(&(function, &place)).copied().unwrap_or(0),
                place,
                calls,
                exact_ns,
            })
            .collect();
        places.sort_by(|one, other| {
            let key = |place: &DrawnPlace| std::cmp::Reverse(place.exact_ns);
            key(one)
                .cmp(&key(other))
                .then_with(|| (&one.function, &one.place).cmp(&(&other.function, &other.place)))
        });
        Ok(Some(Drawn { rows_kept: reduced.rows_kept, calls: reduced.calls, places }))
    }

    /// How far time in these calls may be off, over all ranks.
    pub fn error_ns(&self, function: &str, place: &Place) -> Option<i64> {
        let found = self.places.iter().find(|known| known.function == function && known.place == *place);
        found.map(|known| known.off_ns().abs())
    }
}

impl Report {
    /// If the run was drawn from `from`, a reduced trace: notes what is exact about it. Gains are no surer than time in
    /// the calls that waited.
    pub fn compare_with(&mut self, from: &Trace) -> Result<(), StoreError> {
        let Some(drawn) = Drawn::of(from, self)? else { return Ok(()) };
        for finding in &mut self.findings {
            let error_ns =
                finding.waiting_in.as_ref().and_then(|(function, place)| drawn.error_ns(function, place));
            if let (Some(gain), Some(error_ns)) = (&mut finding.gain, error_ns) {
                let of_a_rank_ns = error_ns / finding.waiting_ranks.max(1) as i64;
                gain.error_ns = gain.error_ns.max(of_a_rank_ns);
                gain.share_error = gain.share_error.max(of_a_rank_ns as f64 / self.run_ns.max(1) as f64);
            }
        }
        self.drawn = Some(drawn);
        Ok(())
    }
}
