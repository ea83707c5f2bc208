//! One round of questions, combined into the tightest interval they allow.

use crate::UNMEASURED_DRIFT_PPB;

/// Readings are whole nanoseconds, each half a one off at most.
const ROUNDING_NS: i64 = 1;
/// How much faster than the rounds around it say a clock may have run within a round.
const DRIFT_SLACK_PPB: f64 = 2_000.0;

/// One question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Own clock before the question left.
    pub sent_ns: i64,
    /// What the other's clock showed in between.
    pub reference_ns: i64,
    /// Own clock once the answer was there.
    pub received_ns: i64,
}

impl Sample {
    /// Own clock halfway.
    fn middle_ns(self) -> i64 {
        self.sent_ns.saturating_add(self.round_trip_ns() / 2)
    }

    fn round_trip_ns(self) -> i64 {
        self.received_ns.saturating_sub(self.sent_ns)
    }
}

/// What one round says: at `at_ns` the offset lay between `low_ns` and `high_ns`.
///
/// The other's clock was read at some own time between `sent` and `received`, so every sample bounds the
/// offset (reference minus own) by `[reference - received, reference - sent]`. The truth lies in all of these
/// intervals, hence in what they have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Own time the interval is for.
    pub at_ns: i64,
    /// The offset was not less.
    pub low_ns: i64,
    /// The offset was not more.
    pub high_ns: i64,
    /// How many samples agreed on it.
    pub samples: u32,
}

impl Epoch {
    /// The middle of the interval.
    pub fn offset_ns(&self) -> i64 {
        self.low_ns.saturating_add(self.width_ns() / 2)
    }

    /// How far the truth can be from the middle.
    pub fn error_ns(&self) -> i64 {
        self.width_ns() / 2 + self.width_ns() % 2
    }

    fn width_ns(&self) -> i64 {
        self.high_ns.saturating_sub(self.low_ns).max(0)
    }

    /// Combines the samples of one round between clocks that run apart by `drift_ppb`, give or take
    /// `slack_ppb`: a round takes a moment, and the offset moves in it. None without a usable sample.
    pub(crate) fn combine(samples: &[Sample], drift_ppb: f64, slack_ppb: f64) -> Option<Epoch> {
        let usable = || samples.iter().filter(|sample| sample.received_ns >= sample.sent_ns);
        let first = usable().next()?.middle_ns();
        let sum: i128 = usable().map(|sample| i128::from(sample.middle_ns()) - i128::from(first)).sum();
        let at_ns = first.saturating_add((sum / usable().count() as i128) as i64);
        let intervals = || usable().map(|sample| interval(*sample, at_ns, drift_ppb, slack_ppb));
        let low_ns = intervals().map(|(low, _)| low).max()?;
        let high_ns = intervals().map(|(_, high)| high).min()?;
        let samples = usable().count() as u32;
        if low_ns <= high_ns {
            return Some(Epoch { at_ns, low_ns, high_ns, samples });
        }
        // The samples contradict each other: a clock was set within the round. All that can be said is that
        // the truth lies in one of them.
        let low_ns = intervals().map(|(low, _)| low).min()?;
        let high_ns = intervals().map(|(_, high)| high).max()?;
        Some(Epoch { at_ns, low_ns, high_ns, samples })
    }
}

/// What a sample says about the offset at `at_ns`.
fn interval(sample: Sample, at_ns: i64, drift_ppb: f64, slack_ppb: f64) -> (i64, i64) {
    let later_ns = at_ns.saturating_sub(sample.middle_ns()) as f64;
    let moved_ns = (later_ns * drift_ppb * 1e-9) as i64;
    let away_ns = later_ns.abs() + sample.round_trip_ns() as f64 / 2.0;
    let unsure_ns = (away_ns * slack_ppb * 1e-9).ceil() as i64 + ROUNDING_NS;
    let from = |own_ns: i64| sample.reference_ns.saturating_sub(own_ns).saturating_add(moved_ns);
    (from(sample.received_ns).saturating_sub(unsure_ns), from(sample.sent_ns).saturating_add(unsure_ns))
}

/// The epochs of all rounds, in the order of time. Rounds are first taken as if clocks could run apart by any
/// believable drift; the line between the neighbours of each then says by how much they really did.
pub(crate) fn epochs_of<'a>(rounds: impl Iterator<Item = &'a [Sample]>) -> Vec<Epoch> {
    let mut rough: Vec<(Epoch, &[Sample])> = rounds
        .filter_map(|samples| Some((Epoch::combine(samples, 0.0, UNMEASURED_DRIFT_PPB)?, samples)))
        .collect();
    rough.sort_by_key(|(epoch, _)| epoch.at_ns);
    // Two rounds at one moment would have no line between them.
    rough.dedup_by_key(|(epoch, _)| epoch.at_ns);
    let refined = |index: usize| {
        let (epoch, samples) = rough[index];
        let before = rough[index.saturating_sub(1)].0;
        let after = rough[(index + 1).min(rough.len() - 1)].0;
        let seconds = after.at_ns.saturating_sub(before.at_ns) as f64 * 1e-9;
        if seconds <= 0.0 {
            return epoch;
        }
        let drift_ppb = after.offset_ns().saturating_sub(before.offset_ns()) as f64 / seconds;
        let unsure_ns = (before.error_ns() + after.error_ns()) as f64;
        let slack_ppb = (unsure_ns / seconds + DRIFT_SLACK_PPB).min(UNMEASURED_DRIFT_PPB);
        Epoch::combine(samples, drift_ppb, slack_ppb).unwrap_or(epoch)
    };
    (0..rough.len()).map(refined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_cut_each_others_intervals() {
        let slow_there = Sample { sent_ns: 1_000, reference_ns: 9_000, received_ns: 2_000 };
        let slow_back = Sample { sent_ns: 3_000, reference_ns: 10_500, received_ns: 4_000 };
        let epoch = Epoch::combine(&[slow_there, slow_back], 0.0, 0.0).unwrap();
        assert_eq!((epoch.low_ns, epoch.high_ns, epoch.samples), (6_999, 7_501, 2));
        assert_eq!((epoch.at_ns, epoch.offset_ns(), epoch.error_ns()), (2_500, 7_250, 251));
    }

    #[test]
    fn samples_that_contradict_each_other_are_all_believed() {
        let before = Sample { sent_ns: 0, reference_ns: 100, received_ns: 10 };
        let after = Sample { sent_ns: 20, reference_ns: 9_000, received_ns: 30 };
        let epoch = Epoch::combine(&[before, after], 0.0, 0.0).unwrap();
        assert_eq!((epoch.low_ns, epoch.high_ns), (89, 8_981));
    }

    #[test]
    fn answers_before_their_question_are_left_out() {
        let nonsense = Sample { sent_ns: 10, reference_ns: 0, received_ns: 5 };
        assert_eq!(Epoch::combine(&[nonsense], 0.0, 0.0), None);
        assert_eq!(Epoch::combine(&[], 0.0, 0.0), None);
    }

    #[test]
    fn a_long_round_is_straightened_by_the_drift_around_it() {
        // 50 ppm apart, rounds that take 2 ms: unstraightened, a round's samples would disagree by 100 ns.
        let round = |start_ns: i64| -> Vec<Sample> {
            let sample = |k: i64| {
                let sent_ns = start_ns + k * 500_000;
                let middle = sent_ns + 500;
                Sample { sent_ns, reference_ns: middle + middle / 20_000, received_ns: sent_ns + 1_000 }
            };
            (0..5).map(sample).collect()
        };
        let rounds: Vec<Vec<Sample>> = (0..5).map(|k| round(k * 2_000_000_000)).collect();
        for epoch in epochs_of(rounds.iter().map(Vec::as_slice)) {
            let truth = epoch.at_ns / 20_000;
            assert!((epoch.offset_ns() - truth).abs() <= 3, "{epoch:?}");
            assert!(epoch.error_ns() <= 505, "{epoch:?}");
        }
    }
}
