//! The follower: takes events in the order of time, and keeps what runs on each thread.

use crate::away::{Absence, Absences};
use crate::buffer::Buffer;
use crate::merge::Merged;
use crate::region::{OUTSIDE, Region, ScopeId, Scopes};
use crate::task::{Made, Opened, State, Task, TaskSlot, Tasks, Waiting};
use crate::{Followed, Listener, PieceKind, RegionRun};
use kizami_records::threading::{Dependence, TaskName, ThreadEvent};
use rustc_hash::FxHashMap;

/// The unit of the recording cost, as a part of a tick.
const COST_UNIT: u64 = 1024;

/// How to follow.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Pieces that are held at most, because one with a smaller number has not ended. Beyond that the one that all wait for
    /// is cut in two.
    pub most_held: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { most_held: 1 << 18 }
    }
}

/// A thread that is to be followed.
#[derive(Clone, Debug)]
pub struct ThreadInput<I> {
    /// The number of its stream: others name tasks that it made by it.
    pub stream: u32,
    /// Whether it is the one that the process began with.
    pub is_first: bool,
    /// What one record costs, in 1/1024 tick.
    pub record_cost: u64,
    /// When it was not working for the program: see [`crate::absences`].
    pub absences: Vec<Absence>,
    /// What it did.
    pub events: I,
}

/// Follows all threads of a process to their end.
pub fn follow<I, L>(
    threads: Vec<ThreadInput<I>>,
    settings: Settings,
    listener: &mut L,
) -> Result<Followed, L::Error>
where
    I: Iterator<Item = (u64, ThreadEvent)>,
    L: Listener,
{
    let mut events = Vec::new();
    let mut follower = Follower {
        threads: Vec::new(),
        tasks: Tasks::new(),
        scopes: Scopes::new(),
        names: FxHashMap::default(),
        buffer: Buffer::new(),
        followed: Followed::default(),
        most_held: settings.most_held.max(1),
    };
    for input in threads {
        follower.threads.push(Thread {
            stream: input.stream,
            is_first: input.is_first,
            record_cost: input.record_cost,
            made: 0,
            last_made: None,
            absences: Absences::new(input.absences),
            stack: Vec::new(),
            has_begun: false,
            last_region: OUTSIDE,
            at: 0,
        });
        events.push(input.events);
    }
    for (thread, at, event) in Merged::new(events.into_iter()) {
        follower.event(thread, at, event);
        if follower.buffer.oldest().is_none() {
            follower.buffer.report(listener)?;
        }
        follower.scopes.report(listener)?;
    }
    follower.finish();
    follower.buffer.report(listener)?;
    follower.scopes.report(listener)?;
    Ok(Followed { pieces: follower.buffer.reported(), ..follower.followed })
}

/// What is known of a thread.
pub(crate) struct Thread {
    stream: u32,
    is_first: bool,
    record_cost: u64,
    /// Tasks its stream has made.
    made: u64,
    last_made: Option<TaskSlot>,
    pub absences: Absences,
    /// What runs on it, the top above all.
    pub stack: Vec<TaskSlot>,
    has_begun: bool,
    /// The region it had a share in last: its last tasks may run after that share has ended.
    last_region: ScopeId,
    /// The time of its last event.
    at: u64,
}

impl Thread {
    /// What so many records took.
    pub(crate) fn cost(&self, records: u64) -> u64 {
        (u128::from(records) * u128::from(self.record_cost) / u128::from(COST_UNIT)) as u64
    }
}

pub(crate) struct Follower {
    pub threads: Vec<Thread>,
    pub tasks: Tasks,
    pub scopes: Scopes,
    pub names: FxHashMap<TaskName, TaskSlot>,
    pub buffer: Buffer,
    pub followed: Followed,
    pub most_held: usize,
}

impl Follower {
    fn event(&mut self, thread: usize, at: u64, event: ThreadEvent) {
        self.threads[thread].at = at;
        let counts = !matches!(
            event,
            ThreadEvent::Anew { .. } | ThreadEvent::Away { .. } | ThreadEvent::Counted { .. }
        );
        match event {
            ThreadEvent::Anew { created, .. } => self.anew(thread, at, created),
            ThreadEvent::Create { site } => self.create(thread, at, site),
            ThreadEvent::Depend(dependences) => self.depend(thread, &dependences),
            ThreadEvent::Begin(name) => self.begin(thread, at, name),
            ThreadEvent::End => self.end(thread, at),
            ThreadEvent::Wait { what, .. } => self.wait(thread, at, what),
            ThreadEvent::Waited(what) => self.waited(thread, at, what),
            ThreadEvent::Group => {
                let top = self.runner(thread, at);
                let group = self.scopes.open_group();
                self.tasks[top].groups.push(group);
            }
            ThreadEvent::Share { region, .. } => self.share(thread, at, region),
            ThreadEvent::ShareEnd => self.share_end(thread, at),
            ThreadEvent::Region { site, region, runtime } => {
                let run = RegionRun { region, site, runtime, thread, start: at, ..RegionRun::default() };
                self.region(run);
            }
            ThreadEvent::RegionEnd => self.region_end(thread, at),
            // Was read before.
            ThreadEvent::Away { .. } => {}
            ThreadEvent::Counted { tasks, running } => self.counted(thread, at, tasks, running),
            ThreadEvent::Leave => self.pop_to(thread, 0, at),
        }
        // Records are written after the clock was read: the cost belongs to what runs afterwards.
        let top = self.threads[thread].stack.last().copied().filter(|_| counts);
        let piece = top.and_then(|top| self.tasks[top].piece.as_mut());
        if let Some(piece) = piece.filter(|piece| piece.since.is_some()) {
            piece.records += 1;
        }
    }

    fn anew(&mut self, thread: usize, at: u64, created: u64) {
        let known = &mut self.threads[thread];
        known.made = created;
        let begins = known.is_first && !known.has_begun;
        known.has_begun = true;
        if begins {
            self.runner(thread, at);
        }
    }

    /// What runs on a thread; if nothing does, its first task begins.
    fn runner(&mut self, thread: usize, at: u64) -> TaskSlot {
        if let Some(top) = self.threads[thread].stack.last() {
            return *top;
        }
        let made = Made { at, ..Made::default() };
        let slot = self.tasks.add(Task::new(PieceKind::Initial, 0, OUTSIDE, made));
        self.start(thread, at, slot, Vec::new());
        slot
    }

    /// The first piece of a task begins on a thread.
    pub(crate) fn start(&mut self, thread: usize, at: u64, slot: TaskSlot, needs: Vec<crate::Need>) {
        self.pause(thread, at);
        let task = &mut self.tasks[slot];
        let (kind, made) = (task.kind, task.made);
        (task.state, task.thread) = (State::Begun, thread);
        self.tasks.hold(slot);
        self.threads[thread].stack.push(slot);
        let group = self.group_number(self.tasks[slot].scope);
        self.open_piece(slot, at, Opened { kind, made, waited: None, group, needs });
        self.resume(thread, at);
    }

    fn create(&mut self, thread: usize, at: u64, site: u32) {
        let parent = self.runner(thread, at);
        self.count_up(thread, at);
        let maker = &mut self.tasks[parent];
        let (by, running) = maker.present();
        let region = maker.region;
        let scope = maker.groups.last().copied().unwrap_or(maker.scope);
        maker.children += 1;
        self.tasks.hold(parent);
        let known = &mut self.threads[thread];
        let name = TaskName { stream: known.stream, number: known.made };
        known.made += 1;
        let made = Made { by, at, running };
        let task = Task::new(PieceKind::Task, site, region, made);
        let slot = self.tasks.add(Task { name: Some(name), parent: Some(parent), scope, ..task });
        self.threads[thread].last_made = Some(slot);
        if let Some(scope) = self.scopes.get(scope) {
            scope.live += 1;
        }
        if let Some(region) = self.scopes.region(region) {
            region.run.tasks += 1;
        }
        if self.names.insert(name, slot).is_some() {
            // A chunk is lost or there twice; the one before has no further events.
            self.followed.strange += 1;
        }
    }

    /// Tasks of which nothing else is known: what they ran is the thread's in its region.
    fn counted(&mut self, thread: usize, at: u64, tasks: u64, running: u64) {
        let counted = &mut self.followed.counted;
        counted.tasks = counted.tasks.saturating_add(tasks);
        counted.running = counted.running.saturating_add(running);
        counted.since = counted.since.map_or(Some(at), |since| Some(since.min(at)));
        let top = self.threads[thread].stack.last().map(|top| &self.tasks[*top]);
        let region = match top.map(|top| (top.waiting, top.region)) {
            Some((Some(Waiting::Region(scope)), _)) => scope,
            Some((_, region)) if region != OUTSIDE => region,
            _ => self.threads[thread].last_region,
        };
        if let Some(region) = self.scopes.region(region) {
            region.run.tasks = region.run.tasks.saturating_add(tasks);
            region.ran(thread, running);
        }
    }

    fn depend(&mut self, thread: usize, dependences: &[Dependence]) {
        let made = self.threads[thread].last_made.take();
        let Some((slot, parent)) = made.and_then(|slot| Some((slot, self.tasks[slot].parent?))) else {
            self.followed.strange += 1;
            return;
        };
        let siblings = self.tasks[parent].siblings.get_or_insert_default();
        let noted = siblings.add(slot, dependences);
        self.tasks[slot].held += noted.references;
        if self.tasks[slot].state == State::Made {
            noted.needs.iter().for_each(|other| self.tasks.hold(*other));
            self.tasks[slot].predecessors = noted.needs;
        }
        noted.forgotten.into_iter().for_each(|other| self.tasks.release(other));
    }

    fn begin(&mut self, thread: usize, at: u64, name: TaskName) {
        let Some(slot) = self.names.get(&name).copied() else {
            self.followed.orphans += 1;
            let top = self.threads[thread].stack.last().map(|top| &self.tasks[*top]);
            let region = top.map_or(OUTSIDE, |top| top.region);
            let task = Task::new(PieceKind::Task, 0, region, Made { at, ..Made::default() });
            let slot = self.tasks.add(Task { name: Some(name), ..task });
            if let Some(scope) = self.scopes.get(region) {
                scope.live += 1;
            }
            self.names.insert(name, slot);
            self.start(thread, at, slot, Vec::new());
            return;
        };
        if self.tasks[slot].state == State::Made {
            let needs = self.predecessors_of(slot);
            self.start(thread, at, slot, needs);
            return;
        }
        // It goes on, here or elsewhere.
        let before = self.tasks[slot].thread;
        if self.threads[before].stack.last() == Some(&slot) {
            self.pause(before, at);
        }
        self.threads[before].stack.retain(|other| *other != slot);
        self.pause(thread, at);
        self.tasks[slot].thread = thread;
        self.threads[thread].stack.push(slot);
        self.resume(thread, at);
        if before != thread {
            self.resume(before, at);
        }
    }

    fn region(&mut self, run: RegionRun) {
        let at = run.start;
        let top = self.runner(run.thread, at);
        self.close_piece(top, at);
        let (begun_by, begun_running) = self.tasks[top].present();
        let within = self.scopes.region(self.tasks[top].region).map(|region| region.run.region);
        let run = RegionRun { within, ..run };
        let scope = self.scopes.open_region(Region::new(run, begun_by, begun_running));
        self.tasks[top].waiting = Some(Waiting::Region(scope));
    }

    fn share(&mut self, thread: usize, at: u64, number: u64) {
        let scope = self.scopes.by_number(number).unwrap_or_else(|| {
            self.followed.strange += 1;
            let run = RegionRun { region: number, thread, start: at, ..RegionRun::default() };
            self.scopes.open_region(Region::new(run, None, 0))
        });
        let Some(region) = self.scopes.region(scope) else { return };
        region.run.threads += 1;
        let made = Made { by: region.begun_by, at: region.run.start, running: region.begun_running };
        let (site, barriers) = (region.run.site, region.barriers);
        let task = Task::new(PieceKind::Share, site, scope, made);
        let slot = self.tasks.add(Task { passed: barriers, ..task });
        region.shares.push(slot);
        self.threads[thread].last_region = scope;
        self.start(thread, at, slot, Vec::new());
    }

    /// There are no more events.
    fn finish(&mut self) {
        let last = self.threads.iter().map(|thread| thread.at).max().unwrap_or(0);
        for thread in 0..self.threads.len() {
            self.pop_to(thread, 0, self.threads[thread].at);
        }
        self.scopes.close_all(last);
    }
}
