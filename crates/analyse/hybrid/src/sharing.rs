//! How long a parallel region takes with another number of threads.
//!
//! Its work stays what it was. How evenly more threads share it cannot be known, so there are three answers: evenly, as
//! unevenly as now, and with what is too long now just as long ([`Sharing`]). As unevenly as now means what static shares
//! of a loop have whose iterations become steadily longer: with so many threads the longest share is above the mean by a
//! part that is proportional to `1 - 1 / threads`. One thread shares with no other, so that all answers agree.
//!
//! Tasks are shared as they are: a region made of them takes no less than its longest chain of tasks, nor than its work
//! spread over all threads; and no more than both together, if no thread is idle while a task could run.

use kizami_model::Length;

/// How another number of threads shares the work of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// As unevenly as now.
    #[default]
    AsNow,
    /// Evenly.
    Evenly,
    /// What is longer than the mean now is longer by as much time.
    AsLong,
}

/// What is known of the work of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    pub threads: u32,
    /// Of all threads together.
    pub work: Length,
    /// What follows one after the other in any case with these threads: the longest share, or all longest ones where
    /// threads meet in between.
    pub longest: Length,
}

impl Shares {
    /// The same work with what is longest as long as the mean.
    pub fn balanced(self) -> Shares {
        Shares { longest: self.mean(), ..self }
    }

    fn mean(&self) -> Length {
        self.work / i64::from(self.threads.max(1))
    }

    /// What is longest with so many threads.
    pub fn longest_with(&self, threads: u32, sharing: Sharing) -> Length {
        let alone = |threads: u32| 1.0 - 1.0 / f64::from(threads.max(1));
        let mean = self.work / i64::from(threads.max(1));
        let above = self.longest.0.saturating_sub(self.mean().0).max(0) as f64;
        if self.threads <= 1 {
            return mean;
        }
        let above = above * alone(threads) / alone(self.threads);
        mean + match sharing {
            Sharing::Evenly => Length::ZERO,
            Sharing::AsNow => {
                Length::from_nanos_f64(above * f64::from(self.threads) / f64::from(threads.max(1)))
            }
            Sharing::AsLong => Length::from_nanos_f64(above),
        }
    }
}

/// What is known of a region that is made of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tasks {
    pub work: Length,
    /// The longest chain of tasks.
    pub span: Length,
}

impl Tasks {
    /// No schedule is shorter.
    fn at_least(&self, threads: u32) -> Length {
        self.span.max(self.work / i64::from(threads.max(1)))
    }

    /// How long the region takes with so many threads, if it took so long with those it had.
    pub fn length_with(&self, length: Length, had: u32, threads: u32, sharing: Sharing) -> Length {
        let least = self.at_least(threads);
        match sharing {
            Sharing::Evenly => least,
            Sharing::AsNow => length.scaled(least.0 as f64 / self.at_least(had).0.max(1) as f64),
            Sharing::AsLong => {
                let chain = self.span.scaled(1.0 - 1.0 / f64::from(threads.max(1)));
                (self.work / i64::from(threads.max(1)) + chain).max(least)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Sharing; 3] = [Sharing::Evenly, Sharing::AsNow, Sharing::AsLong];

    #[test]
    fn shares_of_a_steadily_growing_loop_are_predicted_exactly() {
        // Of n threads the last has 2 - 1 / n of the mean.
        let longest = |threads: i64| Length(256_000 * (2 * threads - 1) / (threads * threads));
        let shares = Shares { threads: 4, work: Length(256_000), longest: longest(4) };
        for threads in [1, 2, 4, 8, 16] {
            assert_eq!(shares.longest_with(threads, Sharing::AsNow), longest(i64::from(threads)));
        }
        assert_eq!(ALL.map(|sharing| shares.longest_with(8, sharing).0), [32_000, 60_000, 32_000 + 56_000]);
    }

    #[test]
    fn one_thread_does_all_the_work() {
        let shares = Shares { threads: 4, work: Length(10_000), longest: Length(4_000) };
        assert_eq!(ALL.map(|sharing| shares.longest_with(1, sharing).0), [10_000; 3]);
        assert_eq!(shares.balanced().longest, Length(2_500));
        let alone = Shares { threads: 1, work: Length(10_000), longest: Length(10_000) };
        assert_eq!(ALL.map(|sharing| alone.longest_with(4, sharing).0), [2_500; 3]);
    }

    #[test]
    fn tasks_take_no_less_than_their_longest_chain() {
        let tasks = Tasks { work: Length(8_000), span: Length(1_600) };
        let with = |threads| ALL.map(|sharing| tasks.length_with(Length(2_200), 4, threads, sharing).0);
        assert_eq!(with(8), [1_600, 1_760, 1_000 + 1_400]);
        assert_eq!(with(1), [8_000, 8_800, 8_000]);
    }
}
