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

use crate::{Notice, TaskGraph, TasksError};
use engine::Engine;
use gomp::Gomp;
use kizami_model::{Length, Rank};
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

/// The strategy of the runtime that ran the parallel regions of a rank; none if there were none, or nobody said.
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

/// Runs of LLVM's runtime, which steals by chance, of which the middle one is told; one if there are many tasks.
const TRIES: u64 = 9;
const FEW_TASKS: usize = 100_000;

/// How long the run takes. Where tasks do not tell what they waited for, so that no runtime can be followed, the oldest is
/// taken first.
pub fn schedule(graph: &TaskGraph, processors: u32, strategy: Strategy) -> Length {
    schedules(graph, &[processors], strategy)[0]
}

/// The same for several numbers of processors, worked out side by side.
pub fn schedules(graph: &TaskGraph, processors: &[u32], strategy: Strategy) -> Vec<Length> {
    let program = match strategy {
        Strategy::Gnu | Strategy::Llvm => Program::of(graph),
        Strategy::Oldest | Strategy::Newest | Strategy::Longest => None,
    };
    let notice = graph.notice().unwrap_or(Notice::NONE);
    let one = |processors: &u32| {
        let processors = (*processors).max(1);
        let followed = program.as_ref().and_then(|program| follow(program, processors, notice, strategy));
        followed.unwrap_or_else(|| list::schedule(graph, processors, strategy))
    };
    processors.par_iter().map(one).collect()
}

/// What a runtime does with a program; none if that cannot be followed to its end.
fn follow(program: &Program, processors: u32, notice: Notice, strategy: Strategy) -> Option<Length> {
    if strategy == Strategy::Gnu {
        return Engine::new(program, processors, notice, Gomp::new(program)).run();
    }
    let tries = if program.len() > FEW_TASKS { 1 } else { TRIES };
    let run = |seed| Engine::new(program, processors, notice, Llvm::new(seed)).run();
    let mut lengths = (1..=tries).map(run).collect::<Option<Vec<Length>>>()?;
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}
