//! The directory a recording goes to: claimed before the run, given its final name after it.
//!
//! A name is claimed by making the directory, which only one process can do, so two recordings never share
//! one and nothing is overwritten. While the number of ranks is not known, the name says `running`. A
//! directory that turns out to hold nothing is taken away again.

use super::naming;
use kizami_trace::RunInfo;
use kizami_trace::write::make_directory;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Folder of the segments within a recording.
pub const RAW: &str = "raw";
const WHILE_RUNNING: &str = "running";
/// The application, where nothing tells its name.
pub const NO_NAME: &str = "mpi";

/// What names a run: as expected before it begins, or as recorded after it.
#[derive(Clone, Debug, Default)]
pub struct Expectation {
    /// The application's name.
    pub application: Option<String>,
    /// The number of ranks.
    pub ranks: Option<u32>,
}

impl Expectation {
    /// As the sealed trace tells it.
    pub fn of_run(run: &RunInfo) -> Expectation {
        let arguments: Vec<OsString> = run.command.iter().skip(1).map(Into::into).collect();
        let application = naming::application(run.executable.as_ref(), &arguments);
        Expectation { application, ranks: Some(run.ranks) }
    }

    /// As the segments' names tell it: every process has one file of definitions, or one that says what it lost.
    pub fn of_segments(raw: &Path) -> Expectation {
        let is_definition =
            |path: PathBuf| path.extension().is_some_and(|ending| ending == "defs" || ending == "lost");
        let entries = std::fs::read_dir(raw).into_iter().flatten().flatten();
        let processes = entries.filter(|entry| is_definition(entry.path())).count();
        Expectation { application: None, ranks: u32::try_from(processes).ok().filter(|count| *count > 0) }
    }
}

/// Why there is no output directory.
#[derive(Debug)]
pub enum OutputError {
    /// The user named something that must not be written to: the application is not to be started.
    Refused(String),
    /// The file system does not let us: the application is to run all the same.
    Unusable(PathBuf, io::Error),
}

/// A directory that is ours.
#[derive(Debug)]
pub struct Output {
    /// The directory, absolute.
    pub directory: PathBuf,
    /// Its name was made up here and may still change.
    naming: Option<Expectation>,
    /// It was there, empty, before us.
    existed: bool,
}

impl Output {
    /// The directory the user named.
    pub fn named(path: &Path) -> Result<Output, OutputError> {
        let directory = absolute(path)?;
        let unusable = |error| OutputError::Unusable(directory.clone(), error);
        let existed = match std::fs::read_dir(&directory).map(|mut entries| entries.next().is_none()) {
            Ok(true) => true,
            Ok(false) => return Err(occupied(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) if error.kind() == ErrorKind::NotADirectory => return Err(occupied(path)),
            // A trace of another user.
            Err(error) if error.kind() == ErrorKind::PermissionDenied && directory.is_dir() => {
                return Err(occupied(path));
            }
            Err(error) => return Err(unusable(error)),
        };
        make_unless_there(&directory).map_err(unusable)?;
        match std::fs::create_dir(directory.join(RAW)) {
            Ok(()) => Ok(Output { directory, naming: None, existed }),
            // Another recording was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(occupied(path)),
            Err(error) => {
                remove_empty(&directory, existed);
                Err(unusable(error))
            }
        }
    }

    /// A directory of the current one, named after the run.
    pub fn unnamed(expected: Expectation) -> Result<Output, OutputError> {
        let folder = absolute(Path::new("."))?;
        let application = expected.application.as_deref().unwrap_or(NO_NAME);
        let directory = claim(&folder, application, &ranks_part(expected.ranks))
            .map_err(|error| OutputError::Unusable(folder.clone(), error))?;
        match std::fs::create_dir(directory.join(RAW)) {
            Ok(()) => Ok(Output { directory, naming: Some(expected), existed: false }),
            Err(error) => {
                remove_empty(&directory, false);
                Err(OutputError::Unusable(folder, error))
            }
        }
    }

    /// Where the tracer is to write.
    pub fn raw(&self) -> PathBuf {
        self.directory.join(RAW)
    }

    /// The folder the directory is in.
    pub fn folder(&self) -> &Path {
        self.directory.parent().unwrap_or(&self.directory)
    }

    /// Gives the directory the name that the recorded run deserves. If that is not possible, the name it has
    /// is as good.
    pub fn name_after(&mut self, recorded: &Expectation) {
        let Some(expected) = &self.naming else { return };
        let application = expected.application.as_ref().or(recorded.application.as_ref());
        let ranks = expected.ranks.or(recorded.ranks);
        if (application, ranks) == (expected.application.as_ref(), expected.ranks) {
            return;
        }
        let named = Expectation { application: application.cloned(), ranks };
        self.directory = self.renamed(self.directory.clone(), &named);
    }

    /// The same for the directory of another program that was recorded by the same command.
    pub fn name_beside(&self, directory: PathBuf, recorded: &Expectation) -> PathBuf {
        if self.naming.is_some() { self.renamed(directory, recorded) } else { directory }
    }

    fn renamed(&self, directory: PathBuf, named: &Expectation) -> PathBuf {
        let name = named.application.as_deref().unwrap_or(NO_NAME);
        let Ok(target) = claim(self.folder(), name, &ranks_part(named.ranks)) else { return directory };
        // Renaming onto an empty directory replaces it in one step; the claim is never given up in between.
        match std::fs::rename(&directory, &target) {
            Ok(()) => target,
            Err(_) => {
                remove_empty(&target, false);
                directory
            }
        }
    }

    /// Takes away what was made, if nothing was put into it.
    pub fn discard_if_empty(&self) {
        let _ = std::fs::remove_dir(self.raw());
        remove_empty(&self.directory, self.existed);
    }
}

fn occupied(path: &Path) -> OutputError {
    OutputError::Refused(format!(
        "{} already exists and is not empty; choose another name with -o, or remove it",
        path.display()
    ))
}

fn ranks_part(ranks: Option<u32>) -> String {
    ranks.map_or_else(|| WHILE_RUNNING.to_owned(), |ranks| ranks.to_string())
}

/// Makes the first directory `kizami-APP-RANKS-N.kz` that does not exist.
fn claim(folder: &Path, application: &str, ranks: &str) -> io::Result<PathBuf> {
    for number in 1u32.. {
        let candidate = folder.join(format!("kizami-{application}-{ranks}-{number}.kz"));
        match make_directory(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Makes the directory of a recording, and the folders it lies in, unless another rank or recording was faster.
pub fn make_unless_there(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory.parent().unwrap_or(directory))?;
    match make_directory(directory) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn absolute(path: &Path) -> Result<PathBuf, OutputError> {
    std::path::absolute(path).map_err(|error| OutputError::Unusable(path.to_owned(), error))
}

/// Leaves nothing behind that was not there before; what is not empty stays.
fn remove_empty(directory: &Path, existed: bool) {
    if !existed {
        let _ = std::fs::remove_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_up_and_are_claimed_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let claim_one = || claim(folder.path(), "ring", "4").unwrap();
        assert_eq!(claim_one().file_name().unwrap(), "kizami-ring-4-1.kz");
        assert_eq!(claim_one().file_name().unwrap(), "kizami-ring-4-2.kz");
        std::fs::remove_dir(folder.path().join("kizami-ring-4-1.kz")).unwrap();
        assert_eq!(claim_one().file_name().unwrap(), "kizami-ring-4-1.kz");
    }

    #[test]
    fn many_claims_at_once_are_all_different() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let claims: Vec<PathBuf> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..16).map(|_| scope.spawn(move || claim(path, "ring", "4").unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(claims.iter().collect::<std::collections::HashSet<_>>().len(), 16);
    }

    #[test]
    fn a_named_directory_must_be_new_or_empty() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a/run.kz");
        let output = Output::named(&run).unwrap();
        assert!(output.raw().is_dir());
        assert!(matches!(Output::named(&run), Err(OutputError::Refused(_))));

        let empty = folder.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        let output = Output::named(&empty).unwrap();
        output.discard_if_empty();
        assert!(empty.is_dir() && !output.raw().exists());

        let file = folder.path().join("file");
        std::fs::write(&file, "precious").unwrap();
        assert!(matches!(Output::named(&file), Err(OutputError::Refused(_))));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    }

    #[test]
    fn an_unwritable_place_is_not_a_usage_error() {
        let unusable = Output::named(Path::new("/proc/no/run.kz"));
        assert!(matches!(unusable, Err(OutputError::Unusable(..))), "{unusable:?}");
    }
}
