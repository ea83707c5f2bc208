//! Messages and receives that several threads of a rank ask for: two probes of one message, or a probe in one thread
//! and the receive in another.
//!
//! Which of the threads is walked first depends on the walk. So each gets the same, whichever took it before, and
//! all that wait are woken. So it is with rank classes: several may await what one of them sends. Which strand asks for what is
//! known from the graph; where a rank has one thread, nothing is looked at.

use super::pending::Arrival;
use kizami_graph::{Graph, Strand, Tie};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// One that several ask for.
struct SharedEntry<const LANES: usize> {
    announced: Option<Arrival<LANES>>,
    taken: bool,
    waiting: Vec<u32>,
    /// How many ties are still to ask.
    asks_left: u32,
}

/// All of them that are not over, by key.
pub(super) struct Shared<const LANES: usize> {
    entries: FxHashMap<u64, SharedEntry<LANES>>,
}

impl<const LANES: usize> Shared<LANES> {
    /// Of the strands of a share; `asks` says which ties are meant.
    pub(super) fn new(graph: &Graph, strands: Range<u32>, asks: impl Fn(Tie) -> bool) -> Shared<LANES> {
        let mut askers: FxHashMap<u64, Askers> = FxHashMap::default();
        for strand in strands.clone() {
            let rank = graph.strands[strand as usize].rank;
            let same = |other: u32| strands.contains(&other) && graph.strands[other as usize].rank == rank;
            if graph.folding.is_some() || same(strand + 1) || strand.checked_sub(1).is_some_and(same) {
                each_tie(graph, strand, |tie| {
                    if asks(tie) {
                        let entry =
                            askers.entry(tie.key).or_insert(Askers { first: strand, others: false, asks: 0 });
                        entry.others |= entry.first != strand;
                        entry.asks += 1;
                    }
                });
            }
        }
        // A class that many ranks send to asks for the same message of theirs as often.
        let often = |of: &Askers| of.others || graph.folding.is_some() && of.asks > 1;
        let shared = askers.into_iter().filter(|(_, askers)| often(askers));
        Shared { entries: shared.map(|(key, askers)| (key, SharedEntry::new(askers.asks))).collect() }
    }

    /// Whether this is one of them.
    #[inline]
    pub(super) fn has(&self, key: u64) -> bool {
        !self.entries.is_empty() && self.entries.contains_key(&key)
    }

    /// Tells all that wait for it.
    pub(super) fn announce(&mut self, key: u64, arrival: Arrival<LANES>, woken: &mut Vec<u32>) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.announced = Some(arrival);
            woken.append(&mut entry.waiting);
        }
    }

    /// The arrival, if it was announced; else the strand is remembered.
    pub(super) fn ask(&mut self, key: u64, strand: u32, take: bool) -> Option<Arrival<LANES>> {
        let entry = self.entries.get_mut(&key)?;
        match entry.announced {
            Some(arrival) => {
                entry.taken |= take;
                self.answered(key);
                Some(arrival)
            }
            None => {
                entry.waiting.push(strand);
                None
            }
        }
    }

    /// This strand does not wait for it any more.
    pub(super) fn give_up(&mut self, key: u64, strand: u32) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.waiting.retain(|waiting| *waiting != strand);
            self.answered(key);
        }
    }

    /// How many were announced or are awaited.
    pub(super) fn len(&self) -> usize {
        self.entries.values().filter(|entry| entry.announced.is_some() || !entry.waiting.is_empty()).count()
    }

    /// How many were announced and never taken.
    pub(super) fn left(&self) -> usize {
        self.entries.values().filter(|entry| entry.announced.is_some() && !entry.taken).count()
    }

    fn answered(&mut self, key: u64) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.asks_left -= 1;
            if entry.asks_left == 0 && entry.taken {
                self.entries.remove(&key);
            }
        }
    }
}

impl<const LANES: usize> SharedEntry<LANES> {
    fn new(asks_left: u32) -> SharedEntry<LANES> {
        SharedEntry { announced: None, taken: false, waiting: Vec::new(), asks_left }
    }
}

/// Who asks for one.
struct Askers {
    first: u32,
    others: bool,
    asks: u32,
}

fn each_tie(graph: &Graph, strand: u32, mut receive: impl FnMut(Tie)) {
    let Strand { rank, first_step, .. } = graph.strands[strand as usize];
    let mut index = first_step as usize;
    loop {
        let step = &graph.steps[index];
        graph.ties_of(step).iter().for_each(|tie| receive(graph.tie(rank, *tie)));
        if step.next == 0 {
            return;
        }
        index += step.next as usize;
    }
}
