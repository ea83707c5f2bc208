//! Whether something else kept the machine busy while it was measured.
//!
//! All ranks do a fixed amount of computation again and again. On a machine of one's own that always takes as long as the
//! fastest time; where another program takes turns with a rank, the time of its turns comes on top. Medians of small
//! collectives may become ten thousand times too long by that, so it is looked for and reported.

use kizami_stats::{mean, quantile, sorted};

/// The mean may be so much longer than the quick ones, as a factor.
const MOST_LONGER: f64 = 1.15;
/// What was found, for people; none if nothing disturbed. So often it was to be timed, in several times the time that takes.
pub fn found(work_samples_ns: &[f64], asked: u64) -> Option<String> {
    let done = work_samples_ns.len() as u64;
    if 2 * done < asked {
        return Some(format!(
            "only {done} of {asked} pieces of computation were done in time: something else keeps the cores busy"
        ));
    }
    let quick_ns = quantile(&sorted(work_samples_ns), 0.1)?;
    let mean_ns = mean(work_samples_ns.iter().copied());
    (mean_ns > MOST_LONGER * quick_ns).then(|| {
        format!(
            "computation took {:.0} % longer than it takes alone: something else keeps the cores busy",
            100.0 * (mean_ns / quick_ns - 1.0)
        )
    })
}

/// The same for more ranks than there are cores.
pub fn crowded(ranks: u32, cores: u32) -> Option<String> {
    (ranks > cores).then(|| format!("{ranks} ranks took turns on {cores} cores"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_another_program_are_seen_and_small_interruptions_are_not() {
        let alone: Vec<f64> = (0..100).map(|number| 1e6 + f64::from(number % 7) * 1e3).collect();
        assert_eq!(found(&alone, 100), None);
        let mut interrupted = alone.clone();
        interrupted[50] = 3e6;
        assert_eq!(found(&interrupted, 100), None);
        let turns: Vec<f64> = (0..100).map(|number| if number % 5 == 0 { 4e6 } else { 1e6 }).collect();
        assert!(found(&turns, 100).unwrap().contains("60 % longer"));
        assert!(found(&alone[..10], 100).unwrap().contains("only 10 of 100"));
    }
}
