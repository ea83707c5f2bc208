//! Messages from rank to rank.
//!
//! Data is moved as bytes. Messages that are under way at once are awaited in the same call that starts them, so
//! their buffers outlive them; what is to happen meanwhile is a closure.

use crate::collective::{data, space};
use crate::handles::HandleArray;
use crate::library::check;
use crate::{Comm, Mpi, MpiError};
use std::ffi::c_int;

/// A message to be sent.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// What it says.
    pub data: &'a [u8],
    /// To which rank.
    pub to: u32,
}

/// A message to be received.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// Where it goes, and how long it may be.
    pub space: &'a mut [u8],
    /// From which rank.
    pub from: u32,
}

/// Room for requests, made ahead so that starting messages allocates nothing.
#[derive(Debug)]
pub struct Requests {
    handles: HandleArray,
}

/// Messages under way. Waits when dropped, so that no buffer is given back before, even if the closure panics.
struct UnderWay<'a> {
    mpi: &'a Mpi,
    requests: &'a mut Requests,
    started: usize,
}

impl UnderWay<'_> {
    fn wait(&mut self) -> Result<(), MpiError> {
        let count = std::mem::take(&mut self.started);
        let waitall = &self.mpi.functions.waitall;
        // SAFETY: the first `count` places hold requests; statuses are not asked for.
        let code = unsafe {
            waitall.get()?(count as c_int, self.requests.handles.place(0), self.mpi.constants.status_ignore)
        };
        check(waitall.name, code)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if self.started > 0 && self.wait().is_err() {
            // Giving buffers back that MPI still writes to would be worse.
            std::process::abort();
        }
    }
}

impl Mpi {
    /// Room for so many requests.
    pub fn requests(&self, count: usize) -> Requests {
        let constants = &self.constants;
        Requests { handles: HandleArray::filled(count, constants.request_null, constants.handle_bytes) }
    }

    /// Sends, and returns when `data` may be changed.
    pub fn send(&self, comm: &Comm, message: Outgoing<'_>, tag: i32) -> Result<(), MpiError> {
        let (from, count) = data(message.data)?;
        let send = &self.functions.send;
        let (byte, to) = (self.constants.byte, message.to.cast_signed());
        // SAFETY: `count` bytes are at `from`, until MPI returns.
        check(send.name, unsafe { send.get()?(from, count, byte, to, tag, comm.handle) })
    }

    /// Receives a message of at most as many bytes as there is space.
    pub fn receive(&self, comm: &Comm, message: Incoming<'_>, tag: i32) -> Result<(), MpiError> {
        let (into, count) = space(message.space)?;
        let recv = &self.functions.recv;
        let (byte, from) = (self.constants.byte, message.from.cast_signed());
        // SAFETY: there is space for `count` bytes, until MPI returns.
        let code =
            unsafe { recv.get()?(into, count, byte, from, tag, comm.handle, self.constants.status_ignore) };
        check(recv.name, code)
    }

    /// Sends and receives at once.
    pub fn send_receive(
        &self,
        comm: &Comm,
        out: Outgoing<'_>,
        incoming: Incoming<'_>,
        tag: i32,
    ) -> Result<(), MpiError> {
        let (data_at, data_count) = data(out.data)?;
        let (space_at, space_count) = space(incoming.space)?;
        let (to, from) = (out.to.cast_signed(), incoming.from.cast_signed());
        let byte = self.constants.byte;
        let sendrecv = &self.functions.sendrecv;
        // SAFETY: both buffers are there until MPI returns, and are different ones.
        let code = unsafe {
            sendrecv.get()?(
                data_at,
                data_count,
                byte,
                to,
                tag,
                space_at,
                space_count,
                byte,
                from,
                tag,
                comm.handle,
                self.constants.status_ignore,
            )
        };
        check(sendrecv.name, code)
    }

    /// Starts all receives, then all sends, does something meanwhile, and waits for all of them.
    ///
    /// # Panics
    /// If there is no room for that many requests.
    pub fn exchange(
        &self,
        comm: &Comm,
        incoming: &mut [Incoming<'_>],
        outgoing: &[Outgoing<'_>],
        tag: i32,
        requests: &mut Requests,
        meanwhile: impl FnOnce(),
    ) -> Result<(), MpiError> {
        assert!(
            incoming.len() + outgoing.len() <= requests.handles.len(),
            "too few requests were made ahead"
        );
        let byte = self.constants.byte;
        let (isend, irecv) = (&self.functions.isend, &self.functions.irecv);
        let mut under_way = UnderWay { mpi: self, requests, started: 0 };
        for message in incoming {
            let (into, count) = space(message.space)?;
            let place = under_way.requests.handles.place(under_way.started);
            let from = message.from.cast_signed();
            // SAFETY: the space is borrowed until `under_way` has waited for the request.
            let code = unsafe { irecv.get()?(into, count, byte, from, tag, comm.handle, place) };
            check(irecv.name, code)?;
            under_way.started += 1;
        }
        for message in outgoing {
            let (from, count) = data(message.data)?;
            let place = under_way.requests.handles.place(under_way.started);
            let to = message.to.cast_signed();
            // SAFETY: the data is borrowed until `under_way` has waited for the request.
            check(isend.name, unsafe { isend.get()?(from, count, byte, to, tag, comm.handle, place) })?;
            under_way.started += 1;
        }
        meanwhile();
        under_way.wait()
    }
}
