//! Whether a launcher has started this process together with others.
//!
//! Launchers say so in the environment of the processes they start, and whatever those start finds it there, too. So it
//! is not enough: a process that was started by a rank of an MPI program is no rank of it, and must not try to be one.
//! Slurm's own launcher says nothing of which MPI it is for. There a library has to be named.

use kizami_mpi::LIBRARY_VARIABLE;
use std::os::unix::process::parent_id;

/// How many parents are asked whether they are ranks; shells and wrappers may stand between.
const MOST_PARENTS: usize = 8;
/// What MPI's library is called where a process has it in memory.
const LIBRARIES: [&str; 3] = ["/libmpi.so", "/libmpich.so", "/libmpi_abi.so"];
/// What the names of launchers and of what they leave on each host begin with. Whoever has started those is no rank of theirs.
const LAUNCHERS: [&str; 8] =
    ["mpirun", "mpiexec", "orte", "prte", "hydra", "pmi_proxy", "srun", "slurmstepd"];

/// How many processes were started together with this one, if it is not alone.
pub(crate) fn processes() -> Option<u32> {
    let told = told(|name| std::env::var(name).ok())?;
    (!is_below_a_rank()).then_some(told)
}

/// Whether a launcher itself has started this process, and others beside it: no script or program stands between, so that
/// the others run the same.
pub fn started_by_launcher() -> bool {
    told(|name| std::env::var(name).ok()).is_some() && is_launcher(&name_of(parent_id()))
}

fn name_of(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default()
}

fn is_launcher(name: &str) -> bool {
    LAUNCHERS.iter().any(|launcher| name.starts_with(launcher))
}

/// What the environment says.
fn told(variable: impl Fn(&str) -> Option<String>) -> Option<u32> {
    let number = |name: &str| variable(name)?.parse::<u32>().ok();
    let is_named = variable(LIBRARY_VARIABLE).is_some_and(|path| !path.is_empty());
    // Others set what Hydra sets, but not the number of ranks of a host.
    let by_hydra = || number("PMI_SIZE").filter(|_| is_named || number("MPI_LOCALNRANKS").is_some());
    let by_slurm = || number("SLURM_STEP_NUM_TASKS").filter(|_| is_named);
    let told = number("OMPI_COMM_WORLD_SIZE").or_else(by_hydra).or_else(by_slurm);
    told.filter(|processes| *processes > 1)
}

/// Whether a parent below the launcher has loaded an MPI library.
fn is_below_a_rank() -> bool {
    let mut process = parent_id();
    for _ in 0..MOST_PARENTS {
        if process <= 1 || is_launcher(&name_of(process)) {
            return false;
        }
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        if LIBRARIES.iter().any(|library| maps.contains(library)) {
            return true;
        }
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // Behind the name, which may have brackets itself: state, parent.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        process = parent.unwrap_or(0);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_by(variables: &[(&str, &str)]) -> Option<u32> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        told(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn launchers_say_how_many_there_are() {
        assert_eq!(told_by(&[]), None);
        assert_eq!(told_by(&[("OMPI_COMM_WORLD_SIZE", "4")]), Some(4));
        assert_eq!(told_by(&[("PMI_SIZE", "3"), ("MPI_LOCALNRANKS", "1")]), Some(3));
        assert_eq!(told_by(&[("OMPI_COMM_WORLD_SIZE", "1")]), None, "nobody to share with");
        assert_eq!(told_by(&[("OMPI_COMM_WORLD_SIZE", "many")]), None);
    }

    #[test]
    fn under_slurm_a_library_must_be_named() {
        let step = ("SLURM_STEP_NUM_TASKS", "8");
        assert_eq!(told_by(&[step]), None);
        assert_eq!(told_by(&[step, ("PMI_SIZE", "8")]), None);
        assert_eq!(told_by(&[step, (LIBRARY_VARIABLE, "")]), None);
        assert_eq!(told_by(&[step, (LIBRARY_VARIABLE, "/opt/mpi/lib/libmpi.so")]), Some(8));
    }
}
