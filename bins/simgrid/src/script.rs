//! What each rank does, call by call, in the words of SimGrid's MPI: ranks within their communicators, requests as places
//! in a list, bytes.
//!
//! A script has one step for each row of its rank, in the same order. It knows nothing of the library that plays it.

use kizami_model::kind::{CollectiveKind, SendMode};
use std::ops::Range;

/// A message, from one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Index of the communicator.
    pub comm: u32,
    /// The other side, as a rank of that communicator.
    pub peer: i32,
    /// Its tag.
    pub tag: i32,
    /// Its size.
    pub bytes: i32,
}

/// A rank's part in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Which.
    pub kind: CollectiveKind,
    /// Index of the communicator.
    pub comm: u32,
    /// The root as a rank of that communicator; 0 if there is none.
    pub root: i32,
    /// Bytes that this rank gives, and gets.
    pub bytes: [i32; 2],
    /// Index of what every member gives and gets, where they may differ.
    pub amounts: Option<u32>,
}

/// What is done with a window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OnWindow {
    /// All members of a communicator make it.
    New { comm: u32 },
    /// They free it.
    Free,
    /// They wait for all accesses.
    Fence,
    /// Asks for a target's lock.
    Lock { target: i32, exclusive: bool },
    /// Asks for those of all.
    LockAll,
    /// Lets go of a target's lock, or of all.
    Unlock(Option<i32>),
    /// Waits for accesses to a target, or to all; or only until their memory here is free again.
    Flush { target: Option<i32>, locally: bool },
    /// Reads or writes, and may leave a request.
    Access(Access, Option<u32>),
}

/// What is read from a target's window, and written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// As a rank of the window's communicator.
    pub target: i32,
    /// How.
    pub way: Way,
    /// How much.
    pub bytes: i32,
}

/// How memory of a target is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Writes.
    Put,
    /// Reads.
    Get,
    /// Adds to what is there.
    Add,
    /// The same, and reads what was there.
    AddAndGet,
    /// Reads one value, and writes if it is as expected.
    Swap,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing that concerns others: it takes as long as it did.
    Keep,
    /// Nothing at all: it only looked, in vain, and took this long between its looks.
    Look { between_ns: i64 },
    /// Sends.
    Send(SendMode, Message),
    /// Sends, and leaves a request.
    SendLater(SendMode, Message, u32),
    /// Receives.
    Receive(Message),
    /// Receives, and leaves a request.
    ReceiveLater(Message, u32),
    /// Sends and receives.
    SendReceive(Message, Message),
    /// Waits until a message is there.
    Probe(Message),
    /// Waits for requests: a part of the script's list.
    Complete(Range<u32>),
    /// Takes part in a collective.
    Collective(Collective),
    /// Takes part in one, and leaves a request.
    CollectiveLater(Collective, u32),
    /// Makes the communicator of this index, or if it is none, has no part in what others make.
    NewCommunicator { parent: u32, made: Option<u32> },
    /// Does something with the window in this place.
    OnWindow(u32, OnWindow),
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// How long the rank computes before it.
    pub before_ns: i64,
    /// How long it took when it was recorded.
    pub recorded_ns: i64,
    /// What it does.
    pub action: Action,
    /// Which function it calls, and from where: an index of [`crate::translate::Play::calls`].
    pub call: u32,
}

/// A rank's steps.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Which thread of the rank made the calls.
    pub thread: u32,
    /// Its first row among all rows of the trace.
    pub first_row: u64,
    /// In their order.
    pub steps: Vec<Step>,
    /// Those that are not played: others tell their times.
    pub left_out: Range<usize>,
    /// Places of the requests that steps wait for.
    pub waits_for: Vec<u32>,
    /// How many requests are open at once, at most.
    pub requests: u32,
    /// How many windows it makes.
    pub windows: u32,
}

/// What every member of a communicator gives and gets in one collective.
#[derive(Clone, Debug, Default)]
pub struct Amounts {
    /// By rank of the communicator.
    pub given: Vec<i32>,
    /// By rank of the communicator.
    pub got: Vec<i32>,
}

impl Amounts {
    /// What one member gives another of an exchange of which only sums are known: in proportion to what the other gets.
    pub fn between(&self, from: usize, to: usize) -> i32 {
        let all: i64 = self.got.iter().map(|bytes| i64::from(*bytes)).sum();
        (i64::from(self.given[from]) * i64::from(self.got[to]) / all.max(1)) as i32
    }
}
