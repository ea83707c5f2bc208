//! All that is kept of a run's tasks to answer about any part of it at once: sorted moments, descent, the critical path.
//!
//! A question looks at each task at most once. Curves are kept once they were made: reading one off again takes no longer
//! than its columns. About 100 bytes a task.

use crate::folded::preorder;
use crate::{Curve, Folded, Parallelism, Path, Task, TaskGraph};
use kizami_model::{Length, Moment};
use kizami_parallel::lock;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Curves that are kept, at most.
const MOST_CURVES: usize = 32;

/// Some of the tasks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All.
    All,
    /// Those of a node, and of all nodes below it.
    Node(u32),
    /// A task, those it made, those they made, and so on.
    Task(u32),
    /// Those of a place: index in `defs/callsites`.
    Place(u32),
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::All => write!(out, "all"),
            Part::Node(node) => write!(out, "n{node}"),
            Part::Task(task) => write!(out, "t{task}"),
            Part::Place(place) => write!(out, "p{place}"),
        }
    }
}

/// From one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// From.
    pub from: Moment,
    /// To.
    pub to: Moment,
}

impl Stretch {
    /// What of something lies in it.
    pub fn clipped(self, from: Moment, to: Moment) -> Stretch {
        Stretch { from: from.max(self.from).min(self.to), to: to.min(self.to).max(self.from) }
    }

    /// How long a task runs in it; nothing if it does not.
    pub fn part_of(self, task: &Task) -> Option<Length> {
        let is_in = task.start < self.to && (task.end > self.from || task.start >= self.from);
        is_in.then(|| task.end.min(self.to) - task.start.max(self.from))
    }

    /// The same, later.
    pub fn later(self, by: Length) -> Stretch {
        Stretch { from: self.from + by, to: self.to + by }
    }
}

/// Parts of a run, each with a range: a task is in it if it is in one of them.
pub type Scope = [(Part, Stretch)];

/// A curve, and how many tasks it is of.
type Kept = (Arc<Curve>, u64);

/// What is kept of a run's tasks.
#[derive(Debug)]
pub struct Survey {
    graph: TaskGraph,
    path: Path,
    folded: Folded,
    /// When tasks that take time start and end, with their numbers, by time.
    starts: Vec<(Moment, u32)>,
    ends: Vec<(Moment, u32)>,
    /// By task: its place in an order in which those that descend from it come right behind it, and how many they are.
    order: Vec<u32>,
    below: Vec<u32>,
    whole: Stretch,
    curves: Mutex<Vec<(Part, Kept)>>,
}

impl Survey {
    /// Of these tasks.
    pub fn of(graph: TaskGraph) -> Survey {
        let (path, folded) = (Path::of(&graph), Folded::of(&graph));
        let sorted = |moment: fn(&Task) -> Moment| {
            let tasks = graph.tasks().iter().zip(0..).filter(|(task, _)| task.end > task.start);
            let mut moments: Vec<(Moment, u32)> =
                tasks.map(|(task, number)| (moment(task), number)).collect();
            moments.sort_unstable();
            moments
        };
        let (starts, ends) = (sorted(|task| task.start), sorted(|task| task.end));
        let (order, below) = preorder(&graph.tasks().iter().map(|task| task.parent).collect::<Vec<_>>());
        let from = graph.tasks().iter().map(|task| task.created).min().unwrap_or(Moment::START);
        let whole = Stretch { from, to: from + graph.span() };
        Survey { graph, path, folded, starts, ends, order, below, whole, curves: Mutex::default() }
    }

    /// The tasks.
    pub fn graph(&self) -> &TaskGraph {
        &self.graph
    }

    /// The critical path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tasks, folded by path.
    pub fn folded(&self) -> &Folded {
        &self.folded
    }

    /// All of the run: from the first task that is made to the last that ends.
    pub fn whole(&self) -> Stretch {
        self.whole
    }

    /// Whether there is such a part.
    pub fn knows(&self, part: Part) -> bool {
        match part {
            Part::All | Part::Place(_) => true,
            Part::Node(node) => (node as usize) < self.folded.nodes().len(),
            Part::Task(task) => (task as usize) < self.graph.len(),
        }
    }

    /// Whether a task is in a part, which must be there.
    pub fn has(&self, part: Part, task: u32) -> bool {
        match part {
            Part::All => true,
            Part::Node(node) => self.folded.is_below(task, node),
            Part::Task(of) => {
                self.order[task as usize].wrapping_sub(self.order[of as usize]) < self.below[of as usize]
            }
            Part::Place(place) => self.graph.tasks()[task as usize].place == Some(place),
        }
    }

    /// How long a task runs within a scope; nothing if it does not.
    pub fn part_in(&self, scope: &Scope, task: u32) -> Option<Length> {
        let own = &self.graph.tasks()[task as usize];
        scope.iter().find_map(|(part, range)| range.part_of(own).filter(|_| self.has(*part, task)))
    }

    /// How many tasks of a part run over time, and how many it has; kept for the next time.
    pub fn curve(&self, part: Part) -> (Arc<Curve>, u64) {
        if let Some((_, known)) = lock(&self.curves).iter().find(|(known, _)| *known == part) {
            return known.clone();
        }
        let own = |list: &[(Moment, u32)]| -> Vec<Moment> {
            list.iter().filter(|(_, task)| self.has(part, *task)).map(|(moment, _)| *moment).collect()
        };
        let (starts, ends) = rayon::join(|| own(&self.starts), || own(&self.ends));
        let curve = Curve::of(Parallelism::between(&starts, &ends));
        let tasks = (0..self.graph.len() as u32).filter(|task| self.has(part, *task)).count() as u64;
        let made = (Arc::new(curve), tasks);
        let mut curves = lock(&self.curves);
        if curves.len() >= MOST_CURVES {
            // That of the whole run is requested with every other.
            let oldest = curves.iter().position(|(part, _)| *part != Part::All).unwrap_or(0);
            curves.remove(oldest);
        }
        curves.push((part, made.clone()));
        made
    }
}
