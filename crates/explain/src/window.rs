//! The part of a run in which the program works: from the first rank that leaves `MPI_Init` to the last that comes to
//! `MPI_Finalize`.
//!
//! Starting and ending MPI takes what it takes; in a short test run it would hide everything else. A rank that never
//! came to `MPI_Finalize` works until its last call ends, and a trace without `MPI_Init` begins with its first call.

use kizami_graph::{Graph, Step};
use kizami_model::Op;
use kizami_replay::{Observer, Seen};

/// Functions that start and end MPI.
#[derive(Clone, Debug)]
pub(crate) struct Borders {
    begins: Vec<bool>,
    ends: Vec<bool>,
}

impl Borders {
    pub(crate) fn new() -> Borders {
        let functions = kizami_model::function::functions();
        let all = |is: fn(&str) -> bool| -> Vec<bool> {
            std::iter::once(false).chain(functions.iter().map(|function| is(function.name))).collect()
        };
        Borders {
            begins: all(|name| matches!(name, "MPI_Init" | "MPI_Init_thread")),
            ends: all(|name| name == "MPI_Finalize"),
        }
    }

    pub(crate) fn begins(&self, op: Op) -> bool {
        self.begins.get(usize::from(op.0)).copied().unwrap_or(false)
    }

    pub(crate) fn ends(&self, op: Op) -> bool {
        self.ends.get(usize::from(op.0)).copied().unwrap_or(false)
    }
}

/// A window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From.
    pub begin_ns: i64,
    /// To.
    pub end_ns: i64,
}

impl Window {
    /// How long it is.
    pub fn length_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.begin_ns).max(0)
    }

    /// The part of a stretch of time that lies in it.
    pub fn part_ns(&self, from_ns: i64, to_ns: i64) -> i64 {
        to_ns.min(self.end_ns).saturating_sub(from_ns.max(self.begin_ns)).max(0)
    }

    /// Of the run as it was recorded.
    pub fn of(graph: &Graph) -> Window {
        Window::recorded(graph, &Borders::new())
    }

    /// The same, with the functions that start and end MPI already looked up.
    pub(crate) fn recorded(graph: &Graph, borders: &Borders) -> Window {
        let mut seen = Edges::default();
        for step in graph.steps.iter() {
            seen.step(step, borders, step.start_ns, step.end_ns);
        }
        seen.window()
    }
}

/// What is known of a window so far.
#[derive(Clone, Copy, Debug)]
struct Edges {
    started_ns: i64,
    first_ns: i64,
    last_ns: i64,
}

impl Default for Edges {
    fn default() -> Edges {
        Edges { started_ns: i64::MAX, first_ns: i64::MAX, last_ns: i64::MIN }
    }
}

impl Edges {
    #[inline]
    fn step(&mut self, step: &Step, borders: &Borders, start_ns: i64, end_ns: i64) {
        self.first_ns = self.first_ns.min(start_ns);
        if borders.begins(step.op()) {
            self.started_ns = self.started_ns.min(end_ns);
        }
        self.last_ns = self.last_ns.max(if borders.ends(step.op()) { start_ns } else { end_ns });
    }

    fn merge(&mut self, other: &Edges) {
        self.started_ns = self.started_ns.min(other.started_ns);
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
    }

    fn window(&self) -> Window {
        if self.last_ns == i64::MIN {
            return Window { begin_ns: 0, end_ns: 0 };
        }
        let begin_ns = if self.started_ns == i64::MAX { self.first_ns } else { self.started_ns };
        Window { begin_ns, end_ns: self.last_ns }
    }
}

/// The windows of all lanes of a replay.
#[derive(Clone, Debug)]
pub(crate) struct Windows<'a, const LANES: usize> {
    borders: &'a Borders,
    edges: [Edges; LANES],
}

impl<'a, const LANES: usize> Windows<'a, LANES> {
    pub(crate) fn new(borders: &'a Borders) -> Windows<'a, LANES> {
        Windows { borders, edges: [Edges::default(); LANES] }
    }

    /// Of all threads of a replay.
    pub(crate) fn all(parts: Vec<Windows<'a, LANES>>) -> [Window; LANES] {
        let mut edges = [Edges::default(); LANES];
        for part in &parts {
            edges.iter_mut().zip(&part.edges).for_each(|(edge, other)| edge.merge(other));
        }
        edges.map(|edge| edge.window())
    }
}

impl<const LANES: usize> Observer<LANES> for Windows<'_, LANES> {
    fn step(&mut self, seen: &Seen<'_, LANES>) {
        for lane in 0..LANES {
            self.edges[lane].step(seen.step, self.borders, seen.start_ns[lane], seen.end_ns[lane]);
        }
    }
}
