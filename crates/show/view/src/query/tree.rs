//! Where time goes: regions of the program, within them its functions by the path that leads to a call, within those the
//! functions called and the places they are called from.

use super::Selection;
use crate::index::Index;
use kizami_model::Op;
use kizami_trace::{Definitions, RegionSpan, SourceLine, function_name};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// One node. Parents come before their children; the first is the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "TreeNode"))]
pub struct Node {
    /// Its place in the list.
    pub id: usize,
    /// Name of the region or function, or the place in the source.
    pub name: String,
    /// Node it is part of; none for the run.
    pub parent: Option<usize>,
    /// Time in it, over all selected ranks.
    pub inclusive_ns: i64,
    /// Time in it that is in none of its children.
    pub exclusive_ns: i64,
    /// Stays in the region, or calls.
    pub calls: u64,
    /// What it is.
    pub kind: NodeKind,
    /// Number of the function.
    pub op: Option<u16>,
    /// Index of the place.
    pub site: Option<u32>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// The run.
    Run,
    /// A stay in a region of the program.
    Region,
    /// A function of the program, or one that it calls, on the way to a call.
    Caller,
    /// A function that was recorded.
    Function,
    /// A place it is called from.
    #[serde(rename = "callsite")]
    CallSite,
}

/// Regions within regions, and the time and stays in each.
#[derive(Default)]
struct Paths {
    numbers: FxHashMap<(usize, u32), usize>,
    /// Parent and region; the first is the run.
    list: Vec<(usize, u32)>,
    sums: Vec<(i64, u64)>,
}

/// From a moment on a rank is in this path.
type Switch = (i64, usize);

impl Paths {
    fn number(&mut self, parent: usize, region: u32) -> usize {
        let next = self.list.len();
        let number = *self.numbers.entry((parent, region)).or_insert(next);
        if number == next {
            self.list.push((parent, region));
            self.sums.push((0, 0));
        }
        number
    }

    /// Follows the regions of one rank's first thread.
    fn rank(&mut self, spans: &[RegionSpan], thread: u32, weight: u64, selection: &Selection) -> Vec<Switch> {
        let mut switches = vec![(i64::MIN, 0)];
        let mut open: Vec<(i64, usize)> = Vec::new();
        let leave = |open: &mut Vec<(i64, usize)>, until_ns: i64, switches: &mut Vec<Switch>| {
            while let Some((end_ns, _)) = open.pop_if(|(end_ns, _)| *end_ns <= until_ns) {
                switches.push((end_ns, open.last().map_or(0, |(_, path)| *path)));
            }
        };
        for span in spans.iter().filter(|span| span.thread.0 == thread) {
            leave(&mut open, span.start.0, &mut switches);
            let path = self.number(open.last().map_or(0, |(_, path)| *path), span.region);
            let (from_ns, to_ns) = (span.start.0.max(selection.from.0), span.end.0.min(selection.to.0));
            if to_ns > from_ns {
                let sum = &mut self.sums[path];
                *sum = (sum.0 + (to_ns - from_ns) * weight as i64, sum.1 + weight);
            }
            switches.push((span.start.0, path));
            open.push((span.end.0, path));
        }
        leave(&mut open, i64::MAX, &mut switches);
        switches
    }
}

/// Time and calls by path and kind of row.
type Sums = FxHashMap<(usize, u32), (i64, u64)>;

/// The tree of a selection. `spans` are all stays in regions, by rank, then by start.
pub fn tree(
    index: &Index,
    definitions: &Definitions,
    spans: &[RegionSpan],
    selection: &Selection,
) -> Vec<Node> {
    let mut paths = Paths { list: vec![(0, u32::MAX)], sums: vec![(0, 0)], ..Paths::default() };
    let mut of_ranks = Vec::with_capacity(selection.ranks.len());
    for (rank, weight) in index.weighed(&selection.ranks) {
        let Some((begin_ns, end_ns, thread)) = index.seen(rank) else { continue };
        let length_ns = end_ns.min(selection.to.0) - begin_ns.max(selection.from.0);
        paths.sums[0].0 += length_ns.max(0) * weight as i64;
        paths.sums[0].1 += weight;
        let first = spans.partition_point(|span| span.rank.0 < rank);
        let count = spans[first..].partition_point(|span| span.rank.0 == rank);
        let switches = paths.rank(&spans[first..first + count], thread, weight, selection);
        of_ranks.push(((rank, weight), thread, switches));
    }
    let of_rank = |mut sums: Sums, ((rank, weight), thread, switches): &((u32, u64), u32, Vec<Switch>)| {
        let mut place = 0;
        index.each(*rank, selection.from.0, selection.to.0, |row| {
            let kind = index.kinds().get(row.kind as usize);
            if !kind.is_some_and(|kind| kind.thread == *thread && !kind.is_part() && selection.has(kind)) {
                return;
            }
            while switches.get(place + 1).is_some_and(|(ns, _)| *ns <= row.start_ns) {
                place += 1;
            }
            let length_ns = row.end_ns.min(selection.to.0) - row.start_ns.max(selection.from.0);
            let sum = sums.entry((switches[place].1, row.kind)).or_default();
            *sum = (sum.0 + length_ns.max(0) * *weight as i64, sum.1 + weight);
        });
        sums
    };
    let both = |mut one: Sums, other: Sums| {
        for (key, (ns, calls)) in other {
            let sum = one.entry(key).or_default();
            *sum = (sum.0 + ns, sum.1 + calls);
        }
        one
    };
    let sums = of_ranks.par_iter().fold(Sums::default, of_rank).reduce(Sums::default, both);
    nodes(index, definitions, &paths, &sums)
}

fn nodes(index: &Index, definitions: &Definitions, paths: &Paths, sums: &Sums) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for (id, ((parent, region), (ns, calls))) in paths.list.iter().zip(&paths.sums).enumerate() {
        let name = definitions.regions.get(*region as usize).map(|region| region.name.clone());
        nodes.push(Node {
            id,
            name: name
                .unwrap_or_else(|| if id == 0 { "run".to_owned() } else { "(unnamed region)".to_owned() }),
            parent: (id > 0).then_some(*parent),
            inclusive_ns: *ns,
            exclusive_ns: *ns,
            calls: *calls,
            kind: if id == 0 { NodeKind::Run } else { NodeKind::Region },
            op: None,
            site: None,
        });
    }
    let mut by_place: FxHashMap<(usize, u16, Option<u32>), (i64, u64)> = FxHashMap::default();
    for ((path, kind), (ns, calls)) in sums {
        let Some(kind) = index.kinds().get(*kind as usize) else { continue };
        let sum = by_place.entry((*path, kind.op().0, kind.site())).or_default();
        *sum = (sum.0 + ns, sum.1 + calls);
    }
    let mut places: Vec<_> = by_place.into_iter().collect();
    places.sort_unstable();
    let (mut known, mut calls_known) = (FxHashMap::default(), FxHashMap::default());
    let alike = definitions.alike_sites();
    let mut node_of =
        |nodes: &mut Vec<Node>, parent: usize, name: String, kind: NodeKind, op: Option<u16>| {
            *known.entry((parent, kind, name)).or_insert_with_key(|(parent, kind, name)| {
                let (id, parent, name) = (nodes.len(), Some(*parent), name.clone());
                let (inclusive_ns, exclusive_ns, calls) = (0, 0, 0);
                nodes.push(Node {
                    id,
                    name,
                    parent,
                    inclusive_ns,
                    exclusive_ns,
                    calls,
                    kind: *kind,
                    op,
                    site: None,
                });
                id
            })
        };
    for ((path, op, site), (ns, calls)) in places {
        let mut parent = path;
        for name in callers(definitions, site) {
            parent = node_of(&mut nodes, parent, name, NodeKind::Caller, None);
            nodes[parent].inclusive_ns += ns;
            nodes[parent].exclusive_ns += ns;
            nodes[parent].calls += calls;
        }
        let function = node_of(&mut nodes, parent, Op(op).name().to_owned(), NodeKind::Function, Some(op));
        nodes[function].inclusive_ns += ns;
        nodes[function].calls += calls;
        // Copies of a call, as compilers make them, are one row.
        let first = site.map(|site| alike.get(site as usize).copied().unwrap_or(site));
        let call = *calls_known.entry((function, first)).or_insert_with(|| {
            nodes.push(Node {
                id: nodes.len(),
                name: SourceLine::of(definitions, site).of_any_caller().to_string(),
                parent: Some(function),
                inclusive_ns: 0,
                exclusive_ns: 0,
                calls: 0,
                kind: NodeKind::CallSite,
                op: Some(op),
                site,
            });
            nodes.len() - 1
        });
        nodes[call].inclusive_ns += ns;
        nodes[call].exclusive_ns += ns;
        nodes[call].calls += calls;
    }
    for id in 0..nodes.len() {
        if let (Some(parent), NodeKind::Region | NodeKind::Caller | NodeKind::Function) =
            (nodes[id].parent, nodes[id].kind)
        {
            nodes[parent].exclusive_ns -= nodes[id].inclusive_ns;
        }
    }
    nodes
}

/// The functions of the program that lead to a call, from the outermost to the one that makes it, if paths were recorded.
fn callers(definitions: &Definitions, site: Option<u32>) -> Vec<String> {
    if definitions.paths.is_empty() {
        return Vec::new();
    }
    let path = SourceLine::path(definitions, site);
    path.iter().rev().map(|place| function_name::shown(&place.function)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_trace::{CallSite, PathFrame};

    #[test]
    fn callers_are_those_of_the_path_from_the_outermost() {
        let frame = |index: u32, caller: Option<u32>, function: &str| PathFrame {
            index,
            caller,
            offset: 0,
            module: None,
            function: function.to_owned(),
            file: None,
            line: None,
            inlined_into: Vec::new(),
        };
        let site = CallSite {
            index: 0,
            offset: 0,
            module: None,
            function: "dot".to_owned(),
            file: None,
            line: None,
            inlined_into: vec!["cg<double>(int)".to_owned()],
            path: Some(1),
        };
        let paths = vec![frame(0, None, "main"), frame(1, Some(0), "solve(int)")];
        let definitions = Definitions { callsites: vec![site], paths, ..Definitions::default() };
        assert_eq!(callers(&definitions, Some(0)), ["main", "solve", "cg", "dot"]);
        let without_paths = Definitions { paths: Vec::new(), ..definitions };
        assert_eq!(callers(&without_paths, Some(0)), [""; 0]);
    }
}
