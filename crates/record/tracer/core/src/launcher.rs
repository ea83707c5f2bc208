//! What the launcher put into the environment of this process: its rank, and how many there are.
//!
//! Known before `MPI_Init`, and without communication.

use crate::identity::Identity;

/// Variables in which launchers set rank and number of ranks.
const PLACE: [[&str; 2]; 3] = [
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMI_RANK", "PMI_SIZE"],
    ["SLURM_PROCID", "SLURM_NTASKS"],
];

/// Rank and size; alone if no launcher sets them.
pub fn place() -> Option<(u32, u32)> {
    let given = PLACE.into_iter().find_map(|[rank, size]| Some((number(rank)?, number(size)?)));
    given.or(Some((0, 1))).filter(|(rank, size)| rank < size)
}

/// Whether all `size` ranks of the world are known to run on one host. All ranks get the same answer: if as many as
/// there are run on the host of one, they all run there. Variables of an outer launcher, which name another
/// number of ranks, do not count.
pub fn one_host(size: u32) -> bool {
    one_host_by(number, size)
}

fn one_host_by(number: impl Fn(&str) -> Option<u32>, size: u32) -> bool {
    let given = |name| number(name) == Some(size);
    if given("OMPI_COMM_WORLD_SIZE") {
        return given("OMPI_COMM_WORLD_LOCAL_SIZE");
    }
    if given("PMI_SIZE") {
        // Hydra sets the ranks here; under Slurm's own PMI the step sets its nodes.
        return given("MPI_LOCALNRANKS") || number("SLURM_STEP_NUM_NODES") == Some(1);
    }
    given("SLURM_NTASKS") && number("SLURM_STEP_NUM_NODES") == Some(1)
}

/// How many ranks run on this host, if the launcher sets it.
pub fn ranks_here() -> Option<u32> {
    number("OMPI_COMM_WORLD_LOCAL_SIZE").or_else(|| number("MPI_LOCALNRANKS"))
}

/// A number that is the same for all processes of one launch and for no other; 0 if unknown.
pub fn launch() -> u64 {
    let named = |names: &[&str]| {
        let values: Option<Vec<String>> = names.iter().map(|name| std::env::var(name).ok()).collect();
        values.map(|values| values.join("/"))
    };
    let by_name = LAUNCHES.iter().find_map(|names| named(names));
    // A job of a batch system may launch several.
    let text = by_name.or_else(hydra_port).or_else(|| named(&["SLURM_JOB_ID", "SLURM_STEP_ID"]));
    text.map_or(0, |text| {
        text.bytes().fold(Identity::new(LAUNCH), |id, byte| id.with(byte.into())).number() | 1
    })
}

/// What distinguishes numbers of launches from others.
const LAUNCH: u64 = 0x1a_0ac4;

/// The variables in which launchers name the job, best first.
const LAUNCHES: [&[&str]; 4] = [
    &["PMIX_NAMESPACE"],
    &["OMPI_MCA_ess_base_jobid"],
    &["OMPI_MCA_orte_precondition_transports"],
    &["PALS_APID"],
];

/// The address that all of Hydra's proxies report to. It gives its ranks no name of the job, but its proxy is an ancestor
/// of each of them and has the address on its command line.
fn hydra_port() -> Option<String> {
    std::env::var_os("PMI_FD").or_else(|| std::env::var_os("PMI_PORT"))?;
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..ANCESTORS {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let mut words = line.split(|byte| *byte == 0);
        if words.any(|word| word == b"--control-port") {
            return words.next().map(|port| String::from_utf8_lossy(port).into_owned());
        }
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The second field is the name in brackets and may hold anything; the parent is the second behind it.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        process = parent.parse().ok().filter(|parent| *parent > 1)?;
    }
    None
}

/// How far up a proxy may be.
const ANCESTORS: usize = 8;

fn number(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_host(variables: &[(&str, u32)], size: u32) -> bool {
        one_host_by(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value), size)
    }

    #[test]
    fn only_the_launcher_of_this_world_counts() {
        assert!(one_host(&[("OMPI_COMM_WORLD_SIZE", 4), ("OMPI_COMM_WORLD_LOCAL_SIZE", 4)], 4));
        assert!(!one_host(&[("OMPI_COMM_WORLD_SIZE", 4), ("OMPI_COMM_WORLD_LOCAL_SIZE", 2)], 4));
        assert!(one_host(&[("PMI_SIZE", 2), ("MPI_LOCALNRANKS", 2)], 2));
        let outer = [("SLURM_NTASKS", 1), ("SLURM_STEP_NUM_NODES", 1)];
        assert!(!one_host(&outer, 4));
        let nested = [outer[0], outer[1], ("PMI_SIZE", 4), ("MPI_LOCALNRANKS", 2)];
        assert!(one_host(&[("SLURM_NTASKS", 8), ("SLURM_STEP_NUM_NODES", 1)], 8));
        assert!(!one_host(&nested[2..], 4));
        assert!(!one_host(&[], 2));
    }
}
