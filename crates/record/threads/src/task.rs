//! Tasks that are alive, or still referred to.

use crate::depend::Siblings;
use crate::region::{OUTSIDE, ScopeId};
use crate::{Need, PieceKind, Waited};
use kizami_records::threading::{TaskName, WaitFor};

/// Where a task is kept.
pub(crate) type TaskSlot = u32;

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Made,
    Begun,
    Ended,
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    For(WaitFor),
    /// For the end of the region that it began.
    Region(ScopeId),
}

/// Who made a task, and when.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Made {
    /// The piece; none if unknown.
    pub by: Option<u64>,
    pub at: u64,
    /// How long that piece had run.
    pub running: u64,
}

/// What is known of a piece when it begins.
#[derive(Debug)]
pub(crate) struct Opened {
    pub kind: PieceKind,
    pub made: Made,
    pub waited: Option<Waited>,
    /// The group it belongs to, or that was waited for; 0 if none.
    pub group: u64,
    pub needs: Vec<Need>,
}

/// A piece that has not ended.
#[derive(Debug)]
pub(crate) struct OpenPiece {
    pub number: u64,
    pub opened: Opened,
    pub start: u64,
    pub running: u64,
    pub system: u64,
    pub tracer: u64,
    pub asleep: u64,
    pub locked: u64,
    /// Records written while it ran.
    pub records: u64,
    /// Since when it runs; none if something else runs on top of it, or it waits.
    pub since: Option<u64>,
}

/// A task, a share, or what a thread begins with.
#[derive(Debug)]
pub(crate) struct Task {
    pub kind: PieceKind,
    pub site: u32,
    pub name: Option<TaskName>,
    pub parent: Option<TaskSlot>,
    /// The group or region that joins it.
    pub scope: ScopeId,
    /// The region it runs in.
    pub region: ScopeId,
    pub made: Made,
    /// Tasks it depends on, until it begins.
    pub predecessors: Vec<TaskSlot>,
    pub state: State,
    pub piece: Option<OpenPiece>,
    /// The last piece that ended, with how long it ran; number 0 if none has.
    pub last: Need,
    pub last_running: u64,
    pub waiting: Option<Waiting>,
    pub wait_since: u64,
    /// On whose stack it is.
    pub thread: usize,
    /// Groups it has opened and not closed.
    pub groups: Vec<ScopeId>,
    /// Tasks it made that have ended and were not waited for, with what else joins them. Number 0: another one
    /// stands for it.
    pub unjoined: Vec<(Need, ScopeId)>,
    /// Place of this task in that list of its parent.
    pub unjoined_at: usize,
    /// Tasks it made that have not ended.
    pub children: u32,
    /// References to it: by the stack it is on, by its children, and by dependences.
    pub held: u32,
    /// What its children depend on.
    pub siblings: Option<Box<Siblings>>,
    /// Barriers it has passed.
    pub passed: u64,
}

impl Task {
    pub(crate) fn new(kind: PieceKind, site: u32, region: ScopeId, made: Made) -> Task {
        Task {
            kind,
            site,
            name: None,
            parent: None,
            scope: region,
            region,
            made,
            predecessors: Vec::new(),
            state: State::Made,
            piece: None,
            last: Need::default(),
            last_running: 0,
            waiting: None,
            wait_since: 0,
            thread: 0,
            groups: Vec::new(),
            unjoined: Vec::new(),
            unjoined_at: 0,
            children: 0,
            held: 0,
            siblings: None,
            passed: 0,
        }
    }

    /// The piece it runs, or the last it ran, and how long that has run by then.
    pub(crate) fn present(&self) -> (Option<u64>, u64) {
        match &self.piece {
            Some(piece) => (Some(piece.number), piece.running),
            None => (Some(self.last.of).filter(|number| *number > 0), self.last_running),
        }
    }
}

/// All tasks that are kept.
pub(crate) struct Tasks {
    slots: Vec<Task>,
    free: Vec<TaskSlot>,
}

impl Tasks {
    pub(crate) fn new() -> Tasks {
        Tasks { slots: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn add(&mut self, task: Task) -> TaskSlot {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = task;
                slot
            }
            None => {
                self.slots.push(task);
                self.slots.len() as TaskSlot - 1
            }
        }
    }

    pub(crate) fn hold(&mut self, slot: TaskSlot) {
        self[slot].held += 1;
    }

    /// Takes back a reference.
    pub(crate) fn release(&mut self, slot: TaskSlot) {
        let task = &mut self[slot];
        task.held = task.held.saturating_sub(1);
        self.forget_if_over(slot);
    }

    /// Frees the slot of a task that has ended, if nothing refers to it.
    pub(crate) fn forget_if_over(&mut self, slot: TaskSlot) {
        let task = &self[slot];
        if task.state == State::Ended && task.held == 0 {
            // So that it is not given back twice.
            self[slot] = Task { held: u32::MAX, ..Task::new(PieceKind::Task, 0, OUTSIDE, Made::default()) };
            self.free.push(slot);
        }
    }
}

impl std::ops::Index<TaskSlot> for Tasks {
    type Output = Task;

    fn index(&self, slot: TaskSlot) -> &Task {
        &self.slots[slot as usize]
    }
}

impl std::ops::IndexMut<TaskSlot> for Tasks {
    fn index_mut(&mut self, slot: TaskSlot) -> &mut Task {
        &mut self.slots[slot as usize]
    }
}
