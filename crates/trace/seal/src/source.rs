//! A segment's bytes in memory: mapped, and let go of behind the reader.

use super::segment_file::SegmentInfo;
use crate::snapshot::FrozenMap;
use kizami_records::Records;
use kizami_segment::Segment;
use memmap2::{Mmap, UncheckedAdvice};
use std::fs::File;

/// Pages are given back in steps of this size.
const STEP_BYTES: usize = 1 << 20;

/// A mapped segment file, or one that was made in memory.
pub(crate) struct MappedSegment {
    bytes: Bytes,
    name: String,
}

enum Bytes {
    File(Mmap),
    Frozen(FrozenMap),
    Memory(Vec<u8>),
}

impl MappedSegment {
    /// Maps the file. The error is a sentence for people.
    pub(crate) fn open(segment: &SegmentInfo) -> Result<MappedSegment, String> {
        let name = segment.file_name();
        let failed = |error: std::io::Error| format!("segment {name} cannot be read: {error}");
        if let Some(frozen) = &segment.frozen {
            let map = frozen.map(&segment.path).map_err(failed)?;
            return Ok(MappedSegment { bytes: Bytes::Frozen(map), name });
        }
        let file = File::open(&segment.path).map_err(failed)?;
        // SAFETY: the run is over, so the file is not written any more; the reader takes any bytes. Cutting the file
        // short while it is being sealed would end this process, like any other use of a mapped file.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Ok(MappedSegment { bytes: Bytes::File(map), name })
    }

    /// Bytes that were made in place of a file.
    pub(crate) fn in_memory(segment: &SegmentInfo, bytes: Vec<u8>) -> MappedSegment {
        MappedSegment { bytes: Bytes::Memory(bytes), name: segment.file_name() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::File(map) => map,
            Bytes::Frozen(map) => map.bytes(),
            Bytes::Memory(bytes) => bytes,
        }
    }

    /// All its records. The error is a sentence for people.
    pub(crate) fn records(&self) -> Result<Records<'_>, String> {
        Ok(Records::of(&self.segment()?))
    }

    /// The segment itself. The error is a sentence for people.
    pub(crate) fn segment(&self) -> Result<Segment<'_>, String> {
        Segment::parse(self.bytes()).map_err(|error| format!("segment {}: {error}", self.name))
    }

    /// Lets the pages up to `position` leave memory; they are read again from the file if needed.
    pub(crate) fn release_up_to(&self, position: usize) {
        let Bytes::File(map) = &self.bytes else { return };
        let end = position.min(map.len()) / STEP_BYTES * STEP_BYTES;
        // SAFETY: a shared, read-only mapping of a file: its pages hold nothing the file does not.
        let advised = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, 0, end) };
        // Refused advice costs memory, nothing else.
        drop(advised);
    }

    /// What the reader could not believe, in words.
    pub(crate) fn damage_text(&self, records: &Records<'_>) -> Option<String> {
        let damage = records.damage();
        let first = damage.first()?;
        let bytes: usize = damage.iter().map(|damage| damage.bytes.len()).sum();
        let more =
            if damage.len() > 1 { format!(" and {} more places", damage.len() - 1) } else { String::new() };
        Some(format!(
            "{}: {bytes} bytes cannot be believed ({} at byte {}{more})",
            self.name, first.what, first.bytes.start
        ))
    }
}
