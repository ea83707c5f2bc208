//! Replays on a platform: who says what messages get of its links, fair shares phase by phase or SimGrid.
//!
//! A replay shares links as if all messages were sent at once, and is inaccurate for collectives and uneven shares. Then SimGrid
//! plays the run, after the changes to its computation were made. Where it is missing or cannot, the replay answers, with how
//! far it may be off and why SimGrid did not.

use super::arguments::{NetworkKind, ReplayArguments};
use super::plan::changes;
use super::run::{Replaying, Target};
use crate::external;
use anyhow::{Context, Result};
use kizami_graph::Graph;
use kizami_network::Fit;
use kizami_network::collectives::Library;
use kizami_phrases::links;
use kizami_predict::{BySimGrid, PhasesError};
use kizami_replay::{ReplayFacts, Setting};
use kizami_terminal::failure::UsageError;
use kizami_trace::run::{ReplayedFrom, SharedLinks};
use kizami_whatif::Change;
use std::cell::Cell;

/// How far a simulation is off what `smpirun` says, at most, as a share: 1.4 % in the comparisons of `bench/simgrid.py`.
const SIMULATION_ERROR: f64 = 0.02;

/// Refuses a network that contradicts the platform.
pub fn check(arguments: &ReplayArguments) -> Result<(), UsageError> {
    let is_of_links = arguments.network.map(NetworkKind::is_of_links);
    let wrong = match (&arguments.platform, is_of_links) {
        (Some(_), Some(false)) => links::REPLACES_THE_PLATFORM,
        (None, Some(true)) => links::NEEDS_A_PLATFORM,
        _ => return Ok(()),
    };
    Err(UsageError(wrong.to_owned()))
}

impl Replaying<'_> {
    /// Replays on a platform, as `--network` asks for.
    pub fn on_links(&self, platform: &str) -> Result<ReplayedFrom> {
        let simgrid = self.simgrid(platform);
        if self.arguments.network == Some(NetworkKind::Simgrid) {
            let simgrid = simgrid.ok_or_else(|| external::missing(&external::SIMGRID))?;
            let recorded = self.retime(self.trace, Target::default(), &|_, _| Ok(Setting::default()))?;
            return self.simulated(&simgrid, &recorded)?.map_err(|why| UsageError(why).into());
        }
        let (phases, mut links) = self.by_phases()?;
        if !links.accurate {
            let why = match simgrid {
                _ if self.arguments.network == Some(NetworkKind::Phases) => links::NOT_ASKED_FOR.to_owned(),
                None => external::missing(&external::SIMGRID).0,
                Some(simgrid) => match self.simulated(&simgrid.unless_long(), &phases)? {
                    Ok(simulated) => return Ok(simulated),
                    Err(why) => why,
                },
            };
            links.not_simulated = Some(why);
        }
        if self.arguments.output.is_none() {
            return Ok(ReplayedFrom { links: Some(links), ..phases });
        }
        let target = Target {
            output: self.arguments.output.as_deref(),
            known: ReplayFacts { links: Some(links), ..ReplayFacts::default() },
        };
        self.retime(self.trace, target, &|graph, fit| Ok(self.plan.setting(graph, fit, self.threads())?.0))
    }

    /// How SimGrid would simulate the run, if it is there.
    fn simgrid(&self, platform: &str) -> Option<BySimGrid> {
        let program = external::path_of(&external::SIMGRID)?;
        let run = self.trace.run();
        let library = Library::of(&run.mpi_library, &run.command.join(" "));
        let collectives = Some(library.in_simgrid().to_owned());
        Some(BySimGrid { program, platform: platform.to_owned(), collectives, most_s: None })
    }

    /// With links shared phase by phase, and how far that may be off. Nothing is written.
    fn by_phases(&self) -> Result<(ReplayedFrom, SharedLinks)> {
        let judged = Cell::new(None);
        let setting = |graph: &Graph, fit: &Fit| {
            let (setting, is_even) = self.plan.setting(graph, fit, self.threads())?;
            judged.set(Some(PhasesError::of(graph, fit, &setting, is_even, self.threads())));
            Ok(setting)
        };
        let phases = self.retime(self.trace, Target::default(), &setting)?;
        let error: PhasesError = judged.take().context("the replay has chosen no network")?;
        // What lies before the first call and behind the last one is no matter of the network.
        let work_ns = phases.replayed_work_ns.unwrap_or(phases.replayed_ns);
        let [low_ns, high_ns] =
            error.range(work_ns as f64).map(|ns| phases.replayed_ns - work_ns + ns as i64);
        let links = SharedLinks {
            by: "phases".to_owned(),
            accurate: error.is_trusted,
            low_ns,
            high_ns,
            not_simulated: None,
        };
        Ok((phases, links))
    }

    /// Has SimGrid play the run, with its computation as it is to be; if it cannot, why. `recorded` is a replay of the recorded
    /// run.
    fn simulated(
        &self,
        simgrid: &BySimGrid,
        recorded: &ReplayedFrom,
    ) -> Result<Result<ReplayedFrom, String>> {
        if self.together.has_others() {
            return Ok(Err(links::SHARED.to_owned()));
        }
        let changes: Vec<Change> = changes(self.arguments)
            .into_iter()
            .filter(|change| !matches!(change, Change::Platform(_)))
            .collect();
        if let Some(change) = changes.iter().find(|change| !is_of_computation(change)) {
            return Ok(Err(links::calls_changed(change)));
        }
        let scratch = tempfile::tempdir().context("cannot create a directory for the simulated run")?;
        let changed = scratch.path().join("changed.kz");
        let played = match changes.is_empty() {
            true => self.trace.path(),
            false => {
                let target = Target { output: Some(&changed), known: ReplayFacts::default() };
                self.retime(self.trace, target, &|graph, fit| {
                    self.plan.off_the_network(graph, fit, self.threads())
                })?;
                &changed
            }
        };
        let there = match simgrid.play(played, 1.0, &scratch.path().join("there.kz")) {
            Err(error) if error.is_about_simgrid() => return Ok(Err(error.to_string())),
            there => there?,
        };
        let [low_ns, high_ns] = [-SIMULATION_ERROR, SIMULATION_ERROR]
            .map(|error| (there.run().span_ns as f64 * (1.0 + error)) as i64);
        let links =
            SharedLinks { by: "simgrid".to_owned(), accurate: true, low_ns, high_ns, not_simulated: None };
        let known = ReplayFacts { links: Some(links), recorded: Some(recorded.clone()) };
        let target = Target { output: self.arguments.output.as_deref(), known };
        Ok(Ok(self.retime(&there, target, &|_, _| Ok(Setting::default()))?))
    }
}

/// Whether a change leaves all calls as they are, so that a run can be simulated in which it is made.
fn is_of_computation(change: &Change) -> bool {
    match change {
        Change::Cpu(_)
        | Change::Scale(..)
        | Change::ScaleBelow(..)
        | Change::Balance(_)
        | Change::EvenTail(_)
        | Change::LikeOthers(_)
        | Change::Threads(_)
        | Change::BalanceThreads(_)
        | Change::ShareSerial(_)
        | Change::RemoveExcess(_)
        | Change::OwnCores
        | Change::WithoutTracer => true,
        Change::IdealNetwork
        | Change::Latency(_)
        | Change::Bandwidth(_)
        | Change::LogGops(_)
        | Change::Machine(_)
        | Change::Platform(_)
        | Change::EagerLimit(_)
        | Change::Overlap(_)
        | Change::OutOfLock(_)
        | Change::LeaveOut(_)
        | Change::PostEarly(_)
        | Change::Pieces(..)
        | Change::Join(_)
        | Change::TakeAsTheyCome(_)
        | Change::EvenExchange(_)
        | Change::IdealAt(_) => false,
    }
}
