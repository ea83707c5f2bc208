//! Acts on the one window all ranks have: who waits for whom in them.
//!
//! Posts, completes, accesses and unlocks do not wait. A start waits for the posts of its targets, a wait for the
//! completes of its origins, and a lock for the unlock of the turn before.

use super::{Script, Walker};
use crate::call;
use kizami_model::{Call, Peer, Rank};
use std::collections::HashMap;

/// What is done with the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnWindow {
    /// `MPI_Win_post` to these origins.
    Post(Vec<u32>),
    /// `MPI_Win_start` at these targets: waits for their posts.
    Start(Vec<u32>),
    /// `MPI_Put` to a target.
    Put(u32),
    /// `MPI_Win_complete`.
    Complete,
    /// `MPI_Win_wait`: waits for the completes of all origins of the last post.
    AwaitCompletes,
    /// An exclusive `MPI_Win_lock` of a target, as number to have it: waits for the unlock of the turn before.
    Lock(u32, usize),
    /// `MPI_Win_unlock` of a target by the one whose turn it is.
    Unlock(u32, usize),
}

/// `tag` of an exclusive lock.
const EXCLUSIVE: i32 = 1;

/// What is known of the window.
#[derive(Default)]
pub(super) struct Window {
    /// When each target opened it to each origin.
    posted: HashMap<(u32, u32), Vec<i64>>,
    /// When each origin was done with each target.
    completed: HashMap<(u32, u32), Vec<i64>>,
    /// How often each origin asked for the post of each target, and each target for the complete of each origin.
    started: HashMap<(u32, u32), usize>,
    awaited: HashMap<(u32, u32), usize>,
    /// Targets of each origin, and origins of each target, that are under way.
    accessed: HashMap<u32, Vec<u32>>,
    exposed: HashMap<u32, Vec<u32>>,
    /// When the lock of each target was let go, by turn.
    released: HashMap<(u32, usize), i64>,
}

impl Script {
    /// The rows of an act on the window; none if a rank has to be waited for.
    pub(super) fn on_window(
        &self,
        rank: u32,
        walker: &Walker,
        act: &OnWindow,
        window: &mut Window,
    ) -> Option<Vec<Call>> {
        let start_ns = walker.now_ns;
        let quick_ns = start_ns + self.costs.call_ns;
        let after = |ns: i64| quick_ns.max(ns + self.costs.message_ns);
        let one = |name: &str, peer: Option<u32>, end_ns: i64| {
            let mut row = call(name, rank, start_ns, end_ns);
            // The only window of each rank.
            row.object = Some(rank);
            row.peer = peer.map_or(Peer::None, |peer| Peer::Rank(Rank(peer)));
            row
        };
        let group = |name: &str, ranks: &[u32], end_ns: i64| {
            let parts = ranks.iter().map(|peer| Call { calls: 0, ..one(name, Some(*peer), start_ns) });
            std::iter::once(one(name, None, end_ns)).chain(parts).collect()
        };
        Some(match act {
            OnWindow::Post(origins) => {
                for origin in origins {
                    window.posted.entry((rank, *origin)).or_default().push(start_ns);
                }
                window.exposed.insert(rank, origins.clone());
                group("MPI_Win_post", origins, quick_ns)
            }
            OnWindow::Start(targets) => {
                let mut end_ns = quick_ns;
                for target in targets {
                    let number = window.started.get(&(rank, *target)).copied().unwrap_or(0);
                    end_ns = end_ns.max(after(*window.posted.get(&(*target, rank))?.get(number)?));
                }
                for target in targets {
                    *window.started.entry((rank, *target)).or_default() += 1;
                }
                window.accessed.insert(rank, targets.clone());
                group("MPI_Win_start", targets, end_ns)
            }
            OnWindow::Put(target) => vec![one("MPI_Put", Some(*target), quick_ns)],
            OnWindow::Complete => {
                for target in window.accessed.remove(&rank).unwrap_or_default() {
                    window.completed.entry((rank, target)).or_default().push(start_ns);
                }
                vec![one("MPI_Win_complete", None, quick_ns)]
            }
            OnWindow::AwaitCompletes => {
                let origins = window.exposed.get(&rank).cloned().unwrap_or_default();
                let mut end_ns = quick_ns;
                for origin in &origins {
                    let number = window.awaited.get(&(rank, *origin)).copied().unwrap_or(0);
                    end_ns = end_ns.max(after(*window.completed.get(&(*origin, rank))?.get(number)?));
                }
                for origin in &origins {
                    *window.awaited.entry((rank, *origin)).or_default() += 1;
                }
                vec![one("MPI_Win_wait", None, end_ns)]
            }
            OnWindow::Lock(target, turn) => {
                let before = turn.checked_sub(1).map(|before| window.released.get(&(*target, before)));
                let end_ns = match before {
                    None => quick_ns,
                    Some(released) => after(*released?),
                };
                vec![Call { tag: Some(EXCLUSIVE), ..one("MPI_Win_lock", Some(*target), end_ns) }]
            }
            OnWindow::Unlock(target, turn) => {
                window.released.insert((*target, *turn), start_ns);
                vec![one("MPI_Win_unlock", Some(*target), quick_ns)]
            }
        })
    }
}
