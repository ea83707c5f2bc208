//! The walk of the strands that belong to one thread.
//!
//! A strand is walked until it needs to know what another has not told yet; then it is parked and woken by the one
//! who tells. Strands are kept within a slice of recorded time of each other (the *horizon*), so that what is
//! remembered is what was under way. What concerns strands of other threads goes into letters that are exchanged
//! when nothing is left to do here.

mod parked;
mod telling;
mod timing;

use super::board::{Board, Note};
use super::lane::{Lane, communicates};
use super::meeting::{Answer, Meetings, News};
use super::observer::{Message, Observer};
use super::strand::{State, Walking};
use crate::fit::Fit;
use kizami_graph::{Graph, Step, StepKind, Strand, Tie, TieKind};
use kizami_model::{Op, Rank};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// How many strands ahead memory is asked for.
const AHEAD: usize = 4;

/// What strands of one thread have to tell those of another.
pub(super) enum Letter<const LANES: usize> {
    Departed(u64, Note<LANES>),
    Posted(u64, Note<LANES>),
    Collective(News<LANES>),
}

/// Counts of what was walked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub followed: u64,
    pub unmatched: u64,
    pub direct_only_ns: i64,
    pub most_under_way: u64,
}

/// While everybody is stuck: parked strands by the recorded end of their call, the earliest first.
#[derive(Default)]
struct Stuck {
    all: BinaryHeap<Reverse<(i64, u32)>>,
    /// Those that wait for receives of large messages.
    senders: BinaryHeap<Reverse<(i64, u32)>>,
}

/// The strands of one thread.
pub(super) struct Worker<'a, const LANES: usize, O> {
    steps: &'a [Step],
    ties: &'a [Tie],
    graph: &'a Graph,
    /// Strands of this thread.
    range: Range<u32>,
    /// First rank of each thread.
    borders: &'a [u32],
    own: usize,
    lanes: &'a [Lane; LANES],
    fit: &'a Fit,
    communicates: Vec<bool>,
    /// Some lane has a model of the network.
    modelled: bool,
    /// Some lane hides waits behind computation.
    overlapping: bool,
    walking: Vec<Walking<LANES>>,
    heirs: FxHashMap<u32, Vec<u32>>,
    departures: Board<LANES>,
    postings: Board<LANES>,
    meetings: Meetings<'a, LANES>,
    ready: VecDeque<u32>,
    later: Vec<u32>,
    stuck: Option<Stuck>,
    /// How many parked strands are patient.
    pub patient: u32,
    horizon_ns: i64,
    /// By thread.
    pub letters: Vec<Vec<Letter<LANES>>>,
    pub learned: Fit,
    pub counts: Counts,
    pub steps_done: u64,
    pub observer: O,
    woken: Vec<u32>,
}

impl<'a, const LANES: usize, O: Observer<LANES>> Worker<'a, LANES, O> {
    pub(super) fn new(
        graph: &'a Graph,
        borders: &'a [u32],
        own: usize,
        lanes: &'a [Lane; LANES],
        fit: &'a Fit,
        observer: O,
    ) -> Worker<'a, LANES, O> {
        let first = |border: usize| {
            let rank = borders.get(border).copied().unwrap_or(u32::MAX);
            graph.strands.partition_point(|strand| strand.rank.0 < rank) as u32
        };
        let range =
            first(own)..if own + 1 < borders.len() { first(own + 1) } else { graph.strands.len() as u32 };
        let ranks = borders[own]..borders.get(own + 1).copied().unwrap_or(u32::MAX);
        let strands: &[Strand] = &graph.strands[range.start as usize..range.end as usize];
        let functions = kizami_model::function::functions().len() as u16;
        let mut worker = Worker {
            steps: &graph.steps,
            ties: &graph.ties,
            graph,
            range,
            borders,
            own,
            lanes,
            fit,
            modelled: lanes.iter().any(Lane::is_model),
            overlapping: lanes.iter().any(Lane::overlaps_any),
            communicates: (0..=functions).map(|op| communicates(Op(op))).collect(),
            walking: strands.iter().map(|strand| Walking::new(strand.first_step)).collect(),
            heirs: FxHashMap::default(),
            departures: Board::new(graph.channels.len()),
            postings: Board::new(graph.channels.len()),
            meetings: Meetings::new(&graph.members, |rank| ranks.contains(&rank.0), lanes),
            ready: VecDeque::new(),
            later: Vec::new(),
            stuck: None,
            patient: 0,
            horizon_ns: i64::MIN,
            letters: borders.iter().map(|_| Vec::new()).collect(),
            learned: Fit::default(),
            counts: Counts { direct_only_ns: i64::MIN, ..Counts::default() },
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
                self.heirs.entry(first).or_default().insert(0, index);
                self.walking[first as usize].has_heirs = true;
            }
        }
    }

    /// When the first of those that are too far ahead goes on, in recorded time.
    pub(super) fn next_start_ns(&self) -> Option<i64> {
        let start = |strand: &u32| self.steps[self.walking[*strand as usize].step as usize].start_ns;
        self.later.iter().map(start).min()
    }

    /// Lets everybody go on up to another moment of the recorded run.
    pub(super) fn extend(&mut self, horizon_ns: i64) {
        self.horizon_ns = horizon_ns;
        self.stuck = None;
        self.ready.extend(self.later.drain(..));
    }

    /// Walks until nobody can go on.
    pub(super) fn run(&mut self) {
        while let Some(strand) = self.ready.pop_front() {
            if let Some(soon) = self.ready.get(AHEAD) {
                self.fetch(*soon);
            }
            self.advance(strand);
            let under_way = self.departures.len() + self.postings.len() + self.meetings.len();
            self.counts.most_under_way = self.counts.most_under_way.max(under_way as u64);
        }
    }

    /// Steps of different strands lie far apart: what a strand needs is asked for while others are walked.
    fn fetch(&self, strand: u32) {
        let index = self.walking[strand as usize].step as usize;
        prefetch(self.steps, index, 8);
        // Where ties are is in the step, which was asked for before.
        if let Some(step) = self.ready.get(AHEAD / 2).map(|soon| self.walking[*soon as usize].step as usize) {
            prefetch(self.ties, self.steps[step].first_tie as usize, 4);
        }
    }

    /// Reads what other threads had to tell.
    pub(super) fn read(&mut self, letters: Vec<Letter<LANES>>) {
        let mut woken = std::mem::take(&mut self.woken);
        for letter in letters {
            match letter {
                Letter::Departed(key, note) => woken.extend(self.departures.tell(key, note)),
                Letter::Posted(key, note) => woken.extend(self.postings.tell(key, note)),
                Letter::Collective(news) => self.meetings.hear(news, &mut woken),
            }
        }
        self.wake(&mut woken);
        self.woken = woken;
    }

    /// What was told and never asked for.
    pub(super) fn left(&self) -> u64 {
        self.departures.left()
    }

    /// Walks a strand until it is parked, too far ahead or done.
    fn advance(&mut self, strand: u32) {
        let (steps, ties) = (self.steps, self.ties);
        loop {
            let walking = &mut self.walking[strand as usize];
            let index = walking.step;
            let step = &steps[index as usize];
            if walking.state == State::Between {
                if step.start_ns > self.horizon_ns {
                    self.later.push(strand);
                    return;
                }
                self.begin(strand, step);
                if step.ties > 0 {
                    let all = &ties[step.first_tie as usize..][..step.ties as usize];
                    self.tell(strand, index, step, all);
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
                return self.release_heirs(strand, i64::MAX);
            }
            walking.state = State::Between;
            walking.step = index + u64::from(step.next);
        }
    }

    fn begin(&mut self, strand: u32, step: &Step) {
        let rank = self.graph.strands[(strand + self.range.start) as usize].rank.0;
        let walking = &mut self.walking[strand as usize];
        match (walking.last, step.kind()) {
            (None, _) => {
                for lane in 0..LANES {
                    walking.start_ns[lane] = step.start_ns.saturating_sub(walking.shift_ns[lane]);
                }
            }
            (Some(last), StepKind::Part) => {
                let into_ns = step.start_ns.saturating_sub(last.recorded_ns.0);
                let recorded_ns = last.recorded_ns.1.saturating_sub(last.recorded_ns.0);
                for lane in 0..LANES {
                    let length_ns = last.end_ns[lane].saturating_sub(last.start_ns[lane]);
                    let shorter_ns = recorded_ns.saturating_sub(length_ns).clamp(0, into_ns.max(0));
                    walking.start_ns[lane] = last.start_ns[lane].saturating_add(into_ns - shorter_ns);
                }
            }
            (Some(last), _) => {
                let gap_ns = step.start_ns.saturating_sub(last.recorded_ns.1);
                let wanted_ns = step.before_ns.saturating_add(walking.debt_ns);
                let taken_ns = wanted_ns.min(gap_ns).max(0);
                walking.removed_ns = walking.removed_ns.saturating_add(step.before_ns);
                walking.debt_ns = wanted_ns - taken_ns;
                for (lane, setting) in self.lanes.iter().enumerate() {
                    let gap_ns = if setting.without_tracer { gap_ns - taken_ns } else { gap_ns };
                    walking.start_ns[lane] =
                        last.free_ns[lane].saturating_add(setting.gap_ns(rank, step.site(), gap_ns));
                }
            }
        }
        if self.overlapping {
            walking.hold();
        }
        walking.state = State::Inside;
        walking.tie = 0;
        walking.late = None;
        walking.polls = None;
        walking.missed = false;
        walking.floor_ns = [i64::MIN; LANES];
        if self.modelled {
            walking.busy_ns = walking.start_ns;
            walking.left_ns = [i64::MIN; LANES];
            walking.handling_ns = [0; LANES];
        }
        if walking.has_heirs {
            for lane in 0..LANES {
                walking.shift_ns[lane] = step.start_ns.saturating_sub(walking.start_ns[lane]);
            }
            self.release_heirs(strand, step.end_ns);
        }
    }

    #[inline]
    fn thread_of(&self, rank: Rank) -> usize {
        match self.borders.len() {
            1 => 0,
            _ => self.borders.partition_point(|border| *border <= rank.0) - 1,
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
        // Polls only look: the call behind them takes.
        let takes = step.kind() != StepKind::Polling;
        while self.walking[strand as usize].tie < step.ties {
            let tie = self.ties[step.first_tie as usize + self.walking[strand as usize].tie as usize];
            let kind = tie.kind();
            let came = match kind {
                TieKind::Polls => {
                    self.walking[strand as usize].polls = Some((tie.bytes() as i64, tie.key as i64));
                    self.walking[strand as usize].tie += 1;
                    continue;
                }
                _ if kind.tells() => {
                    self.walking[strand as usize].tie += 1;
                    continue;
                }
                kind if kind.awaits_readiness() => {
                    self.postings.ask(tie.key, strand, takes && kind != TieKind::LooksReady)
                }
                TieKind::Awaits | TieKind::Looks => {
                    self.departures.ask(tie.key, strand, takes && kind == TieKind::Awaits)
                }
                _ => match self.meetings.ask(tie, self.graph.strands[number as usize].rank, strand) {
                    Answer::Came(note) => Some(note),
                    Answer::Wait => None,
                    Answer::Mixed => {
                        self.walking[strand as usize].missed = true;
                        self.skip(strand, step, tie);
                        continue;
                    }
                },
            };
            let Some(note) = came else {
                let patient = self.meetings.outlasts(kind);
                self.patient += u32::from(patient);
                let walking = &mut self.walking[strand as usize];
                (walking.state, walking.patient) = (State::Parked, patient);
                if let Some(mut stuck) = self.stuck.take() {
                    self.line_up_parked(&mut stuck, strand, &self.walking[strand as usize]);
                    self.stuck = Some(stuck);
                }
                return false;
            };
            if kind == TieKind::Awaits && takes {
                let message = Message {
                    channel: tie.place(),
                    bytes: tie.bytes(),
                    sent_ns: note.recorded_ns,
                    from: note.strand,
                    strand: number,
                    step: index,
                };
                self.observer.message(&message);
            }
            self.came(strand, step, tie, note);
            self.skip(strand, step, tie);
        }
        true
    }

    /// Done with a tie.
    fn skip(&mut self, strand: u32, step: &Step, tie: Tie) {
        if tie.kind().is_collective() && !tie.kind().tells() && step.kind() != StepKind::Polling {
            self.meetings.leave(tie.key);
        }
        self.walking[strand as usize].tie += 1;
    }

    /// Strands of the same rank that began before `until_ns` begin as much earlier as the one that started them.
    fn release_heirs(&mut self, strand: u32, until_ns: i64) {
        if !self.walking[strand as usize].has_heirs {
            return;
        }
        let Some(heirs) = self.heirs.get_mut(&strand) else { return };
        while let Some(heir) = heirs.last().copied() {
            let first = self.steps[self.walking[heir as usize].step as usize];
            if first.start_ns >= until_ns {
                return;
            }
            heirs.pop();
            let (shift_ns, removed_ns) =
                (self.walking[strand as usize].shift_ns, self.walking[strand as usize].removed_ns);
            let walking = &mut self.walking[heir as usize];
            (walking.shift_ns, walking.removed_ns) = (shift_ns, removed_ns);
            self.ready.push_back(heir);
        }
        self.walking[strand as usize].has_heirs = false;
    }
}

/// Asks for the memory of some lines of a list from an index on, without waiting for it.
#[inline]
fn prefetch<T>(list: &[T], index: usize, lines: usize) {
    const LINE_BYTES: usize = 64;
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = list.as_ptr().wrapping_add(index).cast::<i8>().wrapping_add(line * LINE_BYTES);
        // SAFETY: asking for memory is allowed whatever the address is.
        unsafe { _mm_prefetch(address, _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (list, index, lines, LINE_BYTES);
}
