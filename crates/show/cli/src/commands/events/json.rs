//! A row as JSON.

use super::names::{callers, callsite, communicator, communicator_name, peer_name};
use kizami_model::{Call, Peer};
use kizami_trace::{CallSite, Definitions, PathFrame};
use serde::Serialize;

/// One row as JSON; the fields stand in the order of the trace's own tables.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row<'a> {
    /// Rank of the caller.
    rank: u32,
    /// Thread of the rank.
    thread: u32,
    /// When the call began, since the start of the run.
    start_ns: i64,
    /// When it ended, since the start of the run.
    end_ns: i64,
    /// The function, such as `MPI_Send`.
    op: &'static str,
    /// Number of calls in the row: polls are folded into one.
    calls: u32,
    /// For a row of several calls: time inside them.
    inside_ns: Option<i64>,
    /// Index of the communicator.
    comm: Option<u32>,
    /// Name of the communicator.
    comm_name: Option<String>,
    /// The other rank of a message; null if the call has none.
    peer: Option<PeerValue>,
    /// Tag of the message.
    tag: Option<i32>,
    /// Source of the receiving half of a send-receive.
    recv_peer: Option<PeerValue>,
    /// Tag of the receiving half of a send-receive.
    recv_tag: Option<i32>,
    /// The receive had a wildcard for its source.
    any_source: bool,
    /// The receive had a wildcard for its tag.
    any_tag: bool,
    /// Bytes sent, written or contributed to collectives.
    bytes_out: Option<u64>,
    /// Bytes received, read or obtained from collectives.
    bytes_in: Option<u64>,
    /// Root of a collective.
    root: Option<PeerValue>,
    /// The request it starts.
    request: Option<u64>,
    /// The requests it completes.
    completes: &'a [u64],
    /// The window, file or datatype.
    object: Option<&'a str>,
    /// Call site.
    callsite: Option<Place<'a>>,
    /// The call returned an error.
    failed: bool,
    /// Cost of recording it.
    overhead_ns: i64,
    /// Time inside the call in which the thread could have run, but had no core; null if none.
    off_core_ns: Option<i64>,
    /// The same between the thread's previous call and this one.
    off_core_before_ns: Option<i64>,
    /// Number of calls the row stands for in a reduced trace.
    weight: f64,
}

/// A rank; or `null` for `MPI_PROC_NULL`, `any` for a wildcard that was never matched, `?` for an unknown process.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum PeerValue {
    Rank(u32),
    Word(String),
}

impl PeerValue {
    fn of(peer: Peer) -> Option<PeerValue> {
        match peer {
            Peer::Rank(rank) => Some(PeerValue::Rank(rank.0)),
            other => peer_name(other).map(PeerValue::Word),
        }
    }
}

/// A call site.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Place<'a> {
    /// The function that contains the call.
    function: &'a str,
    /// Full path of its source.
    file: Option<&'a str>,
    /// Line in the file.
    line: Option<u32>,
    /// The executable or library.
    module: Option<&'a str>,
    /// The calls that led to the function, innermost first; only with `--paths`.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<Caller<'a>>>,
}

/// A call on the path to another.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Caller<'a> {
    /// The function that contains the call.
    function: &'a str,
    /// Full path of its source.
    file: Option<&'a str>,
    /// Line in the file.
    line: Option<u32>,
    /// The executable or library.
    module: Option<&'a str>,
}

impl<'a> Caller<'a> {
    fn of(frame: &'a PathFrame) -> Caller<'a> {
        Caller {
            function: &frame.function,
            file: frame.file.as_deref(),
            line: frame.line,
            module: frame.module.as_deref(),
        }
    }
}

impl<'a> Row<'a> {
    /// A call with what its numbers stand for, and with the path to it if that is wanted.
    pub fn new(call: &'a Call, definitions: &'a Definitions, paths: bool) -> Row<'a> {
        let place = |site: &'a CallSite| Place {
            function: &site.function,
            file: site.file.as_deref(),
            line: site.line,
            module: site.module.as_deref(),
            path: paths.then(|| callers(call, definitions).map(Caller::of).collect()),
        };
        let object = call.object.and_then(|index| definitions.objects.get(index as usize));
        Row {
            rank: call.rank.0,
            thread: call.thread.0,
            start_ns: call.start.0,
            end_ns: call.end.0,
            op: call.op.name(),
            calls: call.calls,
            inside_ns: call.inside.map(|inside| inside.0),
            comm: call.comm,
            comm_name: communicator(call, definitions).map(communicator_name),
            peer: PeerValue::of(call.peer),
            tag: call.tag,
            recv_peer: PeerValue::of(call.recv_peer),
            recv_tag: call.recv_tag,
            any_source: call.any_source,
            any_tag: call.any_tag,
            bytes_out: call.bytes_out,
            bytes_in: call.bytes_in,
            root: PeerValue::of(call.root),
            request: call.request,
            completes: &call.completes,
            object: object.map(|object| object.name.as_str()),
            callsite: callsite(call, definitions).map(place),
            failed: call.failed,
            overhead_ns: call.overhead.0,
            off_core_ns: call.off_core.map(|length| length.0),
            off_core_before_ns: call.off_core_before.map(|length| length.0),
            weight: call.weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::Rank;

    #[test]
    fn json_has_numbers_for_ranks_and_words_for_the_rest() {
        let definitions = Definitions::default();
        let call = Call {
            peer: Peer::Rank(Rank(3)),
            recv_peer: Peer::Null,
            ..kizami_testing::call("MPI_Sendrecv", 1, 1_500_000_000, 1_500_012_345)
        };
        let json = serde_json::to_value(Row::new(&call, &definitions, false)).unwrap();
        assert_eq!(json["peer"], 3);
        assert_eq!(json["recv_peer"], "null");
        assert_eq!(json["root"], serde_json::Value::Null);
        assert_eq!(json["op"], "MPI_Sendrecv");
    }
}
