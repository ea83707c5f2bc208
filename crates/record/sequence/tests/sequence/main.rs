//! What the sequence promises: all calls in their order, in few bytes, whatever the program.

mod programs;
mod round_trip;

use kizami_sequence::{FoldedSequence, Recorder, Signature, Sizes};
