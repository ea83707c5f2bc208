//! The columns of `events/` and the places of all tables within a trace.
//!
//! `events/` mirrors [`kizami_model::Call`] field by field, in the order below. Peers and roots are world
//! ranks, -1 for `MPI_PROC_NULL`, -2 for a wildcard that was never resolved, -3 for a process that cannot be
//! named, null where the call has none. Null bytes mean that the call moved nothing in that direction.

use crate::columns::{Field, Kind};

/// The columns of `events/`, in order.
pub(crate) const EVENTS: [Field; 24] = [
    Field::required("rank", Kind::Int32),
    Field::required("thread", Kind::Int32),
    Field::required("start_ns", Kind::Int64),
    Field::required("end_ns", Kind::Int64),
    Field::required("op", Kind::Text),
    Field::nullable("comm", Kind::Int32),
    Field::nullable("peer", Kind::Int32),
    Field::nullable("tag", Kind::Int32),
    Field::nullable("bytes_out", Kind::Int64),
    Field::nullable("bytes_in", Kind::Int64),
    Field::nullable("root", Kind::Int32),
    Field::nullable("request", Kind::Int64),
    Field::required("completes", Kind::Int64List),
    Field::nullable("callsite", Kind::Int32),
    Field::nullable("recv_peer", Kind::Int32),
    Field::nullable("recv_tag", Kind::Int32),
    Field::required("any_source", Kind::Bool),
    Field::required("any_tag", Kind::Bool),
    Field::nullable("object", Kind::Int32),
    Field::required("calls", Kind::Int32),
    Field::nullable("inside_ns", Kind::Int64),
    Field::required("failed", Kind::Bool),
    Field::required("overhead_ns", Kind::Int32),
    Field::required("weight", Kind::Double),
];

/// Folder of the rows.
pub(crate) const EVENTS_FOLDER: &str = "events";
/// Folder of stays in regions.
pub(crate) const REGIONS_FOLDER: &str = "regions";
/// Folder of what was counted with calls.
pub(crate) const COUNTERS_FOLDER: &str = "counters";
/// Folder of definitions.
pub(crate) const DEFS_FOLDER: &str = "defs";
/// Folder of raw segments.
pub(crate) const RAW_FOLDER: &str = "raw";
/// Clock readings.
pub(crate) const CLOCKS: &str = "clocks.parquet";
/// Repairs of the order of messages.
pub(crate) const REPAIRS: &str = "repairs.parquet";
/// Exact sums of a reduced trace.
pub(crate) const SUMS: &str = "sums.parquet";
/// Quantiles of a reduced trace.
pub(crate) const SKETCHES: &str = "sketches.parquet";
/// Computation between calls of a reduced trace.
pub(crate) const GAPS: &str = "gaps.parquet";
/// Who exchanged how much with whom, of a reduced trace.
pub(crate) const PEERS: &str = "peers.parquet";
/// The order of calls of a reduced trace.
pub(crate) const ORDER: &str = "order.bin";
/// Stops.
pub(crate) const STOPS: &str = "stops.parquet";

/// Name of the part with this number within its folder.
pub(crate) fn part_name(number: usize) -> String {
    format!("part-{number:05}.parquet")
}
