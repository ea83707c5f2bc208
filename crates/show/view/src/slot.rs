//! Something that takes long to work out, is worked out once in the background, and is asked for meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Parts of progress.
const PARTS: f64 = 1e6;

/// What became of it so far.
#[derive(Clone, Debug)]
pub enum Answer<T> {
    /// Here it is.
    Ready(Arc<T>),
    /// This part of it is done.
    Pending(f64),
    /// It cannot be had, because of this.
    Failed(String),
}

/// A place for it.
#[derive(Debug)]
pub struct Slot<T> {
    state: Mutex<State<T>>,
    /// Told when work has come to its end.
    ended: Condvar,
    progress: AtomicU64,
}

#[derive(Debug)]
enum State<T> {
    Idle,
    Running,
    Done(Arc<T>),
    Failed(String),
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot { state: Mutex::new(State::Idle), ended: Condvar::new(), progress: AtomicU64::new(0) }
    }
}

impl<T: Send + Sync + 'static> Slot<T> {
    /// What there is; nothing is begun.
    pub fn peek(&self) -> Answer<T> {
        match &*self.lock() {
            State::Done(value) => Answer::Ready(Arc::clone(value)),
            State::Failed(why) => Answer::Failed(why.clone()),
            State::Idle | State::Running => Answer::Pending(self.progress()),
        }
    }

    /// Puts in what is known already.
    pub fn fill(&self, value: T) {
        *self.lock() = State::Done(Arc::new(value));
        self.ended.notify_all();
    }

    /// What there is, worked out here and now if nobody has begun; whoever else has begun is waited for.
    pub fn wait(
        &self,
        work: impl FnOnce(&(dyn Fn(f64) + Sync)) -> Result<T, String>,
    ) -> Result<Arc<T>, String> {
        let running = |state: &mut State<T>| matches!(state, State::Running);
        let mut state = self.ended.wait_while(self.lock(), running).unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Done(value) => return Ok(Arc::clone(value)),
            State::Failed(why) => return Err(why.clone()),
            State::Idle | State::Running => *state = State::Running,
        }
        drop(state);
        let report =
            |part: f64| self.progress.store((part.clamp(0.0, 1.0) * PARTS) as u64, Ordering::Relaxed);
        // Whatever goes wrong must not keep others waiting for ever.
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&report)));
        let worked = worked.unwrap_or_else(|_| Err("the analysis of this trace failed".to_owned()));
        let worked = worked.map(Arc::new);
        *self.lock() = match &worked {
            Ok(value) => State::Done(Arc::clone(value)),
            Err(why) => State::Failed(why.clone()),
        };
        self.ended.notify_all();
        worked
    }

    /// Whether anybody has begun.
    pub fn begun(&self) -> bool {
        !matches!(&*self.lock(), State::Idle)
    }

    /// Whether somebody is at work on it.
    pub fn is_under_way(&self) -> bool {
        matches!(&*self.lock(), State::Running)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self) -> f64 {
        self.progress.load(Ordering::Relaxed) as f64 / PARTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_and_failures_reach_all() {
        let slot = Slot::default();
        assert!(matches!(slot.peek(), Answer::Pending(_)) && !slot.begun());
        assert_eq!(slot.wait(|_| Ok(5)), Ok(Arc::new(5)));
        assert_eq!(slot.wait(|_| Ok(6)), Ok(Arc::new(5)));
        let slot: Slot<u32> = Slot::default();
        assert!(slot.wait(|_| panic!("on purpose")).is_err());
        assert!(matches!(slot.peek(), Answer::Failed(_)));
    }

    #[test]
    fn later_requests_wait_for_the_one_at_work() {
        let slot: Slot<u32> = Slot::default();
        let (begun, work) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                slot.wait(|_| {
                    begun.send(()).expect("somebody listens");
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    Ok(7)
                })
            });
            work.recv().expect("it begins");
            let others: Vec<_> =
                (0..4).map(|_| scope.spawn(|| slot.wait(|_| panic!("done twice")))).collect();
            assert!(others.into_iter().all(|other| other.join().expect("no panic") == Ok(Arc::new(7))));
            assert_eq!(first.join().expect("no panic"), Ok(Arc::new(7)));
        });
    }
}
