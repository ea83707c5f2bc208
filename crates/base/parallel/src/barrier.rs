//! Where threads that work in rounds wait for each other.

use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering, pause};

/// Turns of waiting without giving the core away.
const SPINS: u32 = 1 << 10;

/// A barrier for a fixed number of threads, which spins: rounds are short. A thread that will never come breaks it.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    round: AtomicU64,
    broken: AtomicBool,
}

impl Barrier {
    /// For so many threads.
    pub fn new(threads: usize) -> Barrier {
        Barrier {
            threads,
            waiting: AtomicUsize::new(0),
            round: AtomicU64::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits until all threads are here. False if one of them will never come.
    pub fn wait(&self) -> bool {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.round.store(round + 1, Ordering::Release);
            return true;
        }
        let mut pauses = 0;
        while self.round.load(Ordering::Acquire) == round {
            if self.broken.load(Ordering::Relaxed) {
                return false;
            }
            pause(&mut pauses, SPINS);
        }
        true
    }

    /// Says that this thread will never come again: the others must not wait for it.
    pub fn give_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU32;
    use loom::thread;

    /// What a thread has written before the barrier, the other reads behind it, in two rounds.
    #[test]
    fn what_was_written_before_is_read_behind() {
        loom::model(|| {
            let shared = Arc::new((Barrier::new(2), [AtomicU32::new(0), AtomicU32::new(0)]));
            let work = |own: usize, shared: &(Barrier, [AtomicU32; 2])| {
                let (barrier, cells) = shared;
                for round in 1..=2 {
                    cells[own].store(round, Ordering::Relaxed);
                    assert!(barrier.wait());
                    assert_eq!(cells[1 - own].load(Ordering::Relaxed), round);
                    assert!(barrier.wait());
                }
            };
            let other = thread::spawn({
                let shared = shared.clone();
                move || work(1, &shared)
            });
            work(0, &shared);
            other.join().unwrap();
        });
    }

    #[test]
    fn threads_do_not_wait_for_one_that_gave_up() {
        loom::model(|| {
            let barrier = Arc::new(Barrier::new(2));
            let other = thread::spawn({
                let barrier = barrier.clone();
                move || barrier.give_up()
            });
            assert!(!barrier.wait());
            other.join().unwrap();
        });
    }
}
