//! Replaying a trace under a setting.

use super::arguments::ReplayArguments;
use super::plan::{Plan, changes};
use super::show;
use crate::distributed::{self, Together};
use crate::input;
use crate::live;
use crate::output::must_be_new;
use crate::show::json;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::text;
use anyhow::Result;
use kizami_graph::Graph;
use kizami_network::Fit;
use kizami_replay::{Request, retime_by};
use kizami_terminal::failure::UsageError;
use kizami_trace::run::ReplayedFrom;
use std::io::Write;

/// Replays, and says what came of it.
pub fn run(arguments: &ReplayArguments) -> Result<u8> {
    let threads = arguments.threads.map(|threads| threads.get());
    distributed::by_threads(arguments, threads, |together| {
        let replayed = replay(arguments, together)?;
        if together.is_first() {
            print(arguments, &replayed)?;
        }
        Ok(0)
    })
}

fn replay(arguments: &ReplayArguments, together: Together) -> Result<ReplayedFrom> {
    if arguments.output.is_some() && together.has_others() {
        let message = "several processes cannot write one trace; leave -o out, start kizami without the launcher, or on one host \
             without --threads";
        return Err(UsageError(message.to_owned()).into());
    }
    let threads = arguments.threads.map(|threads| threads.get());
    let trace = input::open_together(&live::readable(&arguments.trace)?, together, arguments)?;
    let trace = input::follow_together(trace, threads, arguments.memory, together)?.trace;
    if let Some(output) = &arguments.output {
        must_be_new(output, "-o")?;
    }
    let plan = Plan::new(arguments, &trace, &trace.definitions()?)?;
    let threads = together.threads(threads);
    let request = Request {
        made_from: None,
        clocks_unaligned: false,
        output: arguments.output.as_deref(),
        threads,
        words: changes(arguments).iter().map(ToString::to_string).collect(),
    };
    let bar = Bar::new("replaying");
    let setting = |graph: &Graph, fit: &Fit| plan.setting(graph, fit, threads);
    retime_by(&trace, request, together.processes(), setting, &|progress| {
        bar.set(progress.rows, progress.total, || quantity::counted(progress.rows, "row"));
    })
}

fn print(arguments: &ReplayArguments, replayed: &ReplayedFrom) -> Result<()> {
    let mut out = text::stdout();
    if arguments.json {
        return Ok(json::print(json::REPLAY, replayed)?);
    }
    let needs_fit = arguments.latency.is_some() || arguments.bandwidth.is_some();
    let mut lines = show::lines(replayed, needs_fit);
    if !arguments.overlap.is_empty() {
        let best = "best case: assumes that none of the overlapped computation needs the awaited data";
        lines.push(("overlap", best.to_owned()));
    }
    if let Some(threads) = arguments.omp_threads {
        let trace = as_typed(&arguments.trace);
        let range = format!(
            "divide work as unevenly as in the run; `kizami whatif {trace} --omp-threads {threads}` gives the range"
        );
        lines.push(("threads", range));
    }
    for (label, text) in lines {
        writeln!(out, "{label:<12} {text}")?;
    }
    if let Some(output) = &arguments.output {
        writeln!(out, "next: kizami info {}", as_typed(output))?;
    }
    Ok(())
}
