//! Calls as the order of calls has them: a shape and values, with ranks of the communicator instead of world ranks.
//!
//! Peers are ranks in the communicator, so that ranks which do the same have the same shapes. Numbers in shapes are one
//! more than the index in `defs/`, 0 for none; objects are counted within their rank.
//!
//! A shape that was made from a row says by flags what the row has, keeps a peer that the communicator does not have as its world rank,
//! and has as values bytes out, bytes in, and for failed polls their number. A shape that was recorded has those values that its
//! function has, behind what a wildcard found; waits and starts tell their requests, which are not read here.

use crate::definitions::{Communicator, Definitions};
use kizami_model::{Call, CommKind, Op, Peer, Rank, Shape};
use kizami_reduce::structure::{Place, Signature};
use kizami_segment::record::{PEER_ANY, PEER_NONE, PEER_NULL, PEER_ROOT};
use kizami_segment::shape::{ANY_SOURCE, ANY_TAG, FAILED, PART, POLLS};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

const REQUEST: u16 = 64;
const BYTES_OUT: u16 = 128;
const BYTES_IN: u16 = 256;
const TAG: u16 = 512;
const RECV_TAG: u16 = 1024;
const ROOT: u16 = 2048;
/// The shape was made from a row; else it was recorded, and has none of the flags from 64 on.
const FROM_ROW: u16 = 1 << 15;

/// There is a peer, but it cannot be named.
const PEER_UNKNOWN: i32 = -5;
/// From here down: world ranks of peers that are not in the communicator.
const PEER_OUTSIDE: i32 = -16;

/// One call of the order of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedCall {
    /// Which function.
    pub op: Op,
    /// How many calls it stands for: 1; the number of failed polls; 0 for a part of another call.
    pub calls: u64,
    /// Index of the communicator.
    pub comm: Option<u32>,
    /// Destination of a send, source of a receive, target of a one-sided access.
    pub peer: Peer,
    /// Tag of the message.
    pub tag: Option<i32>,
    /// Source of the receiving half of a send-receive.
    pub recv_peer: Peer,
    /// Tag of the receiving half of a send-receive.
    pub recv_tag: Option<i32>,
    /// The source was given as `MPI_ANY_SOURCE`.
    pub any_source: bool,
    /// The tag was given as `MPI_ANY_TAG`.
    pub any_tag: bool,
    /// Bytes this rank gave.
    pub bytes_out: Option<u64>,
    /// Bytes this rank obtained; in an order that was recorded, what a receive that does not wait was posted for.
    pub bytes_in: Option<u64>,
    /// Root of a collective.
    pub root: Peer,
    /// It began a request; not told by an order that was recorded.
    pub begins_request: bool,
    /// Index of the window, file or datatype in `defs/objects`.
    pub object: Option<u32>,
    /// Index in `defs/callsites`.
    pub callsite: Option<u32>,
    /// The call returned an error code.
    pub failed: bool,
}

/// Ranks in communicators, and objects of ranks.
#[derive(Debug, Default)]
pub(crate) struct Neighbourhood {
    comms: Vec<Comm>,
    /// Communicator of each object, and its number within its rank.
    objects: Vec<(Option<u32>, u32)>,
    objects_of: HashMap<u32, Vec<u32>>,
}

#[derive(Debug)]
struct Comm {
    own_only: bool,
    groups: [Group; 2],
}

#[derive(Debug, Default)]
struct Group {
    members: Vec<Option<Rank>>,
    /// None if every member has the world rank that it has here.
    rank_of: Option<FxHashMap<u32, u32>>,
}

impl Group {
    fn new(members: &[Option<Rank>]) -> Group {
        let in_order = members.iter().zip(0..).all(|(member, rank)| *member == Some(Rank(rank)));
        let known = members.iter().zip(0..).filter_map(|(member, rank)| Some((member.as_ref()?.0, rank)));
        Group { members: members.to_vec(), rank_of: (!in_order).then(|| known.collect()) }
    }

    fn rank_of(&self, world: Rank) -> Option<u32> {
        match &self.rank_of {
            Some(ranks) => ranks.get(&world.0).copied(),
            None => ((world.0 as usize) < self.members.len()).then_some(world.0),
        }
    }
}

impl Comm {
    fn new(comm: &Communicator) -> Comm {
        let own_only = comm.kind == CommKind::SelfOnly;
        Comm { own_only, groups: [Group::new(&comm.members), Group::new(&comm.remote_members)] }
    }

    /// The group of a rank, and that of its peers.
    fn sides(&self, own: Rank) -> (&Group, &Group) {
        let [first, second] = &self.groups;
        match (second.members.is_empty(), first.rank_of(own)) {
            (true, _) => (first, first),
            (false, Some(_)) => (first, second),
            (false, None) => (second, first),
        }
    }
}

impl Neighbourhood {
    pub(crate) fn of(definitions: &Definitions) -> Neighbourhood {
        let mut objects_of: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut objects = Vec::new();
        for object in &definitions.objects {
            let of_rank = objects_of.entry(object.rank.0).or_default();
            objects.push((object.comm, of_rank.len() as u32));
            of_rank.push(object.index);
        }
        Neighbourhood {
            comms: definitions.communicators.iter().map(Comm::new).collect(),
            objects,
            objects_of,
        }
    }

    /// Where a rank is in the communicator with this number in shapes.
    pub(crate) fn place(&self, own: Rank, comm: u32) -> Option<Place> {
        let comm = self.comms.get(comm.checked_sub(1)? as usize)?;
        if comm.own_only {
            return Some(Place { rank: 0, size: 1 });
        }
        let (group, peers) = comm.sides(own);
        Some(Place { rank: group.rank_of(own)?, size: u32::try_from(peers.members.len()).ok()? })
    }

    fn code(&self, own: Rank, comm: Option<u32>, peer: Peer, is_root: bool) -> i32 {
        let world = match peer {
            Peer::None => return PEER_NONE,
            Peer::Null => return PEER_NULL,
            Peer::Any => return PEER_ANY,
            Peer::Unknown => return PEER_UNKNOWN,
            Peer::Rank(world) => world,
        };
        let found = comm.and_then(|comm| self.comms.get(comm as usize)).and_then(|comm| {
            if comm.own_only {
                return (world == own).then_some(0);
            }
            let (group, peers) = comm.sides(own);
            // The root of a collective between two groups is on the other side, or is this rank.
            if is_root && !std::ptr::eq(group, peers) && world == own {
                return Some(PEER_ROOT);
            }
            peers.rank_of(world).and_then(|rank| i32::try_from(rank).ok())
        });
        found.unwrap_or_else(|| PEER_OUTSIDE.saturating_sub_unsigned(world.0))
    }

    fn peer(&self, own: Rank, comm: Option<u32>, code: i32) -> Peer {
        match code {
            PEER_NONE => Peer::None,
            PEER_NULL => Peer::Null,
            PEER_ANY => Peer::Any,
            PEER_ROOT => Peer::Rank(own),
            ..=PEER_OUTSIDE => Peer::Rank(Rank(PEER_OUTSIDE.abs_diff(code))),
            0.. => {
                let Some(comm) = comm.and_then(|comm| self.comms.get(comm as usize)) else {
                    return Peer::Unknown;
                };
                if comm.own_only {
                    return Peer::Rank(own);
                }
                let member = comm.sides(own).1.members.get(code as usize).copied().flatten();
                member.map_or(Peer::Unknown, Peer::Rank)
            }
            _ => Peer::Unknown,
        }
    }

    /// The communicator that peers of a call are ranks of: its own, or that of its window.
    fn peers_of(&self, comm: Option<u32>, object: Option<u32>) -> Option<u32> {
        comm.or_else(|| self.objects.get(object? as usize)?.0)
    }

    /// A row's shape and values.
    pub(crate) fn shape(&self, call: &Call) -> (Signature, [u64; 3], usize) {
        let own = call.rank;
        let comm = self.peers_of(call.comm, call.object);
        let is_root = call.root != Peer::None;
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        let polls = call.calls > 1;
        let object = call.object.and_then(|object| self.objects.get(object as usize));
        let signature = Signature {
            op: call.op.0,
            flags: FROM_ROW
                | flag(call.failed, FAILED)
                | flag(call.any_source, ANY_SOURCE)
                | flag(call.any_tag, ANY_TAG)
                | flag(call.calls == 0, PART)
                | flag(polls, POLLS)
                | flag(call.request.is_some(), REQUEST)
                | flag(call.bytes_out.is_some(), BYTES_OUT)
                | flag(call.bytes_in.is_some(), BYTES_IN)
                | flag(call.tag.is_some(), TAG)
                | flag(call.recv_tag.is_some(), RECV_TAG)
                | flag(is_root, ROOT),
            site: call.callsite.map_or(0, |site| site.saturating_add(1)),
            comm: call.comm.map_or(0, |comm| comm.saturating_add(1)),
            object: object.map_or(0, |(_, number)| number + 1),
            peer: self.code(own, comm, if is_root { call.root } else { call.peer }, is_root),
            recv_peer: self.code(own, comm, call.recv_peer, false),
            tag: call.tag.unwrap_or(0),
            recv_tag: call.recv_tag.unwrap_or(0),
        };
        let values = [call.bytes_out.unwrap_or(0), call.bytes_in.unwrap_or(0), u64::from(call.calls)];
        (signature, values, if polls { 3 } else { 2 })
    }

    /// The call that a shape and its values stand for.
    pub(crate) fn call(&self, own: Rank, signature: &Signature, values: &[u64]) -> OrderedCall {
        if signature.flags & FROM_ROW == 0 {
            let (signature, values) = as_from_row(signature, values);
            return self.call(own, &signature, &values);
        }
        let op = Op(signature.op);
        let has = |flag: u16| signature.flags & flag != 0;
        let number = |number: u32| number.checked_sub(1);
        let of_rank = self.objects_of.get(&own.0);
        let object = number(signature.object).and_then(|number| of_rank?.get(number as usize).copied());
        let comm = number(signature.comm);
        let peers_of = self.peers_of(comm, object);
        let peer = self.peer(own, peers_of, signature.peer);
        let nobody = signature.peer == PEER_NULL;
        let both_ways =
            matches!(op.function().map(|function| function.shape), Some(Shape::Collective | Shape::Object));
        let bytes = |index: usize, flag: u16, nobody: bool| {
            let bytes = values.get(index).copied().unwrap_or(0);
            (has(flag) && !nobody && !(both_ways && bytes == 0)).then_some(bytes)
        };
        let source_nobody = if has(RECV_TAG) { signature.recv_peer == PEER_NULL } else { nobody };
        OrderedCall {
            op,
            calls: match (has(PART), has(POLLS)) {
                (true, _) => 0,
                (_, true) => values.get(2).copied().unwrap_or(1),
                _ => 1,
            },
            comm,
            peer: if has(ROOT) { Peer::None } else { peer },
            tag: has(TAG).then_some(signature.tag),
            recv_peer: self.peer(own, peers_of, signature.recv_peer),
            recv_tag: has(RECV_TAG).then_some(signature.recv_tag),
            any_source: has(ANY_SOURCE),
            any_tag: has(ANY_TAG),
            bytes_out: bytes(0, BYTES_OUT, nobody),
            bytes_in: bytes(1, BYTES_IN, source_nobody),
            root: if has(ROOT) { peer } else { Peer::None },
            begins_request: has(REQUEST),
            object,
            callsite: number(signature.site),
            failed: has(FAILED),
        }
    }
}

/// A shape that was recorded, with flags and values as one that was made from a row.
fn as_from_row(signature: &Signature, values: &[u64]) -> (Signature, [u64; 3]) {
    let mut made = *signature;
    made.flags = signature.flags & (FAILED | ANY_SOURCE | ANY_TAG | PART | POLLS) | FROM_ROW;
    let shape = Op(signature.op).function().map_or(Shape::Timed, |function| function.shape);
    let mut values = values.iter().copied();
    let mut next = || values.next().unwrap_or(0);
    if made.flags & POLLS != 0 {
        let count = next();
        if shape == Shape::Probe && made.tag >= 0 {
            made.flags |= TAG;
        }
        return (made, [0, 0, count]);
    }
    let two_halves = shape == Shape::SendReceive;
    let (source, tag) = match two_halves {
        true => (&mut made.recv_peer, &mut made.recv_tag),
        false => (&mut made.peer, &mut made.tag),
    };
    if signature.flags & ANY_SOURCE != 0 {
        *source = next() as u32 as i32;
    }
    if signature.flags & ANY_TAG != 0 {
        *tag = next() as u32 as i32;
    }
    // No tag is negative: a wildcard found nothing yet.
    let received_tag = if *tag >= 0 { if two_halves { RECV_TAG } else { TAG } } else { 0 };
    let (told, bytes) = match shape {
        Shape::Send => (BYTES_OUT | TAG, [next(), 0]),
        Shape::Receive => (BYTES_IN | received_tag, [0, next()]),
        Shape::SendReceive => (BYTES_OUT | BYTES_IN | TAG | received_tag, [next(), next()]),
        Shape::Probe => (received_tag, [0, 0]),
        Shape::Collective => (BYTES_OUT | BYTES_IN | ROOT, [next(), next()]),
        Shape::ObjectOut => (BYTES_OUT, [next(), 0]),
        Shape::ObjectIn => (BYTES_IN, [0, next()]),
        Shape::Object => (BYTES_OUT | BYTES_IN, [next(), next()]),
        Shape::Timed | Shape::Completion | Shape::Start => (0, [0, 0]),
    };
    made.flags |= told;
    let gives_request = Op(signature.op).function().is_some_and(|function| function.gives_request());
    if gives_request && signature.flags & FAILED == 0 {
        made.flags |= REQUEST;
    }
    (made, [bytes[0], bytes[1], 1])
}

impl OrderedCall {
    /// What the order of calls tells of a row.
    pub fn of(call: &Call) -> OrderedCall {
        OrderedCall {
            op: call.op,
            calls: u64::from(call.calls),
            comm: call.comm,
            peer: call.peer,
            tag: call.tag,
            recv_peer: call.recv_peer,
            recv_tag: call.recv_tag,
            any_source: call.any_source,
            any_tag: call.any_tag,
            bytes_out: call.bytes_out,
            bytes_in: call.bytes_in,
            root: call.root,
            begins_request: call.request.is_some(),
            object: call.object,
            callsite: call.callsite,
            failed: call.failed,
        }
    }
}
