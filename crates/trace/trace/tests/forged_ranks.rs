//! Ranks that rows name and the run does not have.

use kizami_model::{Call, Moment, Op, Peer, Rank, ThreadIndex};
use kizami_trace::run::RUN_JSON;
use kizami_trace::write::About;
use kizami_trace::{Definitions, RankSelection, Region, RegionSpan, Trace, TraceWriter};
use std::path::{Path, PathBuf};

fn call(rank: u32, peer: u32) -> Call {
    let op = Op::by_name("MPI_Send").unwrap();
    let peer = Peer::Rank(Rank(peer));
    let call = Call::new(Rank(rank), ThreadIndex(0), op, Moment(10), Moment(20));
    Call { peer, recv_peer: peer, root: peer, ..call }
}

/// A trace of these calls, and one region in which the last rank is.
fn written(folder: &Path, calls: &[Call]) -> PathBuf {
    let path = folder.join("made.kz");
    let regions = vec![Region { index: 0, name: "solve".to_owned() }];
    let definitions = Definitions { regions, ..Definitions::default() };
    let mut writer = TraceWriter::create(&path, About::default(), definitions).unwrap();
    calls.iter().for_each(|call| writer.call(call).unwrap());
    let rank = calls.last().unwrap().rank;
    let (start, end) = (Moment(1), Moment(30));
    writer.region(RegionSpan { rank, thread: ThreadIndex(0), start, end, region: 0, depth: 0 });
    writer.finish(|_| {}).unwrap();
    path
}

#[test]
fn peers_that_the_run_does_not_have_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &[call(0, 1), call(1, 2), call(2, 3), call(3, i32::MAX as u32)]);
    let trace = Trace::open(&path).unwrap();
    let peers: Vec<[Peer; 3]> = trace
        .calls(RankSelection::All)
        .unwrap()
        .map(|call| call.map(|call| [call.peer, call.recv_peer, call.root]).unwrap())
        .collect();
    let rank = |rank: u32| [Peer::Rank(Rank(rank)); 3];
    assert_eq!(peers, [rank(1), rank(2), rank(3), [Peer::Unknown; 3]]);
}

#[test]
fn rows_of_ranks_that_the_run_does_not_have_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &[call(0, 1), call(1, 0), call(2, 0)]);
    let run = std::fs::read_to_string(path.join(RUN_JSON)).unwrap();
    let forged = run.replacen("\"ranks\": 3", "\"ranks\": 2", 1).replacen("\"ranks\":3", "\"ranks\":2", 1);
    assert_ne!(run, forged);
    std::fs::write(path.join(RUN_JSON), forged).unwrap();
    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.run().ranks, 2);
    let said = "it has a row of rank 2, and the run has 2 ranks";
    let calls: Result<Vec<Call>, _> = trace.calls(RankSelection::All).unwrap().collect();
    assert!(calls.unwrap_err().to_string().contains(said));
    let spans = trace.spans().unwrap();
    assert!(spans.read(0, |_| {}).unwrap_err().to_string().contains(said));
    assert!(trace.region_spans().unwrap_err().to_string().contains(said));
    assert_eq!(trace.calls(RankSelection::Range(0..=1)).unwrap().filter(Result::is_ok).count(), 2);
}
