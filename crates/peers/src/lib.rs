//! The other processes of the same command, if a launcher has started several.
//!
//! [`Peers::join`] tells by the environment whether that is so (`launched`), loads the launcher's MPI and starts it.
//! From then on all processes exchange letters: each has one for each of the others, and gets one from each. That is
//! all they know of each other.
//!
//! It promises that letters come whole and in the order of processes, and that a round too large for MPI is an error and
//! never a part of it. It does not know what letters say, who of them prints, or what is to be done if one fails: there is
//! [`Peers::abort`] for that.

mod error;
mod launched;

pub use error::PeersError;

use kizami_mpi::{Collective, Comm, Counts, Mpi};

/// Bytes of the length of a letter, as it is told ahead.
const LENGTH_BYTES: usize = size_of::<u64>();

/// The processes of a command, of which this is one. Used by the thread that has joined.
#[derive(Debug)]
pub struct Peers {
    mpi: Mpi,
    world: Comm,
    /// Processes on this host.
    here: usize,
}

impl Peers {
    /// Meets the others. None if no launcher has started this process, or it has started no other. All processes must
    /// call it.
    pub fn join() -> Result<Option<Peers>, PeersError> {
        let Some(launched) = launched::processes() else { return Ok(None) };
        let mpi = Mpi::load()?;
        let world = mpi.init_beside_threads()?;
        if world.size() != launched {
            let (path, known) = (mpi.path().to_owned(), world.size());
            return Err(PeersError::OtherLauncher { path, known, launched });
        }
        let mut peers = Peers { mpi, world, here: 1 };
        let host = peers.mpi.processor_name()?;
        let hosts = peers.to_all(host.as_bytes())?;
        peers.here = hosts.iter().filter(|other| **other == host.as_bytes()).count();
        Ok(Some(peers))
    }

    /// The number of this process, from 0.
    pub fn own(&self) -> usize {
        self.world.rank() as usize
    }

    /// How many processes there are.
    pub fn count(&self) -> usize {
        self.world.size() as usize
    }

    /// How many of them run on this host; at least one.
    pub fn here(&self) -> usize {
        self.here
    }

    /// Gives each process a letter, itself among them, and gets one from each, in their order. All processes must call
    /// it, and wait for each other.
    pub fn exchange(&self, letters: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, PeersError> {
        let gives = lengths(letters);
        let mut gets = vec![0; gives.len()];
        self.mpi.call(&self.world, Collective::Alltoall { give: &gives, get: &mut gets })?;
        let counts = |lengths: &[u8]| Counts::new(&read_lengths(lengths)).map_err(|_| PeersError::TooLarge);
        let (gives, gets) = (counts(&gives)?, counts(&gets)?);
        let give = letters.concat();
        let mut get = vec![0; gets.total()];
        let call = Collective::Alltoallv { give: &give, gives: &gives, get: &mut get, gets: &gets };
        self.mpi.call(&self.world, call)?;
        Ok(gets.parts(&get))
    }

    /// Gives all the same letter, and gets theirs.
    pub fn to_all(&self, letter: &[u8]) -> Result<Vec<Vec<u8>>, PeersError> {
        self.exchange(&vec![letter.to_vec(); self.count()])
    }

    /// Parts from the others. All processes must call it, as the last thing they do with each other.
    pub fn end(&self) -> Result<(), PeersError> {
        Ok(self.mpi.finalize()?)
    }

    /// Ends all processes at once.
    pub fn abort(&self, code: i32) -> ! {
        self.mpi.abort(code)
    }
}

fn lengths(letters: &[Vec<u8>]) -> Vec<u8> {
    letters.iter().flat_map(|letter| (letter.len() as u64).to_le_bytes()).collect()
}

/// A length that no memory could hold is as good as the largest.
fn read_lengths(bytes: &[u8]) -> Vec<usize> {
    let words = bytes.chunks_exact(LENGTH_BYTES).map(|bytes| bytes.try_into().unwrap_or_default());
    words.map(|bytes| usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_back() {
        let letters = [vec![1; 3], Vec::new(), vec![2; 70_000]];
        assert_eq!(read_lengths(&lengths(&letters)), [3, 0, 70_000]);
    }

    #[test]
    fn nobody_joins_without_a_launcher() {
        // Tests are started by none.
        assert!(matches!(Peers::join(), Ok(None)));
    }
}
