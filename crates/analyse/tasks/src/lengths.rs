//! Tasks by place and by how long they run: four buckets to a factor of two.

use crate::{Scope, Survey};
use kizami_model::Length;
use rayon::prelude::*;
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
    /// For how long in the requested range.
    pub work: Length,
    /// The longest, also outside that range.
    pub longest: Length,
    /// How many have a length of each bucket, and for how long those run.
    pub buckets: Vec<(u64, Length)>,
}

impl PlaceLengths {
    fn add(&mut self, bucket: usize, tasks: u64, work: Length) {
        self.tasks += tasks;
        self.work += work;
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, (0, Length::ZERO));
        }
        let sum = &mut self.buckets[bucket];
        *sum = (sum.0 + tasks, sum.1 + work);
    }
}

type Places = FxHashMap<Option<u32>, PlaceLengths>;

/// Tasks that one thread adds up in a row, at least.
const CHUNK: usize = 1 << 17;

impl Survey {
    /// The places of what is in a scope, those with most work first.
    pub fn lengths(&self, scope: &Scope) -> Vec<PlaceLengths> {
        let add = |mut places: Places, number: u32| {
            let Some(work) = self.part_in(scope, number) else { return places };
            let task = &self.graph().tasks()[number as usize];
            let bucket = bucket(task.work());
            let sum = places.entry(task.place).or_default();
            sum.longest = sum.longest.max(task.work());
            sum.add(bucket, 1, work);
            places
        };
        let both = |mut places: Places, others: Places| {
            for (place, other) in others {
                let sum = places.entry(place).or_default();
                sum.longest = sum.longest.max(other.longest);
                let buckets = other.buckets.iter().enumerate();
                buckets.for_each(|(bucket, (tasks, work))| sum.add(bucket, *tasks, *work));
            }
            places
        };
        let numbers = (0..self.graph().len() as u32).into_par_iter().with_min_len(CHUNK);
        let places = numbers.fold(Places::default, add).reduce(Places::default, both);
        let mut list: Vec<PlaceLengths> =
            places.into_iter().map(|(place, sum)| PlaceLengths { place, ..sum }).collect();
        list.sort_by_key(|sum| (Reverse((sum.work, sum.tasks)), sum.place));
        list
    }
}
