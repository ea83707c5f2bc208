//! What comes of blaming: whose doing made others wait, who waited for it, and what was too long.

use crate::marks::RankSet;
use crate::pattern::Pattern;
use kizami_model::{Length, Moment, Op};
use rustc_hash::FxHashMap;

/// What a rank did while others waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Doing {
    /// Computed what leads up to a call at a place.
    Computing(Option<u32>),
    /// Was inside a call of this function at a place.
    Calling(Op, Option<u32>),
    /// Had not made its first call.
    Starting,
}

/// Whose doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Culprit {
    /// Of this rank.
    pub rank: u32,
    /// What it did.
    pub doing: Doing,
}

/// What the activity of a rank cost others.
#[derive(Clone, Debug, Default)]
pub struct Blame {
    /// Others waited for just this.
    pub direct_ns: f64,
    /// Others waited for a rank that waited for this.
    pub propagated_ns: f64,
    /// What both are a part of: what was waited at those times for all who were late together.
    pub whole_ns: f64,
}

/// Who waited for something that was done.
#[derive(Clone, Debug, Default)]
pub struct Waited {
    /// Ranks that waited directly.
    pub ranks: RankSet,
    /// How long they waited, by function and place, in their order: mostly few.
    pub at: Vec<((Op, Option<u32>), Fine)>,
    /// The same by kind of waiting.
    pub patterns: Vec<(Pattern, Fine)>,
    /// When it was done at its worst.
    pub worst: Occasion,
}

impl Waited {
    /// In which way they waited most.
    pub fn most(&self) -> Option<Pattern> {
        self.patterns.iter().max_by_key(|(_, time)| *time).map(|(pattern, _)| *pattern)
    }

    /// Both together. Which is which makes no difference.
    pub(crate) fn merge(&mut self, other: Waited) {
        self.ranks.merge(other.ranks);
        self.worst = self.worst.worse(other.worst);
        other.at.into_iter().for_each(|(at, time)| add(&mut self.at, at, time));
        other.patterns.into_iter().for_each(|(pattern, time)| add(&mut self.patterns, pattern, time));
    }
}

/// Adds a time to what is known of something.
pub(crate) fn add<K: Ord>(sums: &mut Vec<(K, Fine)>, key: K, time: Fine) {
    match sums.binary_search_by(|(known, _)| known.cmp(&key)) {
        Ok(place) => sums[place].1.0 += time.0,
        Err(place) => sums.insert(place, (key, time)),
    }
}

/// A time in small parts of a nanosecond: sums of it do not depend on their order, as those of floating point do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fine(i128);

impl Fine {
    const PARTS: f64 = 1024.0;

    pub(crate) fn of_ns(ns: f64) -> Fine {
        let parts = ns * Fine::PARTS;
        // Less than an hour is rounded without a function call.
        let near = (parts + 0.5f64.copysign(parts)) as i64;
        if near.unsigned_abs() < 1 << 52 { Fine(i128::from(near)) } else { Fine(parts.round() as i128) }
    }

    pub(crate) fn as_ns(self) -> f64 {
        self.0 as f64 / Fine::PARTS
    }

    pub(crate) fn plus(self, other: Fine) -> Fine {
        Fine(self.0 + other.0)
    }
}

/// The middle of an activity, and what it cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occasion {
    /// What it cost.
    pub cost_ns: f64,
    /// Whose doing it was.
    pub strand: u32,
    /// The middle of it.
    pub at: Moment,
}

impl Occasion {
    /// The worse of both; of equal ones the later.
    pub(crate) fn worse(self, other: Occasion) -> Occasion {
        let order = self.cost_ns.total_cmp(&other.cost_ns).then(self.at.cmp(&other.at));
        if order.then(other.strand.cmp(&self.strand)).is_lt() { other } else { self }
    }
}

/// All blame of a run.
#[derive(Debug, Default)]
pub struct Blamed {
    /// By rank.
    pub culprits: Vec<(Culprit, Blame)>,
    /// Who waited for what was done.
    pub waited: FxHashMap<Doing, Waited>,
    /// Each time something made others wait, in the order of steps.
    pub excesses: Vec<Excess>,
}

/// Something that was too long: by so much it would have to be shorter to come when most of those who waited for it
/// did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The call, or the one that computation leads up to.
    pub step: u64,
    /// By so much.
    pub length: Length,
    /// Whose it was.
    pub rank: u32,
    /// It was the call itself.
    pub inside: bool,
}

impl Blame {
    pub(crate) fn add(&mut self, other: &Blame) {
        self.direct_ns += other.direct_ns;
        self.propagated_ns += other.propagated_ns;
        self.whole_ns += other.whole_ns;
    }
}

/// The length in the middle of the time they take together: half of it is in those that are no longer. Short ones do not
/// count for much.
pub fn middle(lengths: &mut [Length]) -> Length {
    lengths.sort_unstable();
    let all: Length = lengths.iter().copied().sum();
    let mut so_far = Length::ZERO;
    let middle = lengths.iter().find(|length| {
        so_far += **length;
        so_far * 2 >= all
    });
    middle.copied().unwrap_or_default()
}
