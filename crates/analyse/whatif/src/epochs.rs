//! Steps of a program that all its ranks take together: which part of a rank's run belongs to which part of another's.
//!
//! Ranks that run the same loop make the same call equally often, and all of them enter the collectives that every rank
//! takes part in. Whichever of both cuts the run finer numbers its *epochs*. Where ranks run different code, as those do
//! who send and those who receive, each has a place of its own that is called as often as those of the others; without any
//! of that the whole run is one epoch.

use kizami_graph::{Graph, Step, StepKind, Strand, TieKind};
use kizami_model::Rank;
use kizami_model::kind::{Flow, Kind};
use rustc_hash::FxHashMap;

/// Fewer borders do not make a loop.
const FEWEST: u64 = 4;
/// Epochs of all ranks together that are distinguished at most: what is kept of each takes memory.
const MOST_CELLS: u64 = 16 << 20;

/// What ends an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Border {
    /// A call at this place.
    Site(u32),
    /// A call at a place of its own, for each rank.
    OwnSite,
    /// A collective of all ranks that all ranks wait in.
    AllRanks,
    None,
}

/// How a run is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epochs {
    border: Border,
    /// Borders that a rank has at most.
    borders: u64,
    /// Borders that are passed before the next epoch begins.
    each: u64,
    ranks: u32,
    /// By rank, where each has a place of its own.
    own_sites: Vec<u32>,
}

impl Epochs {
    /// Of a run.
    pub fn of(graph: &Graph) -> Epochs {
        let ranks = graph.ranks();
        let mut counts: Vec<FxHashMap<u32, u64>> = vec![FxHashMap::default(); ranks as usize];
        let mut collectives = 0;
        let mut first = true;
        for strand in graph.strands.iter().filter(|strand| strand.first_of_rank) {
            let own = &mut counts[place_of(strand.rank)];
            each_call(graph, strand.first_step, |_, step| {
                if let Some(site) = step.site() {
                    *own.entry(site).or_default() += 1;
                }
                collectives += u64::from(first && is_border(graph, step, Border::AllRanks, None, ranks));
            });
            first = false;
        }
        if graph.folding.is_some() {
            // Ranks without strands do what others do.
            counts.retain(|own| !own.is_empty());
        }
        let (border, borders, own_sites) = match (shared_site(&counts), own_sites(&counts)) {
            (Some((times, site)), _) if times >= collectives => (Border::Site(site), times, Vec::new()),
            _ if collectives >= FEWEST => (Border::AllRanks, collectives, Vec::new()),
            (_, Some((times, sites))) if graph.folding.is_none() => (Border::OwnSite, times, sites),
            _ => (Border::None, 0, Vec::new()),
        };
        let each = ((borders + 1) * u64::from(ranks.max(1))).div_ceil(MOST_CELLS).max(1);
        Epochs { border, borders, each, ranks, own_sites }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        (self.borders / self.each) as usize + 1
    }

    /// How many ranks the run has.
    pub fn ranks(&self) -> usize {
        self.ranks as usize
    }

    /// Goes over the calls of a strand, and says in which epoch each is. A call that is a border ends its epoch.
    pub fn walk(&self, graph: &Graph, strand: &Strand, mut visit: impl FnMut(usize, u64, &Step)) {
        let mut passed = 0;
        let own_site = self.own_sites.get(place_of(strand.rank)).copied();
        each_call(graph, strand.first_step, |index, step| {
            visit((passed.min(self.borders) / self.each) as usize, index, step);
            passed += u64::from(is_border(graph, step, self.border, own_site, self.ranks));
        });
    }
}

/// The place that all ranks call from equally often, and most often.
fn shared_site(counts: &[FxHashMap<u32, u64>]) -> Option<(u64, u32)> {
    let (first, rest) = counts.split_first()?;
    let shared = first.iter().filter(|(site, times)| rest.iter().all(|own| own.get(site) == Some(times)));
    let finest = shared.map(|(site, times)| (*times, std::cmp::Reverse(*site))).max()?;
    (finest.0 >= FEWEST).then_some((finest.0, finest.1.0))
}

/// For each rank a place that it calls from as often as every other from one of its own; the most often.
fn own_sites(counts: &[FxHashMap<u32, u64>]) -> Option<(u64, Vec<u32>)> {
    let (first, rest) = counts.split_first()?;
    let often = |times: &u64| *times >= FEWEST && rest.iter().all(|own| own.values().any(|own| own == times));
    let times = first.values().copied().filter(often).max()?;
    let of_rank =
        |own: &FxHashMap<u32, u64>| own.iter().filter(|(_, own)| **own == times).map(|(site, _)| *site).min();
    Some((times, counts.iter().map(of_rank).collect::<Option<_>>()?))
}

fn is_border(graph: &Graph, step: &Step, border: Border, own_site: Option<u32>, ranks: u32) -> bool {
    match border {
        Border::Site(site) => step.site() == Some(site),
        Border::OwnSite => own_site.is_some() && step.site() == own_site,
        // The root of a reduction waits for all, too, but no other rank does.
        Border::AllRanks => {
            matches!(step.op().kind(), Kind::Collective(which, _) if which.flow() == Flow::All)
                && graph.ties_of(step).iter().any(|tie| {
                    let members = graph.members.sizes.get(tie.place() as usize);
                    tie.kind() == TieKind::AwaitsAll && members == Some(&ranks)
                })
        }
        Border::None => false,
    }
}

/// Goes over the calls of a strand; parts of calls are none.
pub fn each_call(graph: &Graph, first_step: u64, mut visit: impl FnMut(u64, &Step)) {
    let mut index = first_step;
    loop {
        let step = &graph.steps[index as usize];
        if step.kind() != StepKind::Part {
            visit(index, step);
        }
        if step.next == 0 {
            return;
        }
        index += u64::from(step.next);
    }
}

/// Rank as an index.
pub(crate) fn place_of(rank: Rank) -> usize {
    rank.0 as usize
}
