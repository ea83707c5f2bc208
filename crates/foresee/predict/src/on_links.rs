//! Runs on a network whose links are known: who says what messages get of them, a replay or SimGrid.
//!
//! A replay gives messages fair shares of links as if all were sent at once, and then has one price for all. Held against
//! SimGrid that was within 5 % where ranks send messages to each other and all pairs get about as much; collectives, whose
//! messages go all over the network, were predicted up to four times too short. So with [`OnLinks::Either`] a run is replayed
//! first, and SimGrid plays it if that cannot be trusted.

use crate::PredictError;
use crate::by_simgrid::BySimGrid;
use crate::observe::{PlaceTime, Places};
use crate::point::{Point, Where};
use crate::shares::{ideal, split};
use kizami_graph::Graph;
use kizami_model::Length;
use kizami_model::kind::Kind;
use kizami_network::Fit;
use kizami_platform::Platform;
use kizami_replay::work_interval::{Borders, WorkIntervals};
use kizami_replay::{EndedStep, Observer, Setting, replay};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A replay is trusted if the network takes no more of all ranks' time than this, in collectives or in all.
const LITTLE: f64 = 0.01;
/// What the network really takes, as a multiple of what such a replay says: where it is trusted, and where not. Of the runs in
/// `bench/own_network.py` that are not trusted, SimGrid's took 0.45 to 4 times as long; under `smpirun`, which corrects by
/// message size, up to 5.7 times. The range leaves a little beyond.
const TRUSTED: [f64; 2] = [0.95, 1.05];
const UNTRUSTED: [f64; 2] = [0.4, 7.0];

/// A network whose links are known, and who says what messages get of them.
#[derive(Clone, Debug)]
pub enum OnLinks {
    /// A replay in which they get fair shares, phase by phase.
    Phases(Arc<Platform>),
    /// SimGrid.
    SimGrid(BySimGrid),
    /// The first where it can be trusted, else the second, if it is there.
    Either(Arc<Platform>, Option<BySimGrid>),
}

/// How link contention was modelled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkModel {
    /// `phases` or `simgrid`.
    pub by: &'static str,
    /// Of phases: whether they can be trusted for such a run.
    #[serde(skip)]
    is_trusted: bool,
    /// Why SimGrid did not run although phases are inaccurate; null otherwise.
    pub not_simulated: Option<String>,
}

/// How to predict.
pub(crate) enum By<'a> {
    /// By walking the run there.
    Walk(&'a Where),
    /// By having SimGrid play it, and walking that as it is.
    SimGrid(&'a BySimGrid, &'a Where),
}

impl Where {
    /// Predicts as its network asks for.
    pub(crate) fn by_network(
        &self,
        predict: &mut dyn FnMut(By<'_>) -> Result<Point, PredictError>,
    ) -> Result<Point, PredictError> {
        match &self.network {
            Some(OnLinks::SimGrid(simgrid)) => self.simulated(simgrid, predict),
            Some(OnLinks::Either(platform, simgrid)) => {
                let network = Some(OnLinks::Phases(platform.clone()));
                let mut point = predict(By::Walk(&Where { network, ..self.clone() }))?;
                if point.network.as_ref().is_none_or(|model| model.is_trusted) {
                    return Ok(point);
                }
                let why = match simgrid {
                    None => "the program kizami-simgrid is not there; build it with `cargo build --release -p kizami-simgrid` and put it \
                             next to kizami"
                        .to_owned(),
                    Some(simgrid) => {
                        match self.simulated(&simgrid.unless_long(), predict) {
                            Err(error) if error.is_about_simgrid() => error.to_string(),
                            ended => return ended,
                        }
                    }
                };
                point.network.iter_mut().for_each(|model| model.not_simulated = Some(why.clone()));
                Ok(point)
            }
            Some(OnLinks::Phases(_)) => {
                let mut point = predict(By::Walk(self))?;
                let wrong = point.network.iter_mut().filter(|model| !model.is_trusted);
                wrong.for_each(|model| {
                    model.not_simulated = Some("`--network phases` was requested".to_owned())
                });
                Ok(point)
            }
            None => predict(By::Walk(self)),
        }
    }

    fn simulated(
        &self,
        simgrid: &BySimGrid,
        predict: &mut dyn FnMut(By<'_>) -> Result<Point, PredictError>,
    ) -> Result<Point, PredictError> {
        // Once it has been simulated, its times are those of the place.
        let as_it_is = Where { costs: None, network: None, computation: 1.0, ..self.clone() };
        let mut point = predict(By::SimGrid(simgrid, &as_it_is))?;
        point.network = Some(LinkModel { by: "simgrid", is_trusted: true, not_simulated: None });
        Ok(point)
    }
}

/// How far a replay that shares links phase by phase may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhasesError {
    /// Whether it agrees with SimGrid for such runs.
    pub is_trusted: bool,
    /// What the network takes, as a share of the time of all ranks.
    network: f64,
}

impl PhasesError {
    /// By what the network takes of all ranks' time, in all and in collectives, and whether all pairs get about as much of it.
    fn judged(network: f64, collectives: f64, is_even: bool) -> PhasesError {
        PhasesError { is_trusted: network <= LITTLE || is_even && collectives <= LITTLE, network }
    }

    /// Of a run under a setting whose network is [`SharedNetwork::model`](crate::SharedNetwork::model).
    pub fn of(graph: &Graph, fit: &Fit, setting: &Setting, is_even: bool, threads: usize) -> PhasesError {
        let free = Setting { network: ideal(&setting.network), ..setting.clone() };
        let borders = Borders::new();
        let watch =
            || Transfers { work: WorkIntervals::new(&borders), places: Places::default(), borders: &borders };
        let watches = replay(graph, [setting, &free], fit, threads, watch, &|_| {}).observers;
        let (mut network, mut collectives) = (Length::ZERO, Length::ZERO);
        let mut places = Places::default();
        let mut work = Vec::new();
        for watch in watches {
            for (place, time) in watch.places {
                let sum = places.entry(place).or_default();
                (sum.inside, sum.ideal) = (sum.inside + time.inside, sum.ideal + time.ideal);
            }
            work.push(watch.work);
        }
        for ((_, op), time) in &places {
            let (_, transfer) = split(time);
            network += transfer;
            if matches!(op.kind(), Kind::Collective(..)) {
                collectives += transfer;
            }
        }
        let [length, _] = WorkIntervals::all(work).map(|work| work.length());
        let of_all = (length.0 as f64 * graph.strands.len() as f64).max(1.0);
        let share = |length: Length| (length.0 as f64 / of_all).min(1.0);
        PhasesError::judged(share(network), share(collectives), is_even)
    }

    /// Between which times a run lies that was replayed in `time`.
    pub fn range(&self, time: f64) -> [f64; 2] {
        let network = if self.is_trusted { TRUSTED } else { UNTRUSTED };
        network.map(|times| time * (1.0 + self.network * (times - 1.0)))
    }
}

/// What calls take with the network and without.
struct Transfers<'a> {
    work: WorkIntervals<'a, 2>,
    places: Places,
    borders: &'a Borders,
}

impl Observer<2> for Transfers<'_> {
    fn step(&mut self, seen: &EndedStep<'_, 2>) {
        self.work.step(seen);
        let op = seen.step.op();
        if self.borders.begins(op) || self.borders.ends(op) {
            return;
        }
        let inside =
            [0, 1].map(|lane| seen.end[lane].as_moment().saturating_since(seen.start[lane].as_moment()));
        let place: &mut PlaceTime = self.places.entry((seen.step.site(), op)).or_default();
        place.inside += inside[0];
        place.ideal += inside[1];
    }
}

/// Says whether a replay that shared links phase by phase can be trusted, and widens its interval by how far it may be off.
pub(crate) fn judge_phases(mut point: Point, is_even: bool) -> Point {
    let error = PhasesError::judged(point.shares.transfer, point.shares.transfer_of_collectives, is_even);
    let [low_s, high_s] = error.range(point.time_s);
    point.low_s = (point.low_s - (point.time_s - low_s)).max(0.0);
    point.high_s += high_s - point.time_s;
    point.network = Some(LinkModel { by: "phases", is_trusted: error.is_trusted, not_simulated: None });
    point
}

/// Where a predicted run lies once it has been simulated.
pub fn simulated_beside(directory: &Path) -> PathBuf {
    directory.with_extension("simulated.kz")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_trusted_for_even_messages_between_neighbours_alone() {
        let trusted =
            |network, collectives, is_even| PhasesError::judged(network, collectives, is_even).is_trusted;
        assert!(trusted(0.5, 0.0, true) && trusted(0.005, 0.005, false));
        assert!(!trusted(0.5, 0.2, true) && !trusted(0.5, 0.0, false));
    }

    #[test]
    fn only_what_the_network_takes_may_be_off() {
        let [low, high] = PhasesError::judged(0.5, 0.5, true).range(10.0);
        assert!((low - 10.0 * (0.5 + 0.5 * UNTRUSTED[0])).abs() < 1e-9, "{low}");
        assert!((high - 10.0 * (0.5 + 0.5 * UNTRUSTED[1])).abs() < 1e-9, "{high}");
        assert_eq!(PhasesError::judged(0.0, 0.0, false).range(10.0), [10.0, 10.0]);
    }
}
