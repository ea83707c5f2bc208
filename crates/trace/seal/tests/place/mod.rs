//! A place for one test's trace: segments are written to it, sealed there, and read back.

#![allow(dead_code, reason = "each user needs only some of it")]

use kizami_model::Call;
use kizami_seal::{SealOptions, seal};
use kizami_trace::{RankSelection, RunInfo, Trace};
use std::path::PathBuf;
use tempfile::TempDir;

/// A trace directory that goes away with the test.
pub struct Place {
    _folder: TempDir,
    pub trace: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("run.kz");
        Place { _folder: folder, trace }
    }

    pub fn seal(&self) -> RunInfo {
        seal(&self.trace, &SealOptions::default(), &|_| {}).unwrap()
    }

    pub fn open(&self) -> Trace {
        Trace::open(&self.trace).unwrap()
    }

    pub fn calls(&self) -> Vec<Call> {
        self.open().calls(RankSelection::All).unwrap().map(Result::unwrap).collect()
    }
}
