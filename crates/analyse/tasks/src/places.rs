//! What tasks of each place add up to.

use crate::{Path, TaskGraph};
use kizami_model::Length;
use rustc_hash::FxHashMap;

/// All tasks of one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceSum {
    /// Index in `defs/callsites`.
    pub place: Option<u32>,
    /// How many.
    pub tasks: u64,
    /// How long they run, added up.
    pub work: Length,
    /// How long they waited between being made and starting, added up.
    pub waited: Length,
    /// The longest.
    pub longest: Length,
    /// How much of the critical path is theirs.
    pub on_path: Length,
}

impl PlaceSum {
    /// With one task more.
    pub(crate) fn add(&mut self, continued: bool, work: Length, waited: Length) {
        self.tasks += u64::from(!continued);
        self.work += work;
        self.waited += waited;
        self.longest = self.longest.max(work);
    }
}

/// Places up to here have room made for them; a number out of a damaged table must not.
const NEAR: usize = 1 << 16;

/// Sums of all places.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    near: Vec<PlaceSum>,
    far: FxHashMap<usize, PlaceSum>,
}

impl Sums {
    /// That of a place.
    #[inline]
    pub(crate) fn at(&mut self, place: Option<u32>) -> &mut PlaceSum {
        let number = place.map_or(0, |place| place as usize + 1);
        if number >= NEAR {
            return self.far.entry(number).or_insert(PlaceSum { place, ..PlaceSum::default() });
        }
        if self.near.len() <= number {
            self.near.resize(number + 1, PlaceSum::default());
        }
        self.near[number].place = place;
        &mut self.near[number]
    }

    /// Those with most of the critical path first, then with most work.
    pub(crate) fn in_order(self) -> Vec<PlaceSum> {
        let mut all = self.near;
        all.extend(self.far.into_values());
        all.retain(|sum| sum.tasks > 0);
        all.sort_by_key(|sum| (std::cmp::Reverse((sum.on_path, sum.work, sum.tasks)), sum.place));
        all
    }
}

/// Sums by place, those with most of the critical path first, then with most work.
pub fn places(graph: &TaskGraph, path: &Path) -> Vec<PlaceSum> {
    let mut sums = Sums::default();
    for task in graph.tasks() {
        sums.at(task.place).add(task.continued, task.work(), task.start - task.created);
    }
    for stretch in &path.stretches {
        sums.at(graph.tasks()[stretch.task as usize].place).on_path += stretch.to - stretch.from;
    }
    sums.in_order()
}
