//! A skeleton's folder as it is read: `manifest.json`, `skeleton.bc`, and the values of places that depend on data.

use crate::ExecuteError;
use kizami_entry::{Library, Observed, Runs};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The part of `manifest.json` that running needs.
#[derive(Clone, Debug, Deserialize)]
pub struct Manifest {
    /// Whose headers: `openmpi`, `mpich`, `smpi`.
    pub mpi: String,
    /// MPI calls.
    #[serde(default)]
    pub call_sites: Vec<Site>,
    /// Loops that are counted.
    #[serde(default)]
    pub loops: Vec<CountedLoop>,
    /// What could not be sliced.
    #[serde(default)]
    pub refused: Vec<Refusal>,
    /// It is the whole program: everything that is received may steer it.
    #[serde(default)]
    pub whole: bool,
}

/// An MPI call in the source.
#[derive(Clone, Debug, Deserialize)]
pub struct Site {
    /// Its number.
    pub id: u32,
    /// The function that is called, or that the call stands in.
    pub function: String,
    /// Its file.
    #[serde(default)]
    pub file: String,
    /// Its line.
    #[serde(default)]
    pub line: u32,
    /// What it moves matters to the skeleton.
    #[serde(default)]
    pub carries: bool,
}

/// A loop that is counted.
#[derive(Clone, Debug, Deserialize)]
pub struct CountedLoop {
    /// Its number.
    pub id: u32,
    /// Its file.
    #[serde(default)]
    pub file: String,
    /// Its line.
    #[serde(default)]
    pub line: u32,
}

/// Something that could not be sliced.
#[derive(Clone, Debug, Deserialize)]
pub struct Refusal {
    /// Its file.
    #[serde(default)]
    pub file: String,
    /// Its line.
    #[serde(default)]
    pub line: u32,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// What the manifest says.
    pub manifest: Manifest,
    /// The bitcode.
    pub bitcode: PathBuf,
    /// Whose headers it was compiled with.
    pub library: Library,
    /// What was observed of places that depend on data.
    pub observed: Observed,
}

impl Skeleton {
    /// Reads a folder `X.skel`, or a file `X.bc` of a whole program with the headers it was compiled with.
    pub fn open(path: &Path, whole_with: Option<Library>) -> Result<Skeleton, ExecuteError> {
        if let Some(library) = whole_with {
            let manifest = Manifest {
                mpi: String::new(),
                call_sites: Vec::new(),
                loops: Vec::new(),
                refused: Vec::new(),
                whole: true,
            };
            let bitcode = path.to_path_buf();
            return Ok(Skeleton { manifest, bitcode, library, observed: Observed::default() });
        }
        let file = path.join("manifest.json");
        let text = std::fs::read_to_string(&file)
            .map_err(|why| ExecuteError::Skeleton { path: file.clone(), what: why.to_string() })?;
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|why| ExecuteError::Skeleton { path: file.clone(), what: why.to_string() })?;
        let library = match manifest.mpi.as_str() {
            "openmpi" => Library::OpenMpi,
            "mpich" => Library::Mpich,
            "smpi" => Library::Smpi,
            other => {
                let what = format!("it was compiled with the headers of '{other}', which is not known");
                return Err(ExecuteError::Skeleton { path: file, what });
            }
        };
        if let Some(refusal) = manifest.refused.first() {
            let what = format!(
                "it could not be sliced whole: {}:{}: {}",
                refusal.file, refusal.line, refusal.reason
            );
            return Err(ExecuteError::Skeleton { path: path.to_path_buf(), what });
        }
        let observed = read_observed(&path.join("observed"))?;
        Ok(Skeleton { manifest, bitcode: path.join("skeleton.bc"), library, observed })
    }

    /// What people call it: its folder, or the file of a whole program.
    pub fn name(&self) -> String {
        let folder = if self.manifest.whole { None } else { self.bitcode.parent() };
        let name = folder.and_then(Path::file_name).or_else(|| self.bitcode.file_name());
        name.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether what a rank receives from one other may steer it, so that ranks must run together.
    pub fn needs_payloads(&self) -> bool {
        let point_to_point = |site: &Site| {
            let name = site.function.as_str();
            name.contains("ecv")
                || name.contains("_Wait")
                || name.contains("_Test")
                || name.contains("_Start")
        };
        self.manifest.whole
            || self.manifest.call_sites.iter().any(|site| site.carries && point_to_point(site))
    }
}

/// Reads `observed/`, if it is there: a file for each rank, with a head that says which, then lines of a place, a value,
/// and how often it came in a row.
fn read_observed(folder: &Path) -> Result<Observed, ExecuteError> {
    let Ok(files) = std::fs::read_dir(folder) else { return Ok(Observed::default()) };
    let mut by_rank: HashMap<u32, HashMap<u32, Runs>> = HashMap::new();
    for path in files.flatten().map(|file| file.path()) {
        if path.extension().is_none_or(|ending| ending != "values") {
            continue;
        }
        let unreadable = |what: String| ExecuteError::Skeleton { path: path.clone(), what };
        let text = std::fs::read_to_string(&path).map_err(|why| unreadable(why.to_string()))?;
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let ["kizami-observed", "1", rank, _] = head[..] else {
            return Err(unreadable("its first line is not that of observed values".to_owned()));
        };
        let rank = rank.parse::<u32>().map_err(|why| unreadable(why.to_string()))?;
        for line in lines {
            let numbers: Option<Vec<i64>> = line.split(' ').map(|word| word.parse().ok()).collect();
            let Some([place, value, count]) = numbers.as_deref() else {
                return Err(unreadable(format!("this line is not place, value and count: {line}")));
            };
            let runs = by_rank.entry(rank).or_default().entry(*place as u32).or_default();
            runs.push((*value, *count as u64));
        }
    }
    Ok(Observed::of(by_rank))
}
