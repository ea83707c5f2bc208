//! What a reducer handed over, in pieces, while the program ran.

/// Who handed over a piece of a [`Record::Reduced`](crate::Record::Reduced).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ReducedBy {
    /// Sums and kept rows.
    Summary = 1,
    /// The folded sequence of calls.
    Sequence = 2,
}

impl ReducedBy {
    pub(crate) fn from_number(number: u64) -> Option<ReducedBy> {
        match number {
            1 => Some(ReducedBy::Summary),
            2 => Some(ReducedBy::Sequence),
            _ => None,
        }
    }
}
