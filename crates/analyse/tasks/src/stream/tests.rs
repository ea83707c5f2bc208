//! One pass gives the same results as with all tasks in memory: over made-up recordings and runs in virtual time.

use super::*;
use crate::memory::{BYTES_A_TASK, memory_needed};
use crate::{Bounds, Parallelism, Path, TaskGraph, burdened_span, places};
use kizami_model::{Ending, ThreadIndex};
use kizami_rng::SplitMix64;
use kizami_trace::write::About;
use kizami_trace::{Definitions, RankInfo, TaskKind, TraceWriter, Waited};

/// A number as tables have them.
fn some(random: &mut SplitMix64, limit: u64) -> Option<i64> {
    (random.below(3) > 0).then(|| random.below(limit) as i64)
}

const WAITED: [Waited; 6] =
    [Waited::Nothing, Waited::Children, Waited::Group, Waited::Barrier, Waited::Region, Waited::Together];

/// Any task that comes after so many others, most often one of the last.
fn row(random: &mut SplitMix64, rank: u32, before: u64, longest: u64) -> TaskRow {
    let near = random.below(20).min(before.saturating_sub(1));
    let parent = if random.below(4) == 0 { random.below(before) + 1 } else { before - near.min(before) };
    let start = Moment(random.below(1_000_000) as i64);
    let kind = [TaskKind::Explicit, TaskKind::Implicit, TaskKind::Continued][random.below(3) as usize];
    let waited = WAITED[random.below(6) as usize];
    TaskRow {
        rank: Rank(rank),
        task: before + 1,
        parent: Some(parent).filter(|parent| before > 0 && *parent > 0),
        kind: if before == 0 { TaskKind::Initial } else { kind },
        callsite: some(random, 5).map(|place| place as u32),
        thread: ThreadIndex(random.below(4) as u32),
        created: some(random, 1_000_000).map(Moment),
        start,
        end: start + Length(random.below(5_000) as i64),
        running: Length(random.below(longest) as i64),
        parent_running: some(random, longest).map(Length),
        tracer: Length(random.below(longest / 8) as i64),
        weight: 1.0,
        waited: (kind == TaskKind::Continued).then_some(waited),
        group: None,
        asleep: None,
    }
}

/// A recording of two ranks.
fn recording(seed: u64, tasks: u64, longest: u64, method: &str) -> (tempfile::TempDir, Trace) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.kz");
    let rank = |rank| RankInfo { threads: 4, ending: Ending::Finalized, ..RankInfo::absent(Rank(rank)) };
    let definitions = Definitions { ranks: vec![rank(0), rank(1)], ..Definitions::default() };
    let mut writer = TraceWriter::create(&path, About::default(), definitions).unwrap();
    let mut random = SplitMix64::new(seed);
    for rank in 0..2 {
        for before in 0..tasks {
            writer.task(row(&mut random, rank, before, longest)).unwrap();
            // Some need more than can be noted in a byte.
            let most = if random.below(200) == 0 { 600 } else { 4 };
            for _ in 0..random.below(most).min(before) {
                let of = random.below(before) + 1;
                let at = some(&mut random, 1_000_000).map(Moment);
                writer.need(NeedRow { rank: Rank(rank), task: before + 1, of, at }).unwrap();
            }
        }
    }
    writer.finish(|run| run.clocks.method = method.to_owned()).unwrap();
    let trace = Trace::open(&path).unwrap();
    (folder, trace)
}

fn same(trace: &Trace, rank: Rank, kept: usize, what: &str) {
    let graph = TaskGraph::of(trace, rank).unwrap();
    let streamed = stream_keeping(trace, rank, kept).unwrap();
    assert_eq!(streamed.made, graph.made() as u64, "{what}");
    assert_eq!(streamed.work, graph.work(), "{what}");
    assert_eq!(streamed.span, graph.span(), "{what}");
    assert_eq!(streamed.bins.work(), graph.work(), "{what}");
    assert_eq!(streamed.places, places(&graph, &Path::of(&graph)), "{what}");
    assert_eq!(memory_needed(trace, rank).unwrap(), BYTES_A_TASK * graph.len() as u64, "{what}");
    let burden = graph.notice().map(|notice| (notice, burdened_span(&graph, notice)));
    assert_eq!(streamed.burden, burden, "{what}");
    assert_eq!(Bounds { peak: None, ..streamed.bounds() }, Bounds::of(&graph), "{what}");
    if streamed.bins.width() == Length(1) {
        assert_eq!(streamed.bins.peak(), f64::from(Parallelism::of(&graph).peak()), "{what}");
    }
}

#[test]
fn recordings_stream_alike() {
    for seed in 1..25 {
        let tasks = 1 + seed * 37 % 1_500;
        let longest = [1, 50, 5_000, 10_000_000][seed as usize % 4];
        let (_folder, trace) = recording(seed, tasks, longest, "measured");
        for rank in [Rank(0), Rank(1)] {
            same(&trace, rank, 0, &format!("seed {seed}, {rank}"));
        }
        same(&trace, Rank(0), usize::MAX, &format!("seed {seed}, all kept"));
    }
}

#[test]
fn more_tasks_than_a_row_group_stream_alike() {
    let (_folder, trace) = recording(7, 150_000, 300, "measured");
    same(&trace, Rank(1), 0, "rank 1");
    let streamed = stream_keeping(&trace, Rank(0), 0).unwrap();
    assert!(streamed.held <= 150_000);
}

#[test]
fn tasks_without_further_references_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.kz");
    let rank = RankInfo { threads: 1, ending: Ending::Finalized, ..RankInfo::absent(Rank(0)) };
    let definitions = Definitions { ranks: vec![rank], ..Definitions::default() };
    let mut writer = TraceWriter::create(&path, About::default(), definitions).unwrap();
    let mut random = SplitMix64::new(5);
    // A chain, in which each is made by the one before; the first is needed by all.
    for before in 0..100_000 {
        let parent = Some(before).filter(|parent| *parent > 0);
        writer.task(TaskRow { parent, ..row(&mut random, 0, before, 50) }).unwrap();
        if before > 0 {
            writer.need(NeedRow { rank: Rank(0), task: before + 1, of: 1, at: None }).unwrap();
        }
    }
    writer.finish(|_| ()).unwrap();
    let trace = Trace::open(&path).unwrap();
    let streamed = stream_keeping(&trace, Rank(0), 0).unwrap();
    assert!(streamed.held <= 1_024, "{} held", streamed.held);
    same(&trace, Rank(0), 0, "a chain");
}

/// A recording of one rank with these rows.
fn written(method: &str, tasks: &[TaskRow], needs: &[(u64, u64)]) -> (tempfile::TempDir, Trace) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.kz");
    let rank = RankInfo { threads: 1, ending: Ending::Finalized, ..RankInfo::absent(Rank(0)) };
    let definitions = Definitions { ranks: vec![rank], ..Definitions::default() };
    let mut writer = TraceWriter::create(&path, About::default(), definitions).unwrap();
    tasks.iter().for_each(|task| writer.task(task.clone()).unwrap());
    for (task, of) in needs {
        writer.need(NeedRow { rank: Rank(0), task: *task, of: *of, at: None }).unwrap();
    }
    writer.finish(|run| run.clocks.method = method.to_owned()).unwrap();
    let trace = Trace::open(&path).unwrap();
    (folder, trace)
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut random = SplitMix64::new(5);
    let rows: Vec<TaskRow> =
        (0..6).map(|before| TaskRow { parent: None, ..row(&mut random, 0, before, 50) }).collect();
    let with = |task: usize, change: fn(&mut TaskRow)| {
        let mut rows = rows.clone();
        change(&mut rows[task]);
        rows
    };
    let refused = |method: &str, tasks: &[TaskRow], needs: &[(u64, u64)], why: &str| {
        let (_folder, trace) = written(method, tasks, needs);
        for kept in [0, usize::MAX] {
            let error = stream_keeping(&trace, Rank(0), kept).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    };
    let later = with(2, |row| row.parent = Some(4));
    refused("measured", &later, &[], "task 3 comes of 4, which comes later");
    refused("measured", &rows, &[(3, 3)], "task 3 comes of 3, which comes later");
    refused("measured", &with(2, |row| row.task = 9), &[], "task 9 comes where 3 should");
    refused("measured", &rows, &[(3, 1), (5, 2), (4, 1)], "its rows are not sorted by task");
    let before = with(0, |row| (row.created, row.start) = (Some(Moment(-10)), Moment(-10)));
    refused(ClockInfo::VIRTUAL, &before, &[], "task 1 begins before the run");
    let (_folder, trace) = written("measured", &rows, &[]);
    let none = stream(&trace, Rank(9)).unwrap_err().to_string();
    assert!(none.contains("has no tasks of rank 9"), "{none}");
}

#[test]
fn odd_numbers_do_no_harm() {
    let mut random = SplitMix64::new(5);
    let mut rows: Vec<TaskRow> =
        (0..6).map(|before| TaskRow { parent: None, ..row(&mut random, 0, before, 50) }).collect();
    rows[1].callsite = Some(i32::MAX as u32);
    rows[2].running = Length(-7);
    rows[3] = TaskRow { parent: Some(3), parent_running: Some(Length(5)), ..rows[3].clone() };
    rows[4].thread = ThreadIndex(i32::MAX as u32);
    // One needs something, and is not there.
    let (_folder, trace) = written("measured", &rows, &[(5, 1), (1 << 40, 1 << 39)]);
    same(&trace, Rank(0), 0, "odd numbers");
}

#[test]
fn runs_in_virtual_time_stream_alike() {
    for seed in 1..25u64 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.kz");
        let rank = RankInfo { threads: 1, ending: Ending::Finalized, ..RankInfo::absent(Rank(0)) };
        let definitions = Definitions { ranks: vec![rank], ..Definitions::default() };
        let mut writer = TraceWriter::create(&path, About::default(), definitions).unwrap();
        let mut random = SplitMix64::new(seed);
        let mut times: Vec<(Moment, Moment)> = Vec::new();
        for before in 0..1 + seed * 53 % 900 {
            let within = |random: &mut SplitMix64, task: u64| {
                let (start, end) = times[task as usize];
                start + Length(random.below((end - start).0 as u64 + 1) as i64)
            };
            let parent = (before > 0).then(|| random.below(before));
            let created = parent.map_or(Moment::START, |parent| within(&mut random, parent));
            let mut start = created;
            for _ in 0..random.below(4).min(before) {
                let of = random.below(before);
                let at = within(&mut random, of);
                start = start.max(at);
                let at = Some(at).filter(|at| *at != times[of as usize].1);
                writer.need(NeedRow { rank: Rank(0), task: before + 1, of: of + 1, at }).unwrap();
            }
            let end = start + Length(random.below(20) as i64);
            let at_end = parent.is_some_and(|parent| times[parent as usize].1 == created);
            let (kind, parent) = (TaskKind::Goal, parent.map(|parent| parent + 1));
            let created = Some(created).filter(|_| !at_end);
            let any = row(&mut random, 0, before, 20);
            let row =
                TaskRow { parent, kind, created, start, end, running: end - start, waited: None, ..any };
            writer.task(row).unwrap();
            times.push((start, end));
        }
        writer.finish(|run| run.clocks.method = ClockInfo::VIRTUAL.to_owned()).unwrap();
        same(&Trace::open(&path).unwrap(), Rank(0), 0, &format!("seed {seed}"));
    }
}
