//! A run told by kinds of rank is shown as the same run is with all its rows.

use kizami_model::{Call, Moment, Op, Peer, Rank};
use kizami_rank_classes::{RankClasses, all_ranks};
use kizami_testing::Act::{Compute, Receive, Send, Together};
use kizami_testing::{Act, Costs, Script};
use kizami_trace::write::About;
use kizami_trace::{Definitions, TraceWriter};
use kizami_view::layer::Opened;
use kizami_view::query::flow::Stage;
use kizami_view::query::matrix::By;
use kizami_view::query::order::Order;
use kizami_view::query::timeline::{from_cells, timeline};
use kizami_view::query::{
    Selection, calls, collectives, flow, histogram, matrix, messages, parallelism, path, tree,
};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const SIDE: u32 = 16;
const RANKS: u32 = SIDE * SIDE;
const ROUNDS: i64 = 6;

/// In every row of a grid each rank hands on to the next one, which waits for it; then all meet. At last all send to rank 0.
fn acts(rank: u32) -> Vec<Act> {
    let column = rank % SIDE;
    let mut acts = Vec::new();
    for round in 0..ROUNDS {
        acts.push(Compute(10_000 + 3_000 * ((i64::from(column) + round) % 5)));
        if column > 0 {
            acts.push(Receive(rank - 1, 1));
        }
        if column + 1 < SIDE {
            acts.push(Send(rank + 1, 1, 512 * (1 + u64::from(column))));
        }
        acts.push(Together("MPI_Allreduce"));
    }
    match rank {
        0 => acts.extend((1..RANKS).map(|other| Receive(other, 2))),
        _ => acts.push(Send(0, 2, 64)),
    }
    acts.push(Together("MPI_Barrier"));
    acts
}

/// What ranks of a kind have in common, as a text: peers are as many ranks further on, but for rank 0.
fn key(rank: u32, rows: &[Call]) -> String {
    let peer = |row: &Call| match row.peer {
        Peer::Rank(Rank(0)) => "0".to_owned(),
        Peer::Rank(peer) => format!("+{}", (peer.0 + RANKS - rank) % RANKS),
        other => format!("{other:?}"),
    };
    let of = rows.iter().filter(|row| row.rank.0 == rank);
    of.map(|row| format!("{} {} {:?} {:?};", row.op.0, peer(row), row.start, row.end)).collect()
}

fn write(path: &Path, definitions: Definitions, rows: &[Call], ranks: impl Fn(u32) -> bool) -> Arc<Opened> {
    let mut writer = TraceWriter::create(path, About::default(), definitions).unwrap();
    rows.iter().filter(|row| ranks(row.rank.0)).for_each(|row| writer.call(row).unwrap());
    writer.finish(|_| {}).unwrap();
    Opened::open(path).unwrap()
}

struct Both {
    _folder: TempDir,
    whole: Arc<Opened>,
    by_class: Arc<Opened>,
}

/// The same run twice: with all rows, and with those of one rank of each kind.
fn both() -> Both {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = Script { acts: (0..RANKS).map(acts).collect(), costs: Costs::default() }.run();
    rows.sort_by_key(|row| row.rank);
    let mut definitions = kizami_testing::definitions(&[(0..RANKS).collect()]);
    definitions.ranks = all_ranks(RANKS);
    let keys: Vec<String> = (0..RANKS).map(|rank| key(rank, &rows)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let rank_classes = RankClasses::from_keys(&keys, &definitions);
    assert!(rank_classes.count() < 2 * SIDE as usize, "{} kinds", rank_classes.count());
    let whole = write(&folder.path().join("whole.kz"), definitions.clone(), &rows, |_| true);
    definitions.rank_classes = rank_classes.table();
    let has_rows = |rank: u32| rank_classes.like(Rank(rank)) == Rank(rank);
    let by_class = write(&folder.path().join("told.kz"), definitions, &rows, has_rows);
    Both { _folder: folder, whole, by_class }
}

/// Some parts of a run: all of it, a moment, and some ranks for a while.
fn selections(all: &Selection) -> Vec<Selection> {
    let (from, to) = (all.from, all.to);
    let at = |part: i64| Moment(from.0 + (to.0 - from.0) * part / 10);
    vec![
        all.clone(),
        Selection { from: at(2), to: at(4), ..all.clone() },
        Selection { from: at(1), to: at(9), ranks: vec![0, 1, 17, 40, 41, 42, 255], ..all.clone() },
        Selection { from: at(9), ranks: (0..20).collect(), ..all.clone() },
    ]
}

#[test]
fn times_are_those_of_all_rows() {
    let Both { _folder, whole, by_class } = both();
    let (index, few) = (whole.index_now().unwrap(), by_class.index_now().unwrap());
    assert_eq!((few.ranks(), few.begin_ns(), few.end_ns()), (RANKS, index.begin_ns(), index.end_ns()));
    assert!(few.rows() * 4 < index.rows());
    let all = Selection::all(&index);
    assert_eq!(Selection::all(&few), all);
    for of in selections(&all) {
        for rows in [of.ranks.len(), 5] {
            let drawn = [&index, &few].map(|index| timeline(index, &of.ranks, of.from.0, of.to.0, 70, rows));
            assert_eq!(drawn[0], drawn[1]);
            // Cells are as fine as there are ranks with rows.
            let coarse = from_cells(&few, &of.ranks, of.from.0, of.to.0, 70, rows);
            assert_eq!(coarse.first_ranks, drawn[0].first_ranks);
        }
        let found = [&index, &few].map(|index| calls::calls(index, &of, 2_000).map_err(|many| many.count));
        assert_eq!(found[0], found[1]);
        for op in [None, Op::by_name("MPI_Recv")] {
            let made = [&index, &few].map(|index| histogram::histogram(index, &of, op));
            assert_eq!(made[0], made[1]);
        }
        let nodes = [(&index, &whole), (&few, &by_class)]
            .map(|(index, opened)| tree::tree(index, &opened.definitions, &[], &of));
        assert_eq!(nodes[0], nodes[1]);
        let work = [&index, &few].map(|index| parallelism::parallelism(index, &of, 90));
        for (one, other) in work[0].iter().zip(&work[1]) {
            assert!((one - other).abs() < 1e-3, "{one} {other}");
        }
    }
    assert_eq!(Order::Wait.of(&index, &all), Order::Wait.of(&few, &all));
    assert!(by_class.ideal_now().unwrap_err().contains("kizami replay --network ideal -o"));
}

#[test]
fn messages_and_collectives_are_those_of_all_rows() {
    let Both { _folder, whole, by_class } = both();
    let index = whole.index_now().unwrap();
    let insights = [&whole, &by_class].map(|opened| opened.insight_now().unwrap());
    for of in selections(&Selection::all(&index)) {
        let found = insights.each_ref().map(|insight| messages::messages(insight, &of, 10_000));
        assert_eq!(found[0].as_ref().ok(), found[1].as_ref().ok());
        assert!(found[0].as_ref().is_ok_and(|messages| !messages.is_empty()));
        let many = insights.each_ref().map(|insight| messages::messages(insight, &of, 3).unwrap_err().count);
        assert_eq!(many[0], many[1]);
        let made = insights
            .each_ref()
            .map(|insight| matrix::matrix(insight, &whole.definitions, RANKS, &of, By::Rank));
        assert_eq!(made[0], made[1]);
        let met = insights.each_ref().map(|insight| collectives::collectives(insight, &of, 20_000));
        assert_eq!(met[0], met[1]);
        assert!(!met[0].0.is_empty());
    }
}

/// Who of several that came at once is named may differ; in which column it is does not.
#[test]
fn causes_are_those_of_all_rows() {
    let Both { _folder, whole, by_class } = both();
    let index = whole.index_now().unwrap();
    let insights = [&whole, &by_class].map(|opened| opened.insight_now().unwrap());
    let (from, to) = (Moment(i64::MIN), Moment(i64::MAX));
    let paths = insights.each_ref().map(|insight| {
        let (segments, more) = path::path(insight, from, to, 10_000);
        assert!(!more && segments.len() > 50);
        let segment = |one: path::Segment| (one.rank % SIDE, one.start_ns, one.end_ns, one.what);
        segments.into_iter().map(segment).collect::<Vec<_>>()
    });
    assert_eq!(paths[0], paths[1]);
    let short = |stages: &[Stage]| {
        let stage = |one: &Stage| {
            (one.rank, one.start_ns, one.end_ns, one.name.clone(), one.wait_ns, one.why.clone())
        };
        stages.iter().map(stage).collect::<Vec<_>>()
    };
    for rank in [1, 5, 18, 100, 255] {
        let mut starts = Vec::new();
        index.each(rank, i64::MIN, i64::MAX, |row| {
            let name = index.kinds()[row.kind as usize].op().name();
            if name == "MPI_Recv" || name == "MPI_Send" {
                starts.push(row.start_ns);
            }
        });
        for start in starts.into_iter().map(Moment) {
            let [one, other] = insights.each_ref().map(|insight| flow::flow(insight, rank, start).unwrap());
            assert_eq!(one.event, other.event);
            assert_eq!(short(&one.waiters), short(&other.waiters));
            // Up to where somebody waits in a collective for one of several.
            let until = |stages: &[Stage]| {
                stages
                    .iter()
                    .position(|stage| stage.name != "MPI_Recv" && stage.name != "MPI_Send")
                    .unwrap_or(stages.len())
            };
            let (chain, same) = (short(&one.chain), short(&other.chain));
            assert_eq!(chain[..until(&one.chain)], same[..until(&other.chain)]);
        }
    }
}
