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

/// Sums by place, those with most of the critical path first, then with most work.
pub fn places(graph: &TaskGraph, path: &Path) -> Vec<PlaceSum> {
    let mut sums: Vec<PlaceSum> = Vec::new();
    let number = |place: Option<u32>| place.map_or(0, |place| place as usize + 1);
    let mut at = |place: Option<u32>, add: &mut dyn FnMut(&mut PlaceSum)| {
        if sums.len() <= number(place) {
            sums.resize(number(place) + 1, PlaceSum::default());
        }
        let sum = &mut sums[number(place)];
        sum.place = place;
        add(sum);
    };
    for task in graph.tasks() {
        at(task.place, &mut |sum| {
            sum.tasks += u64::from(!task.continued);
            sum.work += task.work();
            sum.waited += task.start - task.created;
            sum.longest = sum.longest.max(task.work());
        });
    }
    for stretch in &path.stretches {
        let length = stretch.to - stretch.from;
        at(graph.tasks()[stretch.task as usize].place, &mut |sum| sum.on_path += length);
    }
    sums.retain(|sum| sum.tasks > 0);
    sums.sort_by_key(|sum| (std::cmp::Reverse((sum.on_path, sum.work, sum.tasks)), sum.place));
    sums
}
