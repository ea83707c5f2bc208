//! The order of all calls, with loops folded.
//!
//! [`Recorder`] takes in one call after another while a program runs. Calls that repeat are folded into loops, loops into
//! loops around them, exactly: [`FoldedSequence`] gives the same calls back in the same order. [`Sharing`] stores the sequences
//! of many ranks with what they have in common stored once.
//!
//! It promises: nothing is lost (but see [`Recorder::take`]); memory of a fixed size, one block that the caller gives;
//! no allocation, no lock; a block that can be read whenever the process is killed, with at most the call
//! missing that was being recorded; readers that take any bytes. It does not know times.
//!
//! # A call is a shape and values
//!
//! The [`Signature`] is what is folded: function, call site, communicator, peer. What changes from one time to the next
//! would break loops if it were part of that, so it is given as values, up to [`VALUES_MOST`]: sizes, and tags, because programs
//! count them up. Each value of each shape has a side stream of its own, exact like the rest: a value that never changes costs
//! two words in all, one that comes again or goes up evenly a few bytes, one that follows no rule what it differs by.
//! How often a loop goes round is such a stream as well, so loops whose counts vary, even to 0, fold all the same.
//!
//! When there are more shapes than fit, peers and tags become values too; if even that is too many, calls are written out.
//!
//! # What it costs
//!
//! A call that the loop in progress expects is compared with the shape expected and counted: one store, and one for
//! each value. The search for loops costs a few multiplications for each call that is in none; where nothing is
//! found it rests four fifths of the time. Memory is [`Sizes::bytes`], 363 KB by default.
//!
//! # How the tracer uses it
//!
//! Each thread that records has a recorder of its own. Its block is a mapped file of [`Sizes::bytes`] bytes, new and so
//! zeroed; the words are seen as atomics because the order of stores must stay, not because anyone else looks:
//!
//! - after each call [`Recorder::call`], with peers as ranks of the communicator (absolute: sharing finds what is relative);
//! - when that gives true, [`Recorder::take`] at the next good moment, appending the bytes to the thread's segment. There is
//!   time for some thousand calls; if they are never taken, the sequence ends there, and lost calls are counted;
//! - at the end, nothing: the block stays as it is.
//!
//! # How the sealer uses it
//!
//! All bytes that were handed out, in their order, and the block are given to [`FoldedSequence::read`]. Bytes that had been
//! appended when the process was killed, but not been ticked off in the block, are known by their place and not read twice.
//! Then local numbers are made numbers of the run ([`FoldedSequence::map_signatures`]), and each rank is added to a [`Sharing`].
//!
//! ```
//! use kizami_sequence::{FoldedSequence, CommPosition, Recorder, Shared, Sharing, Signature, Sizes};
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! # fn main() -> Result<(), kizami_sequence::Damage> {
//! let sizes = Sizes::default();
//! let mut sharing = Sharing::new();
//! let place = |rank: u32| Some(CommPosition { rank, size: 64 });
//! for rank in 0..64u32 {
//!     // The tracer: memory that is a mapped file, and a segment to append to.
//!     let memory: Vec<AtomicU64> = (0..sizes.bytes() / 8).map(|_| AtomicU64::new(0)).collect();
//!     let mut segment = Vec::new();
//!     let mut buffer = [0; 8192];
//!     let mut recorder = Recorder::start(&memory, sizes).expect("memory of the right size");
//!     for iteration in 0..1000u64 {
//!         for step in 0..6 {
//!             let peer = (rank ^ 1 << step) as i32;
//!             let send = Signature { op: 77, site: 1, peer, ..Signature::default() };
//!             if recorder.call(&send, &[8 * iteration]) {
//!                 recorder.take(&mut buffer, |bytes| segment.extend_from_slice(bytes));
//!             }
//!         }
//!     }
//!
//!     // The sealer: the same bytes, from files.
//!     let block: Vec<u8> = memory.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
//!     let mut folded = FoldedSequence::read(&segment, &block)?;
//!     folded.map_signatures(|signature| signature.site += 100)?;
//!     assert_eq!(folded.totals()?.iter().sum::<u64>(), 6000);
//!     sharing.add(&folded, |_| place(rank));
//! }
//! let bytes = sharing.finish();
//! assert!(bytes.len() < 200, "six thousand calls of each of 64 ranks, all exchanging with others");
//!
//! // Whoever reads the trace.
//! let shared = Shared::open(&bytes)?;
//! assert_eq!((shared.ranks(), shared.groups()), (64, 1));
//! let folded = shared.folded(5, |_| place(5))?;
//! let last = folded.calls().last().expect("a call")?;
//! assert_eq!((last.signature.site, last.signature.peer, last.values()), (101, 5 ^ 32, &[8 * 999][..]));
//! # Ok(())
//! # }
//! ```

mod block;
mod column;
mod dictionary;
mod fold;
mod folded;
mod lane;
mod literals;
mod operation;
mod read;
mod record;
mod recorder;
mod share;
mod signature;
mod window;

pub use block::Sizes;
pub use column::CommPosition;
pub use folded::{Call, Calls, FoldedSequence, Shape};
pub use read::Damage;
pub use recorder::Recorder;
pub use share::{Shared, Sharing};
pub use signature::{Signature, VALUES_MOST};

#[cfg(test)]
#[path = "../tests/sequence/inside.rs"]
mod tests;
