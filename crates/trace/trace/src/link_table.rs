//! Loads of a simulated network's links.
use kizami_model::{Length, Moment, Op};

crate::table! {
    /// What a simulated network's link carried in a stretch of time, sorted by link and start; stretches without are left out.
    LinkLoad in "links.parquet", if any {
        /// Its name in the platform.
        "link" link: String,
        /// When the stretch began.
        "start_ns" start: Moment,
        /// How long it is.
        "length_ns" length: Length,
        /// Bandwidth taken, on average, as the simulator accounts for it.
        "bytes_per_s" bytes_per_s: f64,
        /// The part of the link's bandwidth that this is.
        "share" share: f64,
        /// The function whose messages took most of it.
        "op" op: Option<Op>,
        /// Where it was called.
        "callsite" callsite: Option<u32>,
        /// The part of what was taken that its messages took.
        "op_share" op_share: f64,
    }
}
