//! Splits rank classes whose ranks turn out to differ.

use crate::{Rank, RankClasses};
use rustc_hash::FxHashMap;

/// Digests of the ranks of each class, from which ranks that differ are found.
pub struct Splitting<'a> {
    classes: &'a RankClasses,
    /// By rank: the digest of what it was found to be.
    digest: Vec<u64>,
}

impl<'a> Splitting<'a> {
    /// Without digests.
    pub fn of(classes: &'a RankClasses) -> Splitting<'a> {
        Splitting { classes, digest: vec![0; classes.of.len()] }
    }

    /// Adds to the digest of a rank: a number that is equal for ranks that are alike in it.
    #[inline]
    pub fn digest(&mut self, rank: Rank, what: u64) {
        let known = &mut self.digest[rank.0 as usize];
        *known = mix(*known, what);
    }

    /// The finer classes; none if none was split.
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

/// Adds a number to a digest.
#[inline]
pub(crate) fn mix(known: u64, what: u64) -> u64 {
    let mixed = (known.rotate_left(5) ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}
