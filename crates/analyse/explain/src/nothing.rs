//! What a run without findings is like: no rank waits, or time is lost all the same.
//!
//! It is true to its words: that no rank was kept waiting is said only where that is so, and where calls take long by
//! themselves it says which.

use crate::finding::Finding;
use crate::reconstructed::ReconstructedPlace;
use crate::report::{CallTotal, Report};
use crate::thresholds::THRESHOLDS;
use kizami_model::{Kind, Op};
use kizami_trace::SourceLine;

/// What there is to say where there is no finding.
#[derive(Clone, Debug, PartialEq)]
pub enum NothingFound {
    /// No call was recorded.
    NoCalls,
    /// No call was recorded, and no loss of threads is large and certain.
    NoCallsButThreads,
    /// Ranks waited, but no cause stands out.
    WaitingWithoutCause {
        /// For this part of all time.
        share: f64,
        /// What would gain most, if it were certain.
        likeliest: Option<Box<Finding>>,
        /// Ranks lacked cores, which makes findings uncertain.
        lacks_cores: bool,
        /// So does that the run was reconstructed.
        reconstructed: bool,
        /// What takes most time.
        consumers: Vec<Consumer>,
    },
    /// Calls took long, and a reduced trace does not know whether they waited.
    Unknown {
        /// For this part of all time.
        share: f64,
        /// The one that took most of it.
        function: String,
        /// Where.
        place: SourceLine,
        /// What takes most time.
        consumers: Vec<Consumer>,
    },
    /// Hardly any rank waited, but calls took long by themselves.
    LongCalls {
        /// For this part of all time.
        share: f64,
        /// The one that took most.
        function: String,
        /// Where, if that is known.
        place: Option<SourceLine>,
        /// What takes most time.
        consumers: Vec<Consumer>,
    },
    /// Hardly any rank waited.
    HardlyAnyWaiting,
}

/// Computation or calls that take much time. Nothing is said of whether it could be less.
#[derive(Clone, Debug, PartialEq)]
pub struct Consumer {
    /// It is the computation before the call.
    pub computes: bool,
    /// The function called.
    pub function: String,
    /// Where.
    pub place: SourceLine,
    /// The part of all time.
    pub share: f64,
}

impl<S> Report<Finding, S> {
    /// What there is to say where there is no finding.
    pub fn nothing_found(&self) -> NothingFound {
        if self.has_only_threads() {
            return NothingFound::NoCallsButThreads;
        }
        if self.events == 0 && self.functions.is_empty() {
            return NothingFound::NoCalls;
        }
        let all_ns = f64::from(self.ranks) * self.run_ns as f64;
        let part = |ns: i64| if all_ns > 0.0 { ns as f64 / all_ns } else { 0.0 };
        let waiting = part(self.rank_times.iter().map(|rank| rank.waiting_ns).sum());
        if let Some((share, most)) = self.long_unknown().filter(|(share, _)| *share >= waiting) {
            let (function, place) = (most.function.clone(), most.place.clone());
            return NothingFound::Unknown { share, function, place, consumers: self.consumers() };
        }
        if waiting > THRESHOLDS.long_waiting {
            return NothingFound::WaitingWithoutCause {
                share: waiting,
                likeliest: self.likeliest().cloned().map(Box::new),
                lacks_cores: self.shared_cores.is_some(),
                reconstructed: self.reconstructed.is_some(),
                consumers: self.consumers(),
            };
        }
        let in_calls = part(self.rank_times.iter().map(|rank| rank.mpi_ns - rank.waiting_ns).sum());
        match self.longest_without_waiting() {
            Some(CallTotal { function, place, .. }) if in_calls >= THRESHOLDS.long_calls => {
                let (function, place) = (function.clone(), place.clone());
                NothingFound::LongCalls { share: in_calls, function, place, consumers: self.consumers() }
            }
            _ => NothingFound::HardlyAnyWaiting,
        }
    }

    /// Time in calls of which a reduced trace does not know whether they waited, as a part of all time, and the place with
    /// most of it; if that is long.
    pub fn long_unknown(&self) -> Option<(f64, &ReconstructedPlace)> {
        self.unknown_share().filter(|(share, _)| *share > THRESHOLDS.long_waiting)
    }

    /// What would gain most of all that waiting is blamed on, if that is enough to be told.
    fn likeliest(&self) -> Option<&Finding> {
        let gain = |finding: &&Finding| finding.expected().map_or(0, |gain| gain.ns);
        let uncertain = |finding: &&Finding| finding.expected().is_some_and(|gain| !gain.is_sure());
        let most = self.blame.iter().filter(uncertain).max_by_key(gain)?;
        most.expected().is_some_and(|gain| gain.share >= THRESHOLDS.least_gain).then_some(most)
    }

    /// The computation and the calls that take most time, of all ranks together.
    fn consumers(&self) -> Vec<Consumer> {
        const MOST: usize = 3;
        let computation = self.computation.iter().map(|total| Consumer {
            computes: true,
            function: total.function.clone(),
            place: total.place.clone(),
            share: total.share,
        });
        // Both lie outside the time that shares are parts of.
        let counts = |total: &&CallTotal| {
            !matches!(Op::by_name(&total.function).map(Op::kind), Some(Kind::Init | Kind::Finalize))
        };
        let calls = self.places.iter().filter(counts).filter_map(|total| {
            let (function, place, share) = (total.function.clone(), total.place.clone()?, total.share);
            Some(Consumer { computes: false, function, place, share })
        });
        let mut consumers: Vec<Consumer> = computation.take(MOST).chain(calls.take(MOST)).collect();
        consumers.retain(|consumer| consumer.share >= THRESHOLDS.least_gain);
        consumers.sort_by(|one, other| other.share.total_cmp(&one.share));
        consumers.truncate(MOST);
        consumers
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
