//! Tasks to be drawn one by one: those of the critical path first, then who made them and what they needed, then the
//! longest of all others.

use crate::{Need, Scope, Survey};
use kizami_model::Length;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Some tasks, and what ties them to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Those on the critical path first.
    pub tasks: Vec<u32>,
    /// How many of them are on it.
    pub on_path: usize,
    /// Which of them needed what another of them made.
    pub needs: Vec<(u32, Need)>,
    /// How many tasks there are in all where these are from.
    pub of: u64,
}

impl Survey {
    /// At most so many tasks of a scope.
    pub fn flow(&self, scope: &Scope, limit: usize) -> Flow {
        let is_in = |task: u32| self.part_in(scope, task).is_some();
        let stretches = self.path().stretches.iter().filter(|stretch| is_in(stretch.task));
        let mut path: Vec<(Length, u32)> =
            stretches.map(|stretch| (stretch.to - stretch.from, stretch.task)).collect();
        // Of a path that is too long to be drawn, its longest stretches show most.
        path.sort_unstable_by_key(|(length, task)| (Reverse(*length), *task));
        let mut chosen = Chosen { limit, ..Chosen::default() };
        path.iter().for_each(|(_, task)| chosen.add(*task));
        chosen.list.sort_unstable();
        let on_path = chosen.list.len();
        for place in 0..on_path {
            let task = chosen.list[place];
            let needed = self.graph().needs(task).iter().map(|need| need.of);
            let made = self.graph().tasks()[task as usize].parent;
            made.into_iter().chain(needed).filter(|other| is_in(*other)).for_each(|other| chosen.add(other));
        }
        let (longest, of) = self.longest(scope, limit);
        longest.into_iter().for_each(|task| chosen.add(task));
        let needs = chosen.list.iter().flat_map(|task| {
            let shown = self.graph().needs(*task).iter().filter(|need| chosen.known.contains(&need.of));
            shown.map(|need| (*task, *need))
        });
        // A task may need many things; no more arrows are drawn than can be distinguished.
        let needs = needs.take(4 * limit).collect();
        Flow { tasks: chosen.list, on_path, needs, of }
    }

    /// The longest tasks of a scope, and how many it has in all.
    fn longest(&self, scope: &Scope, limit: usize) -> (Vec<u32>, u64) {
        let mut heap: BinaryHeap<Reverse<(Length, Reverse<u32>)>> = BinaryHeap::with_capacity(limit + 1);
        let mut of = 0;
        for number in 0..self.graph().len() as u32 {
            let Some(work) = self.part_in(scope, number) else { continue };
            of += 1;
            let own = Reverse((work, Reverse(number)));
            if heap.len() < limit || heap.peek().is_some_and(|least| own < *least) {
                heap.push(own);
                if heap.len() > limit {
                    heap.pop();
                }
            }
        }
        (heap.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(task)))| task).collect(), of)
    }
}

#[derive(Default)]
struct Chosen {
    list: Vec<u32>,
    known: FxHashSet<u32>,
    limit: usize,
}

impl Chosen {
    fn add(&mut self, task: u32) {
        if self.list.len() < self.limit && self.known.insert(task) {
            self.list.push(task);
        }
    }
}
