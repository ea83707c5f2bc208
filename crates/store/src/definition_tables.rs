//! The small tables read back into the structures of [`crate::definitions`].
//!
//! Every column must be there, have the right type, the same length as the others, and a value wherever the
//! structure must have one; otherwise the table is reported as damaged.

use crate::StoreError;
use crate::columns::TableReader;
use crate::definitions::{
    CallSite, ClockKind, ClockRow, Communicator, Counted, HostInfo, Neighbours, Object, RankInfo, Region,
    RegionSpan, Repair, Stop,
};
use kizami_model::{CommKind, Ending, Nanos, ObjectKind, Rank, ThreadIndex};

pub(crate) type Cells<V> = Result<std::vec::IntoIter<V>, StoreError>;

pub(crate) fn ranks(table: &TableReader) -> Result<Vec<RankInfo>, StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut host = rows.maybe_u32s("host")?;
    let mut pid = rows.even("pid", table.int64("pid")?)?;
    let mut threads = rows.u32s("threads")?;
    let mut ending = rows.named("ending", ending)?;
    let mut abort_code = rows.even("abort_code", table.int32("abort_code")?)?;
    let mut last_call = rows.maybe_texts("last_call")?;
    let mut lost_calls = rows.u64s("lost_calls")?;
    let mut lost_reason = rows.maybe_texts("lost_reason")?;
    let mut first = rows.maybe_times("first_ns")?;
    let mut last = rows.maybe_times("last_ns")?;
    let mut calls = rows.u64s("calls")?;
    let mut mpi = rows.i64s("mpi_ns")?;
    let mut damage = rows.maybe_texts("damage")?;
    rows.build(|| {
        Some(RankInfo {
            rank: Rank(rank.next()?),
            host: host.next()?,
            pid: pid.next()?.and_then(|pid| u32::try_from(pid).ok()),
            threads: threads.next()?,
            ending: ending.next()?,
            abort_code: abort_code.next()?,
            last_call: last_call.next()?,
            lost_calls: lost_calls.next()?,
            lost_reason: lost_reason.next()?,
            first: first.next()?,
            last: last.next()?,
            calls: calls.next()?,
            mpi: Nanos(mpi.next()?),
            damage: damage.next()?,
        })
    })
}

pub(crate) fn hosts(table: &TableReader) -> Result<Vec<HostInfo>, StoreError> {
    let rows = RowsOf::new(table);
    let mut index = rows.u32s("index")?;
    let mut name = rows.texts("name")?;
    let mut boot_id = rows.texts("boot_id")?;
    let mut clock = rows.texts("clock")?;
    rows.build(|| {
        Some(HostInfo {
            index: index.next()?,
            name: name.next()?,
            boot_id: boot_id.next()?,
            clock: clock.next()?,
        })
    })
}

pub(crate) fn communicators(table: &TableReader) -> Result<Vec<Communicator>, StoreError> {
    let rows = RowsOf::new(table);
    let mut index = rows.u32s("index")?;
    let mut identity = rows.named("identity", |text| u64::from_str_radix(text, 16).ok())?;
    let mut parent = rows.maybe_u32s("parent")?;
    let mut kind = rows.named("kind", comm_kind)?;
    let mut name = rows.maybe_texts("name")?;
    let mut size = rows.u32s("size")?;
    let mut members = rows.rank_lists("members")?;
    let mut remote_members = rows.rank_lists("remote_members")?;
    let mut dims = rows.even("dims", table.int32_lists("dims")?)?;
    let mut periodic = rows.even("periodic", table.bool_lists("periodic")?)?;
    rows.build(|| {
        Some(Communicator {
            index: index.next()?,
            identity: identity.next()?,
            parent: parent.next()?,
            kind: kind.next()?,
            name: name.next()?,
            size: size.next()?,
            members: members.next()?,
            remote_members: remote_members.next()?,
            dims: dims.next()?.into_iter().map(|dim| dim as u32).collect(),
            periodic: periodic.next()?,
        })
    })
}

pub(crate) fn callsites(table: &TableReader) -> Result<Vec<CallSite>, StoreError> {
    let rows = RowsOf::new(table);
    let mut index = rows.u32s("index")?;
    let mut offset = rows.i64s("offset")?;
    let mut module = rows.maybe_texts("module")?;
    let mut function = rows.texts("function")?;
    let mut file = rows.maybe_texts("file")?;
    let mut line = rows.maybe_u32s("line")?;
    let mut inlined_into = rows.even("inlined_into", table.text_lists("inlined_into")?)?;
    rows.build(|| {
        Some(CallSite {
            index: index.next()?,
            offset: offset.next()? as u64,
            module: module.next()?,
            function: function.next()?,
            file: file.next()?,
            line: line.next()?,
            inlined_into: inlined_into.next()?,
        })
    })
}

pub(crate) fn objects(table: &TableReader) -> Result<Vec<Object>, StoreError> {
    let rows = RowsOf::new(table);
    let mut index = rows.u32s("index")?;
    let mut rank = rows.u32s("rank")?;
    let mut kind = rows.named("kind", object_kind)?;
    let mut name = rows.texts("name")?;
    let mut bytes = rows.u64s("bytes")?;
    let mut comm = rows.maybe_u32s("comm")?;
    rows.build(|| {
        Some(Object {
            index: index.next()?,
            rank: Rank(rank.next()?),
            kind: kind.next()?,
            name: name.next()?,
            bytes: bytes.next()?,
            comm: comm.next()?,
        })
    })
}

pub(crate) fn regions(table: &TableReader) -> Result<Vec<Region>, StoreError> {
    let rows = RowsOf::new(table);
    let mut index = rows.u32s("index")?;
    let mut name = rows.texts("name")?;
    rows.build(|| Some(Region { index: index.next()?, name: name.next()? }))
}

pub(crate) fn neighbours(table: &TableReader) -> Result<Vec<Neighbours>, StoreError> {
    let rows = RowsOf::new(table);
    let mut comm = rows.u32s("comm")?;
    let mut rank = rows.u32s("rank")?;
    let mut sources = rows.rank_lists("sources")?;
    let mut destinations = rows.rank_lists("destinations")?;
    rows.build(|| {
        Some(Neighbours {
            comm: comm.next()?,
            rank: Rank(rank.next()?),
            sources: sources.next()?,
            destinations: destinations.next()?,
        })
    })
}

/// Appends the stays in regions of one part.
pub(crate) fn region_spans(table: &TableReader, spans: &mut Vec<RegionSpan>) -> Result<(), StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut thread = rows.u32s("thread")?;
    let mut start = rows.i64s("start_ns")?;
    let mut end = rows.i64s("end_ns")?;
    let mut region = rows.u32s("region")?;
    let mut depth = rows.u32s("depth")?;
    spans.extend(rows.build(|| {
        Some(RegionSpan {
            rank: Rank(rank.next()?),
            thread: ThreadIndex(thread.next()?),
            start: Nanos(start.next()?),
            end: Nanos(end.next()?),
            region: region.next()?,
            depth: depth.next()?,
        })
    })?);
    Ok(())
}

/// Appends what was counted with the calls of one part.
pub(crate) fn counted(
    table: &TableReader,
    columns: &[String],
    lines: &mut Vec<Counted>,
) -> Result<(), StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut thread = rows.u32s("thread")?;
    let mut start = rows.i64s("start_ns")?;
    let mut values = Vec::new();
    for column in columns {
        values.push((column, rows.even(column, table.int64(column)?)?));
    }
    lines.extend(rows.build(|| {
        Some(Counted {
            rank: Rank(rank.next()?),
            thread: ThreadIndex(thread.next()?),
            start: Nanos(start.next()?),
            values: values
                .iter_mut()
                .map(|(column, cells)| Some(((*column).clone(), cells.next()?)))
                .collect::<Option<_>>()?,
        })
    })?);
    Ok(())
}

pub(crate) fn stops(table: &TableReader) -> Result<Vec<Stop>, StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut thread = rows.u32s("thread")?;
    let mut start = rows.i64s("start_ns")?;
    let mut end = rows.i64s("end_ns")?;
    let mut reason = rows.texts("reason")?;
    let mut lost_calls = rows.u64s("lost_calls")?;
    let mut late = table.int64("late_ns")?.into_iter();
    rows.build(|| {
        Some(Stop {
            rank: Rank(rank.next()?),
            thread: ThreadIndex(thread.next()?),
            start: Nanos(start.next()?),
            end: Nanos(end.next()?),
            reason: reason.next()?,
            late: late.next()?.map(Nanos),
            lost_calls: lost_calls.next()?,
        })
    })
}

pub(crate) fn clocks(table: &TableReader) -> Result<Vec<ClockRow>, StoreError> {
    let rows = RowsOf::new(table);
    let kind_named = |name: &str| ClockKind::ALL.into_iter().find(|kind| kind.name() == name);
    let mut kind = rows.named("kind", kind_named)?;
    let mut host = rows.u32s("host")?;
    let mut reference_host = rows.maybe_u32s("reference_host")?;
    let mut rank = rows.maybe_u32s("rank")?;
    let mut ticks = rows.even("ticks", table.int64("ticks")?)?;
    let mut monotonic = rows.maybe_times("monotonic_ns")?;
    let mut at = rows.maybe_times("at_ns")?;
    let mut offset = rows.maybe_times("offset_ns")?;
    let mut error = rows.maybe_times("error_ns")?;
    let mut root_offset = rows.maybe_times("root_offset_ns")?;
    let mut root_error = rows.maybe_times("root_error_ns")?;
    let mut drift_ppb = rows.even("drift_ppb", table.int64("drift_ppb")?)?;
    let mut samples = rows.maybe_u32s("samples")?;
    rows.build(|| {
        Some(ClockRow {
            kind: kind.next()?,
            host: host.next()?,
            reference_host: reference_host.next()?,
            rank: rank.next()?.map(Rank),
            ticks: ticks.next()?.map(|ticks| ticks as u64),
            monotonic: monotonic.next()?,
            at: at.next()?,
            offset: offset.next()?,
            error: error.next()?,
            root_offset: root_offset.next()?,
            root_error: root_error.next()?,
            drift_ppb: drift_ppb.next()?,
            samples: samples.next()?,
        })
    })
}

pub(crate) fn repairs(table: &TableReader) -> Result<Vec<Repair>, StoreError> {
    let rows = RowsOf::new(table);
    let mut rank = rows.u32s("rank")?;
    let mut at = rows.i64s("at_ns")?;
    let mut shift = rows.i64s("shift_ns")?;
    rows.build(|| {
        Some(Repair { rank: Rank(rank.next()?), at: Nanos(at.next()?), shift: Nanos(shift.next()?) })
    })
}

fn ending(name: &str) -> Option<Ending> {
    (0..=u8::MAX).map_while(Ending::from_number).find(|ending| ending.name() == name)
}

fn comm_kind(name: &str) -> Option<CommKind> {
    (0..=u8::MAX).map_while(CommKind::from_number).find(|kind| kind.name() == name)
}

fn object_kind(name: &str) -> Option<ObjectKind> {
    (0..=u8::MAX).map_while(ObjectKind::from_number).find(|kind| kind.name() == name)
}

/// Rows of a small table: all its columns have the same length, and values that must be there are.
pub(crate) struct RowsOf<'a> {
    table: &'a TableReader,
    rows: usize,
}

impl<'a> RowsOf<'a> {
    pub(crate) fn new(table: &'a TableReader) -> RowsOf<'a> {
        let rows = table.groups().iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).sum();
        RowsOf { table, rows }
    }

    /// One value for each row.
    pub(crate) fn build<V>(&self, mut row: impl FnMut() -> Option<V>) -> Result<Vec<V>, StoreError> {
        let built: Option<Vec<V>> = (0..self.rows).map(|_| row()).collect();
        built.ok_or_else(|| self.table.damaged("its columns have different lengths"))
    }

    pub(crate) fn even<V>(&self, name: &str, cells: Vec<V>) -> Cells<V> {
        if cells.len() != self.rows {
            return Err(self.table.damaged(format!(
                "its column {name:?} has {} rows instead of {}",
                cells.len(),
                self.rows
            )));
        }
        Ok(cells.into_iter())
    }

    pub(crate) fn full<V>(&self, name: &str, cells: Vec<Option<V>>) -> Cells<V> {
        let full: Option<Vec<V>> = cells.into_iter().collect();
        let full = full.ok_or_else(|| self.table.damaged(format!("its column {name:?} has nulls")))?;
        self.even(name, full)
    }

    pub(crate) fn i64s(&self, name: &str) -> Cells<i64> {
        self.full(name, self.table.int64(name)?)
    }

    pub(crate) fn u64s(&self, name: &str) -> Cells<u64> {
        let counts = self.i64s(name)?.map(|value| u64::try_from(value).ok()).collect();
        self.full(name, counts)
    }

    pub(crate) fn u32s(&self, name: &str) -> Cells<u32> {
        let numbers = self.full(name, self.table.int32(name)?)?.map(|value| u32::try_from(value).ok());
        self.full(name, numbers.collect())
    }

    pub(crate) fn doubles(&self, name: &str) -> Cells<f64> {
        self.full(name, self.table.double(name)?)
    }

    pub(crate) fn texts(&self, name: &str) -> Cells<String> {
        self.full(name, self.table.text(name)?)
    }

    pub(crate) fn maybe_u32s(&self, name: &str) -> Cells<Option<u32>> {
        let numbers = self.table.int32(name)?.into_iter();
        self.even(name, numbers.map(|value| value.and_then(|value| u32::try_from(value).ok())).collect())
    }

    pub(crate) fn maybe_times(&self, name: &str) -> Cells<Option<Nanos>> {
        self.even(name, self.table.int64(name)?.into_iter().map(|value| value.map(Nanos)).collect())
    }

    pub(crate) fn maybe_texts(&self, name: &str) -> Cells<Option<String>> {
        self.even(name, self.table.text(name)?)
    }

    pub(crate) fn rank_lists(&self, name: &str) -> Cells<Vec<Option<Rank>>> {
        let lists = self.table.int32_lists(name)?.into_iter();
        let ranks =
            |list: Vec<i32>| list.into_iter().map(|rank| u32::try_from(rank).ok().map(Rank)).collect();
        self.even(name, lists.map(ranks).collect())
    }

    /// Values given by their names.
    pub(crate) fn named<V>(&self, name: &str, find: impl Fn(&str) -> Option<V>) -> Cells<V> {
        let values = self.texts(name)?.map(|text| {
            find(&text).ok_or_else(|| {
                self.table.damaged(format!("its column {name:?} has the unknown value {text:?}"))
            })
        });
        Ok(values.collect::<Result<Vec<V>, StoreError>>()?.into_iter())
    }
}
