//! What was measured between the clocks of hosts, host by host.

use kizami_model::Moment;
use kizami_trace::run::ClockInfo;
use kizami_trace::{ClockKind, ClockRow, HostInfo};
use serde::Serialize;

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report<'a> {
    #[serde(flatten)]
    pub clocks: &'a ClockInfo,
    /// Clock of each host.
    pub hosts: Vec<HostReport>,
    /// Ranks whose times were shifted.
    pub repaired_ranks: Vec<u32>,
}

/// The clock of one host. Offsets are those of the clock of its root from its own.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostReport {
    /// Index of the host.
    pub host: u32,
    /// Name of the host.
    pub name: String,
    /// The host whose clock its times use.
    pub root: Option<u32>,
    /// The host it queried.
    pub reference: Option<u32>,
    /// The rank that sent the queries.
    pub rank: Option<u32>,
    /// Result of each round, in order.
    pub rounds: Vec<Offset>,
    /// Drift between the clocks, in parts per billion.
    pub drift_ppb: Option<i64>,
    /// Error bound of the drift.
    pub drift_error_ppb: Option<f64>,
    /// Largest error of any time of this host.
    pub bound_ns: Option<i64>,
}

/// An offset with its bound.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Offset {
    /// When it was measured, in run time.
    pub at_ns: i64,
    /// Clock of the root minus own clock.
    pub offset_ns: i64,
    /// Error bound.
    pub error_ns: i64,
}

/// One host, from the rows of all.
pub fn host_report(host: &HostInfo, rows: &[ClockRow]) -> HostReport {
    let own = |kind: ClockKind| rows.iter().filter(move |row| row.host == host.index && row.kind == kind);
    let offset = |row: &ClockRow| {
        Some(Offset { at_ns: row.at?.0, offset_ns: row.root_offset?.0, error_ns: row.root_error?.0 })
    };
    let epochs: Vec<&ClockRow> = own(ClockKind::Epoch).collect();
    let whole = own(ClockKind::Host).next();
    let rounds: Vec<Offset> = epochs.iter().filter_map(|row| offset(row)).collect();
    let drift_error_ppb = rounds.first().zip(rounds.last()).and_then(|(first, last)| {
        let seconds = (Moment(last.at_ns) - Moment(first.at_ns)).as_secs_f64();
        (seconds > 0.0).then(|| (first.error_ns + last.error_ns) as f64 / seconds)
    });
    HostReport {
        host: host.index,
        name: host.name.clone(),
        root: whole.and_then(|row| row.reference_host),
        reference: epochs.first().and_then(|row| row.reference_host),
        rank: whole.and_then(|row| row.rank).map(|rank| rank.0),
        rounds,
        drift_ppb: whole.and_then(|row| row.drift_ppb),
        drift_error_ppb,
        bound_ns: whole.and_then(|row| row.root_error).map(|bound| bound.0),
    }
}
