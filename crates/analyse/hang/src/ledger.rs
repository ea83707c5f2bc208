//! What was sent and taken, posted and completed, entered and left, until the run stopped: one pass over all rows.
//!
//! It keeps counts for each channel (communicator, sender, receiver, tag), the requests that were started and never
//! completed, and how many collectives each rank has entered. From that follows whether what a call waits for has
//! happened. Nothing is matched one by one: memory grows with channels and open requests, not with rows.

use kizami_model::kind::{CommunicatorCall, Form, Kind, WindowCall};
use kizami_model::{Call, CommKind, Moment, ObjectKind, Op, Peer, Rank};
use kizami_trace::{Definitions, UnderWay};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// Messages of one communicator, sender, receiver and tag.
pub(super) type Channel = (u32, u32, u32, i32);

/// Where ranks come together in an order that all of them count alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
    /// Collectives of a communicator.
    Communicator(u32),
    /// Making, freeing and fencing windows of a communicator.
    Windows(u32),
    /// `MPI_Finalize` of a world.
    Finalize(u32),
}

/// A message that is to come from somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub comm: Option<u32>,
    pub source: Peer,
    /// None: any.
    pub tag: Option<i32>,
}

impl Expected {
    /// The one channel it comes on, if there is only one.
    pub(super) fn channel(&self, receiver: u32) -> Option<Channel> {
        match (self.comm, self.source, self.tag) {
            (Some(comm), Peer::Rank(from), Some(tag)) => Some((comm, from.0, receiver, tag)),
            _ => None,
        }
    }
}

/// A message that is to go somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departing {
    pub channel: Channel,
    /// Which of the messages of its channel.
    pub number: u64,
}

/// What a request stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    Send(Departing),
    Receive(Expected),
    Both(Option<Departing>, Expected),
    Collective(Place, u64),
    /// Something that no rank is known to be waited for.
    Other,
}

/// A request that was started and not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub op: Op,
    pub callsite: Option<u32>,
    pub asked: RequestKind,
}

/// The last row of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Last {
    pub op: Op,
    pub callsite: Option<u32>,
    pub start: Moment,
    pub end: Moment,
    /// Polls that found nothing: how many, and what they looked for.
    pub polls: Option<(u32, Expected)>,
}

/// Which of its place or channel it is, the function, and where it was called.
pub(super) type Turn = (u64, Op, Option<u32>);
/// Turns that are remembered.
const MOST_TURNS: usize = 8;

/// What one rank has done.
#[derive(Debug, Default)]
pub(super) struct OfRank {
    pub last: Option<Last>,
    /// By number, so in the order they were started.
    pub open: BTreeMap<u64, Open>,
    /// How many collectives it has entered, and which was the last, by place.
    pub came: FxHashMap<Place, u64>,
    /// The last of them, by place: which, and what was called where. A rank may be ahead of others by as many.
    pub last_turns: FxHashMap<Place, VecDeque<Turn>>,
    /// Locks it holds: communicator of the window and target (none: all).
    pub locks: Vec<(u32, Option<u32>)>,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub ranks: Vec<OfRank>,
    /// The last message of each channel.
    sent: FxHashMap<Channel, Turn>,
    received: FxHashMap<Channel, u64>,
    windows: FxHashMap<u32, u32>,
    worlds: FxHashMap<u32, u32>,
}

impl Ledger {
    pub(super) fn new(definitions: &Definitions, ranks: usize) -> Ledger {
        let windows = definitions.objects.iter().filter(|object| object.kind == ObjectKind::Window);
        let mut worlds = FxHashMap::default();
        for world in definitions.communicators.iter().filter(|comm| comm.kind == CommKind::World) {
            for member in world.members.iter().flatten() {
                worlds.entry(member.0).or_insert(world.index);
            }
        }
        Ledger {
            ranks: (0..ranks).map(|_| OfRank::default()).collect(),
            windows: windows.filter_map(|window| Some((window.index, window.comm?))).collect(),
            worlds,
            ..Ledger::default()
        }
    }

    /// Takes the next row, by rank and start.
    pub(super) fn add(&mut self, call: &Call) {
        let rank = call.rank.0;
        if rank as usize >= self.ranks.len() {
            return;
        }
        if !call.failed {
            let asked = self.operation(call);
            if let (Some(request), Some(asked)) = (call.request, asked) {
                let open = Open { op: call.op, callsite: call.callsite, asked };
                self.ranks[rank as usize].open.insert(request, open);
            }
        }
        for request in &call.completes {
            if let Some(open) = self.ranks[rank as usize].open.remove(request) {
                self.completed(rank, open.asked);
            }
        }
        self.note_last(call);
    }

    fn note_last(&mut self, call: &Call) {
        let of_rank = &mut self.ranks[call.rank.0 as usize];
        if call.calls == 0 || of_rank.last.is_some_and(|last| last.end > call.end) {
            return;
        }
        let looked_for = Expected { comm: call.comm, source: call.peer, tag: call.tag };
        let polls = (call.calls > 1).then_some((call.calls, looked_for));
        let Call { op, callsite, start, end, .. } = *call;
        of_rank.last = Some(Last { op, callsite, start, end, polls });
    }

    /// What a call began, if a request stands for it; what it did at once is counted.
    fn operation(&mut self, call: &Call) -> Option<RequestKind> {
        let rank = call.rank.0;
        let later = call.request.is_some();
        match call.op.kind() {
            Kind::Send(_, Form::Persistent) | Kind::Receive(Form::Persistent) => None,
            Kind::Send(..) => self.sends(call).map(RequestKind::Send),
            Kind::Receive(_) => {
                self.receives(call, Expected { comm: call.comm, source: call.peer, tag: call.tag })
            }
            Kind::SendReceive(_) => {
                let sent = self.sends(call);
                let expected = Expected { comm: call.comm, source: call.recv_peer, tag: call.recv_tag };
                self.receives(call, expected)?;
                Some(RequestKind::Both(sent, expected))
            }
            // A started request is what it was made as.
            Kind::Start if later && call.peer != Peer::None => match call.bytes_out {
                Some(_) => self.sends(call).map(RequestKind::Send),
                None => self.receives(call, Expected { comm: call.comm, source: call.peer, tag: call.tag }),
            },
            Kind::Start if later => Some(RequestKind::Other),
            Kind::Window(WindowCall::Lock | WindowCall::LockAll | WindowCall::Unlock) => {
                self.lock(call);
                None
            }
            _ => match self.place(rank, call.op, call.comm, call.object) {
                Some(place) => {
                    let of_rank = &mut self.ranks[rank as usize];
                    let came = of_rank.came.entry(place).or_insert(0);
                    *came += 1;
                    let turns = of_rank.last_turns.entry(place).or_default();
                    turns.push_back((*came, call.op, call.callsite));
                    if turns.len() > MOST_TURNS {
                        turns.pop_front();
                    }
                    later.then_some(RequestKind::Collective(place, *came))
                }
                None => later.then_some(RequestKind::Other),
            },
        }
    }

    fn sends(&mut self, call: &Call) -> Option<Departing> {
        let (Peer::Rank(to), Some(comm), Some(tag)) = (call.peer, call.comm, call.tag) else { return None };
        let channel = (comm, call.rank.0, to.0, tag);
        let last = self.sent.entry(channel).or_insert((0, call.op, call.callsite));
        *last = (last.0 + 1, call.op, call.callsite);
        Some(Departing { channel, number: last.0 })
    }

    fn receives(&mut self, call: &Call, expected: Expected) -> Option<RequestKind> {
        if expected.source == Peer::Null {
            return None;
        }
        if call.request.is_none() {
            self.completed(call.rank.0, RequestKind::Receive(expected));
        }
        Some(RequestKind::Receive(expected))
    }

    fn completed(&mut self, rank: u32, asked: RequestKind) {
        if let RequestKind::Receive(expected) | RequestKind::Both(_, expected) = asked
            && let Some(channel) = expected.channel(rank)
        {
            *self.received.entry(channel).or_insert(0) += 1;
        }
    }

    fn lock(&mut self, call: &Call) {
        let Some(comm) = self.window_comm(call.comm, call.object) else { return };
        let target = match call.peer {
            Peer::Rank(target) => Some(target.0),
            _ => None,
        };
        let locks = &mut self.ranks[call.rank.0 as usize].locks;
        match call.op.kind() {
            Kind::Window(WindowCall::Unlock) => {
                if let Some(at) = locks.iter().position(|held| *held == (comm, target)) {
                    locks.swap_remove(at);
                }
            }
            _ => locks.push((comm, target)),
        }
    }

    fn window_comm(&self, comm: Option<u32>, object: Option<u32>) -> Option<u32> {
        object.and_then(|object| self.windows.get(&object).copied()).or(comm)
    }

    /// Where ranks come together in a call, if they do.
    pub(super) fn place(&self, rank: u32, op: Op, comm: Option<u32>, object: Option<u32>) -> Option<Place> {
        match op.kind() {
            Kind::Finalize => self.worlds.get(&rank).copied().map(Place::Finalize),
            Kind::Communicator(CommunicatorCall::New) => comm.map(Place::Communicator),
            Kind::Collective(_, Form::Blocking | Form::NonBlocking) => comm.map(Place::Communicator),
            Kind::Window(WindowCall::New | WindowCall::Free | WindowCall::Fence) => {
                self.window_comm(comm, object).map(Place::Windows)
            }
            _ => None,
        }
    }

    /// Who holds a lock that keeps others out of a target's part of a window.
    pub(super) fn holders(&self, call: &UnderWay, target: Rank) -> Vec<u32> {
        let Some(comm) = self.window_comm(call.comm, call.object) else { return Vec::new() };
        let holds = |of_rank: &OfRank| {
            of_rank.locks.iter().any(|(of, held)| *of == comm && held.is_none_or(|held| held == target.0))
        };
        let all = (0..).zip(&self.ranks).filter(|(rank, _)| *rank != call.rank.0);
        all.filter(|(_, of_rank)| holds(of_rank)).map(|(rank, _)| rank).collect()
    }

    /// Messages on channels that fit which were sent and not taken.
    pub(super) fn waiting_messages(&self, receiver: u32, expected: &Expected) -> u64 {
        let fits = |channel: &Channel| {
            let (comm, from, to, tag) = *channel;
            to == receiver
                && expected.comm == Some(comm)
                && expected.tag.is_none_or(|wanted| wanted == tag)
                && match expected.source {
                    Peer::Rank(source) => source.0 == from,
                    Peer::Any => true,
                    _ => false,
                }
        };
        let left = |channel: &Channel, sent: u64| sent.saturating_sub(self.received_on(channel));
        if let Some(channel) = expected.channel(receiver) {
            return left(&channel, self.sent_on(&channel));
        }
        let all = self.sent.iter().filter(|(channel, _)| fits(channel));
        all.map(|(channel, last)| left(channel, last.0)).sum()
    }

    /// Channels with messages that were not taken, and the last message of each.
    pub(super) fn not_taken(&self) -> impl Iterator<Item = (Channel, Turn)> {
        let left = self.sent.iter().filter(|(channel, last)| last.0 > self.received_on(channel));
        left.map(|(channel, last)| (*channel, *last))
    }

    /// Where ranks come together in a call that did not return, and which of its rank's calls there it is.
    pub(super) fn ordinal(&self, call: &UnderWay) -> Option<(Place, u64)> {
        let place = self.place(call.rank.0, call.op, call.comm, call.object)?;
        let came = self.ranks.get(call.rank.0 as usize).and_then(|of_rank| of_rank.came.get(&place));
        Some((place, came.copied().unwrap_or(0) + 1))
    }

    pub(super) fn sent_on(&self, channel: &Channel) -> u64 {
        self.sent.get(channel).map_or(0, |last| last.0)
    }

    pub(super) fn received_on(&self, channel: &Channel) -> u64 {
        self.received.get(channel).copied().unwrap_or(0)
    }
}
