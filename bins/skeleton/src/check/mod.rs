//! `kizami skeleton check`: whether a skeleton does what its program did.

mod arguments;
mod show;

pub use arguments::Arguments;

use crate::progress::Watch;
use anyhow::Result;
use kizami_execute::{CheckOptions, RankMode, Skeleton};
use kizami_terminal::{json, text};
use std::io::Write;
use std::process::ExitCode;

/// The form of the JSON.
const SCHEMA: &str = "kizami-skeleton-check/1";

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let skeleton = Skeleton::open(&arguments.skeleton, None)?;
    let own = &arguments.program_arguments;
    let options = CheckOptions {
        arguments: (!own.is_empty()).then(|| own.clone()),
        every_call: arguments.every_call,
        mode: if arguments.together { RankMode::Together } else { RankMode::Auto },
        memory: Some(arguments.memory.unwrap_or_else(kizami_memory::half_of_free)),
    };
    let watch = Watch::begin();
    let checked =
        kizami_execute::check(&skeleton, &arguments.trace, &options, &|progress| watch.report(progress))?;
    drop(watch);
    if arguments.json {
        json::print(SCHEMA, &checked)?;
    } else {
        text::stdout().write_all(show::text(&checked).as_bytes())?;
    }
    let same = checked.identical == checked.ranks;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
