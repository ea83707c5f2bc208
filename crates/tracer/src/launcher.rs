//! What the launcher put into the environment of this process: its rank, and how many there are.
//!
//! Known before `MPI_Init`, and without asking anybody.

/// Variables in which launchers tell rank, ranks in all, and ranks on this host.
const VARIABLES: [[&str; 3]; 3] = [
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"],
    ["PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"],
    ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE"],
];

/// Rank and size; alone if no launcher tells.
pub fn place() -> Option<(u32, u32)> {
    let told = VARIABLES.into_iter().find_map(|[rank, size, _]| Some((number(rank)?, number(size)?)));
    told.or(Some((0, 1))).filter(|(rank, size)| rank < size)
}

/// Whether all ranks are known to run on one host. All ranks get the same answer: if as many as there are run
/// on the host of one, they all run there.
pub fn one_host() -> bool {
    VARIABLES.into_iter().any(|[_, size, here]| number(size).is_some_and(|size| number(here) == Some(size)))
}

fn number(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}
