//! Finding the MPI library that a launcher belongs to, and which functions it has.
//!
//! This is for people who ask what is here, and for telling launchers apart; the tracer finds out by itself
//! which MPI it has before it. Libraries are read, never loaded, and nothing is run but `LAUNCHER --version`,
//! where the launcher's name does not say which MPI it is of.

use kizami_model::function::mpi_functions;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, ReadCache};
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whose conventions an MPI library and its launcher follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Open MPI, with `orterun` or `prterun`.
    OpenMpi,
    /// MPICH and its kin (Intel MPI, MVAPICH), with Hydra.
    Mpich,
}

impl Family {
    /// The name people use.
    pub fn name(self) -> &'static str {
        match self {
            Family::OpenMpi => "Open MPI",
            Family::Mpich => "MPICH",
        }
    }

    /// From what a launcher prints when asked for its version.
    pub fn from_version_text(text: &str) -> Option<Family> {
        let has = |part: &str| text.contains(part);
        if has("Open MPI") || has("OpenRTE") || has("open-mpi.org") || has("PRRTE") || has("prterun") {
            Some(Family::OpenMpi)
        } else if has("HYDRA") || has("MPICH") || has("Intel(R) MPI") || has("MVAPICH") {
            Some(Family::Mpich)
        } else {
            None
        }
    }
}

/// One MPI library on disk.
#[derive(Clone, Debug)]
pub struct Library {
    /// Its file, symbolic links resolved.
    pub path: PathBuf,
    /// Whose it is.
    pub family: Family,
    /// It speaks the standard ABI of MPI 5.
    pub standard_abi: bool,
    /// How many functions of the table it has.
    pub functions: usize,
}

impl Library {
    /// Reads the symbols of a file; `None` if it is not an MPI library.
    pub fn read(path: &Path) -> Option<Library> {
        let path = path.canonicalize().ok()?;
        let cache = ReadCache::new(File::open(&path).ok()?);
        let elf: ElfFile64<Endianness, _> = ElfFile64::parse(&cache).ok()?;
        let names: HashSet<&str> =
            elf.dynamic_symbols().filter(|s| s.is_definition()).filter_map(|s| s.name().ok()).collect();
        if !names.contains("MPI_Init") && !names.contains("PMPI_Init") {
            return None;
        }
        let defines = |name: &str| names.contains(format!("P{name}").as_str()) || names.contains(name);
        let functions = mpi_functions().iter().filter(|function| defines(function.name)).count();
        let family = if names.contains("ompi_mpi_comm_world") { Family::OpenMpi } else { Family::Mpich };
        let standard_abi = path.file_name()?.to_string_lossy().starts_with("libmpi_abi.");
        Some(Library { path, family, standard_abi, functions })
    }
}

/// The MPI libraries of a family that are installed with a launcher, each once.
pub fn libraries_of(launcher: &Path, family: Family) -> Vec<Library> {
    let Some(prefix) =
        launcher.canonicalize().ok().and_then(|path| Some(path.parent()?.parent()?.to_owned()))
    else {
        return Vec::new();
    };
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let folders = ["lib".into(), "lib64".into(), format!("lib/{triple}"), "lib/release".into()];
    let mut seen = HashSet::new();
    let mut libraries = Vec::new();
    for folder in folders {
        for candidate in candidates(&prefix.join(folder)) {
            let Ok(real) = candidate.canonicalize() else { continue };
            if !seen.insert(real.clone()) {
                continue;
            }
            libraries.extend(Library::read(&real).filter(|library| library.family == family));
        }
    }
    libraries
}

/// Files of a folder that are named like an MPI library.
fn candidates(folder: &Path) -> Vec<PathBuf> {
    let named_like_mpi = |name: &str| {
        ["libmpi.so", "libmpich.so", "libmpi_abi.so"]
            .iter()
            .any(|stem| name.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| named_like_mpi(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// What a launcher prints when asked for its version.
pub fn version_text(launcher: &Path) -> Option<String> {
    let output = Command::new(launcher).arg("--version").stdin(Stdio::null()).output().ok()?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_recognised_by_the_launchers_output() {
        let family = Family::from_version_text;
        assert_eq!(family("mpirun (Open MPI) 4.1.4\n"), Some(Family::OpenMpi));
        assert_eq!(family("mpirun.openmpi (OpenRTE) 4.1.4"), Some(Family::OpenMpi));
        assert_eq!(family("prterun (PRRTE) 3.0.6"), Some(Family::OpenMpi));
        assert_eq!(family("HYDRA build details:\n    Version: 4.0.2"), Some(Family::Mpich));
        assert_eq!(family("Intel(R) MPI Library for Linux* OS, Version 2021.10"), Some(Family::Mpich));
        assert_eq!(family("something else"), None);
    }

    #[test]
    fn only_the_c_library_is_a_candidate() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["libmpi.so.40", "libmpi_cxx.so.40", "libmpich.so.12", "libmpi_abi.so.0", "libmpi_mpifh.so"]
        {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names: Vec<String> = candidates(folder.path())
            .iter()
            .map(|file| file.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["libmpi.so.40", "libmpi_abi.so.0", "libmpich.so.12"]);
    }
}
