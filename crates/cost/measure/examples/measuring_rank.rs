//! A measuring rank, to be started by hand:
//!
//! `printf 'measure MPI_Allreduce plain 1024 500 0.05 0.03\nquit\n' | mpirun -n 2 measuring_rank`

fn main() {
    if let Err(error) = kizami_measure::run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
