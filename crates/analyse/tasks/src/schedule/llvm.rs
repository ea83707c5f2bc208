//! How LLVM's libomp gives tasks out (as of LLVM 19), and with it Intel's.
//!
//! Each thread has a queue. What it makes, and what is released by a task that ends on it, comes to the end; from there it takes
//! tasks itself. If it has none it steals from the beginning of another one's queue: first from whom it stole last, then from
//! anyone, by chance. A thread whose task waits takes descendants of that task only, and looks at no more than the last of its own
//! queue and the first of others'. Whoever makes a task with 256 in its queue runs it at once, and so does one without others.

use super::engine::{Rules, State};
use super::program::NO_INDEX;
use kizami_rng::Xorshift64;
use std::collections::VecDeque;

/// Tasks for which a queue has room.
const ROOM: usize = 256;

#[derive(Debug, Default)]
struct Queues {
    /// By thread of the team.
    tasks: Vec<VecDeque<u32>>,
    /// Whom each stole from last.
    stolen_from: Vec<u32>,
    /// Threads that look for tasks.
    resting: Vec<u32>,
    /// Tasks in all queues.
    count: usize,
}

/// The rules.
pub(super) struct Llvm {
    teams: Vec<Queues>,
    random: Xorshift64,
}

impl Llvm {
    pub(super) fn new(seed: u64) -> Llvm {
        Llvm { teams: Vec::new(), random: Xorshift64::new(seed) }
    }

    fn put(&mut self, state: &mut State<'_>, thread: u32, task: u32) {
        let (team, own) = (state.team_of(thread), state.threads[thread as usize].index as usize);
        let queues = &mut self.teams[team as usize];
        queues.tasks[own].push_back(task);
        queues.count += 1;
        self.rouse(state, team, own);
    }

    /// One of those that may take the first task of a queue will look for it.
    fn rouse(&mut self, state: &mut State<'_>, team: u32, queue: usize) {
        let count = self.teams[team as usize].resting.len();
        let Some(first) = self.teams[team as usize].tasks[queue].front().copied().filter(|_| count > 0)
        else {
            return;
        };
        let begin = self.random.index(count);
        let resting = &self.teams[team as usize].resting;
        let mut places = (begin..count).chain(0..begin);
        let found = places.find(|place| may_take(state, resting[*place], first));
        if let Some(place) = found {
            let thread = self.teams[team as usize].resting.swap_remove(place);
            state.notify_of_task(thread);
        }
    }

    fn steal(&mut self, state: &mut State<'_>, team: u32, thread: u32) -> Option<u32> {
        let own = state.threads[thread as usize].index as usize;
        if self.teams[team as usize].count == 0 {
            self.teams[team as usize].stolen_from[own] = NO_INDEX;
            return None;
        }
        let count = self.teams[team as usize].tasks.len();
        let begin = self.random.index(count);
        let queues = &mut self.teams[team as usize];
        let last = queues.stolen_from[own];
        let victims = Some(last as usize).filter(|_| last != NO_INDEX).into_iter();
        let mut victims = victims.chain(begin..count).chain(0..begin).filter(|victim| *victim != own);
        let fits =
            |victim: &usize| queues.tasks[*victim].front().is_some_and(|task| may_take(state, thread, *task));
        let victim = victims.find(fits);
        queues.stolen_from[own] = victim.map_or(NO_INDEX, |victim| victim as u32);
        let task = queues.tasks[victim?].pop_front();
        queues.count -= 1;
        self.rouse(state, team, victim?);
        task
    }
}

/// Whether a thread may run a task: any at a barrier, else descendants of the task that waits.
fn may_take(state: &State<'_>, thread: u32, task: u32) -> bool {
    let Some(top) = state.waiting(thread) else { return true };
    let (parent, depth) = (&state.program.parent, &state.program.depth);
    let mut ancestor = parent[task as usize];
    while ancestor != NO_INDEX && depth[ancestor as usize] > depth[top.task as usize] {
        ancestor = parent[ancestor as usize];
    }
    ancestor == top.task
}

impl Rules for Llvm {
    fn begin(&mut self, team: u32, threads: usize) {
        self.teams.resize_with(team as usize + 1, Queues::default);
        let queues = &mut self.teams[team as usize];
        queues.tasks = vec![VecDeque::new(); threads];
        queues.stolen_from = vec![NO_INDEX; threads];
    }

    fn made(&mut self, state: &mut State<'_>, thread: u32, task: u32) -> bool {
        let queues = &self.teams[state.team_of(thread) as usize].tasks;
        let own = state.threads[thread as usize].index as usize;
        if queues.len() == 1 || queues[own].len() >= ROOM {
            return true;
        }
        self.put(state, thread, task);
        false
    }

    fn must_wait(&self, state: &State<'_>, thread: u32) -> bool {
        self.teams[state.team_of(thread) as usize].tasks.len() == 1
    }

    fn released(&mut self, state: &mut State<'_>, thread: u32, tasks: &[u32]) {
        for task in tasks {
            self.put(state, thread, *task);
        }
    }

    fn next(&mut self, state: &mut State<'_>, thread: u32) -> Option<u32> {
        let (team, own) = (state.team_of(thread), state.threads[thread as usize].index as usize);
        let queues = &mut self.teams[team as usize];
        match queues.tasks[own].back().copied() {
            Some(task) if may_take(state, thread, task) => {
                queues.count -= 1;
                queues.tasks[own].pop_back()
            }
            _ => self.steal(state, team, thread),
        }
    }

    fn rests(&mut self, state: &State<'_>, thread: u32) {
        self.teams[state.team_of(thread) as usize].resting.push(thread);
    }

    fn roused(&mut self, state: &State<'_>, thread: u32) {
        self.teams[state.team_of(thread) as usize].resting.retain(|other| *other != thread);
    }

    fn ended(&mut self, _state: &mut State<'_>, _thread: u32, _task: u32) {}
}
