//! The first page of a segment: who wrote it, where, on which clock, and how it ended.

use crate::{HEADER_BYTES, MAGIC, ReadError, kind_of, ticks_of};
use kizami_model::Ending;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64};

/// Rank of a process that has not learned its rank.
pub const RANK_UNKNOWN: u32 = u32::MAX;
/// Thread index of a process's definition segment.
pub const DEFINITIONS_THREAD: u32 = u32::MAX;

/// A moment read on two clocks.
#[repr(C)]
#[derive(Debug, Default)]
pub struct ClockPair {
    /// The process's own clock.
    pub ticks: AtomicU64,
    /// `CLOCK_MONOTONIC` at that moment.
    pub monotonic_ns: AtomicU64,
}

/// What a call was given, noted as it begins. Functions that cannot wait for others note the call site alone, so what
/// else stands here is theirs whose function has it, and of earlier calls otherwise.
#[repr(C)]
#[derive(Debug, Default)]
pub struct CallNote {
    /// Local number of the call site.
    pub site: AtomicU32,
    /// How many requests.
    pub requests: AtomicU32,
    /// Peer or root by its rank in the communicator, or a value below zero as records have them.
    pub peer: AtomicI32,
    /// Tag, as the program gave it; of a lock 1 if it is exclusive.
    pub tag: AtomicI32,
    /// Source of a send-receive.
    pub recv_peer: AtomicI32,
    /// Tag of its receiving half.
    pub recv_tag: AtomicI32,
    /// The communicator, window or file as the MPI library names it.
    pub handle: AtomicU64,
}

/// The page as it lies in the file. Everything is atomic because it is shared with readers and survives its
/// writer; strings are UTF-8, filled up with zeros.
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// Fingerprint of the function table whose numbers are used.
    pub table: AtomicU64,
    /// Process id.
    pub pid: AtomicU32,
    /// Thread index, or [`DEFINITIONS_THREAD`].
    pub thread: AtomicU32,
    /// Rank in `MPI_COMM_WORLD`, [`RANK_UNKNOWN`] before `MPI_Init`.
    pub rank: AtomicU32,
    /// Size of `MPI_COMM_WORLD`, 0 before `MPI_Init`.
    pub world_size: AtomicU32,
    /// Which world, if processes were spawned: the same number on all its ranks; 0 for the first.
    pub world_key: AtomicU64,
    /// An [`Ending`].
    pub ending: AtomicU8,
    /// 1 if `ticks` are the CPU's time-stamp counter, 0 if nanoseconds of `CLOCK_MONOTONIC`.
    pub clock_is_tsc: AtomicU8,
    /// Code given to `MPI_Abort`.
    pub abort_code: AtomicI32,
    /// Ticks that records count from.
    pub base_ticks: AtomicU64,
    /// Bytes of a chunk.
    pub chunk_bytes: AtomicU32,
    /// Chunks of the window.
    pub window_chunks: AtomicU32,
    /// When the segment was made.
    pub first_reading: ClockPair,
    /// When the clock was last read, at the latest at the last change of chunk.
    pub last_reading: ClockPair,
    /// `CLOCK_REALTIME` at the first reading.
    pub realtime_ns: AtomicU64,
    /// Measured cost of recording one plain call, in 1/1024 tick.
    pub call_cost: AtomicU64,
    /// Calls that happened but could not be stored.
    pub lost_calls: AtomicU64,
    /// First error number that made calls be lost.
    pub lost_errno: AtomicU32,
    /// Which MPI's conventions: see the tracer's list.
    pub abi: AtomicU32,
    /// Op and start of the call being made; 0 between calls. (Of the last one made, in segments of older versions.)
    pub in_call: AtomicU64,
    /// Host name.
    pub host: [AtomicU8; 64],
    /// Identity of the boot of that host: clocks are comparable within it.
    pub boot_id: [AtomicU8; 40],
    /// What `MPI_Get_library_version` says, its first line.
    pub library: [AtomicU8; 256],
    /// Path of the executable.
    pub executable: [AtomicU8; 1024],
    /// What the call being made was given.
    pub in_call_note: CallNote,
    /// Which launch the process belongs to: the same number for all that were started together; 0 if unknown.
    pub launch: AtomicU64,
    /// The system's number of the thread that made the segment; 0 in segments of older versions.
    pub os_thread: AtomicU32,
}

const _: () = assert!(size_of::<Header>() <= HEADER_BYTES);

/// Stores a string into one of the header's fields, cut to what fits.
pub fn store_text(field: &[AtomicU8], text: &str) {
    let mut end = text.len().min(field.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let bytes = text.as_bytes()[..end].iter().copied().chain(std::iter::repeat(0));
    for (cell, byte) in field.iter().zip(bytes) {
        cell.store(byte, std::sync::atomic::Ordering::Relaxed);
    }
}

/// What a call was given, as a reader sees it: see [`CallNote`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallNoteView {
    /// Local number of the call site.
    pub site: u32,
    /// How many requests.
    pub requests: u32,
    /// Peer or root.
    pub peer: i32,
    /// Tag.
    pub tag: i32,
    /// Source of a send-receive.
    pub recv_peer: i32,
    /// Tag of its receiving half.
    pub recv_tag: i32,
    /// The communicator, window or file.
    pub handle: u64,
}

/// A moment read on two clocks, as a reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The process's own clock.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC` of the host.
    pub monotonic_ns: u64,
}

/// The header as a reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderView {
    /// Process id.
    pub pid: u32,
    /// Thread index; `None` for the definition segment.
    pub thread: Option<u32>,
    /// Rank, if it was known.
    pub rank: Option<u32>,
    /// Size of the world, 0 if not known.
    pub world_size: u32,
    /// Which world.
    pub world_key: u64,
    /// How the process ended.
    pub ending: Ending,
    /// Whether ticks are the time-stamp counter.
    pub clock_is_tsc: bool,
    /// Code given to `MPI_Abort`.
    pub abort_code: i32,
    /// Ticks that records count from.
    pub base_ticks: u64,
    /// Bytes of a chunk.
    pub chunk_bytes: usize,
    /// Chunks of the window.
    pub window_chunks: usize,
    /// First reading of both clocks.
    pub first_reading: ClockReading,
    /// Last reading of both clocks.
    pub last_reading: ClockReading,
    /// Wall-clock time of the first reading, nanoseconds since 1970.
    pub realtime_ns: u64,
    /// Cost of recording one plain call, in 1/1024 tick.
    pub call_cost: u64,
    /// Calls lost.
    pub lost_calls: u64,
    /// Why.
    pub lost_errno: u32,
    /// Which MPI's conventions.
    pub abi: u32,
    /// Op of the call being made when the segment ended, 0 if there was none; in segments of older versions it may be the
    /// last one made.
    pub in_call_op: u16,
    /// Its start in ticks since base.
    pub in_call_start_ticks: u64,
    /// What it was given.
    pub in_call_note: CallNoteView,
    /// Which launch the process belongs to, 0 if unknown.
    pub launch: u64,
    /// The system's number of the thread that made the segment, 0 if unknown.
    pub os_thread: u32,
    /// Host name.
    pub host: String,
    /// Boot identity of the host.
    pub boot_id: String,
    /// MPI library.
    pub library: String,
    /// Executable.
    pub executable: String,
}

impl HeaderView {
    /// Reads the header from a segment's first bytes.
    pub fn read(bytes: &[u8]) -> Result<HeaderView, ReadError> {
        let page = bytes.get(..HEADER_BYTES).ok_or(ReadError::TooShort { bytes: bytes.len() })?;
        // The page is copied so that alignment and concurrent writers do not matter.
        let u64_at =
            |offset: usize| u64::from_le_bytes(page[offset..offset + 8].try_into().expect("8 bytes"));
        let u32_at =
            |offset: usize| u32::from_le_bytes(page[offset..offset + 4].try_into().expect("4 bytes"));
        let text_at = |offset: usize, length: usize| {
            let field = &page[offset..offset + length];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(length);
            String::from_utf8_lossy(&field[..end]).into_owned()
        };
        macro_rules! at {
            ($field:ident) => {
                std::mem::offset_of!(Header, $field)
            };
        }
        if u64_at(at!(magic)) != MAGIC {
            return Err(ReadError::NotASegment);
        }
        if u64_at(at!(table)) != kizami_model::function::fingerprint() {
            return Err(ReadError::OtherVersion);
        }
        let reading = |offset| ClockReading { ticks: u64_at(offset), monotonic_ns: u64_at(offset + 8) };
        let in_call = u64_at(at!(in_call));
        let note = at!(in_call_note);
        macro_rules! noted {
            ($field:ident) => {
                u32_at(note + std::mem::offset_of!(CallNote, $field))
            };
        }
        Ok(HeaderView {
            pid: u32_at(at!(pid)),
            thread: Some(u32_at(at!(thread))).filter(|thread| *thread != DEFINITIONS_THREAD),
            rank: Some(u32_at(at!(rank))).filter(|rank| *rank != RANK_UNKNOWN),
            world_size: u32_at(at!(world_size)),
            world_key: u64_at(at!(world_key)),
            ending: Ending::from_number(page[at!(ending)]).unwrap_or(Ending::Vanished),
            clock_is_tsc: page[at!(clock_is_tsc)] != 0,
            abort_code: u32_at(at!(abort_code)) as i32,
            base_ticks: u64_at(at!(base_ticks)),
            chunk_bytes: u32_at(at!(chunk_bytes)) as usize,
            window_chunks: u32_at(at!(window_chunks)) as usize,
            first_reading: reading(at!(first_reading)),
            last_reading: reading(at!(last_reading)),
            realtime_ns: u64_at(at!(realtime_ns)),
            call_cost: u64_at(at!(call_cost)),
            lost_calls: u64_at(at!(lost_calls)),
            lost_errno: u32_at(at!(lost_errno)),
            abi: u32_at(at!(abi)),
            in_call_op: kind_of(in_call),
            in_call_start_ticks: ticks_of(in_call),
            in_call_note: CallNoteView {
                site: noted!(site),
                requests: noted!(requests),
                peer: noted!(peer) as i32,
                tag: noted!(tag) as i32,
                recv_peer: noted!(recv_peer) as i32,
                recv_tag: noted!(recv_tag) as i32,
                handle: u64_at(note + std::mem::offset_of!(CallNote, handle)),
            },
            launch: u64_at(at!(launch)),
            os_thread: u32_at(at!(os_thread)),
            host: text_at(at!(host), 64),
            boot_id: text_at(at!(boot_id), 40),
            library: text_at(at!(library), 256),
            executable: text_at(at!(executable), 1024),
        })
    }
}
