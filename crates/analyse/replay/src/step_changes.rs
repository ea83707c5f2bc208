//! What is different about single steps: the moments of a run, where factors on places are about all of it.
//!
//! Whoever knows that just these stretches of computation were too long, or that just these calls could be left out,
//! says so step by step.

use crate::marks::Marks;
use crate::prefetch::prefetch;
use kizami_model::Length;

/// What is different about one step. Nothing, unless said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepChange {
    /// So much is added to the computation that leads up to the call; below zero it is taken away.
    pub before: Length,
    /// So much is added to what the call takes itself; below zero it is taken away. Waiting is not touched.
    pub inside: Length,
    /// The call is left out: it takes no time and does not wait. What others wait for, it still announces.
    pub left_out: bool,
}

impl StepChange {
    fn and(self, other: StepChange) -> StepChange {
        StepChange {
            before: self.before.saturating_add(other.before),
            inside: self.inside.saturating_add(other.inside),
            left_out: self.left_out || other.left_out,
        }
    }
}

impl StepChange {
    /// Both changes of one step, made for different reasons: what they take away is the same time, so the larger part counts.
    fn overlaid(self, other: StepChange) -> StepChange {
        let both = |one: Length, other: Length| match one < Length::ZERO && other < Length::ZERO {
            true => one.min(other),
            false => one.saturating_add(other),
        };
        StepChange {
            before: both(self.before, other.before),
            inside: both(self.inside, other.inside),
            left_out: self.left_out || other.left_out,
        }
    }
}

/// Of some steps, by their index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepChanges {
    marks: Marks,
    changes: Vec<StepChange>,
    change_gaps: bool,
    change_calls: bool,
}

impl StepChanges {
    /// In a graph of so many steps. Several changes of one step are added up.
    pub fn new(steps: usize, mut list: Vec<(u64, StepChange)>) -> StepChanges {
        list.retain(|(step, _)| *step < steps as u64);
        list.sort_by_key(|(step, _)| *step);
        let marks = Marks::new(steps, list.iter().map(|(step, _)| *step));
        let same = list.chunk_by(|a, b| a.0 == b.0);
        let changes = same
            .map(|all| all.iter().map(|(_, change)| *change).fold(StepChange::default(), StepChange::and));
        let (mut change_gaps, mut change_calls) = (false, false);
        let noted = changes.inspect(|change| {
            change_gaps |= change.before != Length::ZERO;
            change_calls |= change.left_out || change.inside != Length::ZERO;
        });
        StepChanges { changes: noted.collect(), marks, change_gaps, change_calls }
    }

    /// Which steps.
    pub(crate) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Whether the computation before some step is different.
    pub(crate) fn change_gaps(&self) -> bool {
        self.change_gaps
    }

    /// Whether some call is different itself.
    pub(crate) fn change_calls(&self) -> bool {
        self.change_calls
    }

    /// What is different in either of two: of what both take away before or inside a step, the larger part.
    pub(crate) fn overlaid(&self, other: &StepChanges, steps: usize) -> StepChanges {
        let mut list: Vec<(u64, StepChange)> = self.list().collect();
        for (step, change) in other.list() {
            match self.marks.number(step) {
                Some(number) => list[number as usize].1 = list[number as usize].1.overlaid(change),
                None => list.push((step, change)),
            }
        }
        StepChanges::new(steps, list)
    }

    /// What is different, step by step.
    fn list(&self) -> impl Iterator<Item = (u64, StepChange)> {
        let bits = |word: u64| (0..64).filter(move |bit| word & (1 << bit) != 0);
        let steps = (0..)
            .zip(self.marks.words())
            .flat_map(move |(first, word)| bits(word).map(move |bit: u64| 64 * first + bit));
        steps.zip(self.changes.iter().copied())
    }

    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Asks for the memory of what is different about a step, or about the next one that is different.
    #[inline]
    pub(crate) fn fetch(&self, step: u64) {
        prefetch(&self.changes, self.marks.number_from(step) as usize, 1);
    }

    /// Of one step; none if nothing is different.
    #[inline]
    pub fn of(&self, step: u64) -> Option<StepChange> {
        self.marks.number(step).map(|number| self.changes[number as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_one_step_are_added_up() {
        let before = |ns| StepChange { before: Length(ns), ..StepChange::default() };
        let changes =
            StepChanges::new(100, vec![(70, before(5)), (3, before(-1)), (70, before(7)), (100, before(9))]);
        assert_eq!(changes.of(70), Some(before(12)));
        assert_eq!(changes.of(3), Some(before(-1)));
        assert_eq!([changes.of(4), changes.of(100)], [None, None]);
        assert_eq!(changes.list().collect::<Vec<_>>(), [(3, before(-1)), (70, before(12))]);
        let other = StepChanges::new(100, vec![(3, before(-4)), (5, before(-2)), (70, before(-3))]);
        let both: Vec<_> = changes.overlaid(&other, 100).list().collect();
        assert_eq!(both, [(3, before(-4)), (5, before(-2)), (70, before(9))]);
    }
}
