//! Runs a skeleton, and has the trace of that run written if it is wanted.

use crate::ExecuteError;
use crate::child::{Progress, gather};
use crate::oracles::{Answered, Answers, Setting};
use crate::runner::{Plan, RankMode};
use crate::skeleton::Skeleton;
use crate::time::{Noise, TimeModel};
use crate::write::{Writing, write};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// What is to be run, and what comes of it.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// How many ranks.
    pub ranks: u32,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// What places that depend on data give, where it is said.
    pub settings: Vec<Setting>,
    /// Whether ranks run alone or together.
    pub mode: RankMode,
    /// How many ranks a node has, for programs that ask; all, if it is not said.
    pub ranks_per_node: Option<u32>,
    /// How many threads run ranks that are alone; as many as there are processors, if it is not said.
    pub threads: Option<u32>,
    /// A recorded run of the program, from which it is learned how long computation takes; none takes any without it.
    pub like: Option<PathBuf>,
    /// What is made of the part of its times that nothing explains.
    pub noise: Noise,
    /// Which noise is drawn: the same for the same number.
    pub seed: u64,
    /// Whether the trace has rows for one rank of each kind; where there are many ranks, if it is not said.
    pub by_kind: Option<bool>,
    /// Where the trace goes; without it calls are only counted.
    pub output: Option<PathBuf>,
    /// Bytes that all ranks may have together; whatever there is, if it is not said.
    pub memory: Option<u64>,
}

/// What was run.
#[derive(Clone, Debug, Serialize)]
pub struct Ran {
    /// Ranks.
    pub ranks: u32,
    /// Calls of all ranks.
    pub calls: u64,
    /// Kinds of ranks: how many of their sequences differ.
    pub kinds: u32,
    /// How often each rank was run until nothing changed.
    pub passes: u32,
    /// They ran together.
    pub together: bool,
    /// Ranks whose program said by its exit code that something was wrong.
    pub failed: u32,
    /// Where the values of places that depend on data came from.
    pub oracles: Vec<Answered>,
    /// How often each counted loop goes round, over all ranks; in the order of the manifest.
    pub rounds: Vec<u64>,
    /// How long running took, compiling included.
    pub seconds: f64,
    /// Processor time of that, over all threads.
    pub processor_seconds: f64,
    /// How long writing took.
    pub seconds_writing: f64,
}

/// Runs a skeleton; tells meanwhile how far its ranks are.
pub fn run(
    skeleton: &Skeleton,
    options: &RunOptions,
    report: &dyn Fn(&Progress),
) -> Result<Ran, ExecuteError> {
    let begin = Instant::now();
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let answers = Answers::find(skeleton, options.ranks, &options.settings)?;
    let plan = Plan {
        skeleton,
        oracles: answers.values,
        ranks: options.ranks,
        arguments: options.arguments.clone(),
        mode: options.mode,
        ranks_per_node: options.ranks_per_node.unwrap_or(options.ranks),
        threads: options.threads.unwrap_or(processors).min(options.ranks.div_ceil(256)),
        for_rows: options.output.is_some(),
        memory: options.memory,
    };
    let gathered = gather(&plan, report)?;
    let seconds = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    if let Some(output) = &options.output {
        let model = match &options.like {
            Some(recorded) => TimeModel::learn(skeleton, recorded, options, report)?,
            None => TimeModel::default(),
        };
        write(&Writing { skeleton, options, gathered: &gathered, model: &model }, output, processors)?;
    }
    Ok(Ran {
        ranks: options.ranks,
        calls: gathered.calls,
        kinds: gathered.kinds.len() as u32,
        passes: gathered.passes,
        together: gathered.together,
        failed: gathered.failed,
        oracles: answers.rules,
        rounds: gathered.rounds(skeleton.manifest.loops.len()),
        seconds,
        processor_seconds: gathered.processor_seconds,
        seconds_writing: begin.elapsed().as_secs_f64(),
    })
}
