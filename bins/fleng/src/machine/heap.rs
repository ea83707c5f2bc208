//! Where terms live: variables of three words, structures of one word and their arguments.
//!
//! A variable is bound once. Its words are then its value (never a reference to another variable), the
//! virtual time at which the value is there, and the task that made it be there then. Before, they are a mark, the clause and
//! number of the variable in the text, and nothing. Who waits for it and which variables are to be one with
//! it is kept aside, as most variables are bound before anybody asks.

use super::word::{View, Word};
use crate::observer::Binder;

/// What is to happen when a variable is bound.
#[derive(Debug, Default)]
pub(super) struct Awaited {
    /// Goals that go on.
    pub(super) goals: Vec<u32>,
    /// Variables that are bound too.
    pub(super) ties: Vec<Tie>,
}

/// Two variables that `=` made one, as one of them sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tie {
    pub(super) other: usize,
    pub(super) by: Binder,
}

/// A variable of the text: its clause and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) clause: u32,
    pub(crate) number: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Heap {
    pub(super) words: Vec<Word>,
    pub(super) awaited: Vec<Awaited>,
    /// Numbers of `awaited` that nobody uses.
    pub(super) unused: Vec<u32>,
}

impl Heap {
    /// How many words are in use.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    #[inline]
    pub(crate) fn variable(&mut self, origin: Origin) -> Word {
        let at = self.words.len();
        let text = Word(u64::from(origin.clause) << 32 | u64::from(origin.number));
        self.words.extend_from_slice(&[Word::UNBOUND, text, Word(0)]);
        Word::variable(at)
    }

    /// A structure of these arguments, as many as the header says.
    #[inline]
    pub(crate) fn structure(&mut self, header: Word, arguments: &[Word]) -> Word {
        let at = self.words.len();
        self.words.push(header);
        self.words.extend_from_slice(arguments);
        Word::structure(at)
    }

    /// The arguments of the structure at this place.
    #[inline]
    pub(crate) fn arguments(&self, at: usize) -> &[Word] {
        match self.words[at].view() {
            View::Header(_, arity) => &self.words[at + 1..at + 1 + arity],
            _ => &[],
        }
    }

    #[inline]
    pub(crate) fn header(&self, at: usize) -> Word {
        self.words[at]
    }

    /// The value of a variable and who bound it; none while it is unbound.
    #[inline]
    pub(crate) fn value(&self, variable: usize) -> Option<(Word, Binder)> {
        let value = self.words[variable];
        match value.view() {
            View::Unbound | View::Awaited(_) => None,
            _ => {
                let binder = Binder { time: self.words[variable + 1].0, task: self.words[variable + 2].0 };
                Some((value, binder))
            }
        }
    }

    /// Where in the text an unbound variable comes from.
    pub(crate) fn origin(&self, variable: usize) -> Origin {
        let text = self.words[variable + 1].0;
        Origin { clause: (text >> 32) as u32, number: text as u32 }
    }

    /// The goal goes on when the variable, which is unbound, is bound.
    pub(crate) fn wait(&mut self, variable: usize, goal: u32) {
        self.awaited(variable).goals.push(goal);
    }

    pub(super) fn awaited(&mut self, variable: usize) -> &mut Awaited {
        let number = match self.words[variable].view() {
            View::Awaited(number) => number,
            _ => {
                let number = self.unused.pop().map_or(self.awaited.len(), |number| number as usize);
                if number == self.awaited.len() {
                    self.awaited.push(Awaited::default());
                }
                self.words[variable] = Word::awaited(number);
                number
            }
        };
        &mut self.awaited[number]
    }
}
