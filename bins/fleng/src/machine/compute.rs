//! Arithmetic and comparisons, as `:=` and the goals that compare have them.
//!
//! Operands are looked at from left to right. `//` and `mod` round down, so that `X mod Y` has the sign of
//! `Y`. It promises an answer, a variable to wait for, or what is wrong; never an overflow.

use super::heap::Heap;
use super::look::{Looks, Stop};
use super::word::{LARGEST, View, Word};
use crate::code::Builtin;
use crate::symbols::Symbol;

/// How deep an expression may be.
const DEEPEST: u32 = 1000;

impl Heap {
    /// What a goal of the language, which is at this place, gives and where it puts it.
    pub(crate) fn compute(
        &self,
        builtin: Builtin,
        goal: usize,
        looks: &mut Looks,
    ) -> Result<(Word, Word), Stop> {
        let arguments = self.arguments(goal);
        let result = match builtin {
            Builtin::Assign => return Ok((arguments[0], self.expression(arguments[1], looks)?)),
            Builtin::Less => self.compare(Symbol::LESS, arguments[0], arguments[1], looks)?,
            Builtin::AtMost => self.compare(Symbol::AT_MOST, arguments[0], arguments[1], looks)?,
            Builtin::Equal => self.compare(Symbol::EQUAL, arguments[0], arguments[1], looks)?,
            Builtin::Same => self.same(arguments[0], arguments[1], looks)?,
        };
        Ok((arguments[2], Word::truth(result)))
    }

    /// A number, or the truth of a comparison.
    fn expression(&self, word: Word, looks: &mut Looks) -> Result<Word, Stop> {
        let word = self.look(word, looks)?;
        if let View::Structure(at) = word.view()
            && let (View::Header(name, 2), [left, right]) = (self.header(at).view(), self.arguments(at))
        {
            match name {
                Symbol::SAME => return self.same(*left, *right, looks).map(Word::truth),
                Symbol::DIFFERENT => return self.same(*left, *right, looks).map(|same| Word::truth(!same)),
                _ if name.is_comparison() => {
                    return self.compare(name, *left, *right, looks).map(Word::truth);
                }
                _ => {}
            }
        }
        self.number(word, 0, looks).map(Word::int)
    }

    fn compare(&self, name: Symbol, left: Word, right: Word, looks: &mut Looks) -> Result<bool, Stop> {
        let (left, right) = (self.number(left, 0, looks)?, self.number(right, 0, looks)?);
        Ok(match name {
            Symbol::LESS => left < right,
            Symbol::GREATER => left > right,
            Symbol::AT_MOST => left <= right,
            Symbol::AT_LEAST => left >= right,
            Symbol::UNEQUAL => left != right,
            _ => left == right,
        })
    }

    fn number(&self, word: Word, depth: u32, looks: &mut Looks) -> Result<i64, Stop> {
        let word = self.look(word, looks)?;
        let at = match word.view() {
            View::Int(value) => return Ok(value),
            View::Structure(at) => at,
            _ => return Err(Stop::NotANumber(word)),
        };
        let (View::Header(name, _), [left, right]) = (self.header(at).view(), self.arguments(at)) else {
            return Err(Stop::NotANumber(word));
        };
        if !name.is_arithmetic() {
            return Err(Stop::NotANumber(word));
        }
        looks.step()?;
        if depth == DEEPEST {
            return Err(Stop::Endless);
        }
        let (left, right) = (self.number(*left, depth + 1, looks)?, self.number(*right, depth + 1, looks)?);
        apply(name, left, right)
    }
}

fn apply(name: Symbol, left: i64, right: i64) -> Result<i64, Stop> {
    let divides = matches!(name, Symbol::DIVIDE | Symbol::REMAINDER);
    if divides && right == 0 {
        return Err(Stop::DividedByZero);
    }
    let result = match name {
        Symbol::ADD => left.checked_add(right),
        Symbol::SUBTRACT => left.checked_sub(right),
        Symbol::MULTIPLY => left.checked_mul(right),
        Symbol::DIVIDE => Some(left.div_euclid(right) - i64::from(right < 0 && left.rem_euclid(right) != 0)),
        Symbol::REMAINDER => {
            let rest = left.rem_euclid(right);
            Some(if right < 0 && rest != 0 { rest + right } else { rest })
        }
        Symbol::MIN => Some(left.min(right)),
        _ => Some(left.max(right)),
    };
    result.filter(|value| (-LARGEST - 1..=LARGEST).contains(value)).ok_or(Stop::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_rounds_down() {
        for (left, right) in [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, -3), (-6, 3), (0, 5)] {
            let expected = (left as f64 / right as f64).floor() as i64;
            assert_eq!(apply(Symbol::DIVIDE, left, right), Ok(expected), "{left} // {right}");
            assert_eq!(
                apply(Symbol::REMAINDER, left, right),
                Ok(left - right * expected),
                "{left} mod {right}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(apply(Symbol::ADD, LARGEST, 1), Err(Stop::TooLarge));
        assert_eq!(apply(Symbol::MULTIPLY, LARGEST, LARGEST), Err(Stop::TooLarge));
        assert_eq!(apply(Symbol::DIVIDE, -LARGEST - 1, -1), Err(Stop::TooLarge));
        assert_eq!(apply(Symbol::DIVIDE, 1, 0), Err(Stop::DividedByZero));
        assert_eq!(apply(Symbol::REMAINDER, 1, 0), Err(Stop::DividedByZero));
        assert_eq!(apply(Symbol::MIN, 1, -2), Ok(-2));
        assert_eq!(apply(Symbol::MAX, 1, -2), Ok(1));
    }
}
