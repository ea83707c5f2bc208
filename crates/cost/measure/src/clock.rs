//! One clock for all ranks.
//!
//! Times are nanoseconds since rank 0 started, as rank 0's host counts them. Ranks on the same host read the same
//! clock. Others have compared theirs with rank 0's by messages: half of the shortest round trip is the best guess of
//! when their answer was written. Clocks drift apart by some microseconds a second, which is not followed.

use kizami_mpi::{Comm, Incoming, Mpi, MpiError, Outgoing};

const TAG: i32 = 71;
const ROUND_TRIPS: usize = 20;

/// The clock of this rank, set to rank 0's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero_ns: i64,
}

/// What the host's clock says.
fn monotonic_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for the answer; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

impl Clock {
    /// Compares all ranks' clocks with rank 0's. `elsewhere` says for each rank whether it is on another host than
    /// rank 0; only rank 0 need know it for others than itself.
    pub(crate) fn compare(mpi: &Mpi, world: &Comm, elsewhere: &[bool]) -> Result<Clock, MpiError> {
        let mut zero = monotonic_ns().to_ne_bytes();
        mpi.call(world, kizami_mpi::Collective::Bcast { data: &mut zero, root: 0 })?;
        let first_zero_ns = i64::from_ne_bytes(zero);
        let mut ahead_ns = 0;
        if world.rank() == 0 {
            for other in (1..world.size()).filter(|other| elsewhere[*other as usize]) {
                ask(mpi, world, other)?;
            }
        } else if elsewhere[world.rank() as usize] {
            ahead_ns = answer(mpi, world)?;
        }
        Ok(Clock { zero_ns: first_zero_ns + ahead_ns })
    }

    /// The time now.
    #[inline]
    pub(crate) fn now_ns(&self) -> f64 {
        (monotonic_ns() - self.zero_ns) as f64
    }

    /// Computes, without asking MPI for anything, for so long.
    pub(crate) fn spin(&self, length_ns: f64) {
        let end_ns = self.now_ns() + length_ns;
        while self.now_ns() < end_ns {
            std::hint::spin_loop();
        }
    }
}

/// Rank 0's side: asks another rank for its time, and sends it how far it is ahead.
fn ask(mpi: &Mpi, world: &Comm, other: u32) -> Result<(), MpiError> {
    let (mut shortest_ns, mut ahead_ns) = (i64::MAX, 0);
    let mut theirs = [0; 8];
    for _ in 0..ROUND_TRIPS {
        let start_ns = monotonic_ns();
        mpi.send(world, Outgoing { data: &theirs, to: other }, TAG)?;
        mpi.receive(world, Incoming { space: &mut theirs, from: other }, TAG)?;
        let trip_ns = monotonic_ns() - start_ns;
        if trip_ns < shortest_ns {
            shortest_ns = trip_ns;
            ahead_ns = i64::from_ne_bytes(theirs) - (start_ns + trip_ns / 2);
        }
    }
    mpi.send(world, Outgoing { data: &ahead_ns.to_ne_bytes(), to: other }, TAG)
}

/// The other rank's side: how far it is ahead of rank 0.
fn answer(mpi: &Mpi, world: &Comm) -> Result<i64, MpiError> {
    let mut message = [0; 8];
    for _ in 0..ROUND_TRIPS {
        mpi.receive(world, Incoming { space: &mut message, from: 0 }, TAG)?;
        mpi.send(world, Outgoing { data: &monotonic_ns().to_ne_bytes(), to: 0 }, TAG)?;
    }
    mpi.receive(world, Incoming { space: &mut message, from: 0 }, TAG)?;
    Ok(i64::from_ne_bytes(message))
}
