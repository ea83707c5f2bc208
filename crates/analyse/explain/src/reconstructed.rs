//! A run that was reconstructed from a reduced trace, beside what is exact about it.
//!
//! A reduced trace knows exactly how long the calls of each place took together. A run that is reconstructed from it has
//! other times, because waits come from a replay. The difference bounds how far the report may be off at a place.

use crate::analysis::Analysis;
use crate::error::ExplainError;
use crate::report::Report;
use crate::work_interval::Borders;
use kizami_model::Length;
use kizami_trace::SourceLine;
use kizami_trace::Trace;
use kizami_trace::reduced_tables::What;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Exact values of a reduced trace, and the errors of the reconstructed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reconstructed {
    /// Calls with a row in the reduced trace.
    pub rows_kept: u64,
    /// All calls.
    pub calls: u64,
    /// Time in calls by call site, longest first.
    pub places: Vec<ReconstructedPlace>,
}

/// Calls of a function from one call site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReconstructedPlace {
    /// Full name of the function.
    pub function: String,
    /// Call site.
    pub place: SourceLine,
    /// Exact number of calls.
    pub calls: u64,
    /// Exact time over all ranks.
    pub exact_ns: i64,
    /// Time over all ranks in the reconstructed run.
    #[serde(rename = "drawn_ns")]
    pub reconstructed_ns: i64,
}

impl ReconstructedPlace {
    /// How far that is off.
    pub fn off_ns(&self) -> i64 {
        self.reconstructed_ns.saturating_sub(self.exact_ns)
    }
}

impl Reconstructed {
    /// Compares the report of a reconstructed run with the trace it was made from; none if that one has a row for every call.
    fn of(from: &Trace, report: &Report) -> Result<Option<Reconstructed>, ExplainError> {
        let Some(reduced) = &from.run().reduced else { return Ok(None) };
        let (definitions, borders) = (from.definitions()?, Borders::new());
        let mut exact: FxHashMap<(&str, SourceLine), (u64, i64)> = FxHashMap::default();
        for row in from.sums()?.iter().filter(|row| row.what == What::Call) {
            // The beginning and the end of MPI are no part of what a report looks at.
            let Some(op) = row.op.filter(|op| !borders.begins(*op) && !borders.ends(*op)) else { continue };
            let sum = exact.entry((op.name(), SourceLine::of(&definitions, row.callsite))).or_default();
            *sum = (sum.0.saturating_add(row.calls), sum.1.saturating_add(row.total.0));
        }
        let mut reconstructed: FxHashMap<(&str, &SourceLine), i64> = FxHashMap::default();
        for total in &report.places {
            if let Some(place) = &total.place {
                *reconstructed.entry((&total.function, place)).or_default() += total.ns;
            }
        }
        let mut places: Vec<ReconstructedPlace> = exact
            .into_iter()
            .map(|((function, place), (calls, exact_ns))| ReconstructedPlace {
                function: function.to_owned(),
                reconstructed_ns: reconstructed.get(&(function, &place)).copied().unwrap_or(0),
                place,
                calls,
                exact_ns,
            })
            .collect();
        places.sort_by(|one, other| {
            let key = |place: &ReconstructedPlace| std::cmp::Reverse(place.exact_ns);
            key(one)
                .cmp(&key(other))
                .then_with(|| (&one.function, &one.place).cmp(&(&other.function, &other.place)))
        });
        Ok(Some(Reconstructed { rows_kept: reduced.rows_kept, calls: reduced.calls, places }))
    }

    /// How far time in these calls may be off, over all ranks.
    fn error_ns(&self, function: &str, place: &SourceLine) -> Option<i64> {
        let found = self.places.iter().find(|known| known.function == function && known.place == *place);
        found.map(|known| known.off_ns().saturating_abs())
    }
}

impl Report {
    /// How far time in these calls, or waiting in them, may be off because the run was reconstructed; none if it
    /// was not.
    pub fn reconstruction_error_ns(&self, at: Option<&(String, SourceLine)>) -> Option<i64> {
        let (function, place) = at?;
        self.reconstructed.as_ref()?.error_ns(function, place)
    }

    /// If the run was reconstructed from `from`, a reduced trace: notes what is exact about it.
    pub fn compare_with(&mut self, from: &Trace) -> Result<(), ExplainError> {
        let Some(reconstructed) = Reconstructed::of(from, self)? else { return Ok(()) };
        self.reconstructed = Some(reconstructed);
        Ok(())
    }
}

impl Analysis {
    /// The run was reconstructed, and so much time, over all ranks, is in other calls than it was. No gain and no
    /// efficiency is surer than what that is for one rank.
    pub fn off_by(&mut self, all_ranks: Length) {
        let (off, run) = (all_ranks / i64::from(self.ranks().max(1)), self.interval.length());
        self.off = off;
        for suspect in &mut self.suspects {
            let finding = &mut suspect.finding;
            for gain in [&mut finding.gain, &mut finding.balanced].into_iter().flatten() {
                *gain = gain.off_by(off, run);
            }
        }
    }
}
