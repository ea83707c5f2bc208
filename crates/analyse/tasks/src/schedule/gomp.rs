//! How GNU's libgomp gives tasks out (as of gcc 12).
//!
//! A team has one queue, at whose end tasks are put when all they depend on has ended; threads at a barrier take from its
//! beginning. A task also knows those of its children that can run, the last first, and a group those of its tasks. A thread in
//! a taskwait takes children of the task that waits and nothing else, the last first, and one at the end of a group tasks of that
//! group; if there is none it sleeps, until all have ended or one of them has become able to run because what it depended on
//! has ended. That one was made does not wake it. When more than 64 tasks a thread are in the queue or run, the thread that
//! creates another one runs it at once. A task that ended and released just one other wakes no thread: its thread takes it
//! itself.

use super::engine::{Rules, State, Waits};
use super::program::{NO_INDEX, Program};
use std::collections::VecDeque;

/// Tasks a thread for which a team has room.
const ROOM: usize = 64;

#[derive(Debug, Default)]
struct Queue {
    tasks: VecDeque<u32>,
    /// Threads that sleep at a barrier.
    asleep: Vec<u32>,
    /// Tasks that are in it or run.
    count: usize,
    threads: usize,
}

/// The rules.
pub(super) struct Gomp {
    queues: Vec<Queue>,
    /// By task: the last of its children that may be able to run, and the one before it among its siblings.
    last_child: Vec<u32>,
    child_before: Vec<u32>,
    /// By group, and by task.
    last_of_group: Vec<u32>,
    /// By group: its tasks that are in the queue or run.
    group_count: Vec<u32>,
    in_group_before: Vec<u32>,
    /// By task: whether it is in a queue or was taken from one.
    is_counted: Vec<bool>,
}

impl Gomp {
    pub(super) fn new(program: &Program) -> Gomp {
        let (count, groups) = (program.len(), program.groups as usize);
        Gomp {
            queues: Vec::new(),
            last_child: vec![NO_INDEX; count],
            child_before: vec![NO_INDEX; count],
            last_of_group: vec![NO_INDEX; groups],
            group_count: vec![0; groups],
            in_group_before: if groups > 0 { vec![NO_INDEX; count] } else { Vec::new() },
            is_counted: vec![false; count],
        }
    }

    fn is_full(&self, team: u32) -> bool {
        let queue = &self.queues[team as usize];
        queue.count > ROOM * queue.threads
    }

    fn put(&mut self, state: &State<'_>, team: u32, task: u32) {
        let place = task as usize;
        let queue = &mut self.queues[team as usize];
        queue.tasks.push_back(task);
        queue.count += 1;
        self.is_counted[place] = true;
        let parent = state.program.parent[place] as usize;
        self.child_before[place] = std::mem::replace(&mut self.last_child[parent], task);
        let group = state.program.group[place];
        if group != NO_INDEX {
            self.group_count[group as usize] += 1;
            let last = &mut self.last_of_group[group as usize];
            self.in_group_before[place] = std::mem::replace(last, task);
        }
    }

    fn wake(&mut self, state: &mut State<'_>, team: u32, most: usize) {
        for _ in 0..most {
            let Some(thread) = self.queues[team as usize].asleep.pop() else { return };
            state.notify_of_task(thread);
        }
    }

    /// Whoever sleeps until one of its tasks can run.
    fn wake_waiting(state: &mut State<'_>, task: u32) {
        let thread = if task == NO_INDEX { NO_INDEX } else { state.holder[task as usize] };
        if thread != NO_INDEX
            && state.is_idle(thread)
            && state.waiting(thread).is_some_and(|top| top.task == task)
        {
            state.notify_of_end(thread);
        }
    }
}

/// The first of a list that has not begun; those before it are forgotten.
fn first_of(state: &State<'_>, first: &mut u32, next: &[u32]) -> Option<u32> {
    while *first != NO_INDEX && state.has_begun(*first) {
        *first = next[*first as usize];
    }
    Some(*first).filter(|task| *task != NO_INDEX)
}

impl Rules for Gomp {
    fn begin(&mut self, team: u32, threads: usize) {
        self.queues.resize_with(team as usize + 1, Queue::default);
        self.queues[team as usize].threads = threads;
    }

    fn made(&mut self, state: &mut State<'_>, thread: u32, task: u32) -> bool {
        let team = state.team_of(thread);
        if self.is_full(team) {
            return true;
        }
        self.put(state, team, task);
        self.wake(state, team, 1);
        false
    }

    fn must_wait(&self, state: &State<'_>, thread: u32) -> bool {
        self.is_full(state.team_of(thread))
    }

    fn released(&mut self, state: &mut State<'_>, thread: u32, tasks: &[u32]) {
        let team = state.team_of(thread);
        for task in tasks {
            self.put(state, team, *task);
            Gomp::wake_waiting(state, state.program.parent[*task as usize]);
            let group = state.program.group[*task as usize];
            if group != NO_INDEX {
                Gomp::wake_waiting(state, state.groups[group as usize].1);
            }
        }
        if tasks.len() > 1 {
            self.wake(state, team, tasks.len());
        }
    }

    fn next(&mut self, state: &mut State<'_>, thread: u32) -> Option<u32> {
        let Some(top) = state.waiting(thread) else {
            let queue = &mut self.queues[state.team_of(thread) as usize].tasks;
            while let Some(task) = queue.pop_front() {
                if !state.has_begun(task) {
                    return Some(task);
                }
            }
            return None;
        };
        match top.waits {
            Waits::Children | Waits::Before(_) => {
                first_of(state, &mut self.last_child[top.task as usize], &self.child_before)
            }
            // Tasks of the group may depend on children that are not of it.
            Waits::Group(group) if self.group_count[group as usize] == 0 => {
                first_of(state, &mut self.last_child[top.task as usize], &self.child_before)
            }
            Waits::Group(group) => {
                first_of(state, &mut self.last_of_group[group as usize], &self.in_group_before)
            }
            Waits::No | Waits::Region => None,
        }
    }

    fn rests(&mut self, state: &State<'_>, thread: u32) {
        if state.waiting(thread).is_none() {
            self.queues[state.team_of(thread) as usize].asleep.push(thread);
        }
    }

    fn roused(&mut self, state: &State<'_>, thread: u32) {
        if state.waiting(thread).is_none() {
            self.queues[state.team_of(thread) as usize].asleep.retain(|other| *other != thread);
        }
    }

    fn ended(&mut self, state: &mut State<'_>, thread: u32, task: u32) {
        if !self.is_counted[task as usize] {
            return;
        }
        self.queues[state.team_of(thread) as usize].count -= 1;
        let group = state.program.group[task as usize];
        if group != NO_INDEX {
            self.group_count[group as usize] -= 1;
            if self.group_count[group as usize] == 0 {
                Gomp::wake_waiting(state, state.groups[group as usize].1);
            }
        }
    }
}
