//! One word of the heap: a value or a reference, told apart by its lowest three bits.
//!
//! Words that stand for terms are references to variables, integers, atoms and references to structures.
//! The others are first words of things in the heap.

use crate::symbols::Symbol;

/// Integers have 61 bits: from `-LARGEST - 1` to `LARGEST`.
pub(crate) const LARGEST: i64 = (1 << 60) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

const VARIABLE: u64 = 0;
const INT: u64 = 1;
const ATOM: u64 = 2;
const STRUCTURE: u64 = 3;
const HEADER: u64 = 4;
const UNBOUND: u64 = 5;
const AWAITED: u64 = 6;
const MOVED: u64 = 7;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// A reference to a variable, by its place in the heap.
    Variable(usize),
    Int(i64),
    Atom(Symbol),
    /// A reference to a structure, by its place in the heap.
    Structure(usize),
    /// First word of a structure: its name and how many arguments follow.
    Header(Symbol, usize),
    /// First word of a variable that nobody bound and nobody waits for.
    Unbound,
    /// First word of a variable that nobody bound, with the number of those who want to know.
    Awaited(usize),
    /// What was here went to another place while garbage is collected.
    Moved(usize),
}

impl Word {
    pub(crate) const UNBOUND: Word = Word(UNBOUND);

    pub(crate) fn variable(at: usize) -> Word {
        Word((at as u64) << 3 | VARIABLE)
    }

    /// Of a number that fits: see [`LARGEST`].
    pub(crate) fn int(value: i64) -> Word {
        Word((value as u64) << 3 | INT)
    }

    pub(crate) fn atom(name: Symbol) -> Word {
        Word(u64::from(name.0) << 3 | ATOM)
    }

    pub(crate) fn truth(value: bool) -> Word {
        Word::atom(if value { Symbol::TRUE } else { Symbol::FALSE })
    }

    pub(crate) fn structure(at: usize) -> Word {
        Word((at as u64) << 3 | STRUCTURE)
    }

    /// Of at most 255 arguments.
    pub(crate) fn header(name: Symbol, arity: usize) -> Word {
        Word(u64::from(name.0) << 11 | (arity as u64 & 0xff) << 3 | HEADER)
    }

    pub(crate) fn awaited(number: usize) -> Word {
        Word((number as u64) << 3 | AWAITED)
    }

    pub(crate) fn moved(to: usize) -> Word {
        Word((to as u64) << 3 | MOVED)
    }

    #[inline]
    pub(crate) fn view(self) -> View {
        let rest = (self.0 >> 3) as usize;
        match self.0 & 7 {
            VARIABLE => View::Variable(rest),
            INT => View::Int((self.0 as i64) >> 3),
            ATOM => View::Atom(Symbol(rest as u32)),
            STRUCTURE => View::Structure(rest),
            HEADER => View::Header(Symbol((self.0 >> 11) as u32), rest & 0xff),
            UNBOUND => View::Unbound,
            AWAITED => View::Awaited(rest),
            _ => View::Moved(rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_they_were_made_of() {
        for value in [0, 1, -1, LARGEST, -LARGEST - 1] {
            assert_eq!(Word::int(value).view(), View::Int(value));
        }
        assert_eq!(Word::header(Symbol(7), 255).view(), View::Header(Symbol(7), 255));
        assert_eq!(Word::variable(9).view(), View::Variable(9));
        assert_eq!(Word::structure(9).view(), View::Structure(9));
        assert_eq!(Word::awaited(3).view(), View::Awaited(3));
        assert_eq!(Word::moved(5).view(), View::Moved(5));
        assert_eq!(Word::truth(true).view(), View::Atom(Symbol::TRUE));
    }
}
