//! The processes that do one thing together, seen from one of them.
//!
//! Whoever divides work says by [`Company`] who does what, and what they have to tell each other. Who carries the letters,
//! MPI or threads or nobody, is not known here.
//!
//! It promises nothing of failures: a process that fails stops coming, and whoever carries letters takes the others away from
//! where they wait for it.

use std::fmt::Debug;
use std::ops::Range;

/// Those who do one thing together. All of them exchange the same kinds of letters in the same order.
pub trait Company: Debug + Sync {
    /// The number of this one, from 0.
    fn own(&self) -> usize;

    /// How many there are.
    fn count(&self) -> usize;

    /// Gives each process a letter, itself among them, and gets one from each, in their order.
    fn to_each(&self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// The same with one letter for all.
    fn to_all(&self, letter: Vec<u8>) -> Vec<Vec<u8>>;

    /// Gives some of the processes a letter, which all have been told of: `from` says who has written to this one, and how many
    /// bytes. Gets those letters in the same order. All of them call it.
    fn to_some(&self, letters: Vec<(usize, Vec<u8>)>, from: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let mut to_each = vec![Vec::new(); self.count()];
        letters.into_iter().for_each(|(to, letter)| to_each[to] = letter);
        let mut letters = self.to_each(to_each);
        from.iter().map(|(from, _)| std::mem::take(&mut letters[*from])).collect()
    }

    /// Whether this one does what is not divided.
    fn is_first(&self) -> bool {
        self.own() == 0
    }

    /// Gives the first process a letter. It gets those of all, in their order; the others get empty ones.
    fn to_first(&self, letter: Vec<u8>) -> Vec<Vec<u8>> {
        let mut letters = vec![Vec::new(); self.count()];
        letters[0] = letter;
        self.to_each(letters)
    }

    /// The letter of the first process; what others give is not read.
    fn word_of_first(&self, letter: Vec<u8>) -> Vec<u8> {
        self.to_all(if self.is_first() { letter } else { Vec::new() }).swap_remove(0)
    }

    /// Which of so many things are for this process. Shares lie one behind the other, in the order of processes.
    fn share(&self, things: usize) -> Range<usize> {
        things * self.own() / self.count()..things * (self.own() + 1) / self.count()
    }
}

/// Nobody else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone;

impl Company for Alone {
    fn own(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn to_each(&self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        letters
    }

    fn to_all(&self, letter: Vec<u8>) -> Vec<Vec<u8>> {
        vec![letter]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of several that never write.
    #[derive(Debug)]
    struct OneOf(usize, usize);

    impl Company for OneOf {
        fn own(&self) -> usize {
            self.0
        }

        fn count(&self) -> usize {
            self.1
        }

        fn to_each(&self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
            letters
        }

        fn to_all(&self, letter: Vec<u8>) -> Vec<Vec<u8>> {
            vec![letter; self.1]
        }
    }

    #[test]
    fn shares_are_everything_once() {
        for (things, count) in [(0, 3), (1, 3), (7, 3), (64, 5), (3, 3)] {
            let shares = (0..count).flat_map(|own| OneOf(own, count).share(things));
            assert_eq!(shares.collect::<Vec<_>>(), (0..things).collect::<Vec<_>>());
        }
        assert_eq!(Alone.share(9), 0..9);
    }

    #[test]
    fn who_is_alone_hears_itself() {
        assert!(Alone.is_first());
        assert_eq!(Alone.to_first(vec![1]), [[1]]);
        assert_eq!(Alone.word_of_first(vec![2]), [2]);
    }
}
