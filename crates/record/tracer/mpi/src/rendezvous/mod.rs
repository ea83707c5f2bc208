//! Moments at which ranks meet for the tracer's own sake: to compare clocks, to stop together.
//!
//! Ranks meet where the program brings them together anyway: at the end of `MPI_Init`, at the beginning of
//! `MPI_Finalize`, and after blocking collectives that all ranks of the world take part in. All ranks make these
//! in the same order (else they would wait for each other for ever, without us), so counting them is enough to
//! agree on one, and no message is needed to say "not now": each meeting settles how many collectives later the
//! next one is. Where several threads may call MPI at once only those on `MPI_COMM_WORLD` itself count, for
//! threads may use several communicators in any order. Collectives of some ranks never lead to a meeting, so
//! groups cannot wait for each other crosswise.
//!
//! A run on one host that spills in the background has nothing to settle: then no communicator is made, no
//! message sent, and a collective costs one load and one comparison more.

mod rounds;
mod suspend;
mod tree;

use crate::call::Call;
use crate::cancellation::Uncancelled;
use crate::communicators::{self, Communicator};
use crate::process::{self, Process};
use crate::real::own;
use crate::settings::{self, Spill, Suspension};
use crate::stream::lock;
use crate::{abi, clock, helper, launcher, requests, simulator};
use kizami_model::StopReason;
use rounds::ClockOffset;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tree::Tree;

/// Clocks are compared about so often.
const CLOCK_PERIOD: Duration = Duration::from_secs(2);
/// No meetings.
const NEVER: u64 = u64::MAX;
/// Collectives between two meetings of hosts, at most: a program may slow down, and clocks be due long before.
const LONGEST_WAIT: u64 = 2000;
/// The next wait is at most so many times the last: what was seen at a program's beginning may not last.
const FASTEST_GROWTH: u64 = 4;

/// Collectives of all ranks until the next meeting.
static COUNTDOWN: AtomicU64 = AtomicU64::new(NEVER);
/// Only collectives on `MPI_COMM_WORLD` itself count: some rank may call MPI from several threads at once. All
/// ranks have agreed on it.
static WORLD_ONLY: AtomicBool = AtomicBool::new(false);

static RENDEZVOUS: Mutex<Option<Rendezvous>> = Mutex::new(None);

/// What a rank knows about meeting the others.
struct Rendezvous {
    /// All ranks, if they are to stop together.
    everyone: Option<Tree>,
    /// The ranks of this host, if they are to stop together.
    host: Option<Tree>,
    /// One rank of each host, if there are several and this is one.
    hosts: Option<Tree>,
    several_hosts: bool,
    /// Clock rounds so far.
    round: u32,
    /// This host's clock against that of the root.
    offset: ClockOffset,
    /// When clocks were last compared.
    compared_ns: u64,
    /// When ranks last met.
    met_ns: u64,
    /// Collectives counted down for the present meeting.
    waited: u64,
    pace: suspend::Pace,
}

/// `MPI_Init` has returned: finds out who must meet whom, and compares clocks for the first time. Collective.
pub fn begin(call: &mut Call, process: &Process, size: u32) {
    let together = settings::get().spill == Spill::Together;
    // Simulated ranks have one clock, and our messages have no business in the simulated network.
    if simulator::get().is_some() {
        return;
    }
    let alone = launcher::one_host(size) && !clock::some_are_distorted();
    if size < 2 || !settings::get().talks || alone && !together {
        return;
    }
    let start = clock::now();
    let mut rendezvous = Rendezvous::set_up(process, together);
    rendezvous.compare_clocks(process);
    rendezvous.announce_host();
    rendezvous.met_ns = clock::monotonic_ns();
    call.thread().record_stop(start, clock::now(), StopReason::ClockRound, 0);
    if rendezvous.everyone.is_some() || rendezvous.hosts.is_some() {
        COUNTDOWN.store(1, Ordering::Relaxed);
        rendezvous.waited = 1;
    }
    *lock(&RENDEZVOUS) = Some(rendezvous);
}

/// `MPI_Finalize` is about to be called: compares clocks for the last time. Collective.
pub fn end(call: &mut Call) {
    let _uncancelled = Uncancelled::new();
    COUNTDOWN.store(NEVER, Ordering::Relaxed);
    let (Some(mut rendezvous), Some(process)) = (lock(&RENDEZVOUS).take(), process::existing()) else {
        return;
    };
    if rendezvous.hosts.is_none() {
        return;
    }
    let start = clock::now();
    rendezvous.compare_clocks(process);
    call.thread().record_stop(start, clock::now(), StopReason::ClockRound, 0);
    call.restart();
}

/// A blocking collective on this communicator is over, well or not: all ranks must count the same. Of a call that
/// failed only the handle is known.
#[inline(always)]
pub fn after_collective(call: &mut Call, communicator: Communicator, handle: usize) {
    if COUNTDOWN.load(Ordering::Relaxed) != NEVER {
        let failed = call.failed();
        count(call, if failed { communicators::known(handle) } else { communicator });
    }
}

#[cold]
fn count(call: &mut Call, communicator: Communicator) {
    let world_only = WORLD_ONLY.load(Ordering::Relaxed);
    if !communicator.spans_world || world_only && !communicator.is_world() {
        return;
    }
    let left = COUNTDOWN.load(Ordering::Relaxed) - 1;
    COUNTDOWN.store(left, Ordering::Relaxed);
    if left == 0 {
        meet(call);
    }
}

fn meet(call: &mut Call) {
    let _uncancelled = Uncancelled::new();
    let (mut rendezvous, Some(process)) = (lock(&RENDEZVOUS), process::existing()) else { return };
    let Some(rendezvous) = rendezvous.as_mut() else { return };
    let next = if rendezvous.everyone.is_some() {
        rendezvous.suspend_if_full(call, process)
    } else {
        rendezvous.compare_if_due(call, process)
    };
    rendezvous.waited = next.max(1);
    rendezvous.met_ns = clock::monotonic_ns();
    COUNTDOWN.store(rendezvous.waited, Ordering::Relaxed);
    if let Some(counters) = &mut call.thread().counters {
        counters.skip_since_call();
    }
}

impl Rendezvous {
    fn set_up(process: &Process, together: bool) -> Rendezvous {
        let abi = abi::get();
        let mut identity = DefaultHasher::new();
        process.clock_identity().hash(&mut identity);
        // A colour must not be negative. Hosts that share one by chance share a representative, and the clock of
        // one of them stays uncompared: sealing says so.
        let colour = (identity.finish() >> 33) as u32;
        let mut host = Tree::over(split(abi.comm_world, colour as i32), true);
        let crowded = is_crowded(&host);
        host.crowded = crowded;
        let represents = if host.rank == 0 { 0 } else { abi.undefined };
        let hosts = split(abi.comm_world, represents);
        let hosts = (hosts != abi.comm_null).then(|| Tree::over(hosts, crowded));
        // Up to the representatives, across, and down again: then all ranks know.
        let [threads] = host.most([u64::from(requests::several_threads())]);
        let [threads] = hosts.as_ref().map_or([threads], |hosts| hosts.most([threads]));
        let several = hosts.as_ref().map_or(0, |hosts| u64::from(hosts.size > 1));
        let [several, threads] = host.by_root([several, threads]);
        WORLD_ONLY.store(threads != 0, Ordering::Relaxed);
        let everyone = together.then(|| {
            let mut copy = 0usize;
            // SAFETY: MPI is initialised, and all ranks do so; a place for a handle.
            unsafe { own::MPI_Comm_dup(abi.comm_world, &raw mut copy) };
            Tree::over(abi.handle(copy), crowded)
        });
        Rendezvous {
            everyone,
            host: together.then_some(host),
            hosts: hosts.filter(|hosts| hosts.size > 1),
            several_hosts: several != 0,
            round: 0,
            offset: ClockOffset::default(),
            compared_ns: 0,
            met_ns: 0,
            waited: 0,
            pace: suspend::Pace::default(),
        }
    }

    /// Compares clocks with the other hosts, if this rank represents its own.
    fn compare_clocks(&mut self, process: &Process) {
        process.recalibrate();
        if let Some(hosts) = &self.hosts {
            let offset = rounds::compare(hosts, process, self.round);
            if self.round == 0 || settings::get().suspension != Suspension::Unmeasured {
                self.offset = offset;
            }
            self.round += 1;
        }
        self.compared_ns = clock::monotonic_ns();
    }

    /// Passes on to all ranks of the host how its clock stands, if they are to stop together.
    fn announce_host(&mut self) {
        if let Some(host) = &self.host {
            let [offset, error] = host.by_root([self.offset.offset_ns as u64, self.offset.error_ns]);
            (self.offset.offset_ns, self.offset.error_ns) = (offset as i64, error);
        }
    }

    fn clocks_are_due(&self) -> bool {
        self.several_hosts
            && clock::monotonic_ns().saturating_sub(self.compared_ns) >= CLOCK_PERIOD.as_nanos() as u64
    }

    /// In how many collectives clocks will be due, at the pace seen since ranks last met.
    fn until_clocks_are_due(&self, due: bool) -> u64 {
        let now_ns = clock::monotonic_ns();
        let period_ns = CLOCK_PERIOD.as_nanos() as u64;
        let left_ns =
            if due { period_ns } else { period_ns.saturating_sub(now_ns.saturating_sub(self.compared_ns)) };
        let pace_ns = (now_ns.saturating_sub(self.met_ns) / self.waited.max(1)).max(1);
        (left_ns / pace_ns).clamp(1, LONGEST_WAIT.min(FASTEST_GROWTH * self.waited))
    }

    /// Hosts meet: the root says whether clocks are compared now, and when to meet again.
    fn compare_if_due(&mut self, call: &mut Call, process: &Process) -> u64 {
        let start = clock::now();
        let Some(hosts) = &self.hosts else { return 1 };
        let due = self.clocks_are_due();
        let [due, next] = hosts.by_root([u64::from(due), self.until_clocks_are_due(due)]);
        if due != 0 {
            self.compare_clocks(process);
        }
        let reason = if due != 0 { StopReason::ClockRound } else { StopReason::Settling };
        call.thread().record_stop(start, clock::now(), reason, 0);
        next
    }
}

/// A communicator of the ranks with the same colour, in the same order.
fn split(communicator: usize, colour: i32) -> usize {
    let mut made = 0usize;
    // SAFETY: MPI is initialised, and all its ranks do so; a place for a handle.
    unsafe { own::MPI_Comm_split(communicator, colour, 0, &raw mut made) };
    abi::get().handle(made)
}

/// Whether there are more ranks on this host than cores for them. Ranks that may all run on the same cores share
/// those; ranks that were bound to different ones have all the host's between them.
fn is_crowded(host: &Tree) -> bool {
    // SAFETY: an empty set is all zeros, and the system fills it in for this thread.
    let mask = unsafe {
        let mut mask: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut mask);
        mask
    };
    // SAFETY: a plain call on a set that was filled in.
    let mine = unsafe { libc::CPU_COUNT(&mask) as u32 };
    let mut key = DefaultHasher::new();
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: within the set.
        .filter(|core| unsafe { libc::CPU_ISSET(*core, &mask) })
        .for_each(|core| core.hash(&mut key));
    let key = key.finish();
    let [greatest, least] = host.most([key, !key]);
    let shared = greatest == !least;
    host.size > if shared { mine } else { helper::cores() }
}
