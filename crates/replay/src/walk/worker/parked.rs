//! Strands that wait for what may never come, and giving up on it.

use super::super::observer::Observer;
use super::super::strand::{State, Walking};
use super::{Stuck, Worker};
use kizami_graph::TieKind;
use kizami_model::Moment;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl<const LANES: usize, O: Observer<LANES>> Worker<'_, LANES, O> {
    /// The parked strand whose call ended first in the recorded run, with that end: of all, and of those that wait
    /// for receives.
    pub(in crate::walk) fn first_parked(&mut self) -> [Option<(Moment, u32)>; 2] {
        let mut stuck = self.stuck.take().unwrap_or_else(|| {
            let mut stuck = Stuck::default();
            let parked = (0u32..).zip(&self.walking).filter(|(_, walking)| walking.state == State::Parked);
            parked.for_each(|(strand, walking)| self.line_up_parked(&mut stuck, strand, walking));
            stuck
        });
        let first = [
            self.first_of(&mut stuck.all, |_| true),
            self.first_of(&mut stuck.senders, |walking| self.awaits_post(walking)),
        ];
        self.stuck = Some(stuck);
        first
    }

    pub(super) fn line_up_parked(&self, stuck: &mut Stuck, strand: u32, walking: &Walking<LANES>) {
        let step = &self.steps[walking.step as usize];
        stuck.all.push(Reverse((step.end, strand)));
        if self.awaits_post(walking) {
            stuck.senders.push(Reverse((step.end, strand)));
        }
    }

    fn awaits_post(&self, walking: &Walking<LANES>) -> bool {
        let step = &self.steps[walking.step as usize];
        self.ties[step.first_tie as usize + walking.tie as usize].kind().awaits_readiness()
    }

    /// The first that is still parked where it was.
    fn first_of(
        &self,
        parked: &mut BinaryHeap<Reverse<(Moment, u32)>>,
        still: impl Fn(&Walking<LANES>) -> bool,
    ) -> Option<(Moment, u32)> {
        while let Some(Reverse((end, strand))) = parked.peek().copied() {
            let walking = &self.walking[strand as usize];
            let here = walking.state == State::Parked && self.steps[walking.step as usize].end == end;
            if here && still(walking) {
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
        let walking = &mut self.walking[strand as usize];
        let step = &self.steps[walking.step as usize];
        let rank = self.graph.strands[(strand + self.range.start) as usize].rank;
        let tie = self.graph.tie(rank, self.ties[step.first_tie as usize + walking.tie as usize]);
        walking.state = State::Inside;
        self.patient -= u32::from(std::mem::take(&mut walking.patient));
        match tie.kind() {
            TieKind::Awaits | TieKind::Looks => self.departures.give_up(tie.key, strand),
            // A large message that was buffered all the same: its sender never waited.
            kind if kind.awaits_readiness() => self.postings.give_up(tie.key, strand),
            _ => {}
        }
        walking.missed |= !tie.kind().awaits_readiness();
        self.skip(strand, step, tie);
        self.ready.push_back(strand);
    }
}
