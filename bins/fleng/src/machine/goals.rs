//! Goals that are not finished, and which of them runs next.
//!
//! Places of finished goals are used again, so that memory follows the goals that live at one time.

use super::word::{View, Word};
use crate::settings::Order;
use kizami_rng::SplitMix64;
use std::collections::VecDeque;

/// A goal, from its making to its commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Its name and arguments, a structure.
    pub(crate) term: Word,
    /// Where it is in the text.
    pub(crate) site: u32,
    pub(crate) born: u64,
    pub(crate) parent: u64,
    /// It starts no earlier than this: its birth, or the time of what it was woken by.
    pub(crate) earliest: u64,
}

impl Goal {
    const FINISHED: Word = Word::UNBOUND;

    /// The place of its term in the heap.
    pub(crate) fn place(&self) -> usize {
        match self.term.view() {
            View::Structure(at) => at,
            _ => 0,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Goals {
    slots: Vec<Goal>,
    unused: Vec<u32>,
    ready: VecDeque<u32>,
    order: Order,
    random: SplitMix64,
}

impl Goals {
    pub(crate) fn new(order: Order) -> Goals {
        let random = match order {
            Order::Random(seed) => SplitMix64::new(seed),
            Order::Fifo | Order::Lifo => SplitMix64::default(),
        };
        Goals { slots: Vec::new(), unused: Vec::new(), ready: VecDeque::new(), order, random }
    }

    /// A new goal, which is ready to be tried.
    #[inline]
    pub(crate) fn add(&mut self, goal: Goal) {
        let number = match self.unused.pop() {
            Some(number) => {
                self.slots[number as usize] = goal;
                number
            }
            None => {
                self.slots.push(goal);
                self.slots.len() as u32 - 1
            }
        };
        self.ready.push_back(number);
    }

    /// These are ready again, as something was bound at this time.
    #[inline]
    pub(crate) fn wake(&mut self, numbers: &mut Vec<u32>, time: u64) {
        for number in numbers.drain(..) {
            self.slots[number as usize].earliest = time;
            self.ready.push_back(number);
        }
    }

    /// No task that is still to come starts before this time: those that wait will be woken by one of those
    /// that are ready, or by one that these make.
    pub(crate) fn earliest(&self) -> u64 {
        self.ready.iter().map(|number| self.slots[*number as usize].earliest).min().unwrap_or(0)
    }

    /// The goal to be tried next.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(u32, Goal)> {
        let number = match self.order {
            Order::Fifo => self.ready.pop_front(),
            Order::Lifo => self.ready.pop_back(),
            Order::Random(_) if self.ready.is_empty() => None,
            Order::Random(_) => {
                let place = self.random.bits() % self.ready.len() as u64;
                self.ready.swap_remove_back(place as usize)
            }
        }?;
        Some((number, self.slots[number as usize]))
    }

    /// The goal is finished; its place is free.
    #[inline]
    pub(crate) fn finish(&mut self, number: u32) {
        self.slots[number as usize].term = Goal::FINISHED;
        self.unused.push(number);
    }

    /// How many are not finished.
    pub(crate) fn count(&self) -> usize {
        self.slots.len() - self.unused.len()
    }

    /// Those not finished.
    pub(crate) fn alive(&self) -> impl Iterator<Item = &Goal> {
        self.slots.iter().filter(|goal| goal.term != Goal::FINISHED)
    }

    /// Terms of those not finished.
    pub(crate) fn terms(&mut self) -> impl Iterator<Item = &mut Word> {
        self.slots.iter_mut().map(|goal| &mut goal.term).filter(|term| **term != Goal::FINISHED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(order: Order) -> Vec<u64> {
        let mut goals = Goals::new(order);
        for born in 0..10 {
            goals.add(Goal { term: Word::structure(0), site: 0, born, parent: 0, earliest: born });
        }
        let mut met = Vec::new();
        while let Some((number, goal)) = goals.next() {
            met.push(goal.born);
            goals.finish(number);
        }
        assert_eq!(goals.count(), 0);
        met
    }

    #[test]
    fn orders_are_what_they_say() {
        let rising: Vec<u64> = (0..10).collect();
        assert_eq!(order_of(Order::Fifo), rising);
        assert_eq!(order_of(Order::Lifo), rising.iter().rev().copied().collect::<Vec<_>>());
        let mut drawn = order_of(Order::Random(1));
        assert_eq!(drawn, order_of(Order::Random(1)));
        assert_ne!(drawn, order_of(Order::Random(2)));
        drawn.sort_unstable();
        assert_eq!(drawn, rising);
    }
}
