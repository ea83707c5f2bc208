//! Some of the steps of a run, marked and counted, and some of its ranks: one bit for each.
//!
//! Finding out whether a step is marked, and as which one, takes no hashing: marks of steps that lie side by side lie
//! side by side, and a run of a hundred million steps needs 25 MB.

use crate::waits::LongWait;

/// Bits of 64 steps, and how many marks lie before them.
#[derive(Clone, Copy, Default)]
struct Word {
    bits: u64,
    before: u32,
}

/// Marked steps.
pub(crate) struct Marks {
    words: Vec<Word>,
    /// How many.
    pub count: u32,
}

impl Marks {
    /// Marks steps below `steps`; others are left out.
    pub(crate) fn new(steps: usize, marked: impl Iterator<Item = u64>) -> Marks {
        let mut words = vec![Word::default(); steps.div_ceil(64)];
        for step in marked.filter(|step| *step < steps as u64) {
            words[(step / 64) as usize].bits |= 1 << (step % 64);
        }
        let mut count = 0;
        for word in &mut words {
            word.before = count;
            count += word.bits.count_ones();
        }
        Marks { words, count }
    }

    /// Which of the marked steps it is.
    #[inline]
    pub(crate) fn number(&self, step: u64) -> Option<u32> {
        let word = self.words.get((step / 64) as usize)?;
        let bit = 1u64 << (step % 64);
        (word.bits & bit != 0).then(|| word.before + (word.bits & (bit - 1)).count_ones())
    }
}

/// Waits, by the step that waited.
pub(crate) struct ByStep {
    marks: Marks,
    /// Index of the wait of each marked step.
    waits: Vec<u32>,
}

impl ByStep {
    pub(crate) fn new(steps: usize, waits: &[LongWait]) -> ByStep {
        let marks = Marks::new(steps, waits.iter().map(|wait| wait.step));
        let mut by_step = vec![0; marks.count as usize];
        for (index, wait) in (0..).zip(waits) {
            if let Some(number) = marks.number(wait.step) {
                by_step[number as usize] = index;
            }
        }
        ByStep { marks, waits: by_step }
    }

    /// Index of the wait of a step.
    #[inline]
    pub(crate) fn find(&self, step: u64) -> Option<u32> {
        self.marks.number(step).map(|number| self.waits[number as usize])
    }
}

/// Some of the ranks.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankSet(Vec<u64>);

impl RankSet {
    pub(crate) fn insert(&mut self, rank: u32) {
        let word = rank as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (rank % 64);
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_in_the_order_of_steps() {
        let marks = Marks::new(200, [130, 0, 63, 64, 130, 199, 200].into_iter());
        assert_eq!(marks.count, 5);
        let found = [0, 63, 64, 130, 199].map(|step| marks.number(step));
        assert_eq!(found, [Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!([1, 62, 65, 131, 200, u64::MAX].map(|step| marks.number(step)), [None; 6]);
    }
}
