//! The raw segment: what a traced process leaves behind, whatever happens to it.
//!
//! A segment is a file mapped shared into the process that writes it. What was stored there survives the
//! process: `SIGKILL` loses nothing that was committed, at no cost per record. One thread writes one
//! segment; a process also writes one for its definitions (communicators, call sites, objects).
//!
//! # Layout
//!
//! ```text
//! page 0      Header: who, where, which MPI, clock readings, how it ended
//! the window  a few chunks, mapped, of which one is being filled
//! the rest    chunks that were full and have been drained, in order, each with its checksum
//! ```
//!
//! A chunk is [chunk header slot][record slots ...]; its header gives its number in the order of filling.
//!
//! A slot is 32 bytes, four little-endian words. A record takes one or more; its first word
//! has its kind and start ([`head`]). A record is
//! committed by storing its first word last, after the slot behind it was made to begin with zero; the first
//! word of a record is never zero, so a reader believes a record exactly when it is whole. A chunk gets a checksum when it is drained, so
//! rot on the disk is found; a chunk that lies both in the window and behind it counts once.
//!
//! Streams of very short records fill their chunks by words instead ([`WordCursor`]), in the same way.
//!
//! # What it does not do
//!
//! It does not know what records say: that is for `kizami-records`. No compression, no clock model, no translation of
//! ranks: sealing does that, outside the traced process.
//! The reader takes any bytes at all and never panics; what it cannot believe, it reports as damage.

pub mod append;
pub mod block;
pub mod cursor;
mod descriptor;
pub mod file;
pub mod header;
pub mod headroom;
pub mod named;
pub mod read;
mod slot;
mod sync;
mod words;

pub use append::Appender;
pub use cursor::{Cursor, Slot};
pub use descriptor::out_of_the_way;
pub use file::{SegmentFile, WindowShape};
pub use header::{CallNote, CallNoteView, ClockReading, Header, HeaderView};
pub use named::NamedHeader;
pub use read::{Committed, Damage, ReadError, Segment};
pub use slot::{PAD, head, kind_of, slot_words, ticks_of};
pub use words::{WordCursor, word_at};

/// Bytes of one slot.
pub const SLOT_BYTES: usize = 32;
/// Bytes before the first chunk.
pub const HEADER_BYTES: usize = 4096;
/// First word of a segment file: "KZSEG" and the version of the layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"KZSEG\0\x01\0");
/// First word of a chunk header, its high half.
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"KZCH");
