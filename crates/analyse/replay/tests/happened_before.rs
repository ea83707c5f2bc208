//! No setting makes an effect come before its cause, and the number of threads of a walk never shows.
//!
//! Checked on random valid programs under random settings, by the ties of the graph: those are checked elsewhere.

mod common;

use common::{Walked, graph, walk};
use kizami_graph::{Graph, Step, StepKind, Tie, TieKind};
use kizami_network::LogGops;
use kizami_replay::{Factor, Network, Pieces, PlaceFactor, Setting};
use kizami_testing::{Jumble, Jumbled};
use proptest::prelude::*;
use rustc_hash::FxHashSet;
use std::collections::HashMap;

/// Lanes of each walk: as recorded, ideal, and four at random.
const LANES: usize = 6;

fn jumble() -> impl Strategy<Value = Jumble> {
    (1u32..7, 1u32..4, 0u32..100, any::<bool>(), any::<u64>())
        .prop_map(|(ranks, threads, acts, roomy, seed)| Jumble { ranks, threads, acts, roomy, seed })
}

fn network() -> impl Strategy<Value = Network> {
    let model = (0..50_000u32, 0..5_000u32, 0..5_000u32, 0..4u32, 0..2u32, 0..20u32).prop_map(
        |(latency, overhead, gap, per_byte, overhead_per_byte, eager_bits)| {
            Network::Model(LogGops {
                latency_ns: f64::from(latency),
                overhead_ns: f64::from(overhead),
                gap_ns: f64::from(gap),
                per_byte_ns: f64::from(per_byte) * 0.3,
                overhead_per_byte_ns: f64::from(overhead_per_byte) * 0.1,
                eager_limit_bytes: 1 << eager_bits,
            })
        },
    );
    let changed =
        (0.0..5.0, 0.1..5.0).prop_map(|(latency, bandwidth)| Network::Changed { latency, bandwidth });
    prop_oneof![Just(Network::AsRecorded), Just(Network::Ideal), changed, model.clone(), model]
}

fn setting() -> impl Strategy<Value = Setting> {
    let factor = prop_oneof![Just(0.0), Just(1.0), 0.0..3.0].prop_map(Factor);
    let place = prop_oneof![
        factor.clone().prop_map(PlaceFactor::All),
        prop::collection::vec(factor.clone(), 0..5).prop_map(PlaceFactor::ByRank),
    ];
    let places = prop::collection::hash_map(0u32..8, place, 0..3);
    let pieces = prop_oneof![Just(Pieces::Endless), (0u32..5).prop_map(Pieces::Of)];
    let overlapped = prop::collection::hash_map(0u32..8, pieces, 0..3);
    let sites = || prop::collection::hash_set(0u32..8, 0..2);
    let eager_limit = prop::option::of((0..24u32).prop_map(|bits| 1 << bits));
    let sites = (sites(), sites(), sites());
    (factor, places, network(), eager_limit, overlapped, any::<bool>(), sites).prop_map(
        |(cpu, places, network, eager_limit_bytes, overlapped, without_tracer, sites)| Setting {
            cpu,
            places: places.into_iter().collect(),
            network,
            eager_limit_bytes,
            overlapped: overlapped.into_iter().collect(),
            left_out: sites.0.into_iter().collect(),
            posted_early: sites.1.into_iter().collect(),
            ideal_at: sites.2.into_iter().collect(),
            steps: None,
            without_tracer,
            own_cores: false,
        },
    )
}

fn settings() -> impl Strategy<Value = [Setting; LANES]> {
    prop::array::uniform4(setting()).prop_map(|[a, b, c, d]| {
        let ideal = Setting { network: Network::Ideal, ..Setting::default() };
        [Setting::default(), ideal, a, b, c, d]
    })
}

/// The steps that announce something, by key.
fn announced(graph: &Graph, kind: fn(TieKind) -> bool) -> HashMap<u64, Vec<(usize, TieKind)>> {
    let mut announced: HashMap<u64, Vec<(usize, TieKind)>> = HashMap::new();
    for (index, step) in graph.steps.iter().enumerate().filter(|(_, step)| step.kind() != StepKind::Polling) {
        for tie in graph.ties_of(step).iter().filter(|tie| kind(tie.kind())) {
            announced.entry(tie.key).or_default().push((index, tie.kind()));
        }
    }
    announced
}

/// Everything the order of events requires, in one lane.
struct Order<'a> {
    graph: &'a Graph,
    program: &'a Jumbled,
    walked: &'a Walked<LANES>,
    roomy: bool,
    departures: HashMap<u64, Vec<(usize, TieKind)>>,
    postings: HashMap<u64, Vec<(usize, TieKind)>>,
    arrivals: HashMap<u64, Vec<(usize, TieKind)>>,
}

impl<'a> Order<'a> {
    fn new(graph: &'a Graph, program: &'a Jumbled, walked: &'a Walked<LANES>, roomy: bool) -> Order<'a> {
        let departures = announced(graph, |kind| kind == TieKind::Departs);
        let postings = announced(graph, |kind| kind == TieKind::Posts);
        let arrivals = announced(graph, |kind| kind.announces() && kind.is_collective());
        Order { graph, program, walked, roomy, departures, postings, arrivals }
    }

    /// In a thread calls follow each other.
    fn strands(&self, lane: usize) {
        let times = &self.walked.times;
        for strand in &self.graph.strands {
            let (mut index, mut now_ns) = (strand.first_step as usize, i64::MIN);
            loop {
                let (step, row) = (&self.graph.steps[index], &self.program.rows[index]);
                let (start_ns, end_ns) = (times[index].start_ns[lane], times[index].end_ns[lane]);
                assert!(start_ns <= end_ns, "lane {lane}: {start_ns}..{end_ns} {row:?}");
                if step.kind() != StepKind::Part {
                    assert!(start_ns >= now_ns, "lane {lane}: {start_ns} after {now_ns} {row:?}");
                    now_ns = end_ns;
                }
                if step.next == 0 {
                    break;
                }
                index += step.next as usize;
            }
        }
    }

    /// No rank goes on before those it waits for have done their part.
    fn ties(&self, lane: usize, setting: &Setting) {
        let steps = self.graph.steps.iter().enumerate();
        let has = |sites: &FxHashSet<u32>, step: &Step| step.site().is_some_and(|site| sites.contains(&site));
        // A call that is left out does not wait.
        let stays = |step: &Step| step.kind() != StepKind::Polling && !has(&setting.left_out, step);
        for (index, step) in steps.filter(|(_, step)| stays(step)) {
            let early = has(&setting.posted_early, step);
            for tie in self.graph.ties_of(step).iter().filter(|tie| !tie.kind().announces()) {
                let end_ns = self.walked.times[index].end_ns[lane];
                if early && tie.kind() == TieKind::AwaitsPost {
                    continue;
                }
                for other in self.awaited(index, *tie, setting) {
                    let other_ns = self.walked.times[other].start_ns[lane];
                    let rows = (&self.program.rows[index], &self.program.rows[other]);
                    assert!(end_ns >= other_ns, "lane {lane}: {tie:?} ends {end_ns} < {other_ns} {rows:#?}");
                }
            }
        }
    }

    /// The steps that must have begun.
    fn awaited(&self, index: usize, tie: Tie, setting: &Setting) -> Vec<usize> {
        let all = |announced: &HashMap<u64, Vec<(usize, TieKind)>>| -> Vec<usize> {
            announced.get(&tie.key).into_iter().flatten().map(|(step, _)| *step).collect()
        };
        let place = |step: usize| {
            let rank = self.program.rows[step].rank.0;
            self.program.comms[tie.place() as usize].iter().position(|member| *member == rank)
        };
        match tie.kind() {
            TieKind::Awaits | TieKind::Looks => all(&self.departures),
            // Within tolerance the waiting side is unknown; small messages never wait.
            TieKind::AwaitsPost if self.roomy => Vec::new(),
            TieKind::AwaitsPost => match (&setting.network, setting.eager_limit_bytes) {
                (Network::Model(model), _) if tie.bytes() <= model.eager_limit_bytes => Vec::new(),
                (Network::Model(_), _) => all(&self.postings),
                (_, Some(limit_bytes)) if tie.bytes() <= limit_bytes => Vec::new(),
                // Others of its size wait, but for this receive, posted a moment after the send was over, none did.
                _ => {
                    let over = self.program.rows[index].end;
                    all(&self.postings)
                        .into_iter()
                        .filter(|step| self.program.rows[*step].start < over)
                        .collect()
                }
            },
            // Synchronous sends always wait.
            TieKind::AwaitsReady => all(&self.postings),
            TieKind::AwaitsAll => all(&self.arrivals),
            TieKind::AwaitsRoot => {
                let arrivals = self.arrivals[&tie.key].iter();
                let root = |kind: &TieKind| matches!(kind, TieKind::EntersAsRoot | TieKind::PassesAsRoot);
                arrivals.filter(|(_, kind)| root(kind)).map(|(step, _)| *step).collect()
            }
            TieKind::AwaitsLower => {
                all(&self.arrivals).into_iter().filter(|step| place(*step) <= place(index)).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn references(settings: &[Setting; LANES]) -> [&Setting; LANES] {
    settings.each_ref()
}

proptest! {
    #[test]
    fn no_effect_comes_before_its_cause(jumble in jumble(), settings in settings()) {
        let program = jumble.run();
        let graph = graph(&program.comms, &program.rows);
        let walked = walk(&graph, references(&settings), 1);
        prop_assert_eq!(walked.unmatched, 0);
        let order = Order::new(&graph, &program, &walked, jumble.roomy);
        for (lane, setting) in settings.iter().enumerate() {
            order.strands(lane);
            order.ties(lane, setting);
        }
    }

    #[test]
    fn the_number_of_threads_never_shows(jumble in jumble(), settings in settings()) {
        let program = jumble.run();
        let graph = graph(&program.comms, &program.rows);
        let one = walk(&graph, references(&settings), 1);
        for threads in 2..4 {
            prop_assert_eq!(&walk(&graph, references(&settings), threads), &one, "{} threads", threads);
        }
    }

    #[test]
    fn nothing_changed_gives_what_was_recorded_and_an_ideal_network_is_not_slower(jumble in jumble()) {
        let program = jumble.run();
        let graph = graph(&program.comms, &program.rows);
        let ideal = Setting { network: Network::Ideal, ..Setting::default() };
        let walked = walk(&graph, [&Setting::default(), &ideal], 1);
        for (times, row) in walked.times.iter().zip(&program.rows) {
            prop_assert_eq!((times.start_ns[0], times.end_ns[0]), (row.start.0, row.end.0), "{:?}", row);
            prop_assert!(times.start_ns[1] <= row.start.0 && times.end_ns[1] <= row.end.0, "{:?} {:?}", times, row);
        }
    }

    #[test]
    fn computation_alone_takes_what_the_factors_say(jumble in jumble(), factor in 0u32..5) {
        // Only calls that do not wait, and nothing behind what is left out.
        let program = jumble.run();
        let mut rows = program.rows;
        rows.retain(|row| matches!(row.op.name(), "MPI_Comm_rank" | "MPI_Cancel"));
        let graph = graph(&program.comms, &rows);
        let setting = Setting { cpu: Factor(f64::from(factor)), ..Setting::default() };
        let walked = walk(&graph, [&setting], 1);
        for strand in &graph.strands {
            let (mut index, mut now_ns, mut recorded_ns) = (strand.first_step as usize, 0, 0);
            loop {
                let (times, row) = (walked.times[index], &rows[index]);
                now_ns += i64::from(factor) * (row.start.0 - recorded_ns);
                prop_assert_eq!(times.start_ns[0], now_ns);
                (now_ns, recorded_ns) = (now_ns + row.end.0 - row.start.0, row.end.0);
                match graph.steps[index].next {
                    0 => break,
                    on => index += on as usize,
                }
            }
        }
    }

    #[test]
    fn what_is_missing_is_counted_and_hangs_nothing(
        jumble in jumble(),
        settings in settings(),
        lost in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
        gone in prop::option::of(0u32..6),
    ) {
        let program = jumble.run();
        let mut rows = program.rows;
        for index in lost {
            if !rows.is_empty() {
                rows.remove(index.index(rows.len()));
            }
        }
        rows.retain(|row| Some(row.rank.0) != gone);
        let graph = graph(&program.comms, &rows);
        let one = walk(&graph, references(&settings), 1);
        for (times, row) in one.times.iter().zip(&rows) {
            prop_assert_eq!((times.start_ns[0], times.end_ns[0]), (row.start.0, row.end.0), "{:?}", row);
        }
        // All ranks wait for all ranks in the last call.
        let ended = rows.iter().filter(|row| row.op.name() == "MPI_Finalize").count();
        if ended > 0 && ended < jumble.ranks as usize {
            prop_assert!(one.unmatched > 0);
        }
        for threads in 2..4 {
            prop_assert_eq!(&walk(&graph, references(&settings), threads), &one, "{} threads", threads);
        }
    }
}
