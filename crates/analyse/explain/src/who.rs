//! Which ranks something is about.

use serde::{Deserialize, Serialize};

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// A few ranks or stretches of ranks.
    Named(Vec<u32>),
    /// So many, late together.
    Many(usize),
    /// Many, one after the other.
    InTurns,
}

impl Who {
    /// The ranks, if they are named.
    pub fn ranks(&self) -> &[u32] {
        if let Who::Named(ranks) = self { ranks } else { &[] }
    }

    /// These if they are at most so many, else their number.
    pub(crate) fn of(ranks: Vec<u32>, most_named: usize) -> Who {
        if ranks.len() <= most_named { Who::Named(ranks) } else { Who::Many(ranks.len()) }
    }
}

/// Ranks that follow each other: the first and the last of each stretch. Two ranks are no stretch.
pub fn stretches(ranks: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    ranks.chunk_by(|a, b| a + 1 == *b).flat_map(|stretch| match stretch {
        [first, second] => vec![(*first, *first), (*second, *second)],
        _ => vec![(stretch[0], stretch[stretch.len() - 1])],
    })
}
