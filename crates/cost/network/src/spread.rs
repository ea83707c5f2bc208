//! To whom a program gives, by exchanges that give each rank another amount.
//!
//! Such exchanges are measured in two ways: every rank gives all ranks the same, itself included, or every rank gives a few
//! others all of it. A program is described by the one that it is nearer to, by the bytes that others get.

use kizami_model::Op;
use rustc_hash::FxHashMap;

/// So many others get something where exchanges with few are measured; with as many others in all, they are all ranks.
const FEW: u32 = 4;
/// Who gives to this share of the others gives to all.
const MOST: f64 = 0.75;

/// How one function is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// How many others get something; none: all of them, however many there are.
    pub partners: Option<u32>,
    /// What a rank gives to itself: where few get something, as a share of all it gives; where all do, in even shares.
    pub kept: f64,
}

/// By function; of one that is not here, all get the same.
pub type Spreads = FxHashMap<Op, Spread>;

impl Spread {
    /// Of a run in which so many others of so many ranks got something, and this share was kept.
    pub fn seen(partners: f64, kept: f64, ranks: u32) -> Spread {
        let others = ranks.saturating_sub(1);
        if partners >= MOST * f64::from(others) {
            return Spread { partners: None, kept: kept * f64::from(ranks) };
        }
        Spread { partners: Some((partners.ceil() as u32).max(1)), kept }
    }

    /// The share that a rank keeps.
    fn kept_at(&self, ranks: u32) -> f64 {
        let kept = if self.partners.is_none() { self.kept / f64::from(ranks.max(1)) } else { self.kept };
        kept.clamp(0.0, 1.0)
    }

    /// Whether the exchange with few others is the nearer one.
    pub(crate) fn is_sparse(&self, ranks: u32) -> bool {
        match self.partners {
            Some(partners) => partners <= FEW.max(ranks / 8),
            None => ranks <= FEW + 1 && self.kept < 0.5,
        }
    }

    /// The size at which the nearer exchange gives others as much.
    pub fn measured_bytes(&self, ranks: u32, bytes: u64) -> u64 {
        let others = bytes as f64 * (1.0 - self.kept_at(ranks));
        let kept_there = if self.is_sparse(ranks) || ranks < 2 { 0.0 } else { 1.0 / f64::from(ranks) };
        (others / (1.0 - kept_there)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_exchange_counts() {
        let neighbours = Spread::seen(4.0, 0.0, 64);
        assert_eq!(neighbours.partners, Some(4));
        assert!(neighbours.is_sparse(64) && neighbours.is_sparse(256));
        let all = Spread::seen(63.0, 1.0 / 64.0, 64);
        assert_eq!(all.partners, None);
        assert!(!all.is_sparse(64) && !all.is_sparse(4));
        assert_eq!(all.measured_bytes(64, 64_000), 64_000);
        // Of two ranks, each gives all to the other one.
        let other = Spread::seen(1.0, 0.0, 2);
        assert!(other.is_sparse(2));
        assert_eq!(other.measured_bytes(2, 1_000), 1_000);
        // Of many, each gives all others the same, and itself nothing.
        assert_eq!(Spread::seen(9.0, 0.0, 10).measured_bytes(10, 900), 1_000);
    }
}
