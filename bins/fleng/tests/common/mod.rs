//! The examples of `workloads/fleng`, and what is compared between orders.
#![allow(dead_code, reason = "each test program uses some of it")]

use kizami_fleng::{Binder, Observer, Order, Program, Query, Task};
use std::path::Path;

/// An example: file, query, an answer's name, the answer, and virtual end, work and peak with default costs.
pub type Example = (&'static str, &'static str, &'static str, &'static str, [u64; 3]);

pub const DOWN: &str = "[30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]";
pub const ANIMAL: &str = "[mammal, carnivore, cheetah, runs_fast, hunter, savanna, warm_land, needs_shade]";

pub const EXAMPLES: [Example; 8] = [
    ("reverse.fl", "numbers(30, L), naive(L, R)", "R", DOWN, [366, 1735, 18]),
    ("reverse.fl", "numbers(30, L), straight(L, R)", "R", DOWN, [219, 342, 3]),
    ("primes.fl", "primes(30, P)", "P", "[2, 3, 5, 7, 11, 13, 17, 19, 23, 29]", [248, 803, 6]),
    ("best_path.fl", "best_path(a, h, Cost, Path)", "Path", "[a, c, b, d, f, g, h]", [253, 4535, 67]),
    ("inference1.fl", "infer(Answer)", "Answer", ANIMAL, [10_904, 12_196, 3]),
    ("inference2.fl", "infer(Answer)", "Answer", ANIMAL, [1749, 12_745, 26]),
    ("inference3.fl", "infer(Answer)", "Answer", ANIMAL, [651, 21_546, 67]),
    ("inference4.fl", "infer(Answer)", "Answer", ANIMAL, [132, 3797, 71]),
];

/// The text of an example.
pub fn text(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/fleng").join(file);
    std::fs::read_to_string(path).expect("the example is there")
}

pub fn query(program: &str, query: &str) -> Query {
    Program::parse(program).and_then(|program| program.query(query)).unwrap_or_else(|error| panic!("{error}"))
}

/// First in, last in, and as many seeds.
pub fn orders(seeds: u64) -> impl Iterator<Item = Order> {
    [Order::Fifo, Order::Lifo].into_iter().chain((0..seeds).map(Order::Random))
}

/// A task without the numbers that depend on the order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlainTask {
    pub name: String,
    pub line: u32,
    pub born: u64,
    pub start: u64,
    pub end: u64,
}

/// Notes all tasks.
#[derive(Default)]
pub struct Notes {
    pub tasks: Vec<PlainTask>,
    pub parents: Vec<u64>,
    pub needs: Vec<Vec<Binder>>,
}

impl Observer for Notes {
    fn finished(&mut self, task: &Task<'_>) {
        let name = format!("{}/{}", task.name, task.arity);
        self.tasks.push(PlainTask {
            name,
            line: task.line,
            born: task.born,
            start: task.start,
            end: task.end,
        });
        assert_eq!(task.number, self.tasks.len() as u64, "tasks are numbered as they end");
        assert_eq!(task.thread, 0);
        self.parents.push(task.parent);
        self.needs.push(task.needs.to_vec());
    }
}

/// A task, its parent, and who bound what it looked at and when.
pub type Whole = (PlainTask, Option<PlainTask>, Vec<(u64, Option<PlainTask>)>);

impl Notes {
    /// The task of a number; none for the query.
    pub fn task(&self, number: u64) -> Option<&PlainTask> {
        self.tasks.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// All that must not depend on the order, sorted.
    pub fn wholes(&self) -> Vec<Whole> {
        let whole = |place: usize| {
            let needs = self.needs[place].iter().map(|need| (need.time, self.task(need.task).cloned()));
            let mut needs: Vec<_> = needs.collect();
            needs.sort();
            (self.tasks[place].clone(), self.task(self.parents[place]).cloned(), needs)
        };
        let mut all: Vec<Whole> = (0..self.tasks.len()).map(whole).collect();
        all.sort();
        all
    }
}
