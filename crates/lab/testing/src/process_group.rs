//! A group of processes, played by threads.

use kizami_parallel::lock;
use kizami_process_group::ProcessGroup;
use std::sync::{Barrier, Mutex};

/// Has so many of them do the same, each in a thread of its own; returns what each came to, in their order.
///
/// # Panics
/// If one of them does. If others wait for it in an exchange, they wait for ever.
pub fn played<T: Send>(count: usize, work: impl Fn(&dyn ProcessGroup) -> T + Sync) -> Vec<T> {
    let board = Board { messages: Mutex::new(vec![Vec::new(); count]), barrier: Barrier::new(count) };
    std::thread::scope(|scope| {
        let play = |own| work(&Member { own, board: &board });
        let members: Vec<_> = (0..count).map(|own| scope.spawn(move || play(own))).collect();
        members.into_iter().map(|member| member.join().expect("it does not panic")).collect()
    })
}

#[derive(Debug)]
struct Board {
    /// From each to each.
    messages: Mutex<Vec<Vec<Vec<u8>>>>,
    barrier: Barrier,
}

#[derive(Debug)]
struct Member<'a> {
    own: usize,
    board: &'a Board,
}

impl ProcessGroup for Member<'_> {
    fn index(&self) -> usize {
        self.own
    }

    fn size(&self) -> usize {
        self.messages().len()
    }

    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.messages()[self.own] = messages;
        self.board.barrier.wait();
        let got = self.messages().iter().map(|messages| messages[self.own].clone()).collect();
        self.board.barrier.wait();
        got
    }

    fn all_gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        self.all_to_all(vec![message; self.size()])
    }
}

impl Member<'_> {
    fn messages(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Vec<u8>>>> {
        lock(&self.board.messages)
    }
}
