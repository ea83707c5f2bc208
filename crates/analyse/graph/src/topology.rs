//! Who a rank's neighbours are, in communicators with a grid or a graph.

use kizami_model::{CommKind, Rank};
use kizami_trace::{Communicator, Definitions};
use rustc_hash::FxHashMap;

/// Neighbours a rank receives from, and those it sends to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbourhood {
    pub sources: Vec<Rank>,
    pub destinations: Vec<Rank>,
}

/// Neighbourhoods, found on first use.
pub(crate) struct Topology {
    graphs: FxHashMap<(u32, Rank), Neighbourhood>,
    /// Of the rank being read.
    grids: FxHashMap<u32, Option<Neighbourhood>>,
    rank: Option<Rank>,
}

impl Topology {
    pub(crate) fn new(definitions: &Definitions) -> Topology {
        let known = |ranks: &[Option<Rank>]| ranks.iter().copied().flatten().collect();
        let of = |entry: &kizami_trace::Neighbours| {
            let (sources, destinations) = (known(&entry.sources), known(&entry.destinations));
            ((entry.comm, entry.rank), Neighbourhood { sources, destinations })
        };
        let graphs = definitions.neighbours.iter().map(of).collect();
        Topology { graphs, grids: FxHashMap::default(), rank: None }
    }

    /// Nothing if the communicator has no neighbours that are known.
    pub(crate) fn of(&mut self, comm: &Communicator, rank: Rank) -> Option<&Neighbourhood> {
        if comm.kind != CommKind::Cartesian {
            return self.graphs.get(&(comm.index, rank));
        }
        if self.rank != Some(rank) {
            self.grids.clear();
            self.rank = Some(rank);
        }
        self.grids.entry(comm.index).or_insert_with(|| grid(comm, rank)).as_ref()
    }
}

fn grid(comm: &Communicator, rank: Rank) -> Option<Neighbourhood> {
    let place = comm.members.iter().position(|member| *member == Some(rank))? as u64;
    let size: u64 = comm.dims.iter().map(|length| u64::from(*length)).product();
    if size != comm.members.len() as u64 || comm.dims.len() != comm.periodic.len() {
        return None;
    }
    let mut neighbours = Vec::new();
    // Ranks of a grid are row-major: the last dimension varies fastest.
    let mut stride = size;
    for (length, periodic) in comm.dims.iter().zip(&comm.periodic) {
        let length = u64::from(*length);
        stride /= length;
        let here = place / stride % length;
        for there in [here.checked_sub(1), Some(here + 1).filter(|there| *there < length)] {
            let wrapped = if here == 0 { length - 1 } else { 0 };
            let there = there.or((*periodic).then_some(if length == 1 { 0 } else { wrapped }));
            if let Some(there) = there {
                neighbours.push(comm.members[(place - here * stride + there * stride) as usize]?);
            }
        }
    }
    Some(Neighbourhood { sources: neighbours.clone(), destinations: neighbours })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_neighbours_in_every_dimension() {
        let comm = Communicator {
            index: 1,
            identity: kizami_trace::CommIdentity(1),
            parent: None,
            kind: CommKind::Cartesian,
            name: None,
            size: 6,
            members: (10..16).map(|rank| Some(Rank(rank))).collect(),
            remote_members: Vec::new(),
            dims: vec![2, 3],
            periodic: vec![false, true],
        };
        let ranks = |rank| grid(&comm, Rank(rank)).map(|near| near.sources.iter().map(|r| r.0).collect());
        assert_eq!(ranks(10), Some(vec![13, 12, 11]));
        assert_eq!(ranks(15), Some(vec![12, 14, 13]));
        assert_eq!(ranks(9), None);
    }
}
