//! What is written by [`TraceWriter`] is a trace: rows, sums and ranks come back, and nothing is left of one that failed.

use kizami_model::{Call, Ending, Length, Moment, Op, Rank, ThreadIndex};
use kizami_trace::write::About;
use kizami_trace::{Definitions, RankInfo, RankSelection, Region, RegionSpan, Trace, TraceWriter};
use std::path::Path;

fn call(rank: u32, start_ns: i64, end_ns: i64) -> Call {
    let op = Op::by_name("MPI_Waitall").unwrap();
    let completes = vec![rank.into(), 7];
    Call { completes, ..Call::new(Rank(rank), ThreadIndex(0), op, Moment(start_ns), Moment(end_ns)) }
}

fn writer(path: &Path) -> TraceWriter {
    let regions = vec![Region { index: 0, name: "solve".to_owned() }];
    let about = About { executable: "made_up".to_owned(), ..About::default() };
    TraceWriter::create(path, about, Definitions { regions, ..Definitions::default() }).unwrap()
}

#[test]
fn calls_regions_and_ranks_survive_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.kz");
    let calls = [call(0, 10, 30), call(0, 40, 45), call(2, -5, 90)];
    let stay = RegionSpan {
        rank: Rank(2),
        thread: ThreadIndex(0),
        start: Moment(1),
        end: Moment(80),
        region: 0,
        depth: 0,
    };
    let mut writer = writer(&path);
    calls.iter().for_each(|call| writer.call(call).unwrap());
    writer.region(stay.clone());
    writer.finish(|_| {}).unwrap();

    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.provenance(), []);
    let read: Result<Vec<Call>, _> = trace.calls(RankSelection::All).unwrap().collect();
    assert_eq!(read.unwrap(), calls);
    assert_eq!(trace.region_spans().unwrap(), [stay]);
    assert_eq!((trace.run().ranks, trace.run().span_ns, trace.run().totals.calls), (3, 90, 3));
    let ranks = trace.definitions().unwrap().ranks;
    assert_eq!(
        (ranks[0].first, ranks[0].last, ranks[0].mpi),
        (Some(Moment(10)), Some(Moment(45)), Length(25))
    );
    let endings: Vec<Ending> = ranks.iter().map(|rank| rank.ending).collect();
    assert_eq!(endings, [Ending::Finalized, Ending::Vanished, Ending::Finalized]);
}

#[test]
fn calls_out_of_order_are_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.kz");
    let mut writer = writer(&path);
    writer.call(&call(1, 10, 30)).unwrap();
    let error = writer.call(&call(0, 40, 50)).unwrap_err().to_string();
    assert!(error.contains("rank 0"), "{error}");
    drop(writer);
    assert!(!path.exists());
}

#[test]
fn what_is_said_of_calls_is_worked_out_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.kz");
    let before = RankInfo {
        calls: 99,
        mpi: Length(1_000),
        first: Some(Moment(-7)),
        last: Some(Moment(1 << 40)),
        ending: Ending::Aborted,
        ..RankInfo::absent(Rank(0))
    };
    let definitions = Definitions { ranks: vec![before], ..Definitions::default() };
    let mut writer = TraceWriter::create(&path, About::default(), definitions).unwrap();
    // Polls with an unknown time inside.
    writer.call(&Call { calls: 5, ..call(0, 10, 30) }).unwrap();
    let run = writer.finish(|_| {}).unwrap();
    assert_eq!((run.totals.calls, run.totals.mpi_ns, run.span_ns), (5, 20, 30));
    let rank = Trace::open(&path).unwrap().definitions().unwrap().ranks.remove(0);
    assert_eq!(
        (rank.calls, rank.mpi, rank.first, rank.last),
        (5, Length(20), Some(Moment(10)), Some(Moment(30)))
    );
    assert_eq!(rank.ending, Ending::Aborted);
}
