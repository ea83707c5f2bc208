//! Values of places that depend on data, and each rank's way through them.

use std::collections::HashMap;
use std::sync::Arc;

/// Values, and how often each came in a row.
pub type Runs = Vec<(i64, u64)>;

/// Values of places that depend on data, as a real run of the program had them: for each rank and place runs of a value.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    by_rank: Arc<HashMap<u32, HashMap<u32, Runs>>>,
}

impl Observed {
    /// What was observed: by rank and place.
    pub fn of(by_rank: HashMap<u32, HashMap<u32, Runs>>) -> Observed {
        Observed { by_rank: Arc::new(by_rank) }
    }

    /// A reader for ranks.
    pub fn values(&self) -> OracleValues {
        OracleValues { observed: self.clone(), rank: 0, at: HashMap::new() }
    }
}

/// One rank's way through what was observed.
#[derive(Clone, Debug, Default)]
pub struct OracleValues {
    observed: Observed,
    rank: u32,
    /// By place: which run, and how often its value was used.
    at: HashMap<u32, (usize, u64)>,
}

impl OracleValues {
    /// Begins anew, as another rank. Ranks that nobody observed do as one that was observed did.
    pub fn rewind(&mut self, rank: u32) {
        self.at.clear();
        let known = self.observed.by_rank.len() as u32;
        self.rank = if known == 0 || self.observed.by_rank.contains_key(&rank) { rank } else { rank % known };
    }

    /// The next value of a place; nothing if none was observed. The last one stays.
    pub fn next(&mut self, place: u32) -> Option<i64> {
        let runs = self.observed.by_rank.get(&self.rank)?.get(&place)?;
        let (run, used) = self.at.entry(place).or_insert((0, 0));
        while *run + 1 < runs.len() && *used >= runs[*run].1 {
            (*run, *used) = (*run + 1, 0);
        }
        *used += 1;
        runs.get(*run).map(|(value, _)| *value)
    }
}
