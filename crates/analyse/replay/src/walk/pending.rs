//! What is announced or awaited and not taken yet: departures of messages, or postings of receives, by key.
//!
//! A strand that asks too early is remembered and woken by the announcement. What was taken is dropped, so memory is bounded
//! by what is under way.

use super::shared::Shared;
use crate::lane_moment::LaneMoment;
use kizami_model::Moment;
use rustc_hash::FxHashMap;

/// When a rank sent, posted or arrived, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<const LANES: usize> {
    /// As recorded.
    pub recorded: Moment,
    /// In each lane.
    pub replayed: [LaneMoment; LANES],
    /// Whose.
    pub strand: u32,
    /// The step that did it.
    pub step: u64,
}

impl<const LANES: usize> Arrival<LANES> {
    /// The latest of both, in each kind of time; the rank is that of the later recorded time.
    pub(super) fn latest(self, other: Arrival<LANES>) -> Arrival<LANES> {
        let later = (other.recorded, other.step) > (self.recorded, self.step);
        let mut latest = if later { other } else { self };
        for lane in 0..LANES {
            latest.replayed[lane] = self.replayed[lane].max(other.replayed[lane]);
        }
        latest
    }
}

/// What is under way. Most channels have one message under way at a time: it has a place of its own, and finding it takes no hashing.
/// Others lie in a table.
pub(super) struct PendingTable<const LANES: usize> {
    /// By channel: the number of the message, and what is known of it.
    first: Vec<(u32, Option<Entry<LANES>>)>,
    more: FxHashMap<u64, Entry<LANES>>,
    /// How many have their place in `first`.
    near: usize,
    /// What several threads of a rank ask for.
    shared: Shared<LANES>,
}

#[derive(Clone, Copy)]
enum Entry<const LANES: usize> {
    Told(Arrival<LANES>),
    Wanted(u32),
}

impl<const LANES: usize> PendingTable<LANES> {
    pub(super) fn new(channels: usize, shared: Shared<LANES>) -> PendingTable<LANES> {
        PendingTable { first: vec![(0, None); channels], more: FxHashMap::default(), near: 0, shared }
    }

    /// Tells those that wait for it; they are added to `woken`.
    #[inline]
    pub(super) fn announce(&mut self, key: u64, arrival: Arrival<LANES>, woken: &mut Vec<u32>) {
        if self.shared.has(key) {
            return self.shared.announce(key, arrival, woken);
        }
        let (number, entry) = &mut self.first[(key >> 32) as usize];
        let before = match entry {
            Some(known) if *number == key as u32 => Some(std::mem::replace(known, Entry::Told(arrival))),
            None if !self.more.contains_key(&key) => {
                (*number, *entry) = (key as u32, Some(Entry::Told(arrival)));
                self.near += 1;
                None
            }
            _ => self.more.insert(key, Entry::Told(arrival)),
        };
        if let Some(Entry::Wanted(strand)) = before {
            woken.push(strand);
        }
    }

    /// The arrival, if it was announced; else the strand is remembered.
    #[inline]
    pub(super) fn ask(&mut self, key: u64, strand: u32, take: bool) -> Option<Arrival<LANES>> {
        if self.shared.has(key) {
            return self.shared.ask(key, strand, take);
        }
        let (number, entry) = &mut self.first[(key >> 32) as usize];
        let here = *number == key as u32 && entry.is_some();
        let known = if here { *entry } else { self.more.get(&key).copied() };
        match known {
            Some(Entry::Told(arrival)) => {
                match (take, here) {
                    (true, true) => {
                        *entry = None;
                        self.near -= 1;
                    }
                    (true, false) => drop(self.more.remove(&key)),
                    (false, _) => {}
                }
                Some(arrival)
            }
            _ if here || entry.is_none() && known.is_none() => {
                self.near += usize::from(!here);
                (*number, *entry) = (key as u32, Some(Entry::Wanted(strand)));
                None
            }
            _ => {
                self.more.insert(key, Entry::Wanted(strand));
                None
            }
        }
    }

    /// This strand does not wait for it any more.
    pub(super) fn give_up(&mut self, key: u64, strand: u32) {
        if self.shared.has(key) {
            return self.shared.give_up(key, strand);
        }
        let (number, entry) = &mut self.first[(key >> 32) as usize];
        match entry {
            Some(Entry::Wanted(_)) if *number == key as u32 => {
                *entry = None;
                self.near -= 1;
            }
            _ => {
                if let Some(Entry::Wanted(_)) = self.more.get(&key) {
                    self.more.remove(&key);
                }
            }
        }
    }

    /// How much is remembered.
    pub(super) fn len(&self) -> usize {
        self.near + self.more.len() + self.shared.len()
    }

    /// What was announced and never taken.
    pub(super) fn left(&self) -> u64 {
        let entries = self.first.iter().filter_map(|(_, entry)| entry.as_ref()).chain(self.more.values());
        entries.filter(|entry| matches!(entry, Entry::Told(_))).count() as u64 + self.shared.left() as u64
    }
}
