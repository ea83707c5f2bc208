//! One number of ranks on one machine: how long the run takes, how sure that is, and what limits it.

use crate::PredictError;
use crate::computation::{Computation, PredictionInputs};
use crate::generate::generate;
use crate::observe::{ByTrust, HIGH, IDEAL, LANES, LOW, MIDDLE, PlaceTime, Places, Watch};
use crate::on_links::{By, LinkModel, OnLinks, judge_phases, simulated_beside};
use crate::on_platform::on_platform;
use crate::shares::{Shares, ideal, split};
use crate::structure::{Part, Program};
use kizami_graph::{Graph, build, build_unaligned};
use kizami_model::{Length, Op};
use kizami_network::{Fit, MeasuredCosts, Messages, Trust};
use kizami_replay::work_interval::Borders;
use kizami_replay::{Factor, Network, PlaceFactor, Replayed, Setting, replay};
use kizami_trace::{Definitions, SourceLine, Trace};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// How far costs may be off, as a share: measured, beyond the largest size, of single messages.
const MEASURED_ERROR: f64 = 0.03;
const LARGER_ERROR: f64 = 0.10;
const MESSAGE_ERROR: f64 = 0.10;
/// How much more calls may cost than with buffers that lie in a cache and have their pages: three times as much was seen.
const COLD_ERROR: f64 = 2.0;
/// A cost is not known if the whole time may be off by more than this share for it, as walking was where it was tried.
const MOST_OFF: f64 = 0.25;
/// Places that are listed as limits.
const LIMITS: usize = 3;

/// Where a run takes place.
#[derive(Clone, Debug)]
pub struct Where {
    /// What calls cost there; as recorded if unknown.
    pub costs: Option<Arc<MeasuredCosts>>,
    /// The network there, where its links are known and costs are not.
    pub network: Option<OnLinks>,
    /// Factor on the time of computation there.
    pub computation: f64,
    /// Whether to predict also what rests on costs that are not known: to compare it with what was recorded.
    pub even_unknown: bool,
    /// How many threads walk.
    pub threads: usize,
}

/// A limit of the run time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit {
    /// `computation`, or the MPI function.
    pub what: String,
    /// The call site, or the call after the computation.
    pub place: SourceLine,
    /// Share of the time of all ranks.
    pub share: f64,
    /// For calls, what dominates their time: `waiting`, `latency` or `bandwidth`, or `transfer` where costs are as
    /// recorded; null for computation.
    pub by: Option<&'static str>,
}

/// A predicted run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Number of ranks.
    pub ranks: u32,
    /// Run time: from the first rank that leaves `MPI_Init` to the last that enters `MPI_Finalize`.
    pub time_s: f64,
    /// Lower end of the 90 % interval.
    pub low_s: f64,
    /// Upper end of the 90 % interval.
    pub high_s: f64,
    /// Computation as a share of the time of all ranks.
    pub efficiency: f64,
    /// What takes most of the time of all ranks, at most three entries, largest first.
    pub limited_by: Vec<Limit>,
    /// How the time of all ranks divides.
    pub shares: Shares,
    /// Number of calls of all ranks.
    pub calls: u64,
    /// Share of the time of all ranks in collectives that were not measured at this number of ranks.
    pub costs_not_measured: f64,
    /// The same in collectives larger than any measured at this number of ranks.
    pub larger_than_measured: f64,
    /// No run shows what messages take, because ranks compute until they have come: the time assumes a usual network, and the
    /// interval covers slow ones.
    pub messages_assumed: bool,
    /// How link contention was modelled; null without `--platform`.
    pub network: Option<LinkModel>,
}

/// A recorded run, on a machine.
pub fn of_recorded(
    trace: &Trace,
    place: &Where,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Point, PredictError> {
    let scratch = tempfile::tempdir().map_err(PredictError::Scratch)?;
    of_recorded_beside(trace, place, &scratch.path().join("there.kz"), progress)
}

/// The same; if it is simulated, what comes out is left beside `directory`, as [`of_program`] does.
pub fn of_recorded_beside(
    trace: &Trace,
    place: &Where,
    directory: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Point, PredictError> {
    place.by_network(&mut |by| match by {
        By::Walk(place) => recorded_there(trace, place, progress),
        By::SimGrid(simgrid, as_it_is) => {
            let there = simulated_beside(directory);
            let there = simgrid.play(trace.path(), 1.0 / place.computation, &there)?;
            recorded_there(&there, as_it_is, progress)
        }
    })
}

fn recorded_there(
    trace: &Trace,
    place: &Where,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Point, PredictError> {
    let graph = build(trace, place.threads, &|_| {})?;
    let fit = kizami_replay::learn(&graph, place.threads, || (), &|_| {}).learned;
    let (setting, is_even) = place.setting_and_evenness(&graph, &fit)?;
    let mut settings = [0; LANES].map(|_| setting.clone());
    settings[IDEAL].network = ideal(&setting.network);
    let walked = Walked::new(&graph, &settings, &fit, place, progress);
    Ok(place.judge(walked.point(trace)?, is_even))
}

/// A run with so many ranks, on a machine. It is written to `directory`, where only its order counts, not its times.
pub fn of_program(
    program: &Program,
    ranks: u32,
    place: &Where,
    known: &PredictionInputs,
    directory: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Point, PredictError> {
    let _phase = tracing::info_span!("predict", ranks, threads = place.threads).entered();
    let computation = Computation::at(program, ranks, known)?;
    generate(program, ranks, &computation, directory)?;
    place.by_network(&mut |by| match by {
        By::Walk(place) => {
            program_there(program, ranks, &computation, &Trace::open(directory)?, place, progress)
        }
        By::SimGrid(simgrid, as_it_is) => {
            let there = simgrid.play(directory, 1.0 / place.computation, &simulated_beside(directory))?;
            program_there(program, ranks, &computation, &there, as_it_is, progress)
        }
    })
}

fn program_there(
    program: &Program,
    ranks: u32,
    computation: &Computation,
    trace: &Trace,
    place: &Where,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Point, PredictError> {
    let graph = build_unaligned(trace, place.threads, &|_| {})?;
    let (setting, is_even) = place.setting_and_evenness(&graph, &Fit::default())?;
    let mut settings =
        spread(program, computation, ranks).map(|places| Setting { places, ..setting.clone() });
    if let Network::Measured(costs) = &setting.network
        && let Some(between) = &costs.messages_between
    {
        for (lane, messages) in [LOW, HIGH].into_iter().zip(between.iter()) {
            let costs = MeasuredCosts { messages: messages.clone(), ..(**costs).clone() };
            settings[lane].network = Network::Measured(Arc::new(costs));
        }
    }
    settings[IDEAL].network = ideal(&setting.network);
    let walked = Walked::new(&graph, &settings, &Fit::default(), place, progress);
    Ok(place.judge(walked.point(trace)?, is_even))
}

impl Where {
    /// As a setting of a replay of a run whose messages cost what `fit` says.
    pub fn setting(&self, graph: &Graph, fit: &Fit) -> Result<Setting, PredictError> {
        Ok(self.setting_and_evenness(graph, fit)?.0)
    }

    fn judge(&self, point: Point, is_even: bool) -> Point {
        if matches!(self.network, Some(OnLinks::Phases(_))) { judge_phases(point, is_even) } else { point }
    }

    /// The setting, and whether all pairs of ranks get about as much of a network whose links they share.
    fn setting_and_evenness(&self, graph: &Graph, fit: &Fit) -> Result<(Setting, bool), PredictError> {
        let mut is_even = true;
        let network = match (&self.network, &self.costs) {
            (Some(OnLinks::Phases(platform)), _) => {
                let shared = on_platform(graph, platform, fit.model().eager_limit_bytes)?;
                is_even = shared.is_even;
                Network::Model(shared.model)
            }
            (None, Some(costs)) => Network::Measured(costs.clone()),
            (Some(_) | None, _) => Network::AsRecorded,
        };
        let cpu = Factor(self.computation);
        Ok((Setting { network, cpu, without_tracer: true, ..Setting::default() }, is_even))
    }
}

/// How much shorter and longer the computation before each place may be than its median.
fn spread(program: &Program, computation: &Computation, ranks: u32) -> [FxHashMap<u32, PlaceFactor>; LANES] {
    let mut sums: FxHashMap<u32, [f64; LANES]> = FxHashMap::default();
    for (class, does) in &program.rank_classes {
        each_leaf(&does.parts, ranks, 1, &mut |leaf, times, round| {
            let Some(Some(site)) = program.sites.get(&does.leaves[leaf].token) else { return };
            if let Some((low, median, high)) = computation.spread(*class, leaf, round) {
                let sum = sums.entry(*site).or_default();
                sum.iter_mut()
                    .zip([low, median, high, median])
                    .for_each(|(sum, ns)| *sum += ns * times as f64);
            }
        });
    }
    [0, 1, 2, IDEAL].map(|lane| {
        let factor = |sum: [f64; LANES]| if sum[MIDDLE] > 0.0 { sum[lane] / sum[MIDDLE] } else { 1.0 };
        sums.iter().map(|(site, sum)| (*site, PlaceFactor::All(Factor(factor(*sum))))).collect()
    })
}

/// Tells each leaf with how often it happens in first rounds (0) and in later ones (1).
fn each_leaf(parts: &[Part], ranks: u32, times: u64, visit: &mut dyn FnMut(usize, u64, u64)) {
    for part in parts {
        match part {
            Part::Call(leaf) => visit(*leaf, times, 0),
            Part::Loop(body, count) => {
                let rounds = count.at(ranks);
                each_leaf(body, ranks, times, &mut |leaf, times, round| {
                    visit(leaf, times, round);
                    // Loops inside have visited their own later rounds.
                    if round == 0 && body.contains(&Part::Call(leaf)) && rounds > 1 {
                        visit(leaf, times * (rounds - 1), 1);
                    }
                });
            }
        }
    }
}

/// What came of a walk.
struct Walked<'a> {
    graph: &'a Graph,
    costs: Option<&'a MeasuredCosts>,
    even_unknown: bool,
    lengths: [Length; LANES],
    places: Places,
    by_trust: ByTrust,
}

impl<'a> Walked<'a> {
    fn new(
        graph: &'a Graph,
        settings: &[Setting; LANES],
        fit: &Fit,
        place: &'a Where,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Walked<'a> {
        let borders = Borders::new();
        let costs = place.costs.as_deref();
        let watch = || Watch::new(graph, costs, &borders);
        let settings = settings.each_ref();
        let Replayed { observers, .. } = replay(graph, settings, fit, place.threads, watch, progress);
        let (work, places, by_trust) = Watch::all(observers);
        let even_unknown = place.even_unknown;
        Walked { graph, costs, even_unknown, lengths: work.map(|work| work.length()), places, by_trust }
    }

    fn point(&self, trace: &Trace) -> Result<Point, PredictError> {
        let ranks = trace.run().ranks;
        let seconds = |length: Length| length.0 as f64 * 1e-9;
        let of_all = seconds(self.lengths[MIDDLE]) * f64::from(ranks);
        let share = |length: Length| if of_all > 0.0 { (seconds(length) / of_all).min(1.0) } else { 0.0 };
        let before: Length = self.places.values().map(|place| place.before).fold(Length::ZERO, |a, b| a + b);
        let inside = self.by_trust;
        // A call that waits longer because others are late is not off by what its cost is off by, so the whole is an upper
        // bound, and the shares of single ranks add up as their mean.
        let error_s = seconds(self.lengths[MIDDLE])
            * (MEASURED_ERROR * share(inside.measured)
                + LARGER_ERROR * share(inside.larger)
                + share(inside.walked_off)
                + MESSAGE_ERROR * share(inside.messages));
        let known_error_s = if self.costs.is_some() { error_s } else { 0.0 };
        let transfer = self.places.values().map(|place| split(place).1).fold(Length::ZERO, |a, b| a + b);
        let cold_s = match self.costs {
            Some(costs) if costs.warm => COLD_ERROR * share(transfer) * seconds(self.lengths[MIDDLE]),
            _ => 0.0,
        };
        let definitions = trace.definitions()?;
        if !self.even_unknown {
            self.refuse_unknown(&definitions, &share)?;
        }
        Ok(Point {
            ranks,
            time_s: seconds(self.lengths[MIDDLE]),
            low_s: (seconds(self.lengths[LOW]) - known_error_s).max(0.0),
            high_s: seconds(self.lengths[HIGH]) + known_error_s + cold_s,
            efficiency: share(before),
            limited_by: self.limits(&definitions, &share),
            shares: Shares::of(&self.places, &definitions, &share),
            calls: self.places.values().map(|place| place.calls).sum(),
            costs_not_measured: share(inside.walked),
            larger_than_measured: if self.costs.is_some() { share(inside.larger) } else { 0.0 },
            messages_assumed: self.costs.is_some_and(|costs| costs.messages_between.is_some()),
            network: None,
        })
    }

    /// No time is better than one that rests on a cost that is not known.
    fn refuse_unknown(
        &self,
        definitions: &Definitions,
        share: &dyn Fn(Length) -> f64,
    ) -> Result<(), PredictError> {
        let (Some(costs), ranks) = (self.costs, definitions.ranks.len() as u32) else { return Ok(()) };
        let unknown = self.places.iter().filter_map(|((site, op), time)| {
            let error = costs.walking_errors.get(op)?;
            let (cost_ns, trust) = costs.collective_ns(*op, ranks, time.bytes / time.calls.max(1))?;
            // Who waits for late ranks does so whatever the call costs.
            let cost = Length::from_nanos_f64(cost_ns * time.calls as f64).min(time.inside);
            // An overestimate would shrink by a part of itself, an underestimate would grow by much more.
            let wrong = share(cost) * ((-error).exp() - 1.0).abs();
            (trust == Trust::Walked && wrong > MOST_OFF).then_some((wrong, *site, *op, *error, cost))
        });
        let worst = unknown.max_by(|one, other| one.0.total_cmp(&other.0));
        let Some((_, site, op, error, cost)) = worst else { return Ok(()) };
        Err(PredictError::NoCost {
            op: op.name(),
            place: SourceLine::of(definitions, site).to_string(),
            ranks,
            factor: error.abs().exp(),
            percent: 100.0 * share(cost),
        })
    }

    fn limits(&self, definitions: &Definitions, share: &dyn Fn(Length) -> f64) -> Vec<Limit> {
        let mut all: Vec<Limit> = Vec::new();
        for ((site, op), time) in &self.places {
            let place = SourceLine::of(definitions, *site);
            let computing = share(time.before);
            all.push(Limit {
                what: "computation".to_owned(),
                place: place.clone(),
                share: computing,
                by: None,
            });
            let by = Some(self.mostly(*op, time));
            all.push(Limit { what: op.name().to_owned(), place, share: share(time.inside), by });
        }
        all.sort_by(|one, other| other.share.total_cmp(&one.share).then_with(|| one.place.cmp(&other.place)));
        all.truncate(LIMITS);
        all
    }

    /// What the time in calls at a place mostly is.
    fn mostly(&self, op: Op, time: &PlaceTime) -> &'static str {
        let (waiting, transfer) = split(time);
        if waiting > transfer {
            return "waiting";
        }
        let Some(costs) = self.costs else { return "transfer" };
        let bytes = time.bytes / time.calls.max(1);
        let ranks = self.graph.members.sizes.first().copied().unwrap_or(0);
        let cost = |bytes| match costs.collective_ns(op, ranks, bytes) {
            Some((ns, _)) => ns,
            None => costs.messages.message_ns(bytes),
        };
        if cost(0) > cost(bytes) / 2.0 { "latency" } else { "bandwidth" }
    }
}
