//! Messages among ranks for the tracer's own sake, along a binomial tree.
//!
//! Everything takes a number of rounds that grows with the logarithm of the number of ranks. The messages are
//! a few words on a communicator of our own, so the program never sees them. Whoever waits does so politely
//! where there are more ranks than cores.

use crate::abi;
use crate::real::own;
use std::ffi::c_void;
use std::time::Duration;

/// The ranks of one communicator as a tree: the parent of a rank is the rank without its lowest set bit.
#[derive(Debug)]
pub struct Tree {
    communicator: usize,
    pub rank: u32,
    pub size: u32,
    /// More ranks than cores here: waiting must not keep others from running.
    pub crowded: bool,
}

/// How long a rank that waits for a message sleeps where others need the core.
const BETWEEN_LOOKS: Duration = Duration::from_micros(20);

impl Tree {
    /// Takes over a communicator that is not used elsewhere.
    pub fn over(communicator: usize, crowded: bool) -> Tree {
        let (mut rank, mut size) = (0i32, 0i32);
        // SAFETY: a communicator of our own; places for numbers.
        unsafe {
            own::MPI_Comm_rank(communicator, &raw mut rank);
            own::MPI_Comm_size(communicator, &raw mut size);
        }
        Tree { communicator, rank: rank as u32, size: size as u32, crowded }
    }

    /// The rank above this one; none above the root.
    pub fn parent(&self) -> Option<u32> {
        (self.rank != 0).then(|| self.rank & (self.rank - 1))
    }

    /// The ranks below this one, those with the most below them first.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let (rank, size) = (self.rank, self.size);
        let bits = if rank == 0 { u32::BITS - size.leading_zeros() } else { rank.trailing_zeros() };
        (0..bits).rev().map(move |bit| rank + (1 << bit)).filter(move |child| *child < size)
    }

    /// How many rounds a message takes from the root to the last rank.
    pub fn depth(&self) -> u32 {
        u32::BITS - (self.size - 1).leading_zeros()
    }

    pub fn send<const WORDS: usize>(&self, to: u32, words: &[u64; WORDS]) {
        let bytes = size_of_val(words) as i32;
        // SAFETY: a communicator of our own, and as many bytes as there are.
        unsafe { own::MPI_Send(words.as_ptr(), bytes, abi::get().byte, to as i32, 0, self.communicator) };
    }

    pub fn receive<const WORDS: usize>(&self, from: u32) -> [u64; WORDS] {
        let mut words = [0u64; WORDS];
        let abi = abi::get();
        if self.crowded {
            self.wait_for_message(from);
        }
        let (place, bytes) = (words.as_mut_ptr(), size_of_val(&words) as i32);
        let no_status = abi.status_ignore as *mut c_void;
        // SAFETY: a communicator of our own, and a place for as many bytes.
        unsafe { own::MPI_Recv(place, bytes, abi.byte, from as i32, 0, self.communicator, no_status) };
        words
    }

    /// Lets others run until there is something to receive. Asleep: a thread that yields again and again owes the
    /// scheduler as many turns, and would go on late when all may.
    fn wait_for_message(&self, from: u32) {
        loop {
            let mut found = 0i32;
            let no_status = abi::get().status_ignore as *mut c_void;
            // SAFETY: a communicator of our own, and a place for a number.
            unsafe { own::MPI_Iprobe(from as i32, 0, self.communicator, &raw mut found, no_status) };
            if found != 0 {
                return;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// The largest of each word over all ranks, sent to the root; others get what is below them.
    pub fn most_to_root<const WORDS: usize>(&self, mut words: [u64; WORDS]) -> [u64; WORDS] {
        for child in self.children().rev() {
            let theirs = self.receive::<WORDS>(child);
            words.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = theirs.max(*mine));
        }
        if let Some(parent) = self.parent() {
            self.send(parent, &words);
        }
        words
    }

    /// What the root says.
    pub fn by_root<const WORDS: usize>(&self, mut words: [u64; WORDS]) -> [u64; WORDS] {
        if let Some(parent) = self.parent() {
            words = self.receive(parent);
        }
        for child in self.children() {
            self.send(child, &words);
        }
        words
    }

    /// The largest of each word over all ranks, sent to all.
    pub fn most<const WORDS: usize>(&self, words: [u64; WORDS]) -> [u64; WORDS] {
        let words = self.most_to_root(words);
        self.by_root(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_root_is_the_child_of_its_parent() {
        for size in 1..70 {
            let tree = |rank| Tree { communicator: 0, rank, size, crowded: false };
            let mut reached = 0;
            for rank in 0..size {
                for child in tree(rank).children() {
                    assert_eq!(tree(child).parent(), Some(rank));
                    reached += 1;
                }
            }
            assert_eq!(reached, size - 1, "{size} ranks");
            assert!(1 << tree(0).depth() >= size);
        }
    }
}
