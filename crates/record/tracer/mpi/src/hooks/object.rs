//! Windows, files and datatypes: data that goes to or comes from an object.

use super::{communicator_number, message};
use crate::call::Call;
use crate::objects::{self, Object};
use crate::real::own;
use crate::requests::Kind;
use crate::status::{self, peer};
use crate::{abi, datatypes};
use kizami_model::ObjectKind;
use kizami_records::NO_COMM;
use std::ffi::{CStr, c_char};

/// Which way data goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Out,
    In,
}

/// A window was made.
#[inline(never)]
pub fn window_made(mut call: Call, comm: usize, bytes: u64, place: usize) {
    let comm = communicator_number(&mut call, comm);
    let mut object = None;
    if !call.failed() {
        // SAFETY: the call succeeded, so MPI has stored a handle there.
        let handle = unsafe { abi::get().load_handle(place, 0) };
        object = Some(objects::add(ObjectKind::Window, handle, comm, String::new(), bytes));
    }
    finish(call, object.unwrap_or(Object { local: 0, comm }));
}

/// A file was opened.
#[inline(never)]
pub fn file_opened(mut call: Call, comm: usize, name: usize, place: usize) {
    let comm = communicator_number(&mut call, comm);
    let mut object = None;
    if !call.failed() {
        // SAFETY: the call succeeded: the name was a C string and MPI has stored a file handle.
        let (name, handle) = unsafe { (CStr::from_ptr(name as *const c_char), *(place as *const usize)) };
        let name = name.to_string_lossy().into_owned();
        object = Some(objects::add(ObjectKind::File, handle, comm, name, 0));
    }
    finish(call, object.unwrap_or(Object { local: 0, comm }));
}

/// A datatype was made or committed.
#[inline(never)]
pub fn datatype_made(call: Call, name: &str, place: usize) {
    let mut object = Object { local: 0, comm: NO_COMM };
    if !call.failed() {
        // SAFETY: the call succeeded, so MPI has stored a handle there.
        let handle = unsafe { abi::get().load_handle(place, 0) };
        object = objects::of(ObjectKind::Datatype, handle);
        if object.local == 0 {
            let bytes = datatypes::size_of_handle(handle);
            object = objects::add(ObjectKind::Datatype, handle, NO_COMM, name.to_owned(), bytes);
        }
    }
    finish(call, object);
}

/// Forgets an object that is about to be freed; returns its handle and what was known of it.
pub fn about_to_free(kind: ObjectKind, place: usize) -> (usize, Object) {
    let handle = match kind {
        // SAFETY: the program passes the file it wants closed.
        ObjectKind::File => unsafe { *(place as *const usize) },
        // SAFETY: the program passes the object it wants freed.
        _ => unsafe { abi::get().load_handle(place, 0) },
    };
    (handle, objects::forget(kind, handle))
}

/// An object was freed.
#[inline(never)]
pub fn freed(call: Call, kind: ObjectKind, (handle, object): (usize, Object)) {
    if call.failed() && object.local != 0 {
        objects::remember(kind, handle, object);
    }
    if kind == ObjectKind::Datatype {
        datatypes::forget();
    }
    finish(call, object);
}

/// A call on a window that moves nothing by itself; `rank` names one process of it, if any.
#[inline(never)]
pub fn window(mut call: Call, window: usize, rank: Option<i32>) {
    let object = objects::of(ObjectKind::Window, abi::get().handle(window));
    let mut record = call.record();
    (record.object, record.comm) = (object.local, object.comm);
    if let Some(rank) = rank {
        record.peer = peer(rank);
    }
    call.finish(&record);
}

/// A lock was asked for; the tag says which kind: 1 is exclusive, 0 shared.
#[inline(never)]
pub fn window_locked(mut call: Call, window: usize, rank: i32, kind: i32) {
    let object = objects::of(ObjectKind::Window, abi::get().handle(window));
    let mut record = call.record();
    (record.object, record.comm, record.peer) = (object.local, object.comm, peer(rank));
    record.tag = i32::from(kind == abi::get().lock_exclusive);
    call.finish(&record);
}

/// A window was opened for, or to, the ranks of a group.
#[inline(never)]
pub fn window_for_group(mut call: Call, window: usize, group: usize) {
    let abi = abi::get();
    let (window, group) = (abi.handle(window), abi.handle(group));
    let object = objects::of(ObjectKind::Window, window);
    let mut record = call.record();
    (record.object, record.comm) = (object.local, object.comm);
    call.store(&record);
    if !call.failed() {
        let ranks = ranks_in_window(window, group);
        call.thread().record_group(&record, &ranks);
    }
    call.release();
}

/// Whether an exposure is over was asked for.
#[inline(never)]
pub fn window_tested(mut call: Call, window: usize, over: bool) {
    let object = objects::of(ObjectKind::Window, abi::get().handle(window));
    let mut record = call.record();
    (record.object, record.comm) = (object.local, object.comm);
    if over || call.failed() {
        return call.finish(&record);
    }
    call.thread().record_failed_poll(&record);
    call.release();
}

/// The ranks of a group in the communicator the window was made with.
fn ranks_in_window(window: usize, group: usize) -> Vec<i32> {
    let (mut whole, mut size) = (0usize, 0i32);
    // SAFETY: the program has just used the window and the group; places for a handle and a number.
    unsafe {
        own::MPI_Win_get_group(window, &raw mut whole);
        own::MPI_Group_size(group, &raw mut size);
    }
    let of_group: Vec<i32> = (0..size).collect();
    let mut ranks = vec![0i32; of_group.len()];
    let whole_handle = abi::get().handle(whole);
    // SAFETY: both lists are as long as the group; the group of the window is ours to free.
    unsafe {
        own::MPI_Group_translate_ranks(group, size, of_group.as_ptr(), whole_handle, ranks.as_mut_ptr());
        own::MPI_Group_free(&raw mut whole);
    }
    ranks
}

/// A call on a file that moves nothing.
#[inline(never)]
pub fn file(call: Call, file: usize) {
    finish(call, objects::of(ObjectKind::File, file));
}

/// Elements of a datatype.
#[derive(Clone, Copy)]
pub struct Elements {
    pub count: i64,
    pub datatype: usize,
}

/// One-sided access to another process's window; `request` is 0 or where its request was stored.
#[inline(never)]
pub fn access(mut call: Call, win: usize, rank: i32, out: Elements, obtained: Elements, request: usize) {
    let object = objects::of(ObjectKind::Window, abi::get().handle(win));
    let mut record = call.record();
    (record.object, record.comm) = (object.local, object.comm);
    record.peer = peer(rank);
    if !call.failed() && rank >= 0 {
        record.bytes_out = datatypes::bytes(&mut call.thread().datatypes, out.count, out.datatype);
        record.bytes_in = datatypes::bytes(&mut call.thread().datatypes, obtained.count, obtained.datatype);
    }
    if request != 0 {
        message::post(&call, &mut record, Kind::Plain, 0, request);
    }
    call.finish(&record);
}

/// Blocking file access: the status has how much really moved.
#[inline(never)]
pub fn transfer(mut call: Call, file: usize, direction: Direction, status: usize) {
    let object = objects::of(ObjectKind::File, file);
    let mut record = call.record();
    (record.object, record.comm) = (object.local, object.comm);
    if !call.failed() && status != 0 {
        // SAFETY: the access succeeded, so MPI has filled in the status.
        let bytes = unsafe { status::read(status, 0) }.bytes;
        match direction {
            Direction::Out => record.bytes_out = bytes,
            Direction::In => record.bytes_in = bytes,
        }
    }
    call.finish(&record);
}

/// File access that was started: what was asked for.
#[inline(never)]
pub fn transfer_started(mut call: Call, file: usize, direction: Direction, asked: Elements, request: usize) {
    let object = objects::of(ObjectKind::File, file);
    let mut record = call.record();
    (record.object, record.comm) = (object.local, object.comm);
    if !call.failed() {
        let bytes = datatypes::bytes(&mut call.thread().datatypes, asked.count, asked.datatype);
        match direction {
            Direction::Out => record.bytes_out = bytes,
            Direction::In => record.bytes_in = bytes,
        }
        message::post(&call, &mut record, Kind::Plain, 0, request);
    }
    call.finish(&record);
}

fn finish(mut call: Call, object: Object) {
    let mut record = call.record();
    (record.object, record.comm) = (object.local, object.comm);
    call.finish(&record);
}
