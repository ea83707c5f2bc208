//! What was blamed on the strands of a share so far: a short list for each, found without hashing.

use crate::culprit::{Blame, Culprit, Doing};
use kizami_graph::Graph;
use kizami_replay::prefetch;
use std::ops::Range;

/// In lists longer than this, what is used often moves forward.
const SHORT: usize = 8;

/// By strand: what it did, and what that cost.
pub(crate) struct Culprits {
    first_strand: u32,
    lists: Vec<Vec<(Doing, Blame)>>,
}

impl Culprits {
    pub(crate) fn new(strands: Range<u32>) -> Culprits {
        Culprits { first_strand: strands.start, lists: strands.map(|_| Vec::new()).collect() }
    }

    /// Blames something on a strand.
    pub(crate) fn add(&mut self, strand: u32, doing: Doing, blame: &Blame) {
        let list = &mut self.lists[(strand - self.first_strand) as usize];
        match list.iter().position(|(known, _)| *known == doing) {
            Some(place) => {
                list[place].1.add(blame);
                if place > SHORT {
                    list.swap(place, place / 2);
                }
            }
            None => list.push((doing, blame.clone())),
        }
    }

    /// Asks for the memory that says where the list of a strand is.
    #[inline]
    pub(crate) fn fetch_place(&self, strand: u32) {
        prefetch(&self.lists, (strand - self.first_strand) as usize, 1);
    }

    /// Asks for the memory of the list of a strand.
    #[inline]
    pub(crate) fn fetch(&self, strand: u32) {
        prefetch(&self.lists[(strand - self.first_strand) as usize], 0, 2);
    }

    /// All of them, by rank.
    pub(crate) fn end(self, graph: &Graph) -> Vec<(Culprit, Blame)> {
        let of_strand = |(strand, list): (u32, Vec<(Doing, Blame)>)| {
            let rank = graph.strands[strand as usize].rank.0;
            list.into_iter().map(move |(doing, blame)| (Culprit { rank, doing }, blame))
        };
        (self.first_strand..).zip(self.lists).flat_map(of_strand).collect()
    }
}
