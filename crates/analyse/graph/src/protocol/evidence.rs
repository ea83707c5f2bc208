//! What all sends of a run show, added up by pair of hosts and size.

use super::Shown;
use super::hosts::Pairs;
use super::judge::{Judge, Verdict};
use crate::step::StepKind;

/// Sizes are distinguished by their number of bits.
pub(super) const CLASSES: usize = 65;

/// The class of a size.
#[inline]
pub(super) fn class(bytes: u64) -> usize {
    (u64::BITS - bytes.leading_zeros()) as usize
}

/// Sends of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    pub sends: u64,
    pub smallest_bytes: u64,
    pub largest_bytes: u64,
    pub shown: Shown,
    /// Posted in time, and over while the receiver was outside MPI.
    pub own_progress: u64,
    /// The largest that was over before its receive was posted.
    pub largest_eager_bytes: Option<u64>,
    /// The smallest that waited for its receive.
    pub smallest_waiting_bytes: Option<u64>,
}

impl Evidence {
    pub(super) const NONE: Evidence = Evidence {
        sends: 0,
        smallest_bytes: u64::MAX,
        largest_bytes: 0,
        shown: Shown { before_post: 0, when_in_mpi: 0, after_post: 0, late_progress: 0 },
        own_progress: 0,
        largest_eager_bytes: None,
        smallest_waiting_bytes: None,
    };

    /// One more send.
    fn add(&mut self, bytes: u64, verdict: Verdict) {
        self.sends += 1;
        self.smallest_bytes = self.smallest_bytes.min(bytes);
        self.largest_bytes = self.largest_bytes.max(bytes);
        match verdict {
            Verdict::Unposted | Verdict::Unknown | Verdict::InTime | Verdict::Hidden => {}
            Verdict::BeforePost => {
                self.shown.before_post += 1;
                self.largest_eager_bytes = self.largest_eager_bytes.max(Some(bytes));
            }
            Verdict::WhenInMpi => self.shown.when_in_mpi += 1,
            Verdict::AfterPost => {
                self.shown.after_post += 1;
                let smallest = self.smallest_waiting_bytes.map_or(bytes, |smallest| smallest.min(bytes));
                self.smallest_waiting_bytes = Some(smallest);
            }
            Verdict::LateProgress => self.shown.late_progress += 1,
            Verdict::OwnProgress => self.own_progress += 1,
        }
    }

    /// With what other sends show.
    pub(super) fn plus(self, other: &Evidence) -> Evidence {
        let both = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Evidence {
            sends: self.sends + other.sends,
            smallest_bytes: self.smallest_bytes.min(other.smallest_bytes),
            largest_bytes: self.largest_bytes.max(other.largest_bytes),
            shown: Shown {
                before_post: self.shown.before_post + other.shown.before_post,
                when_in_mpi: self.shown.when_in_mpi + other.shown.when_in_mpi,
                after_post: self.shown.after_post + other.shown.after_post,
                late_progress: self.shown.late_progress + other.shown.late_progress,
            },
            own_progress: self.own_progress + other.own_progress,
            largest_eager_bytes: self.largest_eager_bytes.max(other.largest_eager_bytes),
            smallest_waiting_bytes: both(self.smallest_waiting_bytes, other.smallest_waiting_bytes),
        }
    }
}

/// Of one pair of hosts, by class.
pub(super) type BySize = [Evidence; CLASSES];

/// Judges all sends of a share; by pair, where there are any. A share has senders on few hosts, so most pairs have none.
pub(super) fn gather(judge: &Judge<'_>, pairs: &Pairs) -> Vec<Option<Box<BySize>>> {
    let mut evidence = vec![None; pairs.list.len()];
    let mut sends = Vec::new();
    for step in judge.waiting() {
        judge.step(step, &mut sends);
        for send in &sends {
            // A send that is polled for is over in the call behind the polls.
            let polled = step.kind() == StepKind::Polling;
            if pairs.shows(send.tie.place()) && !(polled && send.verdict != Verdict::AfterPost) {
                let of_pair = &mut evidence[pairs.of(send.tie.place())];
                let of_pair = of_pair.get_or_insert_with(|| Box::new([Evidence::NONE; CLASSES]));
                of_pair[class(send.tie.bytes())].add(send.tie.bytes(), send.verdict);
            }
        }
    }
    evidence
}

/// What all shares show together, by pair.
pub(super) fn sum(pairs: &Pairs, of_shares: Vec<Vec<Option<Box<BySize>>>>) -> Vec<BySize> {
    let mut sums = vec![[Evidence::NONE; CLASSES]; pairs.list.len()];
    for of_share in of_shares {
        let shown = sums.iter_mut().zip(of_share).filter_map(|(sum, of_pair)| Some((sum, of_pair?)));
        for (sum, of_pair) in shown {
            sum.iter_mut().zip(of_pair.iter()).for_each(|(sum, one)| *sum = sum.plus(one));
        }
    }
    sums
}
