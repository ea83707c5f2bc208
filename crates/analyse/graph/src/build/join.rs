//! What several have read of some ranks each, put together: so that ranks can be read at the same time.
//!
//! Whoever counts messages or collectives counts for one rank alone, so all that differs is where things lie: indices of
//! steps and ties, and the numbers of channels and of places that roots give to. Those of the first come first, as if one
//! had read all; what comes out is the same to the last bit.
//!
//! What is short is joined one after the other. What grows with the rows, steps and ties, is moved and renumbered for all
//! shares at the same time.

use super::{Builder, Parts};
use crate::Graph;
use crate::collectives::Roots;
use crate::list::List;
use crate::protocol::Clocks;
use crate::shares::{Share, move_into, split};
use crate::step::{OffCore, Step, Tie};
use kizami_parallel::map;

impl<'a> Builder<'a> {
    /// The graph of what this one and others have read, each of ranks behind those of the one before. Also the places
    /// where the results of a root are distinguished.
    pub(crate) fn finish_with(mut self, others: Vec<Builder<'a>>) -> (Graph, Roots) {
        self.end_rank();
        let mut parts = self.parts;
        let mut read = vec![parts.take_long(None)];
        let mut steps = read[0].steps.len() as u64;
        for mut other in others {
            other.end_rank();
            read.push(parts.join(other.parts, steps));
            steps += read[read.len() - 1].steps.len() as u64;
        }
        let shares_read = read.len();
        let (mut steps, mut shares) = in_one_list(read);
        std::mem::take(&mut parts.called).unite(parts.definitions, &mut steps, shares_read);
        let protocols = match parts.definitions.rank_classes.is_empty() {
            false => super::later::let_large_wait_in_models(&mut steps, &mut shares),
            true => parts.decide_who_waits(&mut steps, &mut shares),
        };
        let ties = parts.all_ties(&mut steps, shares);
        let roots = parts.collectives.roots;
        let graph = Graph {
            clocks_unaligned: parts.clocks == Clocks::Unaligned,
            steps: List::Made(steps),
            ties: List::Made(ties),
            strands: parts.strands,
            channels: parts.channels.into_list(),
            members: parts.collectives.members,
            protocols,
            off_core: parts.off_core,
            not_followed: parts.not_followed,
            folding: parts.folding,
            unfolding: None,
            asks: parts.counting.asks,
        };
        (graph, roots)
    }
}

/// What one has read that grows with the rows.
struct Read {
    steps: Vec<Step>,
    ties: Vec<Tie>,
    waiting: Vec<u64>,
    /// None if they are called the same everywhere.
    renumbered: Option<Renumbered>,
}

/// What numbers of one are called by all.
struct Renumbered {
    channels: Vec<u32>,
    /// Of communicators, windows and roots.
    places: Vec<u32>,
}

impl Renumbered {
    fn tie(&self, tie: Tie) -> Tie {
        let numbers = if tie.kind().is_collective() { &self.places } else { &self.channels };
        match tie.names_a_place() {
            true => tie.at(numbers[tie.place() as usize]),
            false => tie,
        }
    }
}

impl Parts<'_> {
    /// Adds what is short of another, which has read ranks behind those of this one, whose steps lie behind so many; gives
    /// what is long.
    fn join(&mut self, mut other: Parts<'_>, steps: u64) -> Read {
        let channels = std::mem::take(&mut other.channels);
        let renumbered = Renumbered {
            channels: self.channels.join(channels),
            places: self.collectives.join(&other.collectives),
        };
        let later = std::mem::take(&mut other.later).into_iter();
        self.later.extend(later.map(|(step, tie)| (step + steps, renumbered.tie(tie))));
        let strands = std::mem::take(&mut other.strands).into_iter();
        self.strands.extend(strands.map(|mut strand| {
            strand.first_step += steps;
            strand
        }));
        self.locks.join(std::mem::take(&mut other.locks), steps);
        let off_core = std::mem::take(&mut other.off_core).into_iter();
        self.off_core.extend(off_core.map(|off_core| OffCore { step: off_core.step + steps, ..off_core }));
        self.not_followed += other.not_followed;
        self.called.join(&other.called);
        other.take_long(Some(renumbered))
    }

    fn take_long(&mut self, renumbered: Option<Renumbered>) -> Read {
        let (steps, ties) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.ties));
        Read { steps, ties, waiting: std::mem::take(&mut self.waiting), renumbered }
    }
}

/// Lays all steps into one list, and has ties name places by the numbers of all.
fn in_one_list(read: Vec<Read>) -> (Vec<Step>, Vec<Share>) {
    let read = match <[Read; 1]>::try_from(read) {
        Ok([Read { steps, ties, waiting, .. }]) => {
            let share = Share { steps: 0..steps.len(), ties, waiting };
            return (steps, vec![share]);
        }
        Err(read) => read,
    };
    let lengths: Vec<usize> = read.iter().map(|one| one.steps.len()).collect();
    let mut steps: Vec<Step> = bytemuck::zeroed_vec(lengths.iter().sum());
    let places = split(&mut steps, lengths.iter().copied());
    let begins = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end - length)
    });
    let shares = map(read.into_iter().zip(places).zip(begins), |((mut one, place), begin)| {
        let end = begin + one.steps.len();
        move_into(one.steps, place);
        if let Some(renumbered) = one.renumbered {
            one.ties.iter_mut().for_each(|tie| *tie = renumbered.tie(*tie));
        }
        Share { steps: begin..end, ties: one.ties, waiting: one.waiting }
    });
    (steps, shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Decision;
    use kizami_model::{Call, Length, Moment, Peer, Rank};
    use kizami_testing::{Jumble, call, definitions_with_windows};
    use kizami_trace::{Definitions, RankInfo};

    const RANKS: u32 = 9;
    const RANKS_OF_A_HOST: u32 = 4;
    /// How much slower a program is here, so that some sends are long enough to show what they waited for.
    const SLOWER: i64 = 50;

    /// Messages, persistent requests, probes, polls and collectives of several threads, and windows behind them.
    fn program(seed: u64) -> (Definitions, Vec<Call>) {
        let jumble = Jumble {
            ranks: RANKS,
            threads: 1 + seed as u32 % 2,
            acts: 900,
            roomy: !seed.is_multiple_of(3),
            seed,
        };
        let program = jumble.run();
        let slower = |moment: Moment| Moment(SLOWER * moment.0);
        let slower = |row: Call| Call { start: slower(row.start), end: slower(row.end), ..row };
        let mut rows: Vec<Call> = program.rows.into_iter().map(slower).collect();
        let end = rows.iter().map(|row| row.end.0).max().unwrap_or(0);
        rows.extend((0..RANKS).flat_map(|rank| on_windows(rank, end)));
        rows.sort_by_key(|row| (row.rank, row.start));
        let host =
            |rank: u32| RankInfo { host: Some(rank / RANKS_OF_A_HOST), ..RankInfo::absent(Rank(rank)) };
        let definitions = definitions_with_windows(&program.comms, 1);
        (Definitions { ranks: (0..RANKS).map(host).collect(), ..definitions }, rows)
    }

    /// Each rank opens its window to the next one, and all want the lock of rank 0.
    fn on_windows(rank: u32, begin: i64) -> Vec<Call> {
        let (before, next) = ((rank + RANKS - 1) % RANKS, (rank + 1) % RANKS);
        let on = |name: &str, peer: Option<u32>, (start, end): (i64, i64)| {
            let peer = peer.map_or(Peer::None, |peer| Peer::Rank(Rank(peer)));
            Call { object: Some(rank), peer, ..call(name, rank, begin + start, begin + end) }
        };
        let named = |name: &str, peer: u32, at: i64| Call { calls: 0, ..on(name, Some(peer), (at, at)) };
        let (asked, got) = (500, 1_000 + 100 * i64::from(rank));
        vec![
            on("MPI_Win_post", None, (100, 110)),
            named("MPI_Win_post", next, 100),
            on("MPI_Win_start", None, (120, 150)),
            named("MPI_Win_start", before, 120),
            on("MPI_Win_complete", None, (200, 210)),
            on("MPI_Win_wait", None, (210, 400)),
            Call { tag: Some(1), ..on("MPI_Win_lock", Some(0), (asked, got)) },
            on("MPI_Win_unlock", Some(0), (got + 10, got + 90)),
        ]
    }

    /// The graph of ranks in so many shares.
    fn graph(definitions: &Definitions, rows: &[Call], shares: u32) -> Graph {
        let clocks = Clocks::Aligned { between_hosts: Some(Length(100)) };
        let share = |row: &Call| row.rank.0 * shares / RANKS;
        let builders = rows.chunk_by(|a, b| share(a) == share(b)).map(|rows| {
            let mut builder = Builder::new(definitions, &[]).with_clocks(clocks);
            rows.iter().for_each(|row| builder.call(row));
            builder
        });
        let mut builders: Vec<Builder<'_>> = builders.collect();
        assert_eq!(builders.len(), shares as usize);
        let others = builders.split_off(1);
        builders.remove(0).finish_with(others).0
    }

    /// All that a graph says.
    fn contents(graph: &Graph) -> impl PartialEq + '_ {
        let Graph { steps, ties, strands, channels, members, protocols, not_followed, .. } = graph;
        let members = (&members.sizes, &members.lists, &members.comms);
        (&steps[..], &ties[..], strands, channels, members, protocols, not_followed)
    }

    #[test]
    fn the_graph_does_not_depend_on_the_number_of_parts() {
        let (mut decisions, mut at_the_end) = (Vec::new(), 0);
        for seed in 0..24 {
            let (definitions, rows) = program(seed);
            let one = graph(&definitions, &rows, 1);
            for shares in [2, 3, 7, RANKS] {
                assert!(
                    contents(&graph(&definitions, &rows, shares)) == contents(&one),
                    "{seed} in {shares} shares"
                );
            }
            decisions.extend(one.protocols.iter().map(|protocol| protocol.decision));
            let moved = one.steps.windows(2).filter(|pair| pair[0].first_tie > pair[1].first_tie);
            at_the_end += moved.count();
        }
        for decision in [Decision::Eager, Decision::Waits, Decision::ByTimes] {
            assert!(decisions.contains(&decision), "{decision:?}");
        }
        assert!(at_the_end > 24 * RANKS as usize, "{at_the_end} steps with ties that were found behind them");
    }
}
