//! Calls as the order of calls has them: a shape and values, with ranks of the communicator instead of world ranks.
//!
//! Peers are ranks in the communicator, so that ranks which do the same have the same shapes. Numbers in shapes are one
//! more than the index in `defs/`, 0 for none; objects are counted within their rank.
//!
//! A shape that was made from a row says by flags what the row has, keeps a peer that the communicator does not have as
//! its world rank, and has as values what it has of bytes out, bytes in, the number of failed polls, and numbers of requests
//! that were left out; then follow the requests that it completed. A shape that was recorded is read elsewhere
//! ([`super::recorded`]).

use kizami_model::{Call, CommKind, Op, Peer, Rank};
use kizami_records::sequence_codec::{
    ANY_SOURCE, ANY_TAG, Ended, FAILED, GOES_ON, Numbering, PART, POLLS, REQUEST, SKIPS, Values,
};
use kizami_records::{PEER_ANY, PEER_NONE, PEER_NULL, PEER_ROOT};
use kizami_sequence::{CommPosition, Signature};
use kizami_trace::definitions::{Communicator, Definitions};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

const BYTES_OUT: u16 = 256;
const BYTES_IN: u16 = 512;
const TAG: u16 = 1024;
const RECV_TAG: u16 = 2048;
const ROOT: u16 = 4096;
/// The shape was made from a row; else it was recorded, and has none of the flags from 256 on.
pub(super) const FROM_ROW: u16 = 1 << 15;

/// There is a peer, but it cannot be named.
const PEER_UNKNOWN: i32 = -5;
/// From here down: world ranks of peers that are not in the communicator.
const PEER_OUTSIDE: i32 = -16;

/// One call of the order of calls: what its row has, but for times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceCall {
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
    /// Bytes this rank obtained; none if a receive was cancelled or never completed.
    pub bytes_in: Option<u64>,
    /// Root of a collective.
    pub root: Peer,
    /// Number of the request that it began, unique within the rank.
    pub request: Option<u64>,
    /// Numbers of the requests that it completed.
    pub completes: Vec<u64>,
    /// Index of the window, file or datatype in `defs/objects`.
    pub object: Option<u32>,
    /// Index in `defs/callsites`.
    pub callsite: Option<u32>,
    /// The call returned an error code.
    pub failed: bool,
}

/// Ranks in communicators, and objects of ranks.
#[derive(Debug, Default)]
pub struct Neighbourhood {
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
    /// Of the communicators and objects of a trace.
    pub fn of(definitions: &Definitions) -> Neighbourhood {
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
    pub(crate) fn place(&self, own: Rank, comm: u32) -> Option<CommPosition> {
        let comm = self.comms.get(comm.checked_sub(1)? as usize)?;
        if comm.own_only {
            return Some(CommPosition { rank: 0, size: 1 });
        }
        let (group, peers) = comm.sides(own);
        Some(CommPosition { rank: group.rank_of(own)?, size: u32::try_from(peers.members.len()).ok()? })
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

    /// Who is meant by a peer in a shape.
    pub(super) fn peer(&self, own: Rank, comm: Option<u32>, code: i32) -> Peer {
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
    pub(super) fn peers_of(&self, comm: Option<u32>, object: Option<u32>) -> Option<u32> {
        comm.or_else(|| self.objects.get(object? as usize)?.0)
    }

    /// The index of an object of a rank, from its number in shapes.
    pub(super) fn object(&self, own: Rank, number: u32) -> Option<u32> {
        self.objects_of.get(&own.0)?.get(number.checked_sub(1)? as usize).copied()
    }

    /// Passes to `put` a row's shape and values; several, if its list of requests is long.
    pub(crate) fn record(
        &self,
        call: &Call,
        numbering: &mut Numbering,
        mut put: impl FnMut(&Signature, &[u64]),
    ) {
        let mut signature = self.signature(call);
        let mut values = Values::default();
        let polls = (call.calls > 1).then_some(u64::from(call.calls));
        [call.bytes_out, call.bytes_in, polls].into_iter().flatten().for_each(|value| values.push(value));
        // Numbers are encoded as differences, which never comes near what 32 bits hold.
        if let Some(skipped) = call.request.and_then(|request| numbering.begin(request as u32)) {
            signature.flags |= SKIPS;
            values.push(skipped);
        }
        let goes_on = Signature { flags: signature.flags | GOES_ON, ..signature };
        let in_a_row = |one: &u64, next: &u64| one.checked_add(1) == Some(*next);
        for run in call.completes.chunk_by(in_a_row) {
            let ago = numbering.next().wrapping_sub(run[0] as u32);
            let ended = Ended::AsPosted { count: u32::try_from(run.len()).unwrap_or(u32::MAX) };
            values.completed(ago, ended, |full| put(&goes_on, full.as_slice()));
        }
        put(&signature, values.as_slice());
    }

    fn signature(&self, call: &Call) -> Signature {
        let own = call.rank;
        let comm = self.peers_of(call.comm, call.object);
        let is_root = call.root != Peer::None;
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        let object = call.object.and_then(|object| self.objects.get(object as usize));
        Signature {
            op: call.op.0,
            flags: FROM_ROW
                | flag(call.failed, FAILED)
                | flag(call.any_source, ANY_SOURCE)
                | flag(call.any_tag, ANY_TAG)
                | flag(call.calls == 0, PART)
                | flag(call.calls > 1, POLLS)
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
        }
    }

    /// The call that a shape made from a row and its values stand for, but for requests.
    pub(super) fn call(&self, own: Rank, signature: &Signature, values: &[u64]) -> SequenceCall {
        let has = |flag: u16| signature.flags & flag != 0;
        let number = |number: u32| number.checked_sub(1);
        let (comm, object) = (number(signature.comm), self.object(own, signature.object));
        let peers_of = self.peers_of(comm, object);
        let peer = self.peer(own, peers_of, signature.peer);
        let (root, peer) = if has(ROOT) { (peer, Peer::None) } else { (Peer::None, peer) };
        let mut values = values.iter().copied();
        let mut value = |flag: u16| if has(flag) { values.next() } else { None };
        let (bytes_out, bytes_in, polls) = (value(BYTES_OUT), value(BYTES_IN), value(POLLS));
        SequenceCall {
            op: Op(signature.op),
            calls: if has(PART) { 0 } else { polls.unwrap_or(1) },
            comm,
            peer,
            tag: has(TAG).then_some(signature.tag),
            recv_peer: self.peer(own, peers_of, signature.recv_peer),
            recv_tag: has(RECV_TAG).then_some(signature.recv_tag),
            any_source: has(ANY_SOURCE),
            any_tag: has(ANY_TAG),
            bytes_out,
            bytes_in,
            root,
            request: None,
            completes: Vec::new(),
            object,
            callsite: number(signature.site),
            failed: has(FAILED),
        }
    }
}

/// How many values a shape made from a row has before the list of requests.
pub(super) fn values_before_list(flags: u16) -> usize {
    (flags & (BYTES_OUT | BYTES_IN | POLLS | SKIPS)).count_ones() as usize
}

impl SequenceCall {
    /// What the order of calls has of a row.
    pub fn of(call: &Call) -> SequenceCall {
        SequenceCall {
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
            request: call.request,
            completes: call.completes.clone(),
            object: call.object,
            callsite: call.callsite,
            failed: call.failed,
        }
    }
}
