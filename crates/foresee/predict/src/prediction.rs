//! Several numbers of ranks from some runs, with intervals as wide as the method was wrong where it could be tried.

use crate::PredictError;
use crate::computation::PredictionInputs;
use crate::costs_of_runs::costs_of_runs;
use crate::point::{Point, Where, of_program, of_recorded, of_recorded_beside};
use crate::spreads::spreads_of;
use crate::structure::Program;
use kizami_network::MeasuredCosts;
use kizami_replay::WorkInterval;
use kizami_trace::Trace;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// The least reported error: two runs of one program never take the same time.
const LEAST_ERROR: f64 = 0.01;
/// A run that takes this much more or less time than recorded is on another machine, as the logarithm of a factor.
const ELSEWHERE: f64 = 0.1;

/// The largest run, held out and predicted from the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checked {
    /// The prediction; its interval does not use the held-out run.
    #[serde(rename = "foretold")]
    pub predicted: Point,
    /// Recorded time; on another machine than that of the runs, the held-out run replayed there.
    pub recorded_s: f64,
    /// `recorded_s` is replayed on another machine.
    pub replayed: bool,
    /// Predicted minus recorded time, relative to the recorded time.
    pub error_share: f64,
    /// The interval contains the recorded time.
    pub holds: bool,
    /// Numbers of ranks of the runs used.
    pub from: Vec<u32>,
}

/// A run that predictions for other numbers of ranks ignore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Number of ranks.
    pub ranks: u32,
    /// Why it is ignored.
    pub why: String,
}

/// Runs of one program, by their ranks.
pub struct Runs<'a> {
    traces: Vec<&'a Trace>,
    place: Where,
    known: PredictionInputs,
    program: Option<(Program, Vec<LeftOut>)>,
    /// What calls cost from all runs together, once it was requested.
    own_costs: Option<Arc<MeasuredCosts>>,
    /// Error of the method for each doubling of ranks, as the logarithm of a factor.
    error_per_doubling: f64,
}

impl<'a> Runs<'a> {
    /// Made ready. Each trace has another number of ranks.
    pub fn new(
        mut traces: Vec<&'a Trace>,
        mut place: Where,
        known: PredictionInputs,
    ) -> Result<Runs<'a>, PredictError> {
        traces.sort_by_key(|trace| trace.run().ranks);
        if let Some(costs) = &mut place.costs {
            *costs = as_called(costs, &traces)?;
        }
        Ok(Runs { traces, place, known, program: None, own_costs: None, error_per_doubling: 0.0 })
    }

    /// Hides the largest run, predicts it from the others on the machine they ran on, and keeps the error for intervals.
    pub fn check(&mut self, directory: &Path) -> Result<Checked, PredictError> {
        let Some((largest, others)) = self.traces.split_last() else {
            return Err(PredictError::OneSize { ranks: 0 });
        };
        let ranks = largest.run().ranks;
        if others.is_empty() {
            return Err(PredictError::OneSize { ranks });
        }
        let (program, left_out) = program_of(others)?;
        let known = &self.known;
        // Its own parameters are known, its calls and times are not.
        let target = known.parameters.get(&ranks).cloned().unwrap_or_else(|| known.target.clone());
        let counts = known.counts.without_run(ranks);
        let hidden = PredictionInputs { target, counts, ..known.clone() };
        let counted = &others[left_out.len()..];
        let costs = match &self.place.costs {
            Some(costs) => as_called(costs, counted)?,
            None => Arc::new(costs_of_runs(counted, self.place.threads)?),
        };
        let place = Where { costs: Some(costs), even_unknown: true, ..self.place.clone() };
        let mut predicted = of_program(&program, ranks, &place, &hidden, directory, &|_| {})?;
        let replayed = self.is_elsewhere()?;
        let recorded_s = match replayed {
            true => of_recorded(largest, &self.place, &|_| {})?.time_s,
            false => recorded_s(largest, self.place.threads)?,
        };
        let error = (predicted.time_s / recorded_s).ln();
        let most = others.last().map_or(1, |trace| trace.run().ranks);
        self.error_per_doubling = error.abs() / doublings(most, ranks).max(1.0).sqrt();
        // What it says of itself must not know the answer.
        widen(&mut predicted, LEAST_ERROR);
        Ok(Checked {
            recorded_s,
            replayed,
            error_share: predicted.time_s / recorded_s - 1.0,
            holds: predicted.low_s <= recorded_s && recorded_s <= predicted.high_s,
            from: counted.iter().map(|trace| trace.run().ranks).collect(),
            predicted,
        })
    }

    /// Whether the runs ran on another machine than is asked for: then they take another time there.
    fn is_elsewhere(&self) -> Result<bool, PredictError> {
        let Some(smallest) = self.traces.first() else { return Ok(false) };
        let there_s = of_recorded(smallest, &self.place, &|_| {})?.time_s;
        Ok((there_s / recorded_s(smallest, self.place.threads)?).ln().abs() > ELSEWHERE)
    }

    /// Where so many ranks are predicted: on the machine that was asked for; else a recorded run stays as it is, and for any
    /// other the runs themselves give what calls cost.
    pub fn place_of(&mut self, ranks: u32) -> Result<Where, PredictError> {
        if self.place.costs.is_some() || self.traces.iter().any(|trace| trace.run().ranks == ranks) {
            return Ok(self.place.clone());
        }
        let costs = match &self.own_costs {
            Some(costs) => costs.clone(),
            None => self.own_costs.insert(Arc::new(costs_of_runs(&self.traces, self.place.threads)?)).clone(),
        };
        Ok(Where { costs: Some(costs), ..self.place.clone() })
    }

    /// Predicts one number of ranks. The run is written to `directory` where it was not recorded.
    pub fn point(
        &mut self,
        ranks: u32,
        directory: &Path,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Point, PredictError> {
        let place = self.place_of(ranks)?;
        if let Some(trace) = self.traces.iter().find(|trace| trace.run().ranks == ranks) {
            let mut point = of_recorded_beside(trace, &place, directory, progress)?;
            widen(&mut point, LEAST_ERROR);
            return Ok(point);
        }
        if self.traces.len() < 2 {
            return Err(PredictError::OneSize { ranks: self.traces[0].run().ranks });
        }
        let (program, left_out) = match &mut self.program {
            Some(program) => program,
            none => none.insert(program_of(&self.traces)?),
        };
        let mut point = of_program(program, ranks, &place, &self.known, directory, progress)?;
        let nearest = self.traces[left_out.len()..].iter().map(|trace| trace.run().ranks);
        let apart = nearest.map(|known| doublings(known, ranks)).fold(f64::INFINITY, f64::min);
        widen(&mut point, LEAST_ERROR.max(self.error_per_doubling * apart.max(0.25).sqrt()));
        Ok(point)
    }

    /// What the program does, once a number of ranks was predicted that was not recorded.
    pub fn program(&self) -> Option<&Program> {
        self.program.as_ref().map(|(program, _)| program)
    }

    /// The runs that do not count for it, from the smallest.
    pub fn left_out(&self) -> &[LeftOut] {
        self.program.as_ref().map_or(&[], |(_, left_out)| left_out)
    }
}

/// The program as derived from all runs together, in the order of ranks. Programs do other things where ranks are few: a ring
/// of one has no peer, and both neighbours of a rank of two are the same one. So the smallest do not count if the
/// others, at least two, agree without them.
fn program_of(traces: &[&Trace]) -> Result<(Program, Vec<LeftOut>), PredictError> {
    let mut left_out = Vec::new();
    let mut first_error = None;
    loop {
        let counted = &traces[left_out.len()..];
        match Program::of(counted) {
            Ok(program) => return Ok((program, left_out)),
            Err(error) if counted.len() > 2 && error.is_about_structure() => {
                left_out.push(LeftOut { ranks: counted[0].run().ranks, why: error.in_short() });
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(first_error.unwrap_or(error)),
        }
    }
}

/// What was measured, for exchanges as these runs make them.
fn as_called(costs: &MeasuredCosts, traces: &[&Trace]) -> Result<Arc<MeasuredCosts>, PredictError> {
    let mut costs = MeasuredCosts { spreads: spreads_of(traces)?, ..costs.clone() };
    costs.walking_errors = costs.errors_of_walking();
    Ok(Arc::new(costs))
}

/// How long a recorded run worked, in seconds.
pub fn recorded_s(trace: &Trace, threads: usize) -> Result<f64, PredictError> {
    let graph = kizami_graph::build(trace, threads, &|_| {})?;
    Ok(WorkInterval::of(&graph).length().0 as f64 * 1e-9)
}

fn doublings(one: u32, other: u32) -> f64 {
    (f64::from(one) / f64::from(other)).log2().abs()
}

/// Makes the interval at least so wide, as the logarithm of a factor.
fn widen(point: &mut Point, error: f64) {
    point.low_s = point.low_s.min(point.time_s / error.exp());
    point.high_s = point.high_s.max(point.time_s * error.exp());
}
