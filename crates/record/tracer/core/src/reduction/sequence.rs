//! Calls as the folded sequence wants them: a shape that repeats, and values that may change.
//!
//! What a loop repeats exactly is the shape: function, place, communicator, peers, tags. Sizes, what a wildcard found, and
//! which requests were completed or started are values, as [`kizami_records::sequence_codec`] encodes them.

use kizami_model::Shape;
pub use kizami_records::sequence_codec::Values;
use kizami_records::sequence_codec::{
    self, ANY_SOURCE, ANY_TAG, Ended, FAILED, GOES_ON, Numbering, PART, POLLS, REQUEST, RUN_MOST, SKIPS,
};
use kizami_records::{CallRecord, Completion, PEER_ANY, Started};
use kizami_sequence::{Signature, VALUES_MOST};

const _: () = assert!(sequence_codec::VALUES_MOST == VALUES_MOST);

const ANY_TAG_VALUE: i32 = -1;

/// The shape and values of a call without a list; `begins` says whether it begins a request.
#[inline(always)]
pub fn of_call(
    call: &CallRecord,
    shape: Shape,
    begins: bool,
    numbering: &mut Numbering,
) -> (Signature, Values) {
    let mut signature = signature(call);
    let mut values = Values::default();
    let asked = match shape {
        Shape::Receive | Shape::Probe => Some((&mut signature.peer, &mut signature.tag)),
        Shape::SendReceive => Some((&mut signature.recv_peer, &mut signature.recv_tag)),
        _ => None,
    };
    if let Some((source, tag)) = asked {
        if call.any_source {
            if !begins {
                values.push(u64::from(*source as u32));
            }
            *source = PEER_ANY;
        }
        if call.any_tag {
            if !begins {
                values.push(u64::from(*tag as u32));
            }
            *tag = ANY_TAG_VALUE;
        }
    }
    match shape {
        Shape::Send | Shape::ObjectOut => values.push(call.bytes_out),
        Shape::Receive | Shape::Probe | Shape::ObjectIn => values.push(call.bytes_in),
        Shape::Timed | Shape::Completion | Shape::Start => {}
        Shape::SendReceive | Shape::Collective | Shape::Object => {
            values.push(call.bytes_out);
            values.push(call.bytes_in);
        }
    }
    if begins {
        signature.flags |= REQUEST;
        if let Some(skipped) = numbering.begin(call.request) {
            signature.flags |= SKIPS;
            values.push(skipped);
        }
    }
    (signature, values)
}

/// Passes to `put` the shape and values of a call that completed requests, before the one that is `next`; with a long list
/// several. If it `goes_on`, so will the list.
#[inline(always)]
pub fn of_completion(
    call: &CallRecord,
    completed: &[Completion],
    next: u32,
    goes_on: bool,
    mut put: impl FnMut(&Signature, &Values),
) {
    let signature = signature(call);
    let mut values = Values::default();
    let mut items = completed.iter().peekable();
    while let Some(item) = items.next() {
        let (request, ended) = match *item {
            Completion::AsPosted { request, count } => (request, Ended::AsPosted { count }),
            Completion::Cancelled { request } => (request, Ended::Cancelled),
            Completion::Received { request, peer, tag, bytes } => {
                let more = match items.peek() {
                    Some(Completion::MoreBytes { bytes, .. }) => *bytes,
                    _ => 0,
                };
                (request, Ended::Received { peer, tag, bytes: u64::from(bytes) | more })
            }
            // Told with the receive before it.
            Completion::MoreBytes { .. } => continue,
        };
        values.completed(next.wrapping_sub(request), ended, |full| put(&listing(signature), full));
    }
    put(&if goes_on { listing(signature) } else { signature }, &values);
}

/// Passes to `put` the shape and values of a call that started persistent requests; with a long list several. If it `goes_on`,
/// so will the list.
pub fn of_start(
    call: &CallRecord,
    started: &[Started],
    numbering: &mut Numbering,
    goes_on: bool,
    mut put: impl FnMut(&Signature, &Values),
) {
    let signature = signature(call);
    let mut values = Values::default();
    let mut rest = started;
    while let Some(first) = rest.first() {
        let skipped = numbering.skipped(first.request);
        if skipped != 0 {
            values.begun(0, skipped, |full| put(&listing(signature), full));
        }
        let in_a_row = |(started, nth): (&Started, u32)| {
            started.persistent == first.persistent.wrapping_add(nth)
                && started.request == first.request.wrapping_add(nth)
        };
        let count = rest.iter().zip(0..RUN_MOST).take_while(|pair| in_a_row(*pair)).count();
        values.begun(first.persistent, count as u32, |full| put(&listing(signature), full));
        numbering.begin_listed(rest[count - 1].request);
        rest = &rest[count..];
    }
    put(&if goes_on { listing(signature) } else { signature }, &values);
}

fn listing(signature: Signature) -> Signature {
    Signature { flags: signature.flags | GOES_ON, ..signature }
}

/// The shape of polls that found nothing.
pub fn of_polls(call: &CallRecord) -> Signature {
    let signature = signature(call);
    Signature { flags: signature.flags | POLLS, ..signature }
}

#[inline(always)]
fn signature(call: &CallRecord) -> Signature {
    let flag = |set: bool, flag: u16| if set { flag } else { 0 };
    Signature {
        op: call.op.0,
        flags: flag(call.failed, FAILED)
            | flag(call.any_source, ANY_SOURCE)
            | flag(call.any_tag, ANY_TAG)
            | flag(call.part, PART),
        site: call.site,
        comm: call.comm,
        object: call.object,
        peer: call.peer,
        recv_peer: call.recv_peer,
        tag: call.tag,
        recv_tag: call.recv_tag,
    }
}
