//! The first answer: what is looked at.

use super::answers::{self, CallSite, Health, IndexState, Run};
use super::text::shown;
use super::view::View;
use crate::index::category::Category;
use crate::layer::{Layer, Origin};
use crate::look::LOOKS;
use crate::query::work::{self, Work};
use crate::slot::Answer;
use kizami_model::{Op, function};
use kizami_trace::function_name;

/// What is looked at, and how far the index is. Regions and hosts are those of the first trace.
pub(super) fn run(view: &View) -> Run {
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
    let shown_all = |names: &mut dyn Iterator<Item = &String>| names.map(|name| shown(name)).collect();
    Run {
        layers: view.layers.iter().map(described).collect(),
        hosts: shown_all(&mut definitions.hosts.iter().map(|host| &host.name)),
        functions: functions.iter().map(|op| op.name()).collect(),
        function_categories: functions.iter().map(|op| Category::of(*op) as u8).collect(),
        functions_used: used,
        regions: shown_all(&mut definitions.regions.iter().map(|region| &region.name)),
        categories: LOOKS.to_vec(),
        health: Health { complete: health.complete && broken.is_empty(), problems },
        index: IndexState { ready, progress },
    }
}

fn is_used(view: &View, op: Op) -> bool {
    let name = op.name();
    view.layers
        .iter()
        .any(|layer| layer.opened.trace.run().functions.iter().any(|function| function.op == name))
}

/// Where calls were made from, by the numbers of the layer's own trace.
fn callsites(layer: &Layer) -> Vec<CallSite> {
    let sites = layer.opened.definitions.callsites.iter();
    sites
        .map(|site| {
            let file = site.file.as_ref().map(|file| shown(file.rsplit('/').next().unwrap_or(file)));
            CallSite {
                id: site.index,
                function: shown(&function_name::shown(&site.function)),
                file,
                line: site.line,
            }
        })
        .collect()
}

fn described(layer: &Layer) -> answers::Layer {
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
            let note = "replayed: messages and collectives take no time, ranks wait only for their partners";
            (format!("{file}, ideal network"), span_ns, Some(note.to_owned()))
        }
    };
    answers::Layer {
        name,
        path_shown: shown_path,
        span_ns,
        work: work(layer, span_ns),
        ranks,
        threads: info.threads,
        // As many as all ranks make, wherever some have the rows of others.
        events: if info.is_stored_by_rank_class() { info.totals.calls } else { info.totals.events },
        lost_calls: info.totals.lost_calls,
        kind: layer.kind(),
        note,
        kinds: if layer.origin == Origin::Trace { kinds(layer) } else { None },
        callsites: callsites(layer),
        tasks: layer.origin == Origin::Trace && layer.opened.has_tasks(),
        links: layer.has_links(),
        parallel: layer.has_regions(),
        only_tasks: layer.opened.is_only_tasks(),
    }
}

/// When the program of a layer works, if its index is there and MPI is started or ended in it.
fn work(layer: &Layer, span_ns: i64) -> Option<(i64, i64)> {
    let index = match layer.origin {
        Origin::Trace => layer.index(),
        Origin::Ideal => layer.opened.ideal_so_far(),
    };
    let Answer::Ready(index) = index else { return None };
    let Work { from, to } = work::work(&index);
    let known = from.is_some() || to.is_some();
    let (from_ns, to_ns) = (from.map_or(0, |from| from.0), to.map_or(span_ns, |to| to.0));
    (known && from_ns < to_ns).then_some((from_ns, to_ns))
}

/// How the times of a trace came to be, if it is no recording.
fn note(info: &kizami_trace::RunInfo) -> Option<String> {
    match (&info.replayed, &info.undisturbed) {
        (Some(replayed), _) => {
            Some(shown(&format!("replayed from {} with {}", replayed.made_from, replayed.setting.join(" "))))
        }
        (None, Some(undisturbed)) => {
            Some(shown(&format!("tracer overhead removed, from {}", undisturbed.made_from)))
        }
        (None, None) => None,
    }
}

/// How many kinds of rank a layer has, if its index is there and one rank of each stands for all of its kind.
fn kinds(layer: &Layer) -> Option<usize> {
    match layer.index() {
        Answer::Ready(index) => index.alike().map(|kinds| kinds.count()),
        _ => None,
    }
}
