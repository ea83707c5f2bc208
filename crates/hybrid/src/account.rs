//! The time of one rank's threads, moment by moment: in a region, in a call, or neither.

use crate::loss::LossKind;
use crate::window::Window;
use kizami_model::{Call, Length, Moment, Op};
use kizami_trace::ParallelRow;
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

    /// One thread is outside of regions, until the next begins there; gives when that was accounted for.
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
        let row = &region.row;
        let has = i64::from(row.threads.min(threads).max(1));
        let capacity = length * has;
        let running = (region.running - in_calls).at_least_zero().min(capacity);
        let mut left = capacity - running - in_calls.min(capacity - running);
        self.outside_mpi += length;
        self.in_regions += capacity;
        self.useful += running;
        self.useful_in_regions += running;
        let imbalance = (row.longest * has - region.running).at_least_zero();
        let parts = [
            (LossKind::Tracer, row.tracer),
            (LossKind::Away, row.away),
            (LossKind::Locks, row.locked),
            (LossKind::Imbalance, imbalance),
            (LossKind::InRegion, Length(i64::MAX)),
        ];
        for (kind, part) in parts {
            let part = part.min(left);
            left -= part;
            self.lose(kind, row.callsite, None, part);
        }
        self.lose(LossKind::FewerThreads, row.callsite, None, length * (i64::from(threads) - has));
    }
}

/// A region that lies in no other.
#[derive(Clone, Debug)]
pub struct Region {
    pub row: ParallelRow,
    /// How long its threads ran, with those of regions inside it.
    pub running: Length,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::{Rank, ThreadIndex};

    #[test]
    fn useful_time_and_losses_add_up() {
        let row = ParallelRow {
            rank: Rank(0),
            region: 1,
            within: None,
            callsite: Some(3),
            thread: ThreadIndex(0),
            start: Moment(100),
            end: Moment(140),
            threads: 4,
            running: Length(100),
            longest: Length(40),
            locked: Length::ZERO,
            away: Length::ZERO,
            tracer: Length::ZERO,
            tasks: 0,
            runtime: None,
        };
        let region = Region { running: row.running, row };
        let mut account = Account::default();
        account.add_rank(Window { from: Moment(0), to: Moment(200) }, 4, &[region], &[]);
        let lost: i64 = account.losses.values().map(|length| length.0).sum();
        assert_eq!(account.all.0, account.useful.0 + lost);
        assert_eq!((account.all.0, account.useful.0), (800, 260));
        let of =
            |kind| account.losses.iter().filter(|(key, _)| key.kind == kind).map(|(_, l)| l.0).sum::<i64>();
        assert_eq!((of(LossKind::Imbalance), of(LossKind::Serial)), (60, 480));
    }
}
