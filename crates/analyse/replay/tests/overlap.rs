//! What hiding waits behind computation does, on runs whose times are known.

mod common;

use common::{graph, walk};
use kizami_replay::{Pieces, Setting};
use kizami_testing::Act::{self, *};
use kizami_testing::{Costs, Script};

/// When calls begin and end as recorded, and with the waits of these call sites overlapped; by rank.
fn times(acts: Vec<Vec<Act>>, sites: &[u32]) -> Vec<Vec<[(i64, i64); 2]>> {
    times_in(Pieces::Endless, acts, sites)
}

fn times_in(pieces: Pieces, acts: Vec<Vec<Act>>, sites: &[u32]) -> Vec<Vec<[(i64, i64); 2]>> {
    let ranks = acts.len() as u32;
    let rows = Script { acts, costs: Costs::default() }.run();
    let setting =
        Setting { overlapped: sites.iter().map(|site| (*site, pieces)).collect(), ..Setting::default() };
    let walked = walk(&graph(&[(0..ranks).collect()], &rows), [&Setting::default(), &setting], 1);
    let mut by_rank = vec![Vec::new(); ranks as usize];
    for (row, step) in rows.iter().zip(&walked.times) {
        by_rank[row.rank.0 as usize].push([0, 1].map(|lane| (step.start_ns[lane], step.end_ns[lane])));
    }
    by_rank
}

/// A message of rank 0 that comes late, and what rank 1 computes when it is there.
fn received(computes_ns: i64) -> [(i64, i64); 2] {
    let acts = vec![
        vec![Compute(300_000), Send(1, 5, 8)],
        vec![Receive(0, 5), Compute(computes_ns), Send(2, 5, 8)],
        vec![],
    ];
    let times = times(acts, &[0]);
    assert_eq!(times[1][0], [(0, 302_000); 2], "the receive itself is as it was");
    times[1][1]
}

#[test]
fn computation_is_hidden_behind_the_wait() {
    let call_ns = Costs::default().call_ns;
    assert_eq!(received(200_000), [502_000, 302_000].map(|at| (at, at + call_ns)));
    // Nor is the message waited for on its way: as far as is known, that is all that the receive itself takes.
    assert_eq!(received(400_000), [702_000, 400_000].map(|at| (at, at + call_ns)));
}

#[test]
fn waits_in_a_row_are_hidden_together() {
    let acts = |second: Act| {
        vec![
            vec![Compute(100_000), Send(2, 5, 8)],
            vec![Compute(300_000), Send(2, 5, 8)],
            vec![Receive(0, 5), second, Compute(500_000), Send(0, 5, 8)],
        ]
    };
    let both = times(acts(Receive(1, 5)), &[0, 1]);
    assert_eq!(both[2][2][0].0, 302_000 + 500_000);
    assert_eq!(both[2][2][1].0, 500_000);
    // A call elsewhere waits for what was overlapped.
    let one = times(acts(Receive(1, 5)), &[0]);
    assert_eq!(one[2][1][1], (102_000, 302_000));
    assert_eq!(one[2][2][1].0, 302_000 + 500_000);
}

/// Nobody is late, but messages are on their way while several requests are awaited.
#[test]
fn messages_on_their_way_are_hidden_or_ideal() {
    let rank = |rank: u32| {
        let (left, right) = ((rank + 2) % 3, (rank + 1) % 3);
        // One message is waited for, and shows how long they are on their way.
        let first = [Receive(0, 9), Compute(0), Compute(0)];
        let sends = [Compute(40_000), Send(1, 9, 8), Send(2, 9, 8)];
        let begun =
            [StartReceive(left, 1), StartReceive(right, 2), StartSend(right, 1, 8), StartSend(left, 2, 8)];
        let mut acts = Vec::from(if rank == 0 { sends } else { first });
        acts.push(Together("MPI_Barrier"));
        let number = acts.len();
        acts.extend(begun);
        acts.extend([Wait((number..number + 4).collect()), Compute(900_000), Together("MPI_Barrier")]);
        acts
    };
    let acts: Vec<Vec<Act>> = (0..3).map(rank).collect();
    let rows = Script { acts, costs: Costs { message_ns: 500_000, ..Costs::default() } }.run();
    let site = rows.iter().find(|row| row.op.name() == "MPI_Waitall").unwrap().callsite.unwrap();
    let hidden =
        Setting { overlapped: [(site, Pieces::Endless)].into_iter().collect(), ..Setting::default() };
    let ideal = Setting { ideal_at: [site].into_iter().collect(), ..Setting::default() };
    let walked = walk(&graph(&[(0..3).collect()], &rows), [&Setting::default(), &hidden, &ideal], 1);
    for (row, step) in rows.iter().zip(&walked.times).filter(|(row, _)| row.op.name() == "MPI_Waitall") {
        let length = |lane: usize| step.end_ns[lane] - step.start_ns[lane];
        assert!(length(0) > 490_000 && length(2) < 2_000, "{row:?} {step:?}");
    }
    let last: Vec<_> =
        rows.iter().zip(&walked.times).filter(|(row, _)| row.op.name() == "MPI_Barrier").collect();
    let (_, last) = last.last().unwrap();
    assert!(last.start_ns[0] - last.start_ns[1] > 490_000, "{last:?}");
    assert!(last.start_ns[0] - last.start_ns[2] > 490_000, "{last:?}");
}

#[test]
fn collectives_are_gone_through_in_the_background() {
    let rank = |ns| vec![Compute(ns), Together("MPI_Allreduce"), Compute(50_000), Together("MPI_Barrier")];
    let times = times(vec![rank(100_000), rank(300_000)], &[1]);
    assert_eq!(times[0][1].map(|(start_ns, _)| start_ns), [355_000, 305_000]);
    assert_eq!(times[1][1].map(|(start_ns, _)| start_ns), [355_000, 350_000]);
}

#[test]
fn ranks_that_do_not_wait_gain_nothing() {
    let acts =
        vec![vec![Send(1, 5, 8)], vec![Compute(100_000), Receive(0, 5), Compute(200_000), Send(0, 5, 8)]];
    let times = times(acts, &[1]);
    assert!(times.iter().flatten().all(|[recorded, overlapped]| recorded == overlapped), "{times:?}");
}

/// What is worked on in pieces has its last piece left when the last of it comes.
#[test]
fn the_last_piece_is_worked_on_behind_the_wait() {
    let acts = || {
        vec![
            vec![Compute(300_000), Send(1, 5, 8)],
            vec![Receive(0, 5), Compute(200_000), Send(2, 5, 8)],
            vec![],
        ]
    };
    let start_ns = |pieces| times_in(pieces, acts(), &[0])[1][1][1].0;
    assert_eq!(start_ns(Pieces::Of(4)), 302_000 + 50_000);
    assert_eq!(start_ns(Pieces::Of(1)), 302_000 + 200_000);
    assert_eq!(start_ns(Pieces::Endless), 302_000);
}
