//! Kinds told apart further, where ranks of one turn out to differ.

use crate::{Kinds, Rank};
use rustc_hash::FxHashMap;

/// What is found out about the ranks of each kind, until it is known who differs from whom.
pub struct Splitting<'a> {
    kinds: &'a Kinds,
    /// By rank: of what it was found to be like.
    found: Vec<u64>,
}

impl<'a> Splitting<'a> {
    /// Nothing was found yet.
    pub fn of(kinds: &'a Kinds) -> Splitting<'a> {
        Splitting { kinds, found: vec![0; kinds.of.len()] }
    }

    /// Something was found out about a rank: a number that is the same for those that are alike in it.
    #[inline]
    pub fn found(&mut self, rank: Rank, what: u64) {
        let known = &mut self.found[rank.0 as usize];
        *known = mix(*known, what);
    }

    /// The kinds that follow; none if they are those that were.
    pub fn finish(self) -> Option<Kinds> {
        let mut first: FxHashMap<u32, u64> = FxHashMap::default();
        let mut differs = false;
        for (kind, found) in self.kinds.of.iter().zip(&self.found) {
            differs |= *first.entry(*kind).or_insert(*found) != *found;
        }
        let keys: Vec<(u32, u64)> = self.kinds.of.iter().copied().zip(self.found).collect();
        differs.then(|| Kinds::numbered(&keys, self.kinds.comms.clone()))
    }
}

/// Adds a number to what is known.
#[inline]
pub(crate) fn mix(known: u64, what: u64) -> u64 {
    let mixed = (known.rotate_left(5) ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}
