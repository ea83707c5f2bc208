//! Tables of reduced traces come back as they were written, and quantiles are found in them.

use kizami_model::{Length, Moment, Op, Rank, ThreadIndex};
use kizami_trace::columns::TableReader;
use kizami_trace::reduced_tables::{
    GapRow, PeerRow, ReducedRows, ReducedTables, SketchRow, SumRow, What, quantile,
};
use kizami_trace::schema::Record;

fn sum(rank: u32, op: Option<&str>, what: What) -> SumRow {
    SumRow {
        rank: Rank(rank),
        thread: ThreadIndex(rank % 2),
        from: Moment(-5),
        to: Moment(1 << 50),
        op: op.and_then(Op::by_name),
        callsite: op.map(|_| 7),
        what,
        size_class: op.map(|_| 11),
        duration_class: 3,
        calls: 1 << 40,
        total: Length(12),
        bytes_out: 0,
        bytes_in: u64::from(rank),
    }
}

#[test]
fn tables_survive_a_round_trip() {
    let folder = tempfile::tempdir().expect("a folder");
    let written_sums = vec![
        sum(0, None, What::Call),
        sum(0, Some("MPI_Send"), What::Call),
        sum(3, Some("MPI_Start"), What::Part),
    ];
    let sketch = SketchRow {
        rank: Rank(3),
        thread: ThreadIndex(0),
        op: Op::by_name("MPI_Recv"),
        callsite: None,
        what: What::Call,
        size_class: Some(0),
        low_ns: 0.37,
        high_ns: 0.371,
        calls: 9,
    };
    let written_sketches = vec![sketch.clone(), SketchRow { low_ns: 5e9, high_ns: 5.1e9, ..sketch }];
    let peer = PeerRow {
        rank: Rank(1),
        comm: Some(0),
        peer: Some(Rank(2)),
        messages_out: 1,
        bytes_out: 2,
        messages_in: 3,
        bytes_in: 4,
    };
    let send = Op::by_name("MPI_Send");
    let gap = GapRow {
        rank: Rank(1),
        thread: ThreadIndex(0),
        op: None,
        callsite: None,
        size_class: None,
        after_op: None,
        after_callsite: None,
        after_size_class: None,
        calls: 5,
        total: Length(1 << 40),
    };
    let written_gaps = vec![
        gap.clone(),
        GapRow { op: send, callsite: Some(4), size_class: Some(0), ..gap.clone() },
        GapRow { op: send, callsite: Some(4), size_class: Some(0), after_op: send, ..gap },
    ];
    let written_peers = vec![peer.clone(), PeerRow { comm: None, peer: None, ..peer }];
    let rows = ReducedRows {
        sums: written_sums.clone(),
        sketches: written_sketches.clone(),
        gaps: written_gaps.clone(),
    };
    let mut tables = ReducedTables::create(folder.path()).expect("files");
    tables.append(rows, &written_peers).expect("rows are written");
    let files = tables.finish().expect("files end");
    let open = |index: usize| TableReader::open(&files[index].path).expect("a table");
    assert_eq!(SumRow::read(&open(0)).expect("sums"), written_sums);
    assert_eq!(SketchRow::read(&open(1)).expect("sketches"), written_sketches);
    assert_eq!(GapRow::read(&open(2)).expect("gaps"), written_gaps);
    assert_eq!(PeerRow::read(&open(3)).expect("peers"), written_peers);
    // A table is not taken for another.
    assert!(SumRow::read(&open(1)).is_err() && PeerRow::read(&open(0)).is_err());
}

#[test]
fn quantiles_are_found_in_bins() {
    let row = |low_ns: f64, calls| SketchRow {
        rank: Rank(0),
        thread: ThreadIndex(0),
        op: None,
        callsite: None,
        what: What::Call,
        size_class: None,
        low_ns,
        high_ns: low_ns * 1.01,
        calls,
    };
    let rows = [row(1000.0, 10), row(100.0, 990)];
    assert!((quantile(&rows, 0.5).expect("some") / 100.0 - 1.0).abs() < 0.01);
    assert!((quantile(&rows, 0.995).expect("some") / 1000.0 - 1.0).abs() < 0.01);
    assert_eq!(quantile(&[], 0.5), None);
    // Of five calls four are 80 %: who asks for 99 % means the longest.
    let handful = [row(100.0, 4), row(1000.0, 1)];
    assert!((quantile(&handful, 0.99).expect("some") / 1000.0 - 1.0).abs() < 0.01);
    assert!((quantile(&handful, 0.8).expect("some") / 100.0 - 1.0).abs() < 0.01);
    assert!((quantile(&handful, 0.0).expect("some") / 100.0 - 1.0).abs() < 0.01);
}
