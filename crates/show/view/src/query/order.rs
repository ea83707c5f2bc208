//! The order ranks are drawn in: by number, by how long they block, or alike ones side by side.

use super::Selection;
use super::timeline::timeline;
use crate::index::Index;
use crate::index::category::{CATEGORIES, Category};
use kizami_model::Rank;
use serde::Deserialize;

/// Stretches of time in which ranks are compared.
const STRETCHES: usize = 32;
/// Rounds in which the direction is found in which ranks differ most.
const ROUNDS: usize = 24;

/// How ranks are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// By number.
    #[default]
    Rank,
    /// Those that are longest in calls that block first, whether they wait there or not.
    Wait,
    /// Those that do the same at the same time side by side.
    Cluster,
}

impl Order {
    /// The ranks of a selection in this order.
    pub fn of(self, index: &Index, selection: &Selection) -> Vec<u32> {
        let ranks = &selection.ranks;
        let columns = match self {
            Order::Rank => return ranks.clone(),
            Order::Wait => 1,
            Order::Cluster => STRETCHES,
        };
        let weighed = index.weighed(ranks);
        let alone: Vec<u32> = weighed.iter().map(|(rank, _)| *rank).collect();
        let shares = timeline(index, &alone, selection.from.0, selection.to.0, columns, alone.len()).shares;
        let vectors: Vec<&[u8]> = shares.chunks_exact((columns * CATEGORIES).max(1)).collect();
        let weighed: Vec<(&[u8], f64)> =
            vectors.iter().copied().zip(weighed.iter().map(|(_, weight)| *weight as f64)).collect();
        let keys: Vec<f64> = match self {
            Order::Wait => vectors.iter().map(|shares| -blocking(shares)).collect(),
            _ => along_the_widest(&weighed),
        };
        let key = |place: usize| match index.alike() {
            Some(rank_classes) => alone.binary_search(&rank_classes.like(Rank(ranks[place])).0).unwrap_or(0),
            None => place,
        };
        let mut order: Vec<(usize, u32)> = (0..ranks.len()).map(|place| (key(place), ranks[place])).collect();
        order.sort_by(|a, b| keys[a.0].total_cmp(&keys[b.0]).then(a.1.cmp(&b.1)));
        order.into_iter().map(|(_, rank)| rank).collect()
    }
}

fn blocking(shares: &[u8]) -> f64 {
    f64::from(shares[Category::Receive as usize]) + f64::from(shares[Category::Collective as usize])
}

/// Where each vector lies along the direction in which they differ most: the first principal component. Each counts as often
/// as its weight says.
fn along_the_widest(vectors: &[(&[u8], f64)]) -> Vec<f64> {
    let Some(length) = vectors.first().map(|(vector, _)| vector.len()) else { return Vec::new() };
    let mut mean = vec![0.0; length];
    let all: f64 = vectors.iter().map(|(_, weight)| weight).sum();
    for (vector, weight) in vectors {
        let sums = mean.iter_mut().zip(*vector);
        sums.for_each(|(sum, share)| *sum += f64::from(*share) * weight / all);
    }
    let project = |direction: &[f64]| -> Vec<f64> {
        let dot = |(vector, _): &(&[u8], f64)| {
            let parts = vector.iter().zip(&mean).zip(direction);
            parts.map(|((share, mean), way)| (f64::from(*share) - mean) * way).sum()
        };
        vectors.iter().map(dot).collect()
    };
    // Any direction that is not likely to be at right angles to it.
    let mut direction: Vec<f64> = (0..length).map(|place| 1.0 + (place % 7) as f64 / 7.0).collect();
    for _ in 0..ROUNDS {
        let lengths = project(&direction);
        direction.fill(0.0);
        for ((vector, weight), along) in vectors.iter().zip(lengths) {
            let parts = direction.iter_mut().zip(vector.iter().zip(&mean));
            parts.for_each(|(way, (share, mean))| *way += weight * along * (f64::from(*share) - mean));
        }
        let norm = direction.iter().map(|way| way * way).sum::<f64>().sqrt();
        if norm == 0.0 {
            break;
        }
        direction.iter_mut().for_each(|way| *way /= norm);
    }
    project(&direction)
}
