//! How many tasks run at each virtual time: the work, the end and the peak of a run.
//!
//! Tasks come in any order. Times before which no task can start any more are summed up and forgotten, so
//! that memory follows the span of time in which goals can run, not the length of the run.

use rustc_hash::FxHashMap;

/// Units of time that are kept together.
const PAGE: u64 = 512;

/// No summing up while there are fewer pages than this.
const FEW_PAGES: usize = 256;

#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) work: u64,
    pub(crate) end: u64,
    /// By page: at each time, how many more tasks run than just before.
    pages: FxHashMap<u64, Box<[i64; PAGE as usize]>>,
    /// How many run at the end of what was summed up.
    running: i64,
    peak: i64,
    most_pages: usize,
}

impl Profile {
    pub(crate) fn new() -> Profile {
        let pages = FxHashMap::default();
        Profile { work: 0, end: 0, pages, running: 0, peak: 0, most_pages: FEW_PAGES }
    }

    /// A task ran from start to end.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, end: u64) {
        self.work = self.work.saturating_add(end - start);
        self.end = self.end.max(end);
        if start / PAGE == end / PAGE {
            let page = self.page(start);
            page[(start % PAGE) as usize] += 1;
            page[(end % PAGE) as usize] -= 1;
        } else {
            self.page(start)[(start % PAGE) as usize] += 1;
            self.page(end)[(end % PAGE) as usize] -= 1;
        }
    }

    #[inline]
    fn page(&mut self, time: u64) -> &mut [i64; PAGE as usize] {
        self.pages.entry(time / PAGE).or_insert_with(|| Box::new([0; PAGE as usize]))
    }

    /// Whether it is time to sum up.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.pages.len() > self.most_pages
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.len() * size_of::<[i64; PAGE as usize]>()
    }

    /// Sums up all before a time: no task that is still to come starts before it.
    pub(crate) fn settle(&mut self, before: u64) {
        let mut done: Vec<u64> = self.pages.keys().copied().filter(|page| *page < before / PAGE).collect();
        done.sort_unstable();
        for number in done {
            for change in self.pages.remove(&number).iter().flat_map(|page| page.iter()) {
                self.running += change;
                self.peak = self.peak.max(self.running);
            }
        }
        self.most_pages = (2 * self.pages.len()).max(FEW_PAGES);
    }

    /// The most that ran at one time, when all tasks have ended.
    pub(crate) fn peak(&mut self) -> u64 {
        self.settle(u64::MAX);
        self.peak.unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_tasks_that_run_at_once() {
        let mut profile = Profile::new();
        for (start, end) in [(0, 5), (5, 9), (3, 6), (4, 5000), (4, 4)] {
            profile.add(start, end);
        }
        assert_eq!((profile.work, profile.end), (5 + 4 + 3 + 4996, 5000));
        assert_eq!(profile.peak(), 3);
    }

    #[test]
    fn summing_up_early_changes_nothing() {
        let (mut early, mut late) = (Profile::new(), Profile::new());
        for n in 0..3000_u64 {
            let start = n * 40 + n * n % 700;
            early.add(start, start + n % 300);
            late.add(start, start + n % 300);
            if n % 10 == 0 {
                early.settle(n * 40);
            }
        }
        assert!(early.pages.len() < 10 && late.pages.len() > 200);
        assert_eq!(early.peak(), late.peak());
    }
}
