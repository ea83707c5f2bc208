//! What is said of a run without findings: that nobody waits, or where time goes all the same.
//!
//! One sentence for all who show reports. It is true to its words: that nobody was kept waiting is said only where that
//! is so, and where calls take long by themselves it says which.

use crate::report::{CallTotal, Report};

/// More than this part of all time is waiting for long.
const LONG: f64 = 0.05;
/// Calls that wait for nobody are worth a word from this part of all time on.
const MUCH: f64 = 0.1;

impl Report {
    /// What is said where there is no finding.
    pub fn nothing_found(&self) -> String {
        if self.events == 0 && self.functions.is_empty() {
            return "No MPI call was recorded.".to_owned();
        }
        let all_ns = f64::from(self.ranks) * self.run_ns as f64;
        let part = |ns: i64| if all_ns > 0.0 { ns as f64 / all_ns } else { 0.0 };
        let waiting = part(self.rank_times.iter().map(|rank| rank.waiting_ns).sum());
        if waiting > LONG {
            let percent = 100.0 * waiting;
            return format!(
                "Ranks waited for {percent:.1} % of all time, but no cause stands out from the noise."
            );
        }
        let in_calls = part(self.rank_times.iter().map(|rank| rank.mpi_ns - rank.waiting_ns).sum());
        match self.longest_without_waiting() {
            Some(CallTotal { function, place, .. }) if in_calls >= MUCH => {
                let percent = 100.0 * in_calls;
                let at = place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
                format!(
                    "No rank kept others waiting for long, but {percent:.1} % of all time went into calls that waited \
                     for nobody, most into {function}{at}."
                )
            }
            _ => "No rank kept others waiting for long.".to_owned(),
        }
    }

    /// The calls of a place that took longest beyond waiting.
    fn longest_without_waiting(&self) -> Option<&CallTotal> {
        let waited_ns = |total: &CallTotal| -> i64 {
            let at = |wait: &&crate::report::WaitTotal| {
                wait.at.as_ref().is_some_and(|(function, place)| {
                    *function == total.function && Some(place) == total.place.as_ref()
                })
            };
            self.waits_by_place.iter().filter(at).map(|wait| wait.ns).sum()
        };
        // Places come longest first; the first few hold what counts, however many there are.
        const LOOKED_AT: usize = 100;
        self.places.iter().take(LOOKED_AT).max_by_key(|total| total.ns - waited_ns(total))
    }
}
