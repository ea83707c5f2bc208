//! Time of a replayed run, distinguished from that of the recorded one.

use kizami_model::{Length, Moment};

/// When, in one lane of a replay. It cannot be compared with a [`Moment`] of the recorded run: only lengths of time go
/// from one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct LaneMoment(pub i64);

impl LaneMoment {
    /// No partner: minus infinity, so that `max` ignores it.
    pub const MINUS_INFINITY: LaneMoment = LaneMoment(i64::MIN);

    /// So much earlier than something happened in the recorded run.
    #[inline]
    pub(crate) fn earlier_than(recorded: Moment, by: Length) -> LaneMoment {
        LaneMoment(recorded.0.saturating_sub(by.0))
    }

    /// How much earlier it is than the same in the recorded run.
    #[inline]
    pub(crate) fn ahead_of(self, recorded: Moment) -> Length {
        Length(recorded.0.saturating_sub(self.0))
    }

    /// So much later.
    #[inline]
    pub(crate) fn saturating_add(self, length: Length) -> LaneMoment {
        LaneMoment(self.0.saturating_add(length.0))
    }

    /// How long after `earlier`.
    #[inline]
    pub(crate) fn saturating_since(self, earlier: LaneMoment) -> Length {
        Length(self.0.saturating_sub(earlier.0))
    }

    /// The same where the replayed run is looked at as a run of its own.
    #[inline]
    pub fn as_moment(self) -> Moment {
        Moment(self.0)
    }
}
