//! The segment of a thread that was reduced while it ran, with its two companions.
//!
//! ```text
//! raw/NAME          regions, stops, what the reducers handed over, and the first calls
//! raw/NAME.sample   the memory of the reducer that adds up and keeps rows
//! raw/NAME.order    the memory of the recorder of the order of calls
//! ```
//!
//! If the threads of a run made so few calls that all are among these first ones, they are sealed as if nothing had been
//! reduced: [`all_recorded`]. Else they are left out here.
//!
//! The kept rows, each with its weight, and the other records become the bytes of an ordinary segment, which is sealed like any other.
//! Whatever the process left is taken: what is missing or cannot be believed becomes a sentence.

use super::merge::start_ticks;
use super::segment_file::SegmentInfo;
use super::source::MappedSegment;
use kizami_records::kind::WEIGHT;
use kizami_records::{Record, ReducedBy, decode};
use kizami_segment::header::Header;
use kizami_segment::{CHUNK_MAGIC, HEADER_BYTES, SLOT_BYTES, head};
use kizami_sequence::FoldedSequence;
use kizami_summary::{KeptRow, State};
use std::mem::offset_of;
use std::path::Path;

/// What such a thread left.
pub(crate) struct ReducedThread {
    /// An ordinary segment with the rows that were kept.
    pub segment: Vec<u8>,
    /// What the reducer knew.
    pub state: Option<State>,
    /// The order of calls, in the process's own numbers.
    pub order: Option<FoldedSequence>,
    /// What is missing or cannot be believed, in words.
    pub problems: Vec<String>,
}

/// Reads a segment and its companions. The error is a sentence for people.
pub(crate) fn read(segment: &SegmentInfo) -> Result<ReducedThread, String> {
    let name = segment.file_name();
    let mapped = MappedSegment::open(segment)?;
    let mut records = mapped.records()?;
    let (mut others, mut parts, mut handed_out) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(record) = records.next() {
        match record {
            Record::Reduced { by: Some(ReducedBy::Summary), bytes } => parts.push(bytes),
            Record::Reduced { by: Some(ReducedBy::Sequence), bytes } => handed_out.extend_from_slice(bytes),
            Record::Reduced { by: None, .. } | Record::Definition(_) => {}
            // The first calls, which are among those that were added up.
            Record::Call(_)
            | Record::Completion(..)
            | Record::Start(..)
            | Record::Fold { .. }
            | Record::Counted(_)
            | Record::OffCore { .. } => {}
            other => others.push((start_ticks(&other), records.last_slots())),
        }
    }
    let mut problems: Vec<String> = mapped.damage_text(&records).into_iter().collect();
    let state = companion(&name, segment.sample.as_deref(), "sums and kept rows", |bytes| {
        kizami_summary::read(bytes, parts.iter().copied()).map_err(|error| error.to_string())
    });
    let order = companion(&name, segment.order.as_deref(), "the order of calls", |bytes| {
        FoldedSequence::read(&handed_out, bytes).map_err(|damage| damage.to_string())
    });
    let state = state.map_err(|problem| problems.push(problem)).ok();
    let order = order.map_err(|problem| problems.push(problem)).ok();
    let rows = state.iter().flat_map(|state| &state.rows);
    let (bytes, nonsense) = ordinary_segment(mapped.bytes(), rows, others);
    let damage = nonsense + state.as_ref().map_or(0, |state| state.missing.damage);
    if damage > 0 {
        problems.push(format!("{name}.sample: {damage} things make no sense"));
    }
    if let Some(lost) = order.as_ref().map(FoldedSequence::lost).filter(|lost| *lost > 0) {
        problems.push(format!("{name}.order: {lost} calls at the end are not in the order of calls"));
    }
    Ok(ReducedThread { segment: bytes, state, order, problems })
}

/// Whether all threads made fewer calls than this each, so that every call has a record of its own.
pub(crate) fn all_recorded<'a>(segments: impl Iterator<Item = &'a SegmentInfo>, all_below: u64) -> bool {
    let is_short = |segment: &SegmentInfo| {
        let bytes = segment.sample.as_ref().and_then(|sample| std::fs::read(sample).ok());
        let calls = bytes.and_then(|bytes| kizami_summary::calls(&bytes).ok());
        // A call without a record is in the sums all the same.
        segment.header.lost_calls == 0 && calls.is_some_and(|calls| calls < all_below)
    };
    all_below > 0 && segments.filter(|segment| segment.is_reduced()).all(is_short)
}

fn companion<T>(
    name: &str,
    path: Option<&Path>,
    what: &str,
    read: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<T, String> {
    let path =
        path.ok_or_else(|| format!("{name}: {what} of the thread are missing: its companion is not there"))?;
    let file = path.file_name().map(|file| file.to_string_lossy()).unwrap_or_default();
    let bytes = std::fs::read(path).map_err(|error| format!("{file} cannot be read: {error}"))?;
    read(&bytes).map_err(|problem| format!("{file}: {problem}; {what} of the thread are missing"))
}

/// The bytes of a segment with this header, these rows and these records; and how many rows make no sense.
fn ordinary_segment<'a>(
    like: &[u8],
    rows: impl Iterator<Item = &'a KeptRow>,
    others: Vec<(Option<u64>, &[u8])>,
) -> (Vec<u8>, u64) {
    let mut nonsense = 0;
    let mut items: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut waiting = Vec::new();
    for (start, slots) in others {
        waiting.extend_from_slice(slots);
        // What has no time stays before the record it belongs to, which is the next that has.
        if let Some(start) = start {
            items.push((start, std::mem::take(&mut waiting)));
        }
    }
    for row in rows.filter(|row| row.payload.iter().any(|word| *word != 0)) {
        match weighted(row) {
            Some(bytes) => items.push((row.start_ticks, bytes)),
            None => nonsense += 1,
        }
    }
    items.sort_by_key(|(start, _)| *start);
    let mut bytes = like[..HEADER_BYTES].to_vec();
    push_words(&mut bytes, &[u64::from(CHUNK_MAGIC) << 32, 1, 0, 0]);
    items.iter().for_each(|(_, item)| bytes.extend_from_slice(item));
    // One chunk with all of it, and an empty slot behind.
    push_words(&mut bytes, &[0; 4]);
    let chunk_bytes = u32::try_from(bytes.len() - HEADER_BYTES).unwrap_or(u32::MAX);
    let mut put = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    put(offset_of!(Header, chunk_bytes), chunk_bytes);
    put(offset_of!(Header, window_chunks), 1);
    (bytes, nonsense)
}

/// A kept row as records: its weight, and the call.
fn weighted(row: &KeptRow) -> Option<Vec<u8>> {
    let weight = (1.0 / row.probability).max(1.0);
    let mut bytes = Vec::new();
    push_words(&mut bytes, &[head(WEIGHT, row.start_ticks), weight.to_bits(), 0, 0]);
    push_words(&mut bytes, &row.payload);
    let (record, slots) = decode(&bytes[SLOT_BYTES..])?;
    let is_call =
        matches!(record, Record::Call(_) | Record::Completion(..) | Record::Start(..) | Record::Fold { .. });
    bytes.truncate((1 + slots) * SLOT_BYTES);
    is_call.then_some(bytes)
}

fn push_words(bytes: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
}
