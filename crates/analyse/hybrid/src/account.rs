//! The time of one rank's threads, moment by moment: in a region, in a call, or neither.

use crate::loss::LossKind;
use crate::regions::Region;
use crate::window::Window;
use kizami_model::{Call, Length, Moment, Op};
use std::collections::BTreeMap;

/// Where and to what time was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub kind: LossKind,
    pub callsite: Option<u32>,
    pub op: Option<u16>,
}

/// What became of the time of threads.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Time of all threads.
    pub all: Length,
    /// In which they computed.
    pub useful: Length,
    /// Time of all threads in regions, and what they computed there.
    pub in_regions: Length,
    pub useful_in_regions: Length,
    /// The part of that in which they slept; none if that is not known.
    pub asleep: Option<Length>,
    /// Time of ranks outside MPI, and of all.
    pub outside_mpi: Length,
    pub ranks: Length,
    pub losses: BTreeMap<Key, Length>,
}

impl Account {
    fn lose(&mut self, kind: LossKind, callsite: Option<u32>, op: Option<Op>, length: Length) {
        if length > Length::ZERO {
            *self.losses.entry(Key { kind, callsite, op: op.map(|op| op.0) }).or_default() += length;
        }
    }

    /// Adds a rank with so many threads. Its regions lie in no other and come by start, as its calls do.
    pub fn add_rank(&mut self, window: Window, threads: u32, regions: &[Region], calls: &[Call]) {
        self.all += window.length() * i64::from(threads);
        self.ranks += window.length();
        let mut at = window.from;
        let mut calls = calls.iter().peekable();
        for region in regions {
            let (row, end) = (&region.row, region.row.start);
            at = self.outside(window, threads, (at, end), &mut calls, row.callsite);
            let length = window.part(at.max(row.start), row.end);
            at = at.max(row.end);
            let mut in_calls = Length::ZERO;
            while let Some(call) = calls.next_if(|call| call.start < row.end) {
                let inside = window.part(call.start, call.end);
                in_calls += inside;
                self.lose(LossKind::Mpi, call.callsite, Some(call.op), inside);
            }
            self.region(region, threads, length, in_calls);
        }
        self.outside(window, threads, (at, window.to), &mut calls, None);
    }

    /// One thread is outside of regions, until the next begins there; returns when that was accounted for.
    fn outside<'a>(
        &mut self,
        window: Window,
        threads: u32,
        (from, to): (Moment, Moment),
        calls: &mut std::iter::Peekable<impl Iterator<Item = &'a Call>>,
        next: Option<u32>,
    ) -> Moment {
        let others = i64::from(threads) - 1;
        let mut at = from;
        let compute = |account: &mut Account, from: Moment, to: Moment| {
            let length = window.part(from, to);
            account.useful += length;
            account.outside_mpi += length;
            account.lose(LossKind::Serial, next, None, length * others);
        };
        while let Some(call) = calls.next_if(|call| call.start < to) {
            compute(self, at, call.start.max(at));
            // Calls of several threads may lie above each other.
            let inside = window.part(call.start.max(at), call.end);
            self.lose(LossKind::Mpi, call.callsite, Some(call.op), inside);
            self.lose(LossKind::IdleInMpi, call.callsite, Some(call.op), inside * others);
            at = at.max(call.end);
        }
        compute(self, at, to);
        at.max(to)
    }

    /// A region that lasted so long, of which its threads were so long in calls.
    fn region(&mut self, region: &Region, threads: u32, length: Length, in_calls: Length) {
        let losses = region.losses(threads, length, in_calls);
        self.outside_mpi += length;
        self.in_regions += losses.capacity;
        self.useful += losses.running;
        self.useful_in_regions += losses.running;
        if let Some(asleep) = region.asleep {
            *self.asleep.get_or_insert(Length::ZERO) += asleep.min(losses.running);
        }
        for (kind, part) in losses.inside {
            self.lose(kind, region.row.callsite, None, part);
        }
        self.lose(LossKind::FewerThreads, region.row.callsite, None, losses.missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regions::RankRegions;
    use kizami_model::{Rank, ThreadIndex};
    use kizami_trace::ParallelRow;

    fn region(start: i64, end: i64) -> Region {
        let row = ParallelRow {
            rank: Rank(0),
            region: 1,
            within: None,
            callsite: Some(3),
            thread: ThreadIndex(0),
            start: Moment(start),
            end: Moment(end),
            threads: 4,
            running: Length(100),
            longest: Length(40),
            locked: Length::ZERO,
            away: Length::ZERO,
            tracer: Length::ZERO,
            tasks: 0,
            runtime: None,
            asleep: None,
        };
        Region { running: row.running, asleep: row.asleep, row }
    }

    #[test]
    fn useful_time_and_losses_add_up() {
        let mut account = Account::default();
        account.add_rank(Window { from: Moment(0), to: Moment(200) }, 4, &[region(100, 140)], &[]);
        let lost: i64 = account.losses.values().map(|length| length.0).sum();
        assert_eq!(account.all.0, account.useful.0 + lost);
        assert_eq!((account.all.0, account.useful.0), (800, 260));
        let of =
            |kind| account.losses.iter().filter(|(key, _)| key.kind == kind).map(|(_, l)| l.0).sum::<i64>();
        assert_eq!((of(LossKind::Imbalance), of(LossKind::Serial)), (60, 480));
    }

    #[test]
    fn a_thread_that_also_calls_outside_of_regions_is_none_of_those_that_run_them() {
        let regions = RankRegions { widest: 4, outer: vec![region(100, 140), region(200, 240)] };
        let has = |thread, calls: &[(i64, i64)]| {
            regions.has_thread(thread, calls.iter().map(|(start, end)| (Moment(*start), Moment(*end))))
        };
        assert!(has(0, &[(0, 50), (110, 120)]));
        assert!(has(2, &[(110, 120), (200, 240)]));
        assert!(!has(2, &[(110, 120), (150, 160)]));
        assert!(!has(2, &[(110, 220)]));
        assert!(!has(2, &[(0, 1000)]));
    }
}
