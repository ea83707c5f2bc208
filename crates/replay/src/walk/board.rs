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

/// Most channels have one message under way at a time: it has a place of its own, and finding it takes no hashing.
/// Others lie in a table.
pub(super) struct Board<const LANES: usize> {
    /// By channel: the number of the message, and what is known of it.
    first: Vec<(u32, Option<Entry<LANES>>)>,
    more: FxHashMap<u64, Entry<LANES>>,
    /// How many have their place in `first`.
    near: usize,
}

#[derive(Clone, Copy)]
enum Entry<const LANES: usize> {
    Told(Note<LANES>),
    Wanted(u32),
}

impl<const LANES: usize> Board<LANES> {
    pub(super) fn new(channels: usize) -> Board<LANES> {
        Board { first: vec![(0, None); channels], more: FxHashMap::default(), near: 0 }
    }

    /// Tells; gives the strand that waits for it.
    #[inline]
    pub(super) fn tell(&mut self, key: u64, note: Note<LANES>) -> Option<u32> {
        let (number, entry) = &mut self.first[(key >> 32) as usize];
        let before = match entry {
            Some(known) if *number == key as u32 => Some(std::mem::replace(known, Entry::Told(note))),
            None if !self.more.contains_key(&key) => {
                (*number, *entry) = (key as u32, Some(Entry::Told(note)));
                self.near += 1;
                None
            }
            _ => self.more.insert(key, Entry::Told(note)),
        };
        match before {
            Some(Entry::Wanted(strand)) => Some(strand),
            _ => None,
        }
    }

    /// What was told, if it was; else the strand is remembered.
    #[inline]
    pub(super) fn ask(&mut self, key: u64, strand: u32, take: bool) -> Option<Note<LANES>> {
        let (number, entry) = &mut self.first[(key >> 32) as usize];
        let here = *number == key as u32 && entry.is_some();
        let known = if here { *entry } else { self.more.get(&key).copied() };
        match known {
            Some(Entry::Told(note)) => {
                match (take, here) {
                    (true, true) => {
                        *entry = None;
                        self.near -= 1;
                    }
                    (true, false) => drop(self.more.remove(&key)),
                    (false, _) => {}
                }
                Some(note)
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

    /// Nobody waits for it any more.
    pub(super) fn give_up(&mut self, key: u64) {
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
        self.near + self.more.len()
    }

    /// What was told and never taken.
    pub(super) fn left(&self) -> u64 {
        let entries = self.first.iter().filter_map(|(_, entry)| entry.as_ref()).chain(self.more.values());
        entries.filter(|entry| matches!(entry, Entry::Told(_))).count() as u64
    }
}
