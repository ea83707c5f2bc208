//! First pass: from rows to steps, with what the tracer took around each and what ties it to other ranks.
//!
//! Rows are read once, in the order of the trace. Which message and which collective a call takes part in is
//! counted by each rank for itself (see [`crate::traffic`]), so both sides arrive at the same key without being
//! looked at together. Memory: one number for each combination of communicator, sender, receiver and tag, and
//! what one rank has open.
//!
//! Of the tracer's cost half lies before a call and half behind it. Its measurement also holds the reading of
//! the clock that falls inside the recorded span; the walk takes that from the span where the gap between two
//! calls has no room for it.

use super::collectives::{Communicators, Part};
use super::spool::{Link, Spool, SpoolWriter, Step, StepKind, Tie};
use crate::calls::Calls;
use crate::definitions::Stop;
use crate::disturbance::{Held, RankLoss};
use crate::traffic::{Beginning, Ending, Message, Numbering, Traffic};
use crate::{Definitions, RankSelection, StoreError, Trace};
use kizami_model::{Call, Rank};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Messages above this many bytes wait for their receiver in every MPI we know, below it they may not.
const SURELY_RENDEZVOUS: u64 = 64 << 10;
/// Less work than this between two polls is no work: the program only waits.
const IDLE_BETWEEN_POLLS_NS: i64 = 1_000;

/// A thread that made calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadSteps {
    pub rank: u32,
    pub thread: u32,
    pub first_step: u64,
}

/// All rows as steps.
pub(super) struct Gathered {
    pub spool: Spool,
    /// By rank, then by first call: the first of a rank is the one that started the others.
    pub threads: Vec<ThreadSteps>,
    /// The parts of `events/`, each with the index of its first step.
    pub parts: Vec<(PathBuf, u64)>,
    pub losses: Vec<RankLoss>,
    /// Calls that may wait for others in a way that is not followed.
    pub not_followed: u64,
}

/// Reads all rows of a trace.
pub(super) fn gather(
    trace: &Trace,
    definitions: &Definitions,
    stops: &[Stop],
    folder: &Path,
    progress: &dyn Fn(u64),
) -> Result<Gathered, StoreError> {
    let mut gather = Gather {
        spool: SpoolWriter::create(folder, trace.run().totals.events)?,
        channels: HashMap::new(),
        communicators: Communicators::new(definitions),
        threads: Vec::new(),
        losses: Vec::new(),
        not_followed: 0,
    };
    let mut parts = Vec::new();
    let mut rank: Option<RankState> = None;
    let mut rows: u64 = 0;
    for path in trace.event_parts()? {
        parts.push((path.clone(), rows));
        for call in Calls::new(vec![path], &RankSelection::All) {
            let call = call?;
            if rank.as_ref().is_none_or(|state| state.rank != call.rank) {
                gather.end_rank(rank.take());
                rank = Some(RankState::new(call.rank, stops));
            }
            if let Some(state) = &mut rank {
                gather.call(state, &call)?;
            }
            rows += 1;
            if rows.is_multiple_of(1 << 16) {
                progress(rows);
            }
        }
    }
    gather.end_rank(rank);
    let Gather { spool, threads, losses, not_followed, .. } = gather;
    Ok(Gathered { spool: spool.finish()?, threads, parts, losses, not_followed })
}

struct Gather {
    spool: SpoolWriter,
    channels: HashMap<(u32, Rank, Rank, i32), u32>,
    communicators: Communicators,
    threads: Vec<ThreadSteps>,
    losses: Vec<RankLoss>,
    not_followed: u64,
}

/// What is known of the rank being read.
struct RankState<'a> {
    rank: Rank,
    traffic: Traffic,
    stops: &'a [Stop],
    threads: HashMap<u32, ThreadState>,
    /// Large messages on their way, by request.
    sends: HashMap<u64, Link>,
    /// Collectives on their way, by request.
    collectives: HashMap<u64, Link>,
    loss: RankLoss,
}

/// What is known of one of its threads.
#[derive(Clone, Copy)]
struct ThreadState {
    last_step: u64,
    last_end_ns: i64,
    /// What the tracer took right behind the last call.
    behind_ns: i64,
    /// The last row is of failed polls without work between them.
    polling: bool,
    /// Stops of the rank looked at so far.
    stops_seen: usize,
}

impl<'a> RankState<'a> {
    fn new(rank: Rank, stops: &'a [Stop]) -> RankState<'a> {
        let begin = stops.partition_point(|stop| stop.rank < rank);
        let end = stops.partition_point(|stop| stop.rank <= rank);
        let mut loss = RankLoss::new(rank.0);
        stops[begin..end].iter().for_each(|stop| loss.add_stop(stop));
        RankState {
            rank,
            traffic: Traffic::new(Numbering::On),
            stops: &stops[begin..end],
            threads: HashMap::new(),
            sends: HashMap::new(),
            collectives: HashMap::new(),
            loss,
        }
    }
}

impl Gather {
    fn end_rank(&mut self, rank: Option<RankState>) {
        if let Some(state) = rank {
            self.not_followed += state.traffic.left_out;
            self.losses.push(state.loss);
        }
    }

    fn call(&mut self, state: &mut RankState, call: &Call) -> Result<(), StoreError> {
        state.loss.add_call(u64::from(call.calls), call.overhead.0);
        let (mut tells, awaits) = self.links(state, call);
        let told = tells.len() as u64;
        tells.extend(&awaits);
        let before = state.threads.get(&call.thread.0).copied();
        let cost = Cost::of(call);
        let held_ns = match before {
            Some(thread) => held(state.stops, call, thread),
            None => (0, seen(state.stops, call)),
        };
        let step = Step {
            start_ns: call.start.0,
            end_ns: call.end.0,
            // What lies before a thread's first call lies before the time that was recorded.
            before_ns: before.map_or(0, |thread| held_ns.0.saturating_add(thread.behind_ns + cost.before_ns)),
            within_ns: cost.within_ns,
            links: (0, 0),
            kind: if call.calls == 0 { StepKind::Part } else { StepKind::Call },
            next: 0,
        };
        let index = self.spool.push(step, &tells)?;
        match before {
            Some(thread) => {
                let mut last = self.spool.step(thread.last_step);
                last.next = index - thread.last_step;
                if thread.polling && !awaits.is_empty() {
                    // The polls waited for the same as this call.
                    last.kind = StepKind::Polling;
                    last.links = (self.spool.step(index).links.0 + told, awaits.len() as u32);
                }
                self.spool.set(thread.last_step, &last);
            }
            None => {
                let (rank, thread) = (call.rank.0, call.thread.0);
                self.threads.push(ThreadSteps { rank, thread, first_step: index });
            }
        }
        let part_of = before.filter(|_| call.calls == 0);
        let thread = ThreadState {
            last_step: index,
            last_end_ns: part_of.map_or(call.end.0, |whole| whole.last_end_ns),
            behind_ns: part_of.map_or(cost.behind_ns, |whole| whole.behind_ns),
            polling: idle_polls(call, cost),
            stops_seen: held_ns.1,
        };
        state.threads.insert(call.thread.0, thread);
        Ok(())
    }

    /// What a call tells others, and what it waits for.
    fn links(&mut self, state: &mut RankState, call: &Call) -> (Vec<Link>, Vec<Link>) {
        let (mut beginnings, mut endings) = (Vec::new(), Vec::new());
        let function = call.op.function();
        let name = function.map_or("", |function| function.shape_name);
        let (mut tells, mut awaits) = (Vec::new(), Vec::new());
        if matches!(name, "probe" | "mprobe") && !call.failed {
            let found = state.traffic.found_by_probe(call);
            awaits.extend(found.map(|message| self.incoming(state.rank, message, Tie::Looks)));
        }
        state.traffic.of_call(call, &mut beginnings, &mut endings);
        for beginning in beginnings {
            match beginning {
                Beginning::Send(message, request) => {
                    let link = self.outgoing(state.rank, message, Tie::Departs);
                    tells.push(link);
                    let awaited = Link { tie: Tie::AwaitsPost, ..link };
                    match request {
                        _ if message.bytes <= SURELY_RENDEZVOUS => {}
                        Some(request) => drop(state.sends.insert(request, awaited)),
                        None => awaits.push(awaited),
                    }
                }
                Beginning::Receive(_, Some(message)) if message.bytes > SURELY_RENDEZVOUS => {
                    tells.push(self.incoming(state.rank, message, Tie::Posts));
                }
                // Those that wait for it are found by the call itself.
                Beginning::Receive(..) | Beginning::Collective(_) => {}
            }
        }
        self.collective(state, call, &mut tells, &mut awaits);
        for ending in endings {
            match ending {
                Ending::Send(request) => awaits.extend(state.sends.remove(&request)),
                Ending::Receive(message, request) => {
                    if request.is_none() && message.bytes > SURELY_RENDEZVOUS {
                        tells.push(self.incoming(state.rank, message, Tie::Posts));
                    }
                    awaits.push(self.incoming(state.rank, message, Tie::Awaits));
                }
                Ending::Collective(_, Some(request)) => awaits.extend(state.collectives.remove(&request)),
                Ending::Collective(_, None) | Ending::NoMessage(_) => {}
            }
        }
        (tells, awaits)
    }

    fn collective(
        &mut self,
        state: &mut RankState,
        call: &Call,
        tells: &mut Vec<Link>,
        awaits: &mut Vec<Link>,
    ) {
        match self.communicators.part_of(call) {
            Part::None => {}
            Part::Unknown => self.not_followed += 1,
            Part::Takes { tells: tie, awaits: awaited, key } => {
                let link = |tie| Link { tie, key, bytes: u64::from(call.op.0) };
                tells.push(link(tie));
                match (awaited, call.request) {
                    (Some(tie), Some(request)) => drop(state.collectives.insert(request, link(tie))),
                    (Some(tie), None) => awaits.push(link(tie)),
                    (None, _) => {}
                }
            }
        }
    }

    fn outgoing(&mut self, rank: Rank, message: Message, tie: Tie) -> Link {
        self.message((message.comm, rank, message.peer, message.tag), message, tie)
    }

    fn incoming(&mut self, rank: Rank, message: Message, tie: Tie) -> Link {
        self.message((message.comm, message.peer, rank, message.tag), message, tie)
    }

    fn message(&mut self, channel: (u32, Rank, Rank, i32), message: Message, tie: Tie) -> Link {
        let next = self.channels.len() as u32;
        let channel = *self.channels.entry(channel).or_insert(next);
        Link { tie, key: u64::from(channel) << 32 | message.number & 0xFFFF_FFFF, bytes: message.bytes }
    }
}

/// What the tracer took around the calls of one row.
#[derive(Clone, Copy)]
struct Cost {
    before_ns: i64,
    within_ns: i64,
    behind_ns: i64,
}

impl Cost {
    fn of(call: &Call) -> Cost {
        let one_ns = call.overhead.0 / i64::from(call.calls.max(1));
        let before_ns = one_ns / 2;
        Cost { before_ns, within_ns: call.overhead.0 - one_ns, behind_ns: one_ns - before_ns }
    }
}

/// Whether a row is of failed polls that follow each other so closely that nothing was done between them.
fn idle_polls(call: &Call, cost: Cost) -> bool {
    let Some(inside) = call.inside.filter(|_| call.calls > 1) else { return false };
    let between_ns =
        call.end.0.saturating_sub(call.start.0).saturating_sub(inside.0.saturating_add(cost.within_ns));
    between_ns < IDLE_BETWEEN_POLLS_NS.saturating_mul(i64::from(call.calls - 1))
}

/// How long the tracer held the thread between its last call and this one, and how many stops are behind it.
fn held(stops: &[Stop], call: &Call, thread: ThreadState) -> (i64, usize) {
    let seen = seen(stops, call).max(thread.stops_seen);
    let between = &stops[thread.stops_seen..seen];
    let own = between.iter().filter(|stop| stop.thread == call.thread && Held::of(stop).is_some());
    let held_ns: i64 = own
        .map(|stop| {
            let from = stop.start.0.max(thread.last_end_ns);
            stop.end.0.min(call.start.0).saturating_sub(from).max(0)
        })
        .fold(0, i64::saturating_add);
    (held_ns, seen)
}

/// How many stops of the rank began before this call.
fn seen(stops: &[Stop], call: &Call) -> usize {
    stops.partition_point(|stop| stop.start < call.start)
}
