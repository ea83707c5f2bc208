//! Exact sums and quantiles of many threads and ranks together.

use kizami_summary::{DECADES, Sketch, State, Sums, total};
use std::collections::BTreeMap;

/// What makes calls the same on several ranks: site, function, class of size. `None` stands for several.
pub type Key = (Option<u32>, Option<u16>, Option<u8>);

/// Sums of many states.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// By site, function and size.
    pub kinds: BTreeMap<Key, Merged>,
    /// States that were added.
    pub threads: u64,
}

/// What all threads together had of one kind.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// Exact sums by decade of duration.
    pub classes: [Sums; DECADES],
    /// Durations.
    pub sketch: Sketch,
    /// Threads that had such calls.
    pub threads: u64,
}

impl Merged {
    /// Exact sums over all durations.
    pub fn sums(&self) -> Sums {
        total(&self.classes)
    }
}

impl Profile {
    /// Adds a thread. `site_of_run` makes a thread's number of a call site one that means the same everywhere.
    pub fn add(&mut self, state: &State, site_of_run: impl Fn(u32) -> u32) {
        self.threads += 1;
        for kind in &state.kinds {
            let key = (kind.site.map(&site_of_run), kind.op, kind.size_class);
            let merged = self.kinds.entry(key).or_default();
            merged.threads += 1;
            merged.classes = std::array::from_fn(|decade| merged.classes[decade].plus(kind.classes[decade]));
            merged.sketch.merge(&kind.sketch);
        }
    }

    /// Exact sums over everything.
    pub fn sums(&self) -> Sums {
        self.kinds.values().fold(Sums::default(), |sums, kind| sums.plus(kind.sums()))
    }

    /// Exact sums of a function.
    pub fn sums_of(&self, op: u16) -> Sums {
        let of_op = self.kinds.iter().filter(|((_, known, _), _)| *known == Some(op));
        of_op.fold(Sums::default(), |sums, (_, kind)| sums.plus(kind.sums()))
    }
}
