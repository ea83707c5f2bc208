//! Waits of one-sided communication among some ranks of a window: who opens it to whom, and when the accesses are
//! over. Fences are collectives, see `collectives`; locks are in `locks`.
//!
//! A target opens its window to a group of origins (`MPI_Win_post`), which open it for access (`MPI_Win_start`),
//! access it and say when they are done (`MPI_Win_complete`); the target waits for all of them (`MPI_Win_wait`).
//! Each side names the other by its group, whose ranks are rows behind the call. The first post of a target that names
//! an origin belongs to the first start of that origin that names the target, and so on: both sides count.
//!
//! A library may let an origin wait for the post in the start, in the first access or in the complete. So all of
//! them look for it, and a call that ends before then has not waited.

use crate::channels::{Channel, Channels, Side};
use crate::step::{Tie, TieKind};
use kizami_model::kind::{Kind, WindowCall};
use kizami_model::{Call, ObjectKind, Op, Peer, Rank};
use kizami_trace::Definitions;
use rustc_hash::FxHashMap;

/// What a function does with a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowRole {
    None,
    Post,
    Start,
    Complete,
    /// Waits until all origins are done, or has seen that they are.
    Wait,
    Access,
    Lock,
    LockAll,
    Flush,
    Unlock,
}

impl WindowRole {
    pub(crate) fn of(op: Op) -> WindowRole {
        let Kind::Window(call) = op.kind() else { return WindowRole::None };
        match call {
            WindowCall::Post => WindowRole::Post,
            WindowCall::Start => WindowRole::Start,
            WindowCall::Complete => WindowRole::Complete,
            WindowCall::Wait | WindowCall::Test => WindowRole::Wait,
            WindowCall::Lock => WindowRole::Lock,
            WindowCall::LockAll => WindowRole::LockAll,
            WindowCall::Unlock => WindowRole::Unlock,
            WindowCall::Flush => WindowRole::Flush,
            WindowCall::Access => WindowRole::Access,
            WindowCall::New | WindowCall::Free | WindowCall::Fence | WindowCall::Ask => WindowRole::None,
        }
    }
}

/// The number of each window, the same on all its ranks, by its index among the objects: there each rank has one of
/// its own. Windows are made by all ranks of a communicator together, so the first of each rank belong together.
pub(crate) fn numbers(definitions: &Definitions) -> FxHashMap<u32, u32> {
    let mut made: FxHashMap<(Rank, u32), u32> = FxHashMap::default();
    let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut numbers = FxHashMap::default();
    for object in definitions.objects.iter().filter(|object| object.kind == ObjectKind::Window) {
        let Some(comm) = object.comm else { continue };
        let before = made.entry((object.rank, comm)).or_default();
        let next = known.len() as u32;
        numbers.insert(object.index, *known.entry((comm, *before)).or_insert(next));
        *before += 1;
    }
    numbers
}

/// What two ranks announce to each other about a window.
#[derive(Clone, Copy)]
pub(crate) enum About {
    Post,
    Complete,
    Release,
}

/// The channel on which one rank announces an event of a window to another. Tags below zero are no program's.
pub(crate) fn way(comm: u32, window: u32, asks: Rank, announces: Rank, about: About) -> Channel {
    const FIRST_TAG: i64 = i32::MIN as i64 + 1;
    const KINDS: i64 = 3;
    let tag = FIRST_TAG + KINDS * i64::from(window) + about as i64;
    Channel { comm, from: asks, to: announces, tag: i32::try_from(tag).unwrap_or(i32::MIN) }
}

/// Windows the rank being read has open.
#[derive(Default)]
pub(crate) struct Windows {
    /// By window: origins it is open to.
    exposed: FxHashMap<u32, Vec<Rank>>,
    /// By window: targets it is accessed at, with what looks for their posts.
    accessed: FxHashMap<u32, Vec<(Rank, Tie)>>,
}

impl Windows {
    /// A call on the window with this number, or one rank of the group of such a call. Ties of a rank of a group belong to
    /// its call. False if a rank of a group is not known.
    pub(crate) fn call(
        &mut self,
        role: WindowRole,
        window: u32,
        call: &Call,
        channels: &mut Channels,
        announces: &mut Vec<Tie>,
        awaits: &mut Vec<Tie>,
    ) -> bool {
        let Some(comm) = call.comm else { return true };
        let own = call.rank;
        let group = call.calls == 0;
        match (role, call.peer) {
            (WindowRole::Post, _) if !group => _ = self.exposed.insert(window, Vec::new()),
            (WindowRole::Start, _) if !group => _ = self.accessed.insert(window, Vec::new()),
            (WindowRole::Post, Peer::Rank(origin)) => {
                let (way, number) =
                    channels.count(way(comm, window, origin, own, About::Post), Side::Receiver);
                announces.push(Tie::new(TieKind::Posts, way, number, 0));
                self.exposed.entry(window).or_default().push(origin);
            }
            (WindowRole::Start, Peer::Rank(target)) => {
                let (way, number) = channels.count(way(comm, window, own, target, About::Post), Side::Sender);
                let tie = Tie::new(TieKind::LooksReady, way, number, 0);
                awaits.push(tie);
                self.accessed.entry(window).or_default().push((target, tie));
            }
            (WindowRole::Post | WindowRole::Start, Peer::Unknown) => return false,
            (WindowRole::Access, Peer::Rank(target)) => {
                let targets = self.accessed.get(&window).map_or(&[][..], Vec::as_slice);
                let one = targets.iter().find(|(other, _)| *other == target);
                awaits.extend(one.map(|(_, tie)| *tie));
            }
            (WindowRole::Complete, _) => {
                for (target, tie) in self.accessed.remove(&window).unwrap_or_default() {
                    let way = way(comm, window, target, own, About::Complete);
                    let (way, number) = channels.count(way, Side::Receiver);
                    announces.push(Tie::new(TieKind::Posts, way, number, 0));
                    awaits.push(tie.as_kind(TieKind::AwaitsReady));
                }
            }
            (WindowRole::Wait, _) => {
                for origin in self.exposed.remove(&window).unwrap_or_default() {
                    let way = way(comm, window, own, origin, About::Complete);
                    let (way, number) = channels.count(way, Side::Sender);
                    awaits.push(Tie::new(TieKind::AwaitsReady, way, number, 0));
                }
            }
            _ => {}
        }
        true
    }
}
