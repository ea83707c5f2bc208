//! With nothing changed, every time comes out exactly as recorded, on one thread and on several.

use kizami_graph::{Builder, Graph};
use kizami_model::{Call, CommKind, Rank};
use kizami_replay::{Network, Observer, Seen, Setting, learn, replay};
use kizami_sample::{Act, Costs, Script, Stencil};
use kizami_store::{Communicator, Definitions};

/// Definitions with a world of so many ranks.
fn world(ranks: u32) -> Definitions {
    let world = Communicator {
        index: 0,
        identity: 1,
        parent: None,
        kind: CommKind::World,
        name: None,
        size: ranks,
        members: (0..ranks).map(|rank| Some(Rank(rank))).collect(),
        remote_members: Vec::new(),
        dims: Vec::new(),
        periodic: Vec::new(),
    };
    Definitions { communicators: vec![world], ..Definitions::default() }
}

fn graph(ranks: u32, calls: impl IntoIterator<Item = Call>) -> Graph {
    let definitions = world(ranks);
    let mut builder = Builder::new(&definitions, &[], &std::env::temp_dir());
    calls.into_iter().for_each(|call| builder.call(&call).unwrap());
    builder.finish()
}

/// Times of all steps in all lanes.
#[derive(Default)]
struct Times<const LANES: usize>(Vec<(u64, [i64; LANES], [i64; LANES])>);

impl<const LANES: usize> Observer<LANES> for Times<LANES> {
    fn step(&mut self, seen: &Seen<'_, LANES>) {
        self.0.push((seen.index, seen.start_ns, seen.end_ns));
    }
}

fn times<const LANES: usize>(
    graph: &Graph,
    settings: [&Setting; LANES],
    threads: usize,
) -> Vec<(u64, [i64; LANES], [i64; LANES])> {
    let learned = learn(graph, threads, || (), &|_| {});
    assert_eq!(learned.unmatched, 0);
    let replayed = replay(graph, settings, &learned.learned, threads, Times::default, &|_| {});
    assert_eq!(replayed.unmatched, 0);
    let mut all: Vec<_> = replayed.observers.into_iter().flat_map(|times| times.0).collect();
    all.sort_unstable_by_key(|(index, ..)| *index);
    assert_eq!(all.len(), graph.steps.len());
    all
}

fn check(ranks: u32, calls: Vec<Call>) {
    let graph = graph(ranks, calls.clone());
    let recorded = Setting::default();
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let one = times(&graph, [&recorded, &ideal], 1);
    for ((_, start, end), call) in one.iter().zip(&calls) {
        assert_eq!((start[0], end[0]), (call.start.0, call.end.0), "{call:?}");
        assert!(end[1] <= end[0], "an ideal network is not slower: {call:?}");
    }
    for threads in 2..4 {
        assert_eq!(times(&graph, [&recorded, &ideal], threads), one, "{threads} threads");
    }
}

#[test]
fn a_stencil_comes_out_as_it_was() {
    for ranks in [1, 2, 7, 64] {
        let stencil = Stencil::new(ranks, 30, Costs::default());
        check(ranks, (0..ranks).flat_map(|rank| stencil.rank(rank)).collect());
    }
}

#[test]
fn a_script_with_every_kind_of_wait_comes_out_as_it_was() {
    use Act::*;
    let acts = vec![
        vec![
            Compute(5_000),
            Send(1, 3, 8),
            StartReceive(2, 1),
            Compute(100),
            Wait(vec![2]),
            Together("MPI_Barrier"),
            Rooted("MPI_Bcast", 0),
            Compute(7_000),
            Rooted("MPI_Reduce", 0),
            Scan,
            SyncSend(2, 9, 1 << 20),
        ],
        vec![
            Receive(0, 3),
            Together("MPI_Barrier"),
            Rooted("MPI_Bcast", 0),
            Compute(50_000),
            Rooted("MPI_Reduce", 0),
            Scan,
        ],
        vec![
            Compute(90_000),
            StartSend(0, 1, 100_000),
            Wait(vec![1]),
            Together("MPI_Barrier"),
            Compute(3),
            Rooted("MPI_Bcast", 0),
            Rooted("MPI_Reduce", 0),
            Compute(30_000),
            Scan,
            Compute(400_000),
            Receive(0, 9),
        ],
    ];
    check(3, Script { acts, costs: Costs::default() }.run());
}
