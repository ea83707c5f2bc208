//! Collectives: what each needs. `calls.rs` does them.
//!
//! Data that is only moved is moved as bytes; reductions add numbers up. Each collective can be called as it is
//! (`Mpi::call`), or by its non-blocking form, with something done before it is awaited (`Mpi::call_overlapped`).
//!
//! A trap: an empty `Vec` points to a small number, and small numbers are `MPI_IN_PLACE` in some libraries. No
//! pointer of an empty slice is handed on.

use crate::handles::HandleArray;
use crate::{Comm, MpiError};
use std::ffi::{c_int, c_void};

/// What a reduction adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `MPI_INT`.
    Int,
    /// `MPI_DOUBLE`.
    Double,
}

impl Element {
    /// The size of one.
    pub fn bytes(self) -> usize {
        match self {
            Element::Int => 4,
            Element::Double => 8,
        }
    }
}

/// How many bytes each rank has in a buffer where all ranks' parts stand behind each other. For
/// [`Collective::ReduceScatter`] it counts elements.
#[derive(Debug)]
pub struct Counts {
    pub(crate) counts: Vec<c_int>,
    pub(crate) places: Vec<c_int>,
    total: usize,
}

impl Counts {
    /// From the size of each rank's part.
    pub fn new(parts: &[usize]) -> Result<Counts, MpiError> {
        let (mut counts, mut places) =
            (Vec::with_capacity(parts.len() + 1), Vec::with_capacity(parts.len() + 1));
        let mut total = 0;
        for part in parts {
            places.push(as_count(total)?);
            counts.push(as_count(*part)?);
            total += part;
        }
        as_count(total)?;
        Ok(Counts { counts, places, total })
    }

    /// All parts together.
    pub fn total(&self) -> usize {
        self.total
    }

    /// A buffer of that length, part by part.
    ///
    /// # Panics
    /// If it is shorter.
    pub fn parts(&self, buffer: &[u8]) -> Vec<Vec<u8>> {
        let parts = self.places.iter().zip(&self.counts);
        let part = |(at, count): (&c_int, &c_int)| buffer[*at as usize..][..*count as usize].to_vec();
        parts.map(part).collect()
    }
}

/// `MPI_BYTE` for each rank, as `MPI_Alltoallw` asks for it.
#[derive(Debug)]
pub struct Types {
    pub(crate) handles: HandleArray,
}

/// A collective with its buffers. Unless it says otherwise, all parts have the same size; `give` is what this rank
/// has, `get` where it finds the result.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are called alike, and mean what MPI says")]
pub enum Collective<'a> {
    Barrier,
    Bcast { data: &'a mut [u8], root: u32 },
    Reduce { give: &'a [u8], get: &'a mut [u8], of: Element, root: u32 },
    Allreduce { give: &'a [u8], get: &'a mut [u8], of: Element },
    ReduceScatter { give: &'a [u8], get: &'a mut [u8], counts: &'a Counts, of: Element },
    ReduceScatterBlock { give: &'a [u8], get: &'a mut [u8], of: Element },
    Scan { give: &'a [u8], get: &'a mut [u8], of: Element },
    Exscan { give: &'a [u8], get: &'a mut [u8], of: Element },
    Gather { give: &'a [u8], get: &'a mut [u8], root: u32 },
    Gatherv { give: &'a [u8], get: &'a mut [u8], counts: &'a Counts, root: u32 },
    Scatter { give: &'a [u8], get: &'a mut [u8], root: u32 },
    Scatterv { give: &'a [u8], get: &'a mut [u8], counts: &'a Counts, root: u32 },
    Allgather { give: &'a [u8], get: &'a mut [u8] },
    Allgatherv { give: &'a [u8], get: &'a mut [u8], counts: &'a Counts },
    Alltoall { give: &'a [u8], get: &'a mut [u8] },
    Alltoallv { give: &'a [u8], gives: &'a Counts, get: &'a mut [u8], gets: &'a Counts },
    Alltoallw { give: &'a [u8], gives: &'a Counts, get: &'a mut [u8], gets: &'a Counts, types: &'a Types },
    NeighborAllgather { give: &'a [u8], get: &'a mut [u8] },
    NeighborAlltoall { give: &'a [u8], get: &'a mut [u8] },
}

/// Neighbours in a ring, which is the only topology there is here.
pub(crate) const RING_NEIGHBOURS: usize = 2;

/// A number as MPI counts.
pub(crate) fn as_count(bytes: usize) -> Result<c_int, MpiError> {
    c_int::try_from(bytes).map_err(|_| MpiError::TooLarge { bytes })
}

/// Where bytes are and how many.
#[inline]
pub(crate) fn data(bytes: &[u8]) -> Result<(*const c_void, c_int), MpiError> {
    static SOMEWHERE: u64 = 0;
    let count = as_count(bytes.len())?;
    let start: *const c_void = if count == 0 { (&raw const SOMEWHERE).cast() } else { bytes.as_ptr().cast() };
    Ok((start, count))
}

/// Where there is space and how much.
#[inline]
pub(crate) fn space(bytes: &mut [u8]) -> Result<(*mut c_void, c_int), MpiError> {
    if bytes.is_empty() {
        // Nothing is written there, since the count is 0.
        return Ok((data(bytes)?.0.cast_mut(), 0));
    }
    Ok((bytes.as_mut_ptr().cast(), as_count(bytes.len())?))
}

impl Collective<'_> {
    /// Whether the buffers have what the call uses.
    pub(crate) fn fits(&self, comm: &Comm) -> Result<(), MpiError> {
        use Collective::*;
        let ranks = comm.size() as usize;
        let at = |root: &u32| comm.rank() == *root;
        let numbers = |give: &[u8], get: &[u8], of: &Element| {
            let whole = |bytes: &[u8]| bytes.len().is_multiple_of(of.bytes());
            let aligned = |bytes: &[u8]| bytes.is_empty() || bytes.as_ptr().addr().is_multiple_of(of.bytes());
            whole(give) && whole(get) && aligned(give) && aligned(get)
        };
        let each = |counts: &Counts| counts.counts.len() == ranks;
        // The part that others expect of this rank, and that it expects of itself.
        let mine = |counts: &Counts, bytes: usize| {
            counts.counts.get(comm.rank() as usize) == Some(&(bytes as c_int))
        };
        let (name, fits) = match self {
            Barrier => ("MPI_Barrier", true),
            Bcast { .. } => ("MPI_Bcast", true),
            Reduce { give, get, of, root } => {
                ("MPI_Reduce", numbers(give, get, of) && (!at(root) || get.len() >= give.len()))
            }
            Allreduce { give, get, of } | Scan { give, get, of } | Exscan { give, get, of } => {
                ("MPI_Allreduce, MPI_Scan or MPI_Exscan", numbers(give, get, of) && get.len() >= give.len())
            }
            ReduceScatter { give, get, counts, of } => {
                let sizes = give.len() >= counts.total * of.bytes() && mine(counts, get.len() / of.bytes());
                ("MPI_Reduce_scatter", numbers(give, get, of) && each(counts) && sizes)
            }
            ReduceScatterBlock { give, get, of } => {
                ("MPI_Reduce_scatter_block", numbers(give, get, of) && give.len() >= get.len() * ranks)
            }
            Gather { give, get, root } => ("MPI_Gather", !at(root) || get.len() >= give.len() * ranks),
            Gatherv { give, get, counts, root } => {
                let sizes = mine(counts, give.len()) && (!at(root) || get.len() >= counts.total);
                ("MPI_Gatherv", each(counts) && sizes)
            }
            Scatter { give, get, root } => ("MPI_Scatter", !at(root) || give.len() >= get.len() * ranks),
            Scatterv { give, get, counts, root } => {
                let sizes = mine(counts, get.len()) && (!at(root) || give.len() >= counts.total);
                ("MPI_Scatterv", each(counts) && sizes)
            }
            Allgather { give, get } => ("MPI_Allgather", get.len() >= give.len() * ranks),
            Allgatherv { give, get, counts } => {
                ("MPI_Allgatherv", each(counts) && mine(counts, give.len()) && get.len() >= counts.total)
            }
            Alltoall { give, get } => {
                ("MPI_Alltoall", give.len().is_multiple_of(ranks) && get.len() >= give.len())
            }
            Alltoallv { give, gives, get, gets } => {
                let sizes = give.len() >= gives.total && get.len() >= gets.total;
                ("MPI_Alltoallv", each(gives) && each(gets) && sizes)
            }
            Alltoallw { give, gives, get, gets, types } => {
                let sizes =
                    give.len() >= gives.total && get.len() >= gets.total && types.handles.len() == ranks;
                ("MPI_Alltoallw", each(gives) && each(gets) && sizes)
            }
            NeighborAllgather { give, get } => {
                ("MPI_Neighbor_allgather", get.len() >= give.len() * RING_NEIGHBOURS)
            }
            NeighborAlltoall { give, get } => (
                "MPI_Neighbor_alltoall",
                give.len().is_multiple_of(RING_NEIGHBOURS) && get.len() >= give.len(),
            ),
        };
        if fits { Ok(()) } else { Err(MpiError::Buffer { name }) }
    }
}
