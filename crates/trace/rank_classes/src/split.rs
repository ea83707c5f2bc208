//! Kinds told apart further, where ranks of one turn out to differ.

use crate::{Rank, RankClasses};
use rustc_hash::FxHashMap;

/// What is found out about the ranks of each kind, until it is known who differs from whom.
pub struct Splitting<'a> {
    classes: &'a RankClasses,
    /// By rank: of what it was found to be like.
    digest: Vec<u64>,
}

impl<'a> Splitting<'a> {
    /// Nothing was found yet.
    pub fn of(classes: &'a RankClasses) -> Splitting<'a> {
        Splitting { classes, digest: vec![0; classes.of.len()] }
    }

    /// Something was found out about a rank: a number that is the same for those that are alike in it.
    #[inline]
    pub fn digest(&mut self, rank: Rank, what: u64) {
        let known = &mut self.digest[rank.0 as usize];
        *known = mix(*known, what);
    }

    /// The kinds that follow; none if they are those that were.
    pub fn finish(self) -> Option<RankClasses> {
        let mut first: FxHashMap<u32, u64> = FxHashMap::default();
        let mut differs = false;
        for (class, digest) in self.classes.of.iter().zip(&self.digest) {
            differs |= *first.entry(*class).or_insert(*digest) != *digest;
        }
        let keys: Vec<(u32, u64)> = self.classes.of.iter().copied().zip(self.digest).collect();
        differs.then(|| RankClasses::numbered(&keys, self.classes.comms.clone()))
    }
}

/// Adds a number to what is known.
#[inline]
pub(crate) fn mix(known: u64, what: u64) -> u64 {
    let mixed = (known.rotate_left(5) ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}
