//! Pieces in the order of their numbers: those that ended wait here until all before them have.

use crate::task::TaskSlot;
use crate::{Listener, Need, Piece};
use std::collections::VecDeque;

enum Entry {
    /// It has not ended; its task.
    Open(TaskSlot),
    Done(Piece, Vec<Need>),
}

/// Holds pieces that cannot be reported yet.
pub(crate) struct Buffer {
    entries: VecDeque<Entry>,
    /// Number of the first entry.
    first: u64,
}

impl Buffer {
    pub(crate) fn new() -> Buffer {
        Buffer { entries: VecDeque::new(), first: 1 }
    }

    /// The next number, for a piece of this task.
    pub(crate) fn open(&mut self, task: TaskSlot) -> u64 {
        self.entries.push_back(Entry::Open(task));
        self.first + self.entries.len() as u64 - 1
    }

    /// A piece has ended.
    pub(crate) fn done(&mut self, piece: Piece, needs: Vec<Need>) {
        let place = piece.number.checked_sub(self.first);
        if let Some(entry) = place.and_then(|place| self.entries.get_mut(place as usize)) {
            *entry = Entry::Done(piece, needs);
        }
    }

    /// Reports all pieces that are complete in order.
    pub(crate) fn report<L: Listener>(&mut self, listener: &mut L) -> Result<(), L::Error> {
        while let Some(Entry::Done(piece, needs)) = self.entries.front() {
            listener.piece(piece, needs)?;
            self.entries.pop_front();
            self.first += 1;
        }
        Ok(())
    }

    /// How many it holds.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The task whose open piece holds up all others.
    pub(crate) fn oldest(&self) -> Option<TaskSlot> {
        match self.entries.front() {
            Some(Entry::Open(task)) => Some(*task),
            _ => None,
        }
    }

    /// How many were reported.
    pub(crate) fn reported(&self) -> u64 {
        self.first - 1
    }
}
