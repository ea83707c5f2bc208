//! Whether a kept graph can be that of its trace. The checksum finds what was damaged; this is for forged graphs:
//! everything that is looked up by a number from the file is there, every step is passed once, and no number is so large
//! that counting up to it takes long.
//!
//! One pass over steps and ties. What it cannot see is a graph of another run that fits: who makes one can change the
//! trace as well.

use crate::collectives::Collectives;
use crate::step::{Step, Tie};
use crate::{Graph, NO_MEMBERS};
use kizami_model::{Length, Moment, Rank, function};
use kizami_trace::{Definitions, RunInfo};

/// What a trace says about its graph.
pub(crate) struct Claims<'a> {
    run: &'a RunInfo,
    definitions: &'a Definitions,
}

impl<'a> Claims<'a> {
    pub(crate) fn of(run: &'a RunInfo, definitions: &'a Definitions) -> Claims<'a> {
        Claims { run, definitions }
    }

    /// Whether nothing in a graph contradicts them.
    pub(crate) fn hold_for(&self, graph: &Graph) -> bool {
        graph.steps.len() as u64 == self.run.totals.events
            && self.has_members(graph)
            && graph.channels.iter().all(|way| self.has(way.from) && self.has(way.to))
            && self.has_strands(graph)
            && self.has_steps(graph)
            && graph.off_core.iter().all(|off_core| off_core.step < graph.steps.len() as u64)
            && graph.ties.iter().all(|tie| has_place(graph, *tie))
    }

    fn has(&self, rank: Rank) -> bool {
        rank.0 < self.run.ranks
    }

    /// Those of the communicators and of their windows are known; behind them come those of roots.
    fn has_members(&self, graph: &Graph) -> bool {
        let (found, known) = (&graph.members, Collectives::new(self.definitions, None).members);
        let comms = self.definitions.communicators.len() as u32;
        let count = known.sizes.len();
        let of_roots = found.sizes.iter().zip(&found.comms).skip(count);
        found.lists == known.lists
            && found.sizes.len() == found.comms.len()
            && found.sizes.get(..count) == Some(&known.sizes)
            && found.comms.get(..count) == Some(&known.comms)
            && of_roots.into_iter().all(|(size, comm)| *comm < comms && known.sizes[*comm as usize] == *size)
            && known.lists.iter().flatten().all(|rank| self.has(*rank))
    }

    /// Whether strands come by rank and first call, and each rank begins where the one before it ends.
    fn has_strands(&self, graph: &Graph) -> bool {
        let begins_at_all = graph
            .strands
            .first()
            .map_or(graph.steps.is_empty(), |first| first.first_step == 0 && first.first_of_rank);
        let follows = graph.strands.windows(2).all(|pair| {
            pair[0].first_step < pair[1].first_step
                && pair[0].rank <= pair[1].rank
                && pair[1].first_of_rank == (pair[0].rank != pair[1].rank)
        });
        let last = graph.strands.last();
        let within = |first_step: u64| first_step < graph.steps.len() as u64;
        begins_at_all && follows && last.is_none_or(|last| self.has(last.rank) && within(last.first_step))
    }

    /// Whether every step is reached once, from the strand it begins or the one before it, which is of the same rank; and has
    /// ties of its own and times within the run.
    fn has_steps(&self, graph: &Graph) -> bool {
        let mut reached = Reached::none_of(graph.steps.len());
        if !graph.strands.iter().all(|strand| reached.add(strand.first_step as usize)) {
            return false;
        }
        let mut borders = graph.strands.iter().filter(|strand| strand.first_of_rank).skip(1);
        let mut next_rank = || borders.next().map_or(graph.steps.len(), |strand| strand.first_step as usize);
        let (mut end_of_rank, mut before, mut ties) = (next_rank(), Moment(i64::MIN), 0u64);
        for (index, step) in graph.steps.iter().enumerate() {
            if index == end_of_rank {
                (end_of_rank, before) = (next_rank(), Moment(i64::MIN));
            }
            let next = index + step.next as usize;
            if step.next > 0 && !(next < end_of_rank && reached.add(next)) {
                return false;
            }
            let end_of_ties = step.first_tie.checked_add(u64::from(step.ties));
            let has_ties = end_of_ties.is_some_and(|end| end <= graph.ties.len() as u64);
            ties += u64::from(step.ties);
            if !has_ties || step.start < before || !self.has_meaning(step) {
                return false;
            }
            before = step.start;
        }
        reached.count == graph.steps.len() && ties <= graph.ties.len() as u64
    }

    fn has_meaning(&self, step: &Step) -> bool {
        let longest = Length(self.run.span_ns);
        let within =
            step.start <= step.end && step.length() <= longest && step.start.since_start() <= longest;
        let held = Length::ZERO <= step.before && step.before <= longest;
        let known = usize::from(step.op().0) <= function::functions().len();
        let place = step.site().is_none_or(|site| (site as usize) < self.definitions.callsites.len());
        within && held && known && place
    }
}

/// Whether what a tie is about is there.
fn has_place(graph: &Graph, tie: Tie) -> bool {
    let place = tie.place() as usize;
    match tie.kind() {
        kind if kind.is_of_its_call() => true,
        kind if kind.is_collective() => {
            graph.members.sizes.get(place).is_some_and(|size| *size != NO_MEMBERS)
        }
        _ => place < graph.channels.len(),
    }
}

/// Steps that were reached so far, a bit for each.
struct Reached {
    bits: Vec<u64>,
    count: usize,
}

impl Reached {
    fn none_of(steps: usize) -> Reached {
        Reached { bits: vec![0; steps.div_ceil(64)], count: 0 }
    }

    /// False if it was reached before.
    fn add(&mut self, step: usize) -> bool {
        let bit = 1 << (step % 64);
        let word = &mut self.bits[step / 64];
        let is_new = *word & bit == 0;
        *word |= bit;
        self.count += 1;
        is_new
    }
}
