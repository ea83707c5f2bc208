//! The four tables of a reduced trace, written and read.

use super::of_state::ThreadReduced;
use super::{GapRow, KindOfCall, PeerRow, SketchRow, SumRow, What};
use crate::StoreError;
use crate::columns::{Table, TableReader, TableWriter, WrittenFile};
use crate::definition_tables::{Cells, RowsOf};
use crate::schema::{GAPS, PEERS, SKETCHES, SUMS};
use kizami_model::{Nanos, Op, Rank, ThreadIndex};
use std::path::Path;

/// The open files.
pub(crate) struct ReducedTables {
    sums: TableWriter,
    sketches: TableWriter,
    gaps: TableWriter,
    peers: TableWriter,
}

impl ReducedTables {
    pub(crate) fn create(folder: &Path) -> Result<ReducedTables, StoreError> {
        Ok(ReducedTables {
            sums: TableWriter::create(&folder.join(SUMS), &sums_table(&[]))?,
            sketches: TableWriter::create(&folder.join(SKETCHES), &sketches_table(&[]))?,
            gaps: TableWriter::create(&folder.join(GAPS), &gaps_table(&[]))?,
            peers: TableWriter::create(&folder.join(PEERS), &peers_table(&[]))?,
        })
    }

    /// Appends rows, which are put in order.
    pub(crate) fn append(&mut self, rows: ThreadReduced, peers: &[PeerRow]) -> Result<(), StoreError> {
        let ThreadReduced { mut sums, mut sketches, mut gaps } = rows;
        let op = |op: &Option<Op>| op.map(|op| op.0);
        sums.sort_by_key(|row| {
            (row.rank, row.thread, op(&row.op), row.callsite, row.what, row.size_class, row.from)
        });
        sketches
            .sort_by_key(|row| (row.rank, row.thread, op(&row.op), row.callsite, row.what, row.size_class));
        gaps.sort_by_key(|row| (row.rank, row.thread, row.kind, row.after));
        self.sums.append(&sums_table(&sums))?;
        self.sketches.append(&sketches_table(&sketches))?;
        self.gaps.append(&gaps_table(&gaps))?;
        self.peers.append(&peers_table(peers))
    }

    pub(crate) fn finish(self) -> Result<[WrittenFile; 4], StoreError> {
        Ok([self.sums.finish()?, self.sketches.finish()?, self.gaps.finish()?, self.peers.finish()?])
    }
}

fn number(value: u32) -> Option<i32> {
    i32::try_from(value).ok()
}

/// A count or an amount; one that no table holds is cut.
fn amount(value: u64) -> Option<i64> {
    Some(i64::try_from(value).unwrap_or(i64::MAX))
}

fn name(op: Option<Op>) -> Option<String> {
    op.map(|op| op.name().to_owned())
}

fn sums_table(rows: &[SumRow]) -> Table {
    Table::default()
        .int32("rank", rows.iter().map(|row| number(row.rank.0)))
        .int32("thread", rows.iter().map(|row| number(row.thread.0)))
        .int64("from_ns", rows.iter().map(|row| Some(row.from.0)))
        .int64("to_ns", rows.iter().map(|row| Some(row.to.0)))
        .text("op", rows.iter().map(|row| name(row.op)))
        .int32("callsite", rows.iter().map(|row| row.callsite.and_then(number)))
        .text("what", rows.iter().map(|row| Some(row.what.name().to_owned())))
        .int32("size_class", rows.iter().map(|row| row.size_class.and_then(number)))
        .int32("duration_class", rows.iter().map(|row| number(row.duration_class)))
        .int64("calls", rows.iter().map(|row| amount(row.calls)))
        .int64("total_ns", rows.iter().map(|row| Some(row.total.0)))
        .int64("bytes_out", rows.iter().map(|row| amount(row.bytes_out)))
        .int64("bytes_in", rows.iter().map(|row| amount(row.bytes_in)))
}

fn sketches_table(rows: &[SketchRow]) -> Table {
    Table::default()
        .int32("rank", rows.iter().map(|row| number(row.rank.0)))
        .int32("thread", rows.iter().map(|row| number(row.thread.0)))
        .text("op", rows.iter().map(|row| name(row.op)))
        .int32("callsite", rows.iter().map(|row| row.callsite.and_then(number)))
        .text("what", rows.iter().map(|row| Some(row.what.name().to_owned())))
        .int32("size_class", rows.iter().map(|row| row.size_class.and_then(number)))
        .double("low_ns", rows.iter().map(|row| Some(row.low_ns)))
        .double("high_ns", rows.iter().map(|row| Some(row.high_ns)))
        .int64("calls", rows.iter().map(|row| amount(row.calls)))
}

fn gaps_table(rows: &[GapRow]) -> Table {
    let after = || rows.iter().map(|row| row.after);
    Table::default()
        .int32("rank", rows.iter().map(|row| number(row.rank.0)))
        .int32("thread", rows.iter().map(|row| number(row.thread.0)))
        .text("op", rows.iter().map(|row| name(row.kind.op)))
        .int32("callsite", rows.iter().map(|row| row.kind.callsite.and_then(number)))
        .int32("size_class", rows.iter().map(|row| row.kind.size_class.and_then(number)))
        .text("after_op", after().map(|after| name(after?.op)))
        .int32("after_callsite", after().map(|after| after?.callsite.and_then(number)))
        .int32("after_size_class", after().map(|after| after?.size_class.and_then(number)))
        .int64("calls", rows.iter().map(|row| amount(row.calls)))
        .int64("total_ns", rows.iter().map(|row| Some(row.total.0)))
}

fn peers_table(rows: &[PeerRow]) -> Table {
    Table::default()
        .int32("rank", rows.iter().map(|row| number(row.rank.0)))
        .int32("comm", rows.iter().map(|row| row.comm.and_then(number)))
        .int32("peer", rows.iter().map(|row| row.peer.and_then(|peer| number(peer.0))))
        .int64("messages_out", rows.iter().map(|row| amount(row.messages_out)))
        .int64("bytes_out", rows.iter().map(|row| amount(row.bytes_out)))
        .int64("messages_in", rows.iter().map(|row| amount(row.messages_in)))
        .int64("bytes_in", rows.iter().map(|row| amount(row.bytes_in)))
}

/// The function of each row; one this version does not know is unknown, not none.
fn ops(rows: &RowsOf<'_>, column: &str) -> Cells<Option<Op>> {
    let names = rows.maybe_texts(column)?;
    let op = |name: String| Op::by_name(&name).unwrap_or(Op(0));
    Ok(names.map(|name| name.map(op)).collect::<Vec<_>>().into_iter())
}

pub(crate) fn sums(table: &TableReader) -> Result<Vec<SumRow>, StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut thread = rows.u32s("thread")?;
    let mut from = rows.i64s("from_ns")?;
    let mut to = rows.i64s("to_ns")?;
    let mut op = ops(&rows, "op")?;
    let mut callsite = rows.maybe_u32s("callsite")?;
    let mut what = rows.named("what", What::named)?;
    let mut size_class = rows.maybe_u32s("size_class")?;
    let mut duration_class = rows.u32s("duration_class")?;
    let mut calls = rows.u64s("calls")?;
    let mut total = rows.i64s("total_ns")?;
    let mut bytes_out = rows.u64s("bytes_out")?;
    let mut bytes_in = rows.u64s("bytes_in")?;
    rows.build(|| {
        Some(SumRow {
            rank: Rank(rank.next()?),
            thread: ThreadIndex(thread.next()?),
            from: Nanos(from.next()?),
            to: Nanos(to.next()?),
            op: op.next()?,
            callsite: callsite.next()?,
            what: what.next()?,
            size_class: size_class.next()?,
            duration_class: duration_class.next()?,
            calls: calls.next()?,
            total: Nanos(total.next()?),
            bytes_out: bytes_out.next()?,
            bytes_in: bytes_in.next()?,
        })
    })
}

pub(crate) fn sketches(table: &TableReader) -> Result<Vec<SketchRow>, StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut thread = rows.u32s("thread")?;
    let mut op = ops(&rows, "op")?;
    let mut callsite = rows.maybe_u32s("callsite")?;
    let mut what = rows.named("what", What::named)?;
    let mut size_class = rows.maybe_u32s("size_class")?;
    let mut low = rows.doubles("low_ns")?;
    let mut high = rows.doubles("high_ns")?;
    let mut calls = rows.u64s("calls")?;
    rows.build(|| {
        Some(SketchRow {
            rank: Rank(rank.next()?),
            thread: ThreadIndex(thread.next()?),
            op: op.next()?,
            callsite: callsite.next()?,
            what: what.next()?,
            size_class: size_class.next()?,
            low_ns: low.next()?,
            high_ns: high.next()?,
            calls: calls.next()?,
        })
    })
}

/// Kinds of calls, by the names of their three columns.
fn kinds(rows: &RowsOf<'_>, [op, callsite, size_class]: [&str; 3]) -> Cells<KindOfCall> {
    let (mut callsites, mut sizes) = (rows.maybe_u32s(callsite)?, rows.maybe_u32s(size_class)?);
    let kinds = ops(rows, op)?.map(|op| KindOfCall {
        op,
        callsite: callsites.next().flatten(),
        size_class: sizes.next().flatten(),
    });
    Ok(kinds.collect::<Vec<_>>().into_iter())
}

pub(crate) fn gaps(table: &TableReader) -> Result<Vec<GapRow>, StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut thread = rows.u32s("thread")?;
    let mut kind = kinds(&rows, ["op", "callsite", "size_class"])?;
    let mut after = kinds(&rows, ["after_op", "after_callsite", "after_size_class"])?;
    let mut calls = rows.u64s("calls")?;
    let mut total = rows.i64s("total_ns")?;
    rows.build(|| {
        Some(GapRow {
            rank: Rank(rank.next()?),
            thread: ThreadIndex(thread.next()?),
            kind: kind.next()?,
            after: Some(after.next()?).filter(|after| *after != KindOfCall::default()),
            calls: calls.next()?,
            total: Nanos(total.next()?),
        })
    })
}

pub(crate) fn peers(table: &TableReader) -> Result<Vec<PeerRow>, StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut comm = rows.maybe_u32s("comm")?;
    let mut peer = rows.maybe_u32s("peer")?;
    let mut messages_out = rows.u64s("messages_out")?;
    let mut bytes_out = rows.u64s("bytes_out")?;
    let mut messages_in = rows.u64s("messages_in")?;
    let mut bytes_in = rows.u64s("bytes_in")?;
    rows.build(|| {
        Some(PeerRow {
            rank: Rank(rank.next()?),
            comm: comm.next()?,
            peer: peer.next()?.map(Rank),
            messages_out: messages_out.next()?,
            bytes_out: bytes_out.next()?,
            messages_in: messages_in.next()?,
            bytes_in: bytes_in.next()?,
        })
    })
}

/// The duration, in nanoseconds, that `share` of the calls of these rows are not longer than: off by at most 1 %.
/// Nothing if there are none.
pub fn quantile<'a>(rows: impl IntoIterator<Item = &'a SketchRow>, share: f64) -> Option<f64> {
    let mut bins: Vec<(f64, f64, u64)> =
        rows.into_iter().map(|row| (row.low_ns, row.high_ns, row.calls)).collect();
    bins.sort_by(|one, other| one.0.total_cmp(&other.0));
    let calls = bins.iter().fold(0u64, |sum, bin| sum.saturating_add(bin.2));
    let wanted = (share.clamp(0.0, 1.0) * calls.saturating_sub(1) as f64) as u64;
    let mut before = 0u64;
    bins.into_iter().find_map(|(low, high, calls)| {
        before = before.saturating_add(calls);
        (before > wanted).then(|| 2.0 * low * high / (low + high))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(rank: u32, op: Option<&str>, what: What) -> SumRow {
        SumRow {
            rank: Rank(rank),
            thread: ThreadIndex(rank % 2),
            from: Nanos(-5),
            to: Nanos(1 << 50),
            op: op.and_then(Op::by_name),
            callsite: op.map(|_| 7),
            what,
            size_class: op.map(|_| 11),
            duration_class: 3,
            calls: 1 << 40,
            total: Nanos(12),
            bytes_out: 0,
            bytes_in: u64::from(rank),
        }
    }

    #[test]
    fn tables_come_back_as_they_were_written() {
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
        let kind = KindOfCall { op: Op::by_name("MPI_Send"), callsite: Some(4), size_class: Some(0) };
        let gap = GapRow {
            rank: Rank(1),
            thread: ThreadIndex(0),
            kind: KindOfCall::default(),
            after: None,
            calls: 5,
            total: Nanos(1 << 40),
        };
        let written_gaps = vec![
            gap.clone(),
            GapRow { kind, ..gap.clone() },
            GapRow { kind, after: Some(KindOfCall { callsite: None, ..kind }), ..gap },
        ];
        let written_peers = vec![peer.clone(), PeerRow { comm: None, peer: None, ..peer }];
        let rows = ThreadReduced {
            sums: written_sums.clone(),
            sketches: written_sketches.clone(),
            gaps: written_gaps.clone(),
        };
        let mut tables = ReducedTables::create(folder.path()).expect("files");
        tables.append(rows, &written_peers).expect("rows are written");
        let files = tables.finish().expect("files end");
        let open = |index: usize| TableReader::open(&files[index].path).expect("a table");
        assert_eq!(sums(&open(0)).expect("sums"), written_sums);
        assert_eq!(sketches(&open(1)).expect("sketches"), written_sketches);
        assert_eq!(gaps(&open(2)).expect("gaps"), written_gaps);
        assert_eq!(peers(&open(3)).expect("peers"), written_peers);
        // A table is not taken for another.
        assert!(sums(&open(1)).is_err() && peers(&open(0)).is_err());
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
    }
}
