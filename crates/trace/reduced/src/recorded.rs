//! Shapes that were recorded, as calls: what sealing makes of records (`seal::translate`), made of shapes and values.
//!
//! A recorded shape has those values that its function has: what wildcards found, the bytes it moves, numbers of requests that
//! were left out, a list of requests. What comes out is a call as it was made: of a receive that does not wait, what it
//! was posted for. Its outcome is recorded by another call ([`super::calls`]).

use super::signature::{Neighbourhood, SequenceCall};
use kizami_model::meaning::{is_lock, meaning};
use kizami_model::{Op, Peer, Rank, Shape};
use kizami_records::sequence_codec::{ANY_SOURCE, ANY_TAG, FAILED, PART, POLLS, REQUEST, SKIPS};
use kizami_records::{PEER_ANY, PEER_NULL};
use kizami_sequence::Signature;

/// How many values a recorded shape has before the list of requests.
pub(super) fn values_before_list(signature: &Signature) -> usize {
    let has = |flag: u16| usize::from(signature.flags & flag != 0);
    if has(POLLS) != 0 {
        return 1;
    }
    let found = if has(REQUEST) != 0 { 0 } else { has(ANY_SOURCE) + has(ANY_TAG) };
    let bytes = match meaning(Op(signature.op)).shape {
        Shape::Send | Shape::ObjectOut | Shape::Receive | Shape::Probe | Shape::ObjectIn => 1,
        Shape::Timed | Shape::Completion | Shape::Start => 0,
        Shape::SendReceive | Shape::Collective | Shape::Object => 2,
    };
    found + bytes + has(SKIPS)
}

/// The call that a shape stands for, but for requests; and the bytes it was added up with.
pub(super) fn described(
    near: &Neighbourhood,
    own: Rank,
    signature: &Signature,
    values: &[u64],
) -> (SequenceCall, u64) {
    let has = |flag: u16| signature.flags & flag != 0;
    let number = |number: u32| number.checked_sub(1);
    let shape = meaning(Op(signature.op)).shape;
    let mut values = values.iter().copied();
    let mut value = || values.next().unwrap_or(0);
    let mut call = SequenceCall {
        calls: if has(PART) { 0 } else { 1 },
        comm: number(signature.comm),
        callsite: number(signature.site),
        failed: has(FAILED),
        ..SequenceCall::new(Op(signature.op))
    };
    if has(POLLS) {
        call.calls = value();
        if shape == Shape::Probe {
            probed(near, own, signature, &mut call);
        }
        return (call, 0);
    }
    let found = !has(REQUEST);
    let two_halves = shape == Shape::SendReceive;
    let (mut source, mut tag) =
        if two_halves { (signature.recv_peer, signature.recv_tag) } else { (signature.peer, signature.tag) };
    if has(ANY_SOURCE) && found {
        source = value() as i32;
    }
    if has(ANY_TAG) && found {
        tag = value() as i32;
    }
    let tag = (found || !has(ANY_TAG)).then_some(tag);
    let bytes = match shape {
        Shape::Send | Shape::ObjectOut => [value(), 0],
        Shape::Receive | Shape::Probe | Shape::ObjectIn => [0, value()],
        Shape::Timed | Shape::Completion | Shape::Start => [0, 0],
        Shape::SendReceive | Shape::Collective | Shape::Object => [value(), value()],
    };
    let receives = matches!(shape, Shape::Receive | Shape::SendReceive | Shape::Probe);
    (call.any_source, call.any_tag) = (receives && has(ANY_SOURCE), receives && has(ANY_TAG));
    let accesses = matches!(shape, Shape::ObjectOut | Shape::ObjectIn | Shape::Object);
    call.object = if accesses { near.object(own, signature.object) } else { None };
    let peers_of = near.peers_of(call.comm, call.object);
    let peer = |code: i32| near.peer(own, peers_of, code);
    match shape {
        Shape::Send => (call.peer, call.tag) = (peer(signature.peer), Some(signature.tag)),
        Shape::Receive | Shape::Probe => (call.peer, call.tag) = (peer(source), tag),
        Shape::SendReceive => {
            (call.peer, call.tag) = (peer(signature.peer), Some(signature.tag));
            (call.recv_peer, call.recv_tag) = (peer(source), tag);
        }
        Shape::Collective => call.root = peer(signature.peer),
        Shape::ObjectOut | Shape::ObjectIn | Shape::Object => {
            call.peer = peer(signature.peer);
            call.tag = is_lock(call.op).then_some(signature.tag);
        }
        Shape::Timed | Shape::Completion | Shape::Start => call.peer = peer(signature.peer),
    }
    (call.bytes_out, call.bytes_in) = moved(shape, bytes, signature.peer == PEER_NULL, source == PEER_NULL);
    // A probe only looks.
    (call, if shape == Shape::Probe { 0 } else { bytes[0] | bytes[1] })
}

/// What probes looked for that found nothing.
fn probed(near: &Neighbourhood, own: Rank, signature: &Signature, call: &mut SequenceCall) {
    call.peer = near.peer(own, call.comm, signature.peer);
    call.any_source = signature.peer == PEER_ANY;
    // No tag is negative, whatever a library's wildcard looks like.
    call.any_tag = signature.tag < 0;
    call.tag = (signature.tag >= 0).then_some(signature.tag);
}

/// Bytes where something moved.
fn moved(
    shape: Shape,
    [out, obtained]: [u64; 2],
    to_null: bool,
    from_null: bool,
) -> (Option<u64>, Option<u64>) {
    let used = |bytes: u64| (bytes != 0).then_some(bytes);
    match shape {
        Shape::Send | Shape::ObjectOut => ((!to_null).then_some(out), None),
        Shape::Receive | Shape::ObjectIn => (None, (!from_null).then_some(obtained)),
        Shape::SendReceive => ((!to_null).then_some(out), (!from_null).then_some(obtained)),
        Shape::Collective | Shape::Object => (used(out), used(obtained)),
        Shape::Probe | Shape::Timed | Shape::Completion | Shape::Start => (None, None),
    }
}

impl SequenceCall {
    /// A call of which only the function is known.
    fn new(op: Op) -> SequenceCall {
        SequenceCall {
            op,
            calls: 1,
            comm: None,
            peer: Peer::None,
            tag: None,
            recv_peer: Peer::None,
            recv_tag: None,
            any_source: false,
            any_tag: false,
            bytes_out: None,
            bytes_in: None,
            root: Peer::None,
            request: None,
            completes: Vec::new(),
            object: None,
            callsite: None,
            failed: false,
        }
    }
}
