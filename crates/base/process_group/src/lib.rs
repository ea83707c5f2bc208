//! The processes that share one command, as one of them sees them.
//!
//! Whoever divides work takes a [`ProcessGroup`]: it says how many processes there are, which part of the work is this
//! one's, and it exchanges messages. [`Single`] is a process by itself. With the feature `mpi`, [`MpiGroup`] is the processes
//! that an MPI launcher has started.
//!
//! It promises nothing about failures: a process that fails stops taking part, and the implementation gets the others out of
//! the exchange in which they wait for it. It does not know what messages mean; `kizami-wire` encodes them.

#[cfg(feature = "mpi")]
mod error;
#[cfg(feature = "mpi")]
mod launched;
#[cfg(feature = "mpi")]
mod mpi_group;

#[cfg(feature = "mpi")]
pub use error::MpiGroupError;
#[cfg(feature = "mpi")]
pub use launched::is_launched;
#[cfg(feature = "mpi")]
pub use mpi_group::{Contribution, MpiGroup, Received};

use std::fmt::Debug;
use std::ops::Range;

/// Processes that share work. All of them call the same methods in the same order.
pub trait ProcessGroup: Debug + Sync {
    /// The number of this process, from 0.
    fn index(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends each process a message, itself among them, and receives one from each, in their order.
    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Sends all processes the same message, and receives one from each, in their order.
    fn all_gather(&self, message: Vec<u8>) -> Vec<Vec<u8>>;

    /// Sends messages to some of the processes, and receives those that are announced: `from` has the senders to this one and
    /// the bytes of their messages, which come in that order.
    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>, from: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let mut to_each = vec![Vec::new(); self.size()];
        messages.into_iter().for_each(|(to, message)| to_each[to] = message);
        let mut received = self.all_to_all(to_each);
        from.iter().map(|(from, _)| std::mem::take(&mut received[*from])).collect()
    }

    /// Whether this process does what is not divided.
    fn is_first(&self) -> bool {
        self.index() == 0
    }

    /// Sends the first process a message. It gets those of all, in their order; the others get empty ones.
    fn gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        let mut messages = vec![Vec::new(); self.size()];
        messages[0] = message;
        self.all_to_all(messages)
    }

    /// The message of the first process; what others pass is ignored.
    fn broadcast(&self, message: Vec<u8>) -> Vec<u8> {
        self.all_gather(if self.is_first() { message } else { Vec::new() }).swap_remove(0)
    }

    /// Which of so many items are this process's. Partitions are contiguous and in the order of processes.
    fn partition(&self, items: usize) -> Range<usize> {
        items * self.index() / self.size()..items * (self.index() + 1) / self.size()
    }
}

/// A process by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Single;

impl ProcessGroup for Single {
    fn index(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        messages
    }

    fn all_gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        vec![message]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member of a group that sends nothing.
    #[derive(Debug)]
    struct Member(usize, usize);

    impl ProcessGroup for Member {
        fn index(&self) -> usize {
            self.0
        }

        fn size(&self) -> usize {
            self.1
        }

        fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
            messages
        }

        fn all_gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
            vec![message; self.1]
        }
    }

    #[test]
    fn partitions_cover_every_item_once() {
        for (items, size) in [(0, 3), (1, 3), (7, 3), (64, 5), (3, 3)] {
            let partitions = (0..size).flat_map(|index| Member(index, size).partition(items));
            assert_eq!(partitions.collect::<Vec<_>>(), (0..items).collect::<Vec<_>>());
        }
        assert_eq!(Single.partition(9), 0..9);
    }

    #[test]
    fn a_single_process_receives_its_own_messages() {
        assert!(Single.is_first());
        assert_eq!(Single.gather(vec![1]), [[1]]);
        assert_eq!(Single.broadcast(vec![2]), [2]);
    }
}
