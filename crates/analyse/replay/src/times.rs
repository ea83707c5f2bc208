//! The new times of all rows of a trace, kept until they are written.

use crate::lane_moment::LaneMoment;
use crate::setting::Setting;
use crate::walk::observer::{EndedStep, Observer};
use crate::walk::{Replayed, Shares, replay};
use crate::work_interval::{Borders, WorkInterval};
use kizami_graph::Graph;
use kizami_model::{Moment, Rank};
use kizami_network::Fit;
use kizami_trace::rewrite::NewTimes;

/// When each row begins and ends.
#[derive(Debug)]
pub struct Times<'a> {
    graph: &'a Graph,
    times: Vec<[Moment; 2]>,
}

impl<'a> Times<'a> {
    /// Walks a graph under a setting and keeps what comes out.
    pub fn under(
        setting: &Setting,
        graph: &'a Graph,
        fit: &Fit,
        threads: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> (Times<'a>, Replayed<()>) {
        let mut times: Vec<[Moment; 2]> = graph.steps.iter().map(|step| [step.start, step.end]).collect();
        let mut shares = Shares::of(graph, threads).steps(graph).into_iter();
        let mut rest = &mut times[..];
        let observer = || {
            let share = shares.next().unwrap_or(0..0);
            let all = std::mem::take(&mut rest);
            let (own, others) = all.split_at_mut((share.end - share.start) as usize);
            rest = others;
            Writer { first: share.start, times: own }
        };
        let replayed = replay(graph, [setting], fit, threads, observer, progress).without_observers();
        (Times { graph, times }, replayed)
    }

    /// The part in which the program works.
    pub(crate) fn work_interval(&self, borders: &Borders) -> WorkInterval {
        WorkInterval::by(self.graph, borders, |index| self.times[index])
    }
}

impl NewTimes for Times<'_> {
    fn of_row(&self, row: u64) -> (i64, i64) {
        let [start, end] = self.times[row as usize];
        (start.0, end.0)
    }

    fn next_row(&self, row: u64) -> Option<u64> {
        let next = self.graph.steps[row as usize].next;
        (next > 0).then(|| row + u64::from(next))
    }

    fn threads_of(&self, rank: Rank) -> Vec<(u32, u64)> {
        let strands = &self.graph.strands;
        let begin = strands.partition_point(|strand| strand.rank < rank);
        let of_rank = strands[begin..].iter().take_while(|strand| strand.rank == rank);
        of_rank.map(|strand| (strand.thread, strand.first_step)).collect()
    }
}

/// Writes the times of one share of the steps.
struct Writer<'a> {
    first: u64,
    times: &'a mut [[Moment; 2]],
}

impl Observer<1> for Writer<'_> {
    fn step(&mut self, seen: &EndedStep<'_, 1>) {
        let place = seen.index.checked_sub(self.first).and_then(|index| self.times.get_mut(index as usize));
        if let Some(place) = place {
            *place = [seen.start[0].as_moment(), seen.end[0].as_moment()];
        }
    }
}

/// Keeps nothing but when the last step ends.
#[derive(Clone, Copy, Debug)]
pub struct LastEnd(pub LaneMoment);

impl Observer<1> for LastEnd {
    fn step(&mut self, seen: &EndedStep<'_, 1>) {
        self.0 = self.0.max(seen.end[0]);
    }
}
