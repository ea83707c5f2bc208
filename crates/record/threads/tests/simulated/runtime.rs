//! A small runtime: threads with stacks, a pool of tasks, and clocks that go on as they like. What happens on one thread is
//! seen by others a tick later. Whoever waits for tasks runs only tasks that it descends to, as tied tasks must.

use super::program::Act;
use kizami_records::threading::{AwayBy, Dependence, Purpose, TaskName, ThreadEvent, WaitFor};
use kizami_rng::SplitMix64;
use std::rc::Rc;

/// The events of a thread.
pub type Events = Vec<(u64, ThreadEvent)>;

struct Frame {
    task: usize,
    acts: Rc<Vec<Act>>,
    next: usize,
    /// For a share: its region.
    region: Option<usize>,
    waits: Option<Waits>,
}

#[derive(Clone, Copy, PartialEq)]
enum Waits {
    Children,
    Group(usize),
    Barrier,
    EndOfRegion,
    Region(usize),
}

struct Task {
    acts: Rc<Vec<Act>>,
    name: TaskName,
    parent: Option<usize>,
    made: u64,
    begun: bool,
    ended: Option<u64>,
    predecessors: Vec<usize>,
    /// Groups and regions it is in, and its own groups.
    scopes: Vec<usize>,
    groups: Vec<usize>,
    dependences: Vec<Dependence>,
}

#[derive(Default)]
struct Region {
    shares: Vec<Rc<Vec<Act>>>,
    begun: Vec<bool>,
    over: Vec<Option<u64>>,
    /// By share: how many barriers it came to, and when to the last.
    arrived: Vec<(u64, u64)>,
    scope: usize,
    start: u64,
    ended: bool,
}

struct Thread {
    events: Events,
    clock: u64,
    stack: Vec<Frame>,
    made: u64,
    away: Option<(u64, u64)>,
}

pub struct Runtime {
    threads: Vec<Thread>,
    tasks: Vec<Task>,
    regions: Vec<Region>,
    /// By scope: tasks in it.
    scopes: Vec<Vec<usize>>,
    random: SplitMix64,
    /// Shares end when their threads come to the last barrier, or when they leave it.
    late_ends: bool,
}

impl Runtime {
    pub fn run(program: &[Act], threads: usize, seed: u64) -> Vec<Events> {
        let mut random = SplitMix64::new(seed);
        let late_ends = random.below(2) == 0;
        let thread = || Thread { events: Vec::new(), clock: 100, stack: Vec::new(), made: 0, away: None };
        let mut runtime = Runtime {
            threads: (0..threads).map(|_| thread()).collect(),
            tasks: Vec::new(),
            regions: Vec::new(),
            scopes: Vec::new(),
            random,
            late_ends,
        };
        for thread in 0..threads {
            runtime.report(thread, ThreadEvent::Anew { at_ticks: 100, created: 0 });
        }
        let acts = Rc::new(program.to_vec());
        runtime.tasks.push(runtime.new_task(acts.clone(), None, 100));
        runtime.threads[0].stack.push(Frame { task: 0, acts, next: 0, region: None, waits: None });
        while !runtime.threads[0].stack.is_empty() {
            let earliest = (0..threads).min_by_key(|thread| runtime.threads[*thread].clock).unwrap();
            runtime.step(earliest);
        }
        for thread in 0..threads {
            runtime.report(thread, ThreadEvent::Leave);
        }
        runtime.threads.into_iter().map(|thread| thread.events).collect()
    }

    fn new_task(&self, acts: Rc<Vec<Act>>, parent: Option<usize>, made: u64) -> Task {
        Task {
            acts,
            name: TaskName { stream: 0, number: 0 },
            parent,
            made,
            begun: true,
            ended: None,
            predecessors: Vec::new(),
            scopes: Vec::new(),
            groups: Vec::new(),
            dependences: Vec::new(),
        }
    }

    fn report(&mut self, thread: usize, event: ThreadEvent) {
        let at = self.threads[thread].clock;
        if (self.random.below(3) == 0 || event == ThreadEvent::Leave)
            && let Some((from, to)) = self.threads[thread].away.take()
        {
            let by = if self.random.below(2) == 0 { AwayBy::System } else { AwayBy::Tracer };
            self.threads[thread].events.push((at, ThreadEvent::Away { by, from, to }));
        }
        self.threads[thread].events.push((at, event));
    }

    fn step(&mut self, thread: usize) {
        let Some(frame) = self.threads[thread].stack.last() else { return self.idle(thread) };
        if let Some(waits) = frame.waits {
            return self.waiting(thread, waits);
        }
        match frame.acts.get(frame.next).cloned() {
            None => self.ended(thread),
            Some(act) => {
                self.threads[thread].stack.last_mut().unwrap().next += 1;
                self.act(thread, act);
            }
        }
    }

    fn idle(&mut self, thread: usize) {
        let now = self.threads[thread].clock;
        let share = self.regions.iter().position(|region| {
            region.start < now && region.begun.get(thread) == Some(&false) && region.shares.len() > 1
        });
        match share {
            Some(region) => self.begin_share(thread, region),
            None => self.run_any(thread, None),
        }
    }

    fn begin_share(&mut self, thread: usize, region: usize) {
        let index = if self.regions[region].shares.len() == 1 { 0 } else { thread };
        self.regions[region].begun[index] = true;
        self.report(thread, ThreadEvent::Share { index: index as u32, region: region as u64 + 1 });
        let (acts, now) = (self.regions[region].shares[index].clone(), self.threads[thread].clock);
        let mut task = self.new_task(acts.clone(), None, now);
        task.scopes = vec![self.regions[region].scope];
        self.tasks.push(task);
        let frame = Frame { task: self.tasks.len() - 1, acts, next: 0, region: Some(region), waits: None };
        self.threads[thread].stack.push(frame);
    }

    /// Runs a task that can run, if there is one; below `ancestor` if there is one.
    fn run_any(&mut self, thread: usize, ancestor: Option<usize>) {
        let now = self.threads[thread].clock;
        let is_over = |task: &usize| self.tasks[*task].ended.is_some_and(|ended| ended < now);
        let can = |(number, task): &(usize, &Task)| {
            let mut chain = std::iter::successors(task.parent, |parent| self.tasks[*parent].parent);
            !task.begun
                && task.made < now
                && task.predecessors.iter().all(is_over)
                && ancestor.is_none_or(|ancestor| chain.any(|other| other == ancestor) && *number != ancestor)
        };
        let ready: Vec<usize> = self.tasks.iter().enumerate().filter(can).map(|(number, _)| number).collect();
        if ready.is_empty() || self.random.below(4) == 0 {
            self.threads[thread].clock += 1 + self.random.below(4);
            return;
        }
        let chosen = ready[self.random.index(ready.len())];
        self.begin(thread, chosen);
    }

    fn begin(&mut self, thread: usize, task: usize) {
        self.tasks[task].begun = true;
        self.report(thread, ThreadEvent::Begin(self.tasks[task].name));
        let acts = self.tasks[task].acts.clone();
        self.threads[thread].stack.push(Frame { task, acts, next: 0, region: None, waits: None });
    }

    fn waiting(&mut self, thread: usize, waits: Waits) {
        let now = self.threads[thread].clock;
        let frame = self.threads[thread].stack.last().unwrap();
        let (own, region) = (frame.task, frame.region);
        let over = |task: &Task| task.ended.is_some_and(|ended| ended < now);
        let all_over = |scope: usize| self.scopes[scope].iter().all(|task| over(&self.tasks[*task]));
        let met = match waits {
            Waits::Children => self.tasks.iter().filter(|task| task.parent == Some(own)).all(over),
            Waits::Group(scope) => all_over(scope),
            Waits::Barrier => {
                let region = &self.regions[region.unwrap()];
                let index = if region.shares.len() == 1 { 0 } else { thread };
                let round = region.arrived[index].0;
                let came = |(count, at): &(u64, u64)| *count > round || *count == round && *at < now;
                region.arrived.iter().all(came) && all_over(region.scope)
            }
            Waits::EndOfRegion => {
                self.regions[region.unwrap()].ended || self.all_arrived(region.unwrap(), now)
            }
            Waits::Region(region) => self.all_arrived(region, now),
        };
        if !met {
            let tied = matches!(waits, Waits::Children | Waits::Group(_));
            return self.run_any(thread, tied.then_some(own));
        }
        self.threads[thread].stack.last_mut().unwrap().waits = None;
        match waits {
            Waits::Children => self.report(thread, ThreadEvent::Waited(WaitFor::Children)),
            Waits::Group(_) => self.report(thread, ThreadEvent::Waited(WaitFor::Group)),
            Waits::Barrier => self.report(thread, ThreadEvent::Waited(WaitFor::Barrier)),
            Waits::EndOfRegion => {
                if self.random.below(2) == 0 {
                    self.report(thread, ThreadEvent::Waited(WaitFor::EndOfRegion));
                }
                self.threads[thread].clock += self.random.below(40);
                self.report(thread, ThreadEvent::ShareEnd);
                self.threads[thread].stack.pop();
            }
            Waits::Region(region) => {
                self.regions[region].ended = true;
                self.report(thread, ThreadEvent::RegionEnd);
            }
        }
    }

    fn all_arrived(&self, region: usize, now: u64) -> bool {
        let region = &self.regions[region];
        let shares = region.over.iter().all(|over| over.is_some_and(|at| at < now));
        let over = |task: &usize| self.tasks[*task].ended.is_some_and(|ended| ended < now);
        shares && self.scopes[region.scope].iter().all(over)
    }

    fn ended(&mut self, thread: usize) {
        let now = self.threads[thread].clock;
        let frame = self.threads[thread].stack.last().unwrap();
        let (task, region) = (frame.task, frame.region);
        self.tasks[task].ended = Some(now);
        let Some(region) = region else {
            if task != 0 {
                self.report(thread, ThreadEvent::End);
            }
            self.threads[thread].stack.pop();
            return;
        };
        let index = if self.regions[region].shares.len() == 1 { 0 } else { thread };
        self.regions[region].over[index] = Some(now);
        if self.late_ends {
            self.report(thread, ThreadEvent::Wait { what: WaitFor::EndOfRegion, site: 0 });
            self.threads[thread].stack.last_mut().unwrap().waits = Some(Waits::EndOfRegion);
        } else {
            self.report(thread, ThreadEvent::ShareEnd);
            self.threads[thread].stack.pop();
        }
    }

    fn act(&mut self, thread: usize, act: Act) {
        let own = self.threads[thread].stack.last().unwrap().task;
        let mut waits = None;
        match act {
            Act::Run(length) => self.run_for(thread, length),
            Act::Make(acts, dependences) => self.make(thread, own, acts, dependences),
            Act::Wait => waits = Some((Waits::Children, WaitFor::Children)),
            Act::Group => {
                self.scopes.push(Vec::new());
                self.tasks[own].groups.push(self.scopes.len() - 1);
                self.report(thread, ThreadEvent::Group);
            }
            Act::GroupEnd => {
                let group = self.tasks[own].groups.pop().unwrap();
                waits = Some((Waits::Group(group), WaitFor::Group));
            }
            Act::Lock(length) => {
                self.report(thread, ThreadEvent::Wait { what: WaitFor::Lock, site: 0 });
                self.threads[thread].clock += length;
                self.report(thread, ThreadEvent::Waited(WaitFor::Lock));
            }
            Act::Barrier => {
                let region = self.threads[thread].stack.last().unwrap().region.unwrap();
                let index = if self.regions[region].shares.len() == 1 { 0 } else { thread };
                let now = self.threads[thread].clock;
                let arrived = &mut self.regions[region].arrived[index];
                *arrived = (arrived.0 + 1, now);
                waits = Some((Waits::Barrier, WaitFor::Barrier));
            }
            Act::Region(shares) => self.region(thread, shares),
        }
        if let Some((waits, what)) = waits {
            self.report(thread, ThreadEvent::Wait { what, site: 0 });
            self.threads[thread].stack.last_mut().unwrap().waits = Some(waits);
        }
    }

    /// Runs, and may be away meanwhile.
    fn run_for(&mut self, thread: usize, length: u64) {
        let clock = self.threads[thread].clock;
        self.threads[thread].clock += length;
        if self.random.below(4) == 0 && self.threads[thread].away.is_none() {
            let from = clock + self.random.below(length + 1);
            let to = from + self.random.below(60);
            self.threads[thread].away = Some((from, to));
            self.threads[thread].clock += to - from;
        }
    }

    fn make(&mut self, thread: usize, own: usize, acts: Rc<Vec<Act>>, dependences: Vec<Dependence>) {
        let now = self.threads[thread].clock;
        self.report(thread, ThreadEvent::Create { site: 1 });
        if !dependences.is_empty() {
            self.report(thread, ThreadEvent::Depend(dependences.clone()));
        }
        let number = self.tasks.len();
        let mut task = self.new_task(acts, Some(own), now);
        task.begun = false;
        task.name = TaskName { stream: thread as u32, number: self.threads[thread].made };
        self.threads[thread].made += 1;
        task.predecessors = self.predecessors(own, &dependences);
        task.scopes = self.tasks[own].scopes.clone();
        task.scopes.extend(&self.tasks[own].groups);
        task.scopes.iter().for_each(|scope| self.scopes[*scope].push(number));
        task.dependences = dependences;
        let ready = task.predecessors.iter().all(|other| self.tasks[*other].ended.is_some_and(|at| at < now));
        self.tasks.push(task);
        if ready && self.random.below(6) == 0 {
            // At once, as runtimes do that have enough tasks.
            self.begin(thread, number);
        }
    }

    /// By the letter: compared with every sibling made before.
    fn predecessors(&self, own: usize, dependences: &[Dependence]) -> Vec<usize> {
        let siblings = self.tasks.iter().enumerate().filter(|(_, task)| task.parent == Some(own));
        let siblings: Vec<(usize, &Task)> = siblings.collect();
        let purpose = |list: &[Dependence], address: u64| {
            let mut own = list.iter().filter(|one| one.address == address).map(|one| one.purpose);
            let first = own.next()?;
            Some(if own.all(|other| other == first) { first } else { Purpose::Out })
        };
        let mut found = Vec::new();
        for one in dependences {
            let Some(mine) = purpose(dependences, one.address) else { continue };
            // Only those in a row at the end with the same purpose are unordered.
            let mut unordered = true;
            for (number, other) in siblings.iter().rev() {
                let Some(theirs) = purpose(&other.dependences, one.address) else { continue };
                unordered &= mine == theirs && mine != Purpose::Out;
                let readers = mine == Purpose::In && theirs == Purpose::In;
                if !unordered && !readers {
                    found.push(*number);
                }
            }
        }
        found
    }

    fn region(&mut self, thread: usize, shares: Vec<Rc<Vec<Act>>>) {
        self.scopes.push(Vec::new());
        let (number, count) = (self.regions.len(), shares.len());
        let start = self.threads[thread].clock;
        self.regions.push(Region {
            begun: vec![false; count],
            over: vec![None; count],
            arrived: vec![(0, 0); count],
            scope: self.scopes.len() - 1,
            start,
            ended: false,
            shares,
        });
        self.report(
            thread,
            ThreadEvent::Region { site: 2, region: number as u64 + 1, runtime: kizami_threads::Runtime::Gnu },
        );
        self.threads[thread].stack.last_mut().unwrap().waits = Some(Waits::Region(number));
        self.begin_share(thread, number);
    }
}
