//! Questions as they come in requests: their parameters, who answers them, and what is said if nobody can.

use super::{View, encode};
use crate::category::{Category, LOOKS};
use crate::index::Index;
use crate::insight::Insight;
use crate::layer::{Layer, Origin};
use crate::query::matrix::By;
use crate::query::order::Order;
use crate::query::{
    Selection, TooMany, calls, collectives, flow, histogram, matrix, messages, parallelism, path, phases,
    stops, timeline, tree,
};
use crate::slot::Answer;
use axum::http::StatusCode;
use kizami_model::{Op, function};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Calls or messages one by one, at most.
const MOST_CALLS: u64 = 20_000;
/// Cells of a timeline, at most.
const MOST_CELLS: u64 = 8 << 20;
const MOST_COLUMNS: u64 = 16 << 10;
/// Letters of a name that are sent.
const MOST_LETTERS: usize = 400;

/// An answer.
pub(super) struct Reply {
    pub kind: &'static str,
    pub body: Vec<u8>,
}

impl Reply {
    fn bytes(body: Vec<u8>) -> Reply {
        Reply { kind: "application/octet-stream", body }
    }

    fn json(value: &Value) -> Reply {
        Reply { kind: "application/json", body: value.to_string().into_bytes() }
    }
}

/// Why there is no answer, and what to do.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub status: StatusCode,
    error: String,
    next: String,
    count: Option<u64>,
    progress: Option<f64>,
}

impl Failure {
    pub(super) fn plain(status: StatusCode, error: &str, next: &str) -> Failure {
        Failure { status, error: error.to_owned(), next: next.to_owned(), count: None, progress: None }
    }

    fn bad(error: String) -> Failure {
        Failure::plain(
            StatusCode::BAD_REQUEST,
            &error,
            "The page and the server may be of different versions.",
        )
    }

    fn pending(progress: f64) -> Failure {
        let what = "This is still being worked out.";
        let failure = Failure::plain(StatusCode::SERVICE_UNAVAILABLE, what, "Ask again in a moment.");
        Failure { progress: Some(progress), ..failure }
    }

    /// Whether asking again will help.
    pub(super) fn is_pending(&self) -> bool {
        self.progress.is_some()
    }

    pub(super) fn json(&self) -> Vec<u8> {
        let mut value = json!({ "error": self.error, "next": self.next });
        if let Some(count) = self.count {
            value["count"] = count.into();
        }
        if let Some(progress) = self.progress {
            value["progress"] = progress.into();
        }
        value.to_string().into_bytes()
    }
}

impl From<TooMany> for Failure {
    fn from(many: TooMany) -> Failure {
        let what = format!("{} are too many to be told apart.", many.count);
        let failure =
            Failure::plain(StatusCode::PAYLOAD_TOO_LARGE, &what, "Choose a shorter range or fewer ranks.");
        Failure { count: Some(many.count), ..failure }
    }
}

/// The parameters of a request.
#[derive(Debug, Default)]
pub(super) struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// Of the part of an address behind the question mark.
    pub(super) fn of(query: &str) -> Parameters {
        let uri = axum::http::Uri::builder().path_and_query(format!("/?{query}")).build();
        let parsed = uri.ok().and_then(|uri| axum::extract::Query::try_from_uri(&uri).ok());
        Parameters(parsed.map(|axum::extract::Query(map)| map).unwrap_or_default())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Failure> {
        let wrong = |text: &str| Failure::bad(format!("{name}={} is no number.", shown(text)));
        self.get(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    fn whole(&self, name: &str, usual: u64, most: u64) -> Result<u64, Failure> {
        match self.number(name)?.unwrap_or(usual) {
            number if (1..=most).contains(&number) => Ok(number),
            _ => Err(Failure::bad(format!("{name} must be from 1 to {most}."))),
        }
    }

    /// Numbers like `0-63,70`, below a limit; all without the parameter.
    fn numbers(&self, name: &str, limit: u32) -> Result<Vec<u32>, Failure> {
        let Some(text) = self.get(name).filter(|text| !text.is_empty()) else {
            return Ok((0..limit).collect());
        };
        let mut wanted = vec![false; limit as usize];
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let wrong = |_| Failure::bad(format!("{name}={} are no numbers.", shown(text)));
            let (first, last): (u32, u32) = (first.parse().map_err(wrong)?, last.parse().map_err(wrong)?);
            let last = last.saturating_add(1).min(limit);
            (first.min(last)..last).for_each(|number| wanted[number as usize] = true);
        }
        Ok((0..limit).filter(|number| wanted[*number as usize]).collect())
    }

    fn selection(&self, index: &Index) -> Result<Selection, Failure> {
        let all = (index.begin_ns(), index.end_ns().saturating_add(1));
        let (from_ns, to_ns) = (self.number("from")?.unwrap_or(all.0), self.number("to")?.unwrap_or(all.1));
        if to_ns < from_ns {
            return Err(Failure::bad("The range ends before it begins.".to_owned()));
        }
        let mut sites = rustc_hash::FxHashSet::default();
        for name in ["sites", "site"] {
            for text in self.get(name).unwrap_or_default().split(',').filter(|text| !text.is_empty()) {
                let wrong = |_| Failure::bad(format!("{name}={} are no numbers.", shown(text)));
                sites.insert(text.parse().map_err(wrong)?);
            }
        }
        Ok(Selection { from_ns, to_ns, ranks: self.numbers("ranks", index.ranks())?, sites })
    }
}

/// Answers a question.
pub(super) fn answer(view: &View, route: &str, parameters: &Parameters) -> Result<Reply, Failure> {
    if route == "run" {
        return Ok(Reply::json(&run(view)));
    }
    let number: usize = parameters.number("layer")?.unwrap_or(0);
    let layer =
        view.layers.get(number).ok_or_else(|| Failure::bad(format!("There is no layer {number}.")))?;
    let (opened, definitions) = (&layer.opened, &layer.opened.definitions);
    if route == "verdict" {
        return verdict(layer);
    }
    if route == "matrix/labels" {
        return Ok(labels(layer, by(parameters)?));
    }
    let index = ready(layer.index())?;
    let asked = || parameters.selection(&index);
    let insight = || insight(layer);
    match route {
        "timeline" => timeline(view, number, &index, parameters),
        "calls" => {
            let limit = parameters.whole("limit", MOST_CALLS, MOST_CALLS)?;
            Ok(Reply::bytes(encode::calls(&calls::calls(&index, &asked()?, limit)?)))
        }
        "messages" => {
            let limit = parameters.whole("limit", MOST_CALLS, MOST_CALLS)?;
            Ok(Reply::bytes(encode::messages(&messages::messages(&*insight()?, &asked()?, limit)?)))
        }
        "collectives" => {
            let limit = parameters.whole("limit", MOST_CALLS, MOST_CALLS)?;
            let (found, truncated) = collectives::collectives(&*insight()?, &asked()?, limit);
            Ok(Reply::json(&json!({ "collectives": found, "truncated": truncated })))
        }
        "path" => {
            let (limit, asked) = (parameters.whole("limit", MOST_CALLS, MOST_CALLS)?, asked()?);
            let (segments, truncated) = path::path(&*insight()?, asked.from_ns, asked.to_ns, limit as usize);
            Ok(Reply::json(&json!({ "segments": segments, "truncated": truncated })))
        }
        "parallelism" => {
            let columns = parameters.whole("columns", 500, MOST_COLUMNS)?;
            Ok(parallel(layer, &index, &asked()?, columns as usize))
        }
        "tree" => {
            let mut nodes = tree::tree(&index, definitions, opened.regions(), &asked()?);
            nodes.iter_mut().for_each(|node| node.name = shown(&node.name));
            Ok(Reply::json(&json!({ "nodes": nodes })))
        }
        "phases" => {
            // Regions are where they were recorded; on an ideal network they would be elsewhere.
            let regions = if layer.origin == Origin::Trace { opened.regions() } else { &[] };
            let mut found = phases::phases(&index, definitions, regions);
            found.iter_mut().for_each(|phase| phase.name = shown(&phase.name));
            Ok(Reply::json(&json!({ "phases": found })))
        }
        "stops" => {
            let limit = parameters.whole("limit", 1_000, MOST_CALLS)? as usize;
            let (found, truncated) = stops::gaps(&index, &asked()?, limit);
            Ok(Reply::json(&json!({ "stops": found, "truncated": truncated })))
        }
        "histogram" => Ok(Reply::json(&json!(histogram::histogram(&index, &asked()?, op(parameters)?)))),
        "histogram/calls" => {
            let (low, high) =
                (parameters.number("low")?.unwrap_or(0), parameters.number("high")?.unwrap_or(i64::MAX));
            let limit = parameters.whole("limit", 100, MOST_CALLS)? as usize;
            let found = histogram::calls_of_length(&index, &asked()?, op(parameters)?, low, high, limit);
            Ok(Reply::json(&json!({ "count": found.len(), "calls": found })))
        }
        "matrix" => {
            let made = matrix::matrix(&*insight()?, definitions, index.ranks(), &asked()?, by(parameters)?);
            Ok(Reply::bytes(encode::matrix(&made)))
        }
        "flow" => {
            let event = parameters.get("event").and_then(|text| text.split_once(':'));
            let event = event.and_then(|(rank, start)| Some((rank.parse().ok()?, start.parse().ok()?)));
            let (rank, start_ns) =
                event.ok_or_else(|| Failure::bad("event must be RANK:START.".to_owned()))?;
            let found = flow::flow(&*insight()?, rank, start_ns).ok_or_else(|| {
                Failure::plain(
                    StatusCode::NOT_FOUND,
                    "There is no such call.",
                    "Choose a call on the timeline.",
                )
            })?;
            Ok(Reply::json(&json!(found)))
        }
        _ => {
            Err(Failure::plain(StatusCode::NOT_FOUND, "There is no such question.", "See docs/src/view.md."))
        }
    }
}

/// What there is, or why not.
fn ready<T>(answer: Answer<T>) -> Result<Arc<T>, Failure> {
    match answer {
        Answer::Ready(value) => Ok(value),
        Answer::Pending(progress) => Err(Failure::pending(progress)),
        Answer::Failed(why) => {
            let next = "Check the trace with kizami info; if it was recorded here, record it again.";
            Err(Failure::plain(StatusCode::INTERNAL_SERVER_ERROR, &why, next))
        }
    }
}

/// Messages and waits are those of the trace: on another network they would be elsewhere.
fn insight(layer: &Layer) -> Result<Arc<Insight>, Failure> {
    match layer.origin {
        Origin::Trace => ready(layer.opened.insight()),
        Origin::Ideal => {
            let what = "On an ideal network messages take no time, and there is nothing to draw.";
            Err(Failure::plain(StatusCode::NOT_FOUND, what, "Choose the recorded layer."))
        }
    }
}

fn by(parameters: &Parameters) -> Result<By, Failure> {
    match parameters.get("by").unwrap_or("rank") {
        "rank" => Ok(By::Rank),
        "host" => Ok(By::Host),
        _ => Err(Failure::bad("by must be rank or host.".to_owned())),
    }
}

fn op(parameters: &Parameters) -> Result<Option<Op>, Failure> {
    Ok(parameters.number("op")?.map(Op))
}

fn timeline(view: &View, layer: usize, index: &Index, parameters: &Parameters) -> Result<Reply, Failure> {
    let selection = parameters.selection(index)?;
    let columns = parameters.whole("columns", 1_000, MOST_COLUMNS)?;
    let rows = parameters.whole("rows", 256, MOST_CELLS)?.min(selection.ranks.len() as u64);
    if columns * rows > MOST_CELLS {
        return Err(Failure::bad(format!("{columns} columns of {rows} rows are too many.")));
    }
    let name = parameters.get("order").unwrap_or("rank");
    let order = Order::by_name(name)
        .ok_or_else(|| Failure::bad("order must be rank, wait or cluster.".to_owned()))?;
    let ranks = match order {
        Order::Rank => selection.ranks,
        // Ranks are places in the order of the whole run.
        order => {
            let all = view.order(layer, order, || order.of(index, &Selection::all(index)));
            selection.ranks.iter().filter_map(|place| all.get(*place as usize).copied()).collect()
        }
    };
    let (from_ns, to_ns) = (selection.from_ns, selection.to_ns);
    let made = timeline::timeline(index, &ranks, from_ns, to_ns, columns as usize, rows as usize);
    Ok(Reply::bytes(encode::timeline(&made)))
}

fn parallel(layer: &Layer, index: &Index, selection: &Selection, columns: usize) -> Reply {
    let recorded = parallelism::parallelism(index, selection, columns);
    let (ideal, note) = match (layer.origin, layer.opened.ideal()) {
        (Origin::Ideal, _) => (None, None),
        (Origin::Trace, Answer::Ready(ideal)) => {
            (Some(parallelism::parallelism(&ideal, selection, columns)), None)
        }
        (Origin::Trace, Answer::Pending(part)) => {
            (None, Some(format!("The run on an ideal network is being worked out: {:.0} %.", part * 100.0)))
        }
        (Origin::Trace, Answer::Failed(why)) => (None, Some(shown(&why))),
    };
    let (from, to, kind) = (selection.from_ns, selection.to_ns, layer.kind());
    Reply::json(&json!({
        "from": from, "to": to, "kind": kind, "recorded": recorded, "ideal": ideal, "note": note,
    }))
}

fn verdict(layer: &Layer) -> Result<Reply, Failure> {
    if layer.origin == Origin::Ideal {
        let what = "The verdict is about runs as they were recorded.";
        return Err(Failure::plain(StatusCode::NOT_FOUND, what, "Choose the recorded layer."));
    }
    let verdict = ready(layer.opened.verdict())?;
    let mut value = json!(verdict.report);
    shorten(&mut value);
    value["kind"] = layer.kind().into();
    let findings = value["findings"].as_array_mut().into_iter().flatten();
    for (finding, jump) in findings.zip(&verdict.jumps) {
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
    Ok(Reply::json(&value))
}

fn labels(layer: &Layer, by: By) -> Reply {
    let definitions = &layer.opened.definitions;
    let labels = matrix::labels(definitions, definitions.ranks.len() as u32, by);
    let names: Vec<String> = labels.iter().map(|label| shown(&label.name)).collect();
    let firsts: Vec<Option<u32>> = labels.iter().map(|label| label.first_rank).collect();
    Reply::json(&json!({ "labels": names, "first_ranks": firsts }))
}

/// What is looked at, and how far the index is. Regions and hosts are those of the first trace.
fn run(view: &View) -> Value {
    let first = &view.layers[0].opened;
    let definitions = &first.definitions;
    let mut progress: f64 = 1.0;
    let mut ready = true;
    let mut broken = Vec::new();
    for layer in view.layers.iter().filter(|layer| layer.origin == Origin::Trace) {
        match layer.index() {
            Answer::Ready(_) => {}
            Answer::Pending(part) => (progress, ready) = (progress.min(part), false),
            Answer::Failed(why) => broken.push(shown(&why)),
        }
    }
    let health = &first.trace.run().health;
    let problems: Vec<String> =
        health.problems.iter().map(|problem| shown(problem)).chain(broken.clone()).collect();
    let functions: Vec<Op> =
        std::iter::once(Op(0)).chain(function::functions().iter().map(|function| function.op)).collect();
    let used: Vec<usize> = (0..functions.len()).filter(|number| is_used(view, functions[*number])).collect();
    json!({
        "layers": view.layers.iter().map(described).collect::<Vec<_>>(),
        "hosts": definitions.hosts.iter().map(|host| shown(&host.name)).collect::<Vec<_>>(),
        "functions": functions.iter().map(|op| op.name()).collect::<Vec<_>>(),
        "function_categories": functions.iter().map(|op| Category::of(*op) as u8).collect::<Vec<_>>(),
        "functions_used": used,
        "regions": definitions.regions.iter().map(|region| shown(&region.name)).collect::<Vec<_>>(),
        "categories": LOOKS,
        "health": { "complete": health.complete && broken.is_empty(), "problems": problems },
        "index": { "ready": ready, "progress": progress },
    })
}

fn is_used(view: &View, op: Op) -> bool {
    let name = op.name();
    view.layers
        .iter()
        .any(|layer| layer.opened.trace.run().functions.iter().any(|function| function.op == name))
}

/// Where calls were made from, by the numbers of the layer's own trace.
fn callsites(layer: &Layer) -> Vec<Value> {
    let sites = layer.opened.definitions.callsites.iter();
    sites
        .map(|site| {
            let file = site.file.as_ref().map(|file| shown(file.rsplit('/').next().unwrap_or(file)));
            json!({ "id": site.index, "function": shown(&site.function), "file": file, "line": site.line })
        })
        .collect()
}

fn described(layer: &Layer) -> Value {
    let (trace, ranks) = (&layer.opened.trace, layer.opened.definitions.ranks.len());
    let info = trace.run();
    let shown_path = shown(&trace.path().display().to_string());
    let file = trace.path().file_name().map_or(shown_path.clone(), |name| shown(&name.to_string_lossy()));
    let (name, span_ns, note) = match layer.origin {
        Origin::Trace => {
            // Calls may have been lost behind the last one that was stored.
            let known_ns = match layer.index() {
                Answer::Ready(index) => index.known_until_ns(),
                _ => 0,
            };
            (file, info.span_ns.max(known_ns), note(info))
        }
        Origin::Ideal => {
            let span_ns = match layer.opened.ideal_so_far() {
                Answer::Ready(index) => index.end_ns(),
                _ => info.span_ns,
            };
            let note = "replayed: messages and collectives take no time, only partners are waited for";
            (format!("{file}, ideal network"), span_ns, Some(note.to_owned()))
        }
    };
    json!({
        "name": name, "path_shown": shown_path, "span_ns": span_ns, "ranks": ranks, "threads": info.threads,
        "events": info.totals.events, "lost_calls": info.totals.lost_calls, "kind": layer.kind(), "note": note,
        "callsites": callsites(layer),
    })
}

/// How the times of a trace came to be, if it is no recording.
fn note(info: &kizami_store::RunInfo) -> Option<String> {
    match (&info.replayed, &info.undisturbed) {
        (Some(replayed), _) => {
            Some(shown(&format!("replayed from {} with {}", replayed.made_from, replayed.setting.join(" "))))
        }
        (None, Some(undisturbed)) => {
            Some(shown(&format!("without the tracer, from {}", undisturbed.made_from)))
        }
        (None, None) => None,
    }
}

/// Does that to all texts of an answer.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > MOST_LETTERS => *text = shown(text),
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.iter_mut().for_each(|(_, value)| shorten(value)),
        _ => {}
    }
}

/// As much of a text as anybody reads.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
