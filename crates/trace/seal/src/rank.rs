//! One rank from segments to rows.
//!
//! Rows are built in a window of bounded size. A receive's row is complete only when its completion has been
//! read, so receives that are still open when the window is full are looked up ahead in the records that
//! follow. Looking ahead has a budget: nearby completions are always found; receives that never complete
//! cannot make sealing a long trace take forever, and keep what they were posted with.

mod exact;

use super::communicators::Communicators;
use super::discover::Process;
use super::host::{RankClock, whole};
use super::merge::{Merged, SegmentTimes};
use super::names::{ProcessNames, UNDEFINED, known};
use super::reduced;
use super::requests::{OpenReceive, OpenReceives, PersistentRequests, WideNumbers};
use super::segment_file::SegmentInfo;
use super::source::MappedSegment;
use super::translate::Translator;
use super::under_way;
use kizami_model::meaning::start_op;
use kizami_model::{Ending, Length, Moment, Op, Rank, StopReason, ThreadIndex};
use kizami_records::{CallRecord, Completion, NO_SITE, Record, Started};
use kizami_sequence::FoldedSequence;
use kizami_summary::State;
use kizami_trace::TraceError;
use kizami_trace::definitions::{RegionSpan, Stop, UnderWay};
use kizami_trace::disturbance::RankLoss;
use kizami_trace::reduced_tables::{PeerRow, ReducedRows};
use kizami_trace::run::Missing;
use kizami_trace::schema::NULL64;
use kizami_trace::write::{PartWriter, Row};
use std::collections::BTreeMap;

/// How many windows a look ahead may always go.
const NEAR_WINDOWS: usize = 2;
/// Records to look ahead between giving memory back.
const RELEASE_EVERY: usize = 1 << 16;
/// `call_cost` counts in this part of a tick.
const COST_UNIT: f64 = 1024.0;

/// What a rank is sealed from.
pub(crate) struct RankInput<'a> {
    pub rank: u32,
    pub process: &'a Process,
    pub names: &'a ProcessNames,
    pub communicators: &'a Communicators,
    pub clock: RankClock<'a>,
    /// Every call of a reduced thread has a record all the same.
    pub all_recorded: bool,
}

/// What became of a rank, besides its rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankOutcome {
    pub rank: u32,
    pub calls: u64,
    pub mpi_ns: i64,
    pub overhead_ns: i64,
    /// Cores it might use, if it was recorded how long threads had none.
    pub cores: Option<String>,
    /// How long they had none.
    pub off_core_ns: i64,
    pub first_ns: Option<i64>,
    pub last_ns: Option<i64>,
    /// The calls its threads were inside when it ended.
    pub under_way: Vec<UnderWay>,
    pub damage: Option<String>,
    pub stops: Vec<Stop>,
    /// The work that the program counted, by place and name: how often, and how much in all.
    pub counts: BTreeMap<(u32, u32), (u64, u64)>,
    /// What is known of all calls, if rows were kept only in part.
    pub reduced: Option<RankReduced>,
}

/// What is known of all calls of a rank of which rows were kept only in part.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankReduced {
    pub tables: ReducedRows,
    pub peers: Vec<PeerRow>,
    /// By thread index, in the run's numbers.
    pub orders: Vec<(u32, FoldedSequence)>,
    pub missing: Missing,
    /// The sums of all threads could be read.
    pub whole: bool,
}

impl RankOutcome {
    /// The rank was in a call, or ran a task, from then to then.
    #[inline]
    pub(crate) fn spans(&mut self, start_ns: i64, end_ns: i64) {
        self.first_ns = Some(self.first_ns.map_or(start_ns, |first| first.min(start_ns)));
        self.last_ns = Some(self.last_ns.map_or(end_ns, |last| last.max(end_ns)));
    }

    /// What the rank lost to the tracer.
    pub(crate) fn loss(&self) -> RankLoss {
        let mut loss = RankLoss::new(self.rank);
        loss.add_call(self.calls, self.overhead_ns);
        self.stops.iter().for_each(|stop| loss.add_stop(stop));
        loss
    }

    /// Whether every call of the rank has its row.
    pub(crate) fn is_complete(&self) -> bool {
        self.damage.is_none()
            && self.reduced.is_none()
            && !self.stops.iter().any(|stop| matches!(stop.reason, StopReason::Paused | StopReason::Lost))
    }
}

/// What is known of one thread while its records are read.
struct Thread<'a> {
    segment: &'a SegmentInfo,
    index: i32,
    times: SegmentTimes<'a>,
    cost_ns: f64,
    /// What was counted with the call that comes next.
    counted: Option<Vec<[u64; 2]>>,
    /// How long the thread had no core before and inside the call that comes next, and what finding that out took.
    off_core: Option<[i64; 3]>,
    /// For how many calls the one stands that comes next.
    weight: Option<f64>,
    /// What the reducer of the thread left, if it had one.
    reduced: Option<ReducerState>,
    /// There are pieces of what a reducer handed over, and no companion to read them with.
    handed_over: bool,
    /// Regions entered and not left, with the time of entry.
    regions: Vec<(u32, i64)>,
    last_start_ticks: Option<u64>,
    last_op: Option<Op>,
    last_end_ticks: u64,
}

/// What the reducers of a thread left, as far as it could be read.
struct ReducerState {
    state: Option<State>,
    order: Option<FoldedSequence>,
}

/// The segments of a rank, as they are to be read; `damage` is called with those that cannot be.
fn open_segments<'a>(
    process: &'a Process,
    all_recorded: bool,
    damage: &mut Vec<String>,
) -> Vec<(&'a SegmentInfo, MappedSegment, Option<ReducerState>)> {
    let mut opened = Vec::new();
    for segment in &process.calls {
        let found = match segment.is_reduced() && !all_recorded {
            false => MappedSegment::open(segment).map(|mapped| (mapped, None)),
            true => reduced::read(segment).map(|thread| {
                damage.extend(thread.problems);
                let left = ReducerState { state: thread.state, order: thread.order };
                (MappedSegment::in_memory(segment, thread.segment), Some(left))
            }),
        };
        match found {
            Ok((mapped, left)) => opened.push((segment, mapped, left)),
            Err(problem) => damage.push(problem),
        }
    }
    opened
}

/// Seals one rank into `part`.
pub(crate) fn seal_rank(
    input: &RankInput<'_>,
    open: &mut OpenReceives,
    part: &mut PartWriter,
) -> Result<RankOutcome, TraceError> {
    open.clear();
    let mut damage = Vec::new();
    let mut mapped = open_segments(input.process, input.all_recorded, &mut damage);
    let mut left: Vec<Option<ReducerState>> = mapped.iter_mut().map(|(.., left)| left.take()).collect();
    let mut threads = Vec::new();
    let mut streams = Vec::new();
    let mut readable = Vec::new();
    for ((segment, mapped, _), left) in mapped.iter().zip(&mut left) {
        match mapped.records() {
            Ok(records) => {
                let thread = Thread::new(segment, input.clock, left.take());
                streams.push((records, thread.times));
                threads.push(thread);
                readable.push(mapped);
            }
            Err(problem) => damage.push(problem),
        }
    }
    let translator = Translator {
        rank: input.rank as i32,
        names: input.names,
        communicators: input.communicators,
        open,
        persistent: PersistentRequests::default(),
        numbers: WideNumbers::default(),
    };
    let cores = input.names.cores.clone();
    let outcome = RankOutcome { rank: input.rank, cores, ..RankOutcome::default() };
    // Far looks ahead cost at most two more passes over the rank's records.
    let far_budget = 2 * (input.process.call_bytes() / kizami_segment::SLOT_BYTES as u64);
    let mut sealer =
        Sealer { input, threads, translator, part, outcome, far_budget, mapped: &readable, is_kept: false };
    let merged = sealer.run(Merged::new(streams.into_iter()))?;
    for (stream, mapped) in merged.streams.iter().zip(&readable) {
        damage.extend(mapped.damage_text(&stream.records));
    }
    damage.extend(sealer.threads.iter().filter(|thread| thread.handed_over).map(|thread| {
        let name = thread.segment.file_name();
        format!(
            "{name}: the thread was reduced, and the companions of its segment are missing: so are its calls"
        )
    }));
    let mut outcome = sealer.outcome;
    outcome.damage = (!damage.is_empty()).then(|| damage.join("; "));
    Ok(outcome)
}

struct Sealer<'a, 'p> {
    input: &'a RankInput<'a>,
    threads: Vec<Thread<'a>>,
    translator: Translator<'a>,
    part: &'p mut PartWriter,
    outcome: RankOutcome,
    far_budget: u64,
    mapped: &'a [&'a MappedSegment],
    /// The row that is being made is one of some that were kept, and sums are of all calls.
    is_kept: bool,
}

impl Sealer<'_, '_> {
    fn run<'r>(&mut self, mut merged: Merged<'r>) -> Result<Merged<'r>, TraceError> {
        loop {
            match merged.next_call() {
                Some(call) => self.call(0, &call),
                None => match merged.next() {
                    Some((thread, record)) => self.record(thread, record),
                    None => break,
                },
            }
            if self.part.is_full() {
                self.look_ahead(&merged);
                self.part.flush()?;
                self.report(&merged);
            }
        }
        self.end();
        self.report(&merged);
        Ok(merged)
    }

    fn record(&mut self, thread: usize, record: Record<'_>) {
        match record {
            Record::Call(call) if call.part => self.part(thread, &call),
            Record::Call(call) => self.call(thread, &call),
            Record::Completion(call, completions) => self.completion(thread, &call, &completions),
            Record::Start(call, started) => self.start(thread, &call, &started),
            Record::Fold { call, count, inside_ticks } => {
                let calls = i32::try_from(count).unwrap_or(i32::MAX);
                let mut row = self.row(thread, &call, calls);
                row.inside_ns = whole(inside_ticks as f64 * self.input.clock.ns_per_tick());
                self.translator.polls(&mut row, &call);
                self.push(&mut row, None);
            }
            Record::Region { at_ticks, region, begins } => self.region(thread, at_ticks, region, begins),
            Record::Count { name, amount, site, .. } => self.count(name, amount, site),
            Record::Stop { start_ticks, duration_ticks, reason, detail } => {
                let thread = &mut self.threads[thread];
                if reason == StopReason::Calibration {
                    thread.cost_ns = cost_ns(detail, self.input.clock);
                }
                let start = thread.times.at(start_ticks);
                let end = thread.times.at(start_ticks.saturating_add(duration_ticks)).max(start);
                let late = (detail as f64 * self.input.clock.ns_per_tick()) as i64;
                let late = (reason == StopReason::Suspended).then_some(Length(late));
                self.outcome.stops.push(Stop { late, ..thread.stop(self.input.rank, start, end, reason, 0) });
            }
            Record::Counted(pairs) => self.threads[thread].counted = Some(pairs),
            Record::OffCore { before_ns, inside_ns, cost_ticks } => {
                let cost_ns = whole(cost_ticks as f64 * self.input.clock.ns_per_tick());
                let [before_ns, inside_ns] =
                    [before_ns, inside_ns].map(|ns| i64::try_from(ns).unwrap_or(i64::MAX));
                self.threads[thread].off_core = Some([before_ns, inside_ns, cost_ns]);
            }
            Record::Weight(weight) => self.threads[thread].weight = Some(weight),
            // A reducer's companion is not there, or its parts were taken already.
            Record::Reduced { .. } => self.threads[thread].handed_over = !self.input.all_recorded,
            // Definitions have a segment of their own.
            Record::Definition(_) => {}
        }
    }

    #[inline]
    fn call(&mut self, thread: usize, call: &CallRecord) {
        let mut row = self.row(thread, call, 1);
        let posted = self.translator.call(&mut row, call);
        self.push(&mut row, posted);
    }

    /// The beginnings of a row: who, when, at what cost.
    #[inline]
    fn row(&mut self, thread: usize, call: &CallRecord, calls: i32) -> Row {
        let thread = &mut self.threads[thread];
        self.is_kept = thread.reduced.is_some();
        let (start, end) = thread.times.span(call);
        (thread.last_start_ticks, thread.last_op) = (Some(call.start_ticks), Some(call.op));
        thread.last_end_ticks = call.start_ticks.saturating_add(call.duration_ticks);
        let mut row = Row::new(self.input.rank as i32, thread.index, start, end, call.op);
        let overhead = whole(thread.cost_ns * f64::from(calls));
        row.overhead_ns = i32::try_from(overhead).unwrap_or(i32::MAX);
        row.calls = calls;
        row.weight = thread.weight.take().unwrap_or(1.0);
        if let Some([before_ns, inside_ns, cost_ns]) = thread.off_core.take() {
            let some = |ns: i64| if ns > 0 { ns } else { NULL64 };
            (row.off_core_before_ns, row.off_core_ns) = (some(before_ns), some(inside_ns));
            row.overhead_ns =
                i32::try_from(i64::from(row.overhead_ns).saturating_add(cost_ns)).unwrap_or(i32::MAX);
            let both_ns = before_ns.saturating_add(inside_ns);
            self.outcome.off_core_ns = self.outcome.off_core_ns.saturating_add(both_ns);
        }
        if let Some(pairs) = thread.counted.take() {
            let whose = (row.rank, row.thread);
            self.part.counted.push(whose, start, &self.input.names.counters, &pairs);
        }
        row
    }

    #[inline]
    fn push(&mut self, row: &mut Row, posted: Option<OpenReceive>) {
        let outcome = &mut self.outcome;
        if self.is_kept {
            row.kept = true;
        } else {
            let inside = if row.calls > 1 { row.inside_ns } else { row.end_ns.saturating_sub(row.start_ns) };
            outcome.mpi_ns = outcome.mpi_ns.saturating_add(inside);
            outcome.calls += row.calls as u64;
            outcome.overhead_ns = outcome.overhead_ns.saturating_add(i64::from(row.overhead_ns));
        }
        outcome.spans(row.start_ns, row.end_ns);
        let index = self.part.rows.push(row);
        if let Some(posted) = posted {
            self.translator.open.insert(OpenReceive { row: index as u32, ..posted });
        }
    }

    fn completion(&mut self, thread: usize, call: &CallRecord, completions: &[Completion]) {
        let mut row = self.row(thread, call, 1);
        self.translator.common(&mut row, call);
        self.translator.list_completed(&mut self.part.rows, completions);
        self.push(&mut row, None);
        self.translator.complete(&mut self.part.rows, completions);
    }

    fn start(&mut self, thread: usize, call: &CallRecord, started: &[Started]) {
        let mut row = self.row(thread, call, 1);
        self.translator.common(&mut row, call);
        let single = start_op();
        if let ([only], true) = (started, call.op == single) {
            let posted = self.translator.started(&mut row, *only);
            self.push(&mut row, posted);
            return;
        }
        self.push(&mut row, None);
        for started in started {
            let mut part = Row::new(row.rank, row.thread, row.start_ns, row.start_ns, single);
            (part.calls, part.callsite) = (0, row.callsite);
            let posted = self.translator.started(&mut part, *started);
            self.push(&mut part, posted);
        }
    }

    /// One rank of the group that the call before was given.
    fn part(&mut self, thread: usize, call: &CallRecord) {
        let thread = &self.threads[thread];
        let start = thread.times.at(call.start_ticks);
        let mut row = Row::new(self.input.rank as i32, thread.index, start, start, call.op);
        row.calls = 0;
        self.translator.call(&mut row, call);
        self.push(&mut row, None);
    }

    fn region(&mut self, thread: usize, at_ticks: u64, region: u32, begins: bool) {
        let Some(index) = known(&self.input.names.regions, region) else { return };
        let thread = &mut self.threads[thread];
        let at = thread.times.at(at_ticks);
        if begins {
            thread.regions.push((index, at));
            return;
        }
        // Leaving a region that is not the innermost leaves those within it too.
        if let Some(depth) = thread.regions.iter().rposition(|(open, _)| *open == index) {
            thread.leave_regions(depth, at, self.input.rank, self.part.regions());
        }
    }

    fn count(&mut self, name: u32, amount: u64, site: u32) {
        let names = self.input.names;
        let Some(name) = known(&names.counts, name) else { return };
        let place = known(&names.sites, site).unwrap_or(UNDEFINED);
        let (times, sum) = self.outcome.counts.entry((place, name)).or_default();
        (*times, *sum) = (*times + 1, sum.saturating_add(amount));
    }

    /// Finds the completions of receives that are open at the end of the window.
    fn look_ahead(&mut self, merged: &Merged<'_>) {
        let near = NEAR_WINDOWS * self.part.window_rows();
        let mut ahead = merged.clone();
        let mut looked = 0usize;
        while !self.translator.open.is_empty() {
            if looked >= near {
                if self.far_budget == 0 {
                    break;
                }
                self.far_budget -= 1;
            }
            let Some((_, record)) = ahead.next() else { break };
            if let Record::Completion(_, completions) = record {
                self.translator.complete(&mut self.part.rows, &completions);
            }
            looked += 1;
            if looked.is_multiple_of(RELEASE_EVERY) {
                self.release(&ahead);
            }
        }
        self.translator.open.clear();
    }

    fn release(&self, merged: &Merged<'_>) {
        for (stream, mapped) in merged.streams.iter().zip(self.mapped) {
            mapped.release_up_to(stream.records.position());
        }
    }

    fn report(&mut self, merged: &Merged<'_>) {
        self.release(merged);
        let done: usize = merged.streams.iter().map(|stream| stream.records.position()).sum();
        self.part.report(done as u64);
    }

    /// Closes what is open at the end of the rank.
    fn end(&mut self) {
        // What never completed stays as it was posted.
        self.translator.open.clear();
        self.reduced();
        let rank = self.input.rank;
        let finalized = self.input.process.segments().any(|s| s.header.ending == Ending::Finalized);
        let last = self.threads.iter().map(|thread| thread.times.at(thread.last_end_ticks)).max();
        for thread in &mut self.threads {
            let entered = thread.regions.last().map_or(i64::MIN, |(_, at)| *at);
            let last = last.unwrap_or(entered).max(entered);
            thread.leave_regions(0, last, rank, self.part.regions());
            let header = &thread.segment.header;
            if header.lost_calls > 0 {
                let start = thread.times.at(thread.last_end_ticks);
                let end = thread.times.clock.at(header.last_reading.ticks).max(start);
                self.outcome.stops.push(thread.stop(rank, start, end, StopReason::Lost, header.lost_calls));
            }
            if !finalized && let Some(start) = thread.inside_call() {
                let RankInput { rank, names, communicators, .. } = *self.input;
                let meaning = under_way::Meaning { rank, thread: thread.index as u32, names, communicators };
                self.outcome.under_way.push(meaning.of(header, start));
            }
        }
    }
}

impl<'a> Thread<'a> {
    fn new(segment: &'a SegmentInfo, clock: RankClock<'a>, reduced: Option<ReducerState>) -> Thread<'a> {
        let header = &segment.header;
        Thread {
            segment,
            index: header.thread.and_then(|thread| i32::try_from(thread).ok()).unwrap_or(i32::MAX),
            times: SegmentTimes { clock, base_ticks: header.base_ticks },
            cost_ns: cost_ns(header.call_cost, clock),
            counted: None,
            off_core: None,
            weight: None,
            reduced,
            handed_over: false,
            regions: Vec::new(),
            last_start_ticks: None,
            last_op: None,
            last_end_ticks: 0,
        }
    }

    /// Leaves all regions from this depth on.
    fn leave_regions(&mut self, depth: usize, at: i64, rank: u32, spans: &mut Vec<RegionSpan>) {
        let depth = depth.min(self.regions.len());
        for ((region, start), depth) in self.regions.drain(depth..).zip(depth..) {
            spans.push(RegionSpan {
                rank: Rank(rank),
                thread: ThreadIndex(self.index as u32),
                start: Moment(start),
                end: Moment(at.max(start)),
                region,
                depth: depth as u32,
            });
        }
    }

    fn stop(&self, rank: u32, start: i64, end: i64, reason: StopReason, lost_calls: u64) -> Stop {
        Stop {
            rank: Rank(rank),
            thread: ThreadIndex(self.index as u32),
            start: Moment(start),
            end: Moment(end),
            reason,
            late: None,
            lost_calls,
        }
    }

    /// When the call began that the thread was inside when its segment ended, if its header names one without a record.
    fn inside_call(&self) -> Option<Moment> {
        let header = &self.segment.header;
        let op = Op(header.in_call_op);
        op.function()?;
        let begun = header.in_call_start_ticks;
        let known = if header.in_call_note.site != NO_SITE {
            // Such a note is taken back when the call returns, just after its record was stored. In simulated time
            // several calls may begin at once.
            self.last_start_ticks != Some(begun) || self.last_op != Some(op)
        } else {
            let after_last =
                self.last_start_ticks.is_none_or(|last| begun > last && begun >= self.last_end_ticks);
            // Older versions left it. Calls that could not be stored have no record either: then nothing can be said.
            after_last && header.lost_calls == 0
        };
        known.then(|| Moment(self.times.at(begun)))
    }
}

/// What recording a call costs, as the tracer measured it.
fn cost_ns(units: u64, clock: RankClock<'_>) -> f64 {
    units as f64 / COST_UNIT * clock.ns_per_tick()
}
