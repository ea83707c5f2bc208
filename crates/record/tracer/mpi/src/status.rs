//! Statuses: reading what arrived, also where the program does not want to know.

use crate::abi;
use crate::real::own;
use kizami_records::{PEER_ANY, PEER_NULL, PEER_ROOT};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// Larger than a status of any library.
const STATUS_WORDS: usize = 8;

/// Whether the byte count was found where we expect it in a status.
static LAYOUT_CONFIRMED: AtomicBool = AtomicBool::new(false);

/// One status of our own.
pub struct Own([u64; STATUS_WORDS]);

impl Own {
    #[inline(always)]
    pub fn new() -> Own {
        Own([0; STATUS_WORDS])
    }

    /// The program's status, or our own where it wants none.
    #[inline(always)]
    pub fn instead_of(&mut self, status: usize) -> usize {
        if status == abi::get().status_ignore { self.0.as_mut_ptr() as usize } else { status }
    }
}

/// The program's array of statuses, or `own` where it wants none.
#[inline(always)]
pub fn array_instead_of(own: &mut Vec<u64>, statuses: usize, count: i32) -> usize {
    if statuses != abi::get().status_ignore {
        return statuses;
    }
    let words = (count.max(1) as usize) * STATUS_WORDS;
    if own.len() < words {
        own.resize(words, 0);
    }
    own.as_mut_ptr() as usize
}

/// What a receive really got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub peer: i32,
    pub tag: i32,
    pub bytes: u64,
    pub cancelled: bool,
}

/// Reads the `index`th status of an array.
///
/// # Safety
/// MPI must have filled in that status.
#[inline(always)]
pub unsafe fn read(statuses: usize, index: usize) -> Arrival {
    let abi = abi::get();
    let address = statuses + index * abi.status_bytes;
    // SAFETY: by contract.
    let (source, tag, mut bytes, cancelled) = unsafe { abi.load_status(address) };
    if !LAYOUT_CONFIRMED.load(Ordering::Relaxed) {
        bytes = ask_for_bytes(address);
    }
    Arrival { peer: peer(source), tag, bytes, cancelled }
}

/// A rank argument or result in our own convention.
#[inline(always)]
pub fn peer(rank: i32) -> i32 {
    if rank >= 0 {
        return rank;
    }
    let abi = abi::get();
    if rank == abi.any_source {
        PEER_ANY
    } else if rank == abi.root {
        PEER_ROOT
    } else {
        PEER_NULL
    }
}

fn ask_for_bytes(status: usize) -> u64 {
    let mut count = 0i64;
    // SAFETY: a status that MPI has filled in; a place for a number.
    unsafe { own::MPI_Get_elements_x(status as *const c_void, abi::get().byte, &raw mut count) };
    u64::try_from(count).unwrap_or(0)
}

/// Has MPI write a known number of bytes into a status and looks whether we find it, right after `MPI_Init`.
pub fn confirm_layout() {
    if abi::get().kind == abi::Kind::Smpi {
        // Its counts are too small for the probe, and it does not take the question after them.
        LAYOUT_CONFIRMED.store(true, Ordering::Relaxed);
        return;
    }
    const PROBE: i64 = (5 << 32) + 12_345;
    let mut status = Own::new();
    let address = status.instead_of(abi::get().status_ignore);
    // SAFETY: a status of our own, larger than that of any library.
    unsafe { own::MPI_Status_set_elements_x(address as *mut c_void, abi::get().byte, PROBE) };
    // SAFETY: a status of our own that MPI has just filled in.
    let (_, _, bytes, _) = unsafe { abi::get().load_status(address) };
    LAYOUT_CONFIRMED.store(bytes == PROBE as u64, Ordering::Relaxed);
}
