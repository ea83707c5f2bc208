//! Exact sums of all calls by class, and a weighted sample of them.
//!
//! A [`Reducer`] receives every call of one thread. Its whole state is one [`Block`] of [`BLOCK_BYTES`] (510 KB), however
//! long the run. Who maps that memory from a file has all of it when the process is killed. Adding a call takes no
//! lock, allocates nothing and cannot panic.
//!
//! # What is known
//!
//! - **Sums** (calls, time, bytes out and in), exact, for each *class*: call site, function, bits of the number of bytes,
//!   and decade of the duration ([`DECADES`]). The first three are a *kind*. With more than 400 kinds, further ones are
//!   counted by function (48 of them; behind that, all together); [`Missing`] says how many calls that were.
//! - **Gaps**: computation between calls, exact, for each pair of kinds that follow each other (448 of them; behind
//!   that, for each later kind).
//! - **Quantiles** of each kind, off by at most 1 %, from a [`Sketch`] of its durations.
//! - **Messages** and bytes with each of 448 (communicator, peer), exact, and the rest together.
//! - **Sums over time**: every so many calls a [`Mark`] for the thread and a [`Slice`] for each kind.
//!   They give the sums of any range of time: exact inside, and divided at its two ends, with a bound on the error.
//! - **Rows**, whole, each with its probability to be kept: any sum over all rows can be estimated from them, without
//!   bias and with a standard error.
//!
//! # Which rows are kept
//!
//! - Of each class those with the smallest numbers (see [`sample`]), up to [`CLASS_ROWS`], as many as were wished for.
//! - All with a number below a common threshold. Since both ends of a message have the same number, and so have all
//!   ranks of a collective, these are there on all ranks that took part.
//! - All of a class that is rare: up to [`RARE_CALLS`] calls in the run.
//! - The [`SLOWEST`] calls so far of each kind, so those of each call site.
//! - All calls above 10 ms, up to [`LONG_ROWS`] of a class in an epoch. That holds for every seed, because numbers do
//!   not enter into it: a class of long calls gives rows up only if it has more than that. A program with
//!   10^5 calls above 10 ms at one place keeps a sample of them.
//!
//! The last three, and chance in the second, are how the wish can be exceeded: by at most 8 rows for each of up to 1,023 classes
//! once in a run; 4 for each kind, and a few more as slower ones come; 256 of long calls for each class of them and epoch (an epoch
//! is 1.9 million calls at a thousandth); and a few per cent of the rows that all ranks keep.
//! If tables of rows are full of such rows, they are written out sooner.
//!
//! # How the tracer uses it
//!
//! One block for each thread that records, in a shared mapping of a file of [`BLOCK_BYTES`] zeros, through
//! [`Block::at`]. [`Reducer::add`] is called with every call instead of writing its record; the closure packs
//! the record (one or two slots, zeros behind) and runs only if the row is kept. When `add` gives true, [`Reducer::take`] is called
//! until it gives 0, and each part is appended to the segment before the next is asked for. Nothing has to be done at the end: what was not
//! handed over is read from the block.
//!
//! A call that is no message has `to` and `from` [`NO_PEER`]. For messages the caller counts how many with the same communicator,
//! ranks and tag came before, on both sides, or holds a [`sample::Series`] of each such kind; collectives of a communicator are
//! a series as well, and all else is one of its own. The seed must be the same on all ranks.
//!
//! # How a reader uses it
//!
//! [`read()`] takes the block's bytes and the parts in the order they were appended, and gives a [`State`]. Any bytes can be given. Site and communicator
//! numbers are those of the thread.
//! To reduce a full trace afterwards, feed its rows, thread by thread, to a reducer on [`Block::boxed`].
//!
//! ```
//! use kizami_summary::{
//!     Block, PART_BYTES, Reducer, Row, Settings, sample, read,
//! };
//!
//! // 0.1 % of what full records of 64 bytes would take; ticks are nanoseconds.
//! let settings = Settings::fraction(0.001, 64, 1_000_000_000);
//! let mut block = Block::boxed(); // the tracer: unsafe { Block::at(mapped_file) }
//! let mut reducer = Reducer::start(&mut block, &settings);
//! let mut segment: Vec<Vec<u8>> = Vec::new();
//! let mut buffer = [0; PART_BYTES];
//!
//! let (me, partner, tag) = (3, 4, 17);
//! let mut series = sample::Series::of_messages(1, 0xc0ffee, me, partner as u32, tag);
//! for before in 0..100_000 {
//!     let row = Row {
//!         site: 1,
//!         op: 42,
//!         communicator: 0,
//!         to: partner,
//!         from: kizami_summary::NO_PEER,
//!         bytes_out: 1_024,
//!         bytes_in: 0,
//!         start_ticks: 800_000 * before,
//!         duration_ticks: 20_000 + before % 5_000,
//!         before_ticks: Some(0),
//!         number: series.next_number(),
//!     };
//!     let due = reducer.add(&row, || [row.start_ticks, row.duration_ticks, 0, 0, 0, 0, 0, 0]);
//!     while due {
//!         match reducer.take(&mut buffer) {
//!             0 => break,
//!             length => segment.push(buffer[..length].to_vec()),
//!         }
//!     }
//! }
//!
//! let state = read(block.as_bytes(), segment.iter().map(Vec::as_slice))?;
//! let sums = state.kinds[0].sums();
//! assert_eq!((sums.calls, sums.bytes_out), (100_000, 1_024 * 100_000));
//!
//! let median = state.kinds[0].sketch.quantile(0.5).unwrap();
//! assert!((median / 22_499.5 - 1.0).abs() < 0.011);
//!
//! // Each row that was kept stands for 1 / probability rows.
//! let calls: f64 = state.rows.iter().map(|row| 1.0 / row.probability).sum();
//! assert!((calls / 100_000.0 - 1.0).abs() < 0.3);
//! # Ok::<(), kizami_summary::Unreadable>(())
//! ```
//!
//! # When the process dies
//!
//! Every store leaves a state that can be read, and all of a call's stores are done before its thread calls anything else. A call that was being added may be in some sums and not in others: each
//! is off by at most that call. A row is there as a whole or not. A part that was handed over but perhaps not stored is still in the block; if it
//! was stored, it is numbered, and counts once.

mod bins;
mod block;
mod gaps;
mod keep;
pub mod paper;
mod read;
mod reducer;
pub mod sample;
mod settings;
mod slices;
mod state;
mod take;
mod writer;

pub use block::{BLOCK_BYTES, Block, DECADES, LONG_DECADE, PAYLOAD_WORDS, SLOWEST, Sums};
pub use keep::{CLASS_ROWS, LONG_ROWS, RARE_CALLS};
pub use read::{Unreadable, calls, read};
pub use reducer::{NO_PEER, Reducer, Row};
pub use settings::{Bytes, Settings};
pub use state::{Gap, KeptRow, Kind, Mark, Missing, Peer, PeerSums, Sketch, Slice, State, total};
pub use take::PART_BYTES;
