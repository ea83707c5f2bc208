//! The part of a run in which the program works: from the first rank that leaves `MPI_Init` to the last that comes to
//! `MPI_Finalize`.
//!
//! Starting and ending MPI takes what it takes; in a short test run it would hide everything else. A rank that never
//! reached `MPI_Finalize` works until its last call ends, and a trace without `MPI_Init` begins with its first call.

use crate::walk::observer::{EndedStep, Observer};
use crate::walk::processes::SentObserver;
use kizami_graph::{Graph, Step};
use kizami_model::{Kind, Length, Moment, Op};
use kizami_parallel::map;
use kizami_wire::Wire;

/// Fewer steps are looked at in less time than a thread takes to start.
const WORTH_A_THREAD: usize = 1 << 16;

/// Functions that start and end MPI.
#[derive(Clone, Debug)]
pub struct Borders {
    begins: Vec<bool>,
    ends: Vec<bool>,
}

impl Default for Borders {
    fn default() -> Borders {
        Borders::new()
    }
}

impl Borders {
    /// Looks them up.
    pub fn new() -> Borders {
        let functions = kizami_model::function::functions();
        let all = |is: fn(Kind) -> bool| -> Vec<bool> {
            std::iter::once(false).chain(functions.iter().map(|function| is(function.kind))).collect()
        };
        Borders { begins: all(|kind| kind == Kind::Init), ends: all(|kind| kind == Kind::Finalize) }
    }

    /// Whether a function starts MPI.
    pub fn begins(&self, op: Op) -> bool {
        self.begins.get(usize::from(op.0)).copied().unwrap_or(false)
    }

    /// Whether a function ends MPI.
    pub fn ends(&self, op: Op) -> bool {
        self.ends.get(usize::from(op.0)).copied().unwrap_or(false)
    }

    /// Whether a step starts MPI, and whether it ends it.
    #[inline]
    fn of(&self, step: &Step) -> (bool, bool) {
        (self.begins(step.op()), self.ends(step.op()))
    }
}

/// The part of a run in which the program works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkInterval {
    /// From.
    pub begin: Moment,
    /// To.
    pub end: Moment,
}

impl WorkInterval {
    /// How long it is.
    pub fn length(&self) -> Length {
        self.end.saturating_since(self.begin).at_least_zero()
    }

    /// The part of a stretch of time that lies in it.
    pub fn part(&self, from: Moment, to: Moment) -> Length {
        to.min(self.end).saturating_since(from.max(self.begin)).at_least_zero()
    }

    /// Of the run as it was recorded.
    pub fn of(graph: &Graph) -> WorkInterval {
        WorkInterval::recorded(graph, &Borders::new(), 1)
    }

    /// The same by so many threads, with the functions that start and end MPI already looked up.
    pub fn recorded(graph: &Graph, borders: &Borders, threads: usize) -> WorkInterval {
        let each = graph.steps.len().div_ceil(threads.max(1)).max(WORTH_A_THREAD);
        let seen = map(graph.steps.chunks(each), |steps| {
            let mut seen = Edges::default();
            steps.iter().for_each(|step| seen.step(borders.of(step), step.start, step.end));
            seen
        });
        let mut all = Edges::default();
        seen.iter().for_each(|seen| all.merge(seen));
        all.interval()
    }

    /// The same, where steps begin and end at other times.
    pub(crate) fn by(graph: &Graph, borders: &Borders, times: impl Fn(usize) -> [Moment; 2]) -> WorkInterval {
        let mut seen = Edges::default();
        for (index, step) in graph.steps.iter().enumerate() {
            let [start, end] = times(index);
            seen.step(borders.of(step), start, end);
        }
        seen.interval()
    }
}

/// What is known of an interval so far. This is called for every step of every lane, so nothing observed yet is a moment that
/// no other is beyond.
#[derive(Clone, Copy, Debug)]
struct Edges {
    /// When the first rank left `MPI_Init`.
    started: Moment,
    first: Moment,
    last: Moment,
}

impl Default for Edges {
    fn default() -> Edges {
        Edges { started: Edges::NEVER, first: Edges::NEVER, last: Edges::NOT_YET }
    }
}

impl Edges {
    const NEVER: Moment = Moment(i64::MAX);
    const NOT_YET: Moment = Moment(i64::MIN);

    #[inline]
    fn step(&mut self, (begins, ends): (bool, bool), start: Moment, end: Moment) {
        self.first = self.first.min(start);
        if begins {
            self.started = self.started.min(end);
        }
        self.last = self.last.max(if ends { start } else { end });
    }

    fn merge(&mut self, other: &Edges) {
        self.started = self.started.min(other.started);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    fn interval(&self) -> WorkInterval {
        if self.last == Edges::NOT_YET {
            return WorkInterval { begin: Moment::START, end: Moment::START };
        }
        let begin = if self.started == Edges::NEVER { self.first } else { self.started };
        WorkInterval { begin, end: self.last }
    }
}

/// Those of all lanes of a replay.
#[derive(Clone, Debug)]
pub struct WorkIntervals<'a, const LANES: usize> {
    borders: &'a Borders,
    edges: [Edges; LANES],
}

impl<'a, const LANES: usize> WorkIntervals<'a, LANES> {
    /// Of no step yet.
    pub fn new(borders: &'a Borders) -> WorkIntervals<'a, LANES> {
        WorkIntervals { borders, edges: [Edges::default(); LANES] }
    }

    /// Of all threads of a replay.
    pub fn all(parts: Vec<WorkIntervals<'a, LANES>>) -> [WorkInterval; LANES] {
        let mut edges = [Edges::default(); LANES];
        for part in &parts {
            edges.iter_mut().zip(&part.edges).for_each(|(edge, other)| edge.merge(other));
        }
        edges.map(|edge| edge.interval())
    }
}

impl<const LANES: usize> Observer<LANES> for WorkIntervals<'_, LANES> {
    fn step(&mut self, seen: &EndedStep<'_, LANES>) {
        let border = self.borders.of(seen.step);
        for lane in 0..LANES {
            self.edges[lane].step(border, seen.start[lane].as_moment(), seen.end[lane].as_moment());
        }
    }
}

impl<const LANES: usize> SentObserver<LANES> for WorkIntervals<'_, LANES> {
    fn encode(&self, message: &mut Vec<u8>) {
        for edges in &self.edges {
            [edges.started, edges.first, edges.last].encode(message);
        }
    }

    fn decode(&mut self, message: &mut &[u8]) -> Option<()> {
        for edges in &mut self.edges {
            [edges.started, edges.first, edges.last] = Wire::decode(message)?;
        }
        Some(())
    }
}
