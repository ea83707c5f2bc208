//! Cartesian and graph topologies: who is whose neighbour.

use std::sync::Arc;

/// The topology of a communicator.
#[derive(Clone, Debug)]
pub enum Topology {
    /// A grid.
    Cartesian(Arc<Grid>),
    /// A graph that every rank knows: ends of neighbour lists, and neighbours.
    Graph {
        /// For each rank where its neighbours end.
        index: Arc<[i32]>,
        /// All neighbours, one rank after another.
        edges: Arc<[i32]>,
    },
    /// A graph of which a rank knows its own neighbours.
    Distributed(Arc<Neighbours>),
}

/// The lengths of a grid, and which of them are rings. The last varies fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Lengths.
    pub dims: Vec<u32>,
    /// Whether there is a way from the end to the beginning.
    pub periodic: Vec<bool>,
}

/// The neighbours of one rank, as ranks of the communicator.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// Those it receives from.
    pub sources: Vec<u32>,
    /// Those it sends to.
    pub destinations: Vec<u32>,
    /// What the program said about the edges.
    pub source_weights: Option<Vec<i32>>,
    /// The same for outgoing ones.
    pub destination_weights: Option<Vec<i32>>,
}

impl Grid {
    /// How many places it has.
    pub fn size(&self) -> u32 {
        self.dims.iter().product()
    }

    /// Where a rank is.
    pub fn coordinates(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut found: Vec<u32> = self
            .dims
            .iter()
            .rev()
            .map(|length| {
                let at = rest % length.max(&1);
                rest /= length.max(&1);
                at
            })
            .collect();
        found.reverse();
        found
    }

    /// The rank at a position; none outside the grid.
    pub fn rank(&self, coordinates: &[i64]) -> Option<u32> {
        let mut rank = 0u64;
        for ((at, length), ring) in coordinates.iter().zip(&self.dims).zip(&self.periodic) {
            let length = i64::from(*length);
            let at = if *ring && length > 0 { at.rem_euclid(length) } else { *at };
            if at < 0 || at >= length {
                return None;
            }
            rank = rank * length as u64 + at as u64;
        }
        Some(rank as u32)
    }

    /// Who is `steps` further in one direction.
    pub fn shifted(&self, rank: u32, direction: usize, steps: i64) -> Option<u32> {
        // The stride of a dimension is what all behind it hold, so no other coordinate is needed.
        let length = i64::from(*self.dims.get(direction)?);
        let stride: i64 = self.dims[direction + 1..].iter().map(|length| i64::from(*length)).product();
        let at = i64::from(rank) / stride % length;
        let mut to = at + steps;
        if self.periodic[direction] {
            to = to.rem_euclid(length);
        } else if to < 0 || to >= length {
            return None;
        }
        Some((i64::from(rank) + (to - at) * stride) as u32)
    }

    /// The grid of the dimensions that remain, and who is in it with `rank`, in order.
    pub fn without(&self, rank: u32, remain: &[bool]) -> (Grid, Vec<u32>) {
        let keep = |index: &usize| remain.get(*index).copied().unwrap_or(false);
        let kept: Vec<usize> = (0..self.dims.len()).filter(keep).collect();
        let grid = Grid {
            dims: kept.iter().map(|index| self.dims[*index]).collect(),
            periodic: kept.iter().map(|index| self.periodic[*index]).collect(),
        };
        let own: Vec<i64> = self.coordinates(rank).into_iter().map(i64::from).collect();
        let members = (0..grid.size())
            .filter_map(|place| {
                let mut at = own.clone();
                for (index, coordinate) in kept.iter().zip(grid.coordinates(place)) {
                    at[*index] = i64::from(coordinate);
                }
                self.rank(&at)
            })
            .collect();
        (grid, members)
    }

    /// Neighbours in the order of the standard: of each dimension the one before and the one behind.
    pub fn neighbours(&self, rank: u32) -> Vec<Option<u32>> {
        (0..self.dims.len())
            .flat_map(|direction| [self.shifted(rank, direction, -1), self.shifted(rank, direction, 1)])
            .collect()
    }
}

/// `MPI_Dims_create`: lengths as equal as possible, longest first; those that are not 0 stay. Nothing if it cannot be.
pub fn dims_create(ranks: u32, dims: &mut [i32]) -> Option<()> {
    let fixed: u64 = dims.iter().filter(|length| **length > 0).map(|length| *length as u64).product();
    if dims.iter().any(|length| *length < 0) || !u64::from(ranks).is_multiple_of(fixed) {
        return None;
    }
    let open = dims.iter().filter(|length| **length == 0).count();
    if open == 0 {
        return (u64::from(ranks) == fixed).then_some(());
    }
    let chosen = remembered((u64::from(ranks) / fixed) as u32, open);
    let mut chosen = chosen.into_iter();
    for length in dims.iter_mut().filter(|length| **length == 0) {
        *length = chosen.next()? as i32;
    }
    Some(())
}

/// [`balanced`], which every rank asks alike.
fn remembered(ranks: u32, count: usize) -> Vec<u32> {
    type Last = ((u32, usize), Vec<u32>);
    thread_local! {
        static LAST: std::cell::RefCell<Last> = const { std::cell::RefCell::new(((0, 0), Vec::new())) };
    }
    LAST.with_borrow_mut(|(asked, answer)| {
        if *asked != (ranks, count) {
            (*asked, *answer) = ((ranks, count), balanced(ranks, count));
        }
        answer.clone()
    })
}

/// Factors of `ranks` that are as equal as possible, in falling order: the longest is as short as it can be, then the
/// shortest as long as it can be.
fn balanced(ranks: u32, count: usize) -> Vec<u32> {
    fn search(rest: u32, left: usize, most: u32, now: &mut Vec<u32>, best: &mut Option<Vec<u32>>) {
        if left == 1 {
            if rest <= most {
                now.push(rest);
                let spread = |dims: &[u32]| (dims[0] - dims[dims.len() - 1], dims[0]);
                if best.as_ref().is_none_or(|best| spread(now) < spread(best)) {
                    *best = Some(now.clone());
                }
                now.pop();
            }
            return;
        }
        let mut length = 1;
        let mut divisors = Vec::new();
        while u64::from(length) * u64::from(length) <= u64::from(rest) {
            if rest.is_multiple_of(length) {
                divisors.extend([length, rest / length]);
            }
            length += 1;
        }
        divisors.sort_unstable();
        divisors.dedup();
        for length in divisors {
            // The longest comes first, so the others must fit below it.
            if length <= most && u64::from(length).pow(left as u32) >= u64::from(rest) {
                now.push(length);
                search(rest / length, left - 1, length, now, best);
                now.pop();
            }
        }
    }
    let mut best = None;
    search(ranks, count, u32::MAX, &mut Vec::new(), &mut best);
    best.unwrap_or_else(|| vec![1; count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_number_their_places_row_by_row() {
        let grid = Grid { dims: vec![3, 4], periodic: vec![false, true] };
        assert_eq!(grid.coordinates(7), [1, 3]);
        assert_eq!(grid.rank(&[1, 3]), Some(7));
        assert_eq!(grid.rank(&[1, -1]), Some(7));
        assert_eq!(grid.rank(&[3, 0]), None);
        assert_eq!(grid.shifted(7, 1, 1), Some(4));
        assert_eq!(grid.shifted(7, 0, 2), None);
        assert_eq!(grid.neighbours(0), [None, Some(4), Some(3), Some(1)]);
        let (row, members) = grid.without(7, &[false, true]);
        assert_eq!((row.dims, row.periodic, members), (vec![4], vec![true], vec![4, 5, 6, 7]));
    }

    #[test]
    fn dims_are_balanced() {
        for (ranks, count, expected) in [
            (4, 2, vec![2, 2]),
            (6, 2, vec![3, 2]),
            (24, 3, vec![4, 3, 2]),
            (7, 2, vec![7, 1]),
            (1_000_000, 3, vec![100, 100, 100]),
            (12, 3, vec![3, 2, 2]),
        ] {
            let mut dims = vec![0; count];
            dims_create(ranks, &mut dims).unwrap();
            assert_eq!(dims, expected, "{ranks} ranks in {count} dimensions");
        }
        let mut dims = [0, 3];
        dims_create(12, &mut dims).unwrap();
        assert_eq!(dims, [4, 3]);
        assert!(dims_create(7, &mut [0, 3]).is_none());
    }
}
