//! Where ranks meet: messages that have left and collectives somebody has come to.
//!
//! Whoever comes tells when it came, in recorded and in new time; whoever waits is remembered and named once
//! there is nothing left to wait for. What nobody needs any more is forgotten, so memory is bounded by what is
//! under way.

use super::collectives::Communicators;
use std::collections::HashMap;

/// A moment in the recorded and in the new run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub recorded_ns: i64,
    pub new_ns: i64,
}

impl Moment {
    fn latest(self, other: Moment) -> Moment {
        Moment { recorded_ns: self.recorded_ns.max(other.recorded_ns), new_ns: self.new_ns.max(other.new_ns) }
    }
}

/// Things one rank tells another, by key: departures of messages, or postings of receives.
#[derive(Default)]
pub(super) struct Board(HashMap<u64, Notice>);

enum Notice {
    Told(Moment),
    Wanted(u32),
}

impl Board {
    /// Tells; gives the thread that waits for it.
    pub(super) fn tell(&mut self, key: u64, moment: Moment) -> Option<u32> {
        match self.0.insert(key, Notice::Told(moment)) {
            Some(Notice::Wanted(thread)) => Some(thread),
            _ => None,
        }
    }

    /// What was told, if it was; else the thread is remembered.
    pub(super) fn ask(&mut self, key: u64, thread: u32, take: bool) -> Option<Moment> {
        match self.0.get(&key) {
            Some(Notice::Told(moment)) => {
                let moment = *moment;
                if take {
                    self.0.remove(&key);
                }
                Some(moment)
            }
            _ => {
                self.0.insert(key, Notice::Wanted(thread));
                None
            }
        }
    }

    /// Nobody waits for it any more.
    pub(super) fn give_up(&mut self, key: u64) {
        if let Some(Notice::Wanted(_)) = self.0.get(&key) {
            self.0.remove(&key);
        }
    }

    /// What was told and never asked for.
    pub(super) fn left(&self) -> u64 {
        self.0.len() as u64
    }
}

/// Collectives under way, by key.
pub(super) struct Meetings {
    open: HashMap<u64, Meeting>,
    sizes: Vec<u32>,
}

#[derive(Default)]
struct Meeting {
    /// The function all should have called.
    op: u64,
    mixed: bool,
    came: u32,
    left: u32,
    latest: Option<Moment>,
    root: Option<Moment>,
    waiting: Vec<u32>,
}

/// What a rank that waits in a collective learns.
pub(super) enum Answer {
    /// Whom it waited for came then.
    Came(Moment),
    /// Somebody is still missing.
    Wait,
    /// The ranks did not call the same function: the numbers of collectives do not agree.
    Mixed,
}

impl Meetings {
    pub(super) fn new(sizes: Vec<u32>) -> Meetings {
        Meetings { open: HashMap::new(), sizes }
    }

    /// A rank came; appends the threads that may look again.
    pub(super) fn come(&mut self, key: u64, op: u64, moment: Moment, root: bool, woken: &mut Vec<u32>) {
        let size = Communicators::members(&self.sizes, key);
        let meeting = self.open.entry(key).or_default();
        meeting.mixed |= meeting.came > 0 && meeting.op != op;
        meeting.op = op;
        meeting.came += 1;
        meeting.latest = Some(meeting.latest.map_or(moment, |latest| latest.latest(moment)));
        if root {
            meeting.root = Some(moment);
        }
        if root || meeting.came >= size || meeting.mixed {
            woken.append(&mut meeting.waiting);
        }
    }

    /// When all came, or the root; the thread is remembered if that is not known yet.
    pub(super) fn ask(&mut self, key: u64, thread: u32, root: bool) -> Answer {
        let size = Communicators::members(&self.sizes, key);
        let Some(meeting) = self.open.get_mut(&key) else { return Answer::Mixed };
        let moment = match root {
            _ if meeting.mixed => return Answer::Mixed,
            true => meeting.root,
            false => meeting.latest.filter(|_| meeting.came >= size),
        };
        match moment {
            Some(moment) => Answer::Came(moment),
            None => {
                meeting.waiting.push(thread);
                Answer::Wait
            }
        }
    }

    /// A rank is done with the collective.
    pub(super) fn leave(&mut self, key: u64) {
        let size = Communicators::members(&self.sizes, key);
        if let Some(meeting) = self.open.get_mut(&key) {
            meeting.left += 1;
            if meeting.left >= size {
                self.open.remove(&key);
            }
        }
    }
}
