//! Calls as the folded sequence wants them: a shape that repeats, and values that may change.
//!
//! What a loop repeats exactly is the shape: function, place, communicator, peers, tags. Sizes, what a wildcard found, and
//! which requests were completed are values. Requests are told by how many were started since, so a loop that posts and
//! completes the same way has the same values each time.

use kizami_model::Shape;
use kizami_reduce::structure::{Signature, VALUES_MOST};
use kizami_segment::Completion;
use kizami_segment::record::{CallRecord, PEER_ANY, Started};
use kizami_segment::shape::{ANY_SOURCE, ANY_TAG, CUT_SHORT, FAILED, PART, POLLS};

const ANY_TAG_VALUE: i32 = -1;

/// Values of one call.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Values {
    list: [u64; VALUES_MOST],
    count: usize,
}

impl Values {
    #[inline(always)]
    fn push(&mut self, value: u64) {
        if let Some(place) = self.list.get_mut(self.count) {
            *place = value;
            self.count += 1;
        }
    }

    #[inline(always)]
    pub fn as_slice(&self) -> &[u64] {
        // Of a call that is known to have none, nothing has to be in memory.
        if self.count == 0 { &[] } else { &self.list[..self.count.min(VALUES_MOST)] }
    }
}

/// The shape and values of a call without a list.
#[inline(always)]
pub fn of_call(call: &CallRecord, shape: Shape) -> (Signature, Values) {
    let mut signature = signature(call);
    let mut values = Values::default();
    let asked = match shape {
        Shape::Receive | Shape::Probe => Some((&mut signature.peer, &mut signature.tag)),
        Shape::SendReceive => Some((&mut signature.recv_peer, &mut signature.recv_tag)),
        _ => None,
    };
    if let Some((source, tag)) = asked {
        if call.any_source {
            values.push(u64::from(*source as u32));
            *source = PEER_ANY;
        }
        if call.any_tag {
            values.push(u64::from(*tag as u32));
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
    (signature, values)
}

/// The shape and values of a call that completed requests; `next` is the number the next request will get.
#[inline]
pub fn of_completion(call: &CallRecord, completed: &[Completion], next: u32) -> (Signature, Values) {
    let mut signature = signature(call);
    let mut values = Values::default();
    for item in completed {
        let mut told =
            |request: u32, what: u64| values.push(u64::from(next.wrapping_sub(request)) << 32 | what);
        match *item {
            Completion::AsPosted { request, count } => told(request, u64::from(count)),
            Completion::Cancelled { request } => told(request, CANCELLED),
            Completion::Received { request, peer, tag, bytes } => {
                told(request, RECEIVED);
                values.push(u64::from(peer as u32) << 32 | u64::from(tag as u32));
                values.push(u64::from(bytes));
            }
            Completion::MoreBytes { bytes, .. } => values.push(bytes),
        }
    }
    let values_wanted: usize = completed.iter().map(values_of).sum();
    cut_short(&mut signature, &mut values, values_wanted);
    (signature, values)
}

fn values_of(item: &Completion) -> usize {
    if matches!(item, Completion::Received { .. }) { 3 } else { 1 }
}

/// Instead of how many requests in a row ended as posted: one was cancelled.
const CANCELLED: u64 = 0;
/// One received something else than was posted; two values with what follow.
const RECEIVED: u64 = 1 << 31;

/// The shape and values of a call that started persistent requests.
pub fn of_start(call: &CallRecord, started: &[Started], next: u32) -> (Signature, Values) {
    let mut signature = signature(call);
    let mut values = Values::default();
    for Started { persistent, request } in started {
        values.push(u64::from(next.wrapping_sub(*request)) << 32 | u64::from(next.wrapping_sub(*persistent)));
    }
    cut_short(&mut signature, &mut values, started.len());
    (signature, values)
}

/// The shape of polls that found nothing.
pub fn of_polls(call: &CallRecord) -> Signature {
    let signature = signature(call);
    Signature { flags: signature.flags | POLLS, ..signature }
}

fn cut_short(signature: &mut Signature, values: &mut Values, wanted: usize) {
    if wanted > VALUES_MOST {
        signature.flags |= CUT_SHORT;
        values.list[VALUES_MOST - 1] = wanted as u64;
    }
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
