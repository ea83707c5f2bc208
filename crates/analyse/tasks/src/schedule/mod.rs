//! How long a run takes on so many processors: its tasks are given to them one after the other, by a strategy.
//!
//! Some strategies are lists: a task that can run is taken whatever made it ([`list`]). Others do what a real runtime does with
//! its queues and with threads that wait ([`gomp`], [`llvm`]), on one engine. No schedule is shorter than its bounds.

mod engine;
mod gomp;
mod list;
mod llvm;
mod program;
mod teams;
#[cfg(test)]
mod tests;

use crate::bounds::one_by_one;
use crate::{Bounds, Notice, Parallelism, TaskGraph, TasksError, burdened_span};
use engine::Engine;
use gomp::Gomp;
use kizami_model::{Length, Rank};
use kizami_stats::upper_median;
use kizami_trace::{ParallelRow, Runtime, Trace};
use llvm::Llvm;
use program::Program;
use rayon::prelude::*;

/// Which of the tasks that can run is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The one that could run first.
    #[default]
    Oldest,
    /// The one that could run last.
    Newest,
    /// The one that most depends on: the longest chain of tasks begins with it.
    Longest,
    /// As GNU's runtime for OpenMP does it.
    Gnu,
    /// As LLVM's and Intel's do it.
    Llvm,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 5] =
        [Strategy::Gnu, Strategy::Llvm, Strategy::Oldest, Strategy::Newest, Strategy::Longest];

    /// Whether it is that of a runtime, which can only be followed if tasks record what they waited for.
    pub fn is_of_runtime(self) -> bool {
        matches!(self, Strategy::Gnu | Strategy::Llvm)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Oldest => "oldest",
            Strategy::Newest => "newest",
            Strategy::Longest => "longest",
            Strategy::Gnu => "gnu",
            Strategy::Llvm => "llvm",
        }
    }
}

/// The strategy of the runtime that ran the parallel regions of a rank; none if there were none, or it is unknown.
pub fn recorded_by(trace: &Trace, rank: Rank) -> Result<Option<Strategy>, TasksError> {
    for part in trace.parts_of::<ParallelRow>()? {
        let own = part?.into_iter().filter(|row| row.rank == rank);
        if let Some(runtime) = own.filter_map(|row| row.runtime).next() {
            return Ok(Some(match runtime {
                Runtime::Gnu => Strategy::Gnu,
                Runtime::Llvm => Strategy::Llvm,
            }));
        }
    }
    Ok(None)
}

/// How often a runtime is followed, each time with tasks that are longer or shorter by chance, by this share at most; once if
/// there are many tasks. Who comes first decides what runs where, and runs of one program differ by as much.
const TRIES: u64 = 9;
const SHAKEN_BY: f64 = 0.01;
/// By how much longer threads take to notice something in each of these tries, where that was measured and where not: waking up
/// takes 5 us on some machines and 300 on others, and which thread is first decides who takes what.
const NOTICED_IN: [f64; TRIES as usize] = [1.0, 0.5, 0.7, 0.8, 1.0, 1.0, 1.25, 1.4, 2.0];
const UNKNOWN_NOTICED_IN: [f64; TRIES as usize] = [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0, 64.0];
const FEW_TASKS: usize = 100_000;

/// How long a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// As tasks were recorded, or in the middle of all tries if that is far from it.
    pub length: Length,
    /// In the shortest and in the longest; none if it was tried once.
    pub range: Option<(Length, Length)>,
    /// No schedule is shorter, or longer, that does what `bound` says.
    pub at_least: Length,
    /// The same.
    pub at_most: Length,
    /// What is known of the schedule.
    pub bound: Bound,
    /// How tasks were scheduled: not as requested where a runtime could not be followed to its end, or where tasks do not
    /// record what they waited for. Then the oldest is taken first.
    pub strategy: Strategy,
}

/// What is known of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// No processor is idle while a task is ready, but for the time until it has noticed that.
    Busy,
    /// Some are, as the simulation shows; only that some task runs at each moment is certain, but for that time.
    OneByOne,
}

impl Scheduled {
    /// Before its bounds are known.
    fn new(length: Length, range: Option<(Length, Length)>, strategy: Strategy) -> Scheduled {
        let (at_least, at_most, bound) = (length, length, Bound::Busy);
        Scheduled { length, range, at_least, at_most, bound, strategy }
    }

    /// Within its bounds; those of a schedule that leaves no processor idle if it keeps them.
    fn within(self, at_least: Length, busy: Length, one_by_one: impl FnOnce() -> Length) -> Scheduled {
        let high = self.range.map_or(self.length, |(_, high)| high);
        // Shaken tasks may take more together.
        let bound = if high <= busy.scaled(1.0 + SHAKEN_BY) { Bound::Busy } else { Bound::OneByOne };
        let at_most = if bound == Bound::Busy { busy } else { one_by_one() }.max(at_least);
        // Or less, which no schedule of the real ones can.
        let kept = |length: Length| length.clamp(at_least, at_most);
        let range = self.range.map(|(low, high)| (kept(low), kept(high)));
        Scheduled { length: kept(self.length), range, at_least, at_most, bound, ..self }
    }
}

/// How long the run takes.
pub fn schedule(graph: &TaskGraph, processors: u32, strategy: Strategy) -> Scheduled {
    schedules(graph, &[processors], strategy)[0]
}

/// The same for several numbers of processors, worked out side by side.
pub fn schedules(graph: &TaskGraph, processors: &[u32], strategy: Strategy) -> Vec<Scheduled> {
    let program = match strategy {
        Strategy::Gnu | Strategy::Llvm => Program::of(graph),
        Strategy::Oldest | Strategy::Newest | Strategy::Longest => None,
    };
    let tries = if program.as_ref().is_some_and(|program| program.len() > FEW_TASKS) { 1 } else { TRIES };
    // The first is as it was recorded.
    let shaken: Vec<Program> =
        program.iter().flat_map(|program| (1..tries).map(|seed| program.shaken(seed, SHAKEN_BY))).collect();
    let all: Vec<&Program> = program.iter().chain(&shaken).collect();
    let notice = graph.notice().unwrap_or(Notice::NONE);
    let latest = match tries {
        1 => notice,
        _ => notice.times(longest(&NOTICED_IN), longest(&UNKNOWN_NOTICED_IN)),
    };
    let bounds = Bounds::of(graph).with_peak(Parallelism::of(graph).peak());
    let burdened = if program.is_some() { burdened_span(graph, latest) } else { bounds.span };
    let one = |processors: &u32| {
        let processors = (*processors).max(1);
        let at_least = bounds.at_least(processors);
        if let Some((length, range)) = follow(&all, processors, notice, strategy) {
            let busy = bounds.at_most_burdened(processors, burdened);
            return Scheduled::new(length, range, strategy)
                .within(at_least, busy, || one_by_one(graph, latest));
        }
        let strategy = match strategy {
            Strategy::Gnu | Strategy::Llvm => Strategy::Oldest,
            list => list,
        };
        let length = list::schedule(graph, processors, strategy);
        Scheduled::new(length, None, strategy)
            .within(at_least, bounds.at_most(processors), || one_by_one(graph, Notice::NONE))
    };
    processors.par_iter().map(one).collect()
}

fn longest(times: &[f64]) -> f64 {
    times.iter().copied().fold(1.0, f64::max)
}

/// A length, and the shortest and the longest of several.
type Told = (Length, Option<(Length, Length)>);

/// What a runtime does with tries of a program; none if there are none, or if one cannot be followed to its end.
fn follow(tries: &[&Program], processors: u32, notice: Notice, strategy: Strategy) -> Option<Told> {
    let run = |(seed, program): (u64, &&Program)| {
        let times = |of: [f64; TRIES as usize]| of[seed as usize % of.len()];
        let notice = notice.times(times(NOTICED_IN), times(UNKNOWN_NOTICED_IN));
        match strategy {
            Strategy::Gnu => Engine::new(program, processors, notice, Gomp::new(program)).run(),
            _ => Engine::new(program, processors, notice, Llvm::new(seed)).run(),
        }
    };
    // One processor leaves nothing to chance.
    let tries = if processors == 1 { &tries[..tries.len().min(1)] } else { tries };
    let mut lengths = (0..).zip(tries).map(run).collect::<Option<Vec<Length>>>()?;
    let as_recorded = *lengths.first()?;
    lengths.sort_unstable();
    let middle = upper_median(&lengths)?;
    let is_usual = (as_recorded.0 - middle.0).abs() as f64 <= 2.0 * SHAKEN_BY * middle.0 as f64;
    let range = lengths.first().copied().zip(lengths.last().copied()).filter(|_| lengths.len() > 1);
    Some((if is_usual { as_recorded } else { middle }, range))
}
