//! How much of a run's time was the tracer's doing, by kind, and how sure that is.
//!
//! Only what was measured on the spot counts: the cost of recording calls, and the stretches in which the
//! tracer held a thread. What these delays did to other ranks is not in here; that takes a replay of the whole
//! trace.

use crate::definitions::Stop;
use kizami_model::StopReason;
use serde::{Deserialize, Serialize};

/// What a call may cost beyond the plain call that is timed when a process starts: its meaning has to be
/// looked up, and the program's data compete for the cache. Measured: 15 to 110 ns.
const UNSEEN_COST_NS: f64 = 100.0;

/// Tracer overhead of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// Over all ranks and threads, in nanoseconds.
    pub total_ns: i64,
    /// Rank with the largest overhead; null if there was none.
    pub worst_rank: Option<u32>,
    /// Overhead of that rank, in nanoseconds.
    pub worst_ns: i64,
}

/// Tracer overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// Recording of calls, calibration and sampling.
    pub overhead: Lost,
    /// Waiting until a full chunk was written out.
    pub spills: Lost,
    /// Suspensions of all ranks.
    pub suspensions: Lost,
    /// Clock comparisons.
    pub clock_rounds: Lost,
    /// All four.
    pub all: Lost,
    /// Error of the worst rank's figure, in nanoseconds: its calls times the spread of the cost of a call between ranks
    /// plus 100 ns that the calibration cannot see, plus the latest resumption after a suspension.
    pub error_ns: i64,
}

/// Why the tracer held a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// To write what was recorded.
    Spill,
    /// Together with all others, to write what was recorded.
    Suspension,
    /// To compare clocks.
    ClockRound,
    /// To measure what recording a call costs.
    Calibration,
    /// To sample from the calls that were collected.
    Sampling,
}

impl Held {
    /// None for stops in which the program ran: recording was paused, or calls were lost.
    pub fn of(stop: &Stop) -> Option<Held> {
        match stop.reason {
            StopReason::ChunkWait => Some(Held::Spill),
            StopReason::Suspended => Some(Held::Suspension),
            StopReason::ClockRound | StopReason::Settling => Some(Held::ClockRound),
            StopReason::Calibration => Some(Held::Calibration),
            StopReason::Sampling => Some(Held::Sampling),
            StopReason::Paused | StopReason::Lost | StopReason::Other => None,
        }
    }
}

/// What one rank lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankLoss {
    /// Which.
    pub rank: u32,
    /// Calls it made.
    pub calls: u64,
    /// What recording them cost.
    pub overhead_ns: i64,
    spills_ns: i64,
    suspensions_ns: i64,
    clock_rounds_ns: i64,
    latest_ns: i64,
}

impl RankLoss {
    /// One that has lost nothing yet.
    pub fn new(rank: u32) -> RankLoss {
        RankLoss { rank, ..RankLoss::default() }
    }

    /// Calls were recorded, at this cost.
    pub fn add_call(&mut self, calls: u64, overhead_ns: i64) {
        self.calls = self.calls.saturating_add(calls);
        self.overhead_ns = self.overhead_ns.saturating_add(overhead_ns);
    }

    /// The tracer stopped; it counts if it held the thread.
    pub fn add_stop(&mut self, stop: &Stop) {
        let sum = match Held::of(stop) {
            Some(Held::Spill) => &mut self.spills_ns,
            Some(Held::Suspension) => &mut self.suspensions_ns,
            Some(Held::ClockRound) => &mut self.clock_rounds_ns,
            Some(Held::Calibration | Held::Sampling) => &mut self.overhead_ns,
            None => return,
        };
        *sum = sum.saturating_add(stop.end.0.saturating_sub(stop.start.0).max(0));
        self.latest_ns = self.latest_ns.max(stop.late.map_or(0, |late| late.0.saturating_abs()));
    }

    fn all_ns(&self) -> i64 {
        let parts = [self.overhead_ns, self.spills_ns, self.suspensions_ns, self.clock_rounds_ns];
        parts.into_iter().fold(0, i64::saturating_add)
    }

    fn cost_per_call_ns(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.overhead_ns as f64 / self.calls as f64)
    }
}

impl Disturbance {
    /// Sums what ranks lost.
    pub fn of(ranks: &[RankLoss]) -> Disturbance {
        let costs = || ranks.iter().filter_map(RankLoss::cost_per_call_ns);
        let spread_ns = (costs().fold(0.0, f64::max) - costs().fold(f64::INFINITY, f64::min)).max(0.0);
        // Without any cost there was no tracer around the calls: a trace made by hand or by a simulation.
        let per_call_ns = if costs().any(|cost| cost > 0.0) { spread_ns + UNSEEN_COST_NS } else { 0.0 };
        let most_calls = ranks.iter().map(|rank| rank.calls).max().unwrap_or(0);
        let latest_ns = ranks.iter().map(|rank| rank.latest_ns).max().unwrap_or(0);
        Disturbance {
            overhead: lost(ranks, |rank| rank.overhead_ns),
            spills: lost(ranks, |rank| rank.spills_ns),
            suspensions: lost(ranks, |rank| rank.suspensions_ns),
            clock_rounds: lost(ranks, |rank| rank.clock_rounds_ns),
            all: lost(ranks, RankLoss::all_ns),
            error_ns: ((most_calls as f64 * per_call_ns) as i64).saturating_add(latest_ns),
        }
    }

    /// The four kinds, with the words people use for them.
    pub fn kinds(&self) -> [(&'static str, Lost); 4] {
        [
            ("per-call overhead", self.overhead),
            ("spills", self.spills),
            ("suspensions", self.suspensions),
            ("clock rounds", self.clock_rounds),
        ]
    }
}

fn lost(ranks: &[RankLoss], ns: impl Fn(&RankLoss) -> i64) -> Lost {
    let worst = ranks.iter().filter(|rank| ns(rank) > 0).max_by_key(|rank| (ns(rank), u32::MAX - rank.rank));
    Lost {
        total_ns: ranks.iter().map(&ns).fold(0, i64::saturating_add),
        worst_rank: worst.map(|rank| rank.rank),
        worst_ns: worst.map_or(0, &ns),
    }
}
