//! How a goal looks at its arguments, and what it remembers of it.
//!
//! The rule, on which all times rest: clauses are tried in the order of the text; in a clause, arguments are
//! looked at from left to right, and a structure before what is in it; the first thing that does not fit ends
//! the clause. What a goal looks at next thus depends on values alone and never on when they came. A goal
//! that would have to look at an unbound variable waits for it, and a goal may start when the latest of all
//! it looked at is there, clauses that did not fit included.
//!
//! Two variables are never the same because `=` made them one: comparing them waits for both values. Otherwise
//! it would matter whether `=` or the comparison came first. The same goes for a variable and itself, so that
//! there is one rule.

use super::heap::Heap;
use super::word::{View, Word};
use crate::code::HeadStep;
use crate::observer::Binder;

/// How many steps one goal may compare or compute before its term is taken for endless.
const ENDLESS: u64 = 1 << 22;

/// Why a goal cannot go on looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// This variable is unbound.
    Unbound(usize),
    /// There is something other than a number where one is needed.
    NotANumber(Word),
    DividedByZero,
    TooLarge,
    /// The term contains itself, or is as large as if it did.
    Endless,
}

/// What a goal has looked at.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// The latest of the times looked at, and of the goal's birth.
    pub(crate) latest: u64,
    /// Who bound what was looked at, if that is wanted.
    pub(crate) binders: Vec<Binder>,
    wanted: bool,
    steps: u64,
    stack: Vec<Word>,
}

impl Looks {
    /// With or without those who bound things.
    pub(crate) fn new(binders_wanted: bool) -> Looks {
        Looks { wanted: binders_wanted, ..Looks::default() }
    }

    /// Forgets the last goal, and begins with one that was born then.
    pub(crate) fn begin(&mut self, born: u64) {
        self.latest = born;
        self.binders.clear();
        self.steps = 0;
    }

    /// Counts a step in a term that may have no end.
    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > ENDLESS { Err(Stop::Endless) } else { Ok(()) }
    }
}

impl Heap {
    /// The value of a term, which is no variable.
    #[inline]
    pub(super) fn look(&self, word: Word, looks: &mut Looks) -> Result<Word, Stop> {
        let View::Variable(variable) = word.view() else { return Ok(word) };
        let Some((value, binder)) = self.value(variable) else { return Err(Stop::Unbound(variable)) };
        looks.latest = looks.latest.max(binder.time);
        if looks.wanted {
            looks.binders.push(binder);
        }
        Ok(value)
    }

    /// Whether the goal at this place fits a head; what the head keeps goes into `kept`, which is long enough.
    #[inline]
    pub(crate) fn fits(
        &self,
        head: &[HeadStep],
        goal: usize,
        kept: &mut [Word],
        looks: &mut Looks,
    ) -> Result<bool, Stop> {
        let mut stack = std::mem::take(&mut looks.stack);
        stack.clear();
        stack.extend(self.arguments(goal).iter().rev());
        let fits = self.fits_all(head, &mut stack, kept, looks);
        looks.stack = stack;
        fits
    }

    #[inline]
    fn fits_all(
        &self,
        head: &[HeadStep],
        stack: &mut Vec<Word>,
        kept: &mut [Word],
        looks: &mut Looks,
    ) -> Result<bool, Stop> {
        for step in head {
            let Some(word) = stack.pop() else { return Ok(false) };
            let fits = match step {
                HeadStep::Any => true,
                HeadStep::Keep(number) => {
                    kept[*number as usize] = word;
                    true
                }
                HeadStep::Same(number) => self.same(kept[*number as usize], word, looks)?,
                HeadStep::Constant(constant) => self.look(word, looks)? == *constant,
                HeadStep::Structure(header) => match self.look(word, looks)?.view() {
                    View::Structure(at) if self.header(at) == *header => {
                        stack.extend(self.arguments(at).iter().rev());
                        true
                    }
                    _ => false,
                },
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether two terms have the same value, looked at side by side from left to right.
    pub(super) fn same(&self, left: Word, right: Word, looks: &mut Looks) -> Result<bool, Stop> {
        let mut open = Vec::new();
        let mut next = Some((left, right));
        while let Some((left, right)) = next {
            looks.step()?;
            let (left, right) = (self.look(left, looks)?, self.look(right, looks)?);
            match (left.view(), right.view()) {
                (View::Structure(left), View::Structure(right)) => {
                    if self.header(left) != self.header(right) {
                        return Ok(false);
                    }
                    let pairs = self.arguments(left).iter().zip(self.arguments(right));
                    open.extend(pairs.rev().map(|(left, right)| (*left, *right)));
                }
                _ if left == right => {}
                _ => return Ok(false),
            }
            next = open.pop();
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::heap::Origin;
    use super::*;
    use crate::symbols::Symbol;

    #[test]
    fn a_variable_without_value_is_not_even_the_same_as_itself() {
        let mut heap = Heap::default();
        let x = heap.variable(Origin { clause: 0, number: 0 });
        let mut looks = Looks::default();
        assert_eq!(heap.same(x, x, &mut looks), Err(Stop::Unbound(0)));
        assert_eq!(heap.bind(x, Word::int(3), Binder { task: 1, time: 9 }, &mut Vec::new()), Ok(()));
        assert_eq!(heap.same(x, x, &mut looks), Ok(true));
        assert_eq!(looks.latest, 9);
    }

    #[test]
    fn what_differs_first_decides() {
        let mut heap = Heap::default();
        let x = heap.variable(Origin { clause: 0, number: 0 });
        let header = Word::header(Symbol(40), 2);
        let left = heap.structure(header, &[Word::int(1), x]);
        let right = heap.structure(header, &[Word::int(2), x]);
        assert_eq!(heap.same(left, right, &mut Looks::default()), Ok(false));
        assert_eq!(heap.same(left, left, &mut Looks::default()), Err(Stop::Unbound(0)));
    }

    #[test]
    fn a_term_that_contains_itself_ends() {
        let mut heap = Heap::default();
        let x = heap.variable(Origin { clause: 0, number: 0 });
        let whole = heap.structure(Word::header(Symbol(40), 1), &[x]);
        assert_eq!(heap.bind(x, whole, Binder { task: 1, time: 1 }, &mut Vec::new()), Ok(()));
        assert_eq!(heap.same(x, whole, &mut Looks::default()), Err(Stop::Endless));
    }
}
