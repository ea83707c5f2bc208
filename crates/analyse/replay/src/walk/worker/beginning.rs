//! When a step begins in each lane: the call before it has ended, and the gap between them has passed.

use super::super::observer::Observer;
use super::super::strand::{State, Walking};
use super::Worker;
use crate::lane_moment::LaneMoment;
use kizami_graph::{Step, StepKind};
use kizami_model::Length;

impl<const LANES: usize, O: Observer<LANES>> Worker<'_, LANES, O> {
    pub(super) fn begin(&mut self, strand: u32, step: &Step) {
        let walking = &mut self.walking[strand as usize];
        match (&walking.last, step.kind()) {
            (None, _) => {
                let shift = self.shifts.get(&strand).copied().unwrap_or([Length::ZERO; LANES]);
                walking.start = shift.map(|shift| LaneMoment::earlier_than(step.start, shift));
            }
            (Some(last), StepKind::Part) => {
                let into = step.start.saturating_since(last.recorded_start);
                let recorded = last.recorded_end.saturating_since(last.recorded_start);
                for lane in 0..LANES {
                    let length = last.end[lane].saturating_since(last.start[lane]);
                    let shorter = recorded.saturating_sub(length).clamp(Length::ZERO, into.at_least_zero());
                    walking.start[lane] = last.start[lane].saturating_add(into - shorter);
                }
            }
            (Some(_), _) => self.pass_gap(strand, step),
        }
        let walking = &mut self.walking[strand as usize];
        for lane in self.lanes.overlapping.each() {
            let last_end = walking.last.as_ref().map(|last| last.end[lane]);
            walking.start[lane] = self.overlaps[strand as usize][lane].hold(walking.start[lane], last_end);
        }
        for lane in self.lanes.modelled.each() {
            self.in_models[strand as usize][lane].begin(walking.start[lane]);
        }
        walking.state = State::Inside;
        walking.tie = 0;
        walking.late = None;
        walking.late_at = [LaneMoment::MINUS_INFINITY; LANES];
        walking.polls = None;
        walking.missed = false;
        walking.floor = [LaneMoment::MINUS_INFINITY; LANES];
        if walking.has_child_threads {
            self.release_child_threads(strand, step.end);
        }
    }

    /// From the end of the call before to the start of a step.
    #[inline]
    fn pass_gap(&mut self, strand: u32, step: &Step) {
        let Walking { last, start, removed, debt, step: index, .. } = &mut self.walking[strand as usize];
        let Some(last) = last else { return };
        let gap = step.start.saturating_since(last.recorded_end);
        let wanted = step.before.saturating_add(*debt);
        let taken = wanted.min(gap).at_least_zero();
        *removed = removed.saturating_add(step.before);
        *debt = wanted - taken;
        for (start, end) in start.iter_mut().zip(&last.end) {
            *start = end.saturating_add(gap);
        }
        let mut others = self.lanes.with_other_gap(step.site(), *index, gap);
        if taken != Length::ZERO {
            others = others.and(self.lanes.without_tracer);
        }
        for lane in others.each() {
            let setting = &self.lanes.each[lane];
            let rank = self.graph.strands[(strand + self.range.start) as usize].rank.0;
            let gap = if setting.without_tracer { gap - taken } else { gap };
            let gap = setting.gap(rank, step.site(), *index, gap);
            let free = match self.lanes.overlapping.has(lane) {
                true => {
                    let overlap = &mut self.overlaps[strand as usize][lane];
                    overlap.follow(setting, step.site(), last.end[lane], gap);
                    overlap.free
                }
                false => last.end[lane],
            };
            start[lane] = free.saturating_add(gap);
        }
    }
}
