//! What could be done about runs whose times are exactly known gains exactly what it gains.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_explain::{Idea, WhatIf};
use kizami_testing::Act::{self, *};
use scripts::{Looped, Places};

const ITERATIONS: usize = 10;
const LARGE: u64 = 1 << 20;

fn looped(bodies: Vec<Vec<Act>>) -> Looped {
    Looped { bodies, iterations: ITERATIONS, places: Places::OfEachRank }
}

/// The idea with this option.
fn idea(ideas: &[WhatIf], option: &str) -> Option<WhatIf> {
    ideas
        .iter()
        .find(|idea| idea.option.as_ref().is_some_and(|changes| changes.to_string() == option))
        .cloned()
}

/// Rank 0 waits until rank 1 is ready, and works on its own only then.
fn late_receiver(send: Act) -> Looped {
    looped(vec![
        vec![Compute(1_000), send, Compute(200_000), Together("MPI_Barrier")],
        vec![Compute(1_000), Compute(300_000), Receive(0, 5), Together("MPI_Barrier")],
    ])
}

#[test]
fn a_larger_eager_limit_gains_what_sends_that_do_not_wait_gain() {
    let waiting = late_receiver(UnbufferedSend(1, 5, LARGE - 7));
    let buffered = late_receiver(Send(1, 5, LARGE - 7));
    let idea = idea(&waiting.what_if(), "--eager-limit 1M").expect("sends wait");
    let (waiting_ns, buffered_ns) = (waiting.report().run_ns, buffered.report().run_ns);
    // The work of rank 0 is hidden behind that of rank 1, and the way of the message with it.
    assert_eq!(waiting_ns - buffered_ns, ITERATIONS as i64 * (200_000 + 2_000 - 500));
    assert_eq!(idea.gain.ns, waiting_ns - buffered_ns, "{idea:?}");
}

#[test]
fn buffering_is_not_advised_where_it_cannot_help() {
    for send in [SyncSend(1, 5, LARGE), Send(1, 5, LARGE), Send(1, 5, 8)] {
        let ideas = late_receiver(send.clone()).what_if();
        assert!(ideas.iter().all(|idea| !matches!(idea.what, Idea::EagerLimit(_))), "{send:?}: {ideas:?}");
    }
}

/// Rank 1 waits for a message and then works on its own: for less time than it waited, and for more.
#[test]
fn an_overlapped_wait_gains_the_shorter_of_the_wait_and_the_computation() {
    // The way of the message, 2,000 ns, is hidden with the wait.
    for (late_ns, computes_ns, hidden_ns) in [(300_000, 200_000, 200_000), (300_000, 400_000, 302_000)] {
        let run = looped(vec![
            vec![Compute(late_ns), Send(1, 5, 8), Together("MPI_Barrier")],
            vec![Receive(0, 5), Compute(computes_ns), Together("MPI_Barrier")],
        ]);
        let ideas = run.what_if();
        let idea = idea(&ideas, "--overlap rank1.c:1").expect("rank 1 waits");
        assert_eq!(idea.gain.ns, ITERATIONS as i64 * hidden_ns, "{idea:?}");
        assert!(idea.at_most && ideas.iter().any(|idea| !idea.at_most));
    }
}
