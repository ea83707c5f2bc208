//! Efficiencies as POP defines them.
//!
//! With T the length of the run, T_ideal its length on an ideal network (replayed, not guessed), and the computation
//! of each rank:
//!
//! ```text
//! parallel efficiency  PE = average computation / T  = LB x SerE x TE
//! load balance         LB = average computation / longest computation
//! serialisation        SerE = longest computation / T_ideal
//! transfer             TE = T_ideal / T
//! ```
//!
//! Where ranks had no core for a part of their time, T_own is the length of the run in which each has its own. The factor
//! T_own / T comes before the others, which are those of that run: its computation, and its length on an ideal network.

use crate::work_interval::WorkInterval;
use kizami_model::Length;
use serde::{Deserialize, Serialize};

/// Efficiencies over the run time, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Efficiency {
    /// Parallel efficiency: load balance times serialisation times transfer, times `cores` if there is one.
    pub parallel: f64,
    /// Core availability: below 1 if ranks are ready to run and have no core. Only if that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<f64>,
    /// Run time if every thread had its own core; the other factors refer to it. Only if that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_cores_ns: Option<i64>,
    /// Load balance: mean computation of a rank relative to the longest.
    pub load_balance: f64,
    /// Serialisation efficiency: below 1 if ranks wait for each other in turn.
    pub serialisation: f64,
    /// Transfer efficiency: below 1 if the network delays ranks.
    pub transfer: f64,
    /// Mean computation of a rank.
    pub average_computation_ns: i64,
    /// Longest computation of a rank.
    pub longest_computation_ns: i64,
    /// Run time on an ideal network.
    pub ideal_ns: i64,
    /// Estimated error of the efficiencies; only for a run reconstructed from a reduced trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
}

impl Efficiency {
    pub(crate) fn new(
        computation: &[Length],
        run: WorkInterval,
        own_cores: Option<WorkInterval>,
        ideal: WorkInterval,
        off: Length,
    ) -> Efficiency {
        let ranks = computation.len().max(1) as f64;
        let average = computation.iter().map(|length| length.0 as f64).sum::<f64>() / ranks;
        let longest = computation.iter().copied().max().unwrap_or_default().0;
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 1.0 };
        let (run_ns, ideal_ns) = (run.length().0 as f64, ideal.length().0 as f64);
        let own_ns = own_cores.map(|own_cores| own_cores.length().0);
        let without_sharing_ns = own_ns.map_or(run_ns, |ns| ns as f64);
        Efficiency {
            parallel: ratio(average, run_ns),
            load_balance: ratio(average, longest as f64),
            serialisation: ratio(longest as f64, ideal_ns),
            transfer: ratio(ideal_ns, without_sharing_ns),
            cores: own_ns.map(|ns| ratio(ns as f64, run_ns)),
            own_cores_ns: own_ns,
            average_computation_ns: average as i64,
            longest_computation_ns: longest,
            ideal_ns: ideal.length().0,
            error: (off > Length::ZERO).then(|| ratio(off.0 as f64, run_ns)),
        }
    }
}
