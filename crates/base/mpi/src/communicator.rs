//! Communicators.

use crate::handles::Handle;
use crate::library::check;
use crate::{Mpi, MpiError};
use std::ffi::c_int;

/// A communicator, with what is asked of it most. It is freed by [`Mpi::free`], which all its ranks must call.
#[derive(Debug)]
pub struct Comm {
    pub(crate) handle: Handle,
    rank: u32,
    size: u32,
}

impl Comm {
    /// The number of this rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> u32 {
        self.size
    }
}

impl Mpi {
    /// Asks for rank and size.
    pub(crate) fn describe(&self, handle: Handle) -> Result<Comm, MpiError> {
        let (mut rank, mut size): (c_int, c_int) = (0, 0);
        let functions = &self.functions;
        // SAFETY: the handle is one that MPI gave, the places are there during the calls.
        check(functions.comm_rank.name, unsafe { functions.comm_rank.get()?(handle, &mut rank) })?;
        // SAFETY: as above.
        check(functions.comm_size.name, unsafe { functions.comm_size.get()?(handle, &mut size) })?;
        Ok(Comm { handle, rank: rank.cast_unsigned(), size: size.cast_unsigned() })
    }

    /// A communicator of the same ranks that has done nothing yet. All ranks must call this.
    pub fn duplicate(&self, comm: &Comm) -> Result<Comm, MpiError> {
        let mut handle: Handle = 0;
        let dup = &self.functions.comm_dup;
        // SAFETY: a library with small handles writes the lower half, the upper stays zero.
        check(dup.name, unsafe { dup.get()?(comm.handle, &mut handle) })?;
        self.describe(handle)
    }

    /// The same ranks as a ring: each has the one before and the one after it as neighbours. All ranks must call
    /// this.
    pub fn ring(&self, comm: &Comm) -> Result<Comm, MpiError> {
        let mut handle: Handle = 0;
        let sizes = [comm.size.cast_signed()];
        let periodic = [1];
        let create = &self.functions.cart_create;
        // SAFETY: one dimension, and arrays of one; the new handle as in `duplicate`.
        let code =
            unsafe { create.get()?(comm.handle, 1, sizes.as_ptr(), periodic.as_ptr(), 0, &mut handle) };
        check(create.name, code)?;
        self.describe(handle)
    }

    /// Frees a communicator that [`Mpi::duplicate`] or [`Mpi::ring`] made. All ranks must call this.
    pub fn free(&self, comm: Comm) -> Result<(), MpiError> {
        let mut handle = comm.handle;
        let free = &self.functions.comm_free;
        // SAFETY: `comm` is taken, so the handle is not used afterwards.
        check(free.name, unsafe { free.get()?(&mut handle) })
    }
}
