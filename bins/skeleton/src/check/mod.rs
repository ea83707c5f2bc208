//! `kizami skeleton check`: whether a skeleton does what its program did.

mod arguments;
mod show;

pub use arguments::Arguments;

use crate::json;
use anyhow::Result;
use kizami_execute::{CheckOptions, Company, Skeleton};
use std::process::ExitCode;

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let skeleton = Skeleton::open(&arguments.skeleton, None)?;
    let own = &arguments.program_arguments;
    let options = CheckOptions {
        arguments: (!own.is_empty()).then(|| own.clone()),
        every_call: arguments.every_call,
        company: if arguments.together { Company::Together } else { Company::Auto },
    };
    let checked = kizami_execute::check(&skeleton, &arguments.trace, &options)?;
    if arguments.json {
        json::print(json::CHECK, &checked)?;
    } else {
        print!("{}", show::text(&checked));
    }
    let same = checked.identical == checked.ranks;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
