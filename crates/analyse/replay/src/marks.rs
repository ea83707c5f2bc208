//! Some of the steps of a run, marked and counted: one bit for each.
//!
//! Finding out whether a step is marked, and as which one, takes no hashing: marks of steps that lie side by side lie
//! side by side, and a run of a hundred million steps needs 25 MB.

use crate::prefetch::prefetch;

/// Bits of 64 steps, and how many marks lie before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Word {
    bits: u64,
    before: u32,
}

impl Word {
    /// How many marks lie before a step of these.
    #[inline]
    fn number(self, step: u64) -> u32 {
        self.before + (self.bits & ((1 << (step % 64)) - 1)).count_ones()
    }
}

/// Marked steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    words: Vec<Word>,
    count: u32,
}

impl Marks {
    /// Marks steps below `steps`; others are left out.
    pub fn new(steps: usize, marked: impl Iterator<Item = u64>) -> Marks {
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

    /// How many.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The marks of 64 steps at a time, the lowest bit first.
    pub(crate) fn words(&self) -> impl ExactSizeIterator<Item = u64> {
        self.words.iter().map(|word| word.bits)
    }

    /// Which of the marked steps it is.
    #[inline]
    pub fn number(&self, step: u64) -> Option<u32> {
        let word = self.words.get((step / 64) as usize)?;
        let bit = 1u64 << (step % 64);
        (word.bits & bit != 0).then(|| word.number(step))
    }

    /// Which of the marked steps is the first from a step on.
    #[inline]
    pub(crate) fn number_from(&self, step: u64) -> u32 {
        self.words.get((step / 64) as usize).map_or(self.count, |word| word.number(step))
    }

    /// Asks for the memory that says whether a step is marked.
    #[inline]
    pub fn fetch(&self, step: u64) {
        prefetch(&self.words, (step / 64) as usize, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_in_the_order_of_steps() {
        let marks = Marks::new(200, [130, 0, 63, 64, 130, 199, 200].into_iter());
        assert_eq!(marks.count(), 5);
        let found = [0, 63, 64, 130, 199].map(|step| marks.number(step));
        assert_eq!(found, [Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!([1, 62, 65, 131, 200, u64::MAX].map(|step| marks.number(step)), [None; 6]);
        let next = [0, 1, 63, 64, 131, 199, u64::MAX].map(|step| marks.number_from(step));
        assert_eq!(next, [0, 1, 1, 2, 4, 4, 5]);
    }
}
