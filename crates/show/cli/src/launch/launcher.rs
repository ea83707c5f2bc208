//! Launchers, and how they are told apart: by their names or, where these do not tell, by what they say of themselves.

use super::library::{self, Family};
use crate::programs::on_path;
use std::ffi::OsStr;
use std::path::Path;

/// The kinds of launchers that are treated differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// Open MPI's: `-x NAME=VALUE` for each program.
    OpenMpi,
    /// MPICH's, Intel's: `-genv NAME VALUE` for all programs.
    Hydra,
    /// Slurm's: `--export=ALL,NAME=VALUE`.
    Srun,
    /// SimGrid's: one process with all ranks, which inherits the plain environment.
    Smpi,
    /// None, or one that is not known: the plain environment.
    None,
}

impl Launcher {
    /// What kind of launcher a program is, by its name or, where that does not tell, by its own word.
    pub fn of(program: &OsStr) -> Launcher {
        let Some(found) = on_path(Path::new(program)) else { return Launcher::None };
        let real = found.canonicalize().unwrap_or_else(|_| found.clone());
        let by_name =
            [&found, &real].into_iter().filter_map(|path| path.file_name()?.to_str()).find_map(by_name);
        match by_name {
            Some(launcher) => launcher,
            None if may_be_launcher(&found) => {
                match library::version_text(&found).and_then(|text| Family::from_version_text(&text)) {
                    Some(Family::OpenMpi) => Launcher::OpenMpi,
                    Some(Family::Mpich) => Launcher::Hydra,
                    None => Launcher::None,
                }
            }
            None => Launcher::None,
        }
    }

    /// The MPI it belongs to, if it belongs to one.
    pub fn family(self) -> Option<Family> {
        match self {
            Launcher::OpenMpi => Some(Family::OpenMpi),
            Launcher::Hydra => Some(Family::Mpich),
            Launcher::Srun | Launcher::Smpi | Launcher::None => None,
        }
    }
}

fn by_name(name: &str) -> Option<Launcher> {
    match name {
        "orterun" | "prterun" | "prun" | "prte" | "mpirun.openmpi" | "mpiexec.openmpi" => {
            Some(Launcher::OpenMpi)
        }
        "mpiexec.hydra" | "mpirun.hydra" | "mpirun.mpich" | "mpiexec.mpich" | "mpirun.intel" => {
            Some(Launcher::Hydra)
        }
        "srun" => Some(Launcher::Srun),
        "smpirun" => Some(Launcher::Smpi),
        _ => None,
    }
}

/// Names that several MPIs use.
fn may_be_launcher(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("mpirun") || name.starts_with("mpiexec")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_recognised_by_name() {
        assert_eq!(by_name("orterun"), Some(Launcher::OpenMpi));
        assert_eq!(by_name("mpiexec.hydra"), Some(Launcher::Hydra));
        assert_eq!(by_name("srun"), Some(Launcher::Srun));
        assert_eq!(by_name("smpirun"), Some(Launcher::Smpi));
        assert_eq!(by_name("python3"), None);
        assert!(may_be_launcher(Path::new("/opt/bin/mpirun")));
        assert!(!may_be_launcher(Path::new("/opt/bin/mpicc")));
        assert_eq!(Launcher::of(OsStr::new("/bin/true")), Launcher::None);
        assert_eq!(Launcher::of(OsStr::new("no-such-program-anywhere")), Launcher::None);
    }
}
