//! Runs on a network whose links are known: who says what messages get of them, a replay or SimGrid.
//!
//! A replay gives messages fair shares of links as if all were sent at once, and then has one price for all. Held against
//! SimGrid that was within 5 % where ranks send messages to each other and all pairs get about as much; collectives, whose
//! messages go all over the network, were predicted up to four times too short. So with [`OnLinks::Either`] a run is replayed
//! first, and SimGrid plays it if that cannot be trusted.

use crate::PredictError;
use crate::by_simgrid::BySimGrid;
use crate::point::{Point, Where};
use kizami_platform::Platform;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A replay is trusted if the network takes no more of all ranks' time than this, in collectives or in all.
const LITTLE: f64 = 0.01;
/// How far off a replay may be, as a share of what the network takes, where it is trusted and where not.
const TRUSTED_ERROR: f64 = 0.05;
const UNTRUSTED_ERROR: f64 = 3.0;
/// Runs are not simulated that would take longer, unless that is asked for.
const MOST_S: f64 = 120.0;

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
                    None => "the program kizami-simgrid is not there".to_owned(),
                    Some(simgrid) => {
                        let simgrid = BySimGrid { most_s: Some(MOST_S), ..simgrid.clone() };
                        match self.simulated(&simgrid, predict) {
                            Err(error) if error.is_about_simgrid() => error.to_string(),
                            ended => return ended,
                        }
                    }
                };
                point.network.iter_mut().for_each(|model| model.not_simulated = Some(why.clone()));
                Ok(point)
            }
            Some(OnLinks::Phases(_)) | None => predict(By::Walk(self)),
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

/// Says whether a replay that shared links phase by phase can be trusted, and widens its interval by how far it may be off.
pub(crate) fn judge_phases(mut point: Point, is_even: bool) -> Point {
    let (network, collectives) = (point.shares.transfer, point.shares.transfer_of_collectives);
    let is_trusted = network <= LITTLE || is_even && collectives <= LITTLE;
    let off_s = point.time_s * network * if is_trusted { TRUSTED_ERROR } else { UNTRUSTED_ERROR };
    point.low_s = (point.low_s - off_s).max(0.0);
    point.high_s += off_s;
    point.network = Some(LinkModel { by: "phases", is_trusted, not_simulated: None });
    point
}

/// Where a predicted run lies once it has been simulated.
pub fn simulated_beside(directory: &Path) -> PathBuf {
    directory.with_extension("simulated.kz")
}
