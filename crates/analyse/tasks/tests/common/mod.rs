//! Made-up graphs of tasks.

use kizami_model::{Length, Moment};
use kizami_rng::SplitMix64;
use kizami_tasks::{Need, Task, TaskGraph};

/// A moment while a task runs, or its end.
fn within(random: &mut SplitMix64, task: &Task) -> Moment {
    task.start + Length(random.below(task.work().0 as u64 + 1) as i64)
}

/// Any graph of so many tasks.
pub fn graph(seed: u64, tasks: u32) -> TaskGraph {
    late_graph(seed, tasks, 0)
}

/// The same with tasks that begin so much later than they could, or less.
pub fn late_graph(seed: u64, tasks: u32, late: i64) -> TaskGraph {
    let mut random = SplitMix64::new(seed);
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
        let start = needs.iter().map(|need| need.at).fold(created, Moment::max)
            + Length(if late > 0 { random.below(late as u64) as i64 } else { 0 });
        let end = start + Length(random.below(20) as i64);
        graph.push(Task { parent, place: Some(number % 5), created, start, end, continued: false }, &needs);
    }
    graph
}
