//! What runs on a thread: beginning, pausing and ending pieces, and taking tasks off the stack.

use crate::follow::Follower;
use crate::region::{OUTSIDE, ScopeId};
use crate::task::{Made, OpenPiece, Opened, State, TaskSlot, Waiting};
use crate::{Need, Piece, PieceKind, Waited};
use kizami_records::threading::WaitFor;

impl Follower {
    /// The top of a thread does not run from now on.
    pub(crate) fn pause(&mut self, thread: usize, at: u64) {
        if let Some(top) = self.threads[thread].stack.last().copied() {
            self.count(top, at);
        }
    }

    /// Brings the running time of the top up to date.
    pub(crate) fn count_up(&mut self, thread: usize, at: u64) {
        if let Some(top) = self.threads[thread].stack.last().copied()
            && self.count(top, at)
        {
            self.resume(thread, at);
        }
    }

    /// Adds up what a task has run; it does not run any more. Returns whether it did.
    fn count(&mut self, slot: TaskSlot, at: u64) -> bool {
        let task = &mut self.tasks[slot];
        let absences = &mut self.threads[task.thread].absences;
        let Some(piece) = task.piece.as_mut() else { return false };
        let Some(since) = piece.since.take() else { return false };
        let ran = absences.ran(since, at);
        piece.running += ran.running;
        piece.system += ran.system;
        piece.tracer += ran.tracer;
        piece.asleep += ran.asleep;
        true
    }

    /// The top of a thread goes on, unless it waits.
    pub(crate) fn resume(&mut self, thread: usize, at: u64) {
        let Some(top) = self.threads[thread].stack.last().copied() else { return };
        let task = &mut self.tasks[top];
        if task.waiting.is_none()
            && let Some(piece) = task.piece.as_mut()
        {
            piece.since.get_or_insert(at);
        }
    }

    /// A piece begins; if too many wait to be reported, the one that all wait for is cut.
    pub(crate) fn open_piece(&mut self, slot: TaskSlot, at: u64, mut opened: Opened) {
        let number = self.buffer.open(slot);
        opened.made.at = opened.made.at.min(at);
        self.tasks[slot].piece = Some(OpenPiece {
            number,
            opened,
            start: at,
            running: 0,
            system: 0,
            tracer: 0,
            asleep: 0,
            locked: 0,
            records: 0,
            since: None,
        });
        if self.buffer.len() > self.most_held
            && let Some(oldest) = self.buffer.oldest().filter(|oldest| *oldest != slot)
        {
            self.cut(oldest, at);
        }
    }

    /// Ends the piece of a task that has not ended, and goes on with another.
    fn cut(&mut self, slot: TaskSlot, at: u64) {
        let running = self.count(slot, at);
        self.close_piece(slot, at);
        self.continue_with(slot, at, (Waited::ForNothing, OUTSIDE), Vec::new());
        if running && let Some(piece) = self.tasks[slot].piece.as_mut() {
            piece.since = Some(at);
        }
    }

    /// A task goes on after it has waited, in a new piece.
    pub(crate) fn continue_with(
        &mut self,
        slot: TaskSlot,
        at: u64,
        (waited, group): (Waited, ScopeId),
        mut needs: Vec<Need>,
    ) {
        let task = &self.tasks[slot];
        let before = Some(task.last.of).filter(|number| *number > 0);
        let made = Made { by: before, at: task.last.at, running: task.last_running };
        needs.retain(|need| need.of > 0 && Some(need.of) != before);
        needs.sort_unstable();
        needs.dedup();
        let (kind, waited) = (PieceKind::Continued, Some(waited));
        self.open_piece(slot, at, Opened { kind, made, waited, group, needs });
    }

    /// What a group is called; 0 of regions, and of what is outside.
    pub(crate) fn group_number(&mut self, scope: ScopeId) -> u64 {
        match self.scopes.get(scope) {
            Some(found) if found.region.is_none() => scope,
            _ => OUTSIDE,
        }
    }

    /// The piece of a task ends, if it has one.
    pub(crate) fn close_piece(&mut self, slot: TaskSlot, at: u64) {
        self.count(slot, at);
        let task = &mut self.tasks[slot];
        let Some(piece) = task.piece.take() else { return };
        // A thread without further events ends at its last event, which may be before a cut.
        let at = at.max(piece.start);
        let recording = self.threads[task.thread].cost(piece.records).min(piece.running);
        task.last = Need { of: piece.number, at };
        task.last_running = piece.running;
        if let Some(region) = self.scopes.region(task.region) {
            region.ran(task.thread, piece.running - recording);
            region.run.locked += piece.locked;
            region.run.away += piece.system;
            region.run.asleep += piece.asleep;
            region.run.tracer += piece.tracer + recording;
        }
        let ended = Piece {
            number: piece.number,
            parent: piece.opened.made.by,
            kind: piece.opened.kind,
            waited: piece.opened.waited,
            group: piece.opened.group,
            site: task.site,
            thread: task.thread,
            created: piece.opened.made.at,
            start: piece.start,
            end: at,
            running: piece.running,
            parent_running: piece.opened.made.running,
            tracer: recording,
            asleep: piece.asleep.min(piece.running),
        };
        self.buffer.done(ended, piece.opened.needs);
    }

    /// The running task has ended.
    pub(crate) fn end(&mut self, thread: usize, at: u64) {
        let top = self.threads[thread].stack.last().copied();
        match top.filter(|top| self.tasks[*top].kind == PieceKind::Task) {
            Some(_) => self.pop(thread, at),
            None => self.followed.strange += 1,
        }
    }

    /// A share has ended, and with it whatever is above it.
    pub(crate) fn share_end(&mut self, thread: usize, at: u64) {
        let stack = &self.threads[thread].stack;
        match stack.iter().rposition(|slot| self.tasks[*slot].kind == PieceKind::Share) {
            Some(depth) => self.pop_to(thread, depth, at),
            None => self.followed.strange += 1,
        }
    }

    /// Takes off whatever lies from this depth on.
    pub(crate) fn pop_to(&mut self, thread: usize, depth: usize, at: u64) {
        while self.threads[thread].stack.len() > depth {
            self.pop(thread, at);
        }
    }

    /// Ends the top, and goes on with what is below.
    fn pop(&mut self, thread: usize, at: u64) {
        let Some(top) = self.threads[thread].stack.last().copied() else { return };
        self.close_piece(top, at);
        self.threads[thread].stack.pop();
        self.over(top);
        self.resume(thread, at);
    }

    /// A task has ended: its parent, or the task that joins it, is notified.
    fn over(&mut self, slot: TaskSlot) {
        match self.tasks[slot].kind {
            PieceKind::Share => self.share_over(slot),
            _ => self.leave_joins(slot),
        }
        let task = &mut self.tasks[slot];
        task.state = State::Ended;
        let (name, parent, scope, last) = (task.name.take(), task.parent, task.scope, task.last);
        if let Some(name) = name
            && self.names.get(&name) == Some(&slot)
        {
            self.names.remove(&name);
        }
        if task.kind == PieceKind::Task {
            if let Some(scope) = self.scopes.get(scope) {
                scope.live = scope.live.saturating_sub(1);
            }
            match parent.filter(|parent| self.tasks[*parent].state != State::Ended) {
                Some(parent) => {
                    self.tasks[slot].unjoined_at = self.tasks[parent].unjoined.len();
                    self.tasks[parent].unjoined.push((last, scope));
                }
                None => self.joined_later(scope, last),
            }
        }
        if let Some(parent) = parent {
            let children = &mut self.tasks[parent].children;
            *children = children.saturating_sub(1);
            self.tasks.release(parent);
        }
        self.tasks.release(slot);
    }

    /// The work of a share is over, though its thread may not have left the region: others join what it has made.
    pub(crate) fn share_over(&mut self, slot: TaskSlot) {
        self.leave_joins(slot);
        let (scope, last) = (self.tasks[slot].region, self.tasks[slot].last);
        if let Some(region) = self.scopes.region(scope)
            && let Some(place) = region.shares.iter().position(|share| *share == slot)
        {
            region.shares.swap_remove(place);
            region.ended_shares.push(last);
        }
        self.tasks[slot].state = State::Ended;
        self.tasks[slot].waiting = Some(Waiting::For(WaitFor::EndOfRegion));
    }
}
