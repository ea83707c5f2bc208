//! Locks of windows: who waited until another let go.
//!
//! Who had a lock first is not said by any rank alone, so it is found when all have been read. Of two who cannot have
//! it at one time, the one whose unlock returned first had it first. Who had it later cannot have had it before the
//! last of those before it began to unlock: if that happened inside one of its calls, that call waited for it. It need
//! not be the lock: a library may ask for the lock in the first access, the flush or the unlock. It is taken to be the
//! one that waited longest; of the calls between lock and unlock only the longest is looked at.
//!
//! Only waits that did happen are tied. Memory: one entry for each time a lock was held.

use crate::channels::{Channels, Side};
use crate::step::{Tie, TieKind};
use crate::windows::{About, WindowRole, way};
use kizami_model::{Call, Length, Moment, Peer, Rank};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// `tag` of an exclusive lock.
const EXCLUSIVE: i32 = 1;

/// A call that may have waited.
#[derive(Clone, Copy)]
struct Candidate {
    step: u64,
    start: Moment,
    end: Moment,
}

impl Candidate {
    fn length(&self) -> Length {
        self.end.saturating_since(self.start)
    }
}

/// One time a lock was held.
#[derive(Clone, Copy)]
struct Held {
    window: u32,
    comm: u32,
    /// The rank whose memory it is for; none for that of all.
    target: Option<Rank>,
    origin: Rank,
    exclusive: bool,
    lock: Candidate,
    /// The longest call under it.
    access: Candidate,
    unlock: Candidate,
}

/// All locks of a run.
#[derive(Default)]
pub(crate) struct Locks {
    /// Those the rank being read has, by window and target.
    open: FxHashMap<(u32, Option<Rank>), Held>,
    held: Vec<Held>,
    rank: Option<Rank>,
}

/// Unlocks: when each began, and whose it was.
type Releases = BTreeSet<(Moment, usize)>;

impl Locks {
    /// A call on the window with this number, with its step. Calls must come rank by rank, in the order of their start.
    pub(crate) fn call(&mut self, role: WindowRole, window: u32, call: &Call, step: u64) {
        if self.rank != Some(call.rank) {
            // A lock that was never released delayed no rank that went on.
            self.open.clear();
            self.rank = Some(call.rank);
        }
        let Some(comm) = call.comm else { return };
        let target = match call.peer {
            Peer::Rank(target) => Some(target),
            _ => None,
        };
        let this = Candidate { step, start: Moment(call.start.0), end: Moment(call.end.0) };
        match role {
            WindowRole::Lock | WindowRole::LockAll => {
                let exclusive = call.tag == Some(EXCLUSIVE) && role == WindowRole::Lock;
                let (origin, lock) = (call.rank, this);
                let held = Held { window, comm, target, origin, exclusive, lock, access: lock, unlock: lock };
                self.open.insert((window, target), held);
            }
            WindowRole::Access | WindowRole::Flush => {
                // A flush without a rank flushes all; one with a rank may do so under the lock of all.
                for ((of, whose), held) in &mut self.open {
                    let concerned = target.is_none() || whose.is_none() || *whose == target;
                    if *of == window && concerned && this.length() > held.access.length() {
                        held.access = this;
                    }
                }
            }
            WindowRole::Unlock => {
                let held = self.open.remove(&(window, target));
                self.held.extend(held.map(|held| Held { unlock: this, ..held }));
            }
            _ => {}
        }
    }

    /// Adds those of ranks that another has read, whose steps lie so many further behind here.
    pub(crate) fn join(&mut self, other: Locks, steps: u64) {
        let behind = |call: Candidate| Candidate { step: call.step + steps, ..call };
        self.held.extend(other.held.into_iter().map(|held| Held {
            lock: behind(held.lock),
            access: behind(held.access),
            unlock: behind(held.unlock),
            ..held
        }));
    }

    /// The ties between those who let go and those who waited for that, by step.
    pub(crate) fn ties(mut self, channels: &mut Channels) -> Vec<(u64, Tie)> {
        let mut ties = Vec::new();
        // Of each window the locks of all first.
        self.held.sort_by_key(|held| (held.window, held.target, held.unlock.end, held.unlock.step));
        for of_window in self.held.chunk_by(|a, b| a.window == b.window) {
            if !of_window.iter().any(|held| held.exclusive) {
                continue;
            }
            let of_all = of_window.partition_point(|held| held.target.is_none());
            let (of_all, of_one) = of_window.split_at(of_all);
            for of_target in of_one.chunk_by(|a, b| a.target == b.target) {
                let mut together = [of_target, of_all].concat();
                if !of_all.is_empty() {
                    together.sort_by_key(|held| (held.unlock.end, held.unlock.step));
                }
                contended(&together, channels, &mut ties);
            }
        }
        ties
    }
}

/// Finds who waited among those who held locks of one target, in the order in which they let go.
fn contended(held: &[Held], channels: &mut Channels, ties: &mut Vec<(u64, Tie)>) {
    // When each began to unlock, and which it was.
    let (mut all, mut exclusive): (Releases, Releases) = (BTreeSet::new(), BTreeSet::new());
    for (index, later) in held.iter().enumerate() {
        let before = if later.exclusive { &all } else { &exclusive };
        let waits = [later.lock, later.access, later.unlock].into_iter().filter_map(|call| {
            let within = (call.start + Length(1), 0)..=(call.end, usize::MAX);
            let inside = (call.start < call.end).then(|| before.range(within).next_back()).flatten();
            inside.map(|(release, earlier)| (*release - call.start, call.step, *earlier))
        });
        // One of the calls has requested the lock: the one that waited longest.
        let longest = waits.max_by_key(|(wait, _, _)| *wait);
        if let Some((_, step, earlier)) =
            longest.filter(|(.., earlier)| held[*earlier].origin != later.origin)
        {
            let earlier = &held[earlier];
            let way = way(later.comm, later.window, later.origin, earlier.origin, About::Release);
            channels.count(way, Side::Receiver);
            let (way, number) = channels.count(way, Side::Sender);
            ties.push((earlier.unlock.step, Tie::new(TieKind::Posts, way, number, 0)));
            ties.push((step, Tie::new(TieKind::AwaitsReady, way, number, 0)));
        }
        all.insert((later.unlock.start, index));
        if later.exclusive {
            exclusive.insert((later.unlock.start, index));
        }
    }
}
