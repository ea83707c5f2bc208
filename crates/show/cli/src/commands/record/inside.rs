//! Recording from inside a launcher: `mpirun -n 4 kizami record -o run.kz -- ./app`.
//!
//! Every rank has its own `record` process, and all of them share one directory. A file in it, `record.job`,
//! holds the launcher's identity of the job: the first process writes it, the others recognise their own, and
//! a directory of another job is refused. Each process notes the end of its application; whoever notes
//! last seals. All of this happens under a lock on `record.job`, so no moment is decided by luck. If a
//! process is killed before its note, nobody seals, and `kizami seal` does it later.

use super::output::{Expectation, NO_NAME, OutputError, RAW, make_unless_there};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const JOB_FILE: &str = "record.job";
const NOTE_ENDING: &str = "ended";

/// This process's place in a launched job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its rank.
    pub rank: u32,
    /// How many processes there are, if the launcher tells.
    pub size: Option<u32>,
    /// What is the same for all processes of this job and for no other; empty if the launcher does not tell.
    pub job: String,
}

/// When a process noted its end, among those of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// No other has ended yet.
    First,
    /// Others have ended, others have not.
    Between,
    /// All have ended.
    Last,
    /// The launcher does not say how many there are.
    Unknown,
}

/// The variables in which launchers tell rank and size, best first.
const PLACES: [(&str, &[&str]); 5] = [
    ("OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"]),
    ("PMI_RANK", &["PMI_SIZE"]),
    ("PALS_RANKID", &["PALS_NRANKS", "PALS_SIZE"]),
    ("PMIX_RANK", &["SLURM_STEP_NUM_TASKS"]),
    // Slurm's batch script has a SLURM_PROCID too; only a step has a number of tasks.
    ("SLURM_PROCID", &["SLURM_STEP_NUM_TASKS"]),
];

impl Place {
    /// Where this process is, if a launcher started several like it.
    pub fn of_this_process() -> Option<Place> {
        Place::from_variables(|name| std::env::var(name).ok(), hydra_port)
    }

    fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
        hydra_port: impl Fn() -> Option<String>,
    ) -> Option<Place> {
        let number = |name: &str| variable(name)?.parse::<u32>().ok();
        let (rank, size) = PLACES.iter().find_map(|(rank_name, size_names)| {
            let rank = number(rank_name)?;
            let size = size_names.iter().find_map(|name| number(name));
            (*rank_name != "SLURM_PROCID" || size.is_some()).then_some((rank, size))
        })?;
        if size == Some(1) {
            return None;
        }
        let of = |names: &[&str]| {
            let values: Vec<String> = names.iter().filter_map(|name| variable(name)).collect();
            (!values.is_empty()).then(|| values.join("/"))
        };
        let job = of(&["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_precondition_transports"])
            .or_else(|| of(&["SLURM_JOB_ID", "SLURM_STEP_ID"]))
            .or_else(|| of(&["PALS_APID"]))
            .or_else(hydra_port)
            .or_else(|| of(&["PBS_JOBID", "LSB_JOBID", "COBALT_JOBID"]))
            .unwrap_or_default();
        Some(Place { rank, size, job })
    }

    /// Joins the others in the directory for this run.
    pub fn join(&self, given: Option<&Path>, expected: &Expectation) -> Result<PathBuf, OutputError> {
        if let Some(given) = given {
            let directory =
                std::path::absolute(given).map_err(|error| OutputError::Unusable(given.to_owned(), error))?;
            return match self.try_join(&directory) {
                Ok(true) => Ok(directory),
                Ok(false) => Err(OutputError::Refused(format!(
                    "{} already exists and belongs to another run; choose another name with -o, or remove it",
                    given.display()
                ))),
                Err(error) => Err(OutputError::Unusable(directory, error)),
            };
        }
        let folder = std::env::current_dir().map_err(|error| OutputError::Unusable(".".into(), error))?;
        for number in 1.. {
            let directory = folder.join(self.default_name(expected, number));
            match self.try_join(&directory) {
                Ok(true) => return Ok(directory),
                Ok(false) => {}
                Err(error) => return Err(OutputError::Unusable(directory, error)),
            }
        }
        unreachable!("numbers do not end")
    }

    fn default_name(&self, expected: &Expectation, number: u32) -> String {
        let application = expected.application.as_deref().unwrap_or(NO_NAME);
        let ranks = self.size.map_or_else(|| "all".to_owned(), |size| size.to_string());
        let again = if number > 1 { format!("-{number}") } else { String::new() };
        format!("kizami-{application}-{ranks}-{:08x}{again}.kz", short_hash(&self.job))
    }

    /// True if the directory is this job's: it was new or empty, or another process of this job made it so.
    fn try_join(&self, directory: &Path) -> io::Result<bool> {
        match std::fs::read_dir(directory) {
            Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(false),
            Ok(entries) => {
                let foreign = |name: &str| name != RAW;
                if entries.flatten().any(|entry| foreign(&entry.file_name().to_string_lossy())) {
                    return Ok(false);
                }
            }
            // A trace of another user.
            Err(error) if error.kind() == ErrorKind::PermissionDenied && directory.exists() => {
                return Ok(false);
            }
            Err(_) => {}
        }
        let raw = directory.join(RAW);
        make_unless_there(directory)?;
        std::fs::create_dir_all(&raw)?;
        let mut job_file = Locked::open(&raw)?;
        let mut owner = String::new();
        job_file.0.read_to_string(&mut owner)?;
        let mine = format!("{}\n", self.job);
        if owner.is_empty() {
            let others = std::fs::read_dir(&raw)?.flatten().any(|entry| entry.file_name() != JOB_FILE);
            if others {
                return Ok(false);
            }
            job_file.0.write_all(mine.as_bytes())?;
            return Ok(true);
        }
        Ok(owner == mine)
    }

    /// Notes that this rank's application ended.
    pub fn note_end(&self, directory: &Path, exit_code: u8) -> io::Result<Noted> {
        let raw = directory.join(RAW);
        let _lock = Locked::open(&raw)?;
        let note = raw.join(format!("{}.{NOTE_ENDING}", self.rank));
        own_file().truncate(true).open(note)?.write_all(format!("{exit_code}\n").as_bytes())?;
        let Some(size) = self.size else { return Ok(Noted::Unknown) };
        let is_note = |path: &Path| path.extension().is_some_and(|ending| ending == NOTE_ENDING);
        let notes = std::fs::read_dir(&raw)?.flatten().filter(|entry| is_note(&entry.path())).count();
        Ok(match notes {
            _ if notes as u64 == u64::from(size) => Noted::Last,
            1 => Noted::First,
            _ => Noted::Between,
        })
    }
}

/// To write a file among the segments, made if it is not there. A link that somebody put there is not followed.
fn own_file() -> std::fs::OpenOptions {
    let mut options = File::options();
    options.write(true).create(true).custom_flags(libc::O_NOFOLLOW);
    options
}

/// `record.job`, with an exclusive lock that ends with this value.
struct Locked(File);

impl Locked {
    fn open(raw: &Path) -> io::Result<Locked> {
        let path = raw.join(JOB_FILE);
        let file = own_file().read(true).truncate(false).open(path)?;
        // Signals come while it waits.
        while let Err(error) = file.lock() {
            if error.kind() != ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(Locked(file))
    }
}

/// Removes the notes and the job file, so that only segments are left; the folder too, if nothing is.
pub fn tidy(directory: &Path) {
    let raw = directory.join(RAW);
    let ours = |path: &Path| {
        path.file_name().is_some_and(|name| name == JOB_FILE)
            || path.extension().is_some_and(|ending| ending == NOTE_ENDING)
    };
    for entry in std::fs::read_dir(&raw).into_iter().flatten().flatten() {
        if ours(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(&raw);
    let _ = std::fs::remove_dir(directory);
}

/// The address that all of Hydra's proxies report to: one for each job. Hydra gives its ranks no identity of
/// the job, but its proxy is an ancestor of each of them and has it on its command line.
fn hydra_port() -> Option<String> {
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..8 {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let mut words = line.split(|byte| *byte == 0);
        if words.any(|word| word == b"--control-port") {
            return words.next().map(|port| String::from_utf8_lossy(port).into_owned());
        }
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The second field is the name in brackets and may hold anything; the parent is the second behind it.
        process =
            stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 1)?;
    }
    None
}

fn short_hash(text: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Option<Place> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned());
        Place::from_variables(variable, || None)
    }

    fn of_job(rank: u32, job: &str) -> Place {
        Place { rank, size: Some(3), job: job.to_owned() }
    }

    #[test]
    fn launchers_give_rank_size_and_job() {
        let open_mpi =
            place(&[("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_NAMESPACE", "77")]);
        assert_eq!(open_mpi, Some(Place { rank: 2, size: Some(4), job: "77".into() }));
        let slurm = [
            ("SLURM_PROCID", "1"),
            ("SLURM_STEP_NUM_TASKS", "8"),
            ("SLURM_JOB_ID", "5"),
            ("SLURM_STEP_ID", "0"),
        ];
        assert_eq!(place(&slurm), Some(Place { rank: 1, size: Some(8), job: "5/0".into() }));
    }

    #[test]
    fn one_process_alone_is_not_inside() {
        assert_eq!(place(&[]), None);
        assert_eq!(place(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), None);
        assert_eq!(place(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), None);
    }

    #[test]
    fn ranks_of_a_job_share_a_directory_and_the_last_one_seals() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run.kz");
        for rank in 0..3 {
            assert_eq!(of_job(rank, "a").join(Some(&run), &Expectation::default()).unwrap(), run);
        }
        assert_eq!(of_job(2, "a").note_end(&run, 0).unwrap(), Noted::First);
        assert_eq!(of_job(0, "a").note_end(&run, 0).unwrap(), Noted::Between);
        assert_eq!(of_job(0, "a").note_end(&run, 0).unwrap(), Noted::Between, "a second note does not count");
        assert_eq!(of_job(1, "a").note_end(&run, 1).unwrap(), Noted::Last);
        tidy(&run);
        assert!(!run.exists());
    }

    #[test]
    fn another_jobs_directory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run.kz");
        of_job(0, "a").join(Some(&run), &Expectation::default()).unwrap();
        let other = of_job(0, "b").join(Some(&run), &Expectation::default());
        assert!(matches!(other, Err(OutputError::Refused(_))));

        let sealed = folder.path().join("sealed.kz");
        std::fs::create_dir(&sealed).unwrap();
        std::fs::write(sealed.join("run.json"), "{}").unwrap();
        let other = of_job(0, "b").join(Some(&sealed), &Expectation::default());
        assert!(matches!(other, Err(OutputError::Refused(_))));
    }

    #[test]
    fn all_ranks_make_up_the_same_name() {
        let expected = Expectation { application: Some("ring".into()), ranks: None };
        let name = of_job(0, "a").default_name(&expected, 1);
        assert_eq!(name, of_job(2, "a").default_name(&expected, 1));
        assert_ne!(name, of_job(0, "b").default_name(&expected, 1));
        assert!(name.starts_with("kizami-ring-3-") && name.ends_with(".kz"), "{name}");
    }
}
