//! Asking for memory before it is needed. Strands that can go on lie in a row, and what each needs lies far from what the one
//! before needs: its next item, then the step it was waited for at, then what that step waited for itself.

use super::Inquiry;
use crate::agenda::Item;
use kizami_replay::prefetch;

/// How many strands ahead each of them is prefetched.
const AHEAD: [usize; 4] = [24, 16, 10, 5];

impl Inquiry<'_> {
    /// Asks for what the strands need that are followed soon.
    #[inline]
    pub(super) fn fetch(&self) {
        let [place, item, step, waited] = AHEAD.map(|ahead| self.ready.get(ahead).copied());
        if let Some(strand) = place {
            self.agenda.fetch_place(strand);
            self.culprits.fetch_place(strand);
        }
        if let Some(strand) = item {
            self.agenda.fetch(strand);
            self.culprits.fetch(strand);
        }
        if let Some(step) = step.and_then(|strand| self.step_of(strand)) {
            // With the one before: that is what it did.
            prefetch(&self.case.graph.steps, step.saturating_sub(1) as usize, 2);
            self.case.by_step.fetch(step);
            self.excesses.fetch(step);
        }
        if let Some(step) = waited.and_then(|strand| self.step_of(strand))
            && let Some(wait) = self.case.by_step.find(step.saturating_sub(1))
        {
            prefetch(self.case.waits, wait as usize, 1);
        }
    }

    /// Where a strand was waited for, if it goes on with that.
    fn step_of(&self, strand: u32) -> Option<u64> {
        match self.agenda.next(strand)? {
            Item::Leave(_) => None,
            Item::LookBack(group) => Some(self.case.waits[group as usize].of),
            Item::LookBackAmong(group, number) => {
                Some(self.gatherings.get(&group)?.late[number as usize].step)
            }
        }
    }
}
