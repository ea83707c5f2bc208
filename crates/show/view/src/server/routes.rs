//! The questions, and who answers each.
//!
//! An answer is worked out away from the thread that listens. What is still being worked out in the background is waited
//! for, up to a limit.

use super::answers::{Collectives, HistogramCalls, MatrixLabels, Parallelism, Path, Phases, Stops, Tree};
use super::parameters::Parameters;
use super::reply::{Failure, Reply, ready};
use super::shared::Shared;
use super::text::{shorten, shown};
use super::view::{View, layer};
use super::{encode, links, run, tasks, threads};
use crate::index::Index;
use crate::insight::Insight;
use crate::layer::{Layer, Origin};
use crate::query::order::Order;
use crate::query::{
    Selection, calls, collectives, flow, histogram, matrix, messages, parallelism, path, phases, stops,
    timeline, tree,
};
use crate::slot::Answer;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::{MethodRouter, get};
use kizami_model::Length;
use kizami_phrases as phrases;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is worked out in the background is waited for so long before a request is sent away.
const PATIENCE: Duration = Duration::from_secs(25);
const LOOK_AGAIN: Duration = Duration::from_millis(25);
/// Calls or messages one by one, at most.
const MOST_CALLS: u64 = 20_000;
/// Cells of a timeline, at most.
const MOST_CELLS: u64 = 8 << 20;
const MOST_COLUMNS: u64 = 16 << 10;
/// Losses of threads that a verdict names, at most.
const MOST_LOSSES: usize = 4;

/// All questions.
pub(super) fn questions() -> Router<Arc<Shared>> {
    Router::new()
        .route("/run", question(|view, _| Reply::json(&run::run(view))))
        .route("/timeline", question(timeline))
        .route("/calls", question(calls))
        .route("/messages", question(messages))
        .route("/collectives", question(collectives))
        .route("/path", question(path))
        .route("/parallelism", question(parallelism))
        .route("/tree", question(tree))
        .route("/phases", question(phases))
        .route("/stops", question(stops))
        .route("/histogram", question(histogram))
        .route("/histogram/calls", question(histogram_calls))
        .route("/matrix", question(matrix))
        .route("/matrix/labels", question(matrix_labels))
        .route("/flow", question(flow))
        .route("/links", question(links::links))
        .route("/threads", question(threads::threads))
        .route("/verdict", question(verdict))
        .route("/prediction", question(prediction))
        .route("/tasks/curves", question(tasks::curves))
        .route("/tasks/tree", question(tasks::tree))
        .route("/tasks/flow", question(tasks::flow))
        .route("/tasks/lengths", question(tasks::lengths))
        .route("/tasks/schedule", question(tasks::schedule))
        .fallback(async || {
            Failure::plain(StatusCode::NOT_FOUND, "Unknown request.", "See docs/src/guides/timeline.md.")
        })
}

/// Works an answer out.
type Answerer = fn(&View, &Parameters) -> Result<Reply, Failure>;

fn question(answer: Answerer) -> MethodRouter<Arc<Shared>> {
    get(
        move |State(shared): State<Arc<Shared>>, parameters: Result<Query<Parameters>, QueryRejection>| async move {
            let Query(parameters) = parameters?;
            ask(&shared, answer, parameters).await
        },
    )
}

/// Asks away from the thread that listens, and again as long as the answer is being worked out.
async fn ask(shared: &Arc<Shared>, answer: Answerer, parameters: Parameters) -> Result<Reply, Failure> {
    let begin = Instant::now();
    let parameters = Arc::new(parameters);
    loop {
        let (shared, parameters) = (Arc::clone(shared), Arc::clone(&parameters));
        let answered = tokio::task::spawn_blocking(move || answer(&shared.view, &parameters)).await;
        let answered = answered.unwrap_or_else(|_| {
            let what = "The server could not answer this request.";
            let next = "The trace may be damaged; check it with kizami info.";
            Err(Failure::plain(StatusCode::INTERNAL_SERVER_ERROR, what, next))
        });
        match answered {
            Err(failure) if failure.is_pending() && begin.elapsed() < PATIENCE => {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            done => return done,
        }
    }
}

/// The index of a layer, and the part of it that is meant.
fn selected(layer: &Layer, parameters: &Parameters) -> Result<(Arc<Index>, Selection), Failure> {
    let index = ready(layer.index())?;
    let selection = parameters.selection(&index)?.with_alike_sites(&layer.opened.definitions);
    Ok((index, selection))
}

/// Messages and waits are those of the trace: on another network they would be elsewhere.
fn insight(layer: &Layer) -> Result<Arc<Insight>, Failure> {
    match layer.origin {
        Origin::Trace => ready(layer.opened.insight()),
        Origin::Ideal => {
            let what = "On an ideal network messages take no time, so there is nothing to draw.";
            Err(Failure::plain(StatusCode::NOT_FOUND, what, "Select the recorded layer."))
        }
    }
}

fn timeline(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let index = &*ready(layer(view, parameters)?.index())?;
    let selection = parameters.selection(index)?;
    let columns = parameters.columns(1_000, MOST_COLUMNS)?;
    let rows = parameters.rows(256, MOST_CELLS)?.min(selection.ranks.len() as u64);
    if columns * rows > MOST_CELLS {
        return Err(Failure::bad(format!(
            "{columns} columns of {rows} rows are more than {MOST_CELLS} cells."
        )));
    }
    let ranks = match parameters.order {
        Order::Rank => selection.ranks,
        // Ranks are places in the order of the whole run.
        order => {
            let all = view.order(parameters.layer, order, || order.of(index, &Selection::all(index)));
            selection.ranks.iter().filter_map(|place| all.get(*place as usize).copied()).collect()
        }
    };
    let (from_ns, to_ns) = (selection.from.0, selection.to.0);
    let made = timeline::timeline(index, &ranks, from_ns, to_ns, columns as usize, rows as usize);
    Ok(Reply::bytes(encode::timeline(&made)))
}

fn calls(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let (index, selection) = selected(layer(view, parameters)?, parameters)?;
    let found = calls::calls(&index, &selection, parameters.limit(MOST_CALLS, MOST_CALLS)?)?;
    Ok(Reply::bytes(encode::calls(&found)))
}

fn messages(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    let (_, selection) = selected(layer, parameters)?;
    let limit = parameters.limit(MOST_CALLS, MOST_CALLS)?;
    Ok(Reply::bytes(encode::messages(&messages::messages(&*insight(layer)?, &selection, limit)?)))
}

fn collectives(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    let (_, selection) = selected(layer, parameters)?;
    let limit = parameters.limit(MOST_CALLS, MOST_CALLS)?;
    let (collectives, truncated) = collectives::collectives(&*insight(layer)?, &selection, limit);
    Reply::json(&Collectives { collectives, truncated })
}

fn path(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    let (_, selection) = selected(layer, parameters)?;
    let limit = parameters.limit(MOST_CALLS, MOST_CALLS)? as usize;
    let (segments, truncated) = path::path(&*insight(layer)?, selection.from, selection.to, limit);
    Reply::json(&Path { segments, truncated })
}

fn parallelism(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    let (index, selection) = selected(layer, parameters)?;
    let columns = parameters.columns(500, MOST_COLUMNS)? as usize;
    let (ideal, note) = match (layer.origin, layer.opened.ideal()) {
        (Origin::Ideal, _) => (None, None),
        (Origin::Trace, Answer::Ready(ideal)) => {
            (Some(parallelism::parallelism(&ideal, &selection, columns)), None)
        }
        (Origin::Trace, Answer::Pending(part)) => {
            (None, Some(format!("Computing the run on an ideal network: {:.0} %.", part * 100.0)))
        }
        (Origin::Trace, Answer::Failed(why)) => (None, Some(shown(&why))),
    };
    Reply::json(&Parallelism {
        from: selection.from.0,
        to: selection.to.0,
        kind: layer.kind(),
        recorded: parallelism::parallelism(&index, &selection, columns),
        ideal,
        note,
    })
}

fn tree(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    let (index, selection) = selected(layer, parameters)?;
    let opened = &layer.opened;
    let mut nodes = tree::tree(&index, &opened.definitions, opened.regions(), &selection);
    nodes.iter_mut().for_each(|node| node.name = shown(&node.name));
    Reply::json(&Tree { nodes })
}

fn phases(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    let index = ready(layer.index())?;
    // Regions are where they were recorded; on an ideal network they would be elsewhere.
    let regions = if layer.origin == Origin::Trace { layer.opened.regions() } else { &[] };
    let mut phases = phases::phases(&index, &layer.opened.definitions, regions);
    phases.iter_mut().for_each(|phase| phase.name = shown(&phase.name));
    Reply::json(&Phases { phases })
}

fn stops(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let (index, selection) = selected(layer(view, parameters)?, parameters)?;
    let limit = parameters.limit(1_000, MOST_CALLS)? as usize;
    let (stops, truncated) = stops::gaps(&index, &selection, limit);
    Reply::json(&Stops { stops, truncated })
}

fn histogram(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let (index, selection) = selected(layer(view, parameters)?, parameters)?;
    Reply::json(&histogram::histogram(&index, &selection, parameters.op()))
}

fn histogram_calls(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let (index, selection) = selected(layer(view, parameters)?, parameters)?;
    let lengths = Length(parameters.low.unwrap_or(0))..Length(parameters.high.unwrap_or(i64::MAX));
    let limit = parameters.limit(100, MOST_CALLS)? as usize;
    let calls = histogram::calls_of_length(&index, &selection, parameters.op(), lengths, limit);
    Reply::json(&HistogramCalls { count: calls.len(), calls })
}

fn matrix(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    let (index, selection) = selected(layer, parameters)?;
    let definitions = &layer.opened.definitions;
    let made = matrix::matrix(&*insight(layer)?, definitions, index.ranks(), &selection, parameters.by);
    Ok(Reply::bytes(encode::matrix(&made)))
}

fn matrix_labels(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let definitions = &layer(view, parameters)?.opened.definitions;
    let labels = matrix::labels(definitions, definitions.ranks.len() as u32, parameters.by);
    Reply::json(&MatrixLabels {
        labels: labels.iter().map(|label| shown(&label.name)).collect(),
        first_ranks: labels.iter().map(|label| label.first_rank).collect(),
    })
}

fn flow(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    ready(layer.index())?;
    let (rank, start) = parameters.event()?;
    let found = flow::flow(&*insight(layer)?, rank, start).ok_or_else(|| {
        Failure::plain(StatusCode::NOT_FOUND, "This call does not exist.", "Select a call on the timeline.")
    })?;
    Reply::json(&found)
}

fn prediction(view: &View, _: &Parameters) -> Result<Reply, Failure> {
    let next = "Start the viewer with kizami view --prediction FILE, where FILE is the output of kizami predict --json.";
    let none = || Failure::plain(StatusCode::NOT_FOUND, "No prediction loaded.", next);
    Reply::json(view.prediction.as_ref().ok_or_else(none)?)
}

fn verdict(view: &View, parameters: &Parameters) -> Result<Reply, Failure> {
    let layer = layer(view, parameters)?;
    if layer.origin == Origin::Ideal {
        let what = "The verdict covers only recorded runs.";
        return Err(Failure::plain(StatusCode::NOT_FOUND, what, "Select the recorded layer."));
    }
    let verdict = ready(layer.opened.verdict())?;
    let mut value = json!(phrases::report::in_words(verdict.report.clone()));
    shorten(&mut value);
    value["kind"] = json!(layer.kind());
    value["nothing_found"] = shown(&phrases::nothing::sentence(&verdict.report.nothing_found())).into();
    let warnings =
        phrases::verdict::warnings(&verdict.report).chain(phrases::verdict::unknown(&verdict.report));
    value["warnings"] = warnings.map(|text| shown(&text)).collect();
    let losses = verdict.report.threads.iter().flat_map(|threads| &threads.losses);
    value["thread_losses"] =
        losses.take(MOST_LOSSES).map(|loss| shown(&phrases::loss::sentence(loss))).collect();
    let findings = value["findings"].as_array_mut().into_iter().flatten();
    for ((finding, worded), jump) in findings.zip(&verdict.report.findings).zip(&verdict.jumps) {
        finding["expected"] = json!(worded.expected());
        finding["cost"] = phrases::verdict::cost(&verdict.report, worded).into();
        if let Some(path) = phrases::finding::path(worded) {
            finding["call_path"] = shown(&path).into();
        }
        if let Some(jump) = jump {
            finding["rank"] = jump.rank.into();
            finding["callsite"] = jump.site.into();
            finding["from"] = jump.from_ns.into();
            finding["to"] = jump.to_ns.into();
            finding["waiting_rank"] = jump.waiting_rank.into();
            finding["waiting_callsite"] = jump.waiting_site.into();
            finding["waiting_start"] = jump.waiting_start_ns.into();
        }
    }
    Reply::json(&value)
}
