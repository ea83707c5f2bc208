//! Senders whose receivers are late under real MPIs. Within a host everything that does not fit into a small box waits until the
//! receiver is in MPI.

use super::ATTEMPTS;
use crate::late_receivers::is_right;
use crate::mpi::mpi;
use kizami_testing::timing::majority_of;

/// Where cores are busy, a send that does not wait may lose its core, and one that waits may get it back late.
const NOISE: f64 = 0.05;

fn check(name: &'static str, sizes: &str, mode: &str) {
    majority_of(ATTEMPTS, &format!("{name} {mode}"), || is_right(&mpi(name), sizes, mode, NOISE));
}

#[test]
fn late_receivers_are_found_at_every_size_with_open_mpi() {
    check("openmpi", "80,8000,60000,100000", "send");
    check("openmpi", "80,8000,100000", "progress");
}

#[test]
fn late_receivers_are_found_at_every_size_with_mpich() {
    check("mpich", "80,4000,20000,100000", "isend");
    check("mpich", "80,20000,100000", "progress");
}
