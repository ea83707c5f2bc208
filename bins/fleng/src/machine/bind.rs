//! `=`: two terms are one from now on.
//!
//! One side at least is a variable that nobody has bound yet. If the other side has a value, the variable gets it.
//! If neither has one, the two are tied: whichever gets a value first hands it on. The value
//! is known on the far side of a tie at the later of the two times, that of the value and that of the tie.
//!
//! It promises the same times whatever the order in which ties and values come. That is why a variable takes
//! one value only, even if the second were the same, and why no two variables are tied in two ways: with one
//! way only between a value and a variable, the latest of the times on it is the same from wherever it is added up.

use super::heap::{Heap, Tie};
use super::word::{View, Word};
use crate::observer::Binder;

/// Both sides have a value already, or are one already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundTwice;

enum Side {
    Value(Word, Binder),
    Unbound(usize),
}

impl Heap {
    /// Makes two terms one; goals that may go on are added to `woken`.
    pub(crate) fn bind(
        &mut self,
        left: Word,
        right: Word,
        by: Binder,
        woken: &mut Vec<u32>,
    ) -> Result<(), BoundTwice> {
        match (self.side(left, by), self.side(right, by)) {
            (Side::Unbound(variable), Side::Value(value, binder))
            | (Side::Value(value, binder), Side::Unbound(variable)) => {
                self.hand_on(variable, value, later(binder, by), woken);
                Ok(())
            }
            (Side::Unbound(left), Side::Unbound(right)) if !self.tied(left, right) => {
                self.awaited(left).ties.push(Tie { other: right, by });
                self.awaited(right).ties.push(Tie { other: left, by });
                Ok(())
            }
            _ => Err(BoundTwice),
        }
    }

    fn side(&self, word: Word, by: Binder) -> Side {
        match word.view() {
            View::Variable(variable) => match self.value(variable) {
                Some((value, binder)) => Side::Value(value, binder),
                None => Side::Unbound(variable),
            },
            _ => Side::Value(word, by),
        }
    }

    /// Gives a value to a variable and to all that are tied to it.
    fn hand_on(&mut self, variable: usize, value: Word, by: Binder, woken: &mut Vec<u32>) {
        let mut next = Some((variable, by));
        let mut left = Vec::new();
        while let Some((variable, by)) = next {
            let state = self.words[variable];
            self.words[variable] = value;
            self.words[variable + 1] = Word(by.time);
            self.words[variable + 2] = Word(by.task);
            if let View::Awaited(number) = state.view() {
                let awaited = &mut self.awaited[number];
                woken.append(&mut awaited.goals);
                for tie in awaited.ties.drain(..) {
                    // The one the value came from has it already.
                    if matches!(self.words[tie.other].view(), View::Awaited(_)) {
                        left.push((tie.other, later(by, tie.by)));
                    }
                }
                self.unused.push(number as u32);
            }
            next = left.pop();
        }
    }

    /// Whether two unbound variables are one already. Walks from both at once, so that it takes no longer
    /// than twice the smaller of the two groups.
    fn tied(&self, left: usize, right: usize) -> bool {
        if left == right {
            return true;
        }
        // Ties form trees: whoever does not go back where it came from meets each variable once.
        let mut sides = [(vec![(left, left)], right), (vec![(right, right)], left)];
        if self.ties(left).len() > self.ties(right).len() {
            sides.swap(0, 1);
        }
        loop {
            for (open, wanted) in &mut sides {
                let Some((variable, from)) = open.pop() else { return false };
                if variable == *wanted {
                    return true;
                }
                open.extend(
                    self.ties(variable).iter().map(|tie| (tie.other, variable)).filter(|next| next.0 != from),
                );
            }
        }
    }

    fn ties(&self, variable: usize) -> &[Tie] {
        match self.words[variable].view() {
            View::Awaited(number) => &self.awaited[number].ties,
            _ => &[],
        }
    }
}

/// Who is to blame for the time of a value that passes a tie: of two equal times the value's.
fn later(value: Binder, tie: Binder) -> Binder {
    if tie.time > value.time { tie } else { value }
}

#[cfg(test)]
mod tests {
    use super::super::heap::Origin;
    use super::*;

    const NOWHERE: Origin = Origin { clause: 0, number: 0 };

    /// Ties and one value among five variables, done in the order given: what each variable then has.
    fn outcome(order: &[usize]) -> Vec<Option<(Word, Binder)>> {
        let mut heap = Heap::default();
        let variables: Vec<Word> = (0..5).map(|_| heap.variable(NOWHERE)).collect();
        let ties = [(0, 1, 7), (2, 1, 3), (2, 3, 9), (0, 4, 5)];
        for step in order {
            let task = *step as u64;
            let result = match ties.get(*step) {
                Some((a, b, time)) => {
                    heap.bind(variables[*a], variables[*b], Binder { task, time: *time }, &mut Vec::new())
                }
                None => heap.bind(variables[1], Word::int(42), Binder { task, time: 5 }, &mut Vec::new()),
            };
            assert_eq!(result, Ok(()));
        }
        (0..5).map(|n| heap.value(n * 3)).collect()
    }

    fn orders(of: usize) -> Vec<Vec<usize>> {
        if of == 0 {
            return vec![vec![]];
        }
        let shorter = orders(of - 1);
        let insert = |place: usize| {
            shorter.iter().map(move |order| {
                let mut order = order.clone();
                order.insert(place, of - 1);
                order
            })
        };
        (0..of).flat_map(insert).collect()
    }

    #[test]
    fn times_are_the_same_in_all_120_orders() {
        let expected: Vec<_> = [(0, 7), (4, 5), (4, 5), (2, 9), (0, 7)]
            .map(|(task, time)| Some((Word::int(42), Binder { task, time })))
            .to_vec();
        let all = orders(5);
        assert_eq!(all.len(), 120);
        for order in all {
            assert_eq!(outcome(&order), expected, "{order:?}");
        }
    }

    #[test]
    fn a_second_value_or_way_is_refused_in_any_order() {
        for order in orders(3) {
            let mut heap = Heap::default();
            let (x, y) = (heap.variable(NOWHERE), heap.variable(NOWHERE));
            let steps = [(x, y), (x, Word::int(1)), (y, Word::int(1))];
            let again = [(x, y), (y, x), (x, Word::int(1))];
            for steps in [steps, again] {
                let mut heap = Heap { words: heap.words.clone(), ..Heap::default() };
                let by = Binder { task: 1, time: 1 };
                let failed = |n: &usize| heap.bind(steps[*n].0, steps[*n].1, by, &mut Vec::new()).is_err();
                assert_eq!(order.iter().map(failed).filter(|failed| *failed).count(), 1, "{order:?}");
            }
            assert!(heap.bind(x, x, Binder { task: 1, time: 1 }, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn long_ties_hand_on_without_recursion() {
        let mut heap = Heap::default();
        let by = Binder { task: 1, time: 1 };
        let variables: Vec<Word> = (0..200_000).map(|_| heap.variable(NOWHERE)).collect();
        for pair in variables.windows(2) {
            assert_eq!(heap.bind(pair[0], pair[1], by, &mut Vec::new()), Ok(()));
        }
        assert_eq!(heap.bind(variables[0], Word::int(7), by, &mut Vec::new()), Ok(()));
        assert_eq!(heap.value(199_999 * 3), Some((Word::int(7), by)));
        assert_eq!(heap.unused.len(), 200_000);
    }
}
