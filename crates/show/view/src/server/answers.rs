//! Answers as the page gets them, as JSON. Their TypeScript types, `ui/src/answers.ts`, are made from these.

use crate::layer::LayerKind;
use crate::look::Look;
use crate::query::collectives::Collective;
use crate::query::histogram::Located;
use crate::query::path::Segment;
use crate::query::phases::Phase;
use crate::query::stops::Gap;
use crate::query::tree::Node;
use serde::Serialize;

/// What is looked at, and how far the index is. Regions and hosts are those of the first trace.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Run {
    pub layers: Vec<Layer>,
    pub hosts: Vec<String>,
    pub functions: Vec<&'static str>,
    /// The category of each function.
    pub function_categories: Vec<u8>,
    /// Those that were called, by their place in `functions`.
    pub functions_used: Vec<usize>,
    pub regions: Vec<String>,
    pub categories: Vec<Look>,
    pub health: Health,
    pub index: IndexState,
}

/// A layer of the picture.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Layer {
    pub name: String,
    pub path_shown: String,
    pub span_ns: i64,
    /// From the first rank that leaves `MPI_Init` to the last that comes to `MPI_Finalize`, where that is known: what
    /// is shown first.
    pub work: Option<(i64, i64)>,
    pub ranks: usize,
    pub threads: u32,
    pub events: u64,
    /// Calls that could not be stored.
    pub lost_calls: u64,
    pub kind: LayerKind,
    /// How its times came to be, if it is no recording.
    pub note: Option<String>,
    /// How many kinds of rank there are, if it is told by them.
    pub kinds: Option<usize>,
    pub callsites: Vec<CallSite>,
    /// Whether it has tasks, and whether it has anything else.
    pub tasks: bool,
    pub only_tasks: bool,
    /// Whether what the links of its network carried is known.
    pub links: bool,
    /// Whether its parallel regions are known, and so what its threads did.
    pub parallel: bool,
}

/// A place calls are made from.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct CallSite {
    pub id: u32,
    pub function: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// Whether all was recorded.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Health {
    pub complete: bool,
    pub problems: Vec<String>,
}

/// How far the index is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct IndexState {
    pub ready: bool,
    pub progress: f64,
}

/// How many ranks compute over time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Parallelism {
    pub from: i64,
    pub to: i64,
    pub kind: LayerKind,
    pub recorded: Vec<f32>,
    pub ideal: Option<Vec<f32>>,
    /// Why there is no `ideal`.
    pub note: Option<String>,
}

/// Collectives one by one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Collectives {
    pub collectives: Vec<Collective>,
    pub truncated: bool,
}

/// The critical path.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Path {
    pub segments: Vec<Segment>,
    pub truncated: bool,
}

/// Where time goes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
}

/// Phases of the run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Phases {
    pub phases: Vec<Phase>,
}

/// Stretches without calls.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Stops {
    pub stops: Vec<Gap>,
    pub truncated: bool,
}

/// Calls of about one length.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct HistogramCalls {
    pub count: usize,
    pub calls: Vec<Located>,
}

/// What rows and columns of the matrix stand for.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct MatrixLabels {
    pub labels: Vec<String>,
    /// The first rank of each; none for a host.
    pub first_ranks: Vec<Option<u32>>,
}
