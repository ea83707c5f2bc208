//! What was too long, each thing once.
//!
//! Several wait for the same computation or call. What is reported again is reported soon after, because strands are followed
//! backwards; so most is found where it was put last, and little is left to sort.

use crate::culprit::Excess;
use kizami_graph::Graph;
use kizami_replay::prefetch;

/// The list is searched for duplicates when it is this long.
const MANY: usize = 1 << 20;
/// As many as are under way at one time of a run of some thousand ranks.
const REMEMBERED: usize = 1 << 15;
const NOTHING: (u64, u32) = (u64::MAX, 0);

/// What was too long on the strands of a share.
pub(crate) struct Excesses {
    list: Vec<Excess>,
    /// Recent entries, with their place in the list; nothing if strands have steps in common: then the ranks of the same
    /// step differ.
    remembered: Vec<(u64, u32)>,
    too_many: usize,
}

impl Excesses {
    pub(crate) fn new(graph: &Graph) -> Excesses {
        let remembered = if graph.unfolding.is_none() { REMEMBERED } else { 0 };
        Excesses { list: Vec::new(), remembered: vec![NOTHING; remembered], too_many: MANY }
    }

    /// Prefetches the entry of the computation before a step.
    #[inline]
    pub(crate) fn fetch(&self, step: u64) {
        prefetch(&self.remembered, place(step << 1), 1);
    }

    /// Adds an excess; of duplicates the longer counts.
    pub(crate) fn add(&mut self, excess: Excess) {
        let which = which(&excess);
        let place = place(which);
        if let Some(told) = self.remembered.get_mut(place) {
            if told.0 == which {
                let told = &mut self.list[told.1 as usize].length;
                *told = excess.length.max(*told);
                return;
            }
            *told = (which, self.list.len() as u32);
        }
        self.list.push(excess);
        if self.list.len() >= self.too_many {
            keep_longest(&mut self.list);
            self.too_many = MANY.max(2 * self.list.len());
            self.remembered.fill(NOTHING);
        }
    }

    /// All of them, in the order of steps.
    pub(crate) fn end(mut self) -> Vec<Excess> {
        keep_longest(&mut self.list);
        self.list
    }
}

/// Where something is remembered.
#[inline]
fn place(which: u64) -> usize {
    (which.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 49) as usize
}

/// What it is that was too long.
fn which(excess: &Excess) -> u64 {
    excess.step << 1 | u64::from(excess.inside)
}

/// Leaves the longest of those that are the same, in the order of steps.
pub fn keep_longest(excesses: &mut Vec<Excess>) {
    // Most are in order already, and this way of sorting makes use of that.
    excesses.sort_by_key(which);
    excesses.dedup_by(|next, kept| {
        let same = which(next) == which(kept);
        if same && next.length > kept.length {
            *kept = *next;
        }
        same
    });
}
