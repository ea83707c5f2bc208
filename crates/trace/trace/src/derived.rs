//! What was worked out from a trace and is kept beside it, in `derived/`: the one place that writes there.
//!
//! ```text
//! magic | which file | its version | what it was made from | 0 | 10 numbers of its own | crc32
//! ... what is kept ...
//! ```
//!
//! A kept file is believed only if it is of this name and version, was made from exactly this trace, and is whole: all of
//! it is under the checksum. Anything else is as if nothing had been kept.
//!
//! A trace may come from an untrusted source. So `derived/` is used only if it is a folder and no link to one; it is opened
//! once for each use, and everything is done below that descriptor, whatever takes its name meanwhile. Files are written
//! under fresh unguessable names, and get their own when they are complete; links are not followed.
//! If the folder cannot be used, or is full, all goes on without: files then lie where temporary files do, and are gone
//! with the process.

use crate::run::RUN_JSON;
use crate::schema::DERIVED_FOLDER;
use crate::write::{share, shared_with};
use crate::{Trace, TraceError};
use kizami_columns::checksum_of;
use memmap2::Mmap;
use std::fs::{DirBuilder, File};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempPath;

/// Bytes before what is kept.
pub const HEAD_BYTES: usize = 8 * WORDS;
/// Numbers a file has for itself in its head, under the checksum.
pub type Numbers = [u64; 10];

const WORDS: usize = 16;
const MAGIC: u64 = u64::from_le_bytes(*b"kizcache");
/// Changes when something other than a kept file's own version says that all of them are out of date.
const VERSION: u32 = 1;
/// Behind the name of a kept trace: the file that says which it is.
const KEY_ENDING: &str = ".key";
/// A thread that is to sum up has at least so many bytes.
const LEAST_OF_A_THREAD: usize = 8 << 20;

/// A folder that stays the same one, whatever is done to its name.
#[derive(Clone, Debug)]
pub(crate) struct Folder(Arc<File>);

impl Folder {
    /// The one of this name, unless it is a link.
    fn open(path: &Path) -> io::Result<Folder> {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY);
        options.open(path).map(Arc::new).map(Folder)
    }

    /// Its name as long as the descriptor is open.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }

    fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// What others than its owner may do there, for [`share`].
    fn shared_with(&self) -> u32 {
        self.0.metadata().map_or(0, |folder| shared_with(&folder))
    }
}

/// The folder `derived/` of one trace.
#[derive(Clone, Debug)]
pub struct Derived {
    folder: Folder,
    /// What it is called, for messages.
    name: PathBuf,
    made_from: u64,
}

impl Derived {
    /// That of a trace, made if it was not there; none if there can be no such folder.
    pub fn of(trace: &Trace) -> Option<Derived> {
        let path = trace.folder().map_or_else(|| trace.path().to_path_buf(), Folder::path);
        let made = path.join(DERIVED_FOLDER);
        // Whether it is there is seen next. Whoever may look into the trace may look into it.
        if DirBuilder::new().mode(0o700).create(&made).is_ok() {
            share(&made, std::fs::metadata(&path).map_or(0, |trace| shared_with(&trace)));
        }
        let folder = Folder::open(&made).ok()?;
        let name = trace.path().join(DERIVED_FOLDER);
        Some(Derived { folder, name, made_from: fingerprint(trace) })
    }

    /// A file that was kept, if it can be believed.
    pub fn read(&self, name: &str, version: u32) -> Option<Kept> {
        let mut options = File::options();
        // A pipe of that name must not be waited for.
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(self.folder.join(name)).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        Kept::of(&file, self.identity(name, version))
    }

    /// Keeps a file with these numbers and these parts, one behind the other.
    pub fn write(&self, name: &str, version: u32, numbers: Numbers, parts: &[&[u8]]) -> io::Result<()> {
        let draft = self.draft(name, version)?;
        let mut at = 0;
        for part in parts {
            draft.write_at(at, part)?;
            at += part.len() as u64;
        }
        draft.complete(numbers, parts)
    }

    /// A trace that was made from this one and kept, if it is the one that was.
    pub fn trace(&self, name: &str, version: u32) -> Option<Trace> {
        let [checksum, ..] = self.read(&key_of(name), version)?.numbers;
        let folder = Folder::open(&self.folder.join(name)).ok()?;
        // The list of files in `run.json` has their checksums.
        let found = checksum_of(&folder.join(RUN_JSON)).ok()?;
        if u64::from(found) == checksum { Trace::open_kept(&self.name.join(name), folder).ok() } else { None }
    }

    /// Keeps a trace that was made in a [`Scratch`] of this folder from this one: it is moved.
    pub fn keep_trace(&self, name: &str, version: u32, made: &Path) -> Result<Trace, TraceError> {
        let (path, shown) = (self.folder.join(name), self.name.join(name));
        let keep = || -> io::Result<Folder> {
            match std::fs::symlink_metadata(&path) {
                Ok(old) if old.is_dir() => std::fs::remove_dir_all(&path)?,
                Ok(_) => std::fs::remove_file(&path)?,
                Err(_) => {}
            }
            // Whoever may look into the folder may look into what is kept there.
            share(made, self.folder.shared_with());
            std::fs::rename(made, &path)?;
            Folder::open(&path)
        };
        let mut numbers = Numbers::default();
        numbers[0] = u64::from(checksum_of(&made.join(RUN_JSON))?);
        let folder = keep().map_err(TraceError::file("put in place", &shown))?;
        // Without its key it will be made again.
        let _ = self.write(&key_of(name), version, numbers, &[]);
        Trace::open_kept(&shown, folder)
    }

    /// Waits until no other process makes anything here that takes long. The lock ends with the file, or with the process.
    pub fn lock(&self) -> Option<File> {
        // Locks are of what was opened: a copy of the descriptor would share this one's.
        let folder = File::open(self.folder.path()).ok()?;
        folder.lock().ok().map(|()| folder)
    }

    fn draft(&self, name: &str, version: u32) -> io::Result<Draft> {
        let folder = self.folder.path();
        // An unguessable name, of a file that only its owner may read.
        let fresh = tempfile::Builder::new().suffix(".tmp").tempfile_in(&folder)?;
        share(fresh.path(), self.folder.shared_with());
        let (file, path) = fresh.into_parts();
        let (name, identity) = (Some((path, self.folder.join(name))), self.identity(name, version));
        Ok(Draft { file, name, folder, identity, _within: Some(self.folder.clone()) })
    }

    fn identity(&self, name: &str, version: u32) -> Identity {
        let name = crc32fast::hash(name.as_bytes());
        [MAGIC, u64::from(name), u64::from(VERSION) << 32 | u64::from(version), self.made_from]
    }
}

/// What identifies kept files: magic, name, version and what they were made from.
type Identity = [u64; 4];

fn key_of(name: &str) -> String {
    format!("{name}{KEY_ENDING}")
}

/// Tells traces apart by all that `run.json` says, which includes the checksums of their tables.
fn fingerprint(trace: &Trace) -> u64 {
    let mut hash = rustc_hash::FxHasher::default();
    // What cannot be written as JSON was not read from it.
    serde_json::to_vec(trace.run()).unwrap_or_default().hash(&mut hash);
    kizami_model::function::fingerprint().hash(&mut hash);
    hash.finish()
}

/// A folder for what does not fit into memory, or is not to be kept.
#[derive(Clone, Debug)]
pub struct Scratch {
    path: PathBuf,
    /// `derived/`, if it is that.
    within: Option<Folder>,
}

impl Scratch {
    /// `derived/` of a trace if it can be written to; else where temporary files are.
    pub fn beside(trace: &Trace) -> Scratch {
        let folder = Derived::of(trace).map(|derived| derived.folder);
        let usable = folder.filter(|folder| tempfile::tempfile_in(folder.path()).is_ok());
        usable.map_or_else(Scratch::elsewhere, |folder| Scratch { path: folder.path(), within: Some(folder) })
    }

    /// Where temporary files are, for what had no room beside its trace.
    pub fn elsewhere() -> Scratch {
        Scratch { path: std::env::temp_dir(), within: None }
    }

    /// Whether it is `derived/`.
    pub fn is_beside(&self) -> bool {
        self.within.is_some()
    }

    /// Its name, as long as this is there.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that is being written; several threads may. Without [`Draft::finish`] nothing is left of it.
#[derive(Debug)]
pub struct Draft {
    file: File,
    /// What it is called so far and where it belongs, if it is kept. Others have no name at all: nothing is left of them
    /// however the process ends.
    name: Option<(TempPath, PathBuf)>,
    /// The folder it is in.
    folder: PathBuf,
    identity: Identity,
    /// What the names above are below.
    _within: Option<Folder>,
}

impl Draft {
    /// One that is kept under this name, if it can be.
    pub fn kept(trace: &Trace, name: &str, version: u32) -> io::Result<Draft> {
        let draft = Derived::of(trace).and_then(|derived| derived.draft(name, version).ok());
        draft.map_or_else(|| Draft::fleeting(&Scratch::elsewhere()), Ok)
    }

    /// One that is gone with the process.
    pub fn fleeting(scratch: &Scratch) -> io::Result<Draft> {
        let (file, folder) = (tempfile::tempfile_in(scratch.path())?, scratch.path().to_owned());
        Ok(Draft { file, name: None, folder, identity: [MAGIC, 0, 0, 0], _within: scratch.within.clone() })
    }

    /// Where it lies until it is finished, for messages.
    pub fn path(&self) -> &Path {
        self.name.as_ref().map_or(&self.folder, |(path, _)| path)
    }

    /// Writes bytes; `at` counts from behind the head.
    pub fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, HEAD_BYTES as u64 + at)
    }

    /// What was written so far, from behind the head. What is written from now on must lie behind it.
    pub fn map(&self) -> io::Result<Mmap> {
        // SAFETY: the name of the file is not known elsewhere, and its writers leave what is mapped alone.
        unsafe { memmap2::MmapOptions::new().offset(HEAD_BYTES as u64).map(&self.file) }
    }

    /// Maps the complete file, and gives it its name if it has one.
    pub fn finish(self, numbers: Numbers) -> io::Result<Kept> {
        let mut words = self.words(numbers);
        let file = &self.file;
        file.write_all_at(&bytes_of(words), 0)?;
        // SAFETY: the file is never changed once its checksum, which is in front of what is summed up, is written.
        let map = unsafe { Mmap::map(file) }?;
        let wrong = || io::Error::other("it is not as it was written");
        words[15] = checksum(words, &[map.get(HEAD_BYTES..).ok_or_else(wrong)?]);
        file.write_all_at(&bytes_of(words), 0)?;
        let kept = Kept { map, numbers };
        if let Some((path, place)) = self.name {
            // It can be used all the same if that fails.
            let _ = path.persist(place);
        }
        Ok(kept)
    }
}

impl Draft {
    /// Gives the file its name; it consists of these parts, which are summed up where they are.
    fn complete(self, numbers: Numbers, parts: &[&[u8]]) -> io::Result<()> {
        let mut words = self.words(numbers);
        words[15] = checksum(words, parts);
        self.file.write_all_at(&bytes_of(words), 0)?;
        if let Some((path, place)) = self.name {
            path.persist(place)?;
        }
        Ok(())
    }

    fn words(&self, numbers: Numbers) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        words[..4].copy_from_slice(&self.identity);
        words[5..15].copy_from_slice(&numbers);
        words
    }
}

/// A file that was kept: mapped and checked.
#[derive(Debug)]
pub struct Kept {
    /// All of it, with its head.
    pub map: Mmap,
    /// Those it was finished with.
    pub numbers: Numbers,
}

impl Kept {
    fn of(file: &File, expected: Identity) -> Option<Kept> {
        // SAFETY: files get their names when they are complete and are never changed, only replaced by others.
        let map = unsafe { Mmap::map(file) }.ok()?;
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let mut words = [0; WORDS];
        let head = map.get(..HEAD_BYTES)?.chunks_exact(8).map(word);
        words.iter_mut().zip(head).for_each(|(place, word)| *place = word);
        // Summing up what is of another trace would be for nothing.
        if words[..4] != expected || checksum(words, &[&map[HEAD_BYTES..]]) != words[15] {
            return None;
        }
        Some(Kept { map, numbers: words[5..15].try_into().ok()? })
    }

    /// What is behind the head.
    pub fn content(&self) -> &[u8] {
        self.map.get(HEAD_BYTES..).unwrap_or_default()
    }
}

fn bytes_of(words: [u64; WORDS]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Of the head without its checksum, and of all that is behind it.
fn checksum(words: [u64; WORDS], parts: &[&[u8]]) -> u64 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&bytes_of(words)[..HEAD_BYTES - 8]);
    parts.iter().for_each(|part| checksum.combine(&summed(part)));
    u64::from(checksum.finalize())
}

/// The sum of a part, by several threads if it is long.
fn summed(part: &[u8]) -> crc32fast::Hasher {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let each = part.len().div_ceil(threads).max(LEAST_OF_A_THREAD);
    let of = |piece: &[u8]| {
        let mut sum = crc32fast::Hasher::new();
        sum.update(piece);
        sum
    };
    if part.len() <= each {
        return of(part);
    }
    std::thread::scope(|scope| {
        let pieces: Vec<_> = part.chunks(each).map(|piece| scope.spawn(move || of(piece))).collect();
        let mut all = crc32fast::Hasher::new();
        for piece in pieces {
            all.combine(&piece.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}
