//! Questions about tasks in virtual time: curves, the tree, the flow, lengths, and what processors would do.

use super::parameters::Parameters;
use super::reply::{Failure, Reply, ready};
use super::task_answers::{
    FlowNeed, FlowTask, TaskCurve, TaskCurves, TaskFlow, TaskLengths, TaskNode, TaskPlace, TaskSchedule,
    TaskTree,
};
use super::view::{View, layer};
use crate::slot::Answer;
use axum::http::StatusCode;
use kizami_model::Length;
use kizami_tasks::{Need, Part, Strategy, Stretch, Survey, shortest};
use std::sync::Arc;

const MOST_COLUMNS: u64 = 4_096;
/// Columns of a small curve.
const SMALL: usize = 48;
const MOST_NODES: u64 = 400;
const MOST_TASKS: u64 = 500;
const MOST_PLACES: u64 = 100;

fn survey(view: &View, parameters: &Parameters) -> Result<Arc<Survey>, Failure> {
    let opened = &layer(view, parameters)?.opened;
    if !opened.has_tasks() {
        let next = "Record a program with OpenMP tasks, or run kizami fleng -o.";
        return Err(Failure::plain(StatusCode::NOT_FOUND, "This run has no tasks.", next));
    }
    let (rank, ranks) = (parameters.rank(), opened.trace.run().ranks);
    if rank.0 >= ranks {
        let what = format!("Rank {rank} does not exist: the run has {ranks} ranks.");
        return Err(Failure::plain(StatusCode::NOT_FOUND, &what, "Select another rank."));
    }
    ready(opened.survey(rank))
}

/// The place a part is named by.
fn place_of(survey: &Survey, part: Part) -> Option<u32> {
    match part {
        Part::All => None,
        Part::Node(node) => survey.folded().nodes()[node as usize].place,
        Part::Task(task) => survey.graph().tasks()[task as usize].place,
        Part::Place(place) => Some(place),
    }
}

/// How much later a part is looked at, so that all begin together.
fn shift(survey: &Survey, part: Part, aligned: bool) -> Length {
    match aligned && part != Part::All {
        true => survey.curve(part).0.begin() - survey.whole().from,
        false => Length::ZERO,
    }
}

/// What is between the markers: of the parts that are chosen, or of all.
fn scope(survey: &Survey, parameters: &Parameters) -> Result<Vec<(Part, Stretch)>, Failure> {
    let marked = parameters.marked(behind(survey.whole()))?;
    let mut parts = parameters.parts(survey)?;
    if parts.is_empty() {
        parts.push(Part::All);
    }
    Ok(parts.into_iter().map(|part| (part, marked.later(shift(survey, part, parameters.aligned)))).collect())
}

/// With tasks that take no time at the very end.
fn behind(whole: Stretch) -> Stretch {
    Stretch { to: whole.to + Length(1), ..whole }
}

pub(super) fn curves(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let survey = survey(view, parameters)?;
    let whole = survey.whole();
    let (range, marked) = (parameters.stretch(whole)?, parameters.marked(whole)?);
    let length = (range.to - range.from).0.max(1) as u64;
    let columns = parameters.columns(1_000, MOST_COLUMNS)?.min(length) as usize;
    let described = |part: Part| {
        let (curve, tasks) = survey.curve(part);
        let shift = shift(&survey, part, parameters.aligned);
        let (range, marked) = (range.later(shift), marked.later(shift));
        let heights = curve.columns(range.from, range.to, columns);
        TaskCurve {
            part: part.to_string(),
            place: place_of(&survey, part),
            tasks,
            work: curve.work().0,
            peak: curve.peak(),
            begin: curve.begin().0,
            end: curve.end().0,
            shift: shift.0,
            columns: heights.into_iter().map(|height| height as f32).collect(),
            marked_work: curve.work_between(marked.from, marked.to).0,
        }
    };
    Reply::json(&TaskCurves {
        from: range.from.0,
        to: range.to.0,
        begin: whole.from.0,
        end: whole.to.0,
        units: layer(view, parameters)?.opened.is_virtual(),
        ranks: layer(view, parameters)?.opened.trace.run().ranks,
        follows_runtime: survey.graph().can_follow_runtime(),
        curves: std::iter::once(Part::All).chain(parameters.parts(&survey)?).map(described).collect(),
    })
}

pub(super) fn tree(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let survey = survey(view, parameters)?;
    let marked = parameters.marked(behind(survey.whole()))?;
    let sums = survey.tree(marked, SMALL, parameters.limit(MOST_NODES, MOST_NODES)? as usize);
    let nodes = survey.folded().nodes();
    let described = sums.into_iter().map(|sum| TaskNode {
        node: sum.node,
        parent: nodes[sum.node as usize].parent,
        place: nodes[sum.node as usize].place,
        tasks: sum.tasks,
        work: sum.work.0,
        on_path: sum.on_path.0,
        columns: sum.curve.into_iter().map(|height| height as f32).collect(),
    });
    Reply::json(&TaskTree { nodes: described.collect(), of: nodes.len() })
}

pub(super) fn flow(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let survey = survey(view, parameters)?;
    let scope = scope(&survey, parameters)?;
    let found = survey.flow(&scope, parameters.limit(MOST_TASKS, MOST_TASKS)? as usize);
    // Tasks of aligned parts are told at the times they have there.
    let earlier = |task: u32| {
        let own = scope.iter().find(|entry| survey.part_in(std::slice::from_ref(entry), task).is_some());
        own.map_or(0, |(part, _)| shift(&survey, *part, parameters.aligned).0)
    };
    let described = |(number, task): (usize, &u32)| {
        let (own, earlier) = (&survey.graph().tasks()[*task as usize], earlier(*task));
        FlowTask {
            task: *task,
            parent: own.parent,
            place: own.place,
            created: own.created.0 - earlier,
            start: own.start.0 - earlier,
            end: own.end.0 - earlier,
            on_path: number < found.on_path,
        }
    };
    let need =
        |(task, need): &(u32, Need)| FlowNeed { task: *task, of: need.of, at: need.at.0 - earlier(need.of) };
    Reply::json(&TaskFlow {
        tasks: found.tasks.iter().enumerate().map(described).collect(),
        needs: found.needs.iter().map(need).collect(),
        of: found.of,
    })
}

pub(super) fn lengths(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let survey = survey(view, parameters)?;
    let places = survey.lengths(&scope(&survey, parameters)?);
    let first = places.iter().filter_map(|sum| sum.buckets.iter().position(|bucket| bucket.0 > 0)).min();
    let last = places.iter().map(|sum| sum.buckets.len()).max().unwrap_or(0);
    let buckets = first.unwrap_or(0)..last;
    let shown = places.iter().take(parameters.limit(MOST_PLACES, MOST_PLACES)? as usize).map(|sum| {
        let of = |bucket: usize| sum.buckets.get(bucket).copied().unwrap_or((0, Length::ZERO));
        TaskPlace {
            place: sum.place,
            tasks: sum.tasks,
            work: sum.work.0,
            longest: sum.longest.0,
            counts: buckets.clone().map(|bucket| of(bucket).0).collect(),
            works: buckets.clone().map(|bucket| of(bucket).1.0).collect(),
        }
    });
    Reply::json(&TaskLengths {
        tasks: places.iter().map(|sum| sum.tasks).sum(),
        work: places.iter().map(|sum| sum.work).sum::<Length>().0,
        borders: (buckets.start..=buckets.end).map(|bucket| shortest(bucket).0).collect(),
        places: shown.collect(),
        of: places.len(),
    })
}

pub(super) fn schedule(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let survey = survey(view, parameters)?;
    let strategy = parameters.strategy()?;
    if strategy.is_some_and(Strategy::is_of_runtime) && !survey.graph().can_follow_runtime() {
        let next = "Select oldest, newest or longest.";
        let what =
            "The trace does not record what tasks waited for, so Kizami cannot simulate an OpenMP runtime.";
        return Err(Failure::plain(StatusCode::BAD_REQUEST, what, next));
    }
    let opened = &layer(view, parameters)?.opened;
    let known = opened.schedule(parameters.rank(), &survey, parameters.processors()?, strategy);
    let simulated = match known.simulated {
        Answer::Pending(_) => None,
        done => Some(ready(done)?),
    };
    let range = simulated.as_ref().and_then(|simulated| simulated.range);
    let strategy = simulated.as_ref().map_or(known.strategy, |simulated| simulated.strategy);
    Reply::json(&TaskSchedule {
        at_least: known.at_least.0,
        at_most: known.at_most.0,
        simulated: simulated.map(|simulated| simulated.length.0),
        low: range.map(|(low, _)| low.0),
        high: range.map(|(_, high)| high.0),
        strategy: strategy.name().to_owned(),
    })
}
