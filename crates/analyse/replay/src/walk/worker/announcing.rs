//! What a step announces when it begins, here and to other partitions.

use super::super::collective_state::CollectiveNews;
use super::super::exchange::RemoteEvent;
use super::super::observer::Observer;
use super::super::pending::Arrival;
use super::Worker;
use kizami_graph::{Step, Tie, TieKind};
use kizami_model::{Length, Op};
use kizami_network::Messages;

impl<const LANES: usize, O: Observer<LANES>> Worker<'_, LANES, O> {
    /// Tells the others what they may be waiting for.
    pub(super) fn announce(&mut self, strand: u32, index: u64, step: &Step, ties: &[Tie]) {
        let mut woken = std::mem::take(&mut self.woken);
        let number = strand + self.range.start;
        let rank = self.graph.strands[number as usize].rank;
        let mut arrival = Arrival {
            recorded: step.start,
            replayed: self.walking[strand as usize].start,
            strand: number,
            step: index,
        };
        for tie in ties.iter().map(|tie| self.graph.tie(rank, *tie)) {
            match tie.kind() {
                TieKind::Departs => {
                    self.leaves(strand, tie.bytes(), &mut arrival);
                    self.observer.announced(tie, &arrival.replayed);
                    let to = self.graph.channels[tie.place() as usize].to;
                    match self.shares.of_rank(to) {
                        share if share == self.own => self.departures.announce(tie.key, arrival, &mut woken),
                        share => self.outgoing.to_each[share].push(RemoteEvent::Departed(tie.key, arrival)),
                    }
                }
                TieKind::Posts => {
                    self.observer.announced(tie, &arrival.replayed);
                    let from = self.graph.channels[tie.place() as usize].from;
                    match self.shares.of_rank(from) {
                        share if share == self.own => self.postings.announce(tie.key, arrival, &mut woken),
                        share => self.outgoing.to_each[share].push(RemoteEvent::Posted(tie.key, arrival)),
                    }
                }
                kind if kind.announces() => {
                    arrival.replayed = self.walking[strand as usize].start;
                    if let Some(news) = self.collectives.come(tie, step.op(), rank, arrival, &mut woken) {
                        self.spread(tie.place(), news);
                    }
                    if matches!(kind, TieKind::Passes | TieKind::PassesAsRoot) {
                        self.passes(strand, tie, step.op());
                    }
                }
                _ => break,
            }
        }
        if !woken.is_empty() {
            self.wake(&mut woken);
        }
        self.woken = woken;
    }

    /// When a message leaves: in modelled lanes after what it costs its sender, and when the network is free.
    #[inline]
    fn leaves(&mut self, strand: u32, bytes: u64, arrival: &mut Arrival<LANES>) {
        for lane in self.lanes.modelled.each() {
            if let Some(model) = self.lanes.each[lane].model() {
                let state = &mut self.in_models[strand as usize][lane];
                let handling = Length::from_nanos_f64(model.sending_ns(bytes));
                let done = state.busy_until.saturating_add(handling);
                state.busy_until = done;
                let leaves = done.max(state.network_free);
                let taken = Length::from_nanos_f64(model.spaced_ns(bytes));
                state.network_free = leaves.saturating_add(taken);
                state.left = leaves;
                arrival.replayed[lane] = leaves;
            }
        }
    }

    /// In modelled lanes: what a collective costs one that does not wait in it.
    fn passes(&mut self, strand: u32, tie: Tie, op: Op) {
        let ranks = self.graph.members.sizes[tie.place() as usize];
        for lane in self.lanes.modelled.each() {
            if let Some(model) = self.lanes.each[lane].model() {
                let own = Length::from_nanos_f64(model.passing_ns(op, ranks, tie.bytes()));
                let busy_until = &mut self.in_models[strand as usize][lane].busy_until;
                *busy_until = busy_until.saturating_add(own);
            }
        }
    }

    /// News of a collective goes to all shares that have members in it.
    fn spread(&mut self, place: u32, news: CollectiveNews<LANES>) {
        let (members, shares, own) = (&self.graph.members, self.shares, self.own);
        // Of prefix collectives there is news for each member: all are looked through once.
        let others = self.other_shares.entry(members.comm(place)).or_insert_with(|| {
            let mut found: Vec<usize> = members.of(place).map(|rank| shares.of_rank(rank)).collect();
            found.sort_unstable();
            found.dedup();
            found.retain(|share| *share != own);
            found
        });
        if !others.is_empty() && others.len() + 1 == shares.count() {
            return self.outgoing.to_all.push(RemoteEvent::Collective(news));
        }
        for share in others {
            self.outgoing.to_each[*share].push(RemoteEvent::Collective(news.clone()));
        }
    }
}
