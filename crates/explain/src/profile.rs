//! Where time went, and what was sent: by function, place and rank.

use crate::window::Window;
use kizami_graph::{Graph, StepKind, TieKind};
use rustc_hash::FxHashMap;

/// Calls of one function from one place; time within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub calls: u64,
    pub ns: i64,
    pub bytes: u64,
}

/// Computation that leads up to the calls of one place, by one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Computation {
    pub times: u64,
    pub ns: i64,
    /// The longest time.
    pub longest_ns: i64,
    /// Place of the call before that.
    pub after: Option<u32>,
}

/// All of it.
#[derive(Default)]
pub(crate) struct Profile {
    /// By function and place.
    pub calls: FxHashMap<(u16, Option<u32>), Calls>,
    /// By rank: computation, and time inside MPI, within the window; of a rank's first thread.
    pub ranks: Vec<(i64, i64)>,
    /// By place and rank.
    pub computation: FxHashMap<(Option<u32>, u32), Computation>,
    /// Messages and bytes, by sender and receiver.
    pub matrix: FxHashMap<(u32, u32), (u64, u64)>,
    /// Messages and bytes, by number of bits of the size.
    pub sizes: Vec<(u64, u64)>,
}

impl Profile {
    /// How often and how long all ranks together computed before each place.
    pub(crate) fn computation_by_site(&self) -> FxHashMap<Option<u32>, (u64, i64)> {
        let mut sums: FxHashMap<Option<u32>, (u64, i64)> = FxHashMap::default();
        for ((site, _), computation) in &self.computation {
            let sum = sums.entry(*site).or_default();
            *sum = (sum.0 + computation.times, sum.1 + computation.ns);
        }
        sums
    }
}

/// Adds up a graph.
pub(crate) fn profile(graph: &Graph, ranks: u32, window: Window) -> Profile {
    let mut profile =
        Profile { ranks: vec![(0, 0); ranks as usize], sizes: vec![(0, 0); 65], ..Profile::default() };
    for strand in &graph.strands {
        let rank = strand.rank.0;
        let mut index = strand.first_step as usize;
        let mut last: Option<(i64, Option<u32>)> = None;
        let (mut computing_ns, mut inside_ns) = (0, 0);
        loop {
            let step = &graph.steps[index];
            let mut bytes = 0;
            for tie in graph.ties_of(step) {
                match tie.kind() {
                    TieKind::Departs if step.kind() != StepKind::Polling => {
                        let channel = graph.channels[tie.place() as usize];
                        bytes += tie.bytes();
                        let cell = profile.matrix.entry((channel.from.0, channel.to.0)).or_default();
                        (cell.0, cell.1) = (cell.0 + 1, cell.1 + tie.bytes());
                        let class = (u64::BITS - tie.bytes().leading_zeros()) as usize;
                        let cell = &mut profile.sizes[class];
                        (cell.0, cell.1) = (cell.0 + 1, cell.1 + tie.bytes());
                    }
                    kind if kind.is_collective() && kind.tells() => bytes += tie.bytes(),
                    _ => {}
                }
            }
            let site = step.site();
            if step.kind() != StepKind::Part {
                let calls = profile.calls.entry((step.op().0, site)).or_default();
                calls.calls += 1;
                calls.ns += window.part_ns(step.start_ns, step.end_ns);
                calls.bytes += bytes;
                inside_ns += window.part_ns(step.start_ns, step.end_ns);
                if let Some((end_ns, after)) = last {
                    let gap_ns = window.part_ns(end_ns, step.start_ns);
                    computing_ns += gap_ns;
                    let computation = profile.computation.entry((site, rank)).or_default();
                    computation.times += 1;
                    computation.ns += gap_ns;
                    if computation.times == 1 || gap_ns > computation.longest_ns {
                        (computation.longest_ns, computation.after) = (gap_ns, after);
                    }
                }
                last = Some((step.end_ns, site));
            }
            if step.next == 0 {
                break;
            }
            index += step.next as usize;
        }
        if strand.first_of_rank
            && let Some(sums) = profile.ranks.get_mut(rank as usize)
        {
            *sums = (computing_ns, inside_ns);
        }
    }
    profile
}
