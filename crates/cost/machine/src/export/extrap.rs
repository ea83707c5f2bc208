//! Measurements for Extra-P, in its text format: a region for each operation, the parameters `p` (ranks) and `bytes`, and the
//! metric `time` in seconds.
//!
//! Extra-P wants every operation at every point, and a machine has few sizes where a cost is a straight line and many where
//! it bends. So the points are the numbers of ranks that most operations have, and all sizes that were measured in the range
//! that all have; between two measured sizes an operation is written as a replay takes it, on the line between them. An
//! operation without a size costs the same at all. What does not fit is named in a comment; of a parameter that has one
//! value only Extra-P would know nothing, so it is in a comment as well.

use crate::error::MachineError;
use crate::machine::Machine;
use crate::tables::{CollectiveRow, Pattern};
use kizami_network::Curve;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What one operation costs, by ranks.
type Costs = BTreeMap<u32, Curve>;
/// The points at which operations are written.
struct Points {
    ranks: Vec<u32>,
    sizes: Vec<u64>,
}

/// The text for `extrap --text`.
pub fn extrap(machine: &Machine) -> Result<String, MachineError> {
    let mut operations = operations(machine);
    let all: Vec<String> = operations.keys().cloned().collect();
    let Some(points) = points(&mut operations) else {
        let what = "there are not two sizes or two numbers of ranks of any operation of this machine; measure it with \
                    `kizami bench`, with several numbers of ranks for models of more";
        return Err(MachineError::Measuring { what: what.to_owned() });
    };
    let left_out = all.iter().filter(|path| !operations.contains_key(*path));
    Ok(written(&operations, &points, &left_out.map(String::as_str).collect::<Vec<_>>()))
}

/// All operations by the path of their region. Of a point that was measured several times the last counts, and a disturbed
/// one only if there is no other.
fn operations(machine: &Machine) -> BTreeMap<String, Costs> {
    let collectives = machine.collectives.iter();
    let collectives = collectives.map(|row| (path(row), row.ranks, row.bytes, row.span_ns, &row.disturbed));
    let messages = machine.messages.iter();
    let messages = messages
        .map(|row| (format!("message->{}", row.kind), row.ranks, row.bytes, row.time_ns, &row.disturbed));
    let mut rows: Vec<_> = collectives.chain(messages).collect();
    rows.sort_by_key(|row| row.4.is_none());
    let mut points: BTreeMap<String, BTreeMap<u32, Vec<(u64, f64)>>> = BTreeMap::new();
    for (path, ranks, bytes, ns, _) in rows {
        points.entry(path).or_default().entry(ranks).or_default().push((bytes, ns));
    }
    let curves =
        |by_ranks: BTreeMap<u32, Vec<_>>| by_ranks.into_iter().map(|(ranks, at)| (ranks, Curve::new(at)));
    points.into_iter().map(|(path, by_ranks)| (path, curves(by_ranks).collect())).collect()
}

/// The operation, and how it was done if that is not the default.
fn path(row: &CollectiveRow) -> String {
    let mut path = row.operation.clone();
    if row.pattern != Pattern::Plain.name() {
        path += &format!("->{}", row.pattern);
    }
    if let Some(algorithm) = &row.algorithm {
        path += &format!("->algorithm {algorithm}");
    }
    path
}

/// The points that cover the most; operations that do not have them are removed. None if there are fewer than
/// two points.
fn points(operations: &mut BTreeMap<String, Costs>) -> Option<Points> {
    let ranks = common_ranks(operations)?;
    operations.retain(|_, costs| ranks.iter().all(|ranks| costs.contains_key(ranks)));
    for costs in operations.values_mut() {
        costs.retain(|known, _| ranks.contains(known));
    }
    // A cost at one size says nothing about others.
    operations.retain(|_, costs| range(costs).is_none_or(|(low, high)| high > low));
    let mut best: Option<(usize, BTreeMap<String, Costs>, Vec<u64>)> = None;
    let mut left = operations.clone();
    loop {
        let ranges: Vec<(String, (u64, u64))> =
            left.iter().filter_map(|(path, costs)| Some((path.clone(), range(costs)?))).collect();
        let common = ranges.iter().map(|(_, range)| *range).reduce(within);
        let sizes = common.map_or_else(Vec::new, |(low, high)| sizes_between(&left, low, high));
        let points = left.len() * sizes.len().max(1) * ranks.len();
        let enough = if ranges.is_empty() { ranks.len() >= 2 && !left.is_empty() } else { sizes.len() >= 2 };
        if enough && best.as_ref().is_none_or(|(before, ..)| points > *before) {
            best = Some((points, left.clone(), sizes));
        }
        // The one of the narrowest range is in the way of the others.
        let span = |range: &(u64, u64)| range.1 / range.0.max(1);
        let Some((narrowest, _)) = ranges.iter().min_by_key(|(_, range)| span(range)) else { break };
        left.remove(narrowest);
    }
    let (_, chosen, sizes) = best?;
    *operations = chosen;
    Some(Points { ranks, sizes })
}

/// The numbers of ranks that cover the most: the more of them the better, and the more operations.
fn common_ranks(operations: &BTreeMap<String, Costs>) -> Option<Vec<u32>> {
    let sets: BTreeSet<Vec<u32>> = operations.values().map(|costs| costs.keys().copied().collect()).collect();
    let having = |set: &Vec<u32>| {
        operations.values().filter(|costs| set.iter().all(|ranks| costs.contains_key(ranks))).count()
    };
    sets.into_iter().max_by_key(|set| (having(set) * set.len(), set.len()))
}

/// The sizes that were measured at all numbers of ranks, without 0: many libraries do nothing then. None if it has no sizes.
fn range(costs: &Costs) -> Option<(u64, u64)> {
    let ends = |curve: &Curve| {
        let first = curve.points().iter().find(|(bytes, _)| *bytes > 0)?;
        Some((first.0, curve.largest_bytes()?))
    };
    costs.values().filter_map(ends).reduce(within)
}

/// What two ranges have in common.
fn within(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.max(other.0), one.1.min(other.1))
}

/// All that were measured.
fn sizes_between(operations: &BTreeMap<String, Costs>, low: u64, high: u64) -> Vec<u64> {
    let curves = operations.values().flat_map(|costs| costs.values());
    let sizes: BTreeSet<u64> =
        curves.flat_map(|curve| curve.points().iter().map(|(bytes, _)| *bytes)).collect();
    sizes.into_iter().filter(|bytes| (low..=high).contains(bytes)).collect()
}

fn written(operations: &BTreeMap<String, Costs>, points: &Points, left_out: &[&str]) -> String {
    let Points { ranks, sizes } = points;
    let mut text = String::from("# Times in seconds; between measured sizes on the line between them\n");
    // Writing into a text cannot fail.
    for path in left_out {
        let _ = writeln!(text, "# Left out, measured at other points: {path}");
    }
    let (by_ranks, by_size) = (ranks.len() > 1, !sizes.is_empty());
    match ranks[..] {
        [only] => _ = writeln!(text, "# p = {only}"),
        _ => text += "PARAMETER p\n",
    }
    if by_size {
        text += "PARAMETER bytes\n";
    }
    text += "POINTS";
    let sizes = if by_size { &sizes[..] } else { &[0] };
    for ranks in ranks {
        for bytes in sizes {
            let _ = match (by_ranks, by_size) {
                (true, true) => write!(text, " ( {ranks} {bytes} )"),
                (true, false) => write!(text, " {ranks}"),
                _ => write!(text, " {bytes}"),
            };
        }
    }
    text.push('\n');
    for (path, costs) in operations {
        let _ = writeln!(text, "REGION {path}\nMETRIC time");
        for curve in costs.values() {
            for bytes in sizes {
                let _ = writeln!(text, "DATA {:e}", curve.at(*bytes) / 1e9);
            }
        }
    }
    text
}
