//! Made-up runs with exactly known times, for tests and measurements of the crates that read traces.
//!
//! [`Stencil`] is a halo exchange of any size that can be made rank by rank, [`Script`] a small program written down
//! call by call, and [`Jumble`] a program that is made up at random. In all of them every time follows from rules a
//! reader can check by hand: messages take what [`Costs`] says and nothing else takes time but computation.
//! [`definitions`] says who is in which communicator, [`definitions_with_windows`] also which windows there are. [`segments`] writes raw segments as a
//! traced process does, and [`process_group`] plays a group of processes. No user ever sees these runs.
//! [`schemas`] compares and applies the JSON Schemas of the book. [`timing`] is for tests of real runs, whose times are only measured.

use kizami_rng::SplitMix64;
mod jumble;
pub mod process_group;
pub mod schemas;
mod script;
pub mod segments;
mod stencil;
pub mod timing;

pub use jumble::{Jumble, Jumbled};
pub use script::{Act, OnWindow, Script};
pub use stencil::Stencil;

use kizami_model::{Call, CommKind, Moment, ObjectKind, Op, Rank, ThreadIndex};
use kizami_trace::{CommIdentity, Communicator, Definitions, Object};

/// What things take in a made-up run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A call that does not wait.
    pub call_ns: i64,
    /// From the start of a send to the end of a receive that waits for it.
    pub message_ns: i64,
    /// From the moment the last one enters a collective to its end.
    pub collective_ns: i64,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs { call_ns: 500, message_ns: 2_000, collective_ns: 5_000 }
    }
}

/// A row of the function with this name, on communicator 0.
///
/// # Panics
/// If there is no such function.
pub fn call(name: &str, rank: u32, start_ns: i64, end_ns: i64) -> Call {
    row(op(name), rank, start_ns, end_ns)
}

/// The function with this name.
///
/// # Panics
/// If there is no such function.
pub fn op(name: &str) -> Op {
    Op::by_name(name).unwrap_or_else(|| panic!("there is no function {name}"))
}

/// The same for a function that was looked up before.
pub fn row(op: Op, rank: u32, start_ns: i64, end_ns: i64) -> Call {
    let (start, end) = (Moment(start_ns), Moment(end_ns));
    Call { comm: Some(0), ..Call::new(Rank(rank), ThreadIndex(0), op, start, end) }
}

/// Definitions of communicators with these members; the first is the world.
pub fn definitions(comms: &[Vec<u32>]) -> Definitions {
    let communicator = |(index, members): (u32, &Vec<u32>)| Communicator {
        index,
        identity: CommIdentity(u64::from(index) + 1),
        parent: (index > 0).then_some(0),
        kind: if index == 0 { CommKind::World } else { CommKind::Split },
        name: None,
        size: members.len() as u32,
        members: members.iter().map(|rank| Some(Rank(*rank))).collect(),
        remote_members: Vec::new(),
        dims: Vec::new(),
        periodic: Vec::new(),
    };
    Definitions { communicators: (0..).zip(comms).map(communicator).collect(), ..Definitions::default() }
}

/// The same with so many windows on the first communicator. Each rank has its own number for a window: that of
/// window `w` of rank `r` is `w * ranks + r`.
pub fn definitions_with_windows(comms: &[Vec<u32>], windows: u32) -> Definitions {
    let ranks = comms[0].len() as u32;
    let object = |index: u32| Object {
        index,
        rank: Rank(comms[0][(index % ranks) as usize]),
        kind: ObjectKind::Window,
        name: String::new(),
        bytes: 0,
        comm: Some(0),
    };
    Definitions { objects: (0..windows * ranks).map(object).collect(), ..definitions(comms) }
}

/// Mostly around half of `usual`, sometimes several times as much: as real durations scatter.
pub fn scattered(random: &mut SplitMix64, usual: u64) -> u64 {
    let common = (random.below(usual) + random.below(usual)) / 2;
    if random.below(64) == 0 { common + random.below(8 * usual) } else { common }
}
