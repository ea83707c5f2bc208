//! What reductions make of two ranks' data.

use crate::datatype::{Basic, Class, Value};

/// An operation of the standard, in the order of this crate's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Their names are those of the standard.
pub enum Operation {
    Max,
    Min,
    Sum,
    Prod,
    LogicalAnd,
    BitAnd,
    LogicalOr,
    BitOr,
    LogicalXor,
    BitXor,
    MinLoc,
    MaxLoc,
    Replace,
    NoOp,
}

impl Operation {
    /// All of them, by number.
    pub const ALL: [Operation; 14] = [
        Operation::Max,
        Operation::Min,
        Operation::Sum,
        Operation::Prod,
        Operation::LogicalAnd,
        Operation::BitAnd,
        Operation::LogicalOr,
        Operation::BitOr,
        Operation::LogicalXor,
        Operation::BitXor,
        Operation::MinLoc,
        Operation::MaxLoc,
        Operation::Replace,
        Operation::NoOp,
    ];

    /// Makes `into` what comes of both. False if the type has no such operation here.
    pub fn apply(self, basic: Basic, into: &mut [u8], with: &[u8]) -> bool {
        let (size, _, _, class) = basic.traits();
        match (class, size) {
            _ if self == Operation::NoOp => true,
            _ if self == Operation::Replace => {
                into.copy_from_slice(with);
                true
            }
            (Class::Signed, 1) => self.whole::<i8, 1>(into, with),
            (Class::Signed, 2) => self.whole::<i16, 2>(into, with),
            (Class::Signed, 4) => self.whole::<i32, 4>(into, with),
            (Class::Signed, 8) => self.whole::<i64, 8>(into, with),
            (Class::Unsigned | Class::Bytes | Class::Logical, 1) => self.whole::<u8, 1>(into, with),
            (Class::Unsigned | Class::Logical, 2) => self.whole::<u16, 2>(into, with),
            (Class::Unsigned | Class::Logical, 4) => self.whole::<u32, 4>(into, with),
            (Class::Unsigned | Class::Logical, 8) => self.whole::<u64, 8>(into, with),
            (Class::Float, 4) => self.float::<f32, 4>(into, with),
            (Class::Float, 8) => self.float::<f64, 8>(into, with),
            (Class::Complex, 8) if self == Operation::Sum => self.float::<f32, 4>(into, with),
            (Class::Complex, 16) if self == Operation::Sum => self.float::<f64, 8>(into, with),
            (Class::PairOf(value), _) => self.pairs(value, size as usize, into, with),
            _ => false,
        }
    }

    fn whole<N: Whole<BYTES>, const BYTES: usize>(self, into: &mut [u8], with: &[u8]) -> bool {
        each::<BYTES>(into, with, |one, two| {
            let (a, b) = (N::read(one), N::read(two));
            Some(
                match self {
                    Operation::Max => a.max(b),
                    Operation::Min => a.min(b),
                    Operation::Sum => a.plus(b),
                    Operation::Prod => a.times(b),
                    Operation::LogicalAnd => N::truth(a != N::truth(false) && b != N::truth(false)),
                    Operation::LogicalOr => N::truth(a != N::truth(false) || b != N::truth(false)),
                    Operation::LogicalXor => N::truth((a != N::truth(false)) != (b != N::truth(false))),
                    Operation::BitAnd => a.bits(b, |one, two| one & two),
                    Operation::BitOr => a.bits(b, |one, two| one | two),
                    Operation::BitXor => a.bits(b, |one, two| one ^ two),
                    _ => return None,
                }
                .bytes(),
            )
        })
    }

    fn float<N: Float<BYTES>, const BYTES: usize>(self, into: &mut [u8], with: &[u8]) -> bool {
        each::<BYTES>(into, with, |one, two| {
            let (a, b) = (N::read(one), N::read(two));
            Some(
                match self {
                    Operation::Max => a.larger(b),
                    Operation::Min => a.smaller(b),
                    Operation::Sum => a.plus(b),
                    Operation::Prod => a.times(b),
                    _ => return None,
                }
                .bytes(),
            )
        })
    }

    fn pairs(self, value: Value, size: usize, into: &mut [u8], with: &[u8]) -> bool {
        if !matches!(self, Operation::MinLoc | Operation::MaxLoc) {
            return false;
        }
        // Packed, a pair is its value and the index right behind it.
        let index_at = size - 4;
        let number = |bytes: &[u8]| -> Option<f64> {
            Some(match value {
                Value::Short => f64::from(i16::from_ne_bytes(bytes[..2].try_into().ok()?)),
                Value::Int => f64::from(i32::from_ne_bytes(bytes[..4].try_into().ok()?)),
                Value::Long => i64::from_ne_bytes(bytes[..8].try_into().ok()?) as f64,
                Value::Float => f64::from(f32::from_ne_bytes(bytes[..4].try_into().ok()?)),
                Value::Double => f64::from_ne_bytes(bytes[..8].try_into().ok()?),
                Value::LongDouble => return None,
            })
        };
        for (one, two) in into.chunks_exact_mut(size).zip(with.chunks_exact(size)) {
            let (Some(a), Some(b)) = (number(one), number(two)) else { return false };
            let index = |bytes: &[u8]| i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let (at_a, at_b) = (index(&one[index_at..]), index(&two[index_at..]));
            let better = if self == Operation::MinLoc { b < a } else { b > a };
            if better || (a == b && at_b < at_a) {
                one.copy_from_slice(two);
            }
        }
        true
    }
}

fn each<const BYTES: usize>(
    into: &mut [u8],
    with: &[u8],
    make: impl Fn([u8; BYTES], [u8; BYTES]) -> Option<[u8; BYTES]>,
) -> bool {
    for (one, two) in into.chunks_exact_mut(BYTES).zip(with.chunks_exact(BYTES)) {
        let (Ok(a), Ok(b)) = (<[u8; BYTES]>::try_from(&*one), <[u8; BYTES]>::try_from(two)) else {
            return false;
        };
        match make(a, b) {
            Some(bytes) => one.copy_from_slice(&bytes),
            None => return false,
        }
    }
    true
}

trait Whole<const BYTES: usize>: Copy + Ord {
    fn read(bytes: [u8; BYTES]) -> Self;
    fn bytes(self) -> [u8; BYTES];
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn bits(self, other: Self, make: impl Fn(u64, u64) -> u64) -> Self;
    fn truth(truth: bool) -> Self;
}

trait Float<const BYTES: usize>: Copy {
    fn read(bytes: [u8; BYTES]) -> Self;
    fn bytes(self) -> [u8; BYTES];
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn larger(self, other: Self) -> Self;
    fn smaller(self, other: Self) -> Self;
}

macro_rules! whole {
    ($($kind:ty)*) => { $(
        impl Whole<{ size_of::<$kind>() }> for $kind {
            fn read(bytes: [u8; size_of::<$kind>()]) -> Self { <$kind>::from_ne_bytes(bytes) }
            fn bytes(self) -> [u8; size_of::<$kind>()] { self.to_ne_bytes() }
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn bits(self, other: Self, make: impl Fn(u64, u64) -> u64) -> Self { make(self as u64, other as u64) as $kind }
            fn truth(truth: bool) -> Self { truth as $kind }
        }
    )* };
}

whole!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! float {
    ($($kind:ty)*) => { $(
        impl Float<{ size_of::<$kind>() }> for $kind {
            fn read(bytes: [u8; size_of::<$kind>()]) -> Self { <$kind>::from_ne_bytes(bytes) }
            fn bytes(self) -> [u8; size_of::<$kind>()] { self.to_ne_bytes() }
            fn plus(self, other: Self) -> Self { self + other }
            fn times(self, other: Self) -> Self { self * other }
            fn larger(self, other: Self) -> Self { self.max(other) }
            fn smaller(self, other: Self) -> Self { self.min(other) }
        }
    )* };
}

float!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn whole_numbers_floats_and_pairs_reduce() {
        let mut sum = ints(&[1, -2]);
        assert!(Operation::Sum.apply(Basic::Int, &mut sum, &ints(&[10, 20])));
        assert_eq!(sum, ints(&[11, 18]));
        let mut least = ints(&[5, 3]);
        assert!(Operation::MinLoc.apply(Basic::TwoInt, &mut least, &ints(&[5, 1])));
        assert_eq!(least, ints(&[5, 1]));
        let mut least = 2.5f64.to_ne_bytes().to_vec();
        assert!(Operation::Min.apply(Basic::Double, &mut least, &(-1.0f64).to_ne_bytes()));
        assert_eq!(least, (-1.0f64).to_ne_bytes());
        let mut bits = ints(&[6]);
        assert!(Operation::BitAnd.apply(Basic::Int, &mut bits, &ints(&[3])));
        assert_eq!(bits, ints(&[2]));
        assert!(!Operation::BitAnd.apply(Basic::Double, &mut [0; 8], &[0; 8]));
    }
}
