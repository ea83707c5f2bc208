//! Processes that work together, played by threads.

use kizami_company::Company;
use std::sync::{Barrier, Mutex, PoisonError};

/// Has so many of them do the same, each in a thread of its own; gives what each came to, in their order.
///
/// # Panics
/// If one of them does. If others wait for it at a meeting, they wait for good.
pub fn played<T: Send>(count: usize, work: impl Fn(&dyn Company) -> T + Sync) -> Vec<T> {
    let board = Board { letters: Mutex::new(vec![Vec::new(); count]), meeting: Barrier::new(count) };
    std::thread::scope(|scope| {
        let play = |own| work(&Member { own, board: &board });
        let members: Vec<_> = (0..count).map(|own| scope.spawn(move || play(own))).collect();
        members.into_iter().map(|member| member.join().expect("it does not panic")).collect()
    })
}

#[derive(Debug)]
struct Board {
    /// From each to each.
    letters: Mutex<Vec<Vec<Vec<u8>>>>,
    meeting: Barrier,
}

#[derive(Debug)]
struct Member<'a> {
    own: usize,
    board: &'a Board,
}

impl Company for Member<'_> {
    fn own(&self) -> usize {
        self.own
    }

    fn count(&self) -> usize {
        self.letters().len()
    }

    fn to_each(&self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.letters()[self.own] = letters;
        self.board.meeting.wait();
        let got = self.letters().iter().map(|letters| letters[self.own].clone()).collect();
        self.board.meeting.wait();
        got
    }

    fn to_all(&self, letter: Vec<u8>) -> Vec<Vec<u8>> {
        self.to_each(vec![letter; self.count()])
    }
}

impl Member<'_> {
    fn letters(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Vec<u8>>>> {
        self.board.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
