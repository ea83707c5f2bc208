//! Graphs of some ranks each, put together: so that ranks can be read at the same time.
//!
//! Whoever counts messages or collectives counts for one rank alone, so all that differs is where things lie: indices of
//! steps and ties, and the numbers of channels and of places that roots give to. Those of the first come first, as if one
//! had read all; what comes out is the same to the last bit.

use super::{Builder, Parts};
use crate::step::Tie;

impl Builder<'_> {
    /// Goes on with what another has made of ranks behind those of this one.
    pub(crate) fn join(&mut self, mut other: Builder<'_>) {
        self.end_rank();
        other.end_rank();
        self.parts.join(other.parts);
    }
}

/// What numbers of the other are called here.
struct Renumbered {
    channels: Vec<u32>,
    /// Of communicators, windows and roots.
    places: Vec<u32>,
}

impl Renumbered {
    fn tie(&self, tie: Tie) -> Tie {
        let numbers = if tie.kind().is_collective() { &self.places } else { &self.channels };
        match tie.names_a_place() {
            true => tie.at(numbers[tie.place() as usize]),
            false => tie,
        }
    }
}

impl Parts<'_> {
    fn join(&mut self, other: Parts<'_>) {
        let (steps, ties) = (self.steps.len() as u64, self.ties.len() as u64);
        let renumbered = Renumbered {
            channels: self.channels.join(other.channels),
            places: self.collectives.join(&other.collectives),
        };
        self.steps.extend(other.steps.into_iter().map(|mut step| {
            step.first_tie += ties;
            step
        }));
        self.ties.extend(other.ties.into_iter().map(|tie| renumbered.tie(tie)));
        self.waiting.extend(other.waiting.into_iter().map(|step| step + steps));
        let later = other.later.into_iter();
        self.later.extend(later.map(|(step, tie)| (step + steps, renumbered.tie(tie))));
        self.strands.extend(other.strands.into_iter().map(|mut strand| {
            strand.first_step += steps;
            strand
        }));
        self.locks.join(other.locks, steps);
        self.not_followed += other.not_followed;
    }
}
