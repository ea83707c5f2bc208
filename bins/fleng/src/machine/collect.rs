//! Garbage: what no goal and no answer can reach is dropped, by copying the rest.
//!
//! It promises that all that can be reached stays as it is but for its place. Which variables are bound is
//! not simplified: the time and binder of each is still needed by whoever looks at it.

use super::heap::{Awaited, Heap};
use super::word::{View, Word};

/// Words of a variable.
const VARIABLE: usize = 3;

impl Heap {
    /// Keeps what the roots reach, and sets these to the new places.
    pub(crate) fn collect<'a>(&mut self, roots: impl Iterator<Item = &'a mut Word>) {
        let mut from = std::mem::take(&mut self.words);
        let mut to = Vec::with_capacity(from.len() / 4);
        for root in roots {
            *root = moved(*root, &mut from, &mut to);
        }
        let mut live = vec![false; self.awaited.len()];
        let mut at = 0;
        while at < to.len() {
            at += match to[at].view() {
                View::Header(_, arity) => {
                    for place in at + 1..=at + arity {
                        to[place] = moved(to[place], &mut from, &mut to);
                    }
                    arity + 1
                }
                View::Awaited(number) => {
                    live[number] = true;
                    for tie in &mut self.awaited[number].ties {
                        if let View::Variable(other) =
                            moved(Word::variable(tie.other), &mut from, &mut to).view()
                        {
                            tie.other = other;
                        }
                    }
                    VARIABLE
                }
                _ => {
                    to[at] = moved(to[at], &mut from, &mut to);
                    VARIABLE
                }
            };
        }
        self.words = to;
        self.forget(&live);
    }

    fn forget(&mut self, live: &[bool]) {
        self.unused.clear();
        for (number, awaited) in (0..).zip(&mut self.awaited) {
            if !live[number as usize] {
                *awaited = Awaited::default();
                self.unused.push(number);
            }
        }
    }
}

/// The word, with what it refers to copied if it was not yet.
fn moved(word: Word, from: &mut [Word], to: &mut Vec<Word>) -> Word {
    let (View::Variable(at) | View::Structure(at)) = word.view() else { return word };
    let variable = matches!(word.view(), View::Variable(_));
    let place = match from[at].view() {
        View::Moved(place) => place,
        first => {
            let length = match first {
                View::Header(_, arity) if !variable => arity + 1,
                _ => VARIABLE,
            };
            let place = to.len();
            to.extend_from_slice(&from[at..at + length]);
            from[at] = Word::moved(place);
            place
        }
    };
    if variable { Word::variable(place) } else { Word::structure(place) }
}

#[cfg(test)]
mod tests {
    use super::super::heap::Origin;
    use super::*;
    use crate::observer::Binder;
    use crate::symbols::Symbol;

    #[test]
    fn keeps_what_is_reached_and_what_is_tied_to_it() {
        let mut heap = Heap::default();
        let origin = Origin { clause: 1, number: 2 };
        let by = Binder { time: 5, task: 6 };
        heap.structure(Word::header(Symbol(30), 2), &[Word::int(1), Word::int(2)]);
        let (x, y, dead) = (heap.variable(origin), heap.variable(origin), heap.variable(origin));
        let mut root = heap.structure(Word::header(Symbol(31), 2), &[x, Word::int(4)]);
        assert_eq!(heap.bind(x, y, by, &mut Vec::new()), Ok(()));
        if let View::Variable(dead) = dead.view() {
            heap.wait(dead, 9);
        }
        heap.collect(std::iter::once(&mut root));
        assert_eq!((heap.len(), heap.unused.len()), (3 + 3 + 3, 1));
        let View::Structure(at) = root.view() else { panic!("{root:?}") };
        let [x, number] = *heap.arguments(at) else { panic!("two arguments") };
        assert_eq!(number, Word::int(4));
        assert_eq!(x, Word::variable(3));
        assert_eq!(heap.origin(3), origin);
        let whole = root;
        assert_eq!(heap.bind(Word::variable(6), whole, Binder { time: 8, task: 7 }, &mut Vec::new()), Ok(()));
        assert_eq!(heap.value(3), Some((whole, Binder { time: 8, task: 7 })));
        heap.collect(std::iter::once(&mut root));
        assert_eq!(heap.len(), 6, "the structure that contains itself through x, and no y");
    }
}
