//! Lists of tasks that can run, given to processors one after the other.
//!
//! A task that was begun runs to its end on one processor, and makes what it makes as long after its start as it did in
//! virtual time. A task that lacks something takes no processor. Giving tasks out costs nothing.

use super::Strategy;
use crate::TaskGraph;
use kizami_model::{Length, Moment};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How long the run takes.
pub(super) fn schedule(graph: &TaskGraph, processors: u32, strategy: Strategy) -> Length {
    Simulation::new(graph, strategy).run(processors as usize)
}

/// A task that can run, the one to take first at the top.
type Waiting = BinaryHeap<(i64, Reverse<u32>)>;

struct Simulation<'a> {
    graph: &'a TaskGraph,
    outputs: Outputs,
    /// By task: what it still lacks.
    lacks: Vec<u32>,
    /// By task: when the last thing that it lacked was there.
    ready: Vec<Moment>,
    /// Tasks that will be ready, the earliest first.
    coming: BinaryHeap<Reverse<(Moment, u32)>>,
    strategy: Strategy,
    /// By task, if that matters: how long the longest chain is that begins with it.
    chains: Vec<Length>,
}

impl<'a> Simulation<'a> {
    fn new(graph: &'a TaskGraph, strategy: Strategy) -> Simulation<'a> {
        let outputs = Outputs::of(graph);
        let lacks = (0..graph.len() as u32).map(|task| {
            graph.needs(task).len() as u32 + u32::from(graph.tasks()[task as usize].parent.is_some())
        });
        let chains = match strategy {
            Strategy::Longest => chains(graph, &outputs),
            _ => Vec::new(),
        };
        let ready = vec![Moment(i64::MIN); graph.len()];
        let lacks = lacks.collect();
        Simulation { graph, outputs, lacks, ready, coming: BinaryHeap::new(), strategy, chains }
    }

    fn run(mut self, processors: usize) -> Length {
        let begin = self.graph.begin();
        for task in (0..self.graph.len() as u32).filter(|task| self.lacks[*task as usize] == 0) {
            let ready = self.graph.tasks()[task as usize].created + self.graph.delay(task);
            self.coming.push(Reverse((ready, task)));
        }
        let mut free: BinaryHeap<Reverse<Moment>> = vec![Reverse(begin); processors].into();
        let (mut waiting, mut end) = (Waiting::new(), begin);
        let mut now = begin;
        while let Some(Reverse(idle_since)) = free.pop() {
            // One that was idle before is idle now.
            now = now.max(idle_since);
            if waiting.is_empty() {
                let Some(Reverse((earliest, _))) = self.coming.peek() else { break };
                now = now.max(*earliest);
            }
            while let Some(Reverse((_, task))) = self.coming.peek().filter(|next| next.0.0 <= now).copied() {
                self.coming.pop();
                waiting.push((self.priority(task), Reverse(task)));
            }
            let Some((_, Reverse(task))) = waiting.pop() else {
                free.push(Reverse(now));
                continue;
            };
            let done = now + self.graph.tasks()[task as usize].work();
            end = end.max(done);
            self.begin(task, now);
            free.push(Reverse(done));
        }
        end - begin
    }

    fn priority(&self, task: u32) -> i64 {
        let ready = self.ready[task as usize].0;
        match self.strategy {
            Strategy::Newest => ready,
            Strategy::Longest => self.chains[task as usize].0,
            _ => ready.saturating_neg(),
        }
    }

    /// A task begins: when it will make what it makes is known.
    fn begin(&mut self, task: u32, now: Moment) {
        let start = self.graph.tasks()[task as usize].start;
        for place in self.outputs.range(task) {
            let (to, at) = self.outputs.list[place];
            let (lacks, ready) = (&mut self.lacks[to as usize], &mut self.ready[to as usize]);
            *ready = (*ready).max(now + (at - start));
            *lacks -= 1;
            if *lacks == 0 {
                *ready += self.graph.delay(to);
                self.coming.push(Reverse((*ready, to)));
            }
        }
    }
}

/// What each task makes: tasks, and what they need.
struct Outputs {
    first: Vec<u32>,
    /// For whom, and when in virtual time.
    list: Vec<(u32, Moment)>,
}

impl Outputs {
    fn of(graph: &TaskGraph) -> Outputs {
        let mut first = vec![0u32; graph.len() + 1];
        let each = |tell: &mut dyn FnMut(u32, u32, Moment)| {
            for (number, task) in (0..).zip(graph.tasks()) {
                if let Some(parent) = task.parent {
                    tell(parent, number, task.created);
                }
                graph.needs(number).iter().for_each(|need| tell(need.of, number, need.at));
            }
        };
        each(&mut |from, _, _| first[from as usize + 1] += 1);
        for task in 0..graph.len() {
            first[task + 1] += first[task];
        }
        let mut next = first.clone();
        let mut list = vec![(0, Moment::START); first[graph.len()] as usize];
        each(&mut |from, to, at| {
            list[next[from as usize] as usize] = (to, at);
            next[from as usize] += 1;
        });
        Outputs { first, list }
    }

    fn range(&self, task: u32) -> std::ops::Range<usize> {
        self.first[task as usize] as usize..self.first[task as usize + 1] as usize
    }
}

fn chains(graph: &TaskGraph, outputs: &Outputs) -> Vec<Length> {
    let mut chains: Vec<Length> = graph.tasks().iter().map(crate::Task::work).collect();
    for (number, task) in (0..graph.len() as u32).zip(graph.tasks()).rev() {
        for (to, at) in &outputs.list[outputs.range(number)] {
            let chain = *at - task.start + chains[*to as usize];
            chains[number as usize] = chains[number as usize].max(chain);
        }
    }
    chains
}
