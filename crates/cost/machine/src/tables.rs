//! The tables of a machine, each declared once.

use kizami_trace::table;

/// How a collective is called, where that makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// The common case: all parts equally large.
    Plain,
    /// To a few others only.
    Sparse,
    /// Half of it to one other.
    Skewed,
    /// With as much computation between beginning and waiting as it takes alone.
    Overlapped,
    /// To the next one and from the one before, all at once.
    Shift,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 5] =
        [Pattern::Plain, Pattern::Sparse, Pattern::Skewed, Pattern::Overlapped, Pattern::Shift];

    /// As it is written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Plain => "plain",
            Pattern::Sparse => "sparse",
            Pattern::Skewed => "skewed",
            Pattern::Overlapped => "overlapped",
            Pattern::Shift => "shift",
        }
    }
}

table! {
    /// What one collective operation takes, from the arrival of the last rank to the moment the last one leaves.
    CollectiveRow in "collectives.parquet", always {
        /// The MPI function, such as `MPI_Allreduce`.
        "operation" operation: String,
        /// `plain`, `sparse`, `skewed`, `overlapped` or `shift`.
        "pattern" pattern: String,
        /// The library's algorithm.
        /// Null: not known.
        "algorithm" algorithm: Option<String>,
        /// What one rank moves: the larger of what it gives and what it gets, as in traces.
        "bytes" bytes: u64,
        /// How many ranks.
        "ranks" ranks: u32,
        /// On how many hosts.
        /// Null: not known.
        "nodes" nodes: Option<u32>,
        /// How many ranks a host had.
        /// Null: not known.
        "ranks_per_node" ranks_per_node: Option<u32>,
        /// Median.
        "span_ns" span_ns: f64,
        /// The median lies above this, at 95 %.
        "low_ns" low_ns: f64,
        /// The median lies below this, at 95 %.
        "high_ns" high_ns: f64,
        /// What the first call of a process took.
        /// Null: not measured.
        "first_ns" first_ns: Option<f64>,
        /// How often it was measured.
        "repetitions" repetitions: u64,
        /// Why it is not to be trusted.
        /// Null: nothing disturbed it.
        "disturbed" disturbed: Option<String>,
    }
}

table! {
    /// What one message between two ranks takes.
    MessageRow in "messages.parquet", always {
        /// `pingpong`: half of a round trip. `send`, `receive`: time inside the call. `stream`: a message when many follow
        /// each other. `exchange`, `crossing`: two ranks, or all in pairs, send to each other.
        "kind" kind: String,
        /// How far the two are apart: `core`, `socket`, `node` or `switch`; `unknown` if imported.
        "place" place: String,
        /// Size of the message.
        "bytes" bytes: u64,
        /// How many ranks there were.
        "ranks" ranks: u32,
        /// Median.
        "time_ns" time_ns: f64,
        /// The median lies above this, at 95 %.
        "low_ns" low_ns: f64,
        /// The median lies below this, at 95 %.
        "high_ns" high_ns: f64,
        /// How often it was measured.
        "repetitions" repetitions: u64,
        /// Why it is not to be trusted.
        /// Null: nothing disturbed it.
        "disturbed" disturbed: Option<String>,
    }
}

table! {
    /// How long a fixed amount of computation takes, on the slowest of all ranks.
    NoiseRow in "noise.parquet", if any {
        /// What it takes when nothing disturbs.
        "work_ns" work_ns: f64,
        /// How many ranks did it at once.
        "ranks" ranks: u32,
        /// Median.
        "median_ns" median_ns: f64,
        /// One of a hundred takes longer.
        "p99_ns" p99_ns: f64,
        /// How often it was measured.
        "repetitions" repetitions: u64,
    }
}
