//! Loads of a simulated network's links.

use kizami_model::{Length, Moment};

crate::table! {
    /// How much of a simulated network's link was taken in a stretch of time, sorted by link and start. Stretches in which
    /// none was are left out.
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
    }
}
