//! Where compiled sources wait to be linked: bitcode beside what it is of, found by the contents of object files.
//!
//! An object file is known by its bytes, so it is found again after it was moved, put into an archive or left alone by an
//! incremental build. The store lives in the user's cache folder, or where `KIZAMI_SKELETON_STORE` says; one that another user
//! made or can write to is refused, since what is found there becomes part of a program. Each link notes what it linked in the file that `KIZAMI_SKELETON_LINKS` names.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Names the folder of the store.
pub const STORE: &str = "KIZAMI_SKELETON_STORE";
/// Names the file that links are noted in.
pub const LINKS: &str = "KIZAMI_SKELETON_LINKS";

/// One compiled source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    /// Its bitcode.
    pub bitcode: PathBuf,
    /// The source.
    pub source: PathBuf,
    /// `c`, `c++` or `fortran`.
    pub language: String,
    /// Whose `mpi.h` it was compiled with, if any.
    pub mpi: Option<kizami_folder::Dialect>,
    /// Folders of headers.
    pub includes: Vec<String>,
}

/// One link of an executable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Link {
    /// What was made.
    pub output: PathBuf,
    /// Where the linker ran.
    pub folder: PathBuf,
    /// The compiled sources in it.
    pub compiled: Vec<Compiled>,
    /// Object files and archives of which nothing is known.
    pub unknown: Vec<String>,
    /// Arguments that name libraries and how to link, without sources and objects.
    pub libraries: Vec<String>,
    /// Language of the linking compiler.
    pub language: String,
}

/// The folder of the store, made if need be.
pub fn folder() -> Result<PathBuf> {
    let named = std::env::var_os(STORE).map(PathBuf::from);
    let cache = || {
        let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or(home)
            .map(|cache| cache.join("kizami/skeleton"))
    };
    let folder = named.or_else(cache).unwrap_or_else(|| {
        // Others have folders there as well.
        // SAFETY: it only asks.
        let user = unsafe { libc::geteuid() };
        std::env::temp_dir().join(format!("kizami-skeleton-{user}"))
    });
    make_private(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    is_own(&folder)?;
    Ok(folder)
}

/// Makes a folder that only its owner can look into, and those above it as usual.
fn make_private(folder: &Path) -> std::io::Result<()> {
    if let Some(above) = folder.parent() {
        std::fs::create_dir_all(above)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Whether nobody else can put anything into a folder: what is found in the store is taken into skeletons.
fn is_own(folder: &Path) -> Result<()> {
    let cannot = || format!("cannot read {}", folder.display());
    let about = std::fs::metadata(folder).with_context(cannot)?;
    // It may be a link.
    let name = std::fs::symlink_metadata(folder).with_context(cannot)?;
    // SAFETY: it only asks.
    let user = unsafe { libc::geteuid() };
    let why = if !about.is_dir() {
        "is not a directory"
    } else if about.uid() != user || name.uid() != user {
        "belongs to another user"
    } else if about.mode() & 0o022 != 0 {
        "is writable by other users"
    } else {
        return Ok(());
    };
    bail!(
        "the bitcode store {} {why} and cannot be trusted; remove it, or set {STORE} to another directory",
        folder.display()
    )
}

/// The name under which contents are known.
pub fn key(contents: &[u8]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = contents.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

/// Notes that an object file was compiled from a source.
pub fn remember(object: &Path, compiled: &Compiled) -> Result<()> {
    let contents = std::fs::read(object).with_context(|| format!("cannot read {}", object.display()))?;
    let file = folder()?.join(key(&contents) + ".json");
    let text = serde_json::to_vec(compiled)?;
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// What an object file with these contents was compiled from.
pub fn find(contents: &[u8]) -> Option<Compiled> {
    let file = folder().ok()?.join(key(contents) + ".json");
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// Notes a link.
pub fn note_link(link: &Link) -> Result<()> {
    let Some(file) = std::env::var_os(LINKS) else { return Ok(()) };
    let mut line = serde_json::to_vec(link)?;
    line.push(b'\n');
    let open = std::fs::OpenOptions::new().append(true).create(true).open(&file);
    open.and_then(|mut file| file.write_all(&line))
        .with_context(|| format!("cannot write {}", Path::new(&file).display()))
}

/// All links that were noted in a file.
pub fn links(file: &Path) -> Vec<Link> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
