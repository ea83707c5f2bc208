//! Programs with OpenMP only: what their threads lose becomes a finding with its gain, which is exactly that of the program
//! without the loss.

use kizami_explain::{Diagnosis, Finding, RunThreads, ThreadRegions, ThreadSpans, Threads, Window};
use kizami_model::{Ending, Length, Moment, Rank, ThreadIndex};
use kizami_trace::write::About;
use kizami_trace::{
    CallSite, Definitions, NeedRow, ParallelRow, RankInfo, TaskKind, TaskRow, Trace, TraceWriter, Waited,
};

const MS: i64 = 1_000_000;

/// Lines 10, 20 and 30 of a file.
fn definitions() -> Definitions {
    let site = |index: u32| CallSite {
        index,
        offset: u64::from(index),
        module: None,
        function: "main".to_owned(),
        file: Some("known.c".to_owned()),
        line: Some(10 + 10 * index),
        inlined_into: Vec::new(),
        path: None,
    };
    let rank = RankInfo { threads: 4, ending: Ending::Exited, ..RankInfo::absent(Rank(0)) };
    Definitions { ranks: vec![rank], callsites: (0..3).map(site).collect(), ..Definitions::default() }
}

fn region(number: u64, site: u32, (start, end): (i64, i64), running: i64, longest: i64) -> ParallelRow {
    ParallelRow {
        rank: Rank(0),
        region: number,
        within: None,
        callsite: Some(site),
        thread: ThreadIndex(0),
        start: Moment(start * MS),
        end: Moment(end * MS),
        threads: 4,
        running: Length(running * MS),
        longest: Length(longest * MS),
        locked: Length::ZERO,
        away: Length::ZERO,
        tracer: Length::ZERO,
        tasks: 0,
        runtime: None,
        asleep: Some(Length(running * MS / 2)),
    }
}

fn findings(regions: &[ParallelRow], tasks: &[TaskRow], needs: &[NeedRow]) -> (Vec<Finding>, Threads) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.kz");
    let mut writer = TraceWriter::create(&path, About::default(), definitions()).unwrap();
    tasks.iter().for_each(|task| writer.task(task.clone()).unwrap());
    needs.iter().for_each(|need| writer.need(need.clone()).unwrap());
    regions.iter().for_each(|region| writer.parallel(region.clone()).unwrap());
    writer.finish(|run| run.clocks.method = "measured".to_owned()).unwrap();
    let trace = Trace::open(&path).unwrap();
    let (definitions, regions) = (trace.definitions().unwrap(), ThreadRegions::of(&trace).unwrap().unwrap());
    let spans = ThreadSpans::of(&trace, &regions).unwrap();
    let window = Window::of(&trace, &definitions.ranks, &regions).unwrap();
    let times = Threads::of(&trace).unwrap().unwrap();
    let mut threads = RunThreads { times, regions, spans };
    threads.gains_alone(&definitions, window);
    (threads.findings(&definitions, window.length()), threads.times)
}

fn gain_ms(finding: &Finding) -> i64 {
    finding.gain.expect("it has a gain").ns / MS
}

#[test]
fn an_uneven_loop_gains_what_dividing_it_evenly_saves() {
    // Ten times 35 ms, of which the mean of the threads is 20.
    let regions: Vec<ParallelRow> =
        (0..10).map(|k| region(k as u64 + 1, 0, (35 * k, 35 * k + 35), 80, 35)).collect();
    let (findings, times) = findings(&regions, &[], &[]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].diagnosis, Diagnosis::ThreadImbalance { threads: 4 });
    assert_eq!(findings[0].place.line, Some(10));
    assert_eq!(gain_ms(&findings[0]), 150);
    let gain = findings[0].gain.unwrap();
    assert!((gain.share - 15.0 / 35.0).abs() < 1e-9 && gain.is_sure() && !gain.noise_left_out, "{gain:?}");
    assert!((findings[0].share - 15.0 / 35.0).abs() < 1e-9);
    assert_eq!(times.asleep_ns, Some(400 * MS), "half of what they ran");
}

#[test]
fn a_serial_part_gains_at_most_what_sharing_it_saves() {
    // Five times 20 ms on one thread, then four threads for 10 ms each.
    let regions: Vec<ParallelRow> =
        (0..5).map(|k| region(k as u64 + 1, 1, (30 * k + 20, 30 * k + 30), 40, 10)).collect();
    // The first serial part is not seen without anything before it.
    let (findings, _) = findings(&regions, &[], &[]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].diagnosis, Diagnosis::SerialPart { threads: 4 });
    assert_eq!(findings[0].place.line, Some(20), "the region after it");
    assert!(findings[0].at_most);
    assert_eq!(gain_ms(&findings[0]), 60);
}

fn task(number: u64, parent: u64, kind: TaskKind, site: u32, (start, end): (i64, i64)) -> TaskRow {
    TaskRow {
        rank: Rank(0),
        task: number,
        parent: Some(parent).filter(|parent| *parent > 0),
        kind,
        callsite: Some(site),
        thread: ThreadIndex(0),
        created: Some(Moment(0)),
        start: Moment(start * MS),
        end: Moment(end * MS),
        running: Length((end - start) * MS),
        parent_running: Some(Length::ZERO),
        tracer: Length::ZERO,
        weight: 1.0,
        waited: (kind == TaskKind::Continued).then_some(Waited::Region),
        group: None,
        asleep: None,
    }
}

#[test]
fn a_chain_of_tasks_that_is_longer_than_the_work_of_each_thread_is_named_with_its_line() {
    // Twenty tasks of 5 ms that follow each other, and forty of 1 ms: 100 ms, where four threads have 35 ms of work each.
    let mut tasks = vec![task(1, 0, TaskKind::Initial, 0, (0, 0)), task(2, 1, TaskKind::Implicit, 0, (0, 0))];
    let mut needs = Vec::new();
    for k in 0..20 {
        let number = 3 + k as u64;
        tasks.push(task(number, 2, TaskKind::Explicit, 1, (5 * k, 5 * k + 5)));
        if k > 0 {
            needs.push(NeedRow { rank: Rank(0), task: number, of: number - 1, at: None });
        }
    }
    tasks.extend((0..40).map(|k| task(23 + k, 2, TaskKind::Explicit, 2, (k as i64, k as i64 + 1))));
    let region = ParallelRow { tasks: 60, ..region(1, 0, (0, 105), 140, 100) };
    let (findings, _) = findings(&[region], &tasks, &needs);
    let chain = findings.iter().find(|finding| matches!(finding.diagnosis, Diagnosis::TaskChain { .. }));
    let chain = chain.unwrap_or_else(|| panic!("{findings:?}"));
    let Diagnosis::TaskChain { span_ns, work_ns, threads, tasks } = &chain.diagnosis else { unreachable!() };
    assert_eq!((*span_ns, *work_ns, *threads), (100 * MS, 140 * MS, 4));
    assert_eq!(tasks.as_ref().and_then(|place| place.line), Some(20), "the tasks of the chain");
    assert_eq!((chain.place.line, gain_ms(chain)), (Some(10), 70));
    assert!(chain.at_most);
}

#[test]
fn even_work_has_no_finding() {
    let regions: Vec<ParallelRow> =
        (0..10).map(|k| region(k as u64 + 1, 0, (40 * k, 40 * k + 40), 159, 40)).collect();
    assert_eq!(findings(&regions, &[], &[]).0, []);
}
