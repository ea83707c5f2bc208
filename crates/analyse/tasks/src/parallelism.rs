//! How many tasks run at each moment of virtual time: an exact step function, and what follows from it.

use crate::TaskGraph;
use kizami_model::{Length, Moment};

/// How many tasks run from each moment on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parallelism {
    /// Moments at which the number changes, and the number from there on; the last one is 0.
    pub(crate) steps: Vec<(Moment, u32)>,
}

impl Parallelism {
    /// That of all tasks of a graph.
    pub fn of(graph: &TaskGraph) -> Parallelism {
        Parallelism::of_tasks(graph, |_| true)
    }

    /// That of some of them.
    pub fn of_tasks(graph: &TaskGraph, mut chosen: impl FnMut(u32) -> bool) -> Parallelism {
        let tasks = || (0..).zip(graph.tasks());
        let chosen: Vec<bool> = tasks().map(|(number, _)| chosen(number)).collect();
        let of = |moment: fn(&crate::Task) -> Moment| {
            let own = tasks().filter(|(number, task)| chosen[*number as usize] && task.end > task.start);
            let mut moments: Vec<Moment> = own.map(|(_, task)| moment(task)).collect();
            moments.sort_unstable();
            moments
        };
        Parallelism::between(&of(|task| task.start), &of(|task| task.end))
    }

    /// From sorted moments at which tasks start and end.
    pub(crate) fn between(starts: &[Moment], ends: &[Moment]) -> Parallelism {
        let (mut starts, mut ends) = (starts.iter().peekable(), ends.iter().peekable());
        let mut steps: Vec<(Moment, u32)> = Vec::new();
        let mut running = 0u32;
        while let Some(now) = ends.peek().map(|end| starts.peek().map_or(**end, |start| **start.min(end))) {
            while starts.next_if(|start| **start == now).is_some() {
                running += 1;
            }
            while ends.next_if(|end| **end == now).is_some() {
                running -= 1;
            }
            match steps.last_mut() {
                Some((_, before)) if *before == running => {}
                _ => steps.push((now, running)),
            }
        }
        Parallelism { steps }
    }

    /// Stretches with an equal number of tasks: from, to, how many.
    pub fn stretches(&self) -> impl Iterator<Item = (Moment, Moment, u32)> + '_ {
        self.steps.windows(2).map(|pair| (pair[0].0, pair[1].0, pair[0].1))
    }

    /// The area below the curve.
    pub fn work(&self) -> Length {
        self.stretches().fold(Length::ZERO, |sum, (from, to, running)| sum + (to - from) * i64::from(running))
    }

    /// The most tasks at one moment.
    pub fn peak(&self) -> u32 {
        self.steps.iter().map(|(_, running)| *running).max().unwrap_or(0)
    }

    /// Mean parallelism in so many equal parts of the time from one moment to another.
    pub fn curve(&self, from: Moment, to: Moment, columns: usize) -> Vec<f64> {
        let mut sums = vec![0.0; columns.max(1)];
        let width = ((to - from).0 as f64 / sums.len() as f64).max(f64::MIN_POSITIVE);
        for (begin, end, running) in self.stretches().filter(|(begin, end, _)| *end > from && *begin < to) {
            let place = |moment: Moment| (moment.max(from).min(to) - from).0 as f64 / width;
            let (begin, end) = (place(begin), place(end));
            for column in begin as usize..(end.ceil() as usize).min(sums.len()) {
                let part = end.min(column as f64 + 1.0) - begin.max(column as f64);
                sums[column] += part.max(0.0) * f64::from(running);
            }
        }
        sums
    }
}
