//! How the threads of a walk take turns.

use super::observer::Observer;
use super::worker::{Letter, Worker};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Turns of waiting without giving the core away.
const SPINS: u32 = 1 << 10;

/// Walks to the end. Strands are kept within `slice_ns` of recorded time.
pub(super) fn walk<'a, const LANES: usize, O: Observer<LANES>>(
    mut workers: Vec<Worker<'a, LANES, O>>,
    slice_ns: i64,
    progress: &(dyn Fn(u64) + Sync),
) -> Vec<Worker<'a, LANES, O>> {
    if let [worker] = &mut workers[..] {
        while let Some(decision) = decide(&[report(worker)], slice_ns) {
            act(worker, 0, decision);
            worker.run();
            progress(worker.steps_done);
        }
        return workers;
    }
    let meeting = Meeting::new(workers.len());
    std::thread::scope(|scope| {
        let meeting = &meeting;
        let take_part = |(own, mut worker): (usize, Worker<'a, LANES, O>)| {
            scope.spawn(move || {
                take_turns(&mut worker, own, meeting, slice_ns, progress);
                worker
            })
        };
        let threads: Vec<_> = workers.into_iter().enumerate().map(take_part).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// What one thread has to say when it can do no more.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    /// It has letters for others.
    letters: bool,
    /// When the first strand beyond the horizon goes on.
    next_start_ns: Option<i64>,
    /// The parked strand whose call ended first: of all, and of those that wait for receives.
    first_parked: [Option<(i64, u32)>; 2],
    /// Somebody is parked for calls that may have begun after its own was over.
    patient: bool,
    steps_done: u64,
}

/// What all do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// Read letters.
    Read,
    /// Go on up to this moment of recorded time.
    Extend(i64),
    /// This strand goes on without what it waits for.
    GiveUp(u32),
}

fn report<const LANES: usize, O: Observer<LANES>>(worker: &mut Worker<'_, LANES, O>) -> Report {
    let letters = worker.letters.iter().any(|letters| !letters.is_empty());
    // Only when there are no letters is it certain who is parked; looking for the first one takes time.
    let next_start_ns = worker.next_start_ns();
    let first_parked = if letters { [None; 2] } else { worker.first_parked() };
    let patient = worker.patient > 0;
    Report { letters, next_start_ns, first_parked, patient, steps_done: worker.steps_done }
}

/// Nothing when the walk is over.
fn decide(reports: &[Report], slice_ns: i64) -> Option<Decision> {
    if reports.iter().any(|report| report.letters) {
        return Some(Decision::Read);
    }
    let next_start_ns = reports.iter().filter_map(|report| report.next_start_ns).min();
    let first = |which: usize| reports.iter().filter_map(|report| report.first_parked[which]).min();
    let patient = reports.iter().any(|report| report.patient);
    match (first(0), next_start_ns) {
        // What a patient one waits for may begin at any time, and others may wait for it.
        (_, Some(next_ns)) if patient => Some(Decision::Extend(next_ns.saturating_add(slice_ns))),
        // Nobody comes any more. A sender that waits in vain did not wait; the others may wait for it.
        (Some((_, strand)), None) if patient => {
            Some(Decision::GiveUp(first(1).map_or(strand, |(_, sender)| sender)))
        }
        // All that began before its call ended has been walked, and a little more: clocks may be wrong.
        (Some((end_ns, strand)), next) if next.is_none_or(|next| end_ns.saturating_add(slice_ns) < next) => {
            Some(Decision::GiveUp(strand))
        }
        (_, Some(next_ns)) => Some(Decision::Extend(next_ns.saturating_add(slice_ns))),
        _ => None,
    }
}

fn act<const LANES: usize, O: Observer<LANES>>(
    worker: &mut Worker<'_, LANES, O>,
    own: usize,
    decision: Decision,
) {
    match decision {
        Decision::Read => {}
        Decision::Extend(horizon_ns) => worker.extend(horizon_ns),
        Decision::GiveUp(strand) if worker.has(strand) => worker.give_up(strand),
        Decision::GiveUp(_) => {}
    }
    debug_assert!(worker.letters[own].is_empty(), "nobody writes to itself");
}

/// Where threads meet.
struct Meeting<const LANES: usize> {
    reports: Vec<Mutex<Report>>,
    /// Letters to each thread from each.
    letters: Vec<Vec<Mutex<Vec<Letter<LANES>>>>>,
    waiting: AtomicUsize,
    round: AtomicU64,
    /// A thread has panicked; the others must not wait for it.
    broken: AtomicBool,
}

impl<const LANES: usize> Meeting<LANES> {
    fn new(threads: usize) -> Meeting<LANES> {
        let row = || (0..threads).map(|_| Mutex::default()).collect();
        Meeting {
            reports: (0..threads).map(|_| Mutex::default()).collect(),
            letters: (0..threads).map(|_| row()).collect(),
            waiting: AtomicUsize::new(0),
            round: AtomicU64::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits until all are here. False if one of them will never come.
    fn wait(&self) -> bool {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.reports.len() {
            self.waiting.store(0, Ordering::Relaxed);
            self.round.store(round + 1, Ordering::Release);
            return true;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            if self.broken.load(Ordering::Relaxed) {
                return false;
            }
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        true
    }
}

/// Tells the others when its thread unwinds.
struct Guard<'a, const LANES: usize>(&'a Meeting<LANES>);

impl<const LANES: usize> Drop for Guard<'_, LANES> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

fn take_turns<const LANES: usize, O: Observer<LANES>>(
    worker: &mut Worker<'_, LANES, O>,
    own: usize,
    meeting: &Meeting<LANES>,
    slice_ns: i64,
    progress: &(dyn Fn(u64) + Sync),
) {
    let _guard = Guard(meeting);
    loop {
        *lock(&meeting.reports[own]) = report(worker);
        for (to, letters) in worker.letters.iter_mut().enumerate().filter(|(to, _)| *to != own) {
            lock(&meeting.letters[to][own]).append(letters);
        }
        if !meeting.wait() {
            return;
        }
        let reports: Vec<Report> = meeting.reports.iter().map(|report| *lock(report)).collect();
        let letters: Vec<Vec<Letter<LANES>>> =
            meeting.letters[own].iter().map(|letters| std::mem::take(&mut *lock(letters))).collect();
        // Nobody may write the next report or letter before all have read these.
        if !meeting.wait() {
            return;
        }
        let Some(decision) = decide(&reports, slice_ns) else { return };
        if own == 0 {
            progress(reports.iter().map(|report| report.steps_done).sum());
        }
        act(worker, own, decision);
        letters.into_iter().for_each(|letters| worker.read(letters));
        worker.run();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
