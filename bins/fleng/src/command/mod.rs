//! Runs the query of a command line, prints its answers and what it took, and writes its tasks as a trace.

mod arguments;
mod write;

use anyhow::{Context, Result, anyhow};
use arguments::Arguments;
use clap::Parser;
use kizami_fleng::{Costs, Outcome, Program, Query, Settings, SyntaxError, TextLimits};
use kizami_phrases::quantity;
use kizami_terminal::{failure, json, text};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use write::TaskWriter;

/// The schema of what `--json` prints.
const SCHEMA: &str = "kizami-fleng/1";
/// Parts of an answer that fit on a screen.
const SHOWN_PARTS: usize = 100;

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Output {
    /// The query's variables and their values.
    answers: BTreeMap<String, String>,
    /// End of the last task, in virtual time.
    end: u64,
    /// Total running time.
    work: u64,
    /// Work divided by end.
    parallelism: f64,
    /// Largest number of tasks at once.
    peak: u64,
    /// Goals that ran.
    tasks: u64,
    /// Goals that wait for ever.
    stuck_count: usize,
    /// The first of them, each with its line and what it waits for.
    stuck: Vec<String>,
}

/// Runs the command; gives its exit code.
pub fn run() -> u8 {
    let arguments = Arguments::parse();
    if let Some(output) = arguments.output.as_ref().filter(|output| output.symlink_metadata().is_ok()) {
        let named = output.display();
        failure::report(&format!("{named} already exists; choose another name with -o, or remove it"));
        return failure::USAGE;
    }
    run_query(&arguments).unwrap_or_else(|error| {
        failure::report(&failure::message(&error));
        failure::exit_code(&error)
    })
}

fn run_query(arguments: &Arguments) -> Result<u8> {
    let query = query(arguments)?;
    let settings = Settings {
        costs: Costs { commit: arguments.commit, goal: arguments.goal },
        order: arguments.order,
        budget: arguments.budget,
        text: match arguments.json {
            true => TextLimits::default(),
            false => TextLimits { parts: SHOWN_PARTS, ..TextLimits::default() },
        },
        ..Settings::default()
    };
    let failed = || arguments.program.display().to_string();
    let outcome = match &arguments.output {
        None => query.run(&settings, &mut ()).with_context(failed)?,
        Some(output) => {
            let mut writer = TaskWriter::create(output, &arguments.program, &arguments.query)?;
            let outcome = query.run(&settings, &mut writer).with_context(failed)?;
            writer.finish(&outcome)?;
            outcome
        }
    };
    let parallelism = outcome.work as f64 / outcome.end.max(1) as f64;
    let written = match arguments.json {
        true => print_json(&outcome, parallelism),
        false => show(arguments, &outcome, parallelism),
    };
    // Whoever reads a part of the output, such as `head`, has seen enough.
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })?;
    Ok(u8::from(outcome.stuck_count > 0))
}

fn query(arguments: &Arguments) -> Result<Query> {
    let path = arguments.program.display().to_string();
    let source =
        std::fs::read_to_string(&arguments.program).with_context(|| format!("cannot read {path}"))?;
    let wrong = |what: &str, error: &SyntaxError| anyhow!("{what}:{}:{}: {error}", error.line, error.column);
    let program = Program::parse(&source).map_err(|error| wrong(&path, &error))?;
    program.query(&arguments.query).map_err(|error| wrong("query", &error))
}

fn print_json(outcome: &Outcome, parallelism: f64) -> io::Result<()> {
    let output = Output {
        answers: outcome.answers.iter().cloned().collect(),
        end: outcome.end,
        work: outcome.work,
        parallelism,
        peak: outcome.peak,
        tasks: outcome.tasks,
        stuck_count: outcome.stuck_count,
        stuck: outcome.stuck.iter().map(ToString::to_string).collect(),
    };
    json::print(SCHEMA, &output)
}

fn show(arguments: &Arguments, outcome: &Outcome, parallelism: f64) -> io::Result<()> {
    let mut out = text::stdout();
    for (name, value) in &outcome.answers {
        writeln!(out, "{name} = {value}")?;
    }
    if outcome.stuck_count > 0 {
        writeln!(out, "{}:", hanging(outcome.stuck_count))?;
        for stuck in &outcome.stuck {
            writeln!(out, "  {stuck}")?;
        }
    }
    writeln!(out, "ends at      {} units of virtual time", quantity::count(outcome.end))?;
    let tasks = quantity::counted(outcome.tasks, "task");
    writeln!(out, "work         {}, in {tasks}", quantity::count(outcome.work))?;
    writeln!(out, "parallelism  {parallelism:.2}, at most {}", quantity::count(outcome.peak))?;
    if let Some(output) = &arguments.output {
        writeln!(out, "next         kizami tasks {}", output.display())?;
    }
    Ok(())
}

fn hanging(goals: usize) -> String {
    match goals {
        1 => "1 goal hangs".to_owned(),
        goals => format!("{} goals hang", quantity::count(goals as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_testing::schemas::{Form, check};
    use schemars::generate::SchemaSettings;

    #[test]
    fn the_schema_of_the_book_is_that_of_the_type() {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let schema = generator.into_root_schema_for::<Output>().to_value();
        check(SCHEMA, "fleng --json", Form::Object, schema);
    }
}
