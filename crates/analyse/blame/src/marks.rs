//! Waits found by their step, and sets of ranks: one bit for each.

use crate::waits::LongWait;
use kizami_replay::Marks;

/// Waits, by the step that waited.
pub struct ByStep {
    marks: Marks,
    /// Index of the wait of each marked step.
    waits: Vec<u32>,
}

impl ByStep {
    /// Of these waits, in a run of so many steps.
    pub fn new(steps: usize, waits: &[LongWait]) -> ByStep {
        let marks = Marks::new(steps, waits.iter().map(|wait| wait.step));
        let mut by_step = vec![0; marks.count()];
        for (index, wait) in (0..).zip(waits) {
            if let Some(number) = marks.number(wait.step) {
                by_step[number as usize] = index;
            }
        }
        ByStep { marks, waits: by_step }
    }

    /// Asks for the memory that says whether a step waited.
    #[inline]
    pub(crate) fn fetch(&self, step: u64) {
        self.marks.fetch(step);
    }

    /// Index of the wait of a step.
    #[inline]
    pub fn find(&self, step: u64) -> Option<u32> {
        self.marks.number(step).map(|number| self.waits[number as usize])
    }
}

/// Some of the ranks.
#[derive(Clone, Debug, Default)]
pub struct RankSet(Vec<u64>);

impl RankSet {
    /// Adds one.
    pub fn insert(&mut self, rank: u32) {
        let word = rank as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (rank % 64);
    }

    pub(crate) fn merge(&mut self, other: RankSet) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    /// How many, where each counts as many times as is said.
    pub fn weighed(&self, weight: impl Fn(u32) -> u32) -> usize {
        let ranks = |(number, word): (usize, &u64)| {
            (0..64)
                .filter(|bit| word >> bit & 1 == 1)
                .map(|bit| weight(number as u32 * 64 + bit) as usize)
                .sum::<usize>()
        };
        self.0.iter().enumerate().map(ranks).sum()
    }
}
