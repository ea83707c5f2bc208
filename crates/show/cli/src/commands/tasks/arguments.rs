//! Arguments of `kizami tasks`.

use crate::show::quantity;
use clap::Args;
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

Work is the total time of all tasks; span is the longest chain of dependent tasks, which no number of
processors shortens. For each number of processors, no schedule is shorter than `at least`, and a
greedy schedule is no longer than `at most`. `simulated` schedules the tasks as GNU's or LLVM's OpenMP
runtime does, or by a list: oldest ready task first, newest first, or longest remaining chain first.
The default is the runtime that ran the program, otherwise oldest.

A recorded program contributes the OpenMP tasks and parallel regions of one rank, with measured times
without waiting, preemption and tracer overhead. The burdened span adds to each task the delay with
which idle threads picked up work in the run.";

/// Analyse tasks: parallelism, critical path, and run time on other numbers of processors.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct TasksArguments {
    /// The trace
    #[arg(value_name = "NAME.kz")]
    pub trace: PathBuf,

    /// Rank whose tasks are analysed
    #[arg(long, value_name = "RANK", default_value_t = 0)]
    pub rank: u32,

    /// Numbers of processors
    #[arg(short, long, value_name = "N,...", value_delimiter = ',', default_value = "1,2,4,8,16,64")]
    pub processors: Vec<u32>,

    /// Scheduling strategy [default: that of the recorded runtime]
    #[arg(long, value_name = "gnu|llvm|oldest|newest|longest", value_parser = parse_strategy)]
    pub strategy: Option<Strategy>,

    /// Compute bounds only, without simulation; needs little memory for any number of tasks
    #[arg(long, conflicts_with = "strategy")]
    pub bounds: bool,

    /// Memory limit; if all tasks need more, only bounds are computed [default: half of free memory]
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size, env = "KIZAMI_READ_MEMORY")]
    pub memory: Option<u64>,

    /// With --json, add the mean parallelism in N equal intervals
    #[arg(long, value_name = "PARTS")]
    pub curve: Option<u32>,

    /// Plot parallelism over time
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_strategy(text: &str) -> Result<Strategy, String> {
    let known = Strategy::ALL.into_iter().find(|strategy| strategy.name() == text);
    known.ok_or_else(|| "gnu, llvm, oldest, newest or longest".to_owned())
}
