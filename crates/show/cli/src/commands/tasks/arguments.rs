//! What can be asked of `kizami tasks`.

use crate::show::quantity;
use clap::Args;
use clap::builder::FalseyValueParser;
use kizami_tasks::Strategy;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami tasks naive.kz
  kizami tasks naive.kz --processors 2,8,32 --strategy longest
  kizami tasks naive.kz --plot naive.svg
  kizami tasks naive.kz --curve 100 --json
  kizami tasks run.kz --rank 3
  kizami tasks run.kz --processors 4,16,64 --strategy gnu
  kizami tasks huge.kz --bounds

Times are virtual: a task starts as soon as it is made and all it needs is
there. Work is how long all tasks run, span how long the run takes then; no
number of processors makes it faster. For each number of processors, no run is
shorter than `at least`, and one that goes through virtual time step by step is
no longer than `at most`; `simulated` gives tasks out by the strategy: as GNU's
or LLVM's runtime for OpenMP does it, or from a list, the task that could run
first, last, or that has the longest chain behind it. By default it is the
runtime that ran the program; where there was none, the oldest comes first.

Of a recorded program these are the tasks and parallel regions of one rank's
OpenMP. How long each ran is what was measured, without waiting, without time in
which the system kept it from running, and without what recording took. The
burdened span is the span if each task begins as late as idle threads took to
notice such things in the run.";

/// Explain the tasks of a run: how parallel it is, what its critical path is made of, what processors would do.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct TasksArguments {
    /// The trace
    #[arg(value_name = "NAME.kz")]
    pub trace: PathBuf,

    /// Whose tasks
    #[arg(long, value_name = "RANK", default_value_t = 0, env = "KIZAMI_TASKS_RANK")]
    pub rank: u32,

    /// Numbers of processors
    #[arg(
        short,
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "1,2,4,8,16,64",
        env = "KIZAMI_TASKS_PROCESSORS"
    )]
    pub processors: Vec<u32>,

    /// Which of the tasks that can run is taken [default: as the runtime that ran the program does]
    #[arg(long, value_name = "gnu|llvm|oldest|newest|longest", value_parser = parse_strategy, env = "KIZAMI_TASKS_STRATEGY")]
    pub strategy: Option<Strategy>,

    /// Tell bounds only: nothing is simulated, and memory hardly grows with the number of tasks
    #[arg(long, conflicts_with = "strategy", env = "KIZAMI_TASKS_BOUNDS", value_parser = FalseyValueParser::new())]
    pub bounds: bool,

    /// Memory to stay within: where all tasks would take more, bounds are told only [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size, env = "KIZAMI_READ_MEMORY")]
    pub memory: Option<u64>,

    /// In JSON, mean parallelism in so many equal parts of virtual time
    #[arg(long, value_name = "PARTS", env = "KIZAMI_TASKS_CURVE")]
    pub curve: Option<u32>,

    /// Draw parallelism over virtual time as a picture
    #[arg(long, value_name = "FILE.svg", env = "KIZAMI_TASKS_PLOT")]
    pub plot: Option<PathBuf>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

fn parse_strategy(text: &str) -> Result<Strategy, String> {
    let known = Strategy::ALL.into_iter().find(|strategy| strategy.name() == text);
    known.ok_or_else(|| "gnu, llvm, oldest, newest or longest".to_owned())
}
