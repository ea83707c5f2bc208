//! Which sends wait for their receivers, as the run shows: what the graph has learned, with names of hosts.

use kizami_graph::protocol::{Basis, Decision, Protocol};
use kizami_trace::Definitions;
use serde::{Deserialize, Serialize};

/// Sends of similar size from one host to another, or within one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SendProtocol {
    /// Host of the sender; null if unknown, or if there are too many pairs of hosts to distinguish.
    pub from_host: Option<String>,
    /// Host of the receiver; null likewise.
    pub to_host: Option<String>,
    /// Both are on one host.
    pub within_host: bool,
    /// Smallest send of the class.
    pub from_bytes: u64,
    /// Largest send of the class.
    pub to_bytes: u64,
    /// Number of sends.
    pub sends: u64,
    /// Sends that ended before their receive was posted: they did not wait.
    pub ended_before_post: u64,
    /// Sends that ended before their receive was posted, but only when the receiver re-entered MPI.
    pub ended_in_mpi: u64,
    /// Sends that ended only after their receive was posted, with nothing else to wait for.
    pub ended_after_post: u64,
    /// Sends whose receive was posted in time, but that ended only when the receiver re-entered MPI.
    pub late_progress: u64,
    /// Whether sends of the class count as waiting for their receiver.
    pub waits: SendsWait,
    /// For `above-limit`: larger sends wait.
    pub limit_bytes: Option<u64>,
    /// Evidence for `waits`.
    pub basis: WaitBasis,
}

/// Whether sends wait for their receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SendsWait {
    /// None wait.
    No,
    /// All wait.
    Yes,
    /// Those larger than `limit_bytes` wait.
    AboveLimit,
    /// Those wait whose own times show it.
    Some,
}

/// Evidence for whether sends wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WaitBasis {
    /// Late receivers of such sends.
    Seen,
    /// Late receivers of sends of other sizes.
    OtherSizes,
    /// Late receivers of sends between other hosts.
    OtherHosts,
    /// None, so sends above 64 KiB count as waiting.
    Size,
}

impl SendProtocol {
    /// With names of hosts.
    pub(crate) fn of(protocol: &Protocol, definitions: &Definitions) -> SendProtocol {
        let name = |host: u32| definitions.hosts.get(host as usize).map(|host| host.name.clone());
        let (waits, limit_bytes) = match protocol.decision {
            Decision::Eager => (SendsWait::No, None),
            Decision::Waits => (SendsWait::Yes, None),
            Decision::WaitsAbove(limit_bytes) if protocol.from_bytes > limit_bytes => (SendsWait::Yes, None),
            Decision::WaitsAbove(limit_bytes) if protocol.to_bytes <= limit_bytes => (SendsWait::No, None),
            Decision::WaitsAbove(limit_bytes) => (SendsWait::AboveLimit, Some(limit_bytes)),
            Decision::ByTimes => (SendsWait::Some, None),
        };
        SendProtocol {
            from_host: name(protocol.from_host),
            to_host: name(protocol.to_host),
            within_host: protocol.within_host,
            from_bytes: protocol.from_bytes,
            to_bytes: protocol.to_bytes,
            sends: protocol.sends,
            ended_before_post: protocol.shown.before_post,
            ended_in_mpi: protocol.shown.when_in_mpi,
            ended_after_post: protocol.shown.after_post,
            late_progress: protocol.shown.late_progress,
            waits,
            limit_bytes,
            basis: match protocol.basis {
                Basis::Seen => WaitBasis::Seen,
                Basis::OtherSizes => WaitBasis::OtherSizes,
                Basis::OtherHosts => WaitBasis::OtherHosts,
                Basis::Size => WaitBasis::Size,
            },
        }
    }

    /// Sends whose receiver was late.
    pub fn late(&self) -> u64 {
        self.ended_before_post + self.waited()
    }

    /// Those of them that waited for it.
    pub fn waited(&self) -> u64 {
        self.ended_in_mpi + self.ended_after_post + self.late_progress
    }
}
