//! What `manifest.json` says of a skeleton.

use crate::{FolderError, MANIFEST};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// What a skeleton is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format: [`FORMAT`].
    pub format: u32,
    /// Whose headers the program was compiled with.
    pub mpi: Dialect,
    /// Languages of its sources: `c`, `c++`, `fortran`.
    pub languages: Vec<String>,
    /// MPI calls that were kept; `id` is the argument of `__kizami_site`.
    pub call_sites: Vec<CallSite>,
    /// Places that depend on data; `id` is the argument of `__kizami_oracle`.
    pub oracles: Vec<Oracle>,
    /// Loops that are counted; `id` is the first argument of `__kizami_trips`.
    pub loops: Vec<CountedLoop>,
    /// How many loops the program has that hold no MPI call, counted or not.
    pub loops_in_program: u64,
    /// Those that are not counted; here `id` is the place among all of them, in which counted ones stand as well.
    #[serde(default)]
    pub loops_not_counted: Vec<CountedLoop>,
    /// LLVM instructions of the whole program.
    pub instructions_before: u64,
    /// LLVM instructions of the skeleton.
    pub instructions_after: u64,
    /// What could not be sliced; a skeleton with any is not to be run.
    pub refused: Vec<Refusal>,
    /// Calls at which a rank that comes there stops, because nobody can make them.
    #[serde(default)]
    pub stops: Vec<Refusal>,
}

impl Manifest {
    /// Reads the manifest of a skeleton's folder.
    pub fn read(folder: &Path) -> Result<Manifest, FolderError> {
        let file = folder.join(MANIFEST);
        let text =
            std::fs::read_to_string(&file).map_err(|why| FolderError::Read { file: file.clone(), why })?;
        let unfit = |why: String| FolderError::Manifest { file: file.clone(), why };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|why| unfit(why.to_string()))?;
        if manifest.format != FORMAT {
            return Err(unfit(format!(
                "its format is {}, this version of Kizami reads {FORMAT}",
                manifest.format
            )));
        }
        Ok(manifest)
    }

    /// Writes it into a skeleton's folder.
    pub fn write(&self, folder: &Path) -> Result<(), FolderError> {
        let file = folder.join(MANIFEST);
        let text = serde_json::to_string_pretty(self).expect("manifests are plain data");
        std::fs::write(&file, text + "\n").map_err(|why| FolderError::Write { file, why })
    }
}

/// Whose headers a program was compiled with: handles, constants and statuses differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Open MPI.
    OpenMpi,
    /// MPICH and its relatives.
    Mpich,
    /// SimGrid's SMPI.
    Smpi,
}

impl Dialect {
    /// The value of `MPI_ANY_SOURCE`.
    pub fn any_source(self) -> i64 {
        match self {
            Dialect::OpenMpi => -1,
            Dialect::Mpich => -2,
            Dialect::Smpi => -555,
        }
    }

    /// The name in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::OpenMpi => "openmpi",
            Dialect::Mpich => "mpich",
            Dialect::Smpi => "smpi",
        }
    }
}

/// An MPI call in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// Its number.
    pub id: u32,
    /// The function, as `MPI_Send`.
    pub function: String,
    /// File of the source.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// Whether its payload matters: the skeleton computes what is sent and uses what arrives.
    pub carries: bool,
}

/// A place that depends on data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oracle {
    /// Its number.
    pub id: u32,
    /// File of the source.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// The variable, or what is there instead of one.
    pub variable: String,
    /// File and line of an MPI call that depends on it.
    pub asked_by: Option<String>,
    /// Files and lines from there back to where the data came in.
    #[serde(default)]
    pub because: Vec<String>,
}

/// A loop without MPI calls, whose body is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedLoop {
    /// Its number.
    pub id: u32,
    /// File of the source.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// The function it is in.
    pub function: String,
}

/// Something that cannot be sliced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// File of the source; empty if it is not known.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// Why.
    pub reason: String,
}
