//! Threads of a simulated runtime: who runs what, who waits for what, and when each goes on.
//!
//! A thread has a stack of tasks. The top runs, or waits; while it waits, others may run on top of it, and until they have ended
//! it does not go on: tasks stay with the thread that began them. Which task a thread may take is for the [`Rules`] of a runtime.
//! Promises: a task runs as long as in virtual time; an idle thread notices a task only after the wake-up time.
//! Time passes nowhere else: giving tasks out costs nothing.

use super::program::{Act, NO_INDEX, Program, Step};
use crate::Notice;
use kizami_model::{Length, Moment};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// It runs.
    No,
    Children,
    Group(u32),
    Region,
    /// All that this task depends on, which it will then run itself.
    Before(u32),
}

/// A task on a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub task: u32,
    pub waits: Waits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It runs, or will look for something to run.
    Busy,
    /// It waits until it is woken.
    Idle,
    /// It is in no team.
    Off,
}

#[derive(Debug)]
pub(super) struct Thread {
    pub stack: Vec<Frame>,
    /// Its team; [`NO_INDEX`] outside of regions.
    pub team: u32,
    /// Which of its team it is.
    pub index: u32,
    /// How deep its stack was when it came to the team.
    pub base: usize,
    pub status: Status,
    /// Shares it has to run before it takes tasks.
    pub shares: Vec<u32>,
    /// Changes when what was meant to happen to it shall not happen any more.
    pub stamp: u32,
}

/// Threads that run a region.
#[derive(Debug)]
pub(super) struct Team {
    pub threads: Vec<u32>,
    /// The team, number and depth of the first thread before.
    pub before: (u32, u32, usize),
    pub shares: u32,
    /// Shares that wait at a barrier, and their threads.
    pub arrived: Vec<(u32, u32)>,
    pub ended: u32,
    /// Tasks that have not ended.
    pub live: u32,
}

/// What a runtime decides.
pub(super) trait Rules {
    /// A team of so many threads begins.
    fn begin(&mut self, team: u32, threads: usize);
    /// A thread has made a task that depends on nothing that has not ended. Returns whether it must run it at once.
    fn made(&mut self, state: &mut State<'_>, thread: u32, task: u32) -> bool;
    /// Whether a thread that makes a task that still depends on others must wait for them, and then run it at once.
    fn must_wait(&self, state: &State<'_>, thread: u32) -> bool;
    /// A task that ended on a thread was the last that these depended on.
    fn released(&mut self, state: &mut State<'_>, thread: u32, tasks: &[u32]);
    /// What a thread may run now, at a barrier or on top of a task that waits.
    fn next(&mut self, state: &mut State<'_>, thread: u32) -> Option<u32>;
    /// A thread has found nothing.
    fn rests(&mut self, state: &State<'_>, thread: u32);
    /// It does not rest any more.
    fn roused(&mut self, state: &State<'_>, thread: u32);
    /// A task that ran on a thread has ended.
    fn ended(&mut self, state: &mut State<'_>, thread: u32, task: u32);
}

/// All but the rules.
pub(super) struct State<'a> {
    pub program: &'a Program,
    pub now: Moment,
    pub threads: Vec<Thread>,
    pub teams: Vec<Team>,
    /// By task: tasks it made that have not ended.
    pub children: Vec<u32>,
    /// By task: the thread that runs it; [`NO_INDEX`] before.
    pub holder: Vec<u32>,
    /// By group: its tasks that have not ended, and who waits for them.
    pub groups: Vec<(u32, u32)>,
    pub notice: Notice,
    /// By task: the next step, how long it has run, and on how many it still depends.
    next_step: Vec<u32>,
    ran: Vec<Length>,
    lacks: Vec<u32>,
    is_made: Vec<bool>,
    coming: BinaryHeap<Reverse<(Moment, u64, u32, u32)>>,
    told: u64,
    end: Moment,
    ended: usize,
}

impl State<'_> {
    /// The task on top of a thread that waits; none if the thread is at a barrier.
    pub(super) fn waiting(&self, thread: u32) -> Option<Frame> {
        let thread = &self.threads[thread as usize];
        thread.stack.last().copied().filter(|_| thread.stack.len() > thread.base)
    }

    pub(super) fn is_idle(&self, thread: u32) -> bool {
        self.threads[thread as usize].status == Status::Idle
    }

    /// Whether a task has begun.
    pub(super) fn has_begun(&self, task: u32) -> bool {
        self.holder[task as usize] != NO_INDEX
    }

    pub(super) fn team_of(&self, thread: u32) -> u32 {
        self.threads[thread as usize].team
    }

    fn is_over(&self, frame: Frame) -> bool {
        match frame.waits {
            Waits::No => true,
            Waits::Children => self.children[frame.task as usize] == 0,
            Waits::Group(group) => self.groups[group as usize].0 == 0,
            Waits::Region => false,
            Waits::Before(task) => self.lacks[task as usize] == 0,
        }
    }

    pub(super) fn at(&mut self, thread: u32, when: Moment) {
        self.threads[thread as usize].status = Status::Busy;
        self.told += 1;
        let stamp = self.threads[thread as usize].stamp;
        self.coming.push(Reverse((when, self.told, thread, stamp)));
    }

    /// A thread that rests will look whether there is a task.
    pub(super) fn notify_of_task(&mut self, thread: u32) {
        self.at(thread, self.now + self.notice.task);
    }

    /// A thread that rests will look whether what it waits for is over.
    pub(super) fn notify_of_end(&mut self, thread: u32) {
        self.at(thread, self.now + self.notice.over);
    }

    /// A thread will look for its share of a region.
    pub(super) fn notify_of_region(&mut self, thread: u32) {
        self.at(thread, self.now + self.notice.begin);
    }

    /// A thread that rests will notice that all others have come as far as it.
    pub(super) fn notify_of_pass(&mut self, thread: u32) {
        self.at(thread, self.now + self.notice.pass);
    }

    pub(super) fn add_thread(&mut self) -> u32 {
        self.threads.push(Thread {
            stack: Vec::new(),
            team: NO_INDEX,
            index: 0,
            base: 0,
            status: Status::Off,
            shares: Vec::new(),
            stamp: 0,
        });
        self.threads.len() as u32 - 1
    }
}

/// The simulation.
pub(super) struct Engine<'a, R> {
    pub(super) state: State<'a>,
    pub(super) rules: R,
    pub(super) processors: u32,
    pub(super) widest: u32,
    /// Threads that are in no team.
    pub(super) spare: Vec<u32>,
    released: Vec<u32>,
}

impl<'a, R: Rules> Engine<'a, R> {
    pub(super) fn new(program: &'a Program, processors: u32, notice: Notice, rules: R) -> Engine<'a, R> {
        let count = program.len();
        let state = State {
            program,
            now: Moment::START,
            threads: Vec::new(),
            teams: Vec::new(),
            children: vec![0; count],
            holder: vec![NO_INDEX; count],
            groups: vec![(0, NO_INDEX); program.groups as usize],
            notice,
            next_step: (0..count as u32).map(|task| program.steps.range(task).start as u32).collect(),
            ran: vec![Length::ZERO; count],
            lacks: program.depends_on.clone(),
            is_made: vec![false; count],
            coming: BinaryHeap::new(),
            told: 0,
            end: Moment::START,
            ended: 0,
        };
        let (widest, spare, released) = (program.widest(), Vec::new(), Vec::new());
        Engine { state, rules, processors, widest, spare, released }
    }

    /// How long it takes; none if tasks wait for each other for ever, as they do where a recording is damaged.
    pub(super) fn run(mut self) -> Option<Length> {
        for task in self.state.program.initial.iter() {
            let thread = self.state.add_thread();
            self.put(thread, *task);
            self.state.at(thread, Moment::START);
        }
        while let Some(Reverse((now, _, thread, stamp))) = self.state.coming.pop() {
            if self.state.threads[thread as usize].stamp == stamp {
                self.state.now = now;
                self.look(thread);
            }
        }
        (self.state.ended == self.state.program.len()).then_some(self.state.end - Moment::START)
    }

    fn put(&mut self, thread: u32, task: u32) {
        self.state.holder[task as usize] = thread;
        self.state.threads[thread as usize].stack.push(Frame { task, waits: Waits::No });
    }

    /// A thread goes on with what it has, or finds something else.
    fn look(&mut self, thread: u32) {
        loop {
            let own = &mut self.state.threads[thread as usize];
            own.status = Status::Busy;
            if own.stack.len() > own.base {
                let frame = own.stack[own.stack.len() - 1];
                if self.state.is_over(frame) {
                    let own = &mut self.state.threads[thread as usize];
                    let place = own.stack.len() - 1;
                    own.stack[place].waits = Waits::No;
                    if let Waits::Before(task) = frame.waits {
                        self.put(thread, task);
                    }
                    if !self.go_on(thread) {
                        return;
                    }
                    continue;
                }
            } else if own.team == NO_INDEX {
                own.status = Status::Off;
                return;
            } else if let Some(share) = own.shares.pop() {
                // It may have begun, and waited at a barrier.
                self.put(thread, share);
                continue;
            }
            match self.rules.next(&mut self.state, thread) {
                Some(task) => self.put(thread, task),
                None => {
                    self.state.threads[thread as usize].status = Status::Idle;
                    self.rules.rests(&self.state, thread);
                    return;
                }
            }
        }
    }

    /// The top of a thread runs until others come first (then false) or the thread has to look for something.
    fn go_on(&mut self, thread: u32) -> bool {
        loop {
            let Some(frame) = self.state.threads[thread as usize].stack.last().copied() else { return true };
            let task = frame.task as usize;
            let Step { at, act } = self.state.program.steps.at(self.state.next_step[task]);
            if at > self.state.ran[task] {
                let until = self.state.now + (at - self.state.ran[task]);
                self.state.ran[task] = at;
                if self.state.coming.peek().is_some_and(|Reverse(next)| next.0 <= until) {
                    self.state.at(thread, until);
                    return false;
                }
                self.state.now = until;
            }
            self.state.next_step[task] += 1;
            if !self.act(thread, frame.task, act) {
                return true;
            }
        }
    }

    /// Returns whether the top of the thread goes on.
    fn act(&mut self, thread: u32, task: u32, act: Act) -> bool {
        match act {
            Act::Make(made) => self.make(thread, task, made),
            Act::Children => self.wait(thread, Waits::Children),
            Act::Group(group) => {
                self.state.groups[group as usize].1 = task;
                self.wait(thread, Waits::Group(group))
            }
            Act::Barrier => {
                self.arrive(thread, task);
                false
            }
            Act::Region(region) => {
                self.begin_region(thread, region);
                false
            }
            Act::End => {
                self.end(thread, task);
                false
            }
        }
    }

    fn wait(&mut self, thread: u32, waits: Waits) -> bool {
        let stack = &mut self.state.threads[thread as usize].stack;
        let top = stack.len() - 1;
        stack[top].waits = waits;
        false
    }

    fn make(&mut self, thread: u32, parent: u32, task: u32) -> bool {
        let team = self.state.team_of(thread);
        self.state.is_made[task as usize] = true;
        self.state.children[parent as usize] += 1;
        let group = self.state.program.group[task as usize];
        if group != NO_INDEX {
            self.state.groups[group as usize].0 += 1;
        }
        if team != NO_INDEX {
            self.state.teams[team as usize].live += 1;
        }
        let lacks = self.state.lacks[task as usize] > 0;
        if lacks && (team == NO_INDEX || self.rules.must_wait(&self.state, thread)) {
            // Nobody else may take it.
            self.state.is_made[task as usize] = false;
            return self.wait(thread, Waits::Before(task));
        }
        if !lacks && (team == NO_INDEX || self.rules.made(&mut self.state, thread, task)) {
            self.put(thread, task);
        }
        true
    }

    fn end(&mut self, thread: u32, task: u32) {
        let state = &mut self.state;
        state.threads[thread as usize].stack.pop();
        state.ended += 1;
        state.end = state.end.max(state.now);
        let (parent, team) = (state.program.parent[task as usize], state.team_of(thread));
        if state.program.is_share[task as usize] {
            state.teams[team as usize].ended += 1;
            self.check(team);
        } else if parent != NO_INDEX {
            self.release(thread, task);
            self.rules.ended(&mut self.state, thread, task);
            self.leave(task, parent, team);
        }
    }

    /// Those that depended on a task need it no more.
    fn release(&mut self, thread: u32, task: u32) {
        let mut released = std::mem::take(&mut self.released);
        for dependent in self.state.program.dependents.get(task) {
            let lacks = &mut self.state.lacks[*dependent as usize];
            *lacks -= 1;
            if *lacks > 0 {
                continue;
            }
            if self.state.is_made[*dependent as usize] {
                released.push(*dependent);
            } else {
                // Its maker may wait for just that.
                self.wake(self.state.program.parent[*dependent as usize]);
            }
        }
        if !released.is_empty() {
            self.rules.released(&mut self.state, thread, &released);
        }
        released.clear();
        self.released = released;
    }

    /// Notifies the waiters of a task that has ended.
    fn leave(&mut self, task: u32, parent: u32, team: u32) {
        self.state.children[parent as usize] -= 1;
        self.wake(parent);
        let group = self.state.program.group[task as usize];
        if group != NO_INDEX {
            self.state.groups[group as usize].0 -= 1;
            self.wake(self.state.groups[group as usize].1);
        }
        if team != NO_INDEX {
            self.state.teams[team as usize].live -= 1;
            self.check(team);
        }
    }

    /// The thread of a task goes on, if it rests and what the task waits for is over.
    fn wake(&mut self, task: u32) {
        let thread = if task == NO_INDEX { NO_INDEX } else { self.state.holder[task as usize] };
        if thread == NO_INDEX || !self.state.is_idle(thread) {
            return;
        }
        if self.state.waiting(thread).is_some_and(|top| top.task == task && self.state.is_over(top)) {
            self.rules.roused(&self.state, thread);
            self.state.notify_of_end(thread);
        }
    }
}
