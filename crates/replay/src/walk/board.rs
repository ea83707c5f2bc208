//! What one rank tells another: departures of messages, or postings of receives, by key.
//!
//! Whoever asks too early is remembered and named once it was told. What was taken is forgotten, so memory is bounded
//! by what is under way.

use rustc_hash::FxHashMap;

/// When somebody did something, and who.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note<const LANES: usize> {
    pub recorded_ns: i64,
    pub new_ns: [i64; LANES],
    pub strand: u32,
    pub step: u64,
}

impl<const LANES: usize> Note<LANES> {
    /// The latest of both, in each kind of time; who it was is told by recorded time.
    pub(super) fn latest(self, other: Note<LANES>) -> Note<LANES> {
        let later = (other.recorded_ns, other.step) > (self.recorded_ns, self.step);
        let mut latest = if later { other } else { self };
        for lane in 0..LANES {
            latest.new_ns[lane] = self.new_ns[lane].max(other.new_ns[lane]);
        }
        latest
    }
}

pub(super) struct Board<const LANES: usize>(FxHashMap<u64, Entry<LANES>>);

enum Entry<const LANES: usize> {
    Told(Note<LANES>),
    Wanted(u32),
}

impl<const LANES: usize> Board<LANES> {
    pub(super) fn new() -> Board<LANES> {
        Board(FxHashMap::default())
    }

    /// Tells; gives the strand that waits for it.
    #[inline]
    pub(super) fn tell(&mut self, key: u64, note: Note<LANES>) -> Option<u32> {
        match self.0.insert(key, Entry::Told(note)) {
            Some(Entry::Wanted(strand)) => Some(strand),
            _ => None,
        }
    }

    /// What was told, if it was; else the strand is remembered.
    #[inline]
    pub(super) fn ask(&mut self, key: u64, strand: u32, take: bool) -> Option<Note<LANES>> {
        use std::collections::hash_map::Entry as Place;
        match self.0.entry(key) {
            Place::Occupied(mut place) => match place.get() {
                Entry::Told(note) => {
                    let note = *note;
                    if take {
                        place.remove();
                    }
                    Some(note)
                }
                Entry::Wanted(_) => {
                    place.insert(Entry::Wanted(strand));
                    None
                }
            },
            Place::Vacant(place) => {
                place.insert(Entry::Wanted(strand));
                None
            }
        }
    }

    /// Nobody waits for it any more.
    pub(super) fn give_up(&mut self, key: u64) {
        if let Some(Entry::Wanted(_)) = self.0.get(&key) {
            self.0.remove(&key);
        }
    }

    /// How much is remembered.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// What was told and never taken.
    pub(super) fn left(&self) -> u64 {
        self.0.values().filter(|entry| matches!(entry, Entry::Told(_))).count() as u64
    }
}
