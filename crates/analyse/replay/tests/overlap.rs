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
    // The receive itself takes 2,000 ns from the moment its message is sent; who does not wait has that to do.
    assert_eq!(received(400_000), [702_000, 402_000].map(|at| (at, at + call_ns)));
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
    assert_eq!(both[2][2][1].0, 2_000 + 2_000 + 500_000);
    // A call elsewhere waits for what was overlapped.
    let one = times(acts(Receive(1, 5)), &[0]);
    assert_eq!(one[2][1][1], (102_000, 302_000));
    assert_eq!(one[2][2][1].0, 302_000 + 500_000);
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
