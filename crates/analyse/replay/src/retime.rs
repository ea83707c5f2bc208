//! A whole trace under another setting: how long the run takes in it, and on request the run as a trace like any
//! other, whose `run.json` says what it was made from and what was different.

use crate::error::ReplayError;
use crate::lane_moment::LaneMoment;
use crate::learned::{Learned, Passes, Progress};
use crate::rank_classes::{self, Settled};
use crate::setting::{Factor, Setting};
use crate::times::{LastEnd, Times};
use crate::walk::Replayed;
use crate::walk::observer::{EndedStep, Observer};
use crate::walk::processes::{SentObserver, Workers, replay_by};
use crate::work_interval::{Borders, WorkInterval, WorkIntervals};
use kizami_graph::{Graph, build, build_unaligned};
use kizami_model::Length;
use kizami_network::Fit;
use kizami_process_group::ProcessGroup;
use kizami_rank_classes::Weighed;
use kizami_trace::derived::Scratch;
use kizami_trace::rewrite::{Gaps, Manner, NewTimes, Rewriting};
use kizami_trace::run::{ReplayedFrom, SharedLinks};
use kizami_trace::{RankSelection, RunInfo, Trace};
use kizami_wire::Wire;
use std::path::Path;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// Directory to make for the resulting trace, if it is wanted.
    pub output: Option<&'a Path>,
    /// How many threads walk.
    pub threads: usize,
    /// What it is made from, for `run.json`, if that is more than the trace that is replayed.
    pub made_from: Option<String>,
    /// The setting as people write it, for `run.json`.
    pub words: Vec<String>,
    /// Times of different ranks do not fit together yet.
    pub clocks_unaligned: bool,
    /// What is known beyond the replay itself, for `run.json`.
    pub known: ReplayFacts,
}

/// What is known of a replay beforehand.
#[derive(Clone, Debug, Default)]
pub struct ReplayFacts {
    /// How link contention is modelled.
    pub links: Option<SharedLinks>,
    /// A replay of the recorded run, if the trace that is replayed has other times already: for what was recorded.
    pub recorded: Option<ReplayedFrom>,
}

/// Replays a trace. `setting` is called once it is known what the trace holds and what messages cost in it; if it refuses,
/// nothing is left. A run stored by rank class results in as many classes as differ under the setting.
pub fn retime<E: From<ReplayError>>(
    trace: &Trace,
    request: Request<'_>,
    setting: impl FnOnce(&Graph, &Fit) -> Result<Setting, E>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<ReplayedFrom, E> {
    retime_by(trace, request, None, setting, progress)
}

/// The same by several processes, if no trace is to come of it: all read and learn, and share the replay.
pub fn retime_by<E: From<ReplayError>>(
    trace: &Trace,
    request: Request<'_>,
    processes: Option<&'static dyn ProcessGroup>,
    setting: impl FnOnce(&Graph, &Fit) -> Result<Setting, E>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<ReplayedFrom, E> {
    let workers = Workers { threads: request.threads, processes };
    let rewriting = begin(&request, trace)?;
    let passes = Passes::new(trace, if rewriting.is_some() { 4 } else { 3 }, progress);
    let scratch = Scratch::beside(trace);
    let folder = rewriting.as_ref().map_or(scratch.path(), Rewriting::folder);
    let make = if request.clocks_unaligned { build_unaligned } else { build };
    let graph = make(trace, request.threads, &|rows| passes.report(0, rows)).map_err(ReplayError::from)?;
    let learned = Learned::of(graph, request.threads, &passes);
    let setting = setting(&learned.graph, &learned.fit)?;
    let beside = request.output.map_or(folder, |output| output.parent().unwrap_or(folder));
    let beside = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
    let as_it_is = (trace, trace.path());
    let (_written_in, finer) =
        match rank_classes::settle(trace, &learned, &setting, (beside, rewriting.is_some()))? {
            Settled::AsItIs => {
                return Ok(retime_with(as_it_is, rewriting, (request, workers), learned, &setting, &passes)?);
            }
            Settled::AllRanks(graph) => {
                let all = Learned { graph: *graph, fit: learned.fit };
                return Ok(retime_with(as_it_is, None, (request, workers), all, &setting, &passes)?);
            }
            Settled::Finer(work, finer) => (work, finer),
        };
    drop(rewriting);
    let graph = make(&finer, request.threads, &|_| {}).map_err(ReplayError::from)?;
    let learned = Learned { graph, fit: learned.fit };
    let rewriting = begin(&request, &finer)?;
    Ok(retime_with((&finer, trace.path()), rewriting, (request, workers), learned, &setting, &passes)?)
}

/// Creates the directory of the resulting trace, if it is wanted.
fn begin<'a>(request: &Request<'_>, trace: &'a Trace) -> Result<Option<Rewriting<'a>>, ReplayError> {
    Ok(request.output.map(|output| Rewriting::begin(trace, output)).transpose()?)
}

/// Replays a trace that was made from the one of this name, if it is not that one.
fn retime_with(
    (trace, named): (&Trace, &Path),
    rewriting: Option<Rewriting<'_>>,
    (request, workers): (Request<'_>, Workers),
    Learned { graph, fit }: Learned,
    setting: &Setting,
    passes: &Passes<'_>,
) -> Result<ReplayedFrom, ReplayError> {
    let Request { threads, made_from, mut words, known: ReplayFacts { links, recorded }, .. } = request;
    let _phase = tracing::info_span!("replay", steps = graph.steps.len(), threads).entered();
    if let Some(folding) = &graph.folding {
        words.push(format!("in {} rank classes", folding.rank_classes.count()));
    }
    if graph.unfolding.is_some() {
        words.push(format!("with each of {} ranks", graph.ranks()));
    }
    let report = |steps| passes.report(2, steps);
    let borders = Borders::new();
    let recorded = recorded.unwrap_or_else(|| ReplayedFrom {
        recorded_ns: trace.run().span_ns,
        recorded_work_ns: Some(WorkInterval::recorded(&graph, &borders, threads).length().0),
        latency_ns: fit.latency_ns(),
        per_byte_ns: fit.per_byte_ns(),
        ..ReplayedFrom::default()
    });
    let made = |replayed: &Replayed<()>, span: Length, work: WorkInterval| ReplayedFrom {
        made_from: made_from.unwrap_or_else(|| named.display().to_string()),
        setting: words,
        replayed_ns: span.0,
        replayed_work_ns: Some(work.length().0),
        followed: replayed.followed,
        not_followed: graph.not_followed,
        unmatched: replayed.unmatched,
        links,
        ..recorded
    };
    let Some(rewriting) = rewriting else {
        let ends = || Ends { last: LastEnd(LaneMoment::MINUS_INFINITY), work: WorkIntervals::new(&borders) };
        let mut replayed = replay_by(&graph, [setting], &fit, workers, ends, &report);
        let ends = std::mem::take(&mut replayed.observers);
        let last = ends.iter().map(|ends| ends.last.0).max();
        let last = last.filter(|_| !graph.strands.is_empty()).unwrap_or_default();
        let [work] = WorkIntervals::all(ends.into_iter().map(|ends| ends.work).collect());
        return Ok(made(&replayed.without_observers(), last.as_moment().since_start(), work));
    };
    let (times, replayed) = Times::under(setting, &graph, &fit, threads, &report);
    let weighed = weighed(trace, &graph, &times)?;
    let mut retimed = made(&replayed, Length::ZERO, times.work_interval(&borders));
    let describe = |run: &mut RunInfo| {
        retimed.replayed_ns = run.span_ns;
        run.replayed = Some(retimed.clone());
        if let Some(weighed) = weighed {
            weighed.write_to(run);
        }
    };
    let Setting { without_tracer, own_cores, .. } = *setting;
    let manner = Manner { without_tracer, own_cores, gaps: gaps(setting) };
    rewriting.finish(&times, manner, describe, &|rows| passes.report(3, rows))?;
    Ok(retimed)
}

/// What rows add up to at their new times, over all ranks of their classes; none where every rank has its rows.
fn weighed(trace: &Trace, graph: &Graph, times: &Times<'_>) -> Result<Option<Weighed>, ReplayError> {
    let Some(folding) = &graph.folding else { return Ok(None) };
    let mut weighed = Weighed::default();
    for (number, row) in (0..).zip(trace.calls(RankSelection::All)?) {
        let (start, end) = times.of_row(number);
        weighed.add(&row?, Length(end.saturating_sub(start)), &folding.rank_classes);
    }
    Ok(Some(weighed))
}

/// When the last step ends, and between which moments the program works.
struct Ends<'a> {
    last: LastEnd,
    work: WorkIntervals<'a, 1>,
}

impl Observer<1> for Ends<'_> {
    fn step(&mut self, seen: &EndedStep<'_, 1>) {
        self.last.step(seen);
        self.work.step(seen);
    }
}

impl SentObserver<1> for Ends<'_> {
    fn encode(&self, message: &mut Vec<u8>) {
        self.last.0.encode(message);
        self.work.encode(message);
    }

    fn decode(&mut self, message: &mut &[u8]) -> Option<()> {
        self.last = LastEnd(Wire::decode(message)?);
        self.work.decode(message)
    }
}

/// Where computation keeps its length, only the tracer can have made the time between two calls shorter.
fn gaps(setting: &Setting) -> Gaps {
    let as_recorded =
        setting.cpu == Factor::default() && setting.places.is_empty() && setting.steps.is_none();
    if as_recorded { Gaps::CutAtTheBeginning } else { Gaps::Stretched }
}
