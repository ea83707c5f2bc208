//! A skeleton's folder as it is read: `manifest.json`, `skeleton.bc`, and the values of places that depend on data.

use crate::ExecuteError;
use kizami_entry::Library;
use kizami_folder::{BITCODE, CallSite, Dialect, FORMAT, Manifest, ObservedRun, read_observed};
use std::path::{Path, PathBuf};

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// What the manifest says.
    pub manifest: Manifest,
    /// It is the whole program: everything that is received may steer it.
    pub whole: bool,
    /// The bitcode.
    pub bitcode: PathBuf,
    /// Whose headers it was compiled with.
    pub library: Library,
    /// What was observed of places that depend on data, in runs at several numbers of ranks.
    pub observed: Vec<ObservedRun>,
}

impl Skeleton {
    /// Reads a folder `X.skel`, or a file `X.bc` of a whole program with the headers it was compiled with.
    pub fn open(path: &Path, whole_with: Option<Library>) -> Result<Skeleton, ExecuteError> {
        if let Some(library) = whole_with {
            let (manifest, bitcode) = (unsliced(library), path.to_path_buf());
            return Ok(Skeleton { manifest, whole: true, bitcode, library, observed: Vec::new() });
        }
        let manifest = Manifest::read(path)?;
        let library = match manifest.mpi {
            Dialect::OpenMpi => Library::OpenMpi,
            Dialect::Mpich => Library::Mpich,
            Dialect::Smpi => Library::Smpi,
        };
        if let Some(refusal) = manifest.refused.first() {
            let what = format!(
                "the program could not be sliced completely: {}:{}: {}",
                refusal.file, refusal.line, refusal.reason
            );
            return Err(ExecuteError::Skeleton { path: path.to_path_buf(), what });
        }
        let observed = read_observed(path)?;
        Ok(Skeleton { manifest, whole: false, bitcode: path.join(BITCODE), library, observed })
    }

    /// What people call it: its folder, or the file of a whole program.
    pub fn name(&self) -> String {
        let folder = if self.whole { None } else { self.bitcode.parent() };
        let name = folder.and_then(Path::file_name).or_else(|| self.bitcode.file_name());
        name.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether what a rank receives from one other may steer it, so that ranks must run together.
    pub fn needs_payloads(&self) -> bool {
        let point_to_point = |site: &CallSite| {
            let name = site.function.as_str();
            name.contains("ecv")
                || name.contains("_Wait")
                || name.contains("_Test")
                || name.contains("_Start")
        };
        self.whole || self.manifest.call_sites.iter().any(|site| site.carries && point_to_point(site))
    }
}

/// What is known of a program that nobody has sliced.
fn unsliced(library: Library) -> Manifest {
    let mpi = match library {
        Library::OpenMpi => Dialect::OpenMpi,
        Library::Mpich => Dialect::Mpich,
        Library::Smpi => Dialect::Smpi,
    };
    Manifest {
        format: FORMAT,
        mpi,
        languages: Vec::new(),
        call_sites: Vec::new(),
        oracles: Vec::new(),
        loops: Vec::new(),
        loops_in_program: 0,
        loops_not_counted: Vec::new(),
        instructions_before: 0,
        instructions_after: 0,
        refused: Vec::new(),
        stops: Vec::new(),
    }
}
