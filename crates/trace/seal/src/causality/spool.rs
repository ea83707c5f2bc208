//! The sends and receives of every rank in the order of time, on disk, so that all ranks can be walked at once.
//!
//! Rows lie rank by rank and a message needs two ranks. So each part is read once from beginning to end, and
//! what matters for messages is put into a file of 32 bytes an entry, which is mapped: a rank's place in it is
//! all that must be remembered.

use kizami_model::Call;
use kizami_trace::{Calls, RankSelection, TraceError};
use kizami_traffic::{Beginning, Ending, Message, Numbering, Traffic};
use memmap2::Mmap;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

const FOLDER: &str = "messages.tmp";
const ENTRY_BYTES: usize = 32;

/// Which half of a message. At one moment receives come first: a send may then count on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Half {
    /// Its receive ended.
    Received,
    /// Its send began.
    Sent,
}

/// One half of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub at_ns: i64,
    pub half: Half,
    pub comm: u32,
    pub peer: u32,
    pub tag: i32,
    pub number: u64,
}

impl Entry {
    fn new(at_ns: i64, half: Half, message: Message) -> Entry {
        let Message { comm, peer, tag, number, .. } = message;
        Entry { at_ns, half, comm, peer: peer.0, tag, number }
    }

    fn bytes(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.at_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.comm.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.peer.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.tag.to_le_bytes());
        bytes[28] = u8::from(self.half == Half::Sent);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Entry> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let (place, rest) = (word(16)?, word(24)?);
        Some(Entry {
            at_ns: word(0)? as i64,
            number: word(8)?,
            comm: place as u32,
            peer: (place >> 32) as u32,
            tag: rest as u32 as i32,
            half: if rest >> 32 == 0 { Half::Received } else { Half::Sent },
        })
    }
}

/// The files, and where in them each rank is.
pub(super) struct Spool {
    folder: PathBuf,
    parts: Vec<Part>,
}

struct Part {
    map: Option<Mmap>,
    ranks: Vec<(u32, Range<usize>)>,
}

impl Spool {
    /// Reads the sealed parts. Messages from and to ranks that are not `complete` are left out.
    pub fn write(events: &[PathBuf], complete: &HashSet<u32>, work: &Path) -> Result<Spool, TraceError> {
        let folder = work.join(FOLDER);
        std::fs::create_dir_all(&folder).map_err(TraceError::file("make the folder", &folder))?;
        let numbered = events.par_iter().enumerate();
        let parts =
            numbered.map(|(number, events)| write_part(events, complete, &folder.join(number.to_string())));
        let parts = parts.collect::<Result<Vec<Part>, TraceError>>()?;
        Ok(Spool { folder, parts })
    }

    /// The entries of each rank that has any.
    pub fn ranks(&self) -> impl Iterator<Item = (u32, Entries<'_>)> {
        self.parts.iter().flat_map(|part| {
            let bytes = part.map.as_deref().unwrap_or_default();
            part.ranks.iter().map(move |(rank, range)| {
                let range = range.start * ENTRY_BYTES..range.end * ENTRY_BYTES;
                (*rank, Entries { bytes: bytes.get(range).unwrap_or_default() })
            })
        })
    }

    /// Takes the files away.
    pub fn remove(self) -> Result<(), TraceError> {
        let Spool { folder, parts } = self;
        drop(parts);
        std::fs::remove_dir_all(&folder).map_err(TraceError::file("remove", &folder))
    }
}

/// The entries of one rank that were not taken yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entries<'a> {
    bytes: &'a [u8],
}

impl Entries<'_> {
    /// The next entry, which stays.
    pub fn peek(&self) -> Option<Entry> {
        Entry::read(self.bytes)
    }

    /// Takes the next entry.
    pub fn advance(&mut self) {
        self.bytes = self.bytes.get(ENTRY_BYTES..).unwrap_or_default();
    }
}

fn write_part(events: &Path, complete: &HashSet<u32>, path: &Path) -> Result<Part, TraceError> {
    let file = File::create(path).map_err(TraceError::file("create", path))?;
    let mut sorter = Sorter { file: BufWriter::new(file), written: 0, waiting: BinaryHeap::new() };
    let failed = |error: std::io::Error| TraceError::write(path, error);
    let mut ranks: Vec<(u32, Range<usize>)> = Vec::new();
    let mut traffic = Traffic::new(Numbering::On);
    let (mut beginnings, mut endings) = (Vec::new(), Vec::new());
    for call in Calls::of_files(vec![events.to_path_buf()], &RankSelection::All) {
        let call = call?;
        if !complete.contains(&call.rank.0) {
            continue;
        }
        if ranks.last().is_none_or(|(rank, _)| *rank != call.rank.0) {
            sorter.finish(&mut ranks).map_err(failed)?;
            ranks.push((call.rank.0, sorter.written..sorter.written));
            traffic = Traffic::new(Numbering::On);
        }
        traffic.of_call(&call, &mut beginnings, &mut endings);
        sorter.up_to(call.start.0).map_err(failed)?;
        let halves = halves(&call, beginnings.drain(..), endings.drain(..));
        sorter.waiting.extend(halves.filter(|entry| complete.contains(&entry.peer)).map(Reverse));
    }
    sorter.finish(&mut ranks).map_err(failed)?;
    let file = sorter.file.into_inner().map_err(|error| failed(error.into_error()))?;
    drop(file);
    let file = File::open(path).map_err(TraceError::file("open", path))?;
    // SAFETY: the file was made here a moment ago and is not shared; any bytes are taken.
    let map = (sorter.written > 0).then(|| unsafe { Mmap::map(&file) }).transpose();
    Ok(Part { map: map.map_err(TraceError::file("map", path))?, ranks })
}

fn halves(
    call: &Call,
    beginnings: impl Iterator<Item = Beginning>,
    endings: impl Iterator<Item = Ending>,
) -> impl Iterator<Item = Entry> {
    let (start_ns, end_ns) = (call.start.0, call.end.0);
    let sent = beginnings.filter_map(move |beginning| match beginning {
        Beginning::Send(message, _) => Some(Entry::new(start_ns, Half::Sent, message)),
        _ => None,
    });
    let received = endings.filter_map(move |ending| match ending {
        Ending::Receive(message, _) => Some(Entry::new(end_ns, Half::Received, message)),
        _ => None,
    });
    sent.chain(received)
}

/// Brings the entries of a rank, which come by the start of their rows, into the order of time.
struct Sorter {
    file: BufWriter<File>,
    written: usize,
    waiting: BinaryHeap<Reverse<Entry>>,
}

impl Sorter {
    /// Nothing before `start_ns` will come any more.
    fn up_to(&mut self, start_ns: i64) -> std::io::Result<()> {
        while self.waiting.peek().is_some_and(|Reverse(entry)| entry.at_ns < start_ns) {
            if let Some(Reverse(entry)) = self.waiting.pop() {
                self.file.write_all(&entry.bytes())?;
                self.written += 1;
            }
        }
        Ok(())
    }

    /// The rank has no more.
    fn finish(&mut self, ranks: &mut [(u32, Range<usize>)]) -> std::io::Result<()> {
        self.up_to(i64::MAX)?;
        self.waiting.clear();
        if let Some((_, range)) = ranks.last_mut() {
            range.end = self.written;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::Rank;

    #[test]
    fn entries_survive_the_file() {
        let message = Message { comm: 7, peer: Rank(u32::MAX), tag: -5, bytes: 0, number: u64::MAX };
        for half in [Half::Sent, Half::Received] {
            let entry = Entry::new(-9, half, message);
            assert_eq!(Entry::read(&entry.bytes()), Some(entry));
        }
        assert_eq!(Entry::read(&[0; 31]), None);
    }
}
