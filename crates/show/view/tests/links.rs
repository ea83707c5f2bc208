//! What is told about links of a simulated network: loads that are known, added up over any range and in any number of columns.

mod common;

use common::stencil;
use kizami_model::{Length, Moment, Op};
use kizami_trace::schema::Record;
use kizami_trace::write::summary;
use kizami_trace::{LinkLoad, Trace};
use kizami_view::layer::{Layer, Opened, Origin};
use kizami_view::query::links::{BusyLinks, busiest};
use std::ops::Range;
use std::sync::Arc;

const SEND: &str = "MPI_Isend";
const REDUCE: &str = "MPI_Allreduce";

/// A link that can carry 1,000 bytes a second.
fn load(link: &str, start: i64, share: f64, op: &str, op_share: f64) -> LinkLoad {
    LinkLoad {
        link: link.to_owned(),
        start: Moment(start),
        length: Length(100),
        bytes_per_s: share * 1_000.0,
        share,
        op: Op::by_name(op),
        callsite: Some(0),
        op_share,
    }
}

/// A run with such a table.
fn opened(folder: &std::path::Path, loads: &[LinkLoad]) -> Arc<Opened> {
    let path = folder.join("run.kz");
    let (_, trace) = stencil(&path, 4, 5);
    let mut run = trace.run().clone();
    let written = LinkLoad::write(loads, &path).unwrap();
    run.files.push(summary::entry(&written, &path));
    std::fs::write(path.join("run.json"), serde_json::to_vec(&run).unwrap()).unwrap();
    Opened::open(&path).unwrap()
}

fn ask(
    opened: &Opened,
    marked_range: Range<i64>,
    shown: Range<i64>,
    columns: usize,
    limit: usize,
) -> BusyLinks {
    let moments = |range: Range<i64>| Moment(range.start)..Moment(range.end);
    busiest(&opened.links_now().unwrap(), &moments(marked_range), &moments(shown), columns, limit)
}

fn known() -> Vec<LinkLoad> {
    vec![
        load("down", 0, 0.2, SEND, 1.0),
        load("down", 100, 0.8, SEND, 0.75),
        load("down", 300, 0.4, REDUCE, 1.0),
        load("up", 100, 0.5, REDUCE, 1.0),
        load("up", 200, 1.0, REDUCE, 1.0),
    ]
}

#[test]
fn the_busiest_come_first_with_their_peak_and_call() {
    let folder = tempfile::tempdir().unwrap();
    let opened = opened(folder.path(), &known());
    let all = ask(&opened, 0..400, 0..400, 400, 20);
    let names: Vec<&str> = all.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!((names, all.of), (vec!["up", "down"], 2));
    let down = &all.links[1];
    assert!((all.links[0].mean - 0.375).abs() < 1e-12 && (down.mean - 0.35).abs() < 1e-12);
    assert_eq!((down.peak, down.peak_from, down.peak_to), (0.8, 100, 200));
    assert!((down.capacity_bytes_per_s - 1_000.0).abs() < 1e-9);
    // 20 and 60 of 140 are of one call, 40 of the other.
    let call = all.calls[down.call.unwrap() as usize];
    assert_eq!(Op(call.op).name(), SEND);
    assert!((down.call_part - 80.0 / 140.0).abs() < 1e-12);
    assert_eq!((&down.starts, &down.ends), (&vec![0, 100, 300], &vec![100, 200, 400]));
    assert_eq!((&down.shares, &down.bytes_per_s), (&vec![0.2, 0.8, 0.4], &vec![200.0, 800.0, 400.0]));
    // Elsewhere others are, and for others; stretches that are shown may be those of another range.
    let early = ask(&opened, 50..150, 0..400, 400, 1);
    assert_eq!((early.links[0].name.as_str(), early.of), ("down", 2));
    assert!((early.links[0].mean - 0.5).abs() < 1e-12);
    assert_eq!(early.links[0].starts.len(), 3);
    assert_eq!(ask(&opened, 400..500, 0..400, 400, 20).links, []);
    assert_eq!(ask(&opened, 300..300, 0..400, 400, 20).links, []);
}

#[test]
fn stretches_of_one_column_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let opened = opened(folder.path(), &known());
    let marked_range = ask(&opened, 0..400, 0..400, 2, 20);
    let (up, down) = (&marked_range.links[0], &marked_range.links[1]);
    assert_eq!((&down.starts, &down.ends), (&vec![0, 300], &vec![200, 400]));
    assert_eq!((&down.shares, &down.bytes_per_s), (&vec![0.5, 0.4], &vec![500.0, 400.0]));
    let parts: Vec<f32> = vec![0.8, 1.0];
    assert_eq!((&down.stretch_call_parts, &up.starts), (&parts, &vec![100, 200]));
    // Nothing that was carried between two of them is made up.
    let one = ask(&opened, 0..400, 0..400, 1, 20);
    assert_eq!((&one.links[1].starts, &one.links[1].ends), (&vec![0], &vec![400]));
    assert!((f64::from(one.links[1].shares[0]) - one.links[1].mean).abs() < 1e-6);
}

#[test]
fn only_traces_with_the_table_have_links_and_only_at_their_own_times() {
    let folder = tempfile::tempdir().unwrap();
    let with = opened(folder.path(), &known());
    let layer = |opened: &Arc<Opened>, origin| Layer { opened: Arc::clone(opened), origin };
    assert!(layer(&with, Origin::Trace).has_links() && !layer(&with, Origin::Ideal).has_links());
    let path = folder.path().join("plain.kz");
    stencil(&path, 2, 1);
    assert!(Trace::open(&path).unwrap().rows_of::<LinkLoad>().unwrap().is_empty());
    assert!(!layer(&Opened::open(&path).unwrap(), Origin::Trace).has_links());
}
