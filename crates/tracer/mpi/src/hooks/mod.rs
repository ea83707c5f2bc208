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

use crate::call::Call;
use crate::communicators;

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
    record.comm = communicators::number_of_call(&mut call, comm);
    call.finish(&record);
}
