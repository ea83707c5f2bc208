//! What was worked out for some ranks of a run: those asked for last are kept.

use kizami_model::Rank;
use std::sync::{Arc, Mutex, PoisonError};

/// By rank, those asked for last behind the others.
#[derive(Debug)]
pub(crate) struct ByRank<T> {
    most: usize,
    kept: Mutex<Vec<(Rank, Arc<T>)>>,
}

impl<T: Default> ByRank<T> {
    /// Of so many ranks at most.
    pub(crate) fn new(most: usize) -> ByRank<T> {
        ByRank { most, kept: Mutex::default() }
    }

    /// That of a rank. Of ranks that nobody asked for since many others it is forgotten, at once if it is `alone` because it
    /// takes much memory; what is `under_way` stays, because whoever asked will ask again.
    pub(crate) fn of(&self, rank: Rank, alone: fn(&T) -> bool, under_way: fn(&T) -> bool) -> Arc<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(other, _)| *other == rank).map(|place| kept.remove(place).1);
        let known = known.unwrap_or_default();
        let first = kept.len().saturating_sub(self.most - 1);
        let mut place = 0;
        kept.retain(|(_, other)| {
            place += 1;
            place > first && !alone(other) || under_way(other)
        });
        kept.push((rank, Arc::clone(&known)));
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn those_asked_for_last_are_kept() {
        let kept: ByRank<AtomicBool> = ByRank::new(2);
        let ask = |rank| kept.of(Rank(rank), |_| false, |busy| busy.load(Ordering::Relaxed));
        let (one, two) = (ask(1), ask(2));
        assert!(Arc::ptr_eq(&one, &ask(1)));
        ask(3);
        assert!(Arc::ptr_eq(&one, &ask(1)) && !Arc::ptr_eq(&two, &ask(2)));
        one.store(true, Ordering::Relaxed);
        ask(4);
        ask(5);
        assert!(Arc::ptr_eq(&one, &ask(1)));
    }
}
