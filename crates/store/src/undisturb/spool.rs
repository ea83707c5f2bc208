//! The steps of a run on disk, while they get their new times.
//!
//! A row of a trace becomes a *step* of fixed size: its times, what the tracer took around it, the next step of
//! the same thread, and its *links* to other ranks. Both lists are files that are mapped and have no name, so
//! memory stays free for others and nothing is left behind however the process ends. The walk reads steps
//! through as many cursors as there are threads and writes the new times over the old ones.
//!
//! Nothing here knows what links mean; see `gather` and `walk`.

use crate::StoreError;
use memmap2::MmapMut;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const STEP_WORDS: usize = 6;
const STEP_BYTES: usize = STEP_WORDS * 8;
const LINK_BYTES: usize = 16;
/// Bits of the word of links that count them; the others say where they begin.
const COUNT_BITS: u32 = 24;
/// Bits of the last word that say what kind of step it is; the others lead to the next one.
const KIND_BITS: u32 = 8;
/// Steps by which the file grows, at least.
const GROWTH_STEPS: u64 = 64 << 10;

/// Steps there is room for at first, at most.
const LARGEST_BEGINNING: u64 = 1 << 20;

/// What a step stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    /// A call.
    Call,
    /// A part of the call before it: one request of several started together.
    Part,
    /// Failed polls right before one that found what they looked for: waiting by another name.
    Polling,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub start_ns: i64,
    pub end_ns: i64,
    /// What the tracer took between the call before and this one.
    pub before_ns: i64,
    /// What it took within: between the polls of one row.
    pub within_ns: i64,
    /// Index of the first link, and how many there are.
    pub links: (u64, u32),
    pub kind: StepKind,
    /// How far on the next step of the same thread is; 0 for the last.
    pub next: u64,
}

/// What ties a step to another rank; the meaning is in [`Tie`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub tie: Tie,
    /// Message or collective: both sides have the same key.
    pub key: u64,
    /// Size of the message.
    pub bytes: u64,
}

/// How a step is tied to another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tie {
    /// A message leaves.
    Departs,
    /// The message must have left; it is taken.
    Awaits,
    /// The message must have left; it stays for the receive that follows.
    Looks,
    /// The receive of a large message is posted.
    Posts,
    /// The receive of this large message may have to be posted.
    AwaitsPost,
    /// Comes to a collective and waits for nobody.
    Passes,
    /// Comes to a collective.
    Enters,
    /// Comes to a collective as its root.
    EntersAsRoot,
    /// Comes to a collective as its root and waits for nobody.
    PassesAsRoot,
    /// All must have come to the collective.
    AwaitsAll,
    /// The root must have come to it.
    AwaitsRoot,
}

const TIES: [Tie; 11] = [
    Tie::Departs,
    Tie::Awaits,
    Tie::Looks,
    Tie::Posts,
    Tie::AwaitsPost,
    Tie::Passes,
    Tie::Enters,
    Tie::EntersAsRoot,
    Tie::PassesAsRoot,
    Tie::AwaitsAll,
    Tie::AwaitsRoot,
];

impl Tie {
    /// Whether others learn something from it. The other ties wait for that.
    pub(super) fn tells(self) -> bool {
        !matches!(self, Tie::Awaits | Tie::Looks | Tie::AwaitsPost | Tie::AwaitsAll | Tie::AwaitsRoot)
    }
}

/// Steps and links being written.
pub(super) struct SpoolWriter {
    folder: PathBuf,
    file: File,
    map: MmapMut,
    steps: u64,
    links: BufWriter<File>,
    link_count: u64,
}

impl SpoolWriter {
    /// Files without names in `folder`, for about so many steps.
    pub(super) fn create(folder: &Path, expected_steps: u64) -> Result<SpoolWriter, StoreError> {
        let file = nameless(folder, "steps")?;
        let links = BufWriter::with_capacity(1 << 18, nameless(folder, "links")?);
        // It grows as needed: a run.json that lies must not fill the disk.
        let capacity = expected_steps.clamp(1, LARGEST_BEGINNING);
        let map = enlarge(&file, folder, 0, capacity * STEP_BYTES as u64)?;
        Ok(SpoolWriter { folder: folder.to_path_buf(), file, map, steps: 0, links, link_count: 0 })
    }

    /// Adds a step with its links; gives its index.
    pub(super) fn push(&mut self, step: Step, links: &[Link]) -> Result<u64, StoreError> {
        let index = self.steps;
        if (index as usize + 1) * STEP_BYTES > self.map.len() {
            let old = self.map.len() as u64;
            let more = (old / 2).max(GROWTH_STEPS * STEP_BYTES as u64) / STEP_BYTES as u64;
            self.map = enlarge(&self.file, &self.folder, old, more * STEP_BYTES as u64)?;
        }
        for link in links {
            let head = (link.tie as u64) << 56 | link.bytes.min((1 << 56) - 1);
            let written = self.links.write_all(&link.key.to_ne_bytes());
            let written = written.and_then(|()| self.links.write_all(&head.to_ne_bytes()));
            written.map_err(|error| StoreError::write(&self.folder, error))?;
        }
        let count = links.len().min((1 << COUNT_BITS) - 1) as u32;
        put(&mut self.map, index, &Step { links: (self.link_count, count), ..step });
        self.link_count += links.len() as u64;
        self.steps += 1;
        Ok(index)
    }

    pub(super) fn step(&self, index: u64) -> Step {
        get(&self.map, index)
    }

    /// Changes a step that was pushed before.
    pub(super) fn set(&mut self, index: u64, step: &Step) {
        put(&mut self.map, index, step);
    }

    /// No more steps.
    pub(super) fn finish(self) -> Result<Spool, StoreError> {
        let failed = |error: std::io::Error| StoreError::write(&self.folder, error);
        let links = self.links.into_inner().map_err(|error| failed(error.into_error()))?;
        // An empty file cannot be mapped.
        let links = match self.link_count {
            0 => MmapMut::map_anon(1),
            // SAFETY: the file has no name, so nobody else can reach it.
            _ => unsafe { MmapMut::map_mut(&links) },
        };
        Ok(Spool { steps: self.map, links: links.map_err(failed)? })
    }
}

/// All steps and links of a run.
pub(super) struct Spool {
    steps: MmapMut,
    links: MmapMut,
}

impl Spool {
    pub(super) fn step(&self, index: u64) -> Step {
        get(&self.steps, index)
    }

    pub(super) fn link(&self, index: u64) -> Link {
        let at = index as usize * LINK_BYTES;
        let head = word(&self.links, at + 8);
        let tie = TIES[(head >> 56) as usize % TIES.len()];
        Link { tie, key: word(&self.links, at), bytes: head & ((1 << 56) - 1) }
    }

    /// Gives a step its new times.
    pub(super) fn set_times(&mut self, index: u64, start_ns: i64, end_ns: i64) {
        let at = index as usize * STEP_BYTES;
        self.steps[at..at + 8].copy_from_slice(&start_ns.to_ne_bytes());
        self.steps[at + 8..at + 16].copy_from_slice(&end_ns.to_ne_bytes());
    }
}

/// A file that is gone when it is closed.
fn nameless(folder: &Path, name: &str) -> Result<File, StoreError> {
    let path = folder.join(format!("{name}.tmp"));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
    let file = file.map_err(StoreError::file("create", &path))?;
    std::fs::remove_file(&path).map_err(StoreError::file("remove", &path))?;
    Ok(file)
}

/// Makes the file longer by writing zeros: storing into a hole of a mapped file on a full disk would end the
/// process.
fn enlarge(file: &File, folder: &Path, old_bytes: u64, more_bytes: u64) -> Result<MmapMut, StoreError> {
    let failed = |error: std::io::Error| StoreError::write(folder, error);
    let zeros = vec![0; 1 << 20];
    let mut left = more_bytes;
    let mut at = old_bytes;
    while left > 0 {
        let count = left.min(zeros.len() as u64);
        std::os::unix::fs::FileExt::write_all_at(file, &zeros[..count as usize], at).map_err(failed)?;
        (at, left) = (at + count, left - count);
    }
    // SAFETY: the file has no name, so nobody else can reach it.
    unsafe { MmapMut::map_mut(file) }.map_err(failed)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(word)
}

fn get(map: &[u8], index: u64) -> Step {
    let at = index as usize * STEP_BYTES;
    let word = |number: usize| word(map, at + 8 * number);
    let kind = match word(5) & ((1 << KIND_BITS) - 1) {
        1 => StepKind::Part,
        2 => StepKind::Polling,
        _ => StepKind::Call,
    };
    Step {
        start_ns: word(0) as i64,
        end_ns: word(1) as i64,
        before_ns: word(2) as i64,
        within_ns: word(3) as i64,
        links: (word(4) >> COUNT_BITS, (word(4) & ((1 << COUNT_BITS) - 1)) as u32),
        kind,
        next: word(5) >> KIND_BITS,
    }
}

fn put(map: &mut [u8], index: u64, step: &Step) {
    let at = index as usize * STEP_BYTES;
    let kind = match step.kind {
        StepKind::Call => 0,
        StepKind::Part => 1,
        StepKind::Polling => 2,
    };
    let words: [u64; STEP_WORDS] = [
        step.start_ns as u64,
        step.end_ns as u64,
        step.before_ns as u64,
        step.within_ns as u64,
        step.links.0 << COUNT_BITS | u64::from(step.links.1),
        step.next << KIND_BITS | kind,
    ];
    for (number, word) in words.into_iter().enumerate() {
        map[at + 8 * number..at + 8 * number + 8].copy_from_slice(&word.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_links_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = SpoolWriter::create(folder.path(), 1).unwrap();
        let step = |n: i64| Step {
            start_ns: -n,
            end_ns: n << 40,
            before_ns: n,
            within_ns: 7,
            links: (0, 0),
            kind: StepKind::Polling,
            next: 3,
        };
        let link = Link { tie: Tie::AwaitsRoot, key: u64::MAX - 1, bytes: 1 << 50 };
        for n in 0..100_000 {
            writer.push(step(n), &[link, Link { tie: Tie::Departs, ..link }]).unwrap();
        }
        let mut spool = writer.finish().unwrap();
        assert_eq!(spool.step(99_999), Step { links: (199_998, 2), ..step(99_999) });
        assert_eq!(spool.link(0), link);
        assert_eq!(spool.link(1).tie, Tie::Departs);
        spool.set_times(5, 11, 12);
        assert_eq!((spool.step(5).start_ns, spool.step(5).end_ns, spool.step(5).before_ns), (11, 12, 5));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        for (number, tie) in TIES.into_iter().enumerate() {
            assert_eq!(tie as usize, number);
        }
    }
}
