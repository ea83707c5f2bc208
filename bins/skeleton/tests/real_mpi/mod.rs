//! Real MPIs, and what their compilers and launchers are called.

/// A real MPI.
pub struct Mpi {
    /// How its compilers' names end.
    pub ending: &'static str,
    /// What starts ranks.
    pub launcher: &'static [&'static str],
}

pub const MPICH: Mpi = Mpi { ending: ".mpich", launcher: &["mpirun.mpich"] };
pub const OPEN_MPI: Mpi = Mpi {
    ending: ".openmpi",
    launcher: &["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
};
