//! Works out what is told of a run's tasks.

use super::arguments::TasksArguments;
use super::plot::Plot;
use super::show;
use crate::output::{must_be_new, write_new};
use crate::show::json;
use anyhow::Result;
use kizami_model::{Length, Moment, Rank};
use kizami_tasks::{
    Bound, Notice, Parallelism, Path, PlaceSum, Strategy, TaskGraph, asleep, burdened_span, memory_needed,
    places, recorded_by, schedules, stream,
};
use kizami_terminal::failure::UsageError;
use kizami_trace::run::{ClockInfo, CountedTasks};
use kizami_trace::{CallSite, Trace, function_name};
use serde::Serialize;

/// Parts of a picture's curve, at most.
const PLOTTED_PARTS: usize = 720;

/// What `--json` prints. Times are nanoseconds, or units of virtual time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TasksReport {
    /// Unit of times: `ns` or `units` of virtual time.
    pub unit: &'static str,
    /// Rank of the tasks.
    pub rank: u32,
    /// How many ranks there are.
    #[serde(skip)]
    pub ranks: u32,
    /// Number of tasks, each counted once however often it waited.
    pub tasks: u64,
    /// Total running time of all tasks.
    pub work: i64,
    /// The part of `work` in which tasks slept or waited in the system, which needs no processor; null if unknown.
    pub asleep: Option<i64>,
    /// Duration with unlimited processors.
    pub span: i64,
    /// Work divided by span.
    pub parallelism: f64,
    /// Largest number of tasks at once.
    pub peak: u32,
    /// Length of the interval over which the peak is averaged; null if it is exact.
    pub peak_over: Option<i64>,
    /// With the delay until idle threads notice work; null for runs in virtual time.
    pub burden: Option<Burden>,
    /// Scheduling strategy; null with bounds only.
    pub strategy: Option<&'static str>,
    /// Memory that it would have taken to give them out, where that was too much.
    #[serde(skip)]
    pub too_much: Option<u64>,
    /// Tasks of all ranks that were counted but not recorded; the other fields ignore them.
    pub counted_tasks: Option<CountedTasks>,
    /// Tasks by where they were created or what they are, largest part of the critical path first.
    pub places: Vec<Place>,
    /// Results for each number of processors, in the order requested.
    pub processors: Vec<Processors>,
    /// Mean parallelism in equal parts of the span; only with `--curve`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<f64>,
}

/// The delay until idle threads notice work.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Burden {
    /// Delay until a new task is noticed.
    pub task: i64,
    /// Delay until the end of a wait is noticed.
    pub over: i64,
    /// Delay until a thread begins its share of a region.
    pub begin: i64,
    /// Delay until a thread goes on behind a barrier or a region.
    pub pass: i64,
    /// The span if every task starts or resumes this much later.
    pub span: i64,
    /// Work divided by that span.
    pub parallelism: f64,
}

/// Tasks of one place.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    /// Function or goal.
    pub name: String,
    /// Source file; null if there is none.
    pub file: Option<String>,
    /// Line in the file; null if unknown; 0 for the query of a Fleng program.
    pub line: Option<u32>,
    /// Number of tasks.
    pub tasks: u64,
    /// Running time.
    pub work: i64,
    /// Time between creation and start.
    pub waited: i64,
    /// Running time of the longest task.
    pub longest: i64,
    /// Their part of the span.
    pub on_critical_path: i64,
}

/// Duration on a number of processors.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Processors {
    /// Number of processors.
    pub processors: u32,
    /// Lower bound.
    pub at_least: i64,
    /// Upper bound: for a schedule that leaves no processor idle while a task is ready, or if `idle_with_tasks`, for one in
    /// which some task runs at each moment.
    pub at_most: i64,
    /// The simulated runtime leaves threads idle while tasks are ready.
    pub idle_with_tasks: bool,
    /// Length of the simulated schedule; null with bounds only.
    pub simulated: Option<i64>,
    /// Shortest of nine simulations; null if there was one.
    pub simulated_low: Option<i64>,
    /// Longest of nine simulations; null if there was one.
    pub simulated_high: Option<i64>,
    /// Strategy of the simulation: differs from that of the report if a runtime's scheduling could not be simulated;
    /// null with bounds only.
    pub strategy: Option<&'static str>,
}

/// Explains.
pub fn run(arguments: &TasksArguments) -> Result<u8> {
    if arguments.processors.contains(&0) {
        return Err(UsageError("--processors: give at least one".to_owned()).into());
    }
    if let Some(plot) = &arguments.plot {
        must_be_new(plot, "--plot")?;
    }
    let trace = Trace::open(&arguments.trace)?;
    let report = explain(&trace, arguments)?;
    match arguments.json {
        true => json::print(json::TASKS, report)?,
        false => show::show(&report)?,
    }
    Ok(0)
}

fn explain(trace: &Trace, arguments: &TasksArguments) -> Result<TasksReport> {
    let rank = Rank(arguments.rank);
    let needed = memory_needed(trace, rank)?;
    let too_much = needed > arguments.memory.unwrap_or_else(kizami_memory::half_of_free);
    match arguments.bounds || too_much {
        true => bounds(trace, arguments, too_much.then_some(needed)),
        false => all(trace, arguments),
    }
}

/// What is told with all tasks in memory.
fn all(trace: &Trace, arguments: &TasksArguments) -> Result<TasksReport> {
    let graph = TaskGraph::of(trace, Rank(arguments.rank))?;
    let (parallelism, path) = (Parallelism::of(&graph), Path::of(&graph));
    let (work, span) = (graph.work(), graph.span());
    let strategy = strategy(trace, arguments, &graph)?;
    let simulated = schedules(&graph, &arguments.processors, strategy);
    let processors = arguments.processors.iter().zip(simulated).map(|(processors, simulated)| Processors {
        processors: *processors,
        at_least: simulated.at_least.0,
        at_most: simulated.at_most.0,
        idle_with_tasks: simulated.bound == Bound::OneByOne,
        simulated: Some(simulated.length.0),
        simulated_low: simulated.range.map(|(low, _)| low.0),
        simulated_high: simulated.range.map(|(_, high)| high.0),
        strategy: Some(simulated.strategy.name()),
    });
    let curve = |parts: usize| parallelism.curve(Moment::START, Moment::START + span, parts);
    let burden = graph.notice().map(|notice| (notice, burdened_span(&graph, notice)));
    let report = TasksReport {
        tasks: graph.made() as u64,
        peak: parallelism.peak(),
        burden: burden.map(|burden| Burden::of(burden, work)),
        strategy: Some(strategy.name()),
        places: listed_places(trace, &places(&graph, &path))?,
        processors: processors.collect(),
        ..TasksReport::of(trace, arguments, work, span)
    };
    finish(trace, arguments, report, curve)
}

/// What is told without them: all but schedules.
fn bounds(trace: &Trace, arguments: &TasksArguments, too_much: Option<u64>) -> Result<TasksReport> {
    let streamed = stream(trace, Rank(arguments.rank))?;
    let (bins, bounds) = (&streamed.bins, streamed.bounds());
    let (work, span) = (streamed.work, streamed.span);
    let processors = arguments.processors.iter().map(|processors| Processors {
        processors: *processors,
        at_least: bounds.at_least(*processors).0,
        at_most: bounds.at_most(*processors).0,
        idle_with_tasks: false,
        simulated: None,
        simulated_low: None,
        simulated_high: None,
        strategy: None,
    });
    let report = TasksReport {
        tasks: streamed.made,
        peak: bins.peak().ceil() as u32,
        peak_over: Some(bins.width().0).filter(|width| *width > 1),
        burden: streamed.burden.map(|burden| Burden::of(burden, work)),
        too_much,
        places: listed_places(trace, &streamed.places)?,
        processors: processors.collect(),
        ..TasksReport::of(trace, arguments, work, span)
    };
    finish(trace, arguments, report, |parts| bins.curve(span, parts))
}

/// Adds the curve, and draws it, if asked for.
fn finish(
    trace: &Trace,
    arguments: &TasksArguments,
    mut report: TasksReport,
    curve: impl Fn(usize) -> Vec<f64>,
) -> Result<TasksReport> {
    let asleep = asleep(trace, Rank(arguments.rank))?;
    report.asleep = asleep.map(|asleep| asleep.0.min(report.work));
    if let Some(file) = &arguments.plot {
        let title = format!("{}: running tasks", trace.run().command.join(" "));
        let (span, peak) = (report.span as f64, f64::from(report.peak));
        let curve = &curve(PLOTTED_PARTS.min(span as usize));
        let plot = Plot { title: &title, unit: report.unit, span, peak, curve };
        write_new(file, plot.draw().as_bytes())?;
    }
    if let Some(parts) = arguments.curve.filter(|parts| *parts > 0) {
        report.curve = curve(parts as usize);
    }
    Ok(report)
}

impl TasksReport {
    /// What is known of any run.
    fn of(trace: &Trace, arguments: &TasksArguments, work: Length, span: Length) -> TasksReport {
        let is_virtual = trace.run().clocks.method == ClockInfo::VIRTUAL;
        TasksReport {
            unit: if is_virtual { "units" } else { "ns" },
            rank: arguments.rank,
            ranks: trace.run().ranks,
            tasks: 0,
            work: work.0,
            asleep: None,
            span: span.0,
            parallelism: work.0 as f64 / span.0.max(1) as f64,
            peak: 0,
            peak_over: None,
            burden: None,
            strategy: None,
            too_much: None,
            counted_tasks: trace.run().counted_tasks,
            places: Vec::new(),
            processors: Vec::new(),
            curve: Vec::new(),
        }
    }
}

fn listed_places(trace: &Trace, sums: &[PlaceSum]) -> Result<Vec<Place>> {
    let callsites = trace.definitions()?.callsites;
    let worth_listing = sums.iter().filter(|sum| sum.tasks > 0 || sum.work.0 > 0);
    Ok(worth_listing.map(|sum| place(sum, &callsites)).collect())
}

/// The one that was asked for, or that of the runtime that ran the program.
fn strategy(trace: &Trace, arguments: &TasksArguments, graph: &TaskGraph) -> Result<Strategy> {
    let asked = arguments.strategy;
    if asked.is_some_and(Strategy::is_of_runtime) && !graph.can_follow_runtime() {
        let what = "--strategy: the trace has no task dependencies, so no runtime can be simulated";
        let next = "record the program again, or use oldest, newest or longest";
        return Err(UsageError(format!("{what}; {next}")).into());
    }
    let recorded = match asked.is_none() && graph.can_follow_runtime() {
        true => recorded_by(trace, Rank(arguments.rank))?,
        false => None,
    };
    Ok(asked.or(recorded).unwrap_or_default())
}

impl Burden {
    fn of((notice, span): (Notice, Length), work: Length) -> Burden {
        let parallelism = work.0 as f64 / span.0.max(1) as f64;
        let [task, over, begin, pass] =
            [notice.task, notice.over, notice.begin, notice.pass].map(|length| length.0);
        Burden { task, over, begin, pass, span: span.0, parallelism }
    }
}

/// What a place is called. Compilers make functions of their own of tasks and regions: the one that has them is meant.
fn name(site: &CallSite) -> String {
    let functions = std::iter::once(&site.function).chain(&site.inlined_into);
    let mut written = functions.map(|function| function_name::without_outlining(function));
    written.find(|name| !name.starts_with(".omp")).unwrap_or("(task)").to_owned()
}

fn place(sum: &PlaceSum, callsites: &[CallSite]) -> Place {
    let site = sum.place.and_then(|place| callsites.get(place as usize));
    Place {
        name: site.map_or("(outside parallel regions)".to_owned(), name),
        file: site.and_then(|site| site.file.clone()),
        line: site.and_then(|site| site.line),
        tasks: sum.tasks,
        work: sum.work.0,
        waited: sum.waited.0,
        longest: sum.longest.0,
        on_critical_path: sum.on_path.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_called_as_their_authors_do() {
        let named = |function: &str, inlined_into: &[&str]| {
            let inlined_into = inlined_into.iter().map(|name| (*name).to_owned()).collect();
            let function = function.to_owned();
            name(&CallSite {
                index: 0,
                offset: 0,
                module: None,
                function,
                file: None,
                line: None,
                inlined_into,
                path: None,
            })
        };
        assert_eq!(named("main._omp_fn.0", &[]), "main");
        assert_eq!(named("sort(int*) [clone ._omp_fn.0]", &[]), "sort(int*)");
        assert_eq!(named("main.omp_outlined_debug__", &[]), "main");
        assert_eq!(named(".omp_outlined.", &["main"]), "main");
        assert_eq!(named(".omp_task_entry.", &[]), "(task)");
        assert_eq!(named("fib", &[]), "fib");
    }
}
