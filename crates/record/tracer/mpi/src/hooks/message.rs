//! Point-to-point messages: sends, receives, probes, and the requests they start.

use super::communicator_number;
use crate::call::Call;
use crate::requests::{self, Kind, Posted};
use crate::status::{self, peer};
use crate::{abi, datatypes, objects};
use kizami_records::{CallRecord, PEER_NULL};

/// Who, which tag, on which communicator: what every message has.
#[inline(always)]
fn address(call: &mut Call, rank: i32, tag: i32, comm: usize) -> CallRecord {
    let mut record = call.record();
    record.comm = communicator_number(call, comm);
    record.peer = peer(rank);
    record.tag = tag;
    record
}

/// Bytes of a message; none for null peers.
#[inline(always)]
fn bytes(call: &mut Call, peer: i32, count: i64, datatype: usize) -> u64 {
    // A count of zero never looks at the datatype.
    if peer == PEER_NULL || call.failed() || count <= 0 {
        return 0;
    }
    let handle = abi::get().handle(datatype);
    count as u64 * datatypes::size(&mut call.thread().datatypes, handle)
}

/// Assigns a request a number and remembers what was posted.
#[inline(always)]
pub fn post(call: &Call, record: &mut CallRecord, kind: Kind, bytes: u64, request: usize) {
    if call.failed() {
        return;
    }
    let number = requests::take_numbers(1);
    record.request = number;
    // SAFETY: MPI has just stored the request there.
    let handle = unsafe { abi::get().load_handle(request, 0) };
    let (peer, tag) = (record.peer, record.tag);
    requests::add(handle, Posted { number, kind, peer, tag, bytes, round: 0 });
}

#[inline(always)]
pub fn send(mut call: Call, count: i64, datatype: usize, dest: i32, tag: i32, comm: usize) {
    let mut record = address(&mut call, dest, tag, comm);
    record.bytes_out = bytes(&mut call, record.peer, count, datatype);
    call.finish(&record);
}

#[inline(always)]
pub fn isend(mut call: Call, count: i64, datatype: usize, dest: i32, tag: i32, comm: usize, request: usize) {
    let mut record = address(&mut call, dest, tag, comm);
    record.bytes_out = bytes(&mut call, record.peer, count, datatype);
    let bytes = record.bytes_out;
    post(&call, &mut record, Kind::Plain, bytes, request);
    call.finish(&record);
}

#[inline(never)]
pub fn send_init(
    mut call: Call,
    count: i64,
    datatype: usize,
    dest: i32,
    tag: i32,
    comm: usize,
    request: usize,
) {
    let mut record = address(&mut call, dest, tag, comm);
    record.bytes_out = bytes(&mut call, record.peer, count, datatype);
    let bytes = record.bytes_out;
    post(&call, &mut record, Kind::PersistentPlain, bytes, request);
    call.finish(&record);
}

/// Notes wildcards.
#[inline(always)]
fn wildcards(record: &mut CallRecord, source: i32, tag: i32) {
    record.any_source = source == abi::get().any_source;
    record.any_tag = tag == abi::get().any_tag;
}

#[inline(always)]
pub fn recv(mut call: Call, source: i32, tag: i32, comm: usize, status: usize) {
    let mut record = address(&mut call, source, tag, comm);
    wildcards(&mut record, source, tag);
    if !call.failed() && record.peer != PEER_NULL {
        // SAFETY: the receive succeeded, so MPI has filled in the status.
        let arrival = unsafe { status::read(status, 0) };
        (record.peer, record.tag, record.bytes_in) = (arrival.peer, arrival.tag, arrival.bytes);
    }
    call.finish(&record);
}

#[inline(always)]
pub fn irecv(
    mut call: Call,
    count: i64,
    datatype: usize,
    source: i32,
    tag: i32,
    comm: usize,
    request: usize,
) {
    post_receive(call_address(&mut call, source, tag, comm), call, count, datatype, Kind::Receive, request);
}

#[inline(never)]
pub fn recv_init(
    mut call: Call,
    count: i64,
    datatype: usize,
    source: i32,
    tag: i32,
    comm: usize,
    request: usize,
) {
    let record = call_address(&mut call, source, tag, comm);
    post_receive(record, call, count, datatype, Kind::PersistentReceive, request);
}

#[inline(always)]
fn call_address(call: &mut Call, source: i32, tag: i32, comm: usize) -> CallRecord {
    let mut record = address(call, source, tag, comm);
    wildcards(&mut record, source, tag);
    record
}

#[inline(always)]
fn post_receive(
    mut record: CallRecord,
    mut call: Call,
    count: i64,
    datatype: usize,
    kind: Kind,
    request: usize,
) {
    record.bytes_in = bytes(&mut call, record.peer, count, datatype);
    let bytes = record.bytes_in;
    post(&call, &mut record, kind, bytes, request);
    call.finish(&record);
}

/// The two halves of a send-receive.
pub struct Halves {
    pub send: Half,
    pub receive: Half,
    pub comm: usize,
}

/// One half of a send-receive.
pub struct Half {
    pub count: i64,
    pub datatype: usize,
    pub rank: i32,
    pub tag: i32,
}

#[inline(never)]
pub fn sendrecv(mut call: Call, halves: &Halves, status: usize) {
    let mut record = both(&mut call, halves);
    if !call.failed() && record.recv_peer != PEER_NULL {
        // SAFETY: the receive succeeded, so MPI has filled in the status.
        let arrival = unsafe { status::read(status, 0) };
        (record.recv_peer, record.recv_tag, record.bytes_in) = (arrival.peer, arrival.tag, arrival.bytes);
    }
    call.finish(&record);
}

#[inline(never)]
pub fn isendrecv(mut call: Call, halves: &Halves, request: usize) {
    let mut record = both(&mut call, halves);
    record.bytes_in = bytes(&mut call, record.recv_peer, halves.receive.count, halves.receive.datatype);
    // What is compared when it completes is the receiving half.
    let mut posted = record;
    (posted.peer, posted.tag) = (record.recv_peer, record.recv_tag);
    let bytes = record.bytes_in;
    // MPICH (also by the standard ABI) leaves the status of this request as it was: nothing can be read off it.
    let kind = if abi::get().kind == abi::Kind::OpenMpi { Kind::Receive } else { Kind::Plain };
    post(&call, &mut posted, kind, bytes, request);
    record.request = posted.request;
    call.finish(&record);
}

fn both(call: &mut Call, halves: &Halves) -> CallRecord {
    let mut record = address(call, halves.send.rank, halves.send.tag, halves.comm);
    record.bytes_out = bytes(call, record.peer, halves.send.count, halves.send.datatype);
    record.recv_peer = peer(halves.receive.rank);
    record.recv_tag = halves.receive.tag;
    wildcards(&mut record, halves.receive.rank, halves.receive.tag);
    record
}

/// A probe that came back, found or not.
#[inline(always)]
pub fn probe(mut call: Call, source: i32, tag: i32, comm: usize, found: bool, status: usize, message: usize) {
    let mut record = address(&mut call, source, tag, comm);
    if call.failed() {
        return call.finish(&record);
    }
    if !found {
        call.thread().record_failed_poll(&record);
        return call.release();
    }
    wildcards(&mut record, source, tag);
    if record.peer != PEER_NULL {
        // SAFETY: a message was found, so MPI has filled in the status.
        let arrival = unsafe { status::read(status, 0) };
        (record.peer, record.tag, record.bytes_in) = (arrival.peer, arrival.tag, arrival.bytes);
    }
    if message != 0 {
        // SAFETY: MPI has just stored the message's handle there.
        objects::add_message(unsafe { abi::get().load_handle(message, 0) }, record.comm);
    }
    call.finish(&record);
}

/// The handle of a matched message before the call takes it away.
pub fn message_handle(message: usize) -> usize {
    // SAFETY: the program passes the message it got from a matched probe.
    unsafe { abi::get().load_handle(message, 0) }
}

#[inline(never)]
pub fn mrecv(mut call: Call, message_handle: usize, status: usize) {
    let mut record = call.record();
    record.comm = objects::take_message(message_handle);
    if !call.failed() {
        // SAFETY: the receive succeeded, so MPI has filled in the status.
        let arrival = unsafe { status::read(status, 0) };
        (record.peer, record.tag, record.bytes_in) = (arrival.peer, arrival.tag, arrival.bytes);
    }
    call.finish(&record);
}

#[inline(never)]
pub fn imrecv(mut call: Call, count: i64, datatype: usize, message_handle: usize, request: usize) {
    let mut record = call.record();
    record.comm = objects::take_message(message_handle);
    record.peer = kizami_records::PEER_ANY;
    record.any_source = true;
    record.any_tag = true;
    post_receive(record, call, count, datatype, Kind::Receive, request);
}
