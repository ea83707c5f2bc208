//! What joins tasks: parallel regions and groups; and regions in the order in which they began.

use crate::task::TaskSlot;
use crate::{Listener, Need, RegionRun};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A region or a group; none has the number of another, ever.
pub(crate) type ScopeId = u64;

/// What is in no region.
pub(crate) const OUTSIDE: ScopeId = 0;

/// A region or a group.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// Tasks in it that have not ended.
    pub live: u64,
    /// Those that have ended, and that no other has waited for.
    pub ended: Vec<Need>,
    /// If it is a region.
    pub region: Option<Box<Region>>,
}

/// What is known of a region while it runs.
#[derive(Debug, Default)]
pub(crate) struct Region {
    pub run: RegionRun,
    /// The piece that began it, and how long that had run.
    pub begun_by: Option<u64>,
    pub begun_running: u64,
    /// Shares that have not ended.
    pub shares: Vec<TaskSlot>,
    pub ended_shares: Vec<Need>,
    /// How many barriers were passed, and the piece that stands for all that came before the last one.
    pub barriers: u64,
    pub joined: Need,
    /// How long each thread ran.
    by_thread: Vec<(usize, u64)>,
    /// Its place in the order of regions.
    order: u64,
}

impl Region {
    /// One that begins: the piece that does so, and how long that has run.
    pub(crate) fn new(run: RegionRun, begun_by: Option<u64>, begun_running: u64) -> Region {
        Region { run, begun_by, begun_running, ..Region::default() }
    }

    /// A thread ran so long in it.
    pub(crate) fn ran(&mut self, thread: usize, length: u64) {
        self.run.running = self.run.running.saturating_add(length);
        match self.by_thread.iter_mut().find(|(other, _)| *other == thread) {
            Some((_, sum)) => *sum = sum.saturating_add(length),
            None => self.by_thread.push((thread, length)),
        }
    }

    fn ended(&self, end: u64) -> RegionRun {
        let longest = self.by_thread.iter().map(|(_, sum)| *sum).max().unwrap_or(0);
        RegionRun { end: end.max(self.run.start), longest, ..self.run }
    }
}

/// All regions and groups that are open.
pub(crate) struct Scopes {
    open: FxHashMap<ScopeId, Scope>,
    by_number: FxHashMap<u64, ScopeId>,
    last: ScopeId,
    /// Regions in the order in which they began, from the first that was not reported; none: not ended.
    order: VecDeque<Option<RegionRun>>,
    reported: u64,
}

impl Scopes {
    pub(crate) fn new() -> Scopes {
        Scopes {
            open: FxHashMap::default(),
            by_number: FxHashMap::default(),
            last: OUTSIDE,
            order: VecDeque::new(),
            reported: 0,
        }
    }

    pub(crate) fn open_group(&mut self) -> ScopeId {
        self.last += 1;
        self.open.insert(self.last, Scope::default());
        self.last
    }

    /// A region begins. One of the same number that has not ended is forgotten by that number.
    pub(crate) fn open_region(&mut self, mut region: Region) -> ScopeId {
        self.last += 1;
        region.order = self.reported + self.order.len() as u64;
        self.order.push_back(None);
        self.by_number.insert(region.run.region, self.last);
        self.open.insert(self.last, Scope { region: Some(Box::new(region)), ..Scope::default() });
        self.last
    }

    pub(crate) fn get(&mut self, id: ScopeId) -> Option<&mut Scope> {
        self.open.get_mut(&id)
    }

    pub(crate) fn region(&mut self, id: ScopeId) -> Option<&mut Region> {
        self.open.get_mut(&id)?.region.as_deref_mut()
    }

    /// The open region of this number.
    pub(crate) fn by_number(&self, number: u64) -> Option<ScopeId> {
        self.by_number.get(&number).copied()
    }

    /// It has ended; returns what was in it.
    pub(crate) fn close(&mut self, id: ScopeId, end: u64) -> Option<Scope> {
        let scope = self.open.remove(&id)?;
        if let Some(region) = &scope.region {
            if self.by_number.get(&region.run.region) == Some(&id) {
                self.by_number.remove(&region.run.region);
            }
            if let Some(place) = self.order.get_mut((region.order - self.reported) as usize) {
                *place = Some(region.ended(end));
            }
        }
        Some(scope)
    }

    /// Whatever is open ends, because there are no more events.
    pub(crate) fn close_all(&mut self, end: u64) {
        let open: Vec<ScopeId> = self.open.keys().copied().collect();
        open.into_iter().for_each(|id| _ = self.close(id, end));
    }

    /// Tells of regions that ended, as long as those that began before them have.
    pub(crate) fn report<L: Listener>(&mut self, listener: &mut L) -> Result<(), L::Error> {
        while let Some(Some(run)) = self.order.front() {
            listener.region(run)?;
            self.order.pop_front();
            self.reported += 1;
        }
        Ok(())
    }
}
