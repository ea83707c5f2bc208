//! The file an index lies in: packed rows, cells, and the tables that say where everything is.
//!
//! ```text
//! head | packed rows | cells of all levels | ranks | blocks | kinds
//! ```
//!
//! It is written under another name and never changed once it has its own.

use super::block::BlockHead;
use super::pyramid::{Cell, Division};
use super::{Kind, RankRow};
use bytemuck::{Pod, Zeroable};
use kizami_graph::scratch_folder;
use kizami_store::{StoreError, Trace};
use memmap2::{Mmap, MmapOptions};
use std::fs::{File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Changes whenever anything in the file or its meaning does.
const VERSION: u64 = 1;
const MAGIC: u64 = u64::from_le_bytes(*b"kizview\0");
/// Name of the file that is kept.
pub(super) const NAME: &str = "view.bin";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Head {
    magic: u64,
    version: u64,
    /// Of the tables it was made from.
    made_from: u64,
    pub begin_ns: i64,
    pub end_ns: i64,
    pub rows: u64,
    finest_bits: u64,
    bins: u64,
    levels: u64,
    data_bytes: u64,
    ranks: u64,
    blocks: u64,
    kinds: u64,
    /// Of the head with 0 here, and of the tables.
    crc32: u64,
}

const HEAD_BYTES: u64 = size_of::<Head>() as u64;

/// The tables of an index.
pub(super) struct Sections<'a> {
    pub ranks: &'a [RankRow],
    pub blocks: &'a [BlockHead],
    pub kinds: &'a [Kind],
}

impl Head {
    pub(super) fn new(trace: &Trace, division: Division, end_ns: i64, rows: u64, data_bytes: u64) -> Head {
        Head {
            magic: MAGIC,
            version: VERSION,
            made_from: made_from(trace),
            begin_ns: division.begin_ns,
            end_ns,
            rows,
            finest_bits: u64::from(division.finest_bits),
            bins: division.bins,
            levels: u64::from(division.levels),
            data_bytes,
            ..Head::default()
        }
    }

    pub(super) fn division(&self) -> Division {
        Division {
            begin_ns: self.begin_ns,
            finest_bits: self.finest_bits as u32,
            bins: self.bins,
            levels: self.levels as u32,
        }
    }

    /// From the first moment to the last.
    pub(super) fn run(&self) -> Range<i64> {
        self.begin_ns..self.end_ns
    }

    /// Where cells begin.
    fn cells_at(&self) -> u64 {
        HEAD_BYTES + self.data_bytes
    }

    fn tables_at(&self, ranks: u64) -> u64 {
        self.cells_at() + self.division().cells(ranks) * size_of::<Cell>() as u64
    }

    fn checksum(&self, tables: &[&[u8]]) -> u64 {
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(bytemuck::bytes_of(&Head { crc32: 0, ..*self }));
        tables.iter().for_each(|table| checksum.update(table));
        u64::from(checksum.finalize())
    }
}

/// An index that is being written. Without [`Unfinished::finish`] nothing is left of it.
pub(super) struct Unfinished {
    file: File,
    path: PathBuf,
    /// Whether it may take its place in the trace.
    keep: bool,
}

impl Unfinished {
    pub(super) fn create(trace: &Trace, name: &str) -> Result<Unfinished, StoreError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let folder = scratch_folder(trace);
        let keep = folder.starts_with(trace.path()) && name == NAME;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{name}.{}.{number}.tmp", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        Ok(Unfinished { file: file.map_err(|error| StoreError::write(&path, error))?, path, keep })
    }

    fn put(&self, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        self.file.write_all_at(bytes, at).map_err(|error| StoreError::write(&self.path, error))
    }

    /// Writes packed rows at an offset.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), StoreError> {
        self.put(HEAD_BYTES + offset, bytes)
    }

    /// Writes cells from the one with this number on.
    pub(super) fn write_cells(&self, head: Head, first: u64, cells: &[Cell]) -> Result<(), StoreError> {
        self.put(head.cells_at() + first * size_of::<Cell>() as u64, bytemuck::cast_slice(cells))
    }

    /// Writes the tables and, with their sizes, the head.
    pub(super) fn write_tables(&self, head: Head, sections: &Sections<'_>) -> Result<(), StoreError> {
        let (ranks, blocks) = (sections.ranks.len() as u64, sections.blocks.len() as u64);
        let mut head = Head { ranks, blocks, kinds: sections.kinds.len() as u64, ..head };
        let tables: [&[u8]; 3] = [
            bytemuck::cast_slice(sections.ranks),
            bytemuck::cast_slice(sections.blocks),
            bytemuck::cast_slice(sections.kinds),
        ];
        head.crc32 = head.checksum(&tables);
        let mut at = head.tables_at(ranks);
        for table in tables {
            self.put(at, table)?;
            at += table.len() as u64;
        }
        self.put(0, bytemuck::bytes_of(&head))
    }

    /// Packed rows, to be read.
    pub(super) fn map_data(&self) -> Result<Mmap, StoreError> {
        // SAFETY: nobody else knows the name of the file; what is written from now on lies behind packed rows.
        let map = unsafe { MmapOptions::new().offset(HEAD_BYTES).map(&self.file) };
        map.map_err(StoreError::file("map", &self.path))
    }

    /// Maps what was written; it takes its place in the trace if it can.
    pub(super) fn finish(self, name: &str) -> Result<Mapped, StoreError> {
        // SAFETY: the file is never changed from now on.
        let map = unsafe { Mmap::map(&self.file) }.map_err(StoreError::file("map", &self.path))?;
        let mapped = Mapped::of(map);
        let mapped = mapped.ok_or_else(|| StoreError::damaged(&self.path, "it is not as it was written"))?;
        if self.keep {
            // It can be used all the same if that fails.
            std::fs::rename(&self.path, self.path.with_file_name(name)).unwrap_or(());
        }
        Ok(mapped)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Not there any more if it was finished.
        std::fs::remove_file(&self.path).unwrap_or(());
    }
}

/// An index that can be used.
#[derive(Debug)]
pub(super) struct Mapped {
    map: Mmap,
    head: Head,
    cells: Range<usize>,
    ranks: Range<usize>,
    blocks: Range<usize>,
    kinds: Range<usize>,
}

impl Mapped {
    /// The one that was kept for a trace.
    pub(super) fn load(trace: &Trace, name: &str) -> Option<Mapped> {
        let file = File::open(trace.path().join("derived").join(name)).ok()?;
        // SAFETY: files of this name are never changed, only replaced by others.
        let mapped = Mapped::of(unsafe { Mmap::map(&file) }.ok()?)?;
        (mapped.head.made_from == made_from(trace)).then_some(mapped)
    }

    /// Checks that everything is where the head says, and the tables against their checksum.
    fn of(map: Mmap) -> Option<Mapped> {
        let head: Head = bytemuck::pod_read_unaligned(map.get(..size_of::<Head>())?);
        if (head.magic, head.version) != (MAGIC, VERSION) || head.levels > 64 || head.finest_bits > 62 {
            return None;
        }
        let bounded = [head.ranks, head.blocks, head.kinds, head.bins, head.data_bytes];
        if bounded.iter().any(|number| *number > map.len() as u64) {
            return None;
        }
        let mut at = usize::try_from(head.cells_at()).ok()?;
        let mut next = |count: u64, size: usize| {
            let bytes = usize::try_from(count).ok()?.checked_mul(size)?;
            let range = at..at.checked_add(bytes)?;
            at = range.end;
            (range.end <= map.len()).then_some(range)
        };
        let cells = next(head.division().cells(head.ranks), size_of::<Cell>())?;
        let ranks = next(head.ranks, size_of::<RankRow>())?;
        let blocks = next(head.blocks, size_of::<BlockHead>())?;
        let kinds = next(head.kinds, size_of::<Kind>())?;
        let tables = [&map[ranks.clone()], &map[blocks.clone()], &map[kinds.clone()]];
        let aligned = cells.start.is_multiple_of(8) && kinds.end == map.len();
        if !aligned || head.checksum(&tables) != head.crc32 {
            return None;
        }
        Some(Mapped { map, head, cells, ranks, blocks, kinds })
    }

    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    pub(super) fn data(&self) -> &[u8] {
        &self.map[HEAD_BYTES as usize..self.cells.start]
    }

    pub(super) fn cells(&self) -> &[Cell] {
        bytemuck::cast_slice(&self.map[self.cells.clone()])
    }

    pub(super) fn ranks(&self) -> &[RankRow] {
        bytemuck::cast_slice(&self.map[self.ranks.clone()])
    }

    pub(super) fn blocks(&self) -> &[BlockHead] {
        bytemuck::cast_slice(&self.map[self.blocks.clone()])
    }

    pub(super) fn kinds(&self) -> &[Kind] {
        bytemuck::cast_slice(&self.map[self.kinds.clone()])
    }
}

/// Tells tables apart by their checksums.
pub(crate) fn made_from(trace: &Trace) -> u64 {
    let mut hash = rustc_hash::FxHasher::default();
    for file in &trace.run().files {
        (file.path.as_str(), file.bytes, file.crc32).hash(&mut hash);
    }
    kizami_model::function::fingerprint().hash(&mut hash);
    hash.finish()
}
