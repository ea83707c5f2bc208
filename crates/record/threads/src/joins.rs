//! Waiting: what a task waits for ends its piece, and the piece after it needs all that was waited for.
//!
//! Only tasks that no other has joined are listed: a task that its parent has waited for is behind that parent, and one on
//! which a sibling depends is behind that sibling. At a barrier all shares wait for the same things, so a piece without length
//! stands for them.

use crate::follow::Follower;
use crate::region::{OUTSIDE, ScopeId};
use crate::task::{State, TaskSlot, Waiting};
use crate::{Need, Piece, PieceKind, Waited};
use kizami_records::threading::WaitFor;

impl Follower {
    /// The running task waits.
    pub(crate) fn wait(&mut self, thread: usize, at: u64, what: WaitFor) {
        let Some(top) = self.threads[thread].stack.last().copied() else { return };
        if self.tasks[top].waiting.is_some() {
            self.followed.strange += 1;
            return;
        }
        self.pause(thread, at);
        let is_share = self.tasks[top].kind == PieceKind::Share;
        let task = &mut self.tasks[top];
        (task.waiting, task.wait_since) = (Some(Waiting::For(what)), at);
        let joins = match what {
            WaitFor::Lock => false,
            WaitFor::Children => task.children > 0 || task.unjoined.iter().any(|(need, _)| need.of > 0),
            WaitFor::Barrier | WaitFor::EndOfRegion => is_share,
            WaitFor::Group => {
                let group = task.groups.last().copied().unwrap_or(OUTSIDE);
                let own = task.unjoined.iter().any(|(need, scope)| *scope == group && need.of > 0);
                own || self.scopes.get(group).is_some_and(|group| group.live > 0 || !group.ended.is_empty())
            }
        };
        if joins {
            self.close_piece(top, at);
        }
        if is_share && what == WaitFor::EndOfRegion {
            self.share_over(top);
        }
    }

    /// The running task has waited.
    pub(crate) fn waited(&mut self, thread: usize, at: u64, what: WaitFor) {
        let stack = &self.threads[thread].stack;
        let waits = |slot: &TaskSlot| self.tasks[*slot].waiting == Some(Waiting::For(what));
        let Some(depth) = stack.iter().rposition(waits) else {
            self.followed.strange += u64::from(!stack.is_empty());
            return;
        };
        let slot = stack[depth];
        self.pop_to(thread, depth + 1, at);
        if what == WaitFor::EndOfRegion && self.tasks[slot].kind == PieceKind::Share {
            // Its work is over; the thread has yet to leave.
            return;
        }
        let group = self.tasks[slot].groups.last().copied().filter(|_| what == WaitFor::Group);
        let (waited, needs) = match what {
            WaitFor::Children => (Waited::ForChildren, self.children_of(slot)),
            WaitFor::Group => (Waited::ForGroup, self.group_of(slot, at)),
            WaitFor::Barrier => (Waited::AtBarrier, self.barrier_of(slot, at)),
            WaitFor::EndOfRegion | WaitFor::Lock => (Waited::ForNothing, Vec::new()),
        };
        let task = &mut self.tasks[slot];
        task.waiting = None;
        let since = task.wait_since;
        match task.piece.as_mut() {
            // There was nothing to wait for but a lock.
            Some(piece) if what == WaitFor::Lock => piece.locked += at.saturating_sub(since),
            Some(_) => {}
            None => self.continue_with(slot, at, (waited, group.unwrap_or(OUTSIDE)), needs),
        }
        self.resume(thread, at);
    }

    /// What a task made and waited for.
    fn children_of(&mut self, slot: TaskSlot) -> Vec<Need> {
        let task = &mut self.tasks[slot];
        let unjoined = std::mem::take(&mut task.unjoined);
        if task.children == 0 {
            self.forget_dependences(slot);
        }
        unjoined.into_iter().map(|(need, _)| need).collect()
    }

    /// All of the group that a task opened last.
    fn group_of(&mut self, slot: TaskSlot, at: u64) -> Vec<Need> {
        let task = &mut self.tasks[slot];
        let Some(group) = task.groups.pop() else {
            self.followed.strange += 1;
            return Vec::new();
        };
        let mut needs = Vec::new();
        task.unjoined.retain(|(need, scope)| {
            let of_group = *scope == group;
            needs.extend(of_group.then_some(*need));
            !of_group
        });
        if let Some(scope) = self.scopes.close(group, at) {
            needs.extend(scope.ended);
            self.forget_cancelled(group, scope.live);
        }
        needs
    }

    /// The piece that stands for all that came before a barrier.
    fn barrier_of(&mut self, slot: TaskSlot, at: u64) -> Vec<Need> {
        let (scope, passed) = (self.tasks[slot].region, self.tasks[slot].passed);
        let Some(region) = self.scopes.region(scope).filter(|_| self.tasks[slot].kind == PieceKind::Share)
        else {
            return Vec::new();
        };
        if region.barriers <= passed {
            region.barriers = passed + 1;
            let joined = self.join(slot, scope, at);
            if let Some(region) = self.scopes.region(scope) {
                region.joined = joined;
            }
        }
        self.forget_dependences(slot);
        let region = self.scopes.region(scope);
        let (joined, barriers) =
            region.map_or((Need::default(), 0), |region| (region.joined, region.barriers));
        self.tasks[slot].passed = barriers;
        vec![joined]
    }

    /// Makes that piece: after all shares that wait, and all tasks that ended.
    fn join(&mut self, slot: TaskSlot, scope: ScopeId, at: u64) -> Need {
        let ended = self.scopes.get(scope).map(|scope| std::mem::take(&mut scope.ended));
        let mut needs = ended.unwrap_or_default();
        let shares = self.scopes.region(scope).map_or(Vec::new(), |region| region.shares.clone());
        let mut last = (self.tasks[slot].last, self.tasks[slot].last_running);
        for share in shares {
            let task = &mut self.tasks[share];
            needs.extend(task.unjoined.drain(..).map(|(need, _)| need));
            if task.piece.is_none() {
                needs.push(task.last);
                last = last.max((task.last, task.last_running));
            }
        }
        let (before, running) = last;
        needs.retain(|need| need.of > 0 && need.of != before.of);
        needs.sort_unstable();
        needs.dedup();
        let number = self.buffer.open(slot);
        let joined = Piece {
            number,
            parent: Some(before.of).filter(|number| *number > 0),
            kind: PieceKind::Continued,
            waited: Some(Waited::Together),
            group: OUTSIDE,
            site: self.tasks[slot].site,
            thread: self.tasks[slot].thread,
            created: before.at.min(at),
            start: at,
            end: at,
            running: 0,
            parent_running: running,
            tracer: 0,
            asleep: 0,
        };
        self.buffer.done(joined, needs);
        Need { of: number, at }
    }

    /// The region that a task began has ended.
    pub(crate) fn region_end(&mut self, thread: usize, at: u64) {
        let stack = &self.threads[thread].stack;
        let begun = |slot: &TaskSlot| match self.tasks[*slot].waiting {
            Some(Waiting::Region(scope)) => Some(scope),
            _ => None,
        };
        let found =
            stack.iter().enumerate().rev().find_map(|(depth, slot)| Some((depth, *slot, begun(slot)?)));
        let Some((depth, slot, scope)) = found else {
            self.followed.strange += 1;
            return;
        };
        self.pop_to(thread, depth + 1, at);
        let mut needs = Vec::new();
        if let Some(ended) = self.scopes.close(scope, at) {
            needs.extend(ended.ended);
            needs.extend(ended.region.into_iter().flat_map(|region| region.ended_shares));
            self.forget_cancelled(scope, ended.live);
        }
        self.tasks[slot].waiting = None;
        self.continue_with(slot, at, (Waited::ForRegion, OUTSIDE), needs);
        self.resume(thread, at);
    }

    /// What a task that begins depends on.
    pub(crate) fn predecessors_of(&mut self, slot: TaskSlot) -> Vec<Need> {
        let predecessors = std::mem::take(&mut self.tasks[slot].predecessors);
        let (parent, scope) = (self.tasks[slot].parent, self.tasks[slot].scope);
        let mut needs = Vec::new();
        for other in predecessors {
            let before = &self.tasks[other];
            let (last, at) = (before.last, before.unjoined_at);
            if before.state == State::Ended && last.of > 0 {
                needs.push(last);
                // Whoever waits for this one need not wait for that one.
                let listed = parent.and_then(|parent| self.tasks[parent].unjoined.get_mut(at));
                if let Some(listed) = listed.filter(|listed| **listed == (last, scope)) {
                    listed.0.of = 0;
                }
            }
            self.tasks.release(other);
        }
        needs.sort_unstable();
        needs
    }

    /// Somebody who joins this scope will join it.
    pub(crate) fn joined_later(&mut self, scope: ScopeId, need: Need) {
        if let Some(scope) = self.scopes.get(scope).filter(|_| need.of > 0) {
            scope.ended.push(need);
        }
    }

    /// A task ends: what it has not joined is left to others.
    pub(crate) fn leave_joins(&mut self, slot: TaskSlot) {
        let task = &mut self.tasks[slot];
        let (unjoined, groups, own) =
            (std::mem::take(&mut task.unjoined), std::mem::take(&mut task.groups), task.scope);
        for (need, scope) in unjoined {
            self.joined_later(scope, need);
        }
        for group in groups.into_iter().rev() {
            self.followed.strange += 1;
            let ended = self.scopes.close(group, 0).map_or(Vec::new(), |group| group.ended);
            ended.into_iter().for_each(|need| self.joined_later(own, need));
        }
        self.forget_dependences(slot);
    }

    /// All that a task's children depend on has ended.
    fn forget_dependences(&mut self, slot: TaskSlot) {
        if let Some(siblings) = self.tasks[slot].siblings.take() {
            siblings.into_references().for_each(|other| self.tasks.release(other));
        }
    }

    /// Forgets tasks of a group or region that is over: they were cancelled and will never begin.
    fn forget_cancelled(&mut self, scope: ScopeId, live: u64) {
        if live == 0 {
            return;
        }
        let tasks = &self.tasks;
        let cancelled = |slot: &TaskSlot| tasks[*slot].scope == scope && tasks[*slot].state == State::Made;
        let found: Vec<TaskSlot> = self.names.values().copied().filter(cancelled).collect();
        for slot in found {
            if let Some(name) = self.tasks[slot].name {
                self.names.remove(&name);
            }
            self.tasks[slot].state = State::Ended;
            let predecessors = std::mem::take(&mut self.tasks[slot].predecessors);
            predecessors.into_iter().for_each(|other| self.tasks.release(other));
            if let Some(parent) = self.tasks[slot].parent {
                let children = &mut self.tasks[parent].children;
                *children = children.saturating_sub(1);
                self.tasks.release(parent);
            }
            self.tasks.forget_if_over(slot);
        }
    }
}
