//! Ties pair what belongs together: as a matcher finds it that looks at everything at once and is obviously right.
//!
//! Random valid programs are matched twice: by the builder, which sees each rank alone, and here, where sends and
//! receives of each way are laid side by side, and so are the collectives of each communicator.

use kizami_graph::{Builder, Clocks, Graph, StepKind, TieKind};
use kizami_model::{Call, Peer, Rank};
use kizami_testing::{Jumble, Jumbled, definitions};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Messages above this many bytes surely wait for their receivers.
const LARGE: u64 = 64 << 10;

/// Communicator, sender, receiver, tag.
type Way = (u32, u32, u32, i32);

/// One side of a message: the row that begins it, and the row that waits until it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Half {
    way: Way,
    begins: usize,
    ends: Option<usize>,
    bytes: u64,
}

/// All about one message: rows that send, wait for the receiver, post, and take.
type Whole = (Way, usize, Option<usize>, usize, Option<usize>);

/// One member's part in a collective: communicator, root that gives, number, the row that comes and what it says, and the row that
/// waits and what for.
type Part = (u32, Option<u32>, u32, usize, &'static str, Option<(usize, &'static str)>);

/// The row that completes a request.
fn completed_by(rows: &[Call], rank: Rank, request: u64) -> Option<usize> {
    rows.iter().position(|row| row.rank == rank && row.completes.contains(&request))
}

/// The row in which what a row began is over.
fn over(rows: &[Call], begins: usize) -> Option<usize> {
    match rows[begins].request {
        Some(request) => completed_by(rows, rows[begins].rank, request),
        None => Some(begins),
    }
}

fn halves(rows: &[Call]) -> (Vec<Half>, Vec<Half>) {
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for (begins, row) in rows.iter().enumerate() {
        let own = row.rank.0;
        let starts = row.op.name() == "MPI_Start";
        let (mut out, mut inward) = (None, None);
        match row.op.name() {
            "MPI_Sendrecv" | "MPI_Isendrecv" => {
                (out, inward) = (Some((row.peer, row.tag)), Some((row.recv_peer, row.recv_tag)));
            }
            "MPI_Send" | "MPI_Bsend" | "MPI_Ssend" | "MPI_Isend" => out = Some((row.peer, row.tag)),
            "MPI_Recv" | "MPI_Irecv" => inward = Some((row.peer, row.tag)),
            _ if starts && row.bytes_out.is_some() => out = Some((row.peer, row.tag)),
            _ if starts => inward = Some((row.peer, row.tag)),
            _ => {}
        }
        let ends = over(rows, begins);
        if let (Some((Peer::Rank(to), Some(tag))), Some(comm)) = (out, row.comm) {
            sends.push(Half { way: (comm, own, to.0, tag), begins, ends, bytes: row.bytes_out.unwrap_or(0) });
        }
        if let (Some((Peer::Rank(from), Some(tag))), Some(comm)) = (inward, row.comm) {
            receives.push(Half {
                way: (comm, from.0, own, tag),
                begins,
                ends,
                bytes: row.bytes_in.unwrap_or(0),
            });
        }
    }
    (sends, receives)
}

/// The messages of a program: of each way the first send with the first receive, and so on.
fn messages(rows: &[Call]) -> BTreeSet<Whole> {
    let (sends, receives) = halves(rows);
    let ways: BTreeSet<Way> = sends.iter().map(|half| half.way).collect();
    let mut found = BTreeSet::new();
    for way in ways {
        let sent = sends.iter().filter(|half| half.way == way);
        let received = receives.iter().filter(|half| half.way == way);
        for (send, receive) in sent.zip(received) {
            assert_eq!(send.bytes, receive.bytes, "the program is valid");
            let name = rows[send.begins].op.name();
            let waits = name == "MPI_Ssend" || send.bytes > LARGE && name != "MPI_Bsend";
            // Times of one rank say who did not wait.
            let posted = &rows[receive.begins];
            let own = |over: usize| rows[over].rank == posted.rank && posted.start >= rows[over].end;
            let waits = send.ends.filter(|over| waits && (name == "MPI_Ssend" || !own(*over)));
            found.insert((way, send.begins, waits, receive.begins, receive.ends));
        }
    }
    found
}

/// What each probe saw: the row and the row that sent it.
fn probed(rows: &[Call]) -> BTreeSet<(usize, usize)> {
    let (sends, receives) = halves(rows);
    let probes = rows.iter().enumerate().filter(|(_, row)| row.op.name() == "MPI_Probe");
    probes
        .map(|(index, row)| {
            let Peer::Rank(from) = row.peer else { panic!("a probe found somebody: {row:?}") };
            let way = (row.comm.unwrap(), from.0, row.rank.0, row.tag.unwrap());
            let before = receives.iter().filter(|half| half.way == way && half.begins < index).count();
            (index, sends.iter().filter(|half| half.way == way).nth(before).unwrap().begins)
        })
        .collect()
}

/// The root of a collective in which it gives.
fn giver(row: &Call) -> Option<u32> {
    let name = row.op.name().to_lowercase();
    match row.root {
        Peer::Rank(root) if name.ends_with("bcast") || name.ends_with("scatter") => Some(root.0),
        _ => None,
    }
}

/// Collectives of a program: of each communicator the first of each member together, and so on.
fn collectives(rows: &[Call], comms: &[Vec<u32>]) -> BTreeSet<Part> {
    let mut parts = BTreeSet::new();
    for (comm, members) in (0u32..).zip(comms).filter(|(_, members)| members.len() > 1) {
        for member in members {
            let mut numbers: BTreeMap<Option<u32>, u32> = BTreeMap::new();
            for (begins, row) in rows.iter().enumerate().filter(|(_, row)| row.rank.0 == *member) {
                let name = row.op.name().to_lowercase();
                let name = name.trim_start_matches("mpi_").trim_start_matches('i');
                let root = row.root == Peer::Rank(row.rank);
                let (announces, awaits) = match name {
                    "barrier" | "allreduce" | "allgather" | "alltoall" | "reduce_scatter" => {
                        ("Enters", "All")
                    }
                    "finalize" => ("Enters", "All"),
                    "bcast" | "scatter" if root => ("PassesAsRoot", ""),
                    "bcast" | "scatter" => ("Enters", "Root"),
                    "reduce" | "gather" if root => ("EntersAsRoot", "All"),
                    "reduce" | "gather" => ("Passes", ""),
                    "scan" | "exscan" => ("Enters", "Lower"),
                    _ => continue,
                };
                let here = if name == "finalize" { comm == 0 } else { row.comm == Some(comm) };
                if here {
                    let number = numbers.entry(giver(row)).or_default();
                    *number += 1;
                    let waits = over(rows, begins).filter(|_| !awaits.is_empty()).map(|row| (row, awaits));
                    parts.insert((comm, giver(row), *number, begins, announces, waits));
                }
            }
        }
    }
    parts
}

fn graph(program: &Jumbled) -> Graph {
    let definitions = definitions(&program.comms);
    // Large messages wait whatever their times say.
    let mut builder = Builder::new(&definitions, &[]).with_clocks(Clocks::Unaligned);
    program.rows.iter().for_each(|row| builder.call(row));
    builder.finish()
}

/// Rows by kind of tie and key. Polls have the ties of the call behind them and are looked at apart.
fn tied(graph: &Graph) -> BTreeMap<(u8, u64), Vec<usize>> {
    let mut tied: BTreeMap<(u8, u64), Vec<usize>> = BTreeMap::new();
    for (index, step) in graph.steps.iter().enumerate().filter(|(_, step)| step.kind() != StepKind::Polling) {
        for tie in graph.ties_of(step).iter().filter(|tie| !tie.kind().is_of_its_call()) {
            tied.entry((tie.kind() as u8, tie.key)).or_default().push(index);
        }
    }
    tied
}

/// The one row with such a tie.
fn only(tied: &BTreeMap<(u8, u64), Vec<usize>>, kind: TieKind, key: u64) -> Option<usize> {
    let rows = tied.get(&(kind as u8, key))?;
    assert_eq!(rows.len(), 1, "{kind:?} {key:x}");
    Some(rows[0])
}

fn messages_of(graph: &Graph) -> BTreeSet<Whole> {
    let tied = tied(graph);
    let departs = tied.keys().filter(|(kind, _)| *kind == TieKind::Departs as u8);
    departs
        .map(|(_, key)| {
            let channel = graph.channels[(key >> 32) as usize];
            let way = (channel.comm, channel.from.0, channel.to.0, channel.tag);
            let taken = only(&tied, TieKind::Awaits, *key);
            let waits = only(&tied, TieKind::AwaitsPost, *key).or(only(&tied, TieKind::AwaitsReady, *key));
            let sent = only(&tied, TieKind::Departs, *key).unwrap();
            // Receives of small messages announce only to waiting senders; where they are posted is then not visible.
            let posted = only(&tied, TieKind::Posts, *key).or(taken).unwrap();
            (way, sent, waits, posted, taken)
        })
        .collect()
}

fn parts_of(graph: &Graph, rows: &[Call]) -> BTreeSet<Part> {
    let rank_of = |row: usize| rows[row].rank;
    let tied = tied(graph);
    let mut waits: BTreeMap<(u64, Rank), (usize, &'static str)> = BTreeMap::new();
    let mut parts = BTreeSet::new();
    for ((kind, key), steps) in &tied {
        let awaits = match () {
            _ if *kind == TieKind::AwaitsAll as u8 => "All",
            _ if *kind == TieKind::AwaitsRoot as u8 => "Root",
            _ if *kind == TieKind::AwaitsLower as u8 => "Lower",
            () => continue,
        };
        for row in steps {
            assert_eq!(waits.insert((*key, rank_of(*row)), (*row, awaits)), None, "one waits once");
        }
    }
    for ((kind, key), steps) in &tied {
        let announces = match () {
            _ if *kind == TieKind::Enters as u8 => "Enters",
            _ if *kind == TieKind::EntersAsRoot as u8 => "EntersAsRoot",
            _ if *kind == TieKind::Passes as u8 => "Passes",
            _ if *kind == TieKind::PassesAsRoot as u8 => "PassesAsRoot",
            () => continue,
        };
        for row in steps {
            let wait = waits.remove(&(*key, rank_of(*row)));
            let comm = graph.members.comm((key >> 32) as u32);
            parts.insert((comm, giver(&rows[*row]), *key as u32, *row, announces, wait));
        }
    }
    assert!(waits.is_empty(), "whoever waits has come: {waits:?}");
    parts
}

/// Failed polls wait for what the call behind them finds, with the same ties.
fn check_polls(graph: &Graph, rows: &[Call]) {
    for (step, row) in graph.steps.iter().zip(rows) {
        assert_eq!(step.kind() == StepKind::Part, row.calls == 0);
        if step.kind() == StepKind::Polling {
            let index = graph.steps.iter().position(|other| std::ptr::eq(other, step)).unwrap();
            let found = &graph.steps[index + step.next as usize];
            assert!(row.calls > 1 && step.next > 0 && step.ties > 0, "{row:?}");
            assert!(!rows[index + step.next as usize].completes.is_empty(), "{row:?}");
            let all = graph.ties_of(found).iter();
            let awaited: Vec<_> =
                all.filter(|tie| !tie.kind().announces() && !tie.kind().is_of_its_call()).copied().collect();
            let own: Vec<_> =
                graph.ties_of(step).iter().filter(|tie| !tie.kind().is_of_its_call()).copied().collect();
            assert_eq!(own, awaited);
        }
    }
}

/// A strand has the rows of its thread, all of them and in order.
fn check_strands(graph: &Graph, rows: &[Call]) {
    let mut walked = 0;
    for strand in &graph.strands {
        let own = |row: &Call| row.rank == strand.rank && row.thread.0 == strand.thread;
        let mut next = Some(strand.first_step as usize);
        for index in rows.iter().enumerate().filter(|(_, row)| own(row)).map(|(index, _)| index) {
            assert_eq!(next, Some(index));
            let on = graph.steps[index].next as usize;
            next = (on > 0).then_some(index + on);
            walked += 1;
        }
        assert_eq!(next, None);
    }
    assert_eq!(walked, rows.len());
}

fn jumble() -> impl Strategy<Value = Jumble> {
    (1u32..7, 1u32..4, 0u32..120, any::<bool>(), any::<u64>())
        .prop_map(|(ranks, threads, acts, roomy, seed)| Jumble { ranks, threads, acts, roomy, seed })
}

proptest! {
    #[test]
    fn ties_pair_what_a_matcher_pairs_that_sees_everything(jumble in jumble()) {
        let program = jumble.run();
        let graph = graph(&program);
        prop_assert_eq!(graph.steps.len(), program.rows.len());
        prop_assert_eq!(graph.not_followed, 0);
        let expected: BTreeSet<Whole> = messages(&program.rows)
            .into_iter()
            .map(|(way, sent, waits, posted, taken)| {
                // Receives announce nothing where no rank waits for that.
                (way, sent, waits, if waits.is_some() { posted } else { taken.unwrap() }, taken)
            })
            .collect();
        prop_assert_eq!(messages_of(&graph), expected);
        prop_assert_eq!(parts_of(&graph, &program.rows), collectives(&program.rows, &program.comms));
        let tied = tied(&graph);
        let looks = tied.iter().filter(|((kind, _), _)| *kind == TieKind::Looks as u8);
        let seen: BTreeSet<(usize, usize)> = looks
            .flat_map(|((_, key), rows)| {
                let sent = only(&tied, TieKind::Departs, *key).unwrap();
                rows.iter().map(move |row| (*row, sent))
            })
            .collect();
        prop_assert_eq!(seen, probed(&program.rows));
        check_polls(&graph, &program.rows);
        check_strands(&graph, &program.rows);
    }
}
