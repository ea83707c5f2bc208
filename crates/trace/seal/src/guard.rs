//! Guards sealing: not while ranks still write, and one process at a time.
//!
//! Sealing takes segments away, so a second sealer or a rank that still writes would lose what it has. The lock is on
//! the trace directory itself and ends with the process that holds it: nothing is left behind that could stand in the
//! way later. Recorders share it, a sealer has it alone. Where a file system knows no such locks, or keeps them to one
//! host, sealing goes on without. Ranks whose recorder is gone are found by the segments they have mapped, on this host
//! only.

use super::segment_file::SegmentInfo;
use crate::SealError;
use kizami_trace::TraceError;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Launchers return while ranks they have ended are still being taken down: this long is waited for them.
const FAREWELL: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often a lock is tried whose holder is unknown.
const TRIES: usize = 5;
/// Processes named in a message.
const SHOWN: usize = 5;

/// Keeps others from sealing a trace while it is recorded, for as long as this value lives. Several may.
#[derive(Debug)]
pub struct Recording(#[expect(dead_code, reason = "closing it ends the lock")] Option<File>);

impl Recording {
    /// For the directory of a trace. A recording goes on without if the file system has no locks.
    pub fn begin(directory: &Path) -> Recording {
        let file = File::open(directory).ok();
        Recording(file.filter(|file| file.try_lock_shared().is_ok()))
    }
}

/// The one who seals a trace, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Sealing(#[expect(dead_code, reason = "closing it ends the lock")] File);

impl Sealing {
    /// Refuses if another process seals or records there.
    pub(crate) fn begin(directory: &Path) -> Result<Sealing, SealError> {
        if !directory.is_dir() {
            return Err(TraceError::NoTrace { path: directory.to_path_buf() }.into());
        }
        let file = File::open(directory).map_err(TraceError::file("open", directory))?;
        for _ in 0..TRIES {
            if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                return Ok(Sealing(file));
            }
            let path = directory.to_path_buf();
            match holders(&file) {
                Some((READ, by)) => return Err(SealError::BeingRecorded { path, by }),
                Some((_, by)) => return Err(SealError::BeingSealed { path, by }),
                // It has just ended, or is not for us to see.
                None => std::thread::sleep(LOOK_EVERY),
            }
        }
        Err(SealError::BeingSealed { path: directory.to_path_buf(), by: "another process".to_owned() })
    }
}

/// Who works on a recording at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A recorder waits for its program: these processes.
    Recorder(String),
    /// It is being sealed by these.
    Sealer(String),
}

impl Holder {
    /// Whoever is seen to work on the recording in a directory. Looking takes no lock: a sealer that came meanwhile would
    /// find it taken.
    pub fn of(directory: &Path) -> Option<Holder> {
        Some(match holders(&File::open(directory).ok()?)? {
            (READ, by) => Holder::Recorder(by),
            (_, by) => Holder::Sealer(by),
        })
    }
}

/// How the kernel calls the lock of a recorder, which others may share.
const READ: &str = "READ";

/// How a file is locked, and the processes that do so, in words; none if there are none.
fn holders(file: &File) -> Option<(&'static str, String)> {
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let holder = |line: &str| {
        // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
        let words: Vec<&str> = line.split_whitespace().collect();
        let of_file =
            words.get(5)?.rsplit(':').next() == Some(inode.as_str()) && words.get(1) == Some(&"FLOCK");
        let kind = if words.get(3) == Some(&READ) { READ } else { "WRITE" };
        Some((kind, words.get(4)?.parse::<u32>().ok()?)).filter(|_| of_file)
    };
    let found: Vec<(&str, u32)> = locks.lines().filter_map(holder).collect();
    let kind = found.first()?.0;
    Some((kind, processes(&found.into_iter().map(|(_, pid)| pid).collect())))
}

fn processes(pids: &BTreeSet<u32>) -> String {
    let shown = pids.iter().take(SHOWN).map(u32::to_string).collect::<Vec<_>>().join(", ");
    match pids.len() {
        1 => format!("process {shown}"),
        more if more > SHOWN => format!("processes {shown} and {} more", more - SHOWN),
        _ => format!("processes {shown}"),
    }
}

/// Refuses if processes on this host still write to segments.
pub(super) fn refuse_live(directory: &Path, segments: &[&SegmentInfo]) -> Result<(), SealError> {
    let begun = Instant::now();
    loop {
        let live = writers(segments);
        if live.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > FAREWELL {
            let by = format!("{} on this host", processes(&live));
            return Err(SealError::BeingRecorded { path: directory.to_path_buf(), by });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Identity of the boot of this host.
pub(super) fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// Processes on this host that have a segment of their own mapped. A process that got the number of one that is gone has
/// not.
pub(super) fn writers(segments: &[&SegmentInfo]) -> BTreeSet<u32> {
    let boot_id = boot_id();
    let mut by_process: BTreeMap<u32, Vec<&SegmentInfo>> = BTreeMap::new();
    for segment in segments.iter().filter(|segment| segment.header.boot_id == boot_id) {
        by_process.entry(segment.header.pid).or_default().push(segment);
    }
    let is_live = |pid: u32, own: &[&SegmentInfo]| {
        let Ok(maps) = std::fs::read(format!("/proc/{pid}/maps")) else { return false };
        let maps = String::from_utf8_lossy(&maps);
        own.iter().any(|segment| is_mapped(&maps, segment))
    };
    by_process.into_iter().filter(|(pid, own)| is_live(*pid, own)).map(|(pid, _)| pid).collect()
}

/// Whether a process has mapped this very file: a copy of the trace has the same names, but other files.
fn is_mapped(maps: &str, segment: &SegmentInfo) -> bool {
    let Ok(metadata) = segment.path.metadata() else { return false };
    let (inode, name) = (metadata.ino().to_string(), segment.file_name());
    // 7f00-7f01 rw-s 00000000 08:01 5678    /path/of/the/file
    maps.lines().any(|line| line.split_whitespace().nth(4) == Some(inode.as_str()) && line.ends_with(&name))
}
