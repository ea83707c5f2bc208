//! Rank classes that hold under a setting.
//!
//! A run stored by rank class is walked with one strand for each class. That is right if all ranks of a class would have the
//! same times; and they do if, for each of them, all ranks they wait for come at the same moments. So a walk is made, and it is
//! compared what each rank of a class would have received: from its senders, from receivers of its large messages, and
//! when it may leave collectives. Classes whose ranks differ in that are split, and the run is walked again, until none is.
//! Since times follow from what ranks do and whom they wait for, times that fit every rank are those of the whole walk.
//!
//! Where collectives are walked message by message, hardly two ranks leave them at the same moment, and classes end as single
//! ranks. As soon as that shows, and if no trace is to be written, all ranks are walked, over the steps of their classes.

use crate::error::ReplayError;
use crate::lane_moment::LaneMoment;
use crate::learned::Learned;
use crate::setting::Setting;
use crate::walk::observer::{EndedStep, Observer};
use crate::walk::replay;
use kizami_graph::{Ask, Channel, Clocks, Folding, Graph, Tie, of_rows, unfold};
use kizami_model::{Call, Rank};
use kizami_network::Fit;
use kizami_rank_classes::{RankClasses, Splitting};
use kizami_trace::{Definitions, RankSelection, Trace, TraceError};
use rustc_hash::FxHashMap;
use std::path::Path;
use tempfile::TempDir;

/// With more classes than one for so many ranks, or more classes than this, ranks are walked instead of classes.
const RANKS_PER_CLASS: usize = 64;
const FEW_CLASSES: usize = 100;
const FEW_WALKS: usize = 20;
/// More classes than this are not distinguished, and not in more walks: then ranks are better walked one by one. Where ranks
/// hand work on from one to the next, each walk finds only one more that differs.
const MOST_CLASSES: usize = 200_000;
const MOST_WALKS: usize = 1_000;

/// By channel: a digest of all moments at which something was announced on it.
struct ChannelDigests(Vec<u64>);

impl Observer<1> for ChannelDigests {
    fn step(&mut self, _: &EndedStep<'_, 1>) {}

    fn announced(&mut self, tie: Tie, at: &[LaneMoment; 1]) {
        if let Some(known) = self.0.get_mut(tie.place() as usize) {
            let mixed = (known.rotate_left(5) ^ at[0].0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            *known = mixed ^ mixed >> 29;
        }
    }
}

/// What is to be walked.
pub(crate) enum Settled {
    /// The trace as it is.
    AsItIs,
    /// One with classes that hold, in a folder.
    Finer(TempDir, Box<Trace>),
    /// All ranks.
    AllRanks(Box<Graph>),
}

/// What is to be walked under a setting. Finer classes are written to a new folder below `beside`; all ranks are an answer only
/// where `writes` says that no trace is to come of it.
pub(crate) fn settle(
    trace: &Trace,
    Learned { graph, fit }: &Learned,
    setting: &Setting,
    (beside, writes): (&Path, bool),
) -> Result<Settled, ReplayError> {
    if graph.folding.is_none() {
        return Ok(Settled::AsItIs);
    }
    let mut definitions = trace.definitions()?;
    let Some(mut finer) = split(graph, &definitions, fit, setting) else { return Ok(Settled::AsItIs) };
    let Some(before) = RankClasses::of(&definitions) else { return Ok(Settled::AsItIs) };
    let folder = tempfile::Builder::new().prefix(".kizami-kinds-").tempdir_in(beside);
    let folder = folder.map_err(TraceError::file("create a folder in", beside))?;
    let all: Vec<Call> = trace.calls(RankSelection::All)?.collect::<Result<_, _>>()?;
    let rows: FxHashMap<Rank, &[Call]> =
        all.chunk_by(|a, b| a.rank == b.rank).map(|rows| (rows[0].rank, rows)).collect();
    let expand = |rank: Rank, definitions: &Definitions| -> Vec<Call> {
        let own = rows.get(&before.like(rank)).copied().unwrap_or_default();
        own.iter().map(|row| before.expand(row, rank, definitions)).collect()
    };
    let as_stored = definitions.rank_classes.clone();
    for walks in 1.. {
        let few = FEW_CLASSES.max(finer.ranks() as usize / RANKS_PER_CLASS);
        if !writes && (finer.count() > few || walks > FEW_WALKS) {
            definitions.rank_classes = as_stored.clone();
            let clocks = match graph.clocks_unaligned {
                true => Clocks::Unaligned,
                false => Clocks::Aligned { between_hosts: None },
            };
            if let Some(all) = unfold(&definitions, &all, clocks) {
                return Ok(Settled::AllRanks(Box::new(all)));
            }
        }
        if finer.count() > MOST_CLASSES || walks > MOST_WALKS {
            return Err(ReplayError::TooManyClasses { classes: finer.count(), ranks: finer.ranks() });
        }
        definitions.rank_classes = finer.table();
        let expanded: Vec<Call> =
            finer.with_rows().iter().flat_map(|rank| expand(*rank, &definitions)).collect();
        let graph = of_rows(&definitions, &expanded);
        match split(&graph, &definitions, fit, setting) {
            Some(rank_classes) => finer = rank_classes,
            None => break,
        }
    }
    let (for_rows, path) = (definitions.clone(), folder.path().join("finer.kz"));
    kizami_rank_classes::write(trace, definitions, &finer, &path, |rank| expand(rank, &for_rows))?;
    let finer = Trace::open(&path)?;
    Ok(Settled::Finer(folder, Box::new(finer)))
}

/// The classes with those split whose ranks differ; none if none do.
fn split(graph: &Graph, definitions: &Definitions, fit: &Fit, setting: &Setting) -> Option<RankClasses> {
    let folding = graph.folding.as_ref()?;
    let rank_classes = &folding.rank_classes;
    let digests = || ChannelDigests(vec![0; graph.channels.len()]);
    let replayed = replay(graph, [setting], fit, 1, digests, &|_| {});
    let digests = &replayed.observers.first()?.0;
    let mut splitting = Splitting::of(rank_classes);
    let everybody = || (0..rank_classes.ranks()).map(Rank);
    for rank in everybody() {
        for (comm, _) in rank_classes.comms_of(rank) {
            splitting.digest(rank, u64::from(folding.comm(comm)));
        }
    }
    for (place, left) in &replayed.left {
        let stands_for = graph.members.comm(*place);
        let alike = definitions.communicators.iter().filter(|comm| folding.comm(comm.index) == stands_for);
        for comm in alike {
            for (member, left) in comm.members.iter().zip(left) {
                member.iter().for_each(|rank| splitting.digest(*rank, *left));
            }
        }
    }
    let mut awaited = Awaited::new(graph, folding, digests);
    for rank in everybody() {
        awaited.of(rank, |digest| splitting.digest(rank, digest));
    }
    splitting.finish()
}

/// What ranks receive from those they wait for.
struct Awaited<'a> {
    folding: &'a Folding,
    digests: &'a [u64],
    index: FxHashMap<Channel, usize>,
    /// By number of a class: what its rank with rows asks for, and what is known of that.
    asks: Vec<Vec<(Ask, AskDigests)>>,
}

/// Digests of what a rank receives, by the class of the other side and by the number of the communicator there.
type AskDigests = FxHashMap<(u32, u32), u64>;

impl<'a> Awaited<'a> {
    fn new(graph: &Graph, folding: &'a Folding, digests: &'a [u64]) -> Awaited<'a> {
        let index = graph.channels.iter().copied().zip(0..).collect();
        let mut asks = vec![Vec::new(); folding.rank_classes.count()];
        for ask in &graph.asks {
            asks[folding.rank_classes.number(ask.rank) as usize].push((*ask, AskDigests::default()));
        }
        Awaited { folding, digests, index, asks }
    }

    /// Emits a digest for each channel that a rank awaits: the same if it is announced at the same moments.
    fn of(&mut self, rank: Rank, mut emit: impl FnMut(u64)) {
        let Awaited { folding, digests, index, asks } = self;
        let rank_classes = &folding.rank_classes;
        for (ask, known) in &mut asks[rank_classes.number(rank) as usize] {
            let other = rank_classes.moved(ask.other(), ask.rank, rank);
            let comm = rank_classes.moved_comm(ask.way.comm, ask.rank, rank).unwrap_or(ask.way.comm);
            let look_up = || {
                let way = match ask.of_receiver {
                    true => folding.by_receiver(Channel { comm, from: rank, to: other, tag: ask.way.tag }),
                    false => folding.by_sender(Channel { comm, from: other, to: rank, tag: ask.way.tag }),
                };
                index.get(&way).map_or(0, |index| digests[*index])
            };
            // Ways to and from rank 0 are as long as ranks are high: what is known of one says nothing of another.
            if other.0 == 0 || rank.0 == 0 {
                emit(look_up());
                continue;
            }
            let number = rank_classes.comms_of(other).take_while(|(own, _)| *own != comm).count() as u32;
            emit(*known.entry((rank_classes.number(other), number)).or_insert_with(look_up));
        }
    }
}
