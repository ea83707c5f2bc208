//! Moments between calls in new time: regions and the stops that stay.
//!
//! A moment inside a call keeps its distance from the call's start. One between two calls keeps its distance from
//! the end of the first, less what was cut out there, or its place in the gap where that was stretched; it never
//! leaves the gap.

use crate::definitions::{RegionSpan, Stop};
use crate::disturbance::Held;
use crate::rewrite::{Gaps, Manner};
use kizami_model::Moment;
use std::collections::HashMap;

/// A row in recorded and in new time.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovedRow {
    pub old: (i64, i64),
    pub new: (i64, i64),
}

/// The moments of one rank.
pub(super) struct Marks {
    pub regions: Vec<RegionSpan>,
    pub stops: Vec<Stop>,
    gaps: Gaps,
    threads: HashMap<u32, ThreadMarks>,
}

#[derive(Default)]
struct ThreadMarks {
    /// By time, the first last.
    left: Vec<(i64, Place)>,
    last: Option<MovedRow>,
}

/// Where a moment belongs.
#[derive(Clone, Copy)]
enum Place {
    RegionStart(usize),
    RegionEnd(usize),
    StopStart(usize),
    StopEnd(usize),
}

impl Marks {
    /// Of the regions of a rank, and of its stops; those the tracer held it in go with the tracer.
    pub(super) fn new(regions: &[RegionSpan], stops: &[Stop], manner: Manner) -> Marks {
        let regions = regions.to_vec();
        let stays = |stop: &&Stop| !manner.without_tracer || Held::of(stop).is_none();
        let stops: Vec<Stop> = stops.iter().filter(stays).cloned().collect();
        let mut threads: HashMap<u32, ThreadMarks> = HashMap::new();
        let mut add = |thread: u32, at: Moment, place| {
            threads.entry(thread).or_default().left.push((at.0, place));
        };
        for (index, region) in regions.iter().enumerate() {
            add(region.thread.0, region.start, Place::RegionStart(index));
            add(region.thread.0, region.end, Place::RegionEnd(index));
        }
        for (index, stop) in stops.iter().enumerate() {
            add(stop.thread.0, stop.start, Place::StopStart(index));
            add(stop.thread.0, stop.end, Place::StopEnd(index));
        }
        for marks in threads.values_mut() {
            marks.left.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        }
        Marks { regions, stops, gaps: manner.gaps, threads }
    }

    /// The next row of a thread; what lies before its end is moved.
    pub(super) fn row(&mut self, thread: u32, row: MovedRow) {
        let Some(marks) = self.threads.get_mut(&thread) else { return };
        let mut moved = Vec::new();
        while let Some((at, place)) = marks.left.pop_if(|(at, _)| *at < row.old.1) {
            moved.push((place, moved_to(at, marks.last, row, self.gaps)));
        }
        marks.last = Some(row);
        self.put(moved);
    }

    /// There are no more rows.
    pub(super) fn finish(&mut self) {
        let mut moved = Vec::new();
        for marks in self.threads.values_mut() {
            let shift_ns = marks.last.map_or(0, |last| last.old.1.saturating_sub(last.new.1));
            moved.extend(marks.left.drain(..).map(|(at, place)| (place, at.saturating_sub(shift_ns))));
        }
        self.put(moved);
    }

    fn put(&mut self, moved: Vec<(Place, i64)>) {
        for (place, at) in moved {
            match place {
                Place::RegionStart(index) => self.regions[index].start = Moment(at),
                Place::RegionEnd(index) => self.regions[index].end = Moment(at),
                Place::StopStart(index) => self.stops[index].start = Moment(at),
                Place::StopEnd(index) => self.stops[index].end = Moment(at),
            }
        }
    }
}

fn moved_to(at: i64, last: Option<MovedRow>, row: MovedRow, gaps: Gaps) -> i64 {
    if at >= row.old.0 {
        return row.new.0.saturating_add(at.saturating_sub(row.old.0)).min(row.new.1);
    }
    match last {
        None => at.saturating_sub(row.old.0.saturating_sub(row.new.0)),
        Some(last) => {
            let gap_ns = |first: (i64, i64), second: (i64, i64)| second.0.saturating_sub(first.1);
            let (old_ns, new_ns) = (gap_ns(last.old, row.old), gap_ns(last.new, row.new));
            let into_ns = at.saturating_sub(last.old.1).max(0);
            let into_ns = match gaps {
                Gaps::CutAtTheBeginning => into_ns.saturating_sub(old_ns.saturating_sub(new_ns).max(0)),
                Gaps::Stretched if old_ns == new_ns => into_ns,
                Gaps::Stretched => (into_ns as f64 * (new_ns as f64 / old_ns.max(1) as f64)).round() as i64,
            };
            last.new.1.saturating_add(into_ns.max(0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_stay_between_their_calls() {
        let last = MovedRow { old: (0, 100), new: (0, 90) };
        let row = MovedRow { old: (200, 300), new: (150, 250) };
        // 40 of the gap were taken out, at its beginning.
        let moved: Vec<i64> = [100, 120, 140, 199, 200, 299]
            .map(|at| moved_to(at, Some(last), row, Gaps::CutAtTheBeginning))
            .to_vec();
        assert_eq!(moved, [90, 90, 90, 149, 150, 249]);
        assert_eq!(moved_to(170, None, row, Gaps::CutAtTheBeginning), 120);
        let shorter = MovedRow { old: (200, 300), new: (150, 160) };
        assert_eq!(moved_to(299, Some(last), shorter, Gaps::CutAtTheBeginning), 160);
        let moved: Vec<i64> =
            [100, 150, 199, 200].map(|at| moved_to(at, Some(last), row, Gaps::Stretched)).to_vec();
        assert_eq!(moved, [90, 120, 149, 150]);
    }
}
