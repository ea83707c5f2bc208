//! Files of other benchmarks: what they printed becomes the rows of a machine.
//!
//! [`osu()`] reads the text of the OSU micro-benchmarks (5.x to 7.x), [`imb()`] that of the Intel MPI Benchmarks (4.0 to
//! 2021.x). Both take several files at once, several tables a file, and whatever launchers print in between.
//!
//! Sizes become what one rank moves in all, as everywhere in a machine. These benchmarks print one time for a size and
//! not how sure it is, so `low_ns` and `high_ns` are that same time; and they do not say how far two ranks were apart, so
//! the place of a message is `unknown`.
//!
//! It promises that nothing is lost silently: a table that has no place in a machine, a size that is missing and lines that
//! are no part of any table are listed in `about.disturbed`; a row that cannot be right is an error with its line.

mod collectives;
mod imb;
mod osu;
mod reading;

pub use imb::imb;
pub use osu::osu;
