//! What rows have in common, and where the rows of a rank lie.

use crate::index::category::Category;
use bytemuck::{Pod, Zeroable};
use kizami_model::Op;
use kizami_trace::NO_SITE;

/// Categories a call can have, by number.
const CALLS: [Category; 7] = [
    Category::Compute,
    Category::PointToPoint,
    Category::Receive,
    Category::Collective,
    Category::OneSided,
    Category::File,
    Category::Other,
];

/// What rows have in common: function, place and thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Kind {
    site: u32,
    /// Which thread of the rank.
    pub thread: u32,
    op: u16,
    category: u8,
    part: u8,
}

impl Kind {
    pub(crate) fn new(op: Op, site: u32, thread: u32, part: bool) -> Kind {
        Kind { site, thread, op: op.0, category: Category::of(op) as u8, part: u8::from(part) }
    }

    /// Whether it is as such a kind is made.
    pub(crate) fn is_one(&self) -> bool {
        *self == Kind::new(Op(self.op), self.site, self.thread, self.is_part())
    }

    /// Which function was called.
    pub fn op(&self) -> Op {
        Op(self.op)
    }

    /// Index of the place it was called from.
    pub fn site(&self) -> Option<u32> {
        (self.site != NO_SITE).then_some(self.site)
    }

    /// Whether the row is a part of another and no call of its own.
    pub fn is_part(&self) -> bool {
        self.part != 0
    }

    /// What kind of work it is.
    pub fn category(&self) -> Category {
        CALLS.get(usize::from(self.category)).copied().unwrap_or(Category::Other)
    }
}

/// Where the rows of a rank lie, and when it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RankRow {
    pub first_block: u64,
    pub blocks: u64,
    pub begin_ns: i64,
    pub end_ns: i64,
    /// The thread that made the rank's first call.
    pub thread: u64,
}
