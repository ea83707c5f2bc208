//! Threads that work in rounds: what each has for the others lies in boxes between them, and all meet at a barrier twice a
//! round. Whoever waits for a thread that has panicked hears of it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Turns of waiting without giving the core away.
const SPINS: u32 = 1 << 10;

/// What some threads have in common: how each stands, and what each has for each other.
pub struct Meeting<S, E> {
    standings: Vec<Mutex<S>>,
    /// To each thread from each.
    boxes: Vec<Vec<Mutex<Vec<E>>>>,
    barrier: Barrier,
}

impl<S: Copy + Default, E> Meeting<S, E> {
    /// Of so many threads.
    pub fn new(threads: usize) -> Meeting<S, E> {
        let row = || (0..threads).map(|_| Mutex::default()).collect();
        Meeting {
            standings: (0..threads).map(|_| Mutex::default()).collect(),
            boxes: (0..threads).map(|_| row()).collect(),
            barrier: Barrier::new(threads),
        }
    }

    /// For the thread with this number.
    pub fn seat(&self, own: usize) -> Seat<'_, S, E> {
        Seat { meeting: self, own }
    }
}

/// The place of one thread among the others.
pub struct Seat<'a, S, E> {
    meeting: &'a Meeting<S, E>,
    own: usize,
}

impl<S: Copy + Default, E> Seat<'_, S, E> {
    /// Ends a round: hands over and empties `outgoing`, which has a list for each thread, and waits for the others to end
    /// it. Gives how each stands and what each had for this one; nothing if one of them never will.
    pub fn end_round(&self, standing: S, outgoing: &mut [Vec<E>]) -> Option<(Vec<S>, Vec<Vec<E>>)> {
        let Meeting { standings, boxes, barrier } = self.meeting;
        debug_assert!(outgoing[self.own].is_empty(), "nobody writes to itself");
        *lock(&standings[self.own]) = standing;
        for (to, events) in outgoing.iter_mut().enumerate().filter(|(_, events)| !events.is_empty()) {
            lock(&boxes[to][self.own]).append(events);
        }
        if !barrier.wait() {
            return None;
        }
        let all = standings.iter().map(|standing| *lock(standing)).collect();
        let incoming = boxes[self.own].iter().map(|events| std::mem::take(&mut *lock(events))).collect();
        // Nobody may write its next standing or event before all have read these.
        barrier.wait().then_some((all, incoming))
    }
}

/// Tells the others when its thread unwinds.
impl<S, E> Drop for Seat<'_, S, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.meeting.barrier.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Where threads wait for each other, unless one of them will never come.
struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    round: AtomicU64,
    /// A thread has panicked; the others must not wait for it.
    broken: AtomicBool,
}

impl Barrier {
    fn new(threads: usize) -> Barrier {
        Barrier {
            threads,
            waiting: AtomicUsize::new(0),
            round: AtomicU64::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits until all are here. False if one of them will never come.
    fn wait(&self) -> bool {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
