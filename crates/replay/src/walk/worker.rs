//! The walk of the strands that belong to one thread.
//!
//! A strand is walked until it needs to know what another has not told yet; then it is parked and woken by the one
//! who tells. Strands are kept within a slice of recorded time of each other (the *horizon*), so that what is
//! remembered is what was under way. What concerns strands of other threads goes into letters that are exchanged
//! when nothing is left to do here.

use super::board::{Board, Note};
use super::lane::{Lane, Recorded, Way, communicates};
use super::meeting::{Answer, Meetings, News};
use super::observer::{Message, Observer, Seen, Wait, WaitKind};
use super::strand::{Last, Late, State, Walking};
use crate::collectives::passing_ns;
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

    /// The parked strand whose call ended first in the recorded run, with that end: of all, and of those that wait
    /// for receives.
    pub(super) fn first_parked(&mut self) -> [Option<(i64, u32)>; 2] {
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

    fn line_up_parked(&self, stuck: &mut Stuck, strand: u32, walking: &Walking<LANES>) {
        let step = &self.steps[walking.step as usize];
        stuck.all.push(Reverse((step.end_ns, strand)));
        if self.awaits_post(walking) {
            stuck.senders.push(Reverse((step.end_ns, strand)));
        }
    }

    fn awaits_post(&self, walking: &Walking<LANES>) -> bool {
        let step = &self.steps[walking.step as usize];
        self.ties[step.first_tie as usize + walking.tie as usize].kind() == TieKind::AwaitsPost
    }

    /// The first that is still parked where it was.
    fn first_of(
        &self,
        parked: &mut BinaryHeap<Reverse<(i64, u32)>>,
        still: impl Fn(&Walking<LANES>) -> bool,
    ) -> Option<(i64, u32)> {
        while let Some(Reverse((end_ns, strand))) = parked.peek().copied() {
            let walking = &self.walking[strand as usize];
            let here = walking.state == State::Parked && self.steps[walking.step as usize].end_ns == end_ns;
            if here && still(walking) {
                return Some((end_ns, strand + self.range.start));
            }
            parked.pop();
        }
        None
    }

    /// Whether a strand belongs to this thread.
    pub(super) fn has(&self, strand: u32) -> bool {
        self.range.contains(&strand)
    }

    /// What a strand is parked for is not to be had.
    pub(super) fn give_up(&mut self, strand: u32) {
        let strand = strand - self.range.start;
        let walking = &mut self.walking[strand as usize];
        let step = &self.steps[walking.step as usize];
        let tie = self.ties[step.first_tie as usize + walking.tie as usize];
        walking.state = State::Inside;
        self.patient -= u32::from(std::mem::take(&mut walking.patient));
        match tie.kind() {
            TieKind::Awaits | TieKind::Looks => self.departures.give_up(tie.key),
            // A large message that was buffered all the same: its sender never waited.
            TieKind::AwaitsPost => self.postings.give_up(tie.key),
            _ => {}
        }
        walking.missed |= tie.kind() != TieKind::AwaitsPost;
        self.skip(strand, step, tie);
        self.ready.push_back(strand);
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
                        last.end_ns[lane].saturating_add(setting.gap_ns(rank, step.site(), gap_ns));
                }
            }
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

    /// Tells the others what they may be waiting for.
    fn tell(&mut self, strand: u32, index: u64, step: &Step, ties: &[Tie]) {
        let mut woken = std::mem::take(&mut self.woken);
        let number = strand + self.range.start;
        let mut note = Note {
            recorded_ns: step.start_ns,
            new_ns: self.walking[strand as usize].start_ns,
            strand: number,
            step: index,
        };
        for tie in ties {
            match tie.kind() {
                TieKind::Departs => {
                    if self.modelled {
                        self.leaves(strand, tie.bytes(), &mut note);
                    }
                    let to = self.graph.channels[tie.place() as usize].to;
                    match self.thread_of(to) {
                        thread if thread == self.own => woken.extend(self.departures.tell(tie.key, note)),
                        thread => self.letters[thread].push(Letter::Departed(tie.key, note)),
                    }
                }
                TieKind::Posts => {
                    let from = self.graph.channels[tie.place() as usize].from;
                    match self.thread_of(from) {
                        thread if thread == self.own => woken.extend(self.postings.tell(tie.key, note)),
                        thread => self.letters[thread].push(Letter::Posted(tie.key, note)),
                    }
                }
                kind if kind.tells() => {
                    let rank = self.graph.strands[number as usize].rank;
                    note.new_ns = self.walking[strand as usize].start_ns;
                    if let Some(news) = self.meetings.come(*tie, step.op(), rank, note, &mut woken) {
                        self.spread(tie.place(), &news);
                    }
                    if matches!(kind, TieKind::Passes | TieKind::PassesAsRoot) {
                        self.passes(strand, *tie, step.op());
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
    fn leaves(&mut self, strand: u32, bytes: u64, note: &mut Note<LANES>) {
        for (lane, setting) in self.lanes.iter().enumerate() {
            if let Some(model) = setting.model() {
                let walking = &mut self.walking[strand as usize];
                let busy_ns = walking.busy_ns[lane].saturating_add(model.handling_ns(bytes).round() as i64);
                walking.busy_ns[lane] = busy_ns;
                let leaves_ns = busy_ns.max(walking.free_ns[lane]);
                let taken_ns = (model.gap_ns + model.per_byte_ns * bytes as f64).round() as i64;
                walking.free_ns[lane] = leaves_ns.saturating_add(taken_ns);
                walking.left_ns[lane] = leaves_ns;
                note.new_ns[lane] = leaves_ns;
            }
        }
    }

    /// In modelled lanes: what a collective costs one that waits for nobody in it.
    fn passes(&mut self, strand: u32, tie: Tie, op: Op) {
        let ranks = self.graph.members.sizes[tie.place() as usize];
        for (lane, setting) in self.lanes.iter().enumerate() {
            if let Some(model) = setting.model() {
                let own_ns = passing_ns(op, ranks, tie.bytes(), model).round() as i64;
                let busy_ns = &mut self.walking[strand as usize].busy_ns[lane];
                *busy_ns = busy_ns.saturating_add(own_ns);
            }
        }
    }

    /// News of a collective go to all threads that have members in it.
    fn spread(&mut self, place: u32, news: &News<LANES>) {
        let members = &self.graph.members;
        let mut threads: Vec<usize> = members.of(place).map(|rank| self.thread_of(rank)).collect();
        threads.sort_unstable();
        threads.dedup();
        for thread in threads.into_iter().filter(|thread| *thread != self.own) {
            self.letters[thread].push(Letter::Collective(news.clone()));
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
                TieKind::AwaitsPost => self.postings.ask(tie.key, strand, takes),
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

    /// Somebody the step waits for came at this moment.
    fn came(&mut self, strand: u32, step: &Step, tie: Tie, note: Note<LANES>) {
        let bytes = tie.bytes();
        let (kind, way, least_ns) = match tie.kind() {
            TieKind::AwaitsPost => {
                self.came_in_models(strand, tie, &note);
                // Who was ready only after the call was over was not waited for.
                if note.recorded_ns >= step.end_ns && step.kind() != StepKind::Polling {
                    return;
                }
                (WaitKind::Receiver, Way::Message(bytes), 0)
            }
            TieKind::AwaitsAll | TieKind::AwaitsLower | TieKind::AwaitsRoot => {
                let ranks = self.graph.members.sizes[tie.place() as usize];
                let kind = match tie.kind() {
                    TieKind::AwaitsRoot => WaitKind::Root,
                    TieKind::AwaitsLower => WaitKind::Lower,
                    _ => WaitKind::All,
                };
                (kind, Way::Collective(step.op(), ranks, bytes), 0)
            }
            _ => (WaitKind::Sender, Way::Message(bytes), self.fit.way_ns(bytes)),
        };
        if self.modelled && kind != WaitKind::Receiver {
            self.came_in_models(strand, tie, &note);
        }
        let walking = &mut self.walking[strand as usize];
        let there_ns = note.recorded_ns.saturating_add(least_ns);
        let late = Late { note, kind, way, there_ns };
        let other = match walking.late {
            Some(before) if before.there_ns >= there_ns => Some(late),
            before => {
                walking.late = Some(late);
                before
            }
        };
        if let Some(other) = other {
            let way_ns = match other.way {
                Way::Message(bytes) if other.kind == WaitKind::Sender => self.fit.way_ns(bytes),
                _ => 0,
            };
            let way_ns = way_ns.min(step.end_ns.saturating_sub(other.note.recorded_ns));
            for (lane, setting) in self.lanes.iter().enumerate() {
                if !setting.is_model() {
                    let there_ns = other.note.new_ns[lane].saturating_add(setting.way_ns(way_ns, other.way));
                    walking.floor_ns[lane] = walking.floor_ns[lane].max(there_ns);
                }
            }
        }
    }

    /// The same in lanes with a model of the network: there every way is worked out.
    fn came_in_models(&mut self, strand: u32, tie: Tie, note: &Note<LANES>) {
        for (lane, setting) in self.lanes.iter().enumerate() {
            let Some(model) = setting.model() else { continue };
            let walking = &mut self.walking[strand as usize];
            let bytes = tie.bytes();
            let large = bytes > model.eager_limit_bytes;
            let there_ns = match tie.kind() {
                TieKind::AwaitsPost if large => {
                    // It has asked, hears that the receiver is ready, and is free when the last byte has left.
                    let latency_ns = model.latency_ns.round() as i64;
                    let asked_ns = walking.left_ns[lane].saturating_add(latency_ns);
                    let heard_ns = note.new_ns[lane].max(asked_ns).saturating_add(latency_ns);
                    let leaving_ns = (model.per_byte_ns * bytes as f64).round() as i64;
                    heard_ns.max(walking.busy_ns[lane]).saturating_add(leaving_ns)
                }
                TieKind::AwaitsPost => continue,
                TieKind::Awaits | TieKind::Looks => {
                    walking.handling_ns[lane] += model.handling_ns(bytes).round() as i64;
                    let asked_ns = note.new_ns[lane].saturating_add(model.latency_ns.round() as i64);
                    let leaves_ns = if large {
                        // The sender asks, and hears that the receiver is ready.
                        asked_ns.max(walking.start_ns[lane]).saturating_add(model.latency_ns.round() as i64)
                    } else {
                        note.new_ns[lane]
                    };
                    leaves_ns.saturating_add(model.way_ns(bytes).round() as i64)
                }
                _ => note.new_ns[lane],
            };
            walking.floor_ns[lane] = walking.floor_ns[lane].max(there_ns);
        }
    }

    fn end(&mut self, strand: u32, index: u64, step: &Step) {
        let communicates = self.communicates.get(usize::from(step.op().0)).copied().unwrap_or(false);
        let polling = step.kind() == StepKind::Polling;
        let fit = self.fit;
        let walking = &mut self.walking[strand as usize];
        let length_ns = step.length_ns();
        let late = walking.late;
        let waited = late.is_some_and(|late| match late.kind {
            WaitKind::Sender => late.there_ns > step.start_ns || late.note.recorded_ns >= step.start_ns,
            _ => late.note.recorded_ns >= step.start_ns,
        });
        let (within_ns, inside_ns) = walking.polls.unwrap_or((0, length_ns));
        let rest_ns = match late {
            Some(late) if waited => step.end_ns.saturating_sub(late.note.recorded_ns),
            _ => length_ns,
        };
        // What the tracer took is taken out of the part of the call that waited for nobody; polls that found nothing
        // only waited.
        let open_ns = if waited && polling { 0 } else { rest_ns.min(length_ns) };
        let busy_ns = open_ns - within_ns.min(open_ns).max(0);
        let paid_ns = walking.debt_ns.min(busy_ns).max(0);
        walking.debt_ns -= paid_ns;
        let cut_ns = open_ns - busy_ns + paid_ns;
        let mut end_ns = [0; LANES];
        for (lane, setting) in self.lanes.iter().enumerate() {
            let cut_ns = if setting.without_tracer { cut_ns } else { 0 };
            let recorded = match late {
                // Polls end when they see what they look for, or a little earlier: they do nothing else.
                Some(_) if waited && polling => Recorded { own_ns: 0, way_ns: rest_ns, busy_ns: 0 },
                Some(late) if waited => {
                    let way_ns = rest_ns - cut_ns;
                    let own_ns = match late.way {
                        Way::Message(bytes) => fit.handling_ns(bytes).min(way_ns).min(length_ns).max(0),
                        Way::Collective(..) => 0,
                    };
                    Recorded { own_ns, way_ns, busy_ns: 0 }
                }
                Some(late) => {
                    let recorded_ns = step.end_ns.saturating_sub(late.note.recorded_ns);
                    let way_ns = match late.way {
                        Way::Message(bytes) if late.kind == WaitKind::Sender => fit.way_ns(bytes),
                        _ => 0,
                    };
                    let busy_ns = length_ns.saturating_sub(inside_ns).max(0);
                    Recorded { own_ns: length_ns - cut_ns, way_ns: way_ns.min(recorded_ns), busy_ns }
                }
                None => {
                    let busy_ns = length_ns.saturating_sub(inside_ns).max(0);
                    Recorded { own_ns: length_ns - cut_ns, way_ns: 0, busy_ns }
                }
            };
            end_ns[lane] = if setting.is_model() {
                let start_ns = walking.busy_ns[lane].max(walking.floor_ns[lane]);
                let start_ns = start_ns.saturating_add(walking.handling_ns[lane]);
                setting.end_ns(start_ns, None, i64::MIN, communicates, recorded)
            } else {
                let late_ns = late.map(|late| (late.note.new_ns[lane], late.way));
                setting.end_ns(
                    walking.start_ns[lane],
                    late_ns,
                    walking.floor_ns[lane],
                    communicates,
                    recorded,
                )
            };
        }
        let call = step.kind() == StepKind::Call;
        if let Some(late) = late
            && let (Way::Collective(op, ranks, bytes), WaitKind::All, true) = (late.way, late.kind, call)
            // Learned once, in the first walk.
            && LANES == 0
        {
            self.learned.learn_collective(op, ranks, bytes, rest_ns);
        }
        if let Some(late) = late
            && let (Way::Message(bytes), WaitKind::Sender, true) = (late.way, late.kind, call)
        {
            let ago_ns = step.start_ns.saturating_sub(late.note.recorded_ns);
            if ago_ns <= 0 {
                self.learned.learn_way(bytes, step.end_ns.saturating_sub(late.note.recorded_ns));
            } else {
                self.learned.learn_handling(bytes, ago_ns, length_ns);
            }
        }
        self.counts.followed += u64::from(late.is_some() && call);
        self.counts.unmatched += u64::from(walking.missed && call);
        walking.removed_ns = walking.removed_ns.saturating_add(within_ns);
        self.counts.direct_only_ns =
            self.counts.direct_only_ns.max(step.end_ns.saturating_sub(walking.removed_ns));
        let start_ns = walking.start_ns;
        if step.kind() != StepKind::Part {
            walking.last = Some(Last { recorded_ns: (step.start_ns, step.end_ns), start_ns, end_ns });
        }
        let wait = late.filter(|late| late.note.recorded_ns > step.start_ns).map(|late| Wait {
            kind: late.kind,
            until_ns: late.note.recorded_ns,
            strand: late.note.strand,
            step: late.note.step,
        });
        let strand = strand + self.range.start;
        self.observer.step(&Seen { strand, index, step, start_ns, end_ns, wait });
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
