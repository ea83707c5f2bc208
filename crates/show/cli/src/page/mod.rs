//! One HTML file, of a report, a snapshot of the viewer or a prediction: for a laptop's screen first, for paper too, in light and in dark.
//!
//! The page needs no script and loads nothing: the style is inside, and charts are inline SVG. Its size is bounded
//! whatever the run: ranks share columns and cells where there are many, and tables show their first rows.

mod charts;
mod columns;
mod curve;
mod frame;
mod guide;
mod markup;
mod report;
mod snapshot;
mod verdict;

pub use columns::{round_step, text};
pub use curve::Curve;
pub use frame::{begin, end};
pub use markup::Markup;
pub use report::report;
pub use snapshot::{Snapshot, Timeline, snapshot};
