//! The walker of one share of the ranks.
//!
//! A strand is walked until it needs what another has not announced yet; then it is parked and woken by the one
//! that announces it. Strands are kept within a slice of recorded time of each other (the *horizon*), so that what is
//! remembered is what was under way. What concerns ranks of other shares is gathered for the end of the round, when
//! nothing is left to do here.

mod announcing;
mod beginning;
mod parked;
mod timing;

use super::collective_state::{Answer, Collectives};
use super::exchange::{Outgoing, RemoteEvent};
use super::lane::Spent;
use super::lane_states::{InModel, Overlap, states};
use super::lanes::Lanes;
use super::observer::{Message, Observer};
use super::pending::PendingTable;
use super::shared::Shared;
use super::shares::Shares;
use super::strand::{State, Walking};
use super::{Replayed, Walk};
use crate::prefetch::{LINE_BYTES, prefetch};
use kizami_graph::protocol::eager_limit_bytes;
use kizami_graph::{Graph, Step, StepKind, Strand, Tie, TieKind};
use kizami_model::{Length, Moment, Op};
use kizami_network::Fit;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// How many strands ahead memory is prefetched: of a strand itself, then of its steps, whose place it knows, and then of
/// what those lead to.
const AHEAD: [usize; 3] = [8, 4, 2];

/// Counts of what was walked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub followed: u64,
    pub unmatched: u64,
    pub direct_only: Moment,
    pub most_under_way: u64,
}

/// While no strand can go on: parked strands by the recorded end of their call, the earliest first.
#[derive(Default)]
struct ParkedStrands {
    all: BinaryHeap<Reverse<(Moment, u32)>>,
    /// Those that wait for receives of large messages.
    senders: BinaryHeap<Reverse<(Moment, u32)>>,
    /// Those that only a model of the network holds.
    held: BinaryHeap<Reverse<(Moment, u32)>>,
}

/// The strands of one share.
pub(super) struct Worker<'a, const LANES: usize, O> {
    steps: &'a [Step],
    ties: &'a [Tie],
    graph: &'a Graph,
    /// Strands of this share.
    range: Range<u32>,
    shares: &'a Shares,
    own: usize,
    lanes: &'a Lanes<LANES>,
    fit: &'a Fit,
    spent: Vec<Spent>,
    walking: Vec<Walking<LANES>>,
    /// Of lanes that hide waits behind computation.
    overlaps: Vec<[Overlap; LANES]>,
    /// Of lanes with a model of the network.
    in_models: Vec<[InModel; LANES]>,
    /// Of the first strand of a rank: those it started, the first one last.
    child_threads: FxHashMap<u32, Vec<u32>>,
    /// Of strands that others started: how much earlier than recorded they begin.
    shifts: FxHashMap<u32, [Length; LANES]>,
    departures: PendingTable<LANES>,
    postings: PendingTable<LANES>,
    collectives: Collectives<'a, LANES>,
    ready: VecDeque<u32>,
    later: Vec<u32>,
    parked_strands: Option<ParkedStrands>,
    /// How many parked strands are patient.
    pub patient: u32,
    horizon: Moment,
    /// Which other shares have members in a communicator, once something was announced to them.
    other_shares: FxHashMap<u32, Vec<usize>>,
    /// What others must receive.
    pub outgoing: Outgoing<LANES>,
    pub learned: Fit,
    pub counts: Counts,
    pub steps_done: u64,
    pub observer: O,
    woken: Vec<u32>,
}

impl<'a, const LANES: usize, O: Observer<LANES>> Worker<'a, LANES, O> {
    pub(super) fn new(walk: &'a Walk<'a, LANES>, own: usize, observer: O) -> Worker<'a, LANES, O> {
        let Walk { graph, lanes, fit, shares, .. } = walk;
        let (range, ranks) = (shares.strands(graph, own), shares.ranks(own));
        let strands: &[Strand] = &graph.strands[range.start as usize..range.end as usize];
        let functions = kizami_model::function::functions().len() as u16;
        let all = range.clone();
        let asks_departure = |tie: Tie| matches!(tie.kind(), TieKind::Awaits | TieKind::Looks);
        let asks_posting = |tie: Tie| tie.kind().awaits_readiness();
        let mut worker = Worker {
            steps: &graph.steps,
            ties: &graph.ties,
            graph,
            range,
            shares,
            own,
            lanes,
            fit,
            spent: (0..=functions).map(|op| Spent::of(Op(op))).collect(),
            walking: strands.iter().map(|strand| Walking::new(strand.first_step)).collect(),
            overlaps: states(lanes.overlapping, strands.len()),
            in_models: states(lanes.modelled, strands.len()),
            child_threads: FxHashMap::default(),
            shifts: FxHashMap::default(),
            departures: PendingTable::new(
                graph.channels.len(),
                Shared::new(graph, all.clone(), asks_departure),
            ),
            postings: PendingTable::new(graph.channels.len(), Shared::new(graph, all, asks_posting)),
            collectives: Collectives::new(&graph.members, |rank| ranks.contains(&rank.0), &lanes.each),
            ready: VecDeque::new(),
            later: Vec::new(),
            parked_strands: None,
            patient: 0,
            horizon: Moment(i64::MIN),
            other_shares: FxHashMap::default(),
            outgoing: Outgoing::new(shares.count()),
            learned: Fit::default(),
            counts: Counts { direct_only: Moment(i64::MIN), ..Counts::default() },
            steps_done: 0,
            observer,
            woken: Vec::new(),
        };
        worker.line_up(strands);
        worker
    }

    /// The first strand of each rank begins; it starts the others.
    fn line_up(&mut self, strands: &[Strand]) {
        let mut first = 0;
        for (index, strand) in (0u32..).zip(strands) {
            if strand.first_of_rank || index == 0 {
                first = index;
                self.later.push(index);
            } else {
                self.child_threads.entry(first).or_default().insert(0, index);
                self.walking[first as usize].has_child_threads = true;
            }
        }
    }

    /// When the first of those that are too far ahead goes on, in recorded time.
    pub(super) fn next_start(&self) -> Option<Moment> {
        let start = |strand: &u32| self.steps[self.walking[*strand as usize].step as usize].start;
        self.later.iter().map(start).min()
    }

    /// Lets all strands go on up to another moment of the recorded run.
    pub(super) fn extend(&mut self, horizon: Moment) {
        self.horizon = horizon;
        self.parked_strands = None;
        self.ready.extend(self.later.drain(..));
    }

    /// Walks until no strand can go on.
    pub(super) fn run(&mut self) {
        while let Some(strand) = self.ready.pop_front() {
            self.fetch();
            self.advance(strand);
            let under_way = self.departures.len() + self.postings.len() + self.collectives.len();
            self.counts.most_under_way = self.counts.most_under_way.max(under_way as u64);
        }
    }

    /// Steps of different strands lie far apart: what a strand needs is prefetched while others are walked.
    #[inline]
    fn fetch(&self) {
        let [soon, sooner, next] = AHEAD.map(|ahead| self.ready.get(ahead).map(|strand| *strand as usize));
        if let Some(strand) = soon {
            prefetch(&self.walking, strand, size_of::<Walking<LANES>>().div_ceil(LINE_BYTES));
        }
        if let Some(strand) = sooner {
            let step = self.walking[strand].step;
            prefetch(self.steps, step as usize, 8);
            self.lanes.fetch_marks(step);
        }
        if let Some(strand) = next {
            let step = self.walking[strand].step;
            prefetch(self.ties, self.steps[step as usize].first_tie as usize, 4);
            self.lanes.fetch_changes(step);
        }
    }

    /// Receives what another partition announced.
    pub(super) fn receive(&mut self, events: Vec<RemoteEvent<LANES>>) {
        let mut woken = std::mem::take(&mut self.woken);
        for event in events {
            match event {
                RemoteEvent::Departed(key, arrival) => self.departures.announce(key, arrival, &mut woken),
                RemoteEvent::Posted(key, arrival) => self.postings.announce(key, arrival, &mut woken),
                RemoteEvent::Collective(news) => self.collectives.receive(news, &mut woken),
            }
        }
        self.wake(&mut woken);
        self.woken = woken;
    }

    /// What came of it.
    pub(super) fn finish(mut self) -> Replayed<O> {
        self.learned.eager_limit_bytes = eager_limit_bytes(&self.graph.protocols);
        Replayed {
            observers: vec![self.observer],
            followed: self.counts.followed,
            // Messages that were sent and never received. One that a class sends may be for a rank whose class has its rows
            // from another, which is sent the same by another rank.
            unmatched: match &self.graph.folding {
                None => self.counts.unmatched + self.departures.left(),
                Some(_) => self.counts.unmatched,
            },
            direct_only: self.counts.direct_only,
            learned: self.learned,
            most_under_way: self.counts.most_under_way,
            left: self.collectives.class_collectives.uneven,
        }
    }

    /// Walks a strand until it is parked, too far ahead or done.
    fn advance(&mut self, strand: u32) {
        let (steps, ties) = (self.steps, self.ties);
        loop {
            let walking = &mut self.walking[strand as usize];
            let index = walking.step;
            let step = &steps[index as usize];
            if walking.state == State::Between {
                if step.start > self.horizon {
                    self.later.push(strand);
                    return;
                }
                self.begin(strand, step);
                if step.ties > 0 {
                    let all = &ties[step.first_tie as usize..][..step.ties as usize];
                    self.announce(strand, index, step, all);
                }
            }
            if step.ties > 0 && !self.await_all(strand, index, step) {
                return;
            }
            self.end(strand, index, step);
            self.steps_done += 1;
            let walking = &mut self.walking[strand as usize];
            if step.next == 0 {
                walking.state = State::Done;
                return self.release_child_threads(strand, Moment(i64::MAX));
            }
            walking.state = State::Between;
            walking.step = index + u64::from(step.next);
        }
    }

    fn wake(&mut self, woken: &mut Vec<u32>) {
        for strand in woken.drain(..) {
            let walking = &mut self.walking[strand as usize];
            if walking.state == State::Parked {
                walking.state = State::Inside;
                self.patient -= u32::from(std::mem::take(&mut walking.patient));
                self.ready.push_back(strand);
            }
        }
    }

    /// Looks for all the step waits for; false if the strand had to be parked.
    fn await_all(&mut self, strand: u32, index: u64, step: &Step) -> bool {
        let number = strand + self.range.start;
        let rank = self.graph.strands[number as usize].rank;
        // Polls only look: the call behind them takes.
        let takes = step.kind() != StepKind::Polling;
        while self.walking[strand as usize].tie < step.ties {
            let tie = self.ties[step.first_tie as usize + self.walking[strand as usize].tie as usize];
            let tie = self.graph.tie(rank, tie);
            let kind = tie.kind();
            let came = match kind {
                TieKind::Polls => {
                    self.walking[strand as usize].polls = tie.polls();
                    self.walking[strand as usize].tie += 1;
                    continue;
                }
                _ if kind.announces() || kind.is_of_its_call() => {
                    self.walking[strand as usize].tie += 1;
                    continue;
                }
                kind if kind.awaits_readiness() => {
                    self.postings.ask(tie.key, strand, takes && kind != TieKind::LooksReady)
                }
                TieKind::Awaits | TieKind::Looks => {
                    self.departures.ask(tie.key, strand, takes && kind == TieKind::Awaits)
                }
                _ => match self.collectives.ask(tie, rank, strand) {
                    Answer::Came(arrival) => Some(arrival),
                    Answer::Wait => None,
                    Answer::Mixed => {
                        self.walking[strand as usize].missed = true;
                        self.skip(strand, step, tie);
                        continue;
                    }
                },
            };
            let Some(arrival) = came else {
                let patient = self.collectives.outlasts(tie);
                self.patient += u32::from(patient);
                let walking = &mut self.walking[strand as usize];
                (walking.state, walking.patient) = (State::Parked, patient);
                if let Some(mut parked_strands) = self.parked_strands.take() {
                    self.line_up_parked(&mut parked_strands, strand);
                    self.parked_strands = Some(parked_strands);
                }
                return false;
            };
            if kind == TieKind::Awaits && takes {
                let message = Message {
                    channel: tie.place(),
                    bytes: tie.bytes(),
                    sent: arrival.recorded,
                    from: arrival.strand,
                    strand: number,
                    step: index,
                };
                self.observer.message(&message);
            }
            self.came(strand, step, tie, &arrival);
            self.skip(strand, step, tie);
        }
        true
    }

    /// Done with a tie.
    fn skip(&mut self, strand: u32, step: &Step, tie: Tie) {
        if tie.kind().is_collective() && !tie.kind().announces() && step.kind() != StepKind::Polling {
            self.collectives.leave(tie.key);
        }
        self.walking[strand as usize].tie += 1;
    }

    /// Strands of the same rank that began before `until` begin as much earlier as the one that started them.
    fn release_child_threads(&mut self, strand: u32, until: Moment) {
        if !self.walking[strand as usize].has_child_threads {
            return;
        }
        let Some(child_threads) = self.child_threads.get_mut(&strand) else { return };
        while let Some(child) = child_threads.last().copied() {
            let first = self.steps[self.walking[child as usize].step as usize];
            if first.start >= until {
                return;
            }
            child_threads.pop();
            let Walking { step, start, removed, .. } = &self.walking[strand as usize];
            let recorded = self.steps[*step as usize].start;
            self.shifts.insert(child, start.map(|start| start.ahead_of(recorded)));
            self.walking[child as usize].removed = *removed;
            self.ready.push_back(child);
        }
        self.walking[strand as usize].has_child_threads = false;
    }
}
