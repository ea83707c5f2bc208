//! How parallel a program is, apart from any machine: its tasks in virtual time.
//!
//! In virtual time a task starts as soon as it is made and all it needs is there, as on a machine with as many
//! processors as wanted and no cost of sharing them out. [`TaskGraph`] reads the tasks of a trace; [`Parallelism`] says
//! how many of them run at each moment, [`Path`] which of them made the run as long as it is, and [`schedule()`] how
//! long it takes with so many processors. [`Survey`] keeps what is needed to answer about any part of a run at once, and
//! [`stream()`] computes the same for the whole run in memory that hardly grows with it.
//!
//! Promises: the area below the curve of parallelism is the work, exactly. No schedule lies outside its bounds.
//! It does not read segments, and calls no runtime: it knows how some give tasks out, and follows that.

mod asleep;
mod bounds;
mod burden;
mod columns;
mod curve;
mod error;
mod flow;
mod folded;
mod graph;
mod lengths;
mod memory;
mod notice;
mod parallelism;
mod path;
mod places;
mod schedule;
mod stream;
mod survey;
mod threads;

pub use asleep::asleep;
pub use bounds::{Bounds, at_least};
pub use burden::burdened_span;
pub use curve::Curve;
pub use error::TasksError;
pub use flow::Flow;
pub use folded::{Folded, Node, NodeSum};
pub use graph::{Need, Task, TaskGraph};
pub use lengths::{PlaceLengths, bucket, shortest};
pub use memory::memory_needed;
pub use notice::Notice;
pub use parallelism::Parallelism;
pub use path::{OnPath, Path};
pub use places::{PlaceSum, places};
pub use schedule::{Bound, Scheduled, Strategy, recorded_by, schedule, schedules};
pub use stream::{Bins, Streamed, stream};
pub use survey::{Part, Scope, Stretch, Survey};
pub use threads::{PieceOf, RegionRun, ThreadPiece, region_runs, thread_pieces};
