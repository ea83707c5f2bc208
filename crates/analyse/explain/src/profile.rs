//! Where time went, and what was sent: by function, place and rank.

use crate::work_interval::WorkInterval;
use kizami_blame::PairInterner;
use kizami_graph::{Graph, StepKind, TieKind};
use kizami_model::{Length, Moment, Op, Rank};
use rustc_hash::FxHashMap;

/// Calls of one function from one place; time within the interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub calls: u64,
    pub time: Length,
    pub bytes: u64,
}

/// Computation that leads up to the calls of one place, by one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Computation {
    pub times: u64,
    pub time: Length,
    /// The longest one.
    pub longest: Length,
    /// SourceLine of the call before that.
    pub after: Option<u32>,
    /// How many ranks do the same.
    pub ranks: u32,
}

/// All of it.
#[derive(Default)]
pub(crate) struct Profile {
    /// By function and place.
    pub calls: FxHashMap<(Op, Option<u32>), Calls>,
    /// By rank: computation, and time inside MPI, within the interval; of a rank's first thread.
    pub ranks: Vec<(Length, Length)>,
    /// By place and rank.
    pub computation: FxHashMap<(Option<u32>, u32), Computation>,
    /// Messages and bytes, by sender and receiver.
    pub matrix: FxHashMap<(u32, u32), (u64, u64)>,
    /// Messages and bytes, by number of bits of the size.
    pub sizes: Vec<(u64, u64)>,
}

impl Profile {
    /// How often and how long all ranks together computed before each place.
    pub(crate) fn computation_by_site(&self) -> FxHashMap<Option<u32>, (u64, Length)> {
        let mut sums: FxHashMap<Option<u32>, (u64, Length)> = FxHashMap::default();
        for ((site, _), computation) in &self.computation {
            let sum = sums.entry(*site).or_default();
            let ranks = computation.ranks;
            let time = computation.time * i64::from(ranks);
            *sum = (sum.0 + computation.times * u64::from(ranks), sum.1 + time);
        }
        sums
    }
}

/// The function called at a place.
pub(crate) fn function_at(profile: &Profile, site: Option<u32>) -> String {
    let most = profile.calls.iter().filter(|((_, at), _)| *at == site).max_by_key(|(_, calls)| calls.calls);
    most.map_or("the end", |((op, _), _)| op.name()).to_owned()
}

/// Adds up a graph. What a strand does counts for all ranks that it stands for; of pairs of ranks, for its own alone.
pub(crate) fn profile(graph: &Graph, interval: WorkInterval) -> Profile {
    let ranks = graph.ranks();
    let mut profile = Profile {
        ranks: vec![Default::default(); ranks as usize],
        sizes: vec![(0, 0); 65],
        ..Profile::default()
    };
    let mut calls = CallsBySite::default();
    let mut computation = ComputationBySite::default();
    let mut sent = vec![(0, 0); graph.channels.len()];
    for (number, strand) in graph.strands.iter().enumerate() {
        let ranks = u64::from(graph.weight(strand.rank));
        let mut index = strand.first_step as usize;
        let mut last: Option<(Moment, Option<u32>)> = None;
        let (mut computing, mut inside) = (Length::ZERO, Length::ZERO);
        loop {
            let step = &graph.steps[index];
            let mut bytes = 0;
            for tie in graph.ties_of(step) {
                match tie.kind() {
                    TieKind::Departs if step.kind() != StepKind::Polling => {
                        bytes += tie.bytes();
                        let class = (u64::BITS - tie.bytes().leading_zeros()) as usize;
                        let cells =
                            [(&mut sent[tie.place() as usize], 1), (&mut profile.sizes[class], ranks)];
                        for (cell, ranks) in cells {
                            *cell = (cell.0 + ranks, cell.1 + ranks * tie.bytes());
                        }
                    }
                    TieKind::Moves => bytes += tie.bytes(),
                    kind if kind.is_collective() && kind.announces() => bytes += tie.bytes(),
                    _ => {}
                }
            }
            let site = step.site();
            if step.kind() != StepKind::Part {
                let length = interval.part(step.start, step.end);
                let calls = calls.of(step.op(), site);
                calls.calls += ranks;
                calls.time += length * ranks as i64;
                calls.bytes += bytes * ranks;
                inside += length;
                if let Some((end, after)) = last {
                    let gap = interval.part(end, step.start);
                    computing += gap;
                    let computation = computation.of(site);
                    computation.times += 1;
                    computation.ranks = ranks as u32;
                    computation.time += gap;
                    if computation.times == 1 || gap > computation.longest {
                        (computation.longest, computation.after) = (gap, after);
                    }
                }
                last = Some((step.end, site));
            }
            if step.next == 0 {
                break;
            }
            index += step.next as usize;
        }
        if strand.first_of_rank
            && let Some(sums) = profile.ranks.get_mut(strand.rank.0 as usize)
        {
            *sums = (computing, inside);
        }
        if graph.strands.get(number + 1).is_none_or(|next| next.rank != strand.rank) {
            computation.end_rank(strand.rank.0, &mut profile.computation);
        }
    }
    for (channel, (messages, bytes)) in
        graph.channels.iter().zip(sent).filter(|(_, (messages, _))| *messages > 0)
    {
        let cell = profile.matrix.entry((channel.from.0, channel.to.0)).or_default();
        *cell = (cell.0 + messages, cell.1 + bytes);
    }
    if let Some(folding) = &graph.folding {
        for rank in (0..ranks).map(Rank) {
            profile.ranks[rank.0 as usize] = profile.ranks[folding.rank_classes.like(rank).0 as usize];
        }
    }
    // One after the other: which of two functions that are called as often comes first must not depend on more.
    for (key, total) in calls.list {
        profile.calls.insert(key, total);
    }
    profile
}

/// Where a place has its cell.
fn cell_of(site: Option<u32>) -> usize {
    site.map_or(0, |site| site as usize + 1)
}

/// Calls while they are added up.
#[derive(Default)]
struct CallsBySite {
    /// Functions by place; mostly one.
    numbers: PairInterner<Op>,
    list: Vec<((Op, Option<u32>), Calls)>,
}

impl CallsBySite {
    fn of(&mut self, op: Op, site: Option<u32>) -> &mut Calls {
        let (number, new) = self.numbers.number(cell_of(site), op);
        if new {
            self.list.push(((op, site), Calls::default()));
        }
        &mut self.list[number].1
    }
}

/// Computation of one rank while it is added up.
#[derive(Default)]
struct ComputationBySite {
    by_site: Vec<Computation>,
    /// Places that have any.
    sites: Vec<Option<u32>>,
}

impl ComputationBySite {
    /// That before a place, which is about to be added to.
    fn of(&mut self, site: Option<u32>) -> &mut Computation {
        let cell = cell_of(site);
        if cell >= self.by_site.len() {
            self.by_site.resize(cell + 1, Computation::default());
        }
        if self.by_site[cell].times == 0 {
            self.sites.push(site);
        }
        &mut self.by_site[cell]
    }

    /// Moves it to where that of all ranks is.
    fn end_rank(&mut self, rank: u32, all: &mut FxHashMap<(Option<u32>, u32), Computation>) {
        for site in self.sites.drain(..) {
            all.insert((site, rank), std::mem::take(&mut self.by_site[cell_of(site)]));
        }
    }
}
