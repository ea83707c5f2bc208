//! A setting: what is different in a replay.
//!
//! Everything that is not set is as recorded. A setting names places of the program by the index of their call site;
//! who types `solver.c:88` is led there by the command line.

use crate::step_changes::{StepChange, StepChanges};
use kizami_graph::Graph;
use kizami_model::Length;
use kizami_network::{LogGops, MeasuredCosts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What is different.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Factor on the time of all computation.
    pub cpu: Factor,
    /// Factors on the computation that leads up to calls made at a place, by index of the call site.
    pub places: FxHashMap<u32, PlaceFactor>,
    /// How messages and collectives travel.
    pub network: Network,
    /// Sends of up to so many bytes do not wait for their receiver, unless they are synchronous. A model of the
    /// network has a limit of its own.
    pub eager_limit_bytes: Option<u64>,
    /// Call sites whose waits, and messages on their way there, are hidden behind the computation that follows, up to the next call
    /// elsewhere.
    pub overlapped: FxHashMap<u32, Pieces>,
    /// Call sites whose calls are left out: they take no time and do not wait.
    pub left_out: FxHashSet<u32>,
    /// Call sites whose calls do not wait for receives to be posted, unless they are synchronous: those are posted
    /// early.
    pub posted_early: FxHashSet<u32>,
    /// Call sites whose calls communicate in no time; they still wait for their partners.
    pub ideal_at: FxHashSet<u32>,
    /// What is different about single steps.
    pub steps: Option<Arc<StepChanges>>,
    /// Whether every thread has its own core. What that changes is among the `steps`; this says that nothing is left of it.
    pub own_cores: bool,
    /// Whether the tracer's own cost and its stops are taken out.
    pub without_tracer: bool,
}

/// In how many pieces that follow each other closely something is handed on that was handed on as a whole. What comes is
/// worked on piece by piece, so that behind a wait only the last piece is left to be worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// So many.
    Of(u32),
    /// So many that the last one does not matter: all that follows a wait can be done before.
    Endless,
}

impl Pieces {
    /// What must follow a wait, of computation that takes so long in all.
    #[inline]
    pub fn last(self, computation: Length) -> Length {
        match self {
            Pieces::Of(pieces) => computation / i64::from(pieces.max(1)),
            Pieces::Endless => Length::ZERO,
        }
    }
}

/// A factor, 1 unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor(pub f64);

impl Default for Factor {
    fn default() -> Factor {
        Factor(1.0)
    }
}

impl Factor {
    /// So much of a length of time. What is not changed stays exact.
    #[inline]
    pub fn of(self, length: Length) -> Length {
        if self.0 == 1.0 { length } else { length.scaled(self.0) }
    }
}

/// Factors on the computation before one place.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceFactor {
    /// The same for all ranks.
    All(Factor),
    /// By rank; 1 for ranks beyond the end of the list.
    ByRank(Vec<Factor>),
}

impl PlaceFactor {
    /// That of one rank.
    #[inline]
    pub fn of(&self, rank: u32) -> Factor {
        match self {
            PlaceFactor::All(factor) => *factor,
            PlaceFactor::ByRank(factors) => factors.get(rank as usize).copied().unwrap_or_default(),
        }
    }
}

impl Setting {
    /// Nothing but some steps of a graph is different; several changes of one step are added up.
    pub fn of_steps(graph: &Graph, changes: Vec<(u64, StepChange)>) -> Setting {
        let steps = Some(Arc::new(StepChanges::new(graph.steps.len(), changes)));
        Setting { steps, ..Setting::default() }
    }

    /// What is different about places and steps of a graph in either of two settings that were made for different reasons: time
    /// that both take away is taken away once. All else is as in the first.
    pub fn and(&self, other: &Setting, graph: &Graph) -> Setting {
        let mut both = self.clone();
        other.places.iter().for_each(|(site, factor)| both.scale_place(*site, graph.ranks(), factor));
        both.overlapped.extend(&other.overlapped);
        both.left_out.extend(&other.left_out);
        both.posted_early.extend(&other.posted_early);
        both.ideal_at.extend(&other.ideal_at);
        both.steps = match (&self.steps, &other.steps) {
            (Some(one), Some(other)) => Some(Arc::new(one.overlaid(other, graph.steps.len()))),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        both
    }

    /// One more factor on the computation that leads up to calls made at a place, in a run of so many ranks.
    pub fn scale_place(&mut self, site: u32, ranks: u32, factor: &PlaceFactor) {
        let both = match (self.places.get(&site), factor) {
            (None, factor) => factor.clone(),
            (Some(PlaceFactor::All(one)), PlaceFactor::All(other)) => {
                PlaceFactor::All(Factor(one.0 * other.0))
            }
            (Some(before), factor) => {
                let product = |rank| Factor(before.of(rank).0 * factor.of(rank).0);
                PlaceFactor::ByRank((0..ranks).map(product).collect())
            }
        };
        self.places.insert(site, both);
    }
}

/// How messages and collectives travel.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Network {
    /// They cost what they cost in the recorded run.
    #[default]
    AsRecorded,
    /// They cost nothing: only partners are waited for.
    Ideal,
    /// As recorded, with what the fitted latency and the fitted time per byte contribute made longer or shorter.
    Changed {
        /// Factor on the latency.
        latency: f64,
        /// Factor on the bandwidth: 2 halves the time per byte.
        bandwidth: f64,
    },
    /// As the LogGOPS model has it, whatever was recorded.
    Model(LogGops),
    /// As it was measured on a machine, whatever was recorded.
    Measured(Arc<MeasuredCosts>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_on_one_place_are_multiplied() {
        let mut setting = Setting::default();
        setting.scale_place(7, 3, &PlaceFactor::All(Factor(0.5)));
        setting.scale_place(7, 3, &PlaceFactor::All(Factor(0.5)));
        assert_eq!(setting.places[&7], PlaceFactor::All(Factor(0.25)));
        setting.scale_place(7, 3, &PlaceFactor::ByRank(vec![Factor(1.0), Factor(4.0)]));
        assert_eq!([0, 1, 2].map(|rank| setting.places[&7].of(rank).0), [0.25, 1.0, 0.25]);
    }
}
