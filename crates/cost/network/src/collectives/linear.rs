//! Collectives without a plan: every rank sends to all it has something for, at once or one after the other.
//!
//! At once means that links are the limit: all ranks are done when the last one's messages have gone over its link.

use super::walk::Walk;
use crate::Messages;

impl<M: Messages + ?Sized> Walk<'_, M> {
    /// Everybody with all others, at most so many at once. With `partners` of them messages of this size, with the others
    /// empty ones.
    pub fn all_at_once(&mut self, part_bytes: u64, partners: usize, at_once: usize) {
        let (cost, empty) = (self.cost(part_bytes), self.cost(0));
        let (mut others, mut full) = (self.ranks() - 1, partners);
        let mut now = self.last();
        // The first batch has one place for oneself.
        let mut room = at_once.saturating_sub(usize::from(at_once <= others));
        while others > 0 {
            let batch = room.clamp(1, others);
            let with_data = (full * batch).div_ceil(others).min(batch);
            let longest = if with_data > 0 { &cost } else { &empty };
            now += longest.exchange - longest.occupied_both_ways
                + with_data as f64 * cost.occupied_both_ways
                + (batch - with_data) as f64 * empty.occupied_both_ways;
            (others, full, room) = (others - batch, full - with_data, at_once);
        }
        self.set_all(now);
    }

    /// From the root to each, one after the other.
    pub fn linear_scatter(&mut self, root: usize, part_bytes: u64) {
        let cost = self.cost(part_bytes);
        if !cost.waits {
            return self.scatter_at_once(root, part_bytes);
        }
        for rank in (0..self.ranks()).filter(|rank| *rank != root) {
            self.message(root, rank, &cost);
        }
    }

    /// From the root to all at once.
    pub fn scatter_at_once(&mut self, root: usize, part_bytes: u64) {
        let (ranks, cost) = (self.ranks(), self.cost(part_bytes));
        let others: Vec<usize> = (0..ranks).filter(|rank| *rank != root).collect();
        self.send_many(root, others.into_iter(), 1, &cost);
    }

    /// To the root, which takes one after the other.
    pub fn linear_gather(&mut self, root: usize, part_bytes: u64) {
        let cost = self.cost(part_bytes);
        for rank in (0..self.ranks()).filter(|rank| *rank != root) {
            self.message(rank, root, &cost);
        }
    }

    /// To the root, which takes all at once.
    pub fn gather_at_once(&mut self, root: usize, part_bytes: u64) {
        self.receive_from_all(root, &self.cost(part_bytes));
    }

    /// To the root, which asks one after the other for a first piece; the rest follows by itself.
    pub fn synchronised_gather(&mut self, root: usize, part_bytes: u64) {
        let piece_bytes = if part_bytes > LONG_PART_BYTES { 32 << 10 } else { 1 << 10 }.min(part_bytes);
        let (ask, piece, rest) = (self.cost(0), self.cost(piece_bytes), self.cost(part_bytes - piece_bytes));
        let mut free = f64::NEG_INFINITY;
        for rank in (0..self.ranks()).filter(|rank| *rank != root) {
            self.message(root, rank, &ask);
            self.message(rank, root, &piece);
            free = (self.now[rank] + rest.message).max(free + rest.occupied);
            self.now[rank] = if rest.waits { free } else { self.now[rank] + rest.sending };
        }
        self.now[root] = self.now[root].max(free);
    }

    /// Everybody to all of higher rank at once.
    pub fn scan_at_once(&mut self, bytes: u64) {
        let (ranks, cost) = (self.ranks(), self.cost(bytes));
        let mut lower = f64::NEG_INFINITY;
        let mut ends = Vec::with_capacity(ranks);
        for rank in 0..ranks {
            let own = self.now[rank];
            ends.push(if rank == 0 { own } else { cost.taken(lower, own) });
            lower = lower.max(own + (ranks - 1 - rank).saturating_sub(1) as f64 * cost.occupied);
        }
        if cost.waits {
            // Senders wait for all they send to.
            let mut higher = f64::NEG_INFINITY;
            for end in ends.iter_mut().rev() {
                higher = end.max(higher);
                *end = higher;
            }
        }
        self.now = ends;
    }

    /// Along the ranks from the lowest on.
    pub fn scan_chain(&mut self, bytes: u64) {
        let cost = self.cost(bytes);
        for rank in 1..self.ranks() {
            self.message(rank - 1, rank, &cost);
        }
    }
}

/// Parts above are asked for in longer pieces.
const LONG_PART_BYTES: u64 = 92_160;
