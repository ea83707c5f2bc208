//! Runs with one performance pattern each, whose times are exactly known: the pattern is named, and its gain is that of the
//! fixed run.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_explain::{Diagnosis, Disease, Finding, Headline, Report};
use kizami_testing::Act::{self, Compute, Exchange, Receive, Send, Together};
use scripts::Stepped;

const STEPS: usize = 40;
const MS: i64 = 1_000_000;

/// Steps of so many ranks that compute for these times, and then act.
fn stepped(ranks: u32, computes: impl Fn(usize, u32) -> i64, acts: impl Fn(u32) -> Vec<Act>) -> Stepped {
    let body = |step: usize, rank: u32| {
        let mut body = vec![Compute(computes(step, rank))];
        body.extend(acts(rank));
        body
    };
    let steps = (0..STEPS).map(|step| (0..ranks).map(|rank| body(step, rank)).collect());
    Stepped { steps: steps.collect() }
}

fn allreduce(_rank: u32) -> Vec<Act> {
    vec![Together("MPI_Allreduce")]
}

fn first(report: &Report) -> &Finding {
    report.findings.first().expect("there is a finding")
}

/// Asserts what the worst finding is and that its gain is that of the fixed run, to a hundredth of a per cent.
fn assert_gain(sick: &Report, fixed: &Report, disease: Disease, headline: Headline) {
    let finding = first(sick);
    assert_eq!((finding.disease(), finding.headline), (disease, headline), "{finding:?}");
    let real = (sick.run_ns - fixed.run_ns) as f64 / sick.run_ns as f64;
    let gain = finding.expected().expect("it was replayed");
    assert!((gain.share - real).abs() < 1e-4, "{} for {real}: {finding:?}", gain.share);
}

#[test]
fn what_comes_every_tenth_step() {
    let run = |extra: i64| {
        let computes = move |step: usize, rank| 2 * MS + if rank == 0 && step % 10 == 9 { extra } else { 0 };
        stepped(8, computes, allreduce).report()
    };
    let sick = run(20 * MS);
    assert_gain(&sick, &run(0), Disease::RareImbalance, Headline::Gain);
    assert_eq!(first(&sick).ranks, [0]);
    let spread =
        stepped(8, |step, _| 2 * MS + if step % 10 == 9 { 20 * MS / 8 } else { 0 }, allreduce).report();
    let balanced = first(&sick).balanced.expect("it was replayed");
    assert_eq!(balanced.ns, sick.run_ns - spread.run_ns);
}

#[test]
fn what_moves_from_rank_to_rank() {
    let computes = |step: usize, rank: u32| if rank == (step / 5 % 8) as u32 { 4 * MS } else { MS };
    let sick = stepped(8, computes, allreduce).report();
    let fixed = stepped(8, |_, _| MS + 3 * MS / 8, allreduce).report();
    assert_gain(&sick, &fixed, Disease::MovingImbalance, Headline::Balanced);
}

#[test]
fn what_grows() {
    let sick =
        stepped(8, |step, rank| MS + if rank == 3 { step as i64 * MS / 5 } else { 0 }, allreduce).report();
    let fixed = stepped(8, |_, _| MS, allreduce).report();
    assert_gain(&sick, &fixed, Disease::GrowingImbalance, Headline::Gain);
    assert_eq!(first(&sick).ranks, [3]);
}

#[test]
fn work_that_must_be_done_by_someone() {
    let sick = stepped(8, |_, rank| i64::from(rank + 1) * MS, allreduce).report();
    let fixed = stepped(8, |_, _| 9 * MS / 2, allreduce).report();
    assert_gain(&sick, &fixed, Disease::Imbalance, Headline::Balanced);
}

#[test]
fn a_needless_barrier() {
    // Long and short steps of every rank even out.
    let computes = |step: usize, rank: u32| MS + (step as i64 * 7 + i64::from(rank) * 3) % 8 * MS / 2;
    let sick = stepped(4, computes, |_| vec![Together("MPI_Barrier")]).report();
    let finding = first(&sick);
    assert_eq!(finding.disease(), Disease::NeedlessBarrier, "{finding:?}");
    let longest: i64 = (0..4).map(|rank| (0..STEPS).map(|step| computes(step, rank)).sum()).max().unwrap();
    let gain = finding.gain.expect("it was replayed");
    assert!((sick.run_ns - gain.ns - longest).abs() < MS / 10, "{} left, {longest}", sick.run_ns - gain.ns);
}

#[test]
fn a_pipeline_that_fills_slowly() {
    let acts = |rank: u32| {
        let mut acts = Vec::new();
        acts.push(if rank > 0 { Receive(rank - 1, 5) } else { Compute(0) });
        acts.push(Compute(8 * MS));
        acts.push(if rank < 7 { Send(rank + 1, 5, 8_000) } else { Compute(0) });
        acts.push(Together("MPI_Allreduce"));
        acts
    };
    let sick = stepped(8, |_, _| 0, acts).report();
    let finding = first(&sick);
    assert_eq!(finding.disease(), Disease::PipelineFill, "{finding:?}");
    // The last rank begins behind seven eighths of a block instead of seven.
    let gain = finding.gain.expect("it was replayed");
    let expected = STEPS as i64 * (7 * 8 * MS - 7 * MS);
    assert!((gain.ns - expected).abs() < expected / 100, "{} for {expected}", gain.ns);
}

/// Sweeps from both ends, one after the other: messages go both ways between neighbours, but no two cross.
#[test]
fn sweeps_from_both_ends() {
    let acts = |rank: u32| {
        let mut acts = Vec::new();
        let (last, work) = (7, 8 * MS);
        acts.push(if rank > 0 { Receive(rank - 1, 5) } else { Compute(0) });
        acts.push(Compute(work));
        acts.push(if rank < last { Send(rank + 1, 5, 8_000) } else { Compute(0) });
        acts.push(if rank < last { Receive(rank + 1, 5) } else { Compute(0) });
        acts.push(Compute(work));
        acts.push(if rank > 0 { Send(rank - 1, 5, 8_000) } else { Compute(0) });
        acts.push(Together("MPI_Allreduce"));
        acts
    };
    let sick = stepped(8, |_, _| 0, acts).report();
    assert_eq!(first(&sick).disease(), Disease::PipelineFill, "{:?}", first(&sick));
}

/// Half of the ranks have a long first part, the others a long second one.
#[test]
fn parts_whose_imbalances_cancel() {
    let run = || {
        let acts = move |rank: u32| {
            let [one, other] = if rank < 4 { [4 * MS, MS] } else { [MS, 4 * MS] };
            vec![Compute(one), Together("MPI_Allreduce"), Compute(other), Together("MPI_Allreduce")]
        };
        stepped(8, |_, _| 0, acts).report()
    };
    let sick = run();
    assert_eq!(first(&sick).diagnosis, Diagnosis::NeedlessCollective { of: 2 });
    assert_eq!((first(&sick).place.line, sick.findings.len()), (Some(3), 1));
    assert_eq!(first(&sick).gain.expect("it was replayed").ns, STEPS as i64 * (3 * MS + 5_000));
}

/// The same with a message that cannot be divided.
#[test]
fn a_token_that_is_handed_on() {
    let acts = |token: bool| {
        move |rank: u32| {
            let mut acts = Vec::new();
            acts.push(if token && rank > 0 { Receive(rank - 1, 5) } else { Compute(0) });
            acts.push(Compute(MS));
            acts.push(if token && rank < 7 { Send(rank + 1, 5, 4) } else { Compute(0) });
            acts.push(Together("MPI_Allreduce"));
            acts
        }
    };
    let [sick, fixed] = [true, false].map(|token| stepped(8, |_, _| 0, acts(token)).report());
    let finding = first(&sick);
    assert_eq!(finding.diagnosis, Diagnosis::SerialisedSection { most_bytes: 4 }, "{finding:?}");
    let (gain, real) = (finding.gain.expect("it was replayed").ns, sick.run_ns - fixed.run_ns);
    assert!((gain - real).abs() < real / 100, "{gain} for {real}");
}

/// Neighbours in a ring exchange.
fn ring(rank: u32, ranks: u32) -> Vec<Act> {
    let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
    vec![Send(right, 1, 8), Send(left, 2, 8), Receive(left, 1), Receive(right, 2)]
}

#[test]
fn slow_neighbours_at_one_place() {
    // Hardly any rank waits for the one in the middle.
    let slow = |rank: u32| (4..7).contains(&rank);
    let run = |factor: i64| {
        stepped(12, move |_, rank| MS * if slow(rank) { factor } else { 2 }, |rank| ring(rank, 12)).report()
    };
    let sick = run(3);
    assert_gain(&sick, &run(2), Disease::Imbalance, Headline::Gain);
    assert_eq!(first(&sick).ranks, [4, 5, 6]);
    assert_eq!(first(&sick).option.as_ref().unwrap().to_string(), "--like-others 4-6");
}

#[test]
fn a_rank_that_becomes_slow_everywhere() {
    let run = |percent: i64| {
        let time = move |step: usize, rank| if rank == 6 && step >= STEPS / 2 { percent } else { 100 };
        let body = |step: usize, rank: u32| {
            let mut body = vec![Compute(20_000 * time(step, rank))];
            body.extend(ring(rank, 12));
            body.extend([Compute(15_000 * time(step, rank)), Together("MPI_Allreduce")]);
            body
        };
        let steps = (0..STEPS).map(|step| (0..12).map(|rank| body(step, rank)).collect());
        Stepped { steps: steps.collect() }.report()
    };
    let sick = run(160);
    assert_gain(&sick, &run(100), Disease::SlowRanks, Headline::Gain);
    assert_eq!((&first(&sick).ranks[..], sick.findings.len()), (&[6][..], 1));
}

#[test]
fn what_drowns_in_something_periodic() {
    // What rank 0 does every tenth step makes iterations differ by more than rank 3 is late in each.
    let run = |rare: i64, always: i64| {
        let body = |step: usize, rank: u32| {
            let now = if rank == 0 && step % 10 == 9 { rare } else { 0 };
            let late = if rank == 3 { always } else { 0 };
            let first = [Compute(2 * MS + late), Together("MPI_Allreduce")];
            first.into_iter().chain([Compute(MS / 10 + now), Together("MPI_Barrier")]).collect()
        };
        let steps = (0..STEPS).map(|step| (0..8).map(|rank| body(step, rank)).collect());
        Stepped { steps: steps.collect() }.report()
    };
    let (sick, first_fixed, fixed) = (run(30 * MS, MS / 2), run(0, MS / 2), run(0, 0));
    let [one, other] = &sick.findings[..] else { panic!("{:?}", sick.findings) };
    assert_eq!((&one.ranks[..], &other.ranks[..]), (&[0][..], &[3][..]));
    assert!(other.after_first && !one.after_first);
    assert_eq!(other.gain.map(|gain| gain.ns), Some(first_fixed.run_ns - fixed.run_ns));
}

#[test]
fn work_that_differs_by_chance_evens_out_where_ranks_do_not_meet() {
    let computes = |step: usize, rank: u32| {
        let drawn = (step as u64 * 8 + u64::from(rank) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        MS + (drawn >> 44) as i64 * 4
    };
    let sick = stepped(8, computes, allreduce).report();
    let finding = first(&sick);
    assert_eq!((finding.disease(), finding.at_most), (Disease::RandomImbalance, true), "{finding:?}");
    let longest: i64 = (0..8).map(|rank| (0..STEPS).map(|step| computes(step, rank)).sum()).max().unwrap();
    let left = sick.run_ns - finding.expected().unwrap().ns;
    assert!((left - longest).abs() < MS / 10, "{left} left, {longest}");
}

#[test]
fn messages_that_could_be_one() {
    let acts = |rank: u32| {
        let each = if rank == 0 { Send(1, 5, 8) } else { Receive(0, 5) };
        let mut acts = vec![each; 30];
        acts.push(Together("MPI_Allreduce"));
        acts
    };
    let sick = stepped(2, |_, _| 10_000, acts).report();
    assert_eq!(first(&sick).disease(), Disease::SmallMessages, "{:?}", first(&sick));
}

#[test]
fn collectives_that_could_be_one() {
    let acts = |count: usize| move |_: u32| vec![Together("MPI_Allreduce"); count];
    let (sick, fixed) =
        (stepped(4, |_, _| 20_000, acts(10)).report(), stepped(4, |_, _| 20_000, acts(1)).report());
    assert_gain(&sick, &fixed, Disease::TinyCollectives, Headline::Gain);
}

#[test]
fn a_communicator_that_is_created_in_every_step() {
    let acts = |split: bool| {
        move |rank: u32| {
            let creates = split.then_some(Together("MPI_Comm_split"));
            creates.into_iter().chain(allreduce(rank)).collect()
        }
    };
    let [sick, fixed] = [true, false].map(|split| stepped(8, |_, _| 20_000, acts(split)).report());
    assert_gain(&sick, &fixed, Disease::RepeatedCommunicator, Headline::Gain);
}

/// An exchange takes as long as the rank that receives most.
#[test]
fn an_exchange_in_which_one_rank_receives_most() {
    const BYTES: u64 = 8_000;
    let run = |hot: u64| {
        let rest = (8 * BYTES - hot) / 7;
        let acts = move |rank: u32| {
            vec![Exchange(BYTES, if rank == 5 { hot } else { rest }, MS * hot as i64 / BYTES as i64)]
        };
        stepped(8, |_, _| 2 * MS, acts).report()
    };
    let sick = run(4 * BYTES);
    assert_gain(&sick, &run(BYTES), Disease::HotReceiver, Headline::Gain);
    assert_eq!(first(&sick).ranks, [5]);
    assert_eq!(first(&sick).option.as_ref().unwrap().to_string(), "--even-exchange shared.c:2");
    // All the exchange in no time would say less of what to do.
    assert_eq!(sick.findings.len(), 1);
    // Where all receive the same, that is it.
    assert_eq!(first(&run(BYTES)).disease(), Disease::Alltoall);
}

/// A master hands out tasks of which the longest come last; ranks go through nothing together.
#[test]
fn tasks_of_which_the_longest_come_last() {
    // By worker: lengths of its tasks. All have the same to do in the end but for the last one.
    let tasks: [&[i64]; 4] = [&[1, 1, 2, 5], &[1, 2, 2], &[1, 1, 1, 1, 1], &[2, 1, 2]];
    let mut order: Vec<(i64, u32)> = Vec::new();
    for (worker, tasks) in (1..).zip(tasks) {
        let ends = tasks.iter().scan(0, |end, length| {
            *end += length;
            Some((*end, worker))
        });
        order.extend(ends);
    }
    order.sort_unstable();
    let mut acts: Vec<Vec<Act>> = vec![vec![Together("MPI_Barrier")]; 5];
    for (_, worker) in &order {
        acts[0].extend([Receive(*worker, 1), Send(*worker, 2, 8)]);
    }
    for (acts, tasks) in acts[1..].iter_mut().zip(tasks) {
        for length in tasks {
            acts.extend([Compute(length * 10 * MS), Send(0, 1, 8), Receive(0, 2)]);
        }
    }
    acts.iter_mut().for_each(|acts| acts.push(Together("MPI_Barrier")));
    let report = scripts::report_with_lines(acts, |row| match (row.op.name(), row.rank.0) {
        ("MPI_Barrier", _) => 1,
        (name, 0) => 2 + u32::from(name == "MPI_Send"),
        (name, _) => 4 + u32::from(name == "MPI_Send"),
    });
    // The last task ends 40 ms behind all others, and could have been divided among four.
    let finding = first(&report);
    assert_eq!(finding.diagnosis, Diagnosis::TaskFarmTail { workers: 4 }, "{finding:?}");
    let gain = finding.expected().expect("it was replayed");
    assert!((gain.ns - 30 * MS).abs() < MS / 10, "{gain:?}");
    assert_eq!(report.findings.len(), 1);
}

#[test]
fn nothing_is_said_of_a_healthy_run() {
    let report = stepped(8, |step, _| MS + step as i64 % 3 * 1_000, allreduce).report();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}
