//! What the output is made of.
//!
//! The output is a list of records, each beginning with a number whose two lowest bits say what it is:
//!
//! ```text
//! 0   a call: its symbol
//! 1   an occurrence of a loop: its number; how often it went round is the next of its counts
//! 2   a loop gets the next number: how many items its body has, and the items (symbol * 2, or loop * 2 + 1)
//! 3   anything else: 0 all loops are forgotten and numbers begin again at 0
//!                    1 a call without a symbol: four words, how many values, the values
//!                    2, 4, 6, ... a piece of the side stream of value 0, 1, 2, ...: its length and its bytes
//!                    3, 5, 7, ... a piece of the counts of loop 0, 1, 2, ...
//! ```

use kizami_wire::varint::Input;

/// A call or a loop, in a sequence: symbol * 2, or number of the loop * 2 + 1.
pub(crate) type Token = u32;

/// What no call and no loop is.
pub(crate) const NOTHING: Token = u32::MAX;

#[inline(always)]
pub(crate) fn loop_of(token: Token) -> Option<usize> {
    (token & 1 == 1).then_some(token as usize / 2)
}

/// The beginning of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Token(Token),
    Body(u64),
    Forget,
    Literal,
    ValueLane(usize),
    LoopLane(usize),
}

impl Tag {
    pub(crate) fn pack(self) -> u64 {
        match self {
            Tag::Token(token) => u64::from(token >> 1) << 2 | u64::from(token & 1),
            Tag::Body(length) => length << 2 | 2,
            Tag::Forget => 3,
            Tag::Literal => 1 << 2 | 3,
            Tag::ValueLane(lane) => (2 * lane as u64 + 2) << 2 | 3,
            Tag::LoopLane(lane) => (2 * lane as u64 + 3) << 2 | 3,
        }
    }

    pub(crate) fn read(input: &mut Input<'_>) -> Option<Tag> {
        let number = input.number()?;
        let rest = number >> 2;
        Some(match number & 3 {
            kind @ (0 | 1) => {
                Tag::Token(u32::try_from(rest << 1 | kind).ok().filter(|&token| token < NOTHING - 1)?)
            }
            2 => Tag::Body(rest),
            _ => match rest {
                0 => Tag::Forget,
                1 => Tag::Literal,
                _ if rest % 2 == 0 => Tag::ValueLane(usize::try_from(rest / 2 - 1).ok()?),
                _ => Tag::LoopLane(usize::try_from(rest / 2 - 1).ok()?),
            },
        })
    }
}
