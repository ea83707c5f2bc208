//! Waits and tests: which requests they completed, and what really arrived.

use crate::call::Call;
use crate::requests::{self, Kind, Posted};
use crate::status::{self, Arrival};
use crate::{abi, communicators};
use kizami_records::{Completion, PEER_NULL, Started};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program cancels operations: then the statuses of sends are worth a look, too.
static CANCELS: AtomicBool = AtomicBool::new(false);

/// `MPI_Cancel`: what it led to shows when the request is completed.
#[inline(never)]
pub fn cancel(call: Call) {
    CANCELS.store(true, Ordering::Relaxed);
    super::timed(call);
}

/// Copies the handles of the requests before the call makes them null.
#[inline(always)]
pub fn note_handles(call: &mut Call, requests: usize, count: i32) {
    let abi = abi::get();
    let handles = &mut call.thread().handles;
    handles.clear();
    // SAFETY: the program passes an array of that many requests.
    handles.extend((0..count.max(0) as usize).map(|index| unsafe { abi.load_handle(requests, index) }));
}

/// All requests of the call are done: `MPI_Wait`, `MPI_Waitall`, a successful `MPI_Test(all)`.
#[inline(always)]
pub fn all(mut call: Call, requests: usize, statuses: usize) {
    let failed = call.failed();
    for index in 0..call.thread().handles.len() {
        complete(&mut call, index, statuses, index, failed.then_some(requests));
    }
    finish(call);
}

/// One request of the call is done, or none was active: `MPI_Waitany`, a successful `MPI_Testany`.
#[inline(always)]
pub fn any(mut call: Call, requests: usize, index: i32, status: usize) {
    let failed = call.failed();
    if index >= 0 && index != abi::get().undefined && (index as usize) < call.thread().handles.len() {
        complete(&mut call, index as usize, status, 0, failed.then_some(requests));
    }
    finish(call);
}

/// Some requests of the call are done: `MPI_Waitsome`, a successful `MPI_Testsome`.
#[inline(always)]
pub fn some(mut call: Call, requests: usize, count: i32, indices: usize, statuses: usize) {
    let failed = call.failed();
    // After an error the count may never have been stored.
    let most = call.thread().handles.len();
    for position in 0..usize::try_from(count).unwrap_or(0).min(most) {
        // SAFETY: MPI has stored that many indices.
        let index = unsafe { *(indices as *const i32).add(position) } as usize;
        if index < call.thread().handles.len() {
            complete(&mut call, index, statuses, position, failed.then_some(requests));
        }
    }
    finish(call);
}

/// A test that found nothing done.
#[inline(always)]
pub fn none(mut call: Call) {
    let record = call.record();
    if call.failed() {
        call.thread().completed.clear();
        call.thread().record_completion(&record);
    } else {
        call.thread().record_failed_poll(&record);
    }
    call.release();
}

#[inline(always)]
fn finish(mut call: Call) {
    let record = call.record();
    let thread = call.thread();
    thread.record_completion(&record);
    thread.completed.clear();
    call.release();
}

/// Notes the completion of one request. After an error only those that MPI made null are done.
#[inline(always)]
fn complete(call: &mut Call, index: usize, statuses: usize, position: usize, after_error: Option<usize>) {
    let abi = abi::get();
    let handle = call.thread().handles[index];
    if handle == abi.request_null {
        return;
    }
    if let Some(requests) = after_error {
        // SAFETY: the program's array of requests, as long as the handles that were noted.
        let now = unsafe { abi.load_handle(requests, index) };
        if now != abi.request_null {
            return;
        }
    }
    let Some(posted) = requests::complete(handle) else { return };
    if posted.kind == Kind::Duplicate {
        communicators::duplicated(posted.number);
    }
    let looks = posted.kind.receives() || CANCELS.load(Ordering::Relaxed);
    let arrival = (looks && posted.peer != PEER_NULL && after_error.is_none())
        // SAFETY: the request is done, so MPI has filled in its status.
        .then(|| unsafe { status::read(statuses, position) });
    add(&mut call.thread().completed, &posted, arrival);
}

/// Adds one completion to the list; runs of requests that ended as posted take one entry.
#[inline(always)]
fn add(completed: &mut Vec<Completion>, posted: &Posted, arrival: Option<Arrival>) {
    let request = posted.number;
    match arrival {
        Some(arrival) if arrival.cancelled => completed.push(Completion::Cancelled { request }),
        Some(arrival)
            if posted.kind.receives()
                && (arrival.peer != posted.peer
                    || arrival.tag != posted.tag
                    || arrival.bytes != posted.bytes) =>
        {
            let Arrival { peer, tag, bytes, .. } = arrival;
            completed.push(Completion::Received { request, peer, tag, bytes: bytes as u32 });
            if bytes >> 32 != 0 {
                completed.push(Completion::MoreBytes { request, bytes: bytes & !0xffff_ffff });
            }
        }
        _ => match completed.last_mut() {
            Some(Completion::AsPosted { request: first, count }) if first.wrapping_add(*count) == request => {
                *count += 1;
            }
            _ => completed.push(Completion::AsPosted { request, count: 1 }),
        },
    }
}

/// `MPI_Start` and `MPI_Startall`, whose handles were noted before. A library may put another handle in the
/// place of one that it could not use again yet.
#[inline(never)]
pub fn start(mut call: Call, requests: usize) {
    let record = call.record();
    if !call.failed() {
        let count = call.thread().handles.len();
        let first = requests::take_numbers(count as u32);
        for index in 0..count {
            let request = first.wrapping_add(index as u32);
            let handle = call.thread().handles[index];
            // SAFETY: the program's array of requests, as long as the handles that were noted.
            let now = unsafe { abi::get().load_handle(requests, index) };
            if let Some(persistent) = requests::start(handle, now, request) {
                call.thread().started.push(Started { persistent, request });
            }
        }
    }
    let thread = call.thread();
    thread.record_start(&record);
    thread.started.clear();
    call.release();
}

/// `MPI_Request_free`, whose handle was noted before.
#[inline(never)]
pub fn request_free(mut call: Call) {
    if !call.failed()
        && let Some(handle) = call.thread().handles.first().copied()
    {
        requests::forget(handle);
    }
    super::timed(call);
}

/// `MPI_Request_get_status`: looks, but completes nothing.
#[inline(never)]
pub fn request_get_status(mut call: Call, done: bool) {
    let record = call.record();
    if done || call.failed() {
        return call.finish(&record);
    }
    call.thread().record_failed_poll(&record);
    call.release();
}
