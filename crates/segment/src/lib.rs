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
//! then        chunks: [chunk header slot][record slots ...]
//! ```
//!
//! A slot is 32 bytes, four little-endian words. A plain call takes one slot ([`record`]). A record is
//! committed by storing its first word last: file space is zero before, the first word of a record is never
//! zero, so a reader believes a record exactly when it is whole. A chunk that is full gets a checksum once
//! it is closed, so rot on the disk is found; the chunk being written when the process died has none.
//! Space is allocated before it is mapped, because a hole on a full disk would kill the process by `SIGBUS`.
//!
//! # What it does not do
//!
//! No compression, no clock model, no translation of ranks: sealing does that, outside the traced process.
//! The reader takes any bytes at all and never panics; what it cannot believe, it reports as damage.

pub mod cursor;
pub mod definition;
pub mod file;
pub mod header;
pub mod read;
pub mod record;

pub use cursor::{Cursor, Slot};
pub use definition::Definition;
pub use file::{Chunk, SegmentFile};
pub use header::{ClockReading, Header, HeaderView};
pub use read::{Damage, ReadError, Records, Segment};
pub use record::{Completion, Record};

/// Bytes of one slot.
pub const SLOT_BYTES: usize = 32;
/// Bytes before the first chunk.
pub const HEADER_BYTES: usize = 4096;
/// First word of a segment file: "KZSEG" and the version of the layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"KZSEG\0\x01\0");
/// First word of a chunk header, its high half.
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"KZCH");
