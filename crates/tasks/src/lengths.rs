//! Tasks by place and by how long they run: four buckets to a factor of two.

use crate::{Scope, Survey};
use kizami_model::Length;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// The bucket of a length. Those below 8 have one each.
pub fn bucket(length: Length) -> usize {
    let length = length.0.max(0) as u64;
    match length.checked_ilog2() {
        Some(top) if top >= 3 => (top as usize - 1) * 4 + (length >> (top - 2) & 3) as usize,
        _ => length as usize,
    }
}

/// The shortest length of a bucket.
pub fn shortest(bucket: usize) -> Length {
    match bucket {
        0..8 => Length(bucket as i64),
        _ => Length(((4 + bucket as i64 % 4) << (bucket / 4 - 1)).max(0)),
    }
}

/// The tasks of one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceLengths {
    /// Index in `defs/callsites`.
    pub place: Option<u32>,
    /// How many run.
    pub tasks: u64,
    /// For how long in the range that was asked for.
    pub work: Length,
    /// The longest, also outside that range.
    pub longest: Length,
    /// How many have a length of each bucket, and for how long those run.
    pub buckets: Vec<(u64, Length)>,
}

impl Survey {
    /// The places of what is in a scope, those with most work first.
    pub fn lengths(&self, scope: &Scope) -> Vec<PlaceLengths> {
        let mut places: FxHashMap<Option<u32>, PlaceLengths> = FxHashMap::default();
        for (task, number) in self.graph().tasks().iter().zip(0..) {
            let Some(work) = self.part_in(scope, number) else { continue };
            let sum = places.entry(task.place).or_default();
            sum.tasks += 1;
            sum.work += work;
            sum.longest = sum.longest.max(task.work());
            let bucket = bucket(task.work());
            if sum.buckets.len() <= bucket {
                sum.buckets.resize(bucket + 1, (0, Length::ZERO));
            }
            sum.buckets[bucket].0 += 1;
            sum.buckets[bucket].1 += work;
        }
        let mut list: Vec<PlaceLengths> =
            places.into_iter().map(|(place, sum)| PlaceLengths { place, ..sum }).collect();
        list.sort_by_key(|sum| (Reverse((sum.work, sum.tasks)), sum.place));
        list
    }
}
