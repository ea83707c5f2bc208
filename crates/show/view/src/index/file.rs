//! The file an index lies in: packed rows, cells, and the tables that say where everything is.
//!
//! ```text
//! head | packed rows | cells of all levels | ranks | blocks | kinds
//! ```
//!
//! All of it is summed up when a kept file is mapped, and what the tables say is held against each other and the trace
//! (`check`).

use super::block::BlockHead;
use super::kind::{Kind, RankRow};
use super::pyramid::{Cell, Division};
use bytemuck::{Pod, Zeroable};
use kizami_trace::derived::{Derived, Draft, HEAD_BYTES, Kept, Numbers, Scratch};
use kizami_trace::{Trace, TraceError};
use memmap2::Mmap;
use std::ops::Range;

/// Changes whenever anything in the file or its meaning does.
const VERSION: u32 = 3;
/// Name of the file that is kept.
const NAME: &str = "view.bin";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Head {
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
}

/// The tables of an index.
pub(super) struct Sections<'a> {
    pub ranks: &'a [RankRow],
    pub blocks: &'a [BlockHead],
    pub kinds: &'a [Kind],
}

impl Head {
    pub(super) fn new(division: Division, end_ns: i64, rows: u64, data_bytes: u64) -> Head {
        Head {
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

    /// Where the tables begin, from behind the head: cells follow packed rows.
    fn tables_at(&self) -> u64 {
        self.data_bytes + self.division().cells(self.ranks) * size_of::<Cell>() as u64
    }
}

/// Where an index is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// In the trace, to be kept there.
    Kept,
    /// In the trace, as long as it is used.
    Beside,
    /// Where temporary files are, as long as it is used.
    Elsewhere,
}

/// An index that is being written. Without [`Unfinished::finish`] nothing is left of it.
pub(super) struct Unfinished(Draft);

impl Unfinished {
    /// One that is to be kept takes its place in the trace if it can.
    pub(super) fn create(trace: &Trace, room: Room) -> Result<Unfinished, TraceError> {
        let draft = match room {
            Room::Kept => Draft::kept(trace, NAME, VERSION),
            Room::Beside => Draft::fleeting(&Scratch::beside(trace)),
            Room::Elsewhere => Draft::fleeting(&Scratch::elsewhere()),
        };
        draft.map(Unfinished).map_err(|error| TraceError::write(trace.path(), error))
    }

    /// Writes packed rows at an offset.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), TraceError> {
        self.0.write_at(offset, bytes).map_err(|error| TraceError::write(self.0.path(), error))
    }

    /// Writes cells from the one with this number on.
    pub(super) fn write_cells(&self, head: Head, first: u64, cells: &[Cell]) -> Result<(), TraceError> {
        self.write(head.data_bytes + first * size_of::<Cell>() as u64, bytemuck::cast_slice(cells))
    }

    /// Writes the tables; gives the head with their sizes.
    pub(super) fn write_tables(&self, head: Head, sections: &Sections<'_>) -> Result<Head, TraceError> {
        let (ranks, blocks) = (sections.ranks.len() as u64, sections.blocks.len() as u64);
        let head = Head { ranks, blocks, kinds: sections.kinds.len() as u64, ..head };
        let tables: [&[u8]; 3] = [
            bytemuck::cast_slice(sections.ranks),
            bytemuck::cast_slice(sections.blocks),
            bytemuck::cast_slice(sections.kinds),
        ];
        let mut at = head.tables_at();
        for table in tables {
            self.write(at, table)?;
            at += table.len() as u64;
        }
        Ok(head)
    }

    /// Packed rows, to be read.
    pub(super) fn map_data(&self) -> Result<Mmap, TraceError> {
        self.0.map().map_err(TraceError::file("map", self.0.path()))
    }

    /// Maps what was written; it takes its place in the trace if it can.
    pub(super) fn finish(self, head: Head) -> Result<Mapped, TraceError> {
        let path = self.0.path().to_path_buf();
        let numbers: Numbers = bytemuck::cast(head);
        let kept = self.0.finish(numbers);
        let mapped = Mapped::of(kept.map_err(|error| TraceError::write(&path, error))?);
        mapped.ok_or_else(|| TraceError::damaged(&path, "the index differs from what was written"))
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
    pub(super) fn load(trace: &Trace) -> Option<Mapped> {
        Mapped::of(Derived::of(trace)?.read(NAME, VERSION)?)
    }

    /// Checks that everything is where the head says.
    fn of(kept: Kept) -> Option<Mapped> {
        let (map, head): (Mmap, Head) = (kept.map, bytemuck::cast(kept.numbers));
        if head.levels > 64 || head.finest_bits > 62 {
            return None;
        }
        let bounded = [head.ranks, head.blocks, head.kinds, head.bins, head.data_bytes];
        if bounded.iter().any(|number| *number > map.len() as u64) {
            return None;
        }
        let mut at = usize::try_from(head.data_bytes).ok()?.checked_add(HEAD_BYTES)?;
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
        let aligned = cells.start.is_multiple_of(8) && kinds.end == map.len();
        aligned.then_some(Mapped { map, head, cells, ranks, blocks, kinds })
    }

    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    pub(super) fn data(&self) -> &[u8] {
        &self.map[HEAD_BYTES..self.cells.start]
    }

    pub(super) fn cells(&self) -> &[Cell] {
        bytemuck::cast_slice(&self.map[self.cells.clone()])
    }

    pub(super) fn sections(&self) -> Sections<'_> {
        Sections { ranks: self.ranks(), blocks: self.blocks(), kinds: self.kinds() }
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
