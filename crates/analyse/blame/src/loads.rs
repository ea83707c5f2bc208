//! What was passed on to waits whose turn is still to come. Most have nothing, and few have something at a time.

use crate::lateness::Load;
use std::sync::atomic::{AtomicU32, Ordering};

const NOWHERE: u32 = u32::MAX;

/// By the index of a wait: where its list is among those of the share that has it. Only that share looks.
pub(crate) struct Places(Vec<AtomicU32>);

impl Places {
    pub(crate) fn new(waits: usize) -> Places {
        Places((0..waits).map(|_| AtomicU32::new(NOWHERE)).collect())
    }
}

/// The lists of one share.
pub(crate) struct Loads<'a> {
    places: &'a Places,
    lists: Vec<Vec<Load>>,
    /// Lists without an owner.
    free: Vec<u32>,
}

impl<'a> Loads<'a> {
    pub(crate) fn new(places: &'a Places) -> Loads<'a> {
        Loads { places, lists: Vec::new(), free: Vec::new() }
    }

    /// What a wait has.
    pub(crate) fn of_wait(&mut self, wait: u32) -> &mut Vec<Load> {
        let Loads { places, lists, free } = self;
        let place = &places.0[wait as usize];
        if place.load(Ordering::Relaxed) == NOWHERE {
            let new = free.pop().unwrap_or_else(|| {
                lists.push(Vec::new());
                lists.len() as u32 - 1
            });
            place.store(new, Ordering::Relaxed);
        }
        &mut lists[place.load(Ordering::Relaxed) as usize]
    }

    /// Adds what a wait has to a list; it has nothing then.
    pub(crate) fn take(&mut self, wait: u32, to: &mut Vec<Load>) {
        let place = self.places.0[wait as usize].swap(NOWHERE, Ordering::Relaxed);
        if place != NOWHERE {
            to.append(&mut self.lists[place as usize]);
            self.free.push(place);
        }
    }
}
