//! Values of places that depend on data, and each rank's way through them.

use std::collections::HashMap;
use std::sync::Arc;

/// Values, and how often each came in a row.
pub type Runs = Vec<(i64, u64)>;

/// What one place gives.
#[derive(Clone, Debug)]
pub enum PlaceValues {
    /// By rank; with fewer than there are, they are dealt out in turn.
    ByRank(Vec<Runs>),
    /// By kind of rank.
    ByKind {
        /// The kind of each rank; all are of the first one, if it is empty.
        kind_of: Arc<Vec<u32>>,
        /// What each kind sees.
        values: Vec<Runs>,
    },
}

impl PlaceValues {
    fn of(&self, rank: u32) -> Option<&Runs> {
        match self {
            PlaceValues::ByRank(values) => values.get(rank as usize % values.len().max(1)),
            PlaceValues::ByKind { kind_of, values } => {
                values.get(kind_of.get(rank as usize).copied().unwrap_or(0) as usize)
            }
        }
    }
}

/// Values of all places that depend on data.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    by_place: Arc<HashMap<u32, PlaceValues>>,
}

impl Observed {
    /// What places give.
    pub fn of(places: impl IntoIterator<Item = (u32, PlaceValues)>) -> Observed {
        Observed { by_place: Arc::new(places.into_iter().collect()) }
    }

    /// A reader for ranks.
    pub fn values(&self) -> OracleValues {
        OracleValues { observed: self.clone(), rank: 0, at: HashMap::new() }
    }
}

/// One rank's way through them.
#[derive(Clone, Debug, Default)]
pub struct OracleValues {
    observed: Observed,
    rank: u32,
    /// By place: which run, and how often its value was used.
    at: HashMap<u32, (usize, u64)>,
}

impl OracleValues {
    /// Begins anew, as another rank.
    pub fn rewind(&mut self, rank: u32) {
        self.at.clear();
        self.rank = rank;
    }

    /// The next value of a place; nothing if there is none. The last one stays.
    pub fn next(&mut self, place: u32) -> Option<i64> {
        let runs = self.observed.by_place.get(&place)?.of(self.rank)?;
        let (run, used) = self.at.entry(place).or_insert((0, 0));
        while *run + 1 < runs.len() && *used >= runs[*run].1 {
            (*run, *used) = (*run + 1, 0);
        }
        *used += 1;
        runs.get(*run).map(|(value, _)| *value)
    }
}
