//! `kizami skeleton run`: the trace of a run that nobody made.

mod arguments;
mod show;

pub use arguments::Arguments;

use crate::progress::Watch;
use anyhow::Result;
use kizami_execute::{RankMode, RunOptions, Skeleton};
use kizami_terminal::failure::UsageError;
use kizami_terminal::{json, text};
use std::io::Write;
use std::process::ExitCode;

/// The form of the JSON.
const SCHEMA: &str = "kizami-skeleton-run/1";

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(output) = arguments.output.as_ref().filter(|output| output.exists()) {
        let named = output.display();
        return Err(
            UsageError(format!("{named} already exists; remove it, or choose another name with -o")).into()
        );
    }
    let skeleton = Skeleton::open(&arguments.skeleton, None)?;
    let options = RunOptions {
        ranks: arguments.ranks.get(),
        arguments: arguments.program_arguments.clone(),
        ranks_per_node: arguments.ranks_per_node.map(|count| count.get()),
        threads: arguments.threads.map(|count| count.get()),
        like: arguments.like.clone(),
        settings: arguments.settings.clone(),
        mode: if arguments.together { RankMode::Together } else { RankMode::Auto },
        noise: arguments.noise,
        seed: arguments.seed,
        by_kind: arguments.kinds.0,
        output: arguments.output.clone(),
        memory: Some(arguments.memory.unwrap_or_else(kizami_memory::half_of_free)),
    };
    let watch = Watch::begin();
    let ran = kizami_execute::run(&skeleton, &options, &|progress| watch.report(progress))?;
    drop(watch);
    if arguments.json {
        json::print(SCHEMA, &ran)?;
    } else {
        text::stdout().write_all(show::text(&ran, arguments).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
