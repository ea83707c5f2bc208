//! What a program knows about its own calls, and whether a trace says the same.

use kizami_model::{Call, Peer, Shape};
use kizami_trace::{RankSelection, Trace};
use std::collections::BTreeMap;
use std::path::Path;

/// Functions that workloads call from inside other calls (in callbacks): the recorder shows the outermost
/// call only, whatever happens inside.
const MADE_INSIDE_OTHER_CALLS: [&str; 3] =
    ["MPI_Status_set_elements", "MPI_Status_set_elements_x", "MPI_Status_set_cancelled"];

/// All rows of one rank.
pub fn rows(trace: &Trace, rank: u32) -> Vec<Call> {
    let calls = trace.calls(RankSelection::One(kizami_model::Rank(rank))).expect("rows can be read");
    calls.collect::<Result<_, _>>().expect("every row can be read")
}

/// Calls by function, counting folded polls as what they stand for.
pub fn calls_by_function(rows: &[Call]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for row in rows.iter().filter(|row| row.calls > 0) {
        *counts.entry(row.op.name().to_owned()).or_default() += u64::from(row.calls);
    }
    counts
}

/// Asserts that rank by rank and function by function the trace has exactly the calls that the program
/// counted itself.
pub fn assert_counts(trace: &Trace, counts_directory: &Path, ranks: u32) {
    for rank in 0..ranks {
        let path = counts_directory.join(format!("{rank}.counts"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let ignored = |name: &str| MADE_INSIDE_OTHER_CALLS.contains(&name) || is_conversion(name);
        let expected: BTreeMap<String, u64> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter(|(name, _)| !ignored(name))
            .map(|(name, count)| (name.to_owned(), count.parse().expect("a count")))
            .collect();
        let mut recorded = calls_by_function(&rows(trace, rank));
        recorded.retain(|name, _| !ignored(name));
        let differences: Vec<String> = expected
            .keys()
            .chain(recorded.keys())
            .filter(|name| expected.get(*name) != recorded.get(*name))
            .map(|name| format!("{name}: made {:?}, recorded {:?}", expected.get(name), recorded.get(name)))
            .collect();
        assert!(differences.is_empty(), "rank {rank}: {differences:#?}");
    }
}

/// Handle conversions are not recorded (see the table of functions).
fn is_conversion(name: &str) -> bool {
    ["_c2f", "_f2c", "_toint", "_fromint", "_f082c", "_c2f08", "_f082f", "_f2f08"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Asserts that the messages the program noted, and no others, are in the trace, with peers, tags and bytes.
pub fn assert_messages(trace: &Trace, counts_directory: &Path, ranks: u32) {
    for rank in 0..ranks {
        let path = counts_directory.join(format!("{rank}.messages"));
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let mut expected: Vec<String> = text.lines().map(str::to_owned).collect();
        expected.sort();
        let mut recorded = BTreeMap::<(&str, u32, i32, u64), u64>::new();
        for row in rows(trace, rank) {
            if let Some((peer, tag, bytes)) = sent(&row) {
                *recorded.entry(("send", peer, tag, bytes)).or_default() += 1;
            }
            if let Some((peer, tag, bytes)) = received(&row) {
                *recorded.entry(("recv", peer, tag, bytes)).or_default() += 1;
            }
        }
        let mut recorded: Vec<String> = recorded
            .into_iter()
            .map(|((way, peer, tag, bytes), count)| format!("{way} {peer} {tag} {bytes} {count}"))
            .collect();
        recorded.sort();
        assert_eq!(recorded, expected, "rank {rank}: what is in the trace (left) and what was sent (right)");
    }
}

/// Asserts that every receive has exactly one matching send, and the other way round: on each communicator,
/// between each two ranks, with each tag, as many messages and as many bytes were sent as received.
pub fn assert_matched(trace: &Trace, ranks: u32) {
    let mut channels = BTreeMap::<(u32, u32, u32, i32), [Vec<u64>; 2]>::new();
    for rank in 0..ranks {
        for row in rows(trace, rank) {
            if let Some((peer, tag, bytes)) = sent(&row) {
                channels.entry((row.comm.expect("a send has a communicator"), rank, peer, tag)).or_default()
                    [0]
                .push(bytes);
            }
            if let Some((peer, tag, bytes)) = received(&row) {
                channels
                    .entry((row.comm.expect("a receive has a communicator"), peer, rank, tag))
                    .or_default()[1]
                    .push(bytes);
            }
        }
    }
    for ((comm, source, destination, tag), [mut sent, mut received]) in channels {
        sent.sort_unstable();
        received.sort_unstable();
        assert_eq!(
            sent, received,
            "communicator {comm}, {source} to {destination}, tag {tag}: sent (left), received (right)"
        );
    }
}

/// The message a row sent: to whom, tag, bytes.
fn sent(row: &Call) -> Option<(u32, i32, u64)> {
    let sends = matches!(shape(row), Shape::Send | Shape::SendReceive | Shape::Start);
    message(sends, row.peer, row.tag, row.bytes_out)
}

/// The message a row received: from whom, tag, bytes.
fn received(row: &Call) -> Option<(u32, i32, u64)> {
    match shape(row) {
        Shape::SendReceive => message(true, row.recv_peer, row.recv_tag, row.bytes_in),
        Shape::Receive | Shape::Start => message(true, row.peer, row.tag, row.bytes_in),
        _ => None,
    }
}

fn message(is_one: bool, peer: Peer, tag: Option<i32>, bytes: Option<u64>) -> Option<(u32, i32, u64)> {
    match (is_one, peer, bytes) {
        (true, Peer::Rank(peer), Some(bytes)) => Some((peer.0, tag.expect("a message has a tag"), bytes)),
        _ => None,
    }
}

fn shape(row: &Call) -> Shape {
    row.op.function().expect("a known function").shape
}
