//! Runs the query, and tells its answers and what it took.

use super::arguments::FlengArguments;
use super::write::TaskWriter;
use crate::output::must_be_new;
use crate::show::path::as_typed;
use crate::show::style::Paint;
use crate::show::{json, quantity, text};
use anyhow::{Context, Result, anyhow};
use kizami_fleng::{Costs, Outcome, Program, Query, Settings, SyntaxError, TextLimits};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// Parts of an answer that fit on a screen.
const SHOWN_PARTS: usize = 100;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Told {
    answers: BTreeMap<String, String>,
    end: u64,
    work: u64,
    parallelism: f64,
    peak: u64,
    tasks: u64,
    /// Goals that wait for ever: how many, and the first of them.
    stuck_count: usize,
    stuck: Vec<String>,
}

/// Runs it.
pub fn run(arguments: &FlengArguments) -> Result<u8> {
    if let Some(output) = &arguments.output {
        must_be_new(output, "-o")?;
    }
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
    let failed = || as_typed(&arguments.program);
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
    match arguments.json {
        true => json::print(json::FLENG, told(&outcome, parallelism))?,
        false => show(arguments, &outcome, parallelism)?,
    }
    Ok(u8::from(outcome.stuck_count > 0))
}

fn query(arguments: &FlengArguments) -> Result<Query> {
    let path = as_typed(&arguments.program);
    let source =
        std::fs::read_to_string(&arguments.program).with_context(|| format!("cannot read {path}"))?;
    let wrong = |what: &str, error: &SyntaxError| anyhow!("{what}:{}:{}: {error}", error.line, error.column);
    let program = Program::parse(&source).map_err(|error| wrong(&path, &error))?;
    program.query(&arguments.query).map_err(|error| wrong("query", &error))
}

fn told(outcome: &Outcome, parallelism: f64) -> Told {
    Told {
        answers: outcome.answers.iter().cloned().collect(),
        end: outcome.end,
        work: outcome.work,
        parallelism,
        peak: outcome.peak,
        tasks: outcome.tasks,
        stuck_count: outcome.stuck_count,
        stuck: outcome.stuck.iter().map(ToString::to_string).collect(),
    }
}

fn show(arguments: &FlengArguments, outcome: &Outcome, parallelism: f64) -> Result<()> {
    let (mut out, paint) = (text::stdout(), Paint::stdout());
    for (name, value) in &outcome.answers {
        writeln!(out, "{name} = {value}")?;
    }
    if outcome.stuck_count > 0 {
        writeln!(out, "{}", paint.bad(&format!("{} for ever:", waiting(outcome.stuck_count))))?;
        for stuck in &outcome.stuck {
            writeln!(out, "  {stuck}")?;
        }
    }
    let mut line = |label: &str, what: String| writeln!(out, "{} {what}", paint.label(label));
    line("ends at     ", format!("{} units of virtual time", quantity::count(outcome.end)))?;
    line(
        "work        ",
        format!("{}, in {}", quantity::count(outcome.work), quantity::counted(outcome.tasks, "task")),
    )?;
    line("parallelism ", format!("{parallelism:.2}, at most {}", quantity::count(outcome.peak)))?;
    if let Some(output) = &arguments.output {
        line("next        ", format!("kizami tasks {}", as_typed(output)))?;
    }
    Ok(())
}

fn waiting(goals: usize) -> String {
    match goals {
        1 => "1 goal waits".to_owned(),
        goals => format!("{} goals wait", quantity::count(goals as u64)),
    }
}
