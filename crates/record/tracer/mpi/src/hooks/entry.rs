//! What a call was given, noted before it is made: a few plain stores, so that a call which never returns can be explained.
//!
//! Handles are noted as they came: their reader knows from definitions what they stand for. On MPIs with 32-bit
//! handles the upper half is noise.

use crate::abi;
use crate::status::peer;
use kizami_segment::CallNote;
use std::sync::atomic::Ordering::Relaxed;

/// A message on a communicator.
#[inline(always)]
pub fn message(note: &CallNote, rank: i32, tag: i32, comm: usize) {
    note.tag.store(tag, Relaxed);
    rooted(note, rank, comm);
}

/// A message out and one in: rank and tag of each.
#[inline(always)]
pub fn two_messages(note: &CallNote, out: (i32, i32), into: (i32, i32), comm: usize) {
    note.recv_peer.store(peer(into.0), Relaxed);
    note.recv_tag.store(into.1, Relaxed);
    message(note, out.0, out.1, comm);
}

/// A rank of a communicator or window.
#[inline(always)]
pub fn rooted(note: &CallNote, rank: i32, handle: usize) {
    note.peer.store(peer(rank), Relaxed);
    object(note, handle);
}

/// A communicator, window or file.
#[inline(always)]
pub fn object(note: &CallNote, handle: usize) {
    note.handle.store(handle as u64, Relaxed);
}

/// The lock of a rank's part of a window.
#[inline(always)]
pub fn lock(note: &CallNote, rank: i32, kind: i32, window: usize) {
    note.tag.store(i32::from(kind == abi::get().lock_exclusive), Relaxed);
    rooted(note, rank, window);
}

/// So many requests.
#[inline(always)]
pub fn requests(note: &CallNote, count: i32) {
    note.requests.store(count as u32, Relaxed);
}
