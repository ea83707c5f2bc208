//! A fixed amount of computation, to see how much longer it sometimes takes.

use crate::rank::Rank;
use crate::subject::{Sample, Subject};
use kizami_mpi::MpiError;
use std::hint::black_box;

const TRIAL_STEPS: u64 = 200_000;
const TRIALS: usize = 5;

/// How fast rank 0 computes when nothing disturbs it; all ranks do the same work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    steps_per_ns: f64,
}

impl Pace {
    /// Tries it out.
    pub(crate) fn find(rank: &Rank) -> Result<Pace, MpiError> {
        let trial = |_| {
            let start_ns = rank.clock.now_ns();
            compute(TRIAL_STEPS);
            rank.clock.now_ns() - start_ns
        };
        let shortest_ns = (0..TRIALS).map(trial).fold(f64::INFINITY, f64::min);
        let [steps_per_ns] = rank.broadcast([TRIAL_STEPS as f64 / shortest_ns.max(1.0)])?;
        Ok(Pace { steps_per_ns })
    }
}

/// Steps that each need the one before, so that the processor cannot take a shortcut.
fn compute(steps: u64) {
    let mut state = black_box(1u64);
    for _ in 0..steps {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
    black_box(state);
}

/// So many nanoseconds of computation.
#[derive(Debug)]
pub(crate) struct Noise {
    steps: u64,
}

impl Noise {
    pub(crate) fn new(length_ns: usize, pace: Pace) -> Noise {
        Noise { steps: (length_ns as f64 * pace.steps_per_ns) as u64 }
    }
}

impl Subject for Noise {
    fn once(&mut self, rank: &Rank) -> Result<Sample, MpiError> {
        let start_ns = rank.clock.now_ns();
        compute(self.steps);
        Ok(Sample::took(rank.clock.now_ns() - start_ns))
    }
}
