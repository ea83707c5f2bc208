//! Writing to and reading from the next rank's memory, with the fence that ends it.

use crate::buffers::Buffers;
use crate::rank::Rank;
use crate::subject::{Sample, Subject, timed};
use kizami_mpi::{Comm, MpiError, Window};

/// All ranks at once, each to the next.
#[derive(Debug)]
pub(crate) struct Remote<'a> {
    window: Window<'a>,
    next: u32,
    writes: bool,
    give: &'a [u8],
    get: &'a mut [u8],
}

impl<'a> Remote<'a> {
    pub(crate) fn prepare(
        rank: &'a Rank,
        comm: &Comm,
        writes: bool,
        bytes: usize,
        buffers: &'a mut Buffers,
    ) -> Result<Remote<'a>, MpiError> {
        let (give, get) = buffers.take(bytes, bytes);
        let window = rank.mpi.window(comm, vec![1; bytes])?;
        Ok(Remote { window, next: (comm.rank() + 1) % comm.size(), writes, give, get })
    }
}

impl Subject for Remote<'_> {
    fn once(&mut self, rank: &Rank) -> Result<Sample, MpiError> {
        timed(rank, || match self.writes {
            true => self.window.put(self.give, self.next),
            false => self.window.get(self.get, self.next),
        })
    }
}
