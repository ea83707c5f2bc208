//! What one thread's reducer knew, as its readers see it.

use super::bins::{self, BINS};
use super::block::{DECADES, PAYLOAD_WORDS, Sums};
use kizami_stats::counted_quantile;
use std::collections::BTreeMap;

/// What one thread's reducer knew.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Ticks in a second.
    pub ticks_per_second: u64,
    /// Start of the first call, and the tick after the start of the last.
    pub span: (u64, u64),
    /// Rows with a number below this were kept whatever their class, on all ranks.
    pub common: f64,
    /// All kinds, those that stand for several at the end.
    pub kinds: Vec<Kind>,
    /// Messages by communicator and peer.
    pub peers: Vec<Peer>,
    /// Messages with peers for which there was no room.
    pub other_peers: PeerSums,
    /// Calls and time inside them over the whole run, one after the other.
    pub marks: Vec<Mark>,
    /// Kept rows, by start.
    pub rows: Vec<KeptRow>,
    /// Where room or bytes were missing.
    pub missing: Missing,
}

/// How much is recorded less finely than it should be, or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Calls that are counted by their function alone, because there were too many kinds.
    pub calls_without_kind: u64,
    /// Calls in no quantile, because there were too many durations.
    pub calls_without_bins: u64,
    /// Calls in a class of another duration, because there were too many classes.
    pub calls_of_wrong_class: u64,
    /// Messages whose peer is not recorded, because there were too many.
    pub messages_without_peer: u64,
    /// Rows that should have been kept, had they been taken in time.
    pub rows_lost: u64,
    /// Things that made no sense.
    pub damage: u64,
}

/// Calls from one place, of one function, with about as many bytes.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// Number of the call site; `None` if it stands for several.
    pub site: Option<u32>,
    /// The function; `None` if it stands for several.
    pub op: Option<u16>,
    /// Bits of the number of bytes (0 for none, 11 for 1,024 to 2,047); `None` if it stands for several.
    pub size_class: Option<u8>,
    /// Exact sums by decade of duration.
    pub classes: [Sums; DECADES],
    /// Computation before these calls, by what came before; together they are all calls.
    pub gaps: Vec<Gap>,
    /// Durations.
    pub sketch: Sketch,
    /// The same sums over time, one after the other; together they are `classes`.
    pub slices: Vec<Slice>,
}

impl Kind {
    /// Exact sums over all durations.
    pub fn sums(&self) -> Sums {
        total(&self.classes)
    }
}

/// Sums over all decades.
pub fn total(classes: &[Sums; DECADES]) -> Sums {
    classes.iter().fold(Sums::default(), |sums, class| sums.plus(*class))
}

/// Computation before calls of one kind that followed calls of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Index in [`State::kinds`] of what came before; `None` before a thread's first call, or if it is not known.
    pub after: Option<usize>,
    /// How many.
    pub calls: u64,
    /// Exact time from the ends of the calls before to the starts of these, in ticks.
    pub ticks: u64,
}

/// Calls that started from one tick to before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// First tick.
    pub start: u64,
    /// Tick after the last.
    pub end: u64,
    /// How many.
    pub calls: u64,
    /// Time inside them.
    pub ticks: u64,
}

/// Calls of one kind that started from one tick to before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// First tick.
    pub start: u64,
    /// Tick after the last.
    pub end: u64,
    /// Sums by decade of duration.
    pub classes: [Sums; DECADES],
}

/// Messages with one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Number of the communicator.
    pub communicator: u32,
    /// Rank in it.
    pub rank: u32,
    /// How much.
    pub sums: PeerSums,
}

/// Messages and bytes, to and from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerSums {
    /// Messages to it.
    pub messages_out: u64,
    /// Bytes to it.
    pub bytes_out: u64,
    /// Messages from it.
    pub messages_in: u64,
    /// Bytes from it.
    pub bytes_in: u64,
}

impl PeerSums {
    /// Both together.
    pub fn plus(self, other: PeerSums) -> PeerSums {
        PeerSums {
            messages_out: self.messages_out.wrapping_add(other.messages_out),
            bytes_out: self.bytes_out.wrapping_add(other.bytes_out),
            messages_in: self.messages_in.wrapping_add(other.messages_in),
            bytes_in: self.bytes_in.wrapping_add(other.bytes_in),
        }
    }
}

/// A row that was kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptRow {
    /// Index of its kind in [`State::kinds`].
    pub kind: usize,
    /// Class of its duration.
    pub decade: usize,
    /// Start.
    pub start_ticks: u64,
    /// Length.
    pub duration_ticks: u64,
    /// Its sampling key, in [0, 1).
    pub number: f64,
    /// How probable it was that it is kept: it stands for 1 / this many rows.
    pub probability: f64,
    /// What was kept of it.
    pub payload: [u64; PAYLOAD_WORDS],
}

/// Durations in bins of 1 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    pub(super) bins: BTreeMap<u16, u64>,
}

impl Sketch {
    /// Adds another's durations.
    pub fn merge(&mut self, other: &Sketch) {
        for (&bin, &calls) in &other.bins {
            let sum = self.bins.entry(bin).or_default();
            *sum = sum.saturating_add(calls);
        }
    }

    /// How many durations it holds.
    pub fn calls(&self) -> u64 {
        self.bins.values().fold(0, |sum, &calls| sum.saturating_add(calls))
    }

    /// The duration that `share` of all are not longer than: off by at most 1 %. None if there are none.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let bin = counted_quantile(self.bins.iter().map(|(&bin, &calls)| (bin, calls)), share)?;
        Some(bins::middle(usize::from(bin) / BINS, usize::from(bin) % BINS))
    }

    /// Bins that hold something, ascending: from which duration, to before which, and how many calls.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        self.bins.iter().map(|(&bin, &calls)| {
            let (low, high) = bins::edges(usize::from(bin) / BINS, usize::from(bin) % BINS);
            (low, high, calls)
        })
    }
}
