//! Where a trace is put together, and how it appears all at once.
//!
//! Tables are written to a folder whose name ends in `.tmp`. When all of them are there, the old `run.json` is
//! taken away, the tables take their places, and the new `run.json` comes last: a trace without it is not
//! sealed, whatever else is there. Raw segments are moved aside before they are removed, so that half of them
//! is never taken for all of them.
//!
//! What the old trace had is taken away first, so that nothing of it is taken for a part of the new one: all that its
//! `run.json` lists, all that any trace can have, and whatever stands where a new table belongs.

use super::sharing::{share, shared_with};
use crate::run::RUN_JSON;
use crate::schema::{self, DERIVED_FOLDER, RAW_FOLDER};
use crate::{RunInfo, TraceError};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

const WORK_FOLDER: &str = "sealing.tmp";
const REMOVED_RAW: &str = "raw-removed.tmp";

/// Creates the directory of a trace, which must not exist: no other user may look into it, whatever the umask. A trace has the
/// arguments of its program and the names in its source.
pub fn make_directory(directory: &Path) -> std::io::Result<()> {
    DirBuilder::new().mode(0o700).create(directory)
}

/// The places of one trace that is being put together.
pub struct StagingDir {
    directory: PathBuf,
    raw: PathBuf,
    work: PathBuf,
    /// The directory did not exist before and holds nothing else.
    made: bool,
}

impl StagingDir {
    /// Within a directory that is there: clears what an interrupted attempt left, and makes the work folder.
    pub fn within(directory: &Path) -> Result<StagingDir, TraceError> {
        let staging = StagingDir {
            directory: directory.to_path_buf(),
            raw: directory.join(RAW_FOLDER),
            work: directory.join(WORK_FOLDER),
            made: false,
        };
        remove(&staging.work)?;
        remove(&directory.join(REMOVED_RAW))?;
        std::fs::create_dir(&staging.work).map_err(TraceError::file("make the folder", &staging.work))?;
        Ok(staging)
    }

    /// Creates the directory of a trace that is not made from segments; it must not exist.
    pub fn make(directory: &Path) -> Result<StagingDir, TraceError> {
        make_directory(directory).map_err(TraceError::file("make the directory", directory))?;
        let staging = StagingDir {
            directory: directory.to_path_buf(),
            raw: directory.join(RAW_FOLDER),
            work: directory.join(WORK_FOLDER),
            made: true,
        };
        std::fs::create_dir(&staging.work).map_err(TraceError::file("make the folder", &staging.work))?;
        Ok(staging)
    }

    /// Where the raw segments are, if it is made from some.
    pub fn raw(&self) -> &Path {
        &self.raw
    }

    /// Where tables are written that are put together in a directory.
    pub fn folder_within(directory: &Path) -> PathBuf {
        directory.join(WORK_FOLDER)
    }

    /// Where tables are to be written.
    pub fn folder(&self) -> &Path {
        &self.work
    }

    /// Puts everything in its place.
    pub fn commit(self, run: &RunInfo, remove_raw: bool) -> Result<(), TraceError> {
        let json = self.work.join(RUN_JSON);
        let text = serde_json::to_vec_pretty(run).map_err(|error| TraceError::write(&json, error))?;
        std::fs::write(&json, text).map_err(|error| TraceError::write(&json, error))?;
        self.check_whole(run)?;
        share(&self.work, std::fs::metadata(&self.directory).map_or(0, |found| shared_with(&found)));
        let made = entries_of(&self.work)?;
        let old = listed(&self.directory);
        remove(&self.directory.join(RUN_JSON))?;
        let known = schema::entries().chain([DERIVED_FOLDER]).map(OsString::from);
        for name in known.chain(old).chain(made.clone()).collect::<BTreeSet<_>>() {
            remove(&self.directory.join(name))?;
        }
        for name in made.iter().filter(|name| *name != RUN_JSON) {
            move_to(&self.work.join(name), &self.directory.join(name))?;
        }
        move_to(&json, &self.directory.join(RUN_JSON))?;
        if remove_raw {
            let aside = self.directory.join(REMOVED_RAW);
            move_to(&self.raw, &aside)?;
            remove(&aside)?;
        }
        Ok(())
    }
}

impl StagingDir {
    /// Refuses if a table is not as it was written: where locks do not work, another process may have been here.
    fn check_whole(&self, run: &RunInfo) -> Result<(), TraceError> {
        for file in &run.files {
            let path = self.work.join(&file.path);
            if !std::fs::metadata(&path).is_ok_and(|found| found.len() == file.bytes) {
                return Err(TraceError::write(&path, "another process took or changed it"));
            }
        }
        Ok(())
    }
}

impl Drop for StagingDir {
    /// Work that failed leaves nothing of its own behind; the segments are still there.
    fn drop(&mut self) {
        let _ = remove(&self.work);
        if self.made {
            // Goes only if it is empty, which a trace is not.
            let _ = std::fs::remove_dir(&self.directory);
        }
    }
}

/// Names of what is in a folder.
fn entries_of(folder: &Path) -> Result<Vec<OsString>, TraceError> {
    let entries = std::fs::read_dir(folder).map_err(TraceError::file("list", folder))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    names.collect::<Result<_, _>>().map_err(TraceError::file("list", folder))
}

/// What the `run.json` of an old trace lists, by the names within its directory; never segments, whatever it says.
fn listed(directory: &Path) -> Vec<OsString> {
    let files = RunInfo::read(directory).map(|run| run.files).unwrap_or_default();
    let first = |path: &str| match Path::new(path).components().next() {
        Some(Component::Normal(name)) if name != RAW_FOLDER && name != WORK_FOLDER => Some(name.to_owned()),
        _ => None,
    };
    files.iter().filter_map(|file| first(&file.path)).collect()
}

fn move_to(from: &Path, to: &Path) -> Result<(), TraceError> {
    std::fs::rename(from, to).map_err(TraceError::file("put in place", to))
}

fn remove(path: &Path) -> Result<(), TraceError> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => return Ok(()),
    };
    removed.map_err(TraceError::file("remove", path))
}
