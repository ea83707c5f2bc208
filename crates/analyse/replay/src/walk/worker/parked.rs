//! Strands that wait for what may never come, and giving up on it.

use super::super::observer::Observer;
use super::super::strand::State;
use super::{ParkedStrands, Worker};
use kizami_graph::{Tie, TieKind};
use kizami_model::{Moment, Rank};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl<const LANES: usize, O: Observer<LANES>> Worker<'_, LANES, O> {
    /// The parked strand whose call ended first in the recorded run, with that end: of all, of those that wait for
    /// receives, and of those that only a model holds.
    pub(in crate::walk) fn first_parked(&mut self) -> [Option<(Moment, u32)>; 3] {
        let mut parked_strands = self.parked_strands.take().unwrap_or_else(|| {
            let mut parked_strands = ParkedStrands::default();
            let parked = (0u32..).zip(&self.walking).filter(|(_, walking)| walking.state == State::Parked);
            parked.for_each(|(strand, _)| self.line_up_parked(&mut parked_strands, strand));
            parked_strands
        });
        let first = [
            self.first_of(&mut parked_strands.all, |_| true),
            self.first_of(&mut parked_strands.senders, |strand| self.awaits_post(strand)),
            self.first_of(&mut parked_strands.held, |strand| self.is_held(strand)),
        ];
        self.parked_strands = Some(parked_strands);
        first
    }

    pub(super) fn line_up_parked(&self, parked_strands: &mut ParkedStrands, strand: u32) {
        let end = self.steps[self.walking[strand as usize].step as usize].end;
        parked_strands.all.push(Reverse((end, strand)));
        if self.awaits_post(strand) {
            parked_strands.senders.push(Reverse((end, strand)));
        } else if self.is_held(strand) {
            parked_strands.held.push(Reverse((end, strand)));
        }
    }

    fn awaits_post(&self, strand: u32) -> bool {
        self.parked_for(strand).1.kind().awaits_readiness()
    }

    /// Whether all it cannot do without have come.
    fn is_held(&self, strand: u32) -> bool {
        let (rank, tie) = self.parked_for(strand);
        self.collectives.least(tie, rank).is_some()
    }

    /// The rank of the strand, and the tie it has reached.
    fn parked_for(&self, strand: u32) -> (Rank, Tie) {
        let walking = &self.walking[strand as usize];
        let step = &self.steps[walking.step as usize];
        let rank = self.graph.strands[(strand + self.range.start) as usize].rank;
        (rank, self.graph.tie(rank, self.ties[step.first_tie as usize + walking.tie as usize]))
    }

    /// The first that is still parked where it was.
    fn first_of(
        &self,
        parked: &mut BinaryHeap<Reverse<(Moment, u32)>>,
        still: impl Fn(u32) -> bool,
    ) -> Option<(Moment, u32)> {
        while let Some(Reverse((end, strand))) = parked.peek().copied() {
            let walking = &self.walking[strand as usize];
            let here = walking.state == State::Parked && self.steps[walking.step as usize].end == end;
            if here && still(strand) {
                return Some((end, strand + self.range.start));
            }
            parked.pop();
        }
        None
    }

    /// Whether a strand belongs to this share.
    pub(in crate::walk) fn has(&self, strand: u32) -> bool {
        self.range.contains(&strand)
    }

    /// What a strand is parked for is not to be had.
    pub(in crate::walk) fn give_up(&mut self, strand: u32) {
        let strand = strand - self.range.start;
        let (rank, tie) = self.parked_for(strand);
        let walking = &mut self.walking[strand as usize];
        let step = &self.steps[walking.step as usize];
        walking.state = State::Inside;
        self.patient -= u32::from(std::mem::take(&mut walking.patient));
        match tie.kind() {
            TieKind::Awaits | TieKind::Looks => self.departures.give_up(tie.key, strand),
            // A large message that was buffered all the same: its sender never waited.
            kind if kind.awaits_readiness() => self.postings.give_up(tie.key, strand),
            _ => {}
        }
        match self.collectives.least(tie, rank) {
            // In lanes with a model, too, it leaves when they have come: what the model asks for cannot be.
            Some(arrival) => self.came(strand, step, tie, &arrival),
            None => walking.missed |= !tie.kind().awaits_readiness(),
        }
        self.skip(strand, step, tie);
        self.ready.push_back(strand);
    }
}
