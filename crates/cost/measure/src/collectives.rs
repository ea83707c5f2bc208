//! Collectives, with buffers of the right sizes.
//!
//! Roots are those that real programs mostly have where it matters: rank 0 gathers, scatters and reduces, but the last
//! rank broadcasts, so that a library cannot profit from rank 0 having decided to go on.

use crate::buffers::Buffers;
use crate::operation::{CollectiveName, Form, Spread};
use crate::rank::Rank;
use crate::subject::{Sample, Subject, timed};
use kizami_mpi::{Collective, Comm, Counts, Element, MpiError, Types};

/// A collective, prepared.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    name: CollectiveName,
    form: Form,
    comm: &'a Comm,
    /// Where neighbours are asked for.
    ring: Option<Comm>,
    element: Element,
    /// Parts that this rank gives, and gets.
    gives: Counts,
    gets: Counts,
    types: Types,
    give: &'a [u8],
    get: &'a mut [u8],
    overlap_ns: f64,
}

/// What a collective needs on one rank.
#[derive(Debug, PartialEq, Eq)]
struct Sizes {
    element: Element,
    /// One rank's part, in bytes.
    part_bytes: usize,
    give_bytes: usize,
    get_bytes: usize,
}

/// Numbers of the largest kind that fits; never less than one.
fn numbers(bytes: usize) -> (Element, usize) {
    let element = if bytes < Element::Double.bytes() { Element::Int } else { Element::Double };
    (element, (bytes / element.bytes()).max(1) * element.bytes())
}

/// Sizes of buffers, for what a rank moves in all.
fn sizes(name: CollectiveName, bytes: usize, ranks: usize, is_root: bool) -> Sizes {
    use CollectiveName::*;
    let part = (bytes / ranks).max(1);
    let whole = part * ranks;
    let at_root = if is_root { whole } else { 0 };
    let of = |part_bytes, give_bytes, get_bytes| Sizes {
        element: Element::Double,
        part_bytes,
        give_bytes,
        get_bytes,
    };
    match name {
        Barrier => of(0, 0, 0),
        Bcast => of(0, 0, bytes.max(1)),
        Reduce | Allreduce | Scan | Exscan => {
            let (element, vector) = numbers(bytes);
            Sizes { element, part_bytes: vector, give_bytes: vector, get_bytes: vector }
        }
        ReduceScatter | ReduceScatterBlock => {
            let (element, part_bytes) = numbers(part);
            Sizes { element, part_bytes, give_bytes: part_bytes * ranks, get_bytes: part_bytes }
        }
        Gather | Gatherv => of(part, part, at_root),
        Scatter | Scatterv => of(part, at_root, part),
        Allgather | Allgatherv => of(part, part, whole),
        Alltoall | Alltoallv | Alltoallw => of(part, whole, whole),
        NeighborAllgather => {
            let half = (bytes / 2).max(1);
            of(half, half, 2 * half)
        }
        NeighborAlltoall => {
            let half = (bytes / 2).max(1);
            of(half, 2 * half, 2 * half)
        }
    }
}

/// How much rank `from` gives to rank `to`.
fn gift(spread: Spread, bytes: usize, ranks: usize, from: usize, to: usize) -> usize {
    match spread {
        Spread::Even => (bytes / ranks).max(1),
        Spread::Sparse if from == to => 0,
        Spread::Sparse => {
            let far = 2 * ranks / 5;
            // None is the rank itself; neighbours may be the same rank when there are few, then it gets both shares.
            let steps = [1, ranks - 1, far, ranks - far].into_iter().filter(|step| step % ranks != 0);
            let gifts = steps.clone().filter(|step| (from + step) % ranks == to).count();
            gifts * (bytes / steps.count().max(1)).max(1)
        }
        Spread::Skewed if ranks == 1 => bytes.max(1),
        Spread::Skewed if (from + 1) % ranks == to => (bytes / 2).max(1),
        Spread::Skewed => (bytes / 2 / (ranks - 1)).max(1),
    }
}

impl<'a> Prepared<'a> {
    /// Makes buffers and counts. `overlap_ns` is how long to compute between start and wait.
    pub(crate) fn prepare(
        rank: &Rank,
        comm: &'a Comm,
        (name, form, spread): (CollectiveName, Form, Spread),
        bytes: usize,
        overlap_ns: f64,
        buffers: &'a mut Buffers,
    ) -> Result<Prepared<'a>, MpiError> {
        use CollectiveName::*;
        let (mine, ranks) = (comm.rank() as usize, comm.size() as usize);
        let mut sizes = sizes(name, bytes, ranks, mine == 0);
        let parts = |part: &dyn Fn(usize) -> usize| Counts::new(&(0..ranks).map(part).collect::<Vec<_>>());
        let (gives, gets) = match name {
            Alltoallv | Alltoallw => {
                let gives = parts(&|to| gift(spread, bytes, ranks, mine, to))?;
                let gets = parts(&|from| gift(spread, bytes, ranks, from, mine))?;
                (sizes.give_bytes, sizes.get_bytes) = (gives.total(), gets.total());
                (gives, gets)
            }
            ReduceScatter => {
                let elements = sizes.part_bytes / sizes.element.bytes();
                (parts(&|_| elements)?, parts(&|_| elements)?)
            }
            Gatherv | Scatterv | Allgatherv => (parts(&|_| sizes.part_bytes)?, parts(&|_| sizes.part_bytes)?),
            _ => (Counts::new(&[])?, Counts::new(&[])?),
        };
        let ring = match name {
            NeighborAllgather | NeighborAlltoall => Some(rank.mpi.ring(comm)?),
            _ => None,
        };
        let types = rank.mpi.byte_types(comm);
        let (give, get) = buffers.take(sizes.give_bytes, sizes.get_bytes);
        Ok(Prepared {
            name,
            form,
            comm,
            ring,
            element: sizes.element,
            gives,
            gets,
            types,
            give,
            get,
            overlap_ns,
        })
    }

    /// The call with its buffers.
    fn arguments(&mut self) -> Collective<'_> {
        use Collective as C;
        let Prepared { give, get, gives, gets, types, element: of, .. } = self;
        let (of, last) = (*of, self.comm.size() - 1);
        match self.name {
            CollectiveName::Barrier => C::Barrier,
            CollectiveName::Bcast => C::Bcast { data: get, root: last },
            CollectiveName::Reduce => C::Reduce { give, get, of, root: 0 },
            CollectiveName::Allreduce => C::Allreduce { give, get, of },
            CollectiveName::ReduceScatter => C::ReduceScatter { give, get, counts: gets, of },
            CollectiveName::ReduceScatterBlock => C::ReduceScatterBlock { give, get, of },
            CollectiveName::Scan => C::Scan { give, get, of },
            CollectiveName::Exscan => C::Exscan { give, get, of },
            CollectiveName::Gather => C::Gather { give, get, root: 0 },
            CollectiveName::Gatherv => C::Gatherv { give, get, counts: gets, root: 0 },
            CollectiveName::Scatter => C::Scatter { give, get, root: 0 },
            CollectiveName::Scatterv => C::Scatterv { give, get, counts: gives, root: 0 },
            CollectiveName::Allgather => C::Allgather { give, get },
            CollectiveName::Allgatherv => C::Allgatherv { give, get, counts: gets },
            CollectiveName::Alltoall => C::Alltoall { give, get },
            CollectiveName::Alltoallv => C::Alltoallv { give, gives, get, gets },
            CollectiveName::Alltoallw => C::Alltoallw { give, gives, get, gets, types },
            CollectiveName::NeighborAllgather => C::NeighborAllgather { give, get },
            CollectiveName::NeighborAlltoall => C::NeighborAlltoall { give, get },
        }
    }
}

impl Subject for Prepared<'_> {
    fn once(&mut self, rank: &Rank) -> Result<Sample, MpiError> {
        let (form, overlap_ns) = (self.form, self.overlap_ns);
        // Taken out for the call, since the arguments borrow the rest.
        let ring = self.ring.take();
        let world = self.comm;
        let comm = ring.as_ref().unwrap_or(world);
        let call = self.arguments();
        let sample = timed(rank, || match form {
            Form::Blocking => rank.mpi.call(comm, call),
            Form::Started => rank.mpi.call_overlapped(comm, call, || {}),
            Form::Overlapped => rank.mpi.call_overlapped(comm, call, || rank.clock.spin(overlap_ns)),
        });
        self.ring = ring;
        sample
    }

    fn finish(mut self: Box<Self>, rank: &Rank) -> Result<(), MpiError> {
        self.ring.take().map_or(Ok(()), |ring| rank.mpi.free(ring))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_what_one_rank_moves_in_all() {
        let of = |name, root| {
            let sizes = sizes(name, 4096, 4, root);
            (sizes.part_bytes, sizes.give_bytes, sizes.get_bytes)
        };
        assert_eq!(of(CollectiveName::Gather, true), (1024, 1024, 4096));
        assert_eq!(of(CollectiveName::Gather, false), (1024, 1024, 0));
        assert_eq!(of(CollectiveName::Scatterv, true), (1024, 4096, 1024));
        assert_eq!(of(CollectiveName::Allgather, false), (1024, 1024, 4096));
        assert_eq!(of(CollectiveName::Alltoall, false), (1024, 4096, 4096));
        assert_eq!(of(CollectiveName::ReduceScatterBlock, false), (1024, 4096, 1024));
        assert_eq!(of(CollectiveName::Allreduce, false).1, 4096);
    }

    #[test]
    fn no_part_is_less_than_an_element() {
        assert_eq!(sizes(CollectiveName::Alltoall, 1, 8, false).give_bytes, 8);
        assert_eq!(numbers(0), (Element::Int, 4));
        assert_eq!(numbers(8), (Element::Double, 8));
        assert_eq!(sizes(CollectiveName::ReduceScatter, 8, 8, false).give_bytes, 32);
    }

    #[test]
    fn what_one_gives_the_other_gets() {
        let ranks = 16;
        let given = |from| (0..ranks).map(|to| gift(Spread::Sparse, 4000, ranks, from, to)).sum::<usize>();
        assert!((0..ranks).all(|from| given(from) == 4000));
        assert_eq!(gift(Spread::Sparse, 4000, ranks, 3, 9), 1000);
        assert_eq!(gift(Spread::Sparse, 4000, ranks, 3, 5), 0);
        assert_eq!(gift(Spread::Skewed, 3000, ranks, 15, 0), 1500);
        assert_eq!(gift(Spread::Skewed, 3000, ranks, 15, 1), 100);
    }
}
