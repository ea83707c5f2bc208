//! Kinds of time that must never be mixed: what a clock counts, when something happened, and how long it took.
//!
//! A [`Moment`] less a [`Moment`] is a [`Length`]; two moments cannot be added. Both are nanoseconds and as cheap as the
//! number inside, which is public for borders (columns, files, hot loops) and for nothing else.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A reading of a process's own clock, in that clock's unit (TSC ticks, or nanoseconds where there is no
/// usable TSC). Comparable only with readings of the same host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticks(pub u64);

/// When: nanoseconds on the run-wide clock, since the run's first recorded moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(transparent)]
pub struct Moment(pub i64);

/// How long: nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(transparent)]
pub struct Length(pub i64);

impl Moment {
    /// The run's first recorded moment.
    pub const START: Moment = Moment(0);

    /// How long after the run's first moment.
    #[inline]
    pub fn since_start(self) -> Length {
        Length(self.0)
    }

    /// How long after `earlier`; for times that were read from a file and may be anything.
    #[inline]
    pub fn saturating_since(self, earlier: Moment) -> Length {
        Length(self.0.saturating_sub(earlier.0))
    }

    /// The moment `length` later; for times that were read from a file and may be anything.
    #[inline]
    pub fn saturating_add(self, length: Length) -> Moment {
        Moment(self.0.saturating_add(length.0))
    }

    /// The moment `length` earlier; for times that were read from a file and may be anything.
    #[inline]
    pub fn saturating_sub(self, length: Length) -> Moment {
        Moment(self.0.saturating_sub(length.0))
    }
}

impl Length {
    /// No time at all.
    pub const ZERO: Length = Length(0);

    /// The same length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The nearest length to this many seconds.
    pub fn from_secs_f64(seconds: f64) -> Length {
        Length((seconds * 1e9).round() as i64)
    }

    /// The nearest length to this many nanoseconds.
    #[inline]
    pub fn from_nanos_f64(nanoseconds: f64) -> Length {
        Length(nanoseconds.round() as i64)
    }

    /// The nearest length to this one times a factor.
    #[inline]
    pub fn scaled(self, factor: f64) -> Length {
        Length((self.0 as f64 * factor).round() as i64)
    }

    /// The sum, or the longest there is.
    #[inline]
    pub fn saturating_add(self, other: Length) -> Length {
        Length(self.0.saturating_add(other.0))
    }

    /// The difference, or the longest there is.
    #[inline]
    pub fn saturating_sub(self, other: Length) -> Length {
        Length(self.0.saturating_sub(other.0))
    }

    /// The same without its sign.
    #[inline]
    pub fn abs(self) -> Length {
        Length(self.0.abs())
    }

    /// This length, or none if it is negative.
    #[inline]
    pub fn at_least_zero(self) -> Length {
        Length(self.0.max(0))
    }
}

impl Sub for Moment {
    type Output = Length;
    #[inline]
    fn sub(self, earlier: Moment) -> Length {
        Length(self.0 - earlier.0)
    }
}

impl Add<Length> for Moment {
    type Output = Moment;
    #[inline]
    fn add(self, length: Length) -> Moment {
        Moment(self.0 + length.0)
    }
}

impl Sub<Length> for Moment {
    type Output = Moment;
    #[inline]
    fn sub(self, length: Length) -> Moment {
        Moment(self.0 - length.0)
    }
}

impl AddAssign<Length> for Moment {
    #[inline]
    fn add_assign(&mut self, length: Length) {
        self.0 += length.0;
    }
}

impl SubAssign<Length> for Moment {
    #[inline]
    fn sub_assign(&mut self, length: Length) {
        self.0 -= length.0;
    }
}

impl Add for Length {
    type Output = Length;
    #[inline]
    fn add(self, other: Length) -> Length {
        Length(self.0 + other.0)
    }
}

impl Sub for Length {
    type Output = Length;
    #[inline]
    fn sub(self, other: Length) -> Length {
        Length(self.0 - other.0)
    }
}

impl AddAssign for Length {
    #[inline]
    fn add_assign(&mut self, other: Length) {
        self.0 += other.0;
    }
}

impl SubAssign for Length {
    #[inline]
    fn sub_assign(&mut self, other: Length) {
        self.0 -= other.0;
    }
}

impl Neg for Length {
    type Output = Length;
    #[inline]
    fn neg(self) -> Length {
        Length(-self.0)
    }
}

impl Mul<i64> for Length {
    type Output = Length;
    #[inline]
    fn mul(self, times: i64) -> Length {
        Length(self.0 * times)
    }
}

impl Div<i64> for Length {
    type Output = Length;
    #[inline]
    fn div(self, parts: i64) -> Length {
        Length(self.0 / parts)
    }
}

impl Sum for Length {
    fn sum<I: Iterator<Item = Length>>(lengths: I) -> Length {
        Length(lengths.map(|length| length.0).sum())
    }
}
