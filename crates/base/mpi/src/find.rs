//! Where the launcher's MPI library may be.
//!
//! A process must use the library its launcher belongs to: with another one, each rank would be alone in a world of
//! one. The launcher is the nearest parent process whose executable has a known name (proxies such as
//! `hydra_pmi_proxy` and `prted` stand between and come from the same folder); its variables name the family where
//! the parents do not, as under Slurm. Nothing is opened here; this only lists what is worth trying.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable that names the library and ends all searching.
pub const LIBRARY_VARIABLE: &str = "KIZAMI_MPI_LIBRARY";

/// How many parents are asked; shells and wrappers may stand between.
const MOST_PARENTS: usize = 8;

/// Whose launcher started this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    OpenMpi,
    Mpich,
}

/// What to try, best first.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// Paths, or names for the dynamic linker to find.
    pub names: Vec<String>,
    /// A library of another family is not to be taken.
    pub family: Option<Family>,
}

/// Lists them for this process.
pub(crate) fn candidates() -> Candidates {
    if let Some(path) = env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
        return Candidates { names: vec![path.to_string_lossy().into_owned()], family: None };
    }
    let launcher = parents().find_map(|executable| Some((family_by_name(&executable)?, executable)));
    let family = launcher.as_ref().map(|(family, _)| *family).or_else(family_by_environment);
    let names = names(family);
    let beside = launcher.iter().flat_map(|(_, executable)| folders(executable));
    let beside = beside.flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    let found = beside.filter(|path| path.exists()).map(|path| path.to_string_lossy().into_owned());
    let names = found.chain(names.iter().map(|name| name.to_string())).collect();
    Candidates { names, family }
}

/// The executables of the parent processes, nearest first.
fn parents() -> impl Iterator<Item = PathBuf> {
    let of = |process: u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        parent_in_stat(&stat).filter(|parent| *parent > 1)
    };
    std::iter::successors(of(std::process::id()), move |process| of(*process))
        .take(MOST_PARENTS)
        .filter_map(|process| fs::read_link(format!("/proc/{process}/exe")).ok())
}

/// The parent's number in `/proc/PID/stat`: the second field behind the name, which may itself have brackets.
fn parent_in_stat(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The family of a launcher, if its name shows it.
fn family_by_name(executable: &Path) -> Option<Family> {
    let name = executable.file_name()?.to_str()?;
    match name {
        "orterun" | "orted" | "prterun" | "prte" | "prted" | "ompirun_wrapper" => Some(Family::OpenMpi),
        _ if name.starts_with("hydra_") || name.starts_with("mpiexec.") => Some(Family::Mpich),
        _ => None,
    }
}

/// Whose launcher left its variables. Not every `OMPI_` variable is one of a launcher: users set some themselves.
fn family_by_environment() -> Option<Family> {
    let any = |names: &[&str]| names.iter().any(|name| env::var_os(name).is_some());
    if any(&["OMPI_COMM_WORLD_SIZE", "OMPI_UNIVERSE_SIZE", "PRTE_LAUNCHED"]) {
        Some(Family::OpenMpi)
    } else if any(&["PMI_RANK", "MPI_LOCALNRANKS", "HYDI_CONTROL_FD"]) {
        Some(Family::Mpich)
    } else if any(&["PMIX_NAMESPACE"]) {
        Some(Family::OpenMpi)
    } else {
        None
    }
}

/// What the library of a family is called, newest convention last: the family's own needs no translation.
fn names(family: Option<Family>) -> &'static [&'static str] {
    match family {
        Some(Family::OpenMpi) => &["libmpi.so.40", "libmpi.so", "libmpi_abi.so.1", "libmpi_abi.so.0"],
        Some(Family::Mpich) => {
            &["libmpich.so.12", "libmpi.so.12", "libmpi.so", "libmpi_abi.so.1", "libmpi_abi.so.0"]
        }
        None => &[
            "libmpi.so.40",
            "libmpich.so.12",
            "libmpi.so.12",
            "libmpi.so",
            "libmpi_abi.so.1",
            "libmpi_abi.so.0",
        ],
    }
}

/// Where a launcher's libraries are, seen from its executable.
fn folders(executable: &Path) -> Vec<PathBuf> {
    let Some(prefix) = executable.parent().and_then(Path::parent) else { return Vec::new() };
    let system = format!("lib/{}-linux-gnu", env::consts::ARCH);
    ["lib", "lib64", system.as_str(), "lib/release"].iter().map(|folder| prefix.join(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_found_behind_a_name_with_brackets() {
        assert_eq!(parent_in_stat("12 (a ) (b) S 7 12 12"), Some(7));
        assert_eq!(parent_in_stat("12"), None);
    }

    #[test]
    fn launchers_name_their_family() {
        let of = |path: &str| family_by_name(Path::new(path));
        assert_eq!(of("/usr/bin/orterun"), Some(Family::OpenMpi));
        assert_eq!(of("/opt/mpich/bin/hydra_pmi_proxy"), Some(Family::Mpich));
        assert_eq!(of("/usr/bin/bash"), None);
    }

    #[test]
    fn libraries_stand_beside_the_folder_of_the_launcher() {
        let folders = folders(Path::new("/opt/mpi/bin/prterun"));
        assert!(folders.contains(&PathBuf::from("/opt/mpi/lib")));
    }
}
