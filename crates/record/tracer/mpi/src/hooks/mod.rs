//! What calls mean: one file for each kind of call.
//!
//! A hook runs after the real function has returned and its end was read off the clock, so what it costs is
//! never part of the call's own time. It takes the [`Call`], fills in the record, and stores it. [`entry`] alone comes
//! before the real function, for calls that never return.

pub mod collective;
pub mod communicator;
pub mod completion;
pub mod entry;
pub mod environment;
pub mod message;
pub mod object;

use crate::abi;
use crate::call::Call;
use crate::communicators::{self, Communicator};
use kizami_records::NO_COMM;

/// A call of which only the time is kept.
#[inline(never)]
pub fn timed(mut call: Call) {
    let record = call.record();
    call.finish(&record);
}

/// A call of which the time and the communicator are kept.
#[inline(always)]
pub fn on_communicator(mut call: Call, comm: usize) {
    let mut record = call.record();
    record.comm = communicator_number(&mut call, comm);
    call.finish(&record);
}

/// The communicator of a call. If the call failed, its handle may be no handle at all, and MPI is not asked.
#[inline(always)]
fn communicator_of(call: &mut Call, handle: usize) -> Communicator {
    if call.failed() {
        return communicators::NONE;
    }
    let handle = abi::get().handle(handle);
    communicators::of(&mut call.thread().communicators, handle)
}

/// Number of the communicator of a call, [`NO_COMM`] if it is not known.
#[inline(always)]
fn communicator_number(call: &mut Call, handle: usize) -> u32 {
    if call.failed() {
        return NO_COMM;
    }
    let handle = abi::get().handle(handle);
    communicators::number_of(&mut call.thread().communicators, handle)
}
