//! `kizami skeleton run`: the trace of a run that nobody made.

mod arguments;
mod show;

pub use arguments::Arguments;

use crate::json;
use anyhow::Result;
use kizami_execute::{Company, RunOptions, Skeleton};
use std::process::ExitCode;

/// Exit code of a command line that is wrong, or of an output that is there already.
const USAGE: u8 = 2;

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(output) = arguments.output.as_ref().filter(|output| output.exists()) {
        eprintln!(
            "kizami skeleton: {} is there already; remove it, or give another name with -o",
            output.display()
        );
        return Ok(ExitCode::from(USAGE));
    }
    let skeleton = Skeleton::open(&arguments.skeleton, None)?;
    let options = RunOptions {
        ranks: arguments.ranks.get(),
        arguments: arguments.program_arguments.clone(),
        ranks_per_node: arguments.ranks_per_node.map(|count| count.get()),
        threads: arguments.threads.map(|count| count.get()),
        like: arguments.like.clone(),
        settings: arguments.settings.clone(),
        company: if arguments.together { Company::Together } else { Company::Auto },
        noise: arguments.noise,
        seed: arguments.seed,
        by_kind: arguments.kinds.0,
        output: arguments.output.clone(),
    };
    let ran = kizami_execute::run(&skeleton, &options)?;
    if arguments.json {
        json::print(json::RUN, &ran)?;
    } else {
        print!("{}", show::text(&ran, arguments));
    }
    Ok(ExitCode::SUCCESS)
}
