//! What a run without findings is like: no rank waits, or time is lost all the same.
//!
//! It is true to its words: that no rank was kept waiting is said only where that is so, and where calls take long by
//! themselves it says which.

use crate::report::{CallTotal, Report};
use crate::thresholds::THRESHOLDS;
use kizami_trace::SourceLine;

/// What there is to say where there is no finding.
#[derive(Clone, Debug, PartialEq)]
pub enum NothingFound {
    /// No call was recorded.
    NoCalls,
    /// Ranks waited, but no cause stands out.
    WaitingWithoutCause {
        /// For this part of all time.
        share: f64,
    },
    /// Hardly any rank waited, but calls took long by themselves.
    LongCalls {
        /// For this part of all time.
        share: f64,
        /// The one that took most.
        function: String,
        /// Where, if that is known.
        place: Option<SourceLine>,
    },
    /// Hardly any rank waited.
    HardlyAnyWaiting,
}

impl<F, S> Report<F, S> {
    /// What there is to say where there is no finding.
    pub fn nothing_found(&self) -> NothingFound {
        if self.events == 0 && self.functions.is_empty() {
            return NothingFound::NoCalls;
        }
        let all_ns = f64::from(self.ranks) * self.run_ns as f64;
        let part = |ns: i64| if all_ns > 0.0 { ns as f64 / all_ns } else { 0.0 };
        let waiting = part(self.rank_times.iter().map(|rank| rank.waiting_ns).sum());
        if waiting > THRESHOLDS.long_waiting {
            return NothingFound::WaitingWithoutCause { share: waiting };
        }
        let in_calls = part(self.rank_times.iter().map(|rank| rank.mpi_ns - rank.waiting_ns).sum());
        match self.longest_without_waiting() {
            Some(CallTotal { function, place, .. }) if in_calls >= THRESHOLDS.long_calls => {
                NothingFound::LongCalls { share: in_calls, function: function.clone(), place: place.clone() }
            }
            _ => NothingFound::HardlyAnyWaiting,
        }
    }

    /// The calls of a place that took longest beyond waiting.
    fn longest_without_waiting(&self) -> Option<&CallTotal> {
        let waited_ns = |total: &CallTotal| -> i64 {
            let at = |wait: &&crate::report::WaitTotal| {
                wait.at.as_ref().is_some_and(|(function, place)| {
                    *function == total.function && Some(place) == total.place.as_ref()
                })
            };
            self.waits_by_place.iter().filter(at).map(|wait| wait.ns).sum()
        };
        // Places come longest first; the first few hold what counts, however many there are.
        const LOOKED_AT: usize = 100;
        self.places.iter().take(LOOKED_AT).max_by_key(|total| total.ns - waited_ns(total))
    }
}
