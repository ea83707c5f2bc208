//! The graph of all ranks of a run stored by rank class, whose steps are those of one rank of each class.
//!
//! Where all ranks of a class replay alike, one strand for each class is enough (`folding`). Where they do not, as where
//! collectives are walked message by message, each rank needs a strand of its own; but what it does is still what its class
//! does. So all strands of a class have the same steps, and their ties name places by a number of the class's own. A table says
//! for each rank which channel or communicator that is: a few words a rank, instead of a step for each of its calls.

use crate::build::Builder;
use crate::channels::{Channel, ChannelIndex};
use crate::collectives::{Members, Roots};
use crate::step::{Step, Tie};
use crate::{Clocks, Graph, List, Strand};
use kizami_model::{Call, Rank};
use kizami_rank_classes::RankClasses;
use kizami_trace::Definitions;
use rustc_hash::FxHashMap;

/// Which places the ties of each rank are about.
#[derive(Debug)]
pub struct Unfolding {
    /// By rank: where its places begin.
    begins: Vec<u32>,
    /// Channels and communicators, as the number of a tie has them.
    places: Vec<u32>,
}

impl Unfolding {
    /// A tie of a rank's class as the rank has it.
    #[inline]
    pub(crate) fn of(&self, rank: Rank, tie: Tie) -> Tie {
        match tie.names_a_place() {
            true => tie.at(self.places[(self.begins[rank.0 as usize] + tie.place()) as usize]),
            false => tie,
        }
    }
}

/// The graph of all ranks, from the rows of those that have some: rank by rank, each in the order of their start. None if
/// the run is not stored by rank class, or if the partners of ranks without rows are unknown.
pub fn unfold<'a>(
    definitions: &Definitions,
    rows: impl IntoIterator<Item = &'a Call>,
    clocks: Clocks,
) -> Option<Graph> {
    let rank_classes = RankClasses::of(definitions)?;
    let mut builder = Builder::of_few(definitions).with_clocks(clocks);
    rows.into_iter().for_each(|row| builder.call(row));
    let (mut graph, roots) = builder.finish_with(Vec::new());
    let used = number_places(&mut graph, &rank_classes);
    let members = std::mem::take(&mut graph.members);
    let roots_of = roots.iter().map(|((_, root), place)| (*place, *root)).collect();
    let mut all = All {
        definitions,
        rank_classes: &rank_classes,
        index: FxHashMap::default(),
        channels: Vec::new(),
        members,
        roots,
        roots_of,
    };
    let unfolding = all.places(&graph, &used)?;
    let All { channels, members, .. } = all;
    let strands = strands(&graph, &rank_classes);
    Some(Graph { channels, members, strands, unfolding: Some(unfolding), ..graph })
}

/// What the ties of one class are about, by their number: a channel or a communicator of the graph of the rows.
type Used = Vec<(bool, u32)>;

/// Has ties name places by a number of their class's own; returns what each number stands for, by class.
fn number_places(graph: &mut Graph, rank_classes: &RankClasses) -> Vec<Used> {
    let mut used: Vec<Used> = vec![Vec::new(); rank_classes.count()];
    let mut end = graph.steps.len();
    let Graph { steps, ties: List::Made(ties), strands, .. } = graph else { return used };
    for of_rank in strands.chunk_by(|a, b| a.rank == b.rank).rev() {
        let first = of_rank[0].first_step as usize;
        let mut numbers: FxHashMap<(bool, u32), u32> = FxHashMap::default();
        let used = &mut used[rank_classes.number(of_rank[0].rank) as usize];
        let of_step = |step: &Step| step.first_tie as usize..step.first_tie as usize + step.ties as usize;
        for index in steps[first..end].iter().flat_map(of_step) {
            let tie = &mut ties[index];
            if tie.names_a_place() {
                let what = (tie.kind().is_collective(), tie.place());
                let number = *numbers.entry(what).or_insert_with(|| {
                    used.push(what);
                    used.len() as u32 - 1
                });
                *tie = tie.at(number);
            }
        }
        end = first;
    }
    used
}

/// Every rank has the strands of its class.
fn strands(graph: &Graph, rank_classes: &RankClasses) -> Vec<Strand> {
    let mut of_class: Vec<Vec<Strand>> = vec![Vec::new(); rank_classes.count()];
    graph.strands.iter().for_each(|strand| of_class[rank_classes.number(strand.rank) as usize].push(*strand));
    let of_rank = |rank: Rank| {
        let own = of_class[rank_classes.number(rank) as usize].iter();
        own.map(move |strand| Strand { rank, ..*strand })
    };
    (0..rank_classes.ranks()).map(Rank).flat_map(of_rank).collect()
}

/// Channels and communicators of all ranks, as far as they are known.
struct All<'a> {
    definitions: &'a Definitions,
    rank_classes: &'a RankClasses,
    index: FxHashMap<Channel, ChannelIndex>,
    channels: Vec<Channel>,
    members: Members,
    roots: Roots,
    /// The same of the rows, by place.
    roots_of: FxHashMap<u32, Rank>,
}

impl All<'_> {
    fn places(&mut self, graph: &Graph, used: &[Used]) -> Option<Unfolding> {
        let rank_classes = self.rank_classes;
        let (mut begins, mut places) = (Vec::with_capacity(rank_classes.ranks() as usize), Vec::new());
        for rank in (0..rank_classes.ranks()).map(Rank) {
            let like = rank_classes.like(rank);
            begins.push(u32::try_from(places.len()).ok()?);
            for (collective, place) in &used[rank_classes.number(rank) as usize] {
                places.push(match collective {
                    true => self.communicator(*place, like, rank)?,
                    false => self.channel(graph.channels[*place as usize], like, rank)?,
                });
            }
        }
        Some(Unfolding { begins, places })
    }

    /// The channel that is to a rank what this one is to the one it is like.
    fn channel(&mut self, way: Channel, like: Rank, rank: Rank) -> Option<ChannelIndex> {
        let rank_classes = self.rank_classes;
        // Whether what rank 0 sends to itself goes to the rank itself or to rank 0 is not stored.
        if way.from == way.to && like.0 == 0 && rank != like {
            return None;
        }
        let end = |end: Rank| if end == like { rank } else { rank_classes.moved(end, like, rank) };
        let comm = rank_classes.moved_comm(way.comm, like, rank)?;
        let way = Channel { comm, from: end(way.from), to: end(way.to), tag: way.tag };
        let next = self.channels.len() as ChannelIndex;
        let index = *self.index.entry(way).or_insert(next);
        if index == next {
            self.channels.push(way);
        }
        Some(index)
    }

    /// The same of who takes part in a collective.
    fn communicator(&mut self, place: u32, like: Rank, rank: Rank) -> Option<u32> {
        let comm = self.members.comm(place);
        let own = self.rank_classes.moved_comm(comm, like, rank)?;
        if own == comm {
            return Some(place);
        }
        match self.roots_of.get(&place) {
            Some(root) => {
                let root =
                    self.rank_classes.moved_root(self.definitions, (comm, own), *root, (like, rank))?;
                let members = &mut self.members;
                Some(*self.roots.entry((own, root)).or_insert_with(|| members.again(own)))
            }
            // The communicator itself; or once more behind all of them, for its windows.
            None => Some(place - comm + own),
        }
    }
}
