//! Repeating something until its median is known well enough.
//!
//! Repetitions are made in batches. After each one, the latest start and end of every repetition are found at rank 0,
//! which decides how many more there are, and broadcasts it.

use crate::command::Limits;
use crate::rank::Rank;
use crate::subject::{Sample, Subject};
use kizami_mpi::MpiError;
use kizami_stats::{median, sorted};

const WARM_UPS: usize = 2;
const FEWEST: usize = 5;
const BATCH: usize = 10;

/// What came out.
#[derive(Debug)]
pub(crate) struct Measured {
    /// In the order they were measured; only rank 0 has them.
    pub spans_ns: Vec<f64>,
    /// All ranks know it.
    pub median_ns: f64,
}

/// Measures one call after a barrier. Only rank 0 gets the span.
pub(crate) fn once(rank: &Rank, subject: &mut dyn Subject) -> Result<f64, MpiError> {
    Ok(batch(rank, subject, 1)?[0])
}

/// Repeats it within limits.
pub(crate) fn repeat(rank: &Rank, subject: &mut dyn Subject, limits: Limits) -> Result<Measured, MpiError> {
    let mut warm_up_ns = f64::INFINITY;
    for _ in 0..WARM_UPS {
        warm_up_ns = subject_alone(rank, subject)?.min(warm_up_ns);
    }
    let start_ns = rank.clock.now_ns();
    let mut spans_ns = Vec::new();
    loop {
        let used_ns = rank.clock.now_ns() - start_ns;
        let median_ns = median(&sorted(&spans_ns)).unwrap_or_default();
        let plan = [next_batch(&spans_ns, used_ns, warm_up_ns, limits) as f64, median_ns];
        let [next, median_ns] = rank.broadcast(plan)?;
        if next == 0.0 {
            return Ok(Measured { spans_ns, median_ns });
        }
        spans_ns.extend(batch(rank, subject, next as usize)?);
    }
}

/// Does it without noting anything but this rank's own time.
fn subject_alone(rank: &Rank, subject: &mut dyn Subject) -> Result<f64, MpiError> {
    rank.barrier()?;
    let start_ns = rank.clock.now_ns();
    subject.once(rank)?;
    Ok(rank.clock.now_ns() - start_ns)
}

/// So many repetitions; the spans are right at rank 0 only.
fn batch(rank: &Rank, subject: &mut dyn Subject, count: usize) -> Result<Vec<f64>, MpiError> {
    let mut mine = [0.0; 2 * BATCH];
    let mut latest = [0.0; 2 * BATCH];
    for pair in mine[..2 * count].as_chunks_mut::<2>().0 {
        rank.barrier()?;
        let Sample { start_ns, end_ns } = subject.once(rank)?;
        *pair = [start_ns, end_ns];
    }
    rank.mpi.largest(&rank.world, &mine[..2 * count], &mut latest[..2 * count])?;
    // Clocks of different hosts are compared with an error, and may show an end before the start.
    Ok(latest[..2 * count].as_chunks::<2>().0.iter().map(|[start, end]| (end - start).max(0.0)).collect())
}

/// How many more there shall be; 0 if it is enough. How long one takes is judged by the shortest, since on a busy host
/// any single one may have been interrupted for longer than all the time there is.
fn next_batch(spans_ns: &[f64], used_ns: f64, warm_up_ns: f64, limits: Limits) -> usize {
    let count = spans_ns.len();
    let left = limits.most_repetitions.max(1).saturating_sub(count);
    let seconds_ns = limits.seconds * 1e9;
    if count == 0 {
        return if warm_up_ns > seconds_ns { 1 } else { FEWEST.min(left) };
    }
    let shortest_ns = spans_ns.iter().copied().fold(warm_up_ns, f64::min);
    if count < FEWEST && shortest_ns <= seconds_ns {
        return (FEWEST - count).min(left);
    }
    let left_ns = seconds_ns - used_ns;
    if left_ns <= 0.0 || is_steady(spans_ns, limits.tolerance) {
        return 0;
    }
    // As many as the time left allows, and to the next multiple of a batch.
    let affordable = (left_ns * count as f64 / used_ns.max(1.0)).ceil() as usize;
    (BATCH - count % BATCH).min(affordable.max(1)).min(left)
}

/// Whether the 95 % interval of the median is within a tolerance of it. The interval is between two order statistics;
/// there is none for fewer than six.
fn is_steady(spans_ns: &[f64], tolerance: f64) -> bool {
    let count = spans_ns.len();
    let below = (count as f64 / 2.0 - 0.98 * (count as f64).sqrt() + 0.5).floor();
    if below < 1.0 {
        return false;
    }
    let sorted = sorted(spans_ns);
    let (low, high) = (sorted[below as usize - 1], sorted[count - below as usize]);
    let median_ns = median(&sorted).unwrap_or_default();
    low >= median_ns * (1.0 - tolerance) && high <= median_ns * (1.0 + tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { most_repetitions: 100, seconds: 1e-3, tolerance: 0.05 };

    #[test]
    fn equal_spans_are_steady_from_six_on() {
        assert!(!is_steady(&[10.0; 5], 0.0));
        assert!(is_steady(&[10.0; 6], 0.0));
    }

    #[test]
    fn the_interval_of_twenty_is_from_the_sixth_to_the_fifteenth() {
        let mut spans = [100.0; 20];
        spans[..5].fill(1.0);
        spans[15..].fill(1000.0);
        assert!(is_steady(&spans, 0.0));
        spans[5] = 1.0;
        assert!(!is_steady(&spans, 0.1));
    }

    #[test]
    fn five_are_made_even_if_there_is_no_time() {
        assert_eq!(next_batch(&[], 0.0, 1e3, LIMITS), 5);
        assert_eq!(next_batch(&[3e5; 5], 2e6, 1e3, LIMITS), 0);
    }

    #[test]
    fn one_is_made_if_it_takes_longer_than_all_the_time() {
        assert_eq!(next_batch(&[], 0.0, 2e6, LIMITS), 1);
        assert_eq!(next_batch(&[2e6], 2e6, 2e6, LIMITS), 0);
        // Both were interrupted, the call itself is short.
        assert_eq!(next_batch(&[1e3], 5e6, 2e6, LIMITS), 4);
    }

    #[test]
    fn no_more_samples_than_requested_or_affordable() {
        let unsteady: Vec<f64> = (0..98).map(|index| f64::from(index) * 100.0).collect();
        assert_eq!(next_batch(&unsteady, 1e5, 0.0, LIMITS), 2);
        assert_eq!(next_batch(&unsteady[..20], 0.9e6, 0.0, LIMITS), 3);
        assert_eq!(next_batch(&[], 0.0, 0.0, Limits { most_repetitions: 3, ..LIMITS }), 3);
    }
}
