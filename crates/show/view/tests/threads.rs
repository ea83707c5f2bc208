//! What is told about threads: of runs whose regions and tasks are known, moment by moment.

mod common;

use common::script;
use kizami_model::{Length, Moment, Rank, ThreadIndex};
use kizami_testing::Act;
use kizami_trace::write::{TaskTables, summary};
use kizami_trace::{ParallelRow, TaskKind, TaskRow, Waited};
use kizami_view::layer::{Layer, Opened, Origin};
use kizami_view::query::threads::{ThreadRow, ThreadRows, threads};
use kizami_view::threads::State;
use std::path::Path;
use std::sync::Arc;

fn task(task: u64, kind: TaskKind, thread: u32, created: i64, start: i64, end: i64) -> TaskRow {
    TaskRow {
        rank: Rank(0),
        task,
        parent: (task > 1).then_some(1),
        kind,
        callsite: Some(0),
        thread: ThreadIndex(thread),
        created: Some(Moment(created)),
        start: Moment(start),
        end: Moment(end),
        running: Length(end - start),
        parent_running: None,
        tracer: Length::ZERO,
        weight: 1.0,
        waited: None,
        group: None,
        asleep: None,
    }
}

fn region(start: i64, end: i64) -> ParallelRow {
    ParallelRow {
        rank: Rank(0),
        region: 1,
        within: None,
        callsite: Some(0),
        thread: ThreadIndex(0),
        start: Moment(start),
        end: Moment(end),
        threads: 2,
        running: Length(0),
        longest: Length(0),
        locked: Length::ZERO,
        away: Length::ZERO,
        tracer: Length::ZERO,
        tasks: 1,
        runtime: None,
        asleep: None,
    }
}

/// Two ranks that compute and meet; the first has a region of two threads, whose second runs a task that goes on once.
fn opened(path: &Path) -> Arc<Opened> {
    let acts = || {
        vec![
            Act::Compute(1_000_000),
            Act::Together("MPI_Barrier"),
            Act::Compute(1_000_000),
            Act::Together("MPI_Barrier"),
        ]
    };
    let trace = script(path, vec![acts(), acts()]);
    let mut tables = TaskTables::new(path);
    tables.parallel(region(100_000, 600_000)).unwrap();
    for row in [
        task(1, TaskKind::Initial, 0, 0, 0, 100_000),
        task(2, TaskKind::Implicit, 0, 100_000, 100_000, 500_000),
        task(3, TaskKind::Implicit, 1, 100_000, 110_000, 200_000),
        task(4, TaskKind::Explicit, 1, 150_000, 300_000, 400_000),
    ] {
        tables.task(row).unwrap();
    }
    let waited = Some(Waited::Children);
    let goes_on =
        TaskRow { parent: Some(4), waited, ..task(5, TaskKind::Continued, 1, 400_000, 450_000, 550_000) };
    tables.task(goes_on).unwrap();
    let mut run = trace.run().clone();
    run.files.extend(tables.finish().unwrap().iter().map(|written| summary::entry(written, path)));
    std::fs::write(path.join("run.json"), serde_json::to_vec(&run).unwrap()).unwrap();
    Opened::open(path).unwrap()
}

fn ask(opened: &Opened, rank: u32, columns: usize) -> ThreadRows {
    let of = opened.threads_now(Rank(rank)).unwrap();
    threads(&[(Rank(rank), &*of)], &(Moment(0)..Moment(700_000)), columns, 32)
}

/// Start and state of what is told by itself.
fn states(row: &ThreadRow) -> Vec<(i64, u8)> {
    row.bounds.iter().zip(&row.states).filter_map(|(start, state)| Some((*start, (*state)?))).collect()
}

#[test]
fn each_thread_is_told_with_its_regions_tasks_and_calls() {
    let folder = tempfile::tempdir().unwrap();
    let opened = opened(&folder.path().join("run.kz"));
    let told = ask(&opened, 0, 700);
    let [first, second] = &told.ranks[0].threads[..] else { panic!("two threads: {told:?}") };
    let [computing, waiting, serial, call, idle] =
        [State::Computing, State::Waiting, State::Serial, State::Call, State::Idle].map(|state| state as u8);
    assert_eq!((first.thread, second.thread), (0, 1));
    let of_first = states(first);
    assert_eq!(of_first[..3], [(0, serial), (100_000, computing), (500_000, waiting)]);
    assert_eq!(of_first[3], (600_000, serial));
    assert_eq!(
        states(second),
        [
            (0, idle),
            (100_000, waiting),
            (110_000, computing),
            (200_000, waiting),
            (300_000, computing),
            (400_000, waiting),
            (450_000, computing),
            (550_000, waiting),
            (600_000, idle),
        ]
    );
    // What goes on is of the same task; shares are of none.
    let subject = |place: usize| second.subjects[place].map(|number| told.subjects[number as usize]);
    assert_eq!(subject(4).map(|subject| (subject.site, subject.task)), Some((Some(0), Some(0))));
    assert_eq!((subject(4), subject(2).and_then(|subject| subject.task)), (subject(6), None));
    // The other rank has no regions, and computes between its calls.
    let other = ask(&opened, 1, 700);
    let all = states(&other.ranks[0].threads[0]);
    assert_eq!(other.ranks[0].of, 1);
    assert!(all.iter().all(|(_, state)| [serial, call, State::NoRecord as u8].contains(state)), "{all:?}");
}

#[test]
fn only_recorded_layers_with_the_table_have_regions() {
    let folder = tempfile::tempdir().unwrap();
    let with = opened(&folder.path().join("run.kz"));
    let layer = |opened: &Arc<Opened>, origin| Layer { opened: Arc::clone(opened), origin };
    assert!(layer(&with, Origin::Trace).has_regions() && !layer(&with, Origin::Ideal).has_regions());
    let path = folder.path().join("plain.kz");
    script(&path, vec![vec![Act::Together("MPI_Barrier")]]);
    assert!(!layer(&Opened::open(&path).unwrap(), Origin::Trace).has_regions());
}

#[test]
fn a_table_that_cannot_be_read_is_an_error_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.kz");
    drop(opened(&path));
    for table in ["tasks", "parallel"] {
        let file = std::fs::read_dir(path.join(table)).unwrap().next().unwrap().unwrap().path();
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, vec![b'x'; bytes.len()]).unwrap();
        let opened = Opened::open(&path).unwrap();
        assert!(opened.threads_now(Rank(0)).is_err(), "{table}");
        assert!(opened.index_now().is_ok(), "{table}");
        std::fs::write(&file, bytes).unwrap();
    }
}
