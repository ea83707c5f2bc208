//! This rank: what every measurement needs.

use crate::clock::Clock;
use kizami_mpi::{Collective, Comm, Mpi, MpiError};

/// MPI, all ranks, and the time.
#[derive(Debug)]
pub(crate) struct Rank {
    pub mpi: Mpi,
    /// All ranks, for what is not measured.
    pub world: Comm,
    /// All ranks, for what is.
    pub measured: Comm,
    pub clock: Clock,
}

impl Rank {
    /// Whether this is the one that reads commands and decides.
    pub(crate) fn is_first(&self) -> bool {
        self.world.rank() == 0
    }

    /// The number of the last rank.
    pub(crate) fn last(&self) -> u32 {
        self.world.size() - 1
    }

    /// Waits for all ranks.
    pub(crate) fn barrier(&self) -> Result<(), MpiError> {
        self.mpi.call(&self.world, Collective::Barrier)
    }

    /// What rank 0 says, at all ranks.
    pub(crate) fn broadcast<const N: usize>(&self, mut words: [f64; N]) -> Result<[f64; N], MpiError> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.mpi.call(&self.world, Collective::Bcast { data: &mut bytes, root: 0 })?;
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = f64::from_ne_bytes(*bytes);
        }
        Ok(words)
    }
}
