//! Tasks folded by path: all that were made at one place by tasks that were folded together are one node.
//!
//! Where a place makes itself again, directly or by others, its tasks go to the node that is already there, so that a
//! recursion is one node however deep it is. A run has at most so many nodes; beyond that, tasks stay with who made them.

use crate::{Stretch, Survey, Task, TaskGraph};
use kizami_model::Length;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Nodes of a run, at most.
const MOST_NODES: usize = 4_096;
/// Tasks that one thread adds up in a row.
const CHUNK: usize = 1 << 17;

/// Tasks, work, and how much of the critical path is theirs.
type Sum = (u64, Length, Length);

/// Tasks with one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Node of those who made them.
    pub parent: Option<u32>,
    /// Index in `defs/callsites`.
    pub place: Option<u32>,
    /// Behind the last node below it.
    pub last: u32,
}

/// All nodes: parents before their children, and all that is below a node right behind it.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    nodes: Vec<Node>,
    /// By task.
    node_of: Vec<u32>,
}

/// What the tasks of a node, and of all below it, add up to in some range.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSum {
    /// Which node.
    pub node: u32,
    /// How many run.
    pub tasks: u64,
    /// For how long.
    pub work: Length,
    /// How much of the critical path is theirs.
    pub on_path: Length,
    /// Mean parallelism in equal parts of the range.
    pub curve: Vec<f64>,
}

impl Folded {
    /// Folds the tasks of a graph.
    pub fn of(graph: &TaskGraph) -> Folded {
        let mut found: Vec<(Option<u32>, Option<u32>)> = Vec::new();
        let mut known: FxHashMap<(Option<u32>, Option<u32>), u32> = FxHashMap::default();
        let mut node_of: Vec<u32> = Vec::with_capacity(graph.len());
        for task in graph.tasks() {
            let above = task.parent.map(|parent| node_of[parent as usize]);
            let node = *known.entry((above, task.place)).or_insert_with(|| {
                let same = ancestors(&found, above).find(|node| found[*node as usize].1 == task.place);
                match (same, above) {
                    (Some(node), _) => node,
                    (None, above) if found.len() >= MOST_NODES => above.unwrap_or(0),
                    (None, above) => {
                        found.push((above, task.place));
                        found.len() as u32 - 1
                    }
                }
            });
            node_of.push(node);
        }
        let (place, below) = preorder(&found.iter().map(|node| node.0).collect::<Vec<_>>());
        let mut nodes = vec![Node { parent: None, place: None, last: 0 }; found.len()];
        for (number, (above, at)) in found.iter().enumerate() {
            let own = place[number];
            let parent = above.map(|above| place[above as usize]);
            nodes[own as usize] = Node { parent, place: *at, last: own + below[number] };
        }
        node_of.iter_mut().for_each(|node| *node = place[*node as usize]);
        Folded { nodes, node_of }
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of a task.
    pub fn node_of(&self, task: u32) -> u32 {
        self.node_of[task as usize]
    }

    /// Whether a task is of a node, or of one below it.
    pub fn is_below(&self, task: u32, node: u32) -> bool {
        (node..self.nodes[node as usize].last).contains(&self.node_of[task as usize])
    }
}

/// A node and all above it.
fn ancestors(found: &[(Option<u32>, Option<u32>)], from: Option<u32>) -> impl Iterator<Item = u32> + '_ {
    std::iter::successors(from, |node| found[*node as usize].0)
}

/// Numbers that put all below something right behind it, and how many that are, with itself. Parents come first.
pub(crate) fn preorder(parents: &[Option<u32>]) -> (Vec<u32>, Vec<u32>) {
    let mut below = vec![1u32; parents.len()];
    for (number, parent) in parents.iter().enumerate().rev() {
        if let Some(parent) = parent {
            below[*parent as usize] += below[number];
        }
    }
    let (mut next, mut next_root) = (vec![0u32; parents.len()], 0);
    let mut place = Vec::with_capacity(parents.len());
    for (number, parent) in parents.iter().enumerate() {
        let free = match parent {
            Some(parent) => &mut next[*parent as usize],
            None => &mut next_root,
        };
        let own = *free;
        *free += below[number];
        next[number] = own + 1;
        place.push(own);
    }
    (place, below)
}

impl Survey {
    /// Nodes with most work in a range, at most so many, parents before their children; each with a small curve.
    pub fn tree(&self, range: Stretch, columns: usize, limit: usize) -> Vec<NodeSum> {
        let nodes = self.folded().nodes();
        let none =
            || (vec![Sum::default(); nodes.len()], SmallCurves::new(nodes.len(), range, columns.max(1)));
        let add = |(mut sums, mut curves): (Vec<Sum>, SmallCurves), (chunk, tasks): (usize, &[Task])| {
            for (number, task) in (chunk * CHUNK..).zip(tasks) {
                if let Some(work) = range.part_of(task) {
                    let node = self.folded().node_of(number as u32) as usize;
                    sums[node].0 += u64::from(!task.continued);
                    sums[node].1 += work;
                    curves.add(node, range.clipped(task.start, task.end));
                }
            }
            (sums, curves)
        };
        let both = |(mut sums, mut curves): (Vec<Sum>, SmallCurves),
                    (others, other): (Vec<Sum>, SmallCurves)| {
            sums.iter_mut()
                .zip(others)
                .for_each(|(sum, other)| *sum = (sum.0 + other.0, sum.1 + other.1, sum.2));
            curves.add_all(&other);
            (sums, curves)
        };
        let chunks = self.graph().tasks().par_chunks(CHUNK).enumerate();
        let (mut sums, mut curves) = chunks.fold(none, add).reduce(none, both);
        for stretch in &self.path().stretches {
            let clipped = range.clipped(stretch.from, stretch.to);
            if clipped.to > clipped.from {
                sums[self.folded().node_of(stretch.task) as usize].2 += clipped.to - clipped.from;
            }
        }
        curves.finish();
        for number in (0..nodes.len()).rev() {
            if let Some(parent) = nodes[number].parent {
                let (tasks, work, on_path) = sums[number];
                let sum = &mut sums[parent as usize];
                *sum = (sum.0 + tasks, sum.1 + work, sum.2 + on_path);
                curves.add_to(number, parent as usize);
            }
        }
        let mut largest: Vec<u32> =
            (0..nodes.len() as u32).filter(|node| sums[*node as usize].0 > 0).collect();
        // No node has more work than its parent, or comes before it: none is chosen without.
        largest.sort_by_key(|node| (Reverse(sums[*node as usize].1), *node));
        largest.truncate(limit);
        largest.sort_unstable();
        let dependencies = |node: u32| {
            let (tasks, work, on_path) = sums[node as usize];
            NodeSum { node, tasks, work, on_path, curve: curves.of(node as usize).to_vec() }
        };
        largest.into_iter().map(dependencies).collect()
    }
}

/// A curve of each node. A task takes the same effort however long it is: where it runs throughout, only the columns where
/// that begins and ends are noted.
struct SmallCurves {
    columns: usize,
    from: f64,
    columns_per_unit: f64,
    /// By node and column: what runs in a part of it.
    parts: Vec<f64>,
    /// By node and column: how many more run throughout from there on.
    more: Vec<i32>,
}

impl SmallCurves {
    fn new(nodes: usize, range: Stretch, columns: usize) -> SmallCurves {
        let columns_per_unit = columns as f64 / (range.to - range.from).0.max(1) as f64;
        let cells = nodes * (columns + 1);
        let from = range.from.0 as f64;
        SmallCurves { columns, from, columns_per_unit, parts: vec![0.0; cells], more: vec![0; cells] }
    }

    fn add(&mut self, node: usize, run: Stretch) {
        let at = |moment: i64| {
            ((moment as f64 - self.from) * self.columns_per_unit).clamp(0.0, self.columns as f64)
        };
        let (from, to) = (at(run.from.0), at(run.to.0));
        let (first, last) = (from as usize, to as usize);
        let cell = node * (self.columns + 1);
        if first == last {
            self.parts[cell + first] += to - from;
            return;
        }
        self.parts[cell + first] += first as f64 + 1.0 - from;
        self.parts[cell + last] += to - last as f64;
        self.more[cell + first + 1] += 1;
        self.more[cell + last] -= 1;
    }

    fn add_all(&mut self, other: &SmallCurves) {
        self.parts.iter_mut().zip(&other.parts).for_each(|(part, other)| *part += other);
        self.more.iter_mut().zip(&other.more).for_each(|(more, other)| *more += other);
    }

    fn finish(&mut self) {
        let rows = self.parts.chunks_mut(self.columns + 1).zip(self.more.chunks(self.columns + 1));
        for (parts, more) in rows {
            let mut running = 0;
            for (part, more) in parts.iter_mut().zip(more) {
                running += more;
                *part += f64::from(running);
            }
        }
    }

    fn add_to(&mut self, node: usize, parent: usize) {
        let row = self.columns + 1;
        for column in 0..self.columns {
            self.parts[parent * row + column] += self.parts[node * row + column];
        }
    }

    fn of(&self, node: usize) -> &[f64] {
        let first = node * (self.columns + 1);
        &self.parts[first..first + self.columns]
    }
}
