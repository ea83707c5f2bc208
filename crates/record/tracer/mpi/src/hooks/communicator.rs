//! Making, naming and freeing communicators.

use super::{communicator_number, on_communicator};
use crate::call::Call;
use crate::communicators::Communicator;
use crate::requests::{self, Kind, Posted};
use crate::{abi, communicators, process};
use kizami_model::CommKind;
use kizami_records::{Definition, NO_COMM, PEER_NONE};
use std::ffi::{CStr, c_char};

/// A communicator was made from a parent, all of whose ranks took part.
#[inline(never)]
pub fn made(mut call: Call, parent: usize, place: usize, kind: CommKind) {
    if !call.failed() {
        let how = communicators::next_of_parent(&mut call.thread().communicators, parent);
        if let Some(handle) = made_at(place) {
            communicators::made_from_parent(handle, how, kind);
        }
    }
    on_communicator(call, parent);
}

/// A communicator was made by its members alone.
#[inline(never)]
pub fn made_by_members(mut call: Call, parent: usize, tag: i32, place: usize, kind: CommKind) {
    if !call.failed()
        && let Some(handle) = made_at(place)
    {
        // The two sides of an inter-communicator come from different parents.
        let identity = if kind == CommKind::Inter {
            0
        } else {
            communicators::identity(&mut call.thread().communicators, parent)
        };
        communicators::made_by_members(handle, identity, tag, kind);
    }
    on_communicator(call, parent);
}

/// A duplication was started: the new communicator may be used when its request is done.
#[inline(never)]
pub fn duplicating(mut call: Call, parent: usize, place: usize, request: usize) {
    let mut record = call.record();
    let handle = abi::get().handle(parent);
    record.comm = communicators::number_of(&mut call.thread().communicators, handle);
    if !call.failed() {
        let how = communicators::next_of_parent(&mut call.thread().communicators, parent);
        let number = requests::take_numbers(1);
        record.request = number;
        // SAFETY: MPI has just stored the request there.
        let handle = unsafe { abi::get().load_handle(request, 0) };
        // The handle is there already, though it may not be used yet. Later its place may be gone: Fortran
        // bindings pass a variable of their own.
        // SAFETY: MPI has just stored the communicator there.
        communicators::duplicating(number, unsafe { abi::get().load_handle(place, 0) }, how);
        let posted = Posted { number, kind: Kind::Duplicate, peer: PEER_NONE, tag: 0, bytes: 0, round: 0 };
        requests::add(handle, posted);
    }
    call.finish(&record);
}

/// Forgets a communicator that is about to be freed; returns what was known of it.
pub fn about_to_free(call: &mut Call, place: usize) -> Communicator {
    // SAFETY: the program passes the communicator it wants freed.
    let handle = unsafe { abi::get().load_handle(place, 0) };
    communicators::forget(&mut call.thread().communicators, handle)
}

#[inline(never)]
pub fn freed(mut call: Call, communicator: Communicator) {
    if call.failed() && communicator.local != NO_COMM {
        communicators::remember(communicator);
    }
    let mut record = call.record();
    record.comm = communicator.local;
    call.finish(&record);
}

#[inline(never)]
pub fn named(mut call: Call, comm: usize, name: usize) {
    if !call.failed()
        && let Some(process) = process::existing()
    {
        let local = communicator_number(&mut call, comm);
        // SAFETY: MPI took it as a C string, so it is one.
        let name = unsafe { CStr::from_ptr(name as *const c_char) }.to_string_lossy().into_owned();
        process.define(&Definition::CommunicatorName { local, name });
    }
    on_communicator(call, comm);
}

fn made_at(place: usize) -> Option<usize> {
    let abi = abi::get();
    // SAFETY: the call succeeded, so MPI has stored a handle there.
    let handle = unsafe { abi.load_handle(place, 0) };
    (handle != abi.comm_null).then_some(handle)
}
