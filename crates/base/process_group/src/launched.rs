//! Whether a launcher has started this process together with others.
//!
//! Launchers say so in the environment of the processes they start, and whatever those start finds it there, too. So it is
//! not enough: a process that was started by a rank of an MPI program is no rank of it, and must not try to be one; and of
//! what a script starts, others may never come. The launcher itself must have started it. Slurm's own launcher says nothing
//! of which MPI it is for. There a library has to be named.

use kizami_mpi::LIBRARY_VARIABLE;
use std::os::unix::process::parent_id;

/// What the names of launchers and of what they leave on each host begin with.
const LAUNCHERS: [&str; 12] = [
    "mpirun",
    "mpiexec",
    "orte",
    "prte",
    "hydra",
    "pmi_proxy",
    "srun",
    "slurmstepd",
    "pals",
    "apinit",
    "jsm",
    "flux",
];

/// Whether a known launcher has started this process, alone or with others, or what has started it.
pub fn is_launched() -> bool {
    launched_size(variable).is_some()
}

/// How many processes were started together with this one, if it is not alone.
pub(crate) fn processes() -> Option<u32> {
    let size = launched_size(variable).filter(|processes| *processes > 1)?;
    let parent = std::fs::read_to_string(format!("/proc/{}/comm", parent_id())).unwrap_or_default();
    is_launcher(&parent).then_some(size)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn is_launcher(name: &str) -> bool {
    LAUNCHERS.iter().any(|launcher| name.starts_with(launcher))
}

/// How many processes the environment says were launched.
fn launched_size(variable: impl Fn(&str) -> Option<String>) -> Option<u32> {
    let number = |name: &str| variable(name)?.parse::<u32>().ok();
    let is_named = variable(LIBRARY_VARIABLE).is_some_and(|path| !path.is_empty());
    // Others set what Hydra sets, but not the number of ranks of a host.
    let by_hydra = || number("PMI_SIZE").filter(|_| is_named || number("MPI_LOCALNRANKS").is_some());
    let by_slurm = || number("SLURM_STEP_NUM_TASKS").filter(|_| is_named);
    number("OMPI_COMM_WORLD_SIZE").or_else(by_hydra).or_else(by_slurm)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_by(variables: &[(&str, &str)]) -> Option<u32> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        launched_size(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn launchers_say_how_many_there_are() {
        assert_eq!(size_by(&[]), None);
        assert_eq!(size_by(&[("OMPI_COMM_WORLD_SIZE", "4")]), Some(4));
        assert_eq!(size_by(&[("PMI_SIZE", "3"), ("MPI_LOCALNRANKS", "1")]), Some(3));
        assert_eq!(size_by(&[("OMPI_COMM_WORLD_SIZE", "1")]), Some(1));
        assert_eq!(size_by(&[("OMPI_COMM_WORLD_SIZE", "many")]), None);
    }

    #[test]
    fn processes_of_launchers_on_hosts_are_recognised() {
        for name in ["mpirun.openmpi\n", "orted\n", "prted\n", "hydra_pmi_proxy\n", "slurmstepd\n"] {
            assert!(is_launcher(name), "{name}");
        }
        assert!(["sh\n", "bash\n", "python3\n", ""].iter().all(|name| !is_launcher(name)));
    }

    #[test]
    fn under_slurm_a_library_must_be_named() {
        let step = ("SLURM_STEP_NUM_TASKS", "8");
        assert_eq!(size_by(&[step]), None);
        assert_eq!(size_by(&[step, ("PMI_SIZE", "8")]), None);
        assert_eq!(size_by(&[step, (LIBRARY_VARIABLE, "")]), None);
        assert_eq!(size_by(&[step, (LIBRARY_VARIABLE, "/opt/mpi/lib/libmpi.so")]), Some(8));
    }
}
