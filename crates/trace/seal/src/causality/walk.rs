//! All ranks walked together in the order of time, so that every send is seen before its receive.
//!
//! A rank whose receive has no send yet waits for it. If all that is left waits, the earliest receive goes on
//! without one: its send was not recorded, or is not a message's.

use super::spool::{Entries, Entry, Half, Spool};
use super::{Findings, Repairs};
use crate::clock::RunClock;
use kizami_clock::Mover;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// Messages under way at most; beyond that, ranks that wait go on, because what they wait for never comes.
const MOST_UNDER_WAY: usize = 1 << 22;
/// A message may violate by so many times what clocks can be wrong, and this, before it is called mismatched.
const DOUBTFUL_TIMES: i64 = 10;
const DOUBTFUL_NS: i64 = 1_000_000;

/// The same for both halves of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    comm: u32,
    from: u32,
    to: u32,
    tag: i32,
    number: u64,
}

impl Key {
    fn of(rank: u32, entry: &Entry) -> Key {
        let Entry { comm, peer, tag, number, .. } = *entry;
        let (from, to) = if entry.half == Half::Sent { (rank, peer) } else { (peer, rank) };
        Key { comm, from, to, tag, number }
    }
}

/// When a message was sent, as sealed and as repaired.
#[derive(Clone, Copy, Debug)]
struct Departure {
    sealed_ns: i64,
    moved_ns: i64,
}

struct Walker<'a> {
    entries: Entries<'a>,
    mover: Mover,
}

struct Walk<'a> {
    clock: &'a RunClock,
    /// Host of each rank.
    hosts: &'a [usize],
    /// By rank.
    walkers: Vec<Walker<'a>>,
    /// Ranks that can go on, by the time of their next entry.
    ready: BinaryHeap<Reverse<(i64, u32)>>,
    /// Ranks that wait for a send.
    waiting: HashMap<Key, u32>,
    waiting_since: BTreeSet<(i64, u32)>,
    under_way: HashMap<Key, Departure>,
    found: Findings,
}

/// Walks all ranks; returns what was found and how to repair it.
pub(super) fn walk(spool: &Spool, clock: &RunClock, hosts: &[usize]) -> (Findings, Repairs) {
    let nothing = Entries::default();
    let mut walkers: Vec<Walker<'_>> =
        hosts.iter().map(|_| Walker { entries: nothing, mover: Mover::default() }).collect();
    for (rank, entries) in spool.ranks() {
        if let Some(walker) = walkers.get_mut(rank as usize) {
            walker.entries = entries;
        }
    }
    let mut walk = Walk {
        clock,
        hosts,
        walkers,
        ready: BinaryHeap::new(),
        waiting: HashMap::new(),
        waiting_since: BTreeSet::new(),
        under_way: HashMap::new(),
        found: Findings::default(),
    };
    (0..hosts.len() as u32).for_each(|rank| walk.make_ready(rank));
    walk.run();
    let by_rank = walk.walkers.into_iter().map(|walker| walker.mover.shifts).collect();
    (walk.found, Repairs { by_rank })
}

impl Walk<'_> {
    fn run(&mut self) {
        loop {
            while self.under_way.len() <= MOST_UNDER_WAY {
                let Some(Reverse((_, rank))) = self.ready.pop() else { break };
                self.step(rank);
            }
            if !self.go_on_without() && self.ready.is_empty() {
                return;
            }
            if self.waiting.is_empty() && self.under_way.len() > MOST_UNDER_WAY {
                // No rank waits, so what is under way is never received by a call that can be matched.
                self.under_way.clear();
            }
        }
    }

    fn make_ready(&mut self, rank: u32) {
        if let Some(entry) = self.walkers[rank as usize].entries.peek() {
            self.ready.push(Reverse((entry.at_ns, rank)));
        }
    }

    /// Takes the next entry of a rank.
    fn step(&mut self, rank: u32) {
        let Some(entry) = self.walkers[rank as usize].entries.peek() else { return };
        let key = Key::of(rank, &entry);
        match entry.half {
            Half::Sent => {
                let moved_ns = self.walkers[rank as usize].mover.moved(entry.at_ns);
                self.under_way.insert(key, Departure { sealed_ns: entry.at_ns, moved_ns });
                if let Some(receiver) = self.waiting.remove(&key) {
                    self.wake(receiver);
                }
            }
            Half::Received => match self.under_way.remove(&key) {
                Some(departure) => self.arrive(key, entry.at_ns, departure),
                None => {
                    self.waiting.insert(key, rank);
                    self.waiting_since.insert((entry.at_ns, rank));
                    return;
                }
            },
        }
        self.walkers[rank as usize].entries.advance();
        self.make_ready(rank);
    }

    fn wake(&mut self, rank: u32) {
        if let Some(entry) = self.walkers[rank as usize].entries.peek() {
            self.waiting_since.remove(&(entry.at_ns, rank));
        }
        self.make_ready(rank);
    }

    /// Lets the receive that has waited longest go on without its send; false if none waits.
    fn go_on_without(&mut self) -> bool {
        let Some((_, rank)) = self.waiting_since.pop_first() else { return false };
        let walker = &mut self.walkers[rank as usize];
        if let Some(entry) = walker.entries.peek() {
            self.waiting.remove(&Key::of(rank, &entry));
        }
        walker.entries.advance();
        self.found.doubtful += 1;
        self.make_ready(rank);
        true
    }

    /// A message arrived.
    fn arrive(&mut self, key: Key, received_ns: i64, departure: Departure) {
        let found = &mut self.found;
        let (from, to) = (self.hosts[key.from as usize], self.hosts[key.to as usize]);
        let late_ns = departure.sealed_ns.saturating_sub(received_ns);
        if late_ns > 0 && (from == to || late_ns > self.clock.doubtful_ns(from, to)) {
            found.doubtful += 1;
            return;
        }
        found.messages += 1;
        found.violations += u64::from(late_ns > 0);
        let wall = |host: usize, ns: i64| self.clock.hosts[host].wall_ns(ns);
        let by_wall_clock = from != to && wall(to, received_ns) < wall(from, departure.sealed_ns);
        found.by_wall_clock += u64::from(by_wall_clock);
        let receiver = &mut self.walkers[key.to as usize].mover;
        if let Some(shift_ns) = receiver.receive(received_ns, departure.moved_ns) {
            found.largest_shift_ns = found.largest_shift_ns.max(shift_ns);
        }
    }
}

impl RunClock {
    /// A message between these hosts that arrives earlier than it was sent by more than this was mismatched.
    fn doubtful_ns(&self, from: usize, to: usize) -> i64 {
        if self.links.root_of(from) != self.links.root_of(to) {
            // Wall clocks may be off by anything.
            return i64::MAX;
        }
        let bound = |host: usize| self.hosts[host].bound_ns.unwrap_or(0);
        bound(from).saturating_add(bound(to)).saturating_mul(DOUBTFUL_TIMES).saturating_add(DOUBTFUL_NS)
    }
}
