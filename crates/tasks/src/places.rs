//! What tasks of each place add up to.

use crate::{Path, TaskGraph};
use kizami_model::Length;

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

/// Sums of all places.
#[derive(Debug, Default)]
pub(crate) struct Sums(Vec<PlaceSum>);

impl Sums {
    /// That of a place.
    #[inline]
    pub(crate) fn at(&mut self, place: Option<u32>) -> &mut PlaceSum {
        let number = place.map_or(0, |place| place as usize + 1);
        if self.0.len() <= number {
            self.0.resize(number + 1, PlaceSum::default());
        }
        self.0[number].place = place;
        &mut self.0[number]
    }

    /// Those with most of the critical path first, then with most work.
    pub(crate) fn in_order(mut self) -> Vec<PlaceSum> {
        self.0.retain(|sum| sum.tasks > 0);
        self.0.sort_by_key(|sum| (std::cmp::Reverse((sum.on_path, sum.work, sum.tasks)), sum.place));
        self.0
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
