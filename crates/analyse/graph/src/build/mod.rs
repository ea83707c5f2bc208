//! From rows to steps: what ties each call to other ranks, and the tracer overhead around it.

mod alike;
mod cost;
mod exchange;
mod join;
mod later;

use crate::channels::{Channel, ChannelIndex, Channels, Side};
use crate::collectives::Collectives;
use crate::folding::{Counting, Folding};
use crate::locks::Locks;
use crate::protocol::Clocks;
use crate::step::{Exchanged, OffCore, Polls, Step, StepKind, Tie, TieKind};
use crate::topology::Topology;
use crate::windows::{self, WindowRole, Windows};
use crate::{Graph, Strand};
use alike::Called;
use cost::{Cost, begun_stops, idle_polls};
use kizami_model::kind::{CollectiveKind, Form, Kind, SendMode};
use kizami_model::{Call, Length, Moment, Op, Rank, Shape};
use kizami_trace::{Definitions, Stop};
use kizami_traffic::{Beginning, Ending, Message, Numbering, OpenRequests, Traffic};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A graph being built, rank by rank, each in the order of its rows.
pub struct Builder<'a> {
    stops: &'a [Stop],
    rank: Option<RankState<'a>>,
    parts: Parts<'a>,
}

/// What belongs to all ranks.
struct Parts<'a> {
    definitions: &'a Definitions,
    called: Called,
    steps: Vec<Step>,
    ties: Vec<Tie>,
    /// Steps that may wait until a receiver is ready.
    waiting: Vec<u64>,
    strands: Vec<Strand>,
    channels: Channels,
    collectives: Collectives,
    /// Of a run stored by rank class.
    folding: Option<Arc<Folding>>,
    counting: Counting,
    topology: Topology,
    /// The number of each window, by index among the objects.
    windows: FxHashMap<u32, u32>,
    locks: Locks,
    meanings: Vec<Meaning>,
    off_core: Vec<OffCore>,
    not_followed: u64,
    /// Ties of steps that were found behind them.
    later: Vec<(u64, Tie)>,
    clocks: Clocks,
    /// Kept for their memory.
    beginnings: Vec<Beginning>,
    endings: Vec<Ending>,
    announces: Vec<Tie>,
    awaits: Vec<Tie>,
}

/// What must be known of a function for each call.
#[derive(Clone, Copy)]
struct Meaning {
    /// It moves messages or completes requests.
    traffic: bool,
    /// A probe.
    probe: bool,
    /// Its messages never wait for their receiver.
    buffered: bool,
    /// Its messages wait for their receiver, whatever their size.
    synchronous: bool,
    /// It moves bytes to or from a file or a window.
    accesses: bool,
    /// In it, ranks may get different numbers of bytes from all.
    uneven: bool,
    window: WindowRole,
}

/// So many threads are looked through faster than they are looked up.
const FEW_THREADS: usize = 16;

/// What is known of the rank being read.
struct RankState<'a> {
    rank: Rank,
    traffic: Traffic,
    stops: &'a [Stop],
    threads: Vec<(u32, ThreadState)>,
    /// Where each of them is, for ranks of many threads.
    slots: FxHashMap<u32, usize>,
    /// What a request awaits when it is completed, by request; more than one for collectives that are messages.
    open: OpenRequests<Tie>,
    exchanges: FxHashMap<u64, Vec<Tie>>,
    windows: Windows,
}

/// What is known of one of its threads.
#[derive(Clone, Copy)]
struct ThreadState {
    last_step: u64,
    /// The last step that is no part of another.
    whole: u64,
    last_end: Moment,
    /// What the tracer took right behind the last call.
    behind: Length,
    /// The last row is of failed polls of this function without work between them.
    polling: Option<Op>,
    /// Stops of the rank looked at so far.
    stops_begun: usize,
}

impl<'a> Builder<'a> {
    /// `stops` must be sorted by rank and start.
    pub fn new(definitions: &'a Definitions, stops: &'a [Stop]) -> Builder<'a> {
        Builder::with(definitions, Folding::of(definitions), stops)
    }

    /// Of the rows of some ranks of a run stored by rank class, which stand for no others.
    pub(crate) fn of_few(definitions: &'a Definitions) -> Builder<'a> {
        Builder::with(definitions, None, &[])
    }

    fn with(definitions: &'a Definitions, folding: Option<Arc<Folding>>, stops: &'a [Stop]) -> Builder<'a> {
        let functions = kizami_model::function::functions();
        let parts = Parts {
            definitions,
            called: Called::new(definitions),
            steps: Vec::new(),
            ties: Vec::new(),
            waiting: Vec::new(),
            strands: Vec::new(),
            channels: Channels::default(),
            collectives: Collectives::new(definitions, folding.clone()),
            folding,
            counting: Counting::default(),
            topology: Topology::new(definitions),
            windows: windows::numbers(definitions),
            locks: Locks::default(),
            meanings: (0..=functions.len() as u16).map(|op| Meaning::of(Op(op))).collect(),
            off_core: Vec::new(),
            not_followed: 0,
            later: Vec::new(),
            clocks: Clocks::Aligned { between_hosts: None },
            beginnings: Vec::new(),
            endings: Vec::new(),
            announces: Vec::new(),
            awaits: Vec::new(),
        };
        Builder { stops, rank: None, parts }
    }

    /// With times that fit together as well as these clocks; without, as well as those of each host.
    pub fn with_clocks(mut self, clocks: Clocks) -> Builder<'a> {
        self.parts.clocks = clocks;
        self
    }

    /// The next row.
    pub fn call(&mut self, call: &Call) {
        if self.rank.as_ref().is_none_or(|state| state.rank != call.rank) {
            self.end_rank();
        }
        let state = self.rank.get_or_insert_with(|| RankState::new(call.rank, self.stops));
        self.parts.links(state, call);
        self.parts.step(state, call)
    }

    /// There are no more rows.
    pub fn finish(self) -> Graph {
        self.finish_with(Vec::new()).0
    }

    fn end_rank(&mut self) {
        self.parts.not_followed += self.rank.take().map_or(0, |state| state.traffic.left_out);
        self.parts.counting.restart();
    }
}

impl Parts<'_> {
    /// Adds the step of a row whose ties are known.
    fn step(&mut self, state: &mut RankState, call: &Call) {
        let cost = Cost::of(call);
        let slot = state.slot_of(call.thread.0);
        let before = slot.map(|slot| state.threads[slot].1);
        let (held, stops_begun) = match before {
            Some(thread) if !state.stops.is_empty() => cost::held(state.stops, call, thread),
            _ => (Length::ZERO, begun_stops(state.stops, call)),
        };
        let kind = if call.calls == 0 { StepKind::Part } else { StepKind::Call };
        let start = Moment(call.start.0);
        // A row that was forged may end before it begins.
        let end = Moment(call.end.0).max(start);
        let mut step = Step::new(start, end, call.op, call.callsite, kind);
        self.called.note(step.site(), call.op);
        // What lies before a thread's first call lies before the time that was recorded.
        step.before = before.map_or(Length::ZERO, |thread| held.saturating_add(thread.behind + cost.before));
        step.first_tie = self.ties.len() as u64;
        if call.calls > 1 {
            let inside = call.inside.map_or(Length::ZERO, |inside| Length(inside.0));
            self.announces.push(Tie::of_polls(Polls { tracer: cost.within, inside }));
        }
        self.announces.extend(self.meaning(call.op).moved(call));
        step.ties = (self.announces.len() + self.awaits.len()) as u32;
        let index = self.steps.len() as u64;
        if call.off_core.is_some() || call.off_core_before.is_some() {
            let length = |length: Option<Length>| length.unwrap_or(Length::ZERO).at_least_zero();
            let (before, inside) = (length(call.off_core_before), length(call.off_core));
            self.off_core.push(OffCore { step: index, before, inside });
        }
        for tie in self.announces.iter().chain(&self.awaits) {
            self.ties.push(*tie);
        }
        match before {
            Some(thread) => {
                self.steps[thread.last_step as usize].next = (index - thread.last_step) as u32;
                let found = |polls: Op| polls == call.op || !call.completes.is_empty();
                if thread.polling.is_some_and(found) && !self.awaits.is_empty() {
                    self.let_polls_wait(thread.last_step);
                }
            }
            None => {
                let first_of_rank = state.threads.is_empty();
                let (rank, thread) = (call.rank, call.thread.0);
                self.strands.push(Strand { rank, thread, first_step: index, first_of_rank });
            }
        }
        if self.awaits.iter().any(|tie| tie.kind().awaits_readiness()) {
            self.waiting.push(index);
        }
        self.steps.push(step);
        let part_of = before.filter(|_| call.calls == 0);
        let thread = ThreadState {
            last_step: index,
            whole: part_of.map_or(index, |whole| whole.whole),
            last_end: part_of.map_or(Moment(call.end.0), |whole| whole.last_end),
            behind: part_of.map_or(cost.behind, |whole| whole.behind),
            polling: (call.calls > 1 && idle_polls(call, cost)).then_some(call.op),
            stops_begun,
        };
        match slot {
            Some(slot) => state.threads[slot].1 = thread,
            None => {
                state.slots.insert(call.thread.0, state.threads.len());
                state.threads.push((call.thread.0, thread));
            }
        }
    }

    /// Polls right before the call being added waited for the same as this call, which did not begin it itself. Their
    /// ties are all their own: the tracer overhead between them, and now these.
    fn let_polls_wait(&mut self, polls: u64) {
        let step = &mut self.steps[polls as usize];
        let own = step.first_tie as usize..step.first_tie as usize + step.ties as usize;
        step.set_kind(StepKind::Polling);
        step.first_tie = self.ties.len() as u64;
        step.ties = (own.len() + self.awaits.len()) as u32;
        for index in own {
            self.ties.push(self.ties[index]);
        }
        for tie in &self.awaits {
            self.ties.push(*tie);
        }
        if self.awaits.iter().any(|tie| tie.kind().awaits_readiness()) {
            self.waiting.push(polls);
        }
    }

    fn meaning(&self, op: Op) -> Meaning {
        self.meanings.get(usize::from(op.0)).copied().unwrap_or(Meaning::NONE)
    }

    /// Finds what a call announces to others, and what it waits for.
    fn links(&mut self, state: &mut RankState, call: &Call) {
        self.announces.clear();
        self.awaits.clear();
        let meaning = self.meaning(call.op);
        if meaning.probe && !call.failed && call.inside.is_none() {
            let found = kizami_traffic::probed_message(call);
            if let Some(message) = found {
                let (channel, number) = self.peek(message.incoming(state.rank));
                self.awaits.push(Tie::new(TieKind::Looks, channel, number, message.bytes));
            }
        }
        if meaning.window != WindowRole::None && !call.failed && call.inside.is_none() {
            self.window(state, call, meaning.window);
        }
        self.collective(state, call);
        if !meaning.traffic && call.completes.is_empty() {
            return;
        }
        let (mut beginnings, mut endings) =
            (std::mem::take(&mut self.beginnings), std::mem::take(&mut self.endings));
        state.traffic.of_call(call, &mut beginnings, &mut endings);
        for beginning in beginnings.drain(..) {
            self.begins(state, beginning, meaning);
        }
        for ending in endings.drain(..) {
            self.ends(state, ending);
        }
        (self.beginnings, self.endings) = (beginnings, endings);
    }

    /// What a call on a window, or one rank of its group, announces and waits for.
    fn window(&mut self, state: &mut RankState, call: &Call, role: WindowRole) {
        let number = call.object.and_then(|object| self.windows.get(&object).copied());
        let Some(window) = number else {
            self.not_followed += u64::from(!matches!(role, WindowRole::Access | WindowRole::Flush));
            return;
        };
        self.locks.call(role, window, call, self.steps.len() as u64);
        let (announces, awaits) = (&mut self.announces, &mut self.awaits);
        let known = state.windows.call(role, window, call, &mut self.channels, announces, awaits);
        self.not_followed += u64::from(!known);
        let whole = state.slot_of(call.thread.0).map(|slot| &state.threads[slot]);
        if let Some((_, whole)) = whole.filter(|_| call.calls == 0) {
            self.later.extend(announces.drain(..).chain(awaits.drain(..)).map(|tie| (whole.whole, tie)));
        }
    }

    fn begins(&mut self, state: &mut RankState, beginning: Beginning, meaning: Meaning) {
        match beginning {
            Beginning::Send(message, request) => {
                let way = message.outgoing(state.rank);
                let (channel, number) = self.count(state.rank, way, Side::Sender);
                let tie = Tie::new(TieKind::Departs, channel, number, message.bytes);
                self.announces.push(tie);
                let kind = if meaning.synchronous { TieKind::AwaitsReady } else { TieKind::AwaitsPost };
                let awaited = self.of_receiver(state.rank, tie, way, Side::Sender).as_kind(kind);
                match request {
                    _ if meaning.buffered => {}
                    Some(request) => state.open.insert(request, awaited),
                    None => self.awaits.push(awaited),
                }
            }
            Beginning::Receive(request, Some(message)) => {
                let tie = self.receives(state.rank, message);
                state.open.insert(request, tie);
            }
            // Those that wait for it are found by the call itself.
            Beginning::Receive(..) | Beginning::Collective(_) => {}
        }
    }

    /// Counts a receive, which is announced to its sender; returns what is awaited when it is completed.
    fn receives(&mut self, rank: Rank, message: Message) -> Tie {
        let way = message.incoming(rank);
        let (channel, number) = self.count(rank, way, Side::Receiver);
        let tie = Tie::new(TieKind::Awaits, channel, number, message.bytes);
        let posts = self.of_receiver(rank, tie, way, Side::Receiver).as_kind(TieKind::Posts);
        self.announces.push(posts);
        tie
    }

    /// The channel of a message, which is that of its sender's class where there are classes, and its number on its way.
    fn count(&mut self, rank: Rank, way: Channel, side: Side) -> (ChannelIndex, u32) {
        match &self.folding {
            None => self.channels.count(way, side),
            Some(folding) => {
                (self.channels.find(folding.by_sender(way)), self.counting.count(rank, way, false, side))
            }
        }
    }

    /// The same for a message that is only looked for.
    fn peek(&mut self, way: Channel) -> (ChannelIndex, u32) {
        match &self.folding {
            None => self.channels.peek(way, Side::Receiver),
            Some(folding) => (self.channels.find(folding.by_sender(way)), self.counting.peek(way)),
        }
    }

    /// The tie by which a receiver announces that it is ready for a message: that of the message, unless there are rank
    /// classes.
    fn of_receiver(&mut self, rank: Rank, tie: Tie, way: Channel, side: Side) -> Tie {
        let Some(folding) = &self.folding else { return tie };
        let channel = self.channels.find(folding.by_receiver(way));
        Tie::new(tie.kind(), channel, self.counting.count(rank, way, true, side), tie.bytes())
    }

    fn ends(&mut self, state: &mut RankState, ending: Ending) {
        match ending {
            Ending::Receive(message, None) => {
                let tie = self.receives(state.rank, message);
                self.awaits.push(tie);
            }
            Ending::Send(request)
            | Ending::Receive(_, Some(request))
            | Ending::Collective(_, Some(request)) => {
                if let Some(tie) = state.open.remove(request) {
                    self.awaits.push(tie);
                } else if let Some(ties) = state.exchanges.remove(&request) {
                    self.awaits.extend(ties);
                }
            }
            Ending::Collective(_, None) | Ending::NoMessage(_) => {}
        }
    }
}

impl Meaning {
    const NONE: Meaning = Meaning {
        traffic: false,
        probe: false,
        buffered: false,
        synchronous: false,
        accesses: false,
        uneven: false,
        window: WindowRole::None,
    };

    /// What a call moves that is no message.
    fn moved(self, call: &Call) -> Option<Tie> {
        let (given_bytes, got_bytes) = (call.bytes_out.unwrap_or(0), call.bytes_in.unwrap_or(0));
        if self.uneven {
            return Some(Tie::of_exchange(Exchanged { given_bytes, got_bytes }));
        }
        let bytes = given_bytes.saturating_add(got_bytes);
        (self.accesses && bytes > 0).then(|| Tie::new(TieKind::Moves, 0, 0, bytes))
    }

    fn of(op: Op) -> Meaning {
        let Some(function) = op.function() else { return Meaning::NONE };
        Meaning {
            traffic: matches!(
                function.shape,
                Shape::Send | Shape::Receive | Shape::SendReceive | Shape::Start | Shape::Collective
            ),
            probe: function.kind == Kind::Probe,
            buffered: matches!(function.kind, Kind::Send(SendMode::Buffered, _)),
            // What `MPI_Start` starts is not known to be synchronous.
            synchronous: matches!(
                function.kind,
                Kind::Send(SendMode::Synchronous, Form::Blocking | Form::NonBlocking)
            ),
            accesses: matches!(function.shape, Shape::ObjectOut | Shape::ObjectIn | Shape::Object),
            uneven: matches!(
                function.kind,
                Kind::Collective(CollectiveKind::Alltoallv | CollectiveKind::Alltoallw, Form::Blocking)
            ),
            window: WindowRole::of(op),
        }
    }
}

impl<'a> RankState<'a> {
    fn new(rank: Rank, stops: &'a [Stop]) -> RankState<'a> {
        let begin = stops.partition_point(|stop| stop.rank < rank);
        let end = stops.partition_point(|stop| stop.rank <= rank);
        RankState {
            rank,
            traffic: Traffic::new(Numbering::Off),
            stops: &stops[begin..end],
            threads: Vec::new(),
            slots: FxHashMap::default(),
            open: OpenRequests::default(),
            exchanges: FxHashMap::default(),
            windows: Windows::default(),
        }
    }

    /// Where what is known of a thread is.
    #[inline]
    fn slot_of(&self, thread: u32) -> Option<usize> {
        match self.threads.len() <= FEW_THREADS {
            true => self.threads.iter().position(|(known, _)| *known == thread),
            false => self.slots.get(&thread).copied(),
        }
    }
}

/// Which way a message takes, seen from one of its sides.
trait Way {
    fn outgoing(&self, rank: Rank) -> Channel;
    fn incoming(&self, rank: Rank) -> Channel;
}

impl Way for Message {
    fn outgoing(&self, rank: Rank) -> Channel {
        Channel { comm: self.comm, from: rank, to: self.peer, tag: self.tag }
    }

    fn incoming(&self, rank: Rank) -> Channel {
        Channel { comm: self.comm, from: self.peer, to: rank, tag: self.tag }
    }
}
