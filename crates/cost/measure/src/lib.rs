//! The rank that measures what MPI calls cost, under any launcher.
//!
//! An executable that calls [`run`] is started by `mpirun` as any MPI program. Rank 0 reads commands from its input,
//! a line each, and writes answers to its output, each beginning with `kizami: ` so that whatever else is written
//! there can be distinguished:
//!
//! ```text
//! kizami: here RANKS NODES RANKS_PER_NODE FIRST_HOSTNAME | LIBRARY VERSION
//!
//! measure OP PATTERN BYTES MOST_REPETITIONS SECONDS TOLERANCE
//! kizami: row OP PATTERN BYTES FIRST_NS COUNT SPAN_NS...
//! kizami: cannot OP PATTERN BYTES REASON
//!
//! quit
//! ```
//!
//! - `RANKS_PER_NODE` is the largest number of ranks on one node.
//! - A span is the latest end minus the latest start over all ranks, after a barrier. Spans come in the order they
//!   were measured. If there are more than 200, `COUNT` is followed by a field `200` and by that many evenly chosen
//!   ones, from the shortest to the longest.
//! - `FIRST_NS` is the span of the first call of `OP` in this process, on the world; `-` if it
//!   was called before.
//! - Two calls warm up; then it is repeated until the 95 % interval of the median is within `TOLERANCE` of it, or the
//!   repetitions or seconds are used up. Five are made at least, unless one takes longer than `SECONDS`.
//! - `BYTES` is what one rank moves in all, the larger of what it gives and what it gets. A part is never less than
//!   one element. For `noise` it is nanoseconds of computation.
//! - The end of the input means `quit`, too, but not every launcher hands it on (`prterun` of Open MPI 5 does not), so
//!   the requesting program should send `quit`.
//! - A line that is no command is answered by `kizami: misunderstood LINE`.
//!
//! Operations are those of [`OPERATIONS`]. The same is written in C for SimGrid's simulator, which cannot load MPI at
//! run time: `smpi/measure.c`.
//!
//! It promises that ranks on one host are compared by one clock, and that nothing is allocated inside a span. It
//! does not fit, judge or keep what it measures, and clocks of different hosts are compared only once, at the start.

mod answers;
mod buffers;
mod clock;
mod collectives;
mod command;
mod error;
mod hosts;
mod messages;
mod noise;
mod operation;
mod rank;
mod sampling;
mod serve;
mod subject;
mod windows;

pub use error::MeasureError;
pub use operation::OPERATIONS;
pub use serve::run;
