//! Fewer bytes while a program runs: exact sums, samples with weights, folded sequences of calls.
//!
//! [`summary`] adds up every call into classes and keeps some rows; [`sequence`] keeps the order of all calls
//! by folding what repeats. Both work in memory of a fixed size that is given to them.
//!
//! It does no I/O and allocates nothing after the start; it knows no clock, no file and no MPI handle.

pub mod sequence;
pub mod summary;
pub mod varint;
