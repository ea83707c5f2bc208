//! Regions of a simulated runtime: teams of threads, their shares, and barriers.
//!
//! A region that was recorded as wide as the widest gets as many threads as there are processors; a narrower one keeps its
//! width, since the program asked for it. Shares beyond the number of threads are run one after the other, and threads without
//! a share have nothing to do but tasks: shares are those that were recorded, and it is unknown how a loop would be shared out
//! among others. Regions inside regions have threads of their own.

use super::engine::{Engine, Frame, Rules, Status, Team, Waits};
use super::program::NO_INDEX;

impl<R: Rules> Engine<'_, R> {
    /// The top of a thread begins a region.
    pub(super) fn begin_region(&mut self, thread: u32, region: u32) {
        let program = self.state.program;
        let shares = program.shares(region);
        let found = program.regions[region as usize];
        let size = match found.is_nested {
            true => found.shares,
            false if found.shares >= self.widest => self.processors,
            false => found.shares.min(self.processors),
        };
        let team = self.state.teams.len() as u32;
        let mut threads = vec![thread];
        while threads.len() < size.max(1) as usize {
            threads.push(self.spare.pop().unwrap_or_else(|| self.state.add_thread()));
        }
        let own = &mut self.state.threads[thread as usize];
        let place = own.stack.len() - 1;
        own.stack[place] = Frame { waits: Waits::Region, ..own.stack[place] };
        let before = (own.team, own.index, own.base);
        for (index, member) in (0..).zip(&threads) {
            let member = &mut self.state.threads[*member as usize];
            (member.team, member.index, member.base) = (team, index, member.stack.len());
            // The last is taken first.
            member.shares.extend(shares.iter().skip(index as usize).step_by(threads.len()).rev());
        }
        self.rules.begin(team, threads.len());
        for member in &threads[1..] {
            self.state.notify_of_region(*member);
        }
        let shares = shares.len() as u32;
        self.state.teams.push(Team { threads, before, shares, arrived: Vec::new(), ended: 0, live: 0 });
    }

    /// A share waits at a barrier.
    pub(super) fn arrive(&mut self, thread: u32, share: u32) {
        self.state.threads[thread as usize].stack.pop();
        let team = self.state.team_of(thread);
        self.state.teams[team as usize].arrived.push((thread, share));
        self.check(team);
    }

    /// Lets a barrier pass, or a region end, if all shares are there and all tasks have ended.
    pub(super) fn check(&mut self, team: u32) {
        let found = &mut self.state.teams[team as usize];
        if found.live > 0 || (found.arrived.len() as u32) + found.ended < found.shares {
            return;
        }
        if found.ended == found.shares {
            self.end_region(team);
            return;
        }
        for (thread, share) in std::mem::take(&mut found.arrived) {
            self.state.threads[thread as usize].shares.insert(0, share);
            if self.state.is_idle(thread) {
                self.rules.roused(&self.state, thread);
                self.state.notify_of_pass(thread);
            }
        }
    }

    fn end_region(&mut self, team: u32) {
        let threads = std::mem::take(&mut self.state.teams[team as usize].threads);
        let (outer, index, base) = self.state.teams[team as usize].before;
        for (place, thread) in threads.iter().copied().enumerate() {
            let was_idle = self.state.is_idle(thread);
            if was_idle {
                self.rules.roused(&self.state, thread);
            }
            let member = &mut self.state.threads[thread as usize];
            if place > 0 {
                (member.team, member.base, member.status) = (NO_INDEX, 0, Status::Off);
                member.stamp += 1;
                self.spare.push(thread);
                continue;
            }
            (member.team, member.index, member.base) = (outer, index, base);
            let top = member.stack.len() - 1;
            member.stack[top].waits = Waits::No;
            if was_idle {
                self.state.notify_of_pass(thread);
            }
        }
    }
}
