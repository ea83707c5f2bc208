//! Replaying a trace under a setting.

use super::arguments::ReplayArguments;
use super::links;
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
use kizami_replay::{ReplayFacts, Request, Setting, retime_by};
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;
use kizami_trace::run::ReplayedFrom;
use std::io::Write;
use std::path::Path;

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
    links::check(arguments)?;
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
    let plan = &Plan::new(arguments, &trace, &trace.definitions()?)?;
    let replaying = Replaying { arguments, trace: &trace, plan, together, bar: Bar::new("replaying") };
    if let Some(platform) = &arguments.platform {
        return replaying.on_links(platform);
    }
    let target = Target { output: arguments.output.as_deref(), known: ReplayFacts::default() };
    let threads = replaying.threads();
    replaying.retime(&trace, target, &|graph, fit| Ok(plan.setting(graph, fit, threads)?.0))
}

/// A replay as it is asked for.
pub struct Replaying<'a> {
    pub arguments: &'a ReplayArguments,
    pub trace: &'a Trace,
    pub plan: &'a Plan,
    pub together: Together,
    bar: Bar,
}

/// Where a replay goes, and what it says of itself.
#[derive(Default)]
pub struct Target<'a> {
    pub output: Option<&'a Path>,
    pub known: ReplayFacts,
}

impl Replaying<'_> {
    /// How many threads walk.
    pub fn threads(&self) -> usize {
        self.together.threads(self.arguments.threads.map(|threads| threads.get()))
    }

    /// Replays a trace: the one that was given, or one made from it.
    pub fn retime(
        &self,
        trace: &Trace,
        target: Target<'_>,
        setting: &dyn Fn(&Graph, &Fit) -> Result<Setting>,
    ) -> Result<ReplayedFrom> {
        let request = Request {
            made_from: Some(self.trace.path().display().to_string()),
            output: target.output,
            threads: self.threads(),
            words: changes(self.arguments).iter().map(ToString::to_string).collect(),
            known: target.known,
            ..Request::default()
        };
        retime_by(trace, request, self.together.processes(), setting, &|progress| {
            self.bar.set(progress.rows, progress.total, || quantity::counted(progress.rows, "row"));
        })
    }
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
