//! From a call that never returned to what it waits for: whom, for what, and whether one of them is enough.
//!
//! A receive waits for its sender, unless a message for it is there already; a send for its receiver, unless the receive
//! is posted; a collective for those who have not come; a wait for the open requests of its rank of which the same can be
//! said. Small messages leave without their receiver, so where a wait has both kinds open, receives count alone.

use super::ledger::{Channel, Departing, Expected, Last, Ledger, Place, RequestKind};
use kizami_model::kind::{Flow, Kind, WindowCall};
use kizami_model::{EntryNote, Op, Peer, Rank};
use kizami_trace::{Communicator, Definitions, UnderWay};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Something that must happen before a call can return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    /// Who must do something. Many calls wait for the same.
    pub ranks: Rc<[u32]>,
    /// One of them is enough.
    pub any: bool,
    pub what: What,
}

/// What must happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A message is to come, with this tag or any.
    Message(Option<i32>),
    /// A message with this tag is to be taken.
    Taker(i32),
    /// They are to enter the same collective.
    Coming,
    /// They are in another collective.
    Other(Op),
    /// They are to give up a lock.
    Lock,
}

/// What a call waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub all: Vec<Need>,
    /// One of them is enough, or it is not known which of them it is.
    pub any: bool,
    /// It is known what calls of this function wait for, so if nothing is listed, what it waits for has happened.
    pub understood: bool,
}

/// Ranks that have not enter a collective, by its place and number.
type Absent = FxHashMap<(Place, u64), Rc<[u32]>>;

/// Who is inside which call.
pub(super) struct Inside<'a> {
    calls: &'a [UnderWay],
    definitions: &'a Definitions,
    ledger: &'a Ledger,
    /// Calls by rank.
    by_rank: FxHashMap<u32, Vec<&'a UnderWay>>,
    /// Receives that are posted, or waited in, and not served: so many by channel, and those that take more than one
    /// sender or tag by rank.
    posted: FxHashMap<Channel, u64>,
    posted_wild: FxHashMap<u32, Vec<Expected>>,
    /// Those who have not come, by place and number.
    absent: RefCell<Absent>,
}

impl<'a> Inside<'a> {
    pub(super) fn new(calls: &'a [UnderWay], definitions: &'a Definitions, ledger: &'a Ledger) -> Inside<'a> {
        let mut by_rank: FxHashMap<u32, Vec<&UnderWay>> = FxHashMap::default();
        calls.iter().for_each(|call| by_rank.entry(call.rank.0).or_default().push(call));
        let (mut posted, mut posted_wild) =
            (FxHashMap::default(), FxHashMap::<u32, Vec<Expected>>::default());
        let mut post = |rank: u32, expected: Expected| match expected.channel(rank) {
            Some(channel) => *posted.entry(channel).or_insert(0) += 1,
            None => posted_wild.entry(rank).or_default().push(expected),
        };
        for (rank, of_rank) in (0..).zip(&ledger.ranks) {
            for open in of_rank.open.values() {
                if let RequestKind::Receive(expected) | RequestKind::Both(_, expected) = open.asked {
                    post(rank, expected);
                }
            }
        }
        for call in calls {
            let (source, tag) = match call.op.kind() {
                Kind::Receive(_) => (call.peer, call.tag),
                Kind::SendReceive(_) => (call.recv_peer, call.recv_tag),
                _ => continue,
            };
            post(call.rank.0, Expected { comm: call.comm, source: source.unwrap_or(Peer::Unknown), tag });
        }
        let absent = RefCell::default();
        Inside { calls, definitions, ledger, by_rank, posted, posted_wild, absent }
    }

    /// What a call waits for.
    pub(super) fn needs(&self, call: &UnderWay) -> Needs {
        let note = call.op.function().map_or(EntryNote::Nothing, EntryNote::of);
        match note {
            EntryNote::Requests { all } => self.requests(call, all),
            EntryNote::Message => self.message(call),
            EntryNote::TwoMessages => {
                let into = Expected {
                    comm: call.comm,
                    source: call.recv_peer.unwrap_or(Peer::Unknown),
                    tag: call.recv_tag,
                };
                let out = self.departing(call);
                let received = self.receive(call.rank.0, &into, 0);
                let sent = out.and_then(|out| self.send(&out)).filter(|_| received.is_none());
                Needs { all: received.into_iter().chain(sent).collect(), any: false, understood: true }
            }
            EntryNote::Window { ranked: true, locks: true } => self.locked(call),
            _ => match self.ledger.place(call.rank.0, call.op, call.comm, call.object) {
                Some(place) => self.collective(call, place),
                None => Needs::default(),
            },
        }
    }

    /// What a rank waits for that looks again and again whether something has come.
    pub(super) fn polled(&self, rank: Rank, last: &Last) -> Needs {
        let looked_for = last.polls.map(|(_, looked_for)| looked_for);
        match (last.op.kind(), looked_for) {
            (Kind::Probe, Some(looked_for)) => Needs {
                all: self.receive(rank.0, &looked_for, 0).into_iter().collect(),
                any: false,
                understood: true,
            },
            (Kind::Complete, _) => self.open_requests(rank.0, true),
            _ => Needs::default(),
        }
    }

    fn message(&self, call: &UnderWay) -> Needs {
        let need = match call.op.kind() {
            Kind::Send(..) => self.departing(call).and_then(|out| self.send(&out)),
            _ => {
                let source = call.peer.unwrap_or(Peer::Unknown);
                self.receive(call.rank.0, &Expected { comm: call.comm, source, tag: call.tag }, 0)
            }
        };
        let understood = !matches!(call.peer, None | Some(Peer::Unknown));
        Needs { all: need.into_iter().collect(), any: false, understood }
    }

    fn departing(&self, call: &UnderWay) -> Option<Departing> {
        let (Some(Peer::Rank(to)), Some(comm), Some(tag)) = (call.peer, call.comm, call.tag) else {
            return None;
        };
        let channel = (comm, call.rank.0, to.0, tag);
        Some(Departing { channel, number: self.ledger.sent_on(&channel) + 1 })
    }

    /// What a message waits for, unless a receive for it is posted.
    fn send(&self, out: &Departing) -> Option<Need> {
        let (comm, from, to, tag) = out.channel;
        let fits = |expected: &&Expected| {
            expected.comm == Some(comm)
                && expected.tag.is_none_or(|wanted| wanted == tag)
                && (expected.source == Peer::Any || expected.source == Peer::Rank(Rank(from)))
        };
        let posted = self.posted.get(&out.channel).copied().unwrap_or(0);
        let wild = self.posted_wild.get(&to).map_or(0, |wild| wild.iter().filter(fits).count() as u64);
        let receives = self.ledger.received_on(&out.channel) + posted + wild;
        (receives < out.number).then(|| Need { ranks: Rc::new([to]), any: false, what: What::Taker(tag) })
    }

    /// What a receive waits for, unless a message for it is there, or on its way; `before` receives like it come first.
    fn receive(&self, rank: u32, expected: &Expected, before: u64) -> Option<Need> {
        if matches!(expected.source, Peer::Null | Peer::None | Peer::Unknown) {
            return None;
        }
        let senders = match expected.source {
            Peer::Rank(from) => self.by_rank.get(&from.0).cloned().unwrap_or_default(),
            _ => self.calls.iter().collect::<Vec<_>>(),
        };
        let leaving = senders.into_iter().filter(|call| {
            let sends = matches!(call.op.kind(), Kind::Send(..) | Kind::SendReceive(_));
            sends
                && call.peer == Some(Peer::Rank(Rank(rank)))
                && call.comm == expected.comm
                && (expected.tag.is_none() || expected.tag == call.tag)
                && (expected.source == Peer::Any || expected.source == Peer::Rank(call.rank))
        });
        let there = self.ledger.waiting_messages(rank, expected) + leaving.count() as u64;
        if there > before {
            return None;
        }
        let what = What::Message(expected.tag);
        Some(match expected.source {
            Peer::Rank(from) => Need { ranks: Rc::new([from.0]), any: false, what },
            _ => {
                let others = self.members(expected.comm).into_iter().filter(|member| *member != rank);
                Need { ranks: others.collect(), any: true, what }
            }
        })
    }

    fn requests(&self, call: &UnderWay, all: bool) -> Needs {
        let open = self.ledger.ranks.get(call.rank.0 as usize).map_or(0, |rank| rank.open.len());
        let every = call.requests.is_some_and(|requests| requests as usize >= open);
        self.open_requests(call.rank.0, !(all && every))
    }

    /// What the open requests of a rank wait for.
    fn open_requests(&self, rank: u32, any: bool) -> Needs {
        let Some(of_rank) = self.ledger.ranks.get(rank as usize) else { return Needs::default() };
        let mut seen = FxHashMap::default();
        let mut receive = |expected: &Expected| {
            let before: &mut u64 =
                seen.entry((expected.comm, expected.source.to_table(), expected.tag)).or_insert(0);
            *before += 1;
            self.receive(rank, expected, *before - 1)
        };
        let (mut receives, mut others) = (Vec::new(), Vec::new());
        for open in of_rank.open.values() {
            match &open.asked {
                RequestKind::Receive(expected) => receives.extend(receive(expected)),
                RequestKind::Both(out, expected) => {
                    receives.extend(receive(expected));
                    others.extend(out.as_ref().and_then(|out| self.send(out)));
                }
                RequestKind::Send(out) => others.extend(self.send(out)),
                RequestKind::Collective(place, number) => others.extend(self.missing(*place, *number, None)),
                RequestKind::Other => {}
            }
        }
        let certain = receives.is_empty() || others.iter().any(|need| need.what == What::Coming);
        let mut needs = receives;
        if certain {
            needs.extend(others);
        }
        needs.dedup();
        let mut open = of_rank.open.values();
        let understood = !of_rank.open.is_empty() && open.all(|open| open.asked != RequestKind::Other);
        Needs { any: any && needs.len() > 1, all: needs, understood }
    }

    fn collective(&self, call: &UnderWay, place: Place) -> Needs {
        let came = self.ledger.ranks.get(call.rank.0 as usize).and_then(|rank| rank.came.get(&place));
        let number = came.copied().unwrap_or(0) + 1;
        let gives = match (call.op.kind(), call.root) {
            (Kind::Collective(kind, _), Some(Peer::Rank(root))) if kind.flow() == Flow::FromRoot => {
                Some(root.0)
            }
            _ => None,
        };
        let mut all: Vec<Need> = self.missing(place, number, gives).into_iter().collect();
        let others =
            self.calls.iter().filter(|other| other.op != call.op && self.is_at(other, place, number));
        let mut instead: Vec<(Op, Vec<u32>)> = Vec::new();
        for other in others {
            match instead.iter_mut().find(|(op, _)| *op == other.op) {
                Some((_, ranks)) => ranks.push(other.rank.0),
                None => instead.push((other.op, vec![other.rank.0])),
            }
        }
        let other =
            |(op, ranks): (Op, Vec<u32>)| Need { ranks: ranks.into(), any: false, what: What::Other(op) };
        all.extend(instead.into_iter().map(other));
        Needs { all, any: false, understood: !self.members_at(place).is_empty() }
    }

    /// Whether a call is the `number`th that its rank makes at this place.
    fn is_at(&self, call: &UnderWay, place: Place, number: u64) -> bool {
        self.ledger.ordinal(call) == Some((place, number))
    }

    /// Ranks that have not entered the `number`th collective of a place; if one gives to all and has not entered, it alone.
    fn missing(&self, place: Place, number: u64, gives: Option<u32>) -> Option<Need> {
        let has_come = |member: &u32| {
            let came = self.ledger.ranks.get(*member as usize).and_then(|rank| rank.came.get(&place));
            let calls = self.by_rank.get(member).map_or(&[][..], Vec::as_slice);
            came.copied().unwrap_or(0) >= number || calls.iter().any(|call| self.is_at(call, place, number))
        };
        let mut known = self.absent.borrow_mut();
        let absent = known.entry((place, number)).or_insert_with(|| {
            self.members_at(place).into_iter().filter(|member| !has_come(member)).collect()
        });
        let ranks = match gives.filter(|root| absent.contains(root)) {
            Some(root) => Rc::new([root]),
            None => absent.clone(),
        };
        (!ranks.is_empty()).then_some(Need { ranks, any: false, what: What::Coming })
    }

    fn locked(&self, call: &UnderWay) -> Needs {
        let Some(Peer::Rank(target)) = call.peer else { return Needs::default() };
        let holders = self.ledger.holders(call, target);
        let understood = !holders.is_empty();
        let need = Need { ranks: holders.into(), any: false, what: What::Lock };
        Needs { all: if understood { vec![need] } else { Vec::new() }, any: false, understood }
    }

    fn members_at(&self, place: Place) -> Vec<u32> {
        let (Place::Communicator(comm) | Place::Windows(comm) | Place::Finalize(comm)) = place;
        self.members(Some(comm))
    }

    fn members(&self, comm: Option<u32>) -> Vec<u32> {
        let comm = comm.and_then(|comm| self.definitions.communicators.get(comm as usize));
        let members = |comm: &Communicator| -> Vec<u32> {
            comm.members.iter().chain(&comm.remote_members).flatten().map(|rank| rank.0).collect()
        };
        comm.map_or_else(Vec::new, members)
    }
}

/// Whether calls of a function never wait for ranks, so that being inside one is no waiting.
pub(super) fn waits_for_others(op: Op) -> bool {
    let note = op.function().map_or(EntryNote::Nothing, EntryNote::of);
    match op.kind() {
        Kind::Finalize => true,
        Kind::Window(WindowCall::Access | WindowCall::Ask) => false,
        _ => !matches!(note, EntryNote::Nothing | EntryNote::File),
    }
}
