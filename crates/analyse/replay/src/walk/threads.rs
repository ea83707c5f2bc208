//! Shares walked by threads of this process: events lie in boxes between them, and all meet at a barrier twice a round.

use super::exchange::{Exchange, Outgoing, RemoteEvent, Round, Standing};
use kizami_parallel::{Barrier, lock};
use std::sync::Mutex;

/// What the threads of a walk have in common.
pub(super) struct Common<const LANES: usize> {
    standings: Vec<Mutex<Standing>>,
    /// Events to each share from each.
    boxes: Vec<Vec<Mutex<Vec<RemoteEvent<LANES>>>>>,
    barrier: Barrier,
}

impl<const LANES: usize> Common<LANES> {
    pub(super) fn new(shares: usize) -> Common<LANES> {
        let row = || (0..shares).map(|_| Mutex::default()).collect();
        Common {
            standings: (0..shares).map(|_| Mutex::default()).collect(),
            boxes: (0..shares).map(|_| row()).collect(),
            barrier: Barrier::new(shares),
        }
    }

    /// For the thread that walks this share.
    pub(super) fn exchange(&self, own: usize) -> ThreadExchange<'_, LANES> {
        ThreadExchange { common: self, own }
    }
}

/// The way of one thread to the others.
pub(super) struct ThreadExchange<'a, const LANES: usize> {
    common: &'a Common<LANES>,
    own: usize,
}

impl<const LANES: usize> Exchange<LANES> for ThreadExchange<'_, LANES> {
    fn end_round(&mut self, standing: Standing, outgoing: &mut Outgoing<LANES>) -> Option<Round<LANES>> {
        let Common { standings, boxes, barrier } = self.common;
        let Outgoing { to_all, to_each } = outgoing;
        debug_assert!(to_each[self.own].is_empty(), "nobody writes to itself");
        *lock(&standings[self.own]) = standing;
        for (to, events) in to_each.iter_mut().enumerate().filter(|(to, _)| *to != self.own) {
            if !events.is_empty() || !to_all.is_empty() {
                let mut waiting = lock(&boxes[to][self.own]);
                waiting.append(events);
                waiting.extend_from_slice(to_all);
            }
        }
        to_all.clear();
        if !barrier.wait() {
            return None;
        }
        let all = standings.iter().map(|standing| *lock(standing)).reduce(Standing::and)?;
        let mut incoming = Vec::new();
        boxes[self.own].iter().for_each(|events| incoming.append(&mut lock(events)));
        // Nobody may write its next standing or event before all have read these.
        barrier.wait().then_some(Round { all, incoming })
    }
}

/// Tells the others when its thread unwinds.
impl<const LANES: usize> Drop for ThreadExchange<'_, LANES> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.common.barrier.give_up();
        }
    }
}
