//! Where a trace is put together, and how it appears all at once.
//!
//! Tables are written to a folder whose name ends in `.tmp`. When all of them are there, the old `run.json` is
//! taken away, the tables take their places, and the new `run.json` comes last: a trace without it is not
//! sealed, whatever else is there. Raw segments are moved aside before they are removed, so that half of them
//! is never taken for all of them.

use crate::run::RUN_JSON;
use crate::schema::{GAPS, ORDER, PEERS, RAW_FOLDER, REPAIRS, SKETCHES, SUMS};
use crate::{RunInfo, StoreError};
use std::path::{Path, PathBuf};

const WORK_FOLDER: &str = "sealing.tmp";
const REMOVED_RAW: &str = "raw-removed.tmp";

/// The places of one sealing.
pub(crate) struct Place {
    directory: PathBuf,
    raw: PathBuf,
    work: PathBuf,
    /// The directory did not exist before and holds nothing else.
    made: bool,
}

impl Place {
    /// Clears what an interrupted sealing left, and makes the work folder.
    pub(crate) fn prepare(directory: &Path) -> Result<Place, StoreError> {
        if !directory.is_dir() {
            return Err(StoreError::NoTrace { path: directory.to_path_buf() });
        }
        let place = Place {
            directory: directory.to_path_buf(),
            raw: directory.join(RAW_FOLDER),
            work: directory.join(WORK_FOLDER),
            made: false,
        };
        remove(&place.work)?;
        remove(&directory.join(REMOVED_RAW))?;
        if !place.raw.is_dir() {
            let path = directory.to_path_buf();
            return Err(match directory.join(RUN_JSON).is_file() {
                true => StoreError::AlreadySealed { path },
                false => StoreError::NothingRecorded { path },
            });
        }
        std::fs::create_dir(&place.work).map_err(StoreError::file("make the folder", &place.work))?;
        Ok(place)
    }

    /// Makes the directory of a trace that is not made from segments; it must not exist.
    pub(crate) fn make(directory: &Path) -> Result<Place, StoreError> {
        std::fs::create_dir(directory).map_err(StoreError::file("make the directory", directory))?;
        let place = Place {
            directory: directory.to_path_buf(),
            raw: directory.join(RAW_FOLDER),
            work: directory.join(WORK_FOLDER),
            made: true,
        };
        std::fs::create_dir(&place.work).map_err(StoreError::file("make the folder", &place.work))?;
        Ok(place)
    }

    pub(crate) fn raw(&self) -> &Path {
        &self.raw
    }

    /// Where tables are to be written.
    pub(crate) fn folder(&self) -> &Path {
        &self.work
    }

    /// Puts everything in its place.
    pub(crate) fn commit(self, run: &RunInfo, remove_raw: bool) -> Result<(), StoreError> {
        let json = self.work.join(RUN_JSON);
        let text = serde_json::to_vec_pretty(run).map_err(|error| StoreError::write(&json, error))?;
        std::fs::write(&json, text).map_err(|error| StoreError::write(&json, error))?;
        remove(&self.directory.join(RUN_JSON))?;
        for old in ["events", "regions", "defs", "derived", REPAIRS, SUMS, SKETCHES, GAPS, PEERS, ORDER] {
            remove(&self.directory.join(old))?;
        }
        let entries = std::fs::read_dir(&self.work).map_err(StoreError::file("list", &self.work))?;
        for entry in entries {
            let entry = entry.map_err(StoreError::file("list", &self.work))?;
            if entry.file_name() != RUN_JSON {
                move_to(&entry.path(), &self.directory.join(entry.file_name()))?;
            }
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

impl Drop for Place {
    /// Work that failed leaves nothing of its own behind; the segments are still there.
    fn drop(&mut self) {
        let _ = remove(&self.work);
        if self.made {
            // Goes only if it is empty, which a trace is not.
            let _ = std::fs::remove_dir(&self.directory);
        }
    }
}

fn move_to(from: &Path, to: &Path) -> Result<(), StoreError> {
    std::fs::rename(from, to).map_err(StoreError::file("put in place", to))
}

fn remove(path: &Path) -> Result<(), StoreError> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => return Ok(()),
    };
    removed.map_err(StoreError::file("remove", path))
}
