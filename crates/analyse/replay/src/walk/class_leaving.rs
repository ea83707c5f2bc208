//! When ranks stored by rank class leave collectives in modelled lanes.
//!
//! A model takes the arrival of each member and gives the departure of each; members of a class arrive at the same moment. What
//! they leave at may depend on their place all the same: then the class has to be split, which is
//! noted for `rank_classes`. Rounds of a loop are mostly alike but for when they begin, so results are cached.

use kizami_graph::MemberClasses;
use kizami_model::kind::{Flow, Kind};
use kizami_model::{Length, Op};
use kizami_network::{CollectiveCall, Costs};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A collective but for its moment: lane, place of the communicator, function, bytes, whether it sets something up, root,
/// and how long after the first of them each class comes.
type Alike = (usize, u32, Op, u64, bool, usize, Vec<Length>);

/// How long after the first came they leave.
struct Leaving {
    /// By class: its first member.
    by_class: Vec<Length>,
    /// By member, if those of a class differ.
    by_member: Option<Vec<Length>>,
}

/// All collectives of classes so far.
#[derive(Default)]
pub(super) struct ClassCollectives {
    known: FxHashMap<Alike, Arc<Leaving>>,
    /// By place of the communicator, then by member: equal for members that left at the same moments, where any did not.
    pub uneven: FxHashMap<u32, Vec<u64>>,
}

impl ClassCollectives {
    /// When each class leaves.
    pub(super) fn leaves(
        &mut self,
        (lane, model): (usize, &Costs),
        (place, rank_classes): (u32, &MemberClasses),
        call: CollectiveCall,
        enters: &[Length],
        root: usize,
    ) -> Vec<Length> {
        let first = enters.iter().copied().min().unwrap_or_default();
        let after: Vec<Length> = enters.iter().map(|enter| *enter - first).collect();
        let alike = (lane, place, call.op, call.bytes, call.first, root, after);
        let leaving = match self.known.get(&alike) {
            Some(known) => known.clone(),
            None => {
                let leaving = Arc::new(work_out(model, rank_classes, call, &alike.6, root));
                self.known.insert(alike, leaving.clone());
                leaving
            }
        };
        if let Some(by_member) = &leaving.by_member {
            let uneven = self.uneven.entry(place).or_default();
            uneven.resize(by_member.len(), 0);
            for (known, leave) in uneven.iter_mut().zip(by_member) {
                *known = (known.rotate_left(5) ^ leave.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            }
        }
        leaving.by_class.iter().map(|leave| first + *leave).collect()
    }
}

fn work_out(
    model: &Costs,
    rank_classes: &MemberClasses,
    call: CollectiveCall,
    after: &[Length],
    root: usize,
) -> Leaving {
    let of_root = rank_classes.by_place.iter().position(|kind| *kind as usize == root).unwrap_or(0);
    let enters: Vec<Length> = rank_classes.by_place.iter().map(|kind| after[*kind as usize]).collect();
    let call = CollectiveCall { ranks: enters.len() as u32, ..call };
    let last = after.iter().copied().max().unwrap_or_default();
    let leaves = model.leaves(call, &enters, of_root).unwrap_or_else(|| vec![last; enters.len()]);
    let mut by_class: Vec<Option<Length>> = vec![None; after.len()];
    let mut even = true;
    for (kind, leave) in rank_classes.by_place.iter().zip(&leaves) {
        even &= *by_class[*kind as usize].get_or_insert(*leave) == *leave;
    }
    // A rank that does not wait leaves when it comes.
    let only_root = matches!(call.op.kind(), Kind::Collective(which, _) if which.flow() == Flow::ToRoot);
    Leaving {
        by_class: by_class.into_iter().map(|leave| leave.unwrap_or(last)).collect(),
        by_member: (!even && !only_root).then_some(leaves),
    }
}
