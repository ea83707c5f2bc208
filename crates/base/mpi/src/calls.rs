//! Collectives: the calls, as they are or by their non-blocking forms.

use crate::collective::{Collective, Element, RING_NEIGHBOURS, Types, as_count, data, space};
use crate::handles::{Handle, HandleArray};
use crate::library::check;
use crate::{Comm, Mpi, MpiError};
use std::ffi::c_int;

/// Calls a function, or its non-blocking form if there is a place for a request.
macro_rules! call {
    ($mpi:expr, $request:expr, $blocking:ident, $started:ident, ($($argument:expr),*)) => {
        match $request {
            None => {
                let function = &$mpi.functions.$blocking;
                // SAFETY: `fits` has compared the buffers with what the call uses; they are there until it returns.
                check(function.name, unsafe { function.get()?($($argument),*) })
            }
            Some(place) => {
                let function = &$mpi.functions.$started;
                // SAFETY: as above, and the caller keeps the buffers until the request has been awaited.
                check(function.name, unsafe { function.get()?($($argument,)* place) })
            }
        }
    };
}

/// A collective under way. Waits when dropped, even if what is done meanwhile panics.
struct UnderWay<'a> {
    mpi: &'a Mpi,
    request: Option<Handle>,
}

impl UnderWay<'_> {
    fn wait(&mut self) -> Result<(), MpiError> {
        let Some(mut request) = self.request.take() else { return Ok(()) };
        let wait = &self.mpi.functions.wait;
        // SAFETY: the request is one that MPI gave; its status is not asked for.
        check(wait.name, unsafe { wait.get()?(&mut request, self.mpi.constants.status_ignore) })
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if self.wait().is_err() {
            // Giving buffers back that MPI still uses would be worse.
            std::process::abort();
        }
    }
}

impl Mpi {
    /// `MPI_BYTE` for each rank.
    pub fn byte_types(&self, comm: &Comm) -> Types {
        let constants = &self.constants;
        Types { handles: HandleArray::filled(comm.size() as usize, constants.byte, constants.handle_bytes) }
    }

    /// Calls a collective. Neighbours are those of a communicator that [`Mpi::ring`] made.
    #[inline]
    pub fn call(&self, comm: &Comm, collective: Collective<'_>) -> Result<(), MpiError> {
        collective.fits(comm)?;
        self.dispatch(comm, collective, None)
    }

    /// Starts a collective, does something meanwhile, and waits for it.
    #[inline]
    pub fn call_overlapped(
        &self,
        comm: &Comm,
        collective: Collective<'_>,
        meanwhile: impl FnOnce(),
    ) -> Result<(), MpiError> {
        collective.fits(comm)?;
        let mut request: Handle = 0;
        // The buffers are borrowed by the caller for longer than this function runs, and it waits before it ends.
        self.dispatch(comm, collective, Some(&mut request))?;
        let mut under_way = UnderWay { mpi: self, request: Some(request) };
        meanwhile();
        under_way.wait()
    }

    /// The largest of what all ranks give, number by number, at rank 0.
    pub fn largest(&self, comm: &Comm, give: &[f64], get: &mut [f64]) -> Result<(), MpiError> {
        let reduce = &self.functions.reduce;
        if give.is_empty() || give.len() != get.len() {
            return Err(MpiError::Buffer { name: reduce.name });
        }
        let (count, double) = (as_count(give.len())?, self.constants.double);
        let (from, into) = (give.as_ptr().cast(), get.as_mut_ptr().cast());
        // SAFETY: both are `count` doubles.
        let code = unsafe { reduce.get()?(from, into, count, double, self.constants.max, 0, comm.handle) };
        check(reduce.name, code)
    }

    fn dispatch(
        &self,
        comm: &Comm,
        collective: Collective<'_>,
        request: Option<*mut Handle>,
    ) -> Result<(), MpiError> {
        use Collective::*;
        match collective {
            Barrier => call!(self, request, barrier, ibarrier, (comm.handle)),
            Reduce { .. }
            | Allreduce { .. }
            | ReduceScatter { .. }
            | ReduceScatterBlock { .. }
            | Scan { .. }
            | Exscan { .. } => self.reduction(comm, collective, request),
            Bcast { .. } | Gather { .. } | Gatherv { .. } | Scatter { .. } | Scatterv { .. } => {
                self.rooted(comm, collective, request)
            }
            _ => self.all_to_all(comm, collective, request),
        }
    }

    fn reduction(
        &self,
        comm: &Comm,
        collective: Collective<'_>,
        request: Option<*mut Handle>,
    ) -> Result<(), MpiError> {
        use Collective::*;
        let (sum, on) = (self.constants.sum, comm.handle);
        let element = |of| match of {
            Element::Int => self.constants.int,
            Element::Double => self.constants.double,
        };
        let elements = |bytes: usize, of: Element| as_count(bytes / of.bytes());
        match collective {
            Reduce { give, get, of, root } => {
                let (from, into, n) = (data(give)?.0, space(get)?.0, elements(give.len(), of)?);
                call!(
                    self,
                    request,
                    reduce,
                    ireduce,
                    (from, into, n, element(of), sum, root.cast_signed(), on)
                )
            }
            Allreduce { give, get, of } => {
                let (from, into, n) = (data(give)?.0, space(get)?.0, elements(give.len(), of)?);
                call!(self, request, allreduce, iallreduce, (from, into, n, element(of), sum, on))
            }
            ReduceScatter { give, get, counts, of } => {
                let (from, into, parts) = (data(give)?.0, space(get)?.0, counts.counts.as_ptr());
                call!(
                    self,
                    request,
                    reduce_scatter,
                    ireduce_scatter,
                    (from, into, parts, element(of), sum, on)
                )
            }
            ReduceScatterBlock { give, get, of } => {
                let (from, n) = (data(give)?.0, elements(get.len(), of)?);
                let into = space(get)?.0;
                let of = element(of);
                call!(
                    self,
                    request,
                    reduce_scatter_block,
                    ireduce_scatter_block,
                    (from, into, n, of, sum, on)
                )
            }
            Scan { give, get, of } => {
                let (from, into, n) = (data(give)?.0, space(get)?.0, elements(give.len(), of)?);
                call!(self, request, scan, iscan, (from, into, n, element(of), sum, on))
            }
            Exscan { give, get, of } => {
                let (from, into, n) = (data(give)?.0, space(get)?.0, elements(give.len(), of)?);
                call!(self, request, exscan, iexscan, (from, into, n, element(of), sum, on))
            }
            _ => unreachable!("no reduction"),
        }
    }

    fn rooted(
        &self,
        comm: &Comm,
        collective: Collective<'_>,
        request: Option<*mut Handle>,
    ) -> Result<(), MpiError> {
        use Collective::*;
        let (byte, on) = (self.constants.byte, comm.handle);
        match collective {
            Bcast { data, root } => {
                let (at, n) = space(data)?;
                call!(self, request, bcast, ibcast, (at, n, byte, root.cast_signed(), on))
            }
            Gather { give, get, root } => {
                let ((from, n), into, root) = (data(give)?, space(get)?.0, root.cast_signed());
                call!(self, request, gather, igather, (from, n, byte, into, n, byte, root, on))
            }
            Gatherv { give, get, counts, root } => {
                let ((from, n), into, root) = (data(give)?, space(get)?.0, root.cast_signed());
                let (parts, at) = (counts.counts.as_ptr(), counts.places.as_ptr());
                call!(self, request, gatherv, igatherv, (from, n, byte, into, parts, at, byte, root, on))
            }
            Scatter { give, get, root } => {
                let (from, (into, n), root) = (data(give)?.0, space(get)?, root.cast_signed());
                call!(self, request, scatter, iscatter, (from, n, byte, into, n, byte, root, on))
            }
            Scatterv { give, get, counts, root } => {
                let (from, (into, n), root) = (data(give)?.0, space(get)?, root.cast_signed());
                let (parts, at) = (counts.counts.as_ptr(), counts.places.as_ptr());
                call!(self, request, scatterv, iscatterv, (from, parts, at, byte, into, n, byte, root, on))
            }
            _ => unreachable!("no root"),
        }
    }

    fn all_to_all(
        &self,
        comm: &Comm,
        collective: Collective<'_>,
        request: Option<*mut Handle>,
    ) -> Result<(), MpiError> {
        use Collective::*;
        let (byte, on) = (self.constants.byte, comm.handle);
        let parts = comm.size().cast_signed();
        match collective {
            Allgather { give, get } => {
                let ((from, n), into) = (data(give)?, space(get)?.0);
                call!(self, request, allgather, iallgather, (from, n, byte, into, n, byte, on))
            }
            Allgatherv { give, get, counts } => {
                let ((from, n), into) = (data(give)?, space(get)?.0);
                let (parts, at) = (counts.counts.as_ptr(), counts.places.as_ptr());
                call!(self, request, allgatherv, iallgatherv, (from, n, byte, into, parts, at, byte, on))
            }
            Alltoall { give, get } => {
                let ((from, all), into) = (data(give)?, space(get)?.0);
                let n = all / parts;
                call!(self, request, alltoall, ialltoall, (from, n, byte, into, n, byte, on))
            }
            Alltoallv { give, gives, get, gets } => {
                let (from, into) = (data(give)?.0, space(get)?.0);
                let (out, out_at) = (gives.counts.as_ptr(), gives.places.as_ptr());
                let (back, back_at) = (gets.counts.as_ptr(), gets.places.as_ptr());
                call!(
                    self,
                    request,
                    alltoallv,
                    ialltoallv,
                    (from, out, out_at, byte, into, back, back_at, byte, on)
                )
            }
            Alltoallw { give, gives, get, gets, types } => {
                let (from, into) = (data(give)?.0, space(get)?.0);
                let (out, out_at) = (gives.counts.as_ptr(), gives.places.as_ptr());
                let (back, back_at) = (gets.counts.as_ptr(), gets.places.as_ptr());
                let of = types.handles.as_ptr();
                call!(
                    self,
                    request,
                    alltoallw,
                    ialltoallw,
                    (from, out, out_at, of, into, back, back_at, of, on)
                )
            }
            NeighborAllgather { give, get } => {
                let ((from, n), into) = (data(give)?, space(get)?.0);
                call!(
                    self,
                    request,
                    neighbor_allgather,
                    ineighbor_allgather,
                    (from, n, byte, into, n, byte, on)
                )
            }
            NeighborAlltoall { give, get } => {
                let ((from, all), into) = (data(give)?, space(get)?.0);
                let n = all / RING_NEIGHBOURS as c_int;
                call!(
                    self,
                    request,
                    neighbor_alltoall,
                    ineighbor_alltoall,
                    (from, n, byte, into, n, byte, on)
                )
            }
            _ => unreachable!("not from all to all"),
        }
    }
}
