//! Made-up graphs of tasks.

use kizami_model::{Length, Moment};
use kizami_tasks::{Need, Task, TaskGraph};

/// A small generator: the same numbers every time.
pub struct Random(pub u64);

impl Random {
    /// One of the numbers from 0 to below the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }
}

/// A moment while a task runs, or its end.
fn within(random: &mut Random, task: &Task) -> Moment {
    task.start + Length(random.below(task.work().0 as u64 + 1) as i64)
}

/// Any graph of so many tasks.
pub fn graph(seed: u64, tasks: u32) -> TaskGraph {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut graph = TaskGraph::new();
    for number in 0..tasks {
        let parent = (number > 0).then(|| random.below(u64::from(number)) as u32);
        let created =
            parent.map_or(Moment::START, |parent| within(&mut random, &graph.tasks()[parent as usize]));
        let needs: Vec<Need> = (0..random.below(4).min(u64::from(number)))
            .map(|_| {
                let of = random.below(u64::from(number)) as u32;
                Need { of, at: within(&mut random, &graph.tasks()[of as usize]) }
            })
            .collect();
        let start = needs.iter().map(|need| need.at).fold(created, Moment::max);
        let end = start + Length(random.below(20) as i64);
        graph.push(Task { parent, place: Some(number % 5), created, start, end, continued: false }, &needs);
    }
    graph
}
