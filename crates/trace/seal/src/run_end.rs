//! When a run, and each of its processes, ended or was interrupted, as the recorder observed it.
//!
//! Segments of ranks that hang or are killed do not contain these times.

use crate::CoreTime;
use crate::clock::RunClock;
use crate::discover::{Process, Recorded};
use crate::guard;
use kizami_model::{Ending, Moment};
use kizami_trace::definitions::RankInfo;
use kizami_trace::run::Watched;
use std::collections::BTreeMap;

/// The convention of a simulator's MPI in a header: its ranks have a time of their own.
const SIMULATED: u32 = 4;

/// The observed end of a run on this host, on its own clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    boot_id: String,
    monotonic_ns: u64,
    interrupted_ns: Option<u64>,
    deaths: BTreeMap<u32, u64>,
    /// Of this host, while the program ran.
    cores: Option<CoreTime>,
}

impl RunEnd {
    /// This moment.
    pub fn now() -> RunEnd {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a valid place for the answer.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        let monotonic_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        let deaths = BTreeMap::new();
        RunEnd { boot_id: guard::boot_id(), monotonic_ns, interrupted_ns: None, deaths, cores: None }
    }

    /// Also what the cores of this host did since then.
    #[must_use]
    pub fn since(self, before: Option<CoreTime>) -> RunEnd {
        let cores = before.zip(CoreTime::now()).map(|(before, now)| now.since(before));
        RunEnd { cores, ..self }
    }

    /// The part of the time of all cores that a hypervisor took, if that is known.
    pub(crate) fn stolen_share(&self) -> Option<f64> {
        self.cores.and_then(CoreTime::stolen_share)
    }

    /// Also when processes ended, by their numbers, and when the run was interrupted, in nanoseconds of
    /// `CLOCK_MONOTONIC`.
    #[must_use]
    pub fn with(self, deaths: BTreeMap<u32, u64>, interrupted_ns: Option<u64>) -> RunEnd {
        RunEnd { deaths, interrupted_ns, ..self }
    }

    /// A moment in run time, if ranks ran on this host.
    fn in_run(&self, clock: &RunClock, monotonic_ns: u64) -> Option<i64> {
        let host = clock.hosts.iter().find(|host| host.boot_id == self.boot_id)?;
        Some(host.run_ns(i64::try_from(monotonic_ns).ok()?))
    }

    /// When a process was seen to end, in run time.
    pub(crate) fn death_of(&self, process: &Process, clock: &RunClock) -> Option<Moment> {
        let header = &process.segments().next()?.header;
        let here = header.boot_id == self.boot_id && header.abi != SIMULATED;
        let ns = self.deaths.get(&header.pid).filter(|_| here)?;
        self.in_run(clock, *ns).map(Moment)
    }
}

/// Until when the run was watched; of no interest if all of it ended by `MPI_Finalize`.
pub(crate) fn watched(
    recorded: &Recorded,
    clock: &RunClock,
    ranks: &[RankInfo],
    run_end: Option<&RunEnd>,
) -> Option<Watched> {
    let well = if recorded.without_mpi { Ending::Exited } else { Ending::Finalized };
    ranks.iter().find(|rank| rank.ending != well)?;
    let mut headers =
        recorded.ranks.iter().flatten().flat_map(Process::segments).map(|segment| &segment.header);
    if headers.any(|header| header.abi == SIMULATED) {
        return None;
    }
    let running = recorded.ranks.iter().flatten().any(|process| process.running);
    let run_end = run_end?;
    let interrupted_ns = run_end.interrupted_ns.and_then(|ns| run_end.in_run(clock, ns));
    Some(Watched { until_ns: run_end.in_run(clock, run_end.monotonic_ns)?, running, interrupted_ns })
}
