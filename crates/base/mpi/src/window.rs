//! Memory of one rank that others write and read.

use crate::collective::{data, space};
use crate::handles::Handle;
use crate::library::check;
use crate::{Comm, Mpi, MpiError};

/// A window on a buffer of each rank, which it owns: one that is leaked keeps its memory. Making, fencing and dropping
/// it is done by all ranks of the communicator, in the same order.
#[derive(Debug)]
pub struct Window<'a> {
    mpi: &'a Mpi,
    handle: Handle,
    buffer: Vec<u8>,
}

impl Mpi {
    /// Opens a window, and the first time between two fences. Libraries may lack what windows need (Open MPI has none
    /// for a single rank); all ranks get [`MpiError::Refused`] then.
    pub fn window(&self, comm: &Comm, mut buffer: Vec<u8>) -> Result<Window<'_>, MpiError> {
        let create = &self.functions.win_create;
        let (base, _) = space(&mut buffer)?;
        let mut handle: Handle = 0;
        self.set_errors(comm, self.constants.errors_return)?;
        // SAFETY: the window keeps the buffer where it is, and frees itself before it.
        let code = unsafe {
            create.get()?(base, buffer.len() as isize, 1, self.constants.info_null, comm.handle, &mut handle)
        };
        self.set_errors(comm, self.constants.errors_are_fatal)?;
        if code != 0 {
            return Err(MpiError::Refused { name: create.name, code });
        }
        let window = Window { mpi: self, handle, buffer };
        window.fence()?;
        Ok(window)
    }

    /// What MPI does about errors on a communicator.
    fn set_errors(&self, comm: &Comm, handler: Handle) -> Result<(), MpiError> {
        let set = &self.functions.comm_set_errhandler;
        // SAFETY: both handles are there as long as MPI is.
        check(set.name, unsafe { set.get()?(comm.handle, handler) })
    }
}

impl Window<'_> {
    /// Writes to the start of another rank's buffer, and waits for all ranks at a fence. All ranks must have buffers
    /// of the same length.
    pub fn put(&mut self, from: &[u8], to: u32) -> Result<(), MpiError> {
        let put = &self.mpi.functions.put;
        let (at, count) = data(from)?;
        self.fits(from.len(), put.name)?;
        let byte = self.mpi.constants.byte;
        let to = to.cast_signed();
        // SAFETY: the data is there until the fence below has ended the transfer.
        check(put.name, unsafe { put.get()?(at, count, byte, to, 0, count, byte, self.handle) })?;
        self.fence()
    }

    /// Reads from the start of another rank's buffer, and waits for all ranks at a fence.
    pub fn get(&mut self, into: &mut [u8], from: u32) -> Result<(), MpiError> {
        let get = &self.mpi.functions.get;
        let (at, count) = space(into)?;
        self.fits(into.len(), get.name)?;
        let byte = self.mpi.constants.byte;
        let from = from.cast_signed();
        // SAFETY: the space is there until the fence below has ended the transfer.
        check(get.name, unsafe { get.get()?(at, count, byte, from, 0, count, byte, self.handle) })?;
        self.fence()
    }

    fn fits(&self, bytes: usize, name: &'static str) -> Result<(), MpiError> {
        if bytes <= self.buffer.len() { Ok(()) } else { Err(MpiError::Buffer { name }) }
    }

    fn fence(&self) -> Result<(), MpiError> {
        let fence = &self.mpi.functions.win_fence;
        // SAFETY: the window is open; nothing is promised about what comes.
        check(fence.name, unsafe { fence.get()?(0, self.handle) })
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        let freed = self.mpi.functions.win_free.get().map(|free| {
            // SAFETY: the handle is not used afterwards.
            unsafe { free(&mut self.handle) }
        });
        if freed.ok() != Some(0) {
            // Giving the buffer back while others may write to it would be worse.
            std::process::abort();
        }
    }
}
