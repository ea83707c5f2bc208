//! Works out what is told of a run's tasks.

use super::arguments::TasksArguments;
use super::plot::Plot;
use super::show;
use crate::failure::UsageError;
use crate::output::{must_be_new, write_new};
use crate::show::json;
use anyhow::Result;
use kizami_model::Moment;
use kizami_tasks::{Parallelism, Path, TaskGraph, places, schedule};
use kizami_trace::run::ClockInfo;
use kizami_trace::{CallSite, Trace};
use serde::Serialize;

/// Parts of a picture's curve, at most.
const PLOTTED_PARTS: usize = 720;

/// What `--json` prints. Times are nanoseconds, or units of virtual time.
#[derive(Debug, Serialize)]
pub struct Told {
    /// `ns` or `units`.
    pub unit: &'static str,
    pub tasks: u64,
    pub work: i64,
    pub span: i64,
    pub parallelism: f64,
    pub peak: u32,
    pub places: Vec<Place>,
    pub processors: Vec<Processors>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<f64>,
}

/// Tasks of one place.
#[derive(Debug, Serialize)]
pub struct Place {
    pub name: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub tasks: u64,
    pub work: i64,
    pub waited: i64,
    pub longest: i64,
    pub on_critical_path: i64,
}

/// What so many processors would do.
#[derive(Debug, Serialize)]
pub struct Processors {
    pub processors: u32,
    pub at_least: i64,
    pub at_most: i64,
    pub simulated: i64,
}

/// Explains.
pub fn run(arguments: &TasksArguments) -> Result<u8> {
    if arguments.processors.contains(&0) {
        return Err(UsageError("--processors: there must be at least one".to_owned()).into());
    }
    if let Some(plot) = &arguments.plot {
        must_be_new(plot, "--plot")?;
    }
    let trace = Trace::open(&arguments.trace)?;
    let told = explain(&trace, arguments)?;
    match arguments.json {
        true => json::print(json::TASKS, told)?,
        false => show::show(&told)?,
    }
    Ok(0)
}

fn explain(trace: &Trace, arguments: &TasksArguments) -> Result<Told> {
    let graph = TaskGraph::of(trace)?;
    let (parallelism, path) = (Parallelism::of(&graph), Path::of(&graph));
    let (work, span) = (graph.work(), graph.span());
    let callsites = trace.definitions()?.callsites;
    let sums = places(&graph, &path);
    let processors = arguments.processors.iter().map(|processors| Processors {
        processors: *processors,
        at_least: parallelism.at_least(*processors, span).0,
        at_most: parallelism.at_most(*processors, span).0,
        simulated: schedule(&graph, *processors, arguments.strategy).0,
    });
    let is_virtual = trace.run().clocks.method == ClockInfo::VIRTUAL;
    let curve = |parts: usize| match parts {
        0 => Vec::new(),
        parts => parallelism.curve(Moment::START, Moment::START + span, parts),
    };
    let unit = if is_virtual { "units" } else { "ns" };
    if let Some(file) = &arguments.plot {
        let title = format!("{}: how many tasks run", trace.run().command.join(" "));
        let (span, peak) = (span.0 as f64, f64::from(parallelism.peak()));
        let plot = Plot { title: &title, unit, span, peak, curve: &curve(PLOTTED_PARTS.min(span as usize)) };
        write_new(file, plot.draw().as_bytes())?;
    }
    Ok(Told {
        unit,
        tasks: graph.len() as u64,
        work: work.0,
        span: span.0,
        parallelism: work.0 as f64 / span.0.max(1) as f64,
        peak: parallelism.peak(),
        places: sums.iter().map(|sum| place(sum, &callsites)).collect(),
        processors: processors.collect(),
        curve: curve(arguments.curve.unwrap_or(0) as usize),
    })
}

fn place(sum: &kizami_tasks::PlaceSum, callsites: &[CallSite]) -> Place {
    let site = sum.place.and_then(|place| callsites.get(place as usize));
    Place {
        name: site.map_or("(unknown)".to_owned(), |site| site.function.clone()),
        file: site.and_then(|site| site.file.clone()),
        line: site.and_then(|site| site.line),
        tasks: sum.tasks,
        work: sum.work.0,
        waited: sum.waited.0,
        longest: sum.longest.0,
        on_critical_path: sum.on_path.0,
    }
}
