//! A row as JSON.

use super::names::{callsite, communicator, communicator_name, peer_name};
use kizami_model::{Call, Peer};
use kizami_trace::{CallSite, Definitions};
use serde::Serialize;

/// One row as JSON; the fields stand in the order of the trace's own tables.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row<'a> {
    rank: u32,
    thread: u32,
    start_ns: i64,
    end_ns: i64,
    op: &'static str,
    calls: u32,
    inside_ns: Option<i64>,
    comm: Option<u32>,
    comm_name: Option<String>,
    peer: Option<PeerValue>,
    tag: Option<i32>,
    recv_peer: Option<PeerValue>,
    recv_tag: Option<i32>,
    any_source: bool,
    any_tag: bool,
    bytes_out: Option<u64>,
    bytes_in: Option<u64>,
    root: Option<PeerValue>,
    request: Option<u64>,
    completes: &'a [u64],
    object: Option<&'a str>,
    callsite: Option<Place<'a>>,
    failed: bool,
    overhead_ns: i64,
    weight: f64,
}

/// A rank as a number; whatever else a peer may be, as a word.
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

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Place<'a> {
    function: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    module: Option<&'a str>,
}

impl<'a> Row<'a> {
    /// A call with what its numbers stand for.
    pub fn new(call: &'a Call, definitions: &'a Definitions) -> Row<'a> {
        let place = |site: &'a CallSite| Place {
            function: &site.function,
            file: site.file.as_deref(),
            line: site.line,
            module: site.module.as_deref(),
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
        let json = serde_json::to_value(Row::new(&call, &definitions)).unwrap();
        assert_eq!(json["peer"], 3);
        assert_eq!(json["recv_peer"], "null");
        assert_eq!(json["root"], serde_json::Value::Null);
        assert_eq!(json["op"], "MPI_Sendrecv");
    }
}
