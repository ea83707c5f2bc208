//! Collectives in rounds: every rank exchanges with one partner after the other, at distances that double or go around.
//!
//! Where all are at the same time and rounds are equal, they are added up; otherwise they are walked. Beyond
//! [`MOST_WALKED`] ranks, rounds with each other rank in turn are taken to begin when the last one comes.

use super::ELEMENT_BYTES;
use super::walk::{Cost, Walk};
use crate::Messages;
use rustc_hash::FxHashMap;

/// With more ranks, rounds with each other rank are not walked.
const MOST_WALKED: usize = 4096;

/// Whoever of two neighbours takes part for both, where only a power of two of the ranks can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The one of odd rank.
    Odd,
    /// The one of even rank.
    Even,
}

/// The ranks that take part if only a power of two can.
struct Members {
    count: usize,
    doubled: usize,
    keeper: Keeper,
}

impl Members {
    fn new(ranks: usize, keeper: Keeper) -> Members {
        let count = 1 << ranks.ilog2();
        Members { count, doubled: ranks - count, keeper }
    }

    fn rank(&self, member: usize) -> usize {
        match (member < self.doubled, self.keeper) {
            (true, Keeper::Odd) => 2 * member + 1,
            (true, Keeper::Even) => 2 * member,
            (false, _) => member + self.doubled,
        }
    }

    /// Ranks that do not take part, with the rank that represents them.
    fn aside(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let other = usize::from(self.keeper == Keeper::Even);
        (0..self.doubled).map(move |member| (2 * member + other, 2 * member + 1 - other))
    }

    fn rounds(&self) -> u32 {
        self.count.ilog2()
    }

    /// The first block a member has after so many rounds of halving, if its lowest bit decides first.
    fn nearest_first(&self, member: usize, rounds: u32) -> usize {
        (0..rounds).map(|bit| ((member >> bit) & 1) * (self.count >> (bit + 1))).sum()
    }
}

/// What members have of a vector: each one block, with more in some of them.
struct Blocks {
    /// Of each.
    block_bytes: u64,
    /// The first so many have a second one.
    doubled: usize,
    /// The last has as much more.
    count: usize,
    rest_bytes: u64,
}

impl Blocks {
    /// A part of each rank; members have those of the ranks they represent, too.
    fn of_parts(members: &Members, part_bytes: u64) -> Blocks {
        Blocks { block_bytes: part_bytes, doubled: members.doubled, count: members.count, rest_bytes: 0 }
    }

    /// Equal numbers of elements for each member, and the last gets what cannot be divided.
    fn of_vector(members: &Members, bytes: u64) -> Blocks {
        let count = members.count;
        let block_bytes = bytes / ELEMENT_BYTES / count as u64 * ELEMENT_BYTES;
        Blocks { block_bytes, doubled: 0, count, rest_bytes: bytes - block_bytes * count as u64 }
    }

    /// In the blocks from one on to another.
    fn bytes(&self, start: usize, end: usize) -> u64 {
        let blocks = (end - start + end.min(self.doubled).saturating_sub(start)) as u64;
        blocks * self.block_bytes + if end == self.count { self.rest_bytes } else { 0 }
    }
}

impl<M: Messages + ?Sized> Walk<'_, M> {
    /// Members at distances 1, 2, 4, ... exchange messages of the size of the round.
    fn member_rounds(&mut self, members: &Members, rounds: impl Iterator<Item = (u32, u64)>) {
        for (round, bytes) in rounds {
            let cost = self.cost(bytes);
            for member in (0..members.count).filter(|member| member & (1 << round) == 0) {
                self.exchange(members.rank(member), members.rank(member | 1 << round), &cost, &cost);
            }
        }
    }

    /// Members exchange halves of what they have, and halves of these, or in reverse put them together again. Which of the
    /// halves is whose is decided by the lowest bit of a member first, or by the highest.
    fn halving_rounds(&mut self, members: &Members, blocks: &Blocks, nearest_first: bool, reverse: bool) {
        let rounds = members.rounds();
        let mut costs: FxHashMap<u64, Cost> = FxHashMap::default();
        for step in 0..rounds {
            let step = if reverse { rounds - 1 - step } else { step };
            let bit = if nearest_first { step } else { rounds - 1 - step };
            let half = members.count >> (step + 1);
            for member in (0..members.count).filter(|member| member & (1 << bit) == 0) {
                let start = match nearest_first {
                    true => members.nearest_first(member, step),
                    false => member & !(2 * half - 1),
                };
                let mut cost = |start: usize| {
                    let bytes = blocks.bytes(start, start + half);
                    *costs.entry(bytes).or_insert_with(|| self.cost(bytes))
                };
                let (lower, upper) = (cost(start), cost(start + half));
                // The lower one keeps the lower half. On the way back each gives what it kept.
                let (gives, gets) = if reverse { (lower, upper) } else { (upper, lower) };
                self.exchange(members.rank(member), members.rank(member | 1 << bit), &gives, &gets);
            }
        }
    }

    /// Those that stand aside give what they have, or get what they need.
    fn aside(&mut self, members: &Members, bytes: u64, back: bool) {
        let cost = self.cost(bytes);
        for (aside, keeper) in members.aside() {
            if back { self.message(keeper, aside, &cost) } else { self.message(aside, keeper, &cost) }
        }
    }

    /// Everything with all ranks: an allreduce.
    pub fn recursive_doubling(&mut self, bytes: u64) {
        let members = Members::new(self.ranks(), Keeper::Odd);
        self.aside(&members, bytes, false);
        self.member_rounds(&members, (0..members.rounds()).map(|round| (round, bytes)));
        self.aside(&members, bytes, true);
    }

    /// Halves are reduced, then joined again: an allreduce.
    pub fn rabenseifner(&mut self, bytes: u64) {
        let members = Members::new(self.ranks(), Keeper::Odd);
        let blocks = Blocks::of_vector(&members, bytes);
        self.aside(&members, bytes, false);
        self.halving_rounds(&members, &blocks, true, false);
        self.halving_rounds(&members, &blocks, true, true);
        self.aside(&members, bytes, true);
    }

    /// Halves are reduced, then gathered at the root: a reduce.
    pub fn halving_gather(&mut self, root: usize, bytes: u64) {
        let members = Members::new(self.ranks(), Keeper::Even);
        let blocks = Blocks::of_vector(&members, bytes);
        self.aside(&members, bytes, false);
        self.halving_rounds(&members, &blocks, true, false);
        let kept = match (root < 2 * members.doubled, root % 2) {
            (true, 1) => 0,
            (true, _) => root / 2,
            (false, _) => root - members.doubled,
        };
        for round in (0..members.rounds()).rev() {
            let size = members.count >> (round + 1);
            // Those that differ from the root in an earlier round are done.
            let earlier = !((2 << round) - 1);
            for member in (0..members.count).filter(|member| (member ^ kept) & (1 << round) != 0) {
                if (member ^ kept) & earlier & (members.count - 1) == 0 {
                    let start = members.nearest_first(member, round + 1);
                    let cost = self.cost(blocks.bytes(start, start + size));
                    self.message(members.rank(member), members.rank(member ^ (1 << round)), &cost);
                }
            }
        }
        if members.rank(kept) != root {
            self.message(members.rank(kept), root, &self.cost(blocks.block_bytes));
        }
    }

    /// Halves are reduced until each has its part: a reduce-scatter.
    pub fn recursive_halving(&mut self, bytes: u64) {
        let members = Members::new(self.ranks(), Keeper::Odd);
        let part = bytes / self.ranks() as u64;
        self.aside(&members, bytes, false);
        self.halving_rounds(&members, &Blocks::of_parts(&members, part), false, false);
        self.aside(&members, part, true);
    }

    /// The same from the nearest partner on, after which each has the part of another, and gets its own from there.
    pub fn butterfly(&mut self, bytes: u64) {
        let members = Members::new(self.ranks(), Keeper::Odd);
        let rounds = members.rounds();
        let part = bytes / self.ranks() as u64;
        self.aside(&members, bytes, false);
        self.halving_rounds(&members, &Blocks::of_parts(&members, part), true, false);
        let part = self.cost(part);
        let mirror = |member: usize| member.reverse_bits() >> (usize::BITS - rounds.max(1));
        for (member, (aside, _)) in members.aside().enumerate() {
            self.message(members.rank(mirror(member)), aside, &part);
        }
        for member in (0..members.count).filter(|member| *member < mirror(*member)) {
            self.exchange(members.rank(member), members.rank(mirror(member)), &part, &part);
        }
    }

    /// Partners at distances 1, 2, 4, ... exchange; the size depends on how many parts are had. Where
    /// some have no partner, others of their half send them what they miss, in a tree.
    pub fn doubling_of_parts(&mut self, size: impl Fn(usize) -> u64) {
        let ranks = self.ranks();
        let mut distance = 1;
        while distance < ranks {
            let parts = |rank: usize| distance.min(ranks - (rank & !(distance - 1)));
            let whole = self.cost(size(distance));
            for rank in (0..ranks).filter(|rank| rank & distance == 0 && rank + distance < ranks) {
                let other = rank + distance;
                let other_way = match parts(other) {
                    parts if parts == distance => whole,
                    parts => self.cost(size(parts)),
                };
                // Until the larger one is through, neither link is free for what follows.
                let longer = if other_way.exchange > whole.exchange { other_way } else { whole };
                self.exchange(rank, other, &longer, &longer);
            }
            // The first of the last half know all; they send it to the others of the half.
            let start = (ranks - 1) & !(2 * distance - 1);
            let knowing = (ranks - start).saturating_sub(distance);
            if knowing > 0 && knowing < distance {
                self.inform_rest(start, distance, knowing, &self.cost(size(knowing)));
            }
            distance *= 2;
        }
    }

    /// Of `count` ranks from `start` on the first `knowing` send it to the others: first those of the other half, then each
    /// half for itself.
    fn inform_rest(&mut self, start: usize, count: usize, knowing: usize, cost: &Cost) {
        let mut messages = Vec::new();
        for rank in start..start + count {
            messages.clear();
            let mut step = count / 2;
            while step > 0 {
                let edge = (rank & !(2 * step - 1)) + knowing;
                if rank & step == 0 && rank < edge && rank + step >= edge {
                    messages.push((rank + step, *cost));
                }
                step /= 2;
            }
            self.send_in_turn(rank, &messages);
        }
    }

    /// Everybody to the one at twice the distance in each round: a barrier, or an allgather that doubles what is known.
    pub fn dissemination(&mut self, size: impl Fn(usize) -> u64) {
        let ranks = self.ranks();
        let mut distance = 1;
        while distance < ranks {
            let cost = self.cost(size(distance));
            self.shift(distance, &cost);
            distance *= 2;
        }
    }

    /// Neighbours exchange, on one side and on the other in turn: one part first, then the two that were received last.
    pub fn neighbour_exchange(&mut self, part_bytes: u64) {
        let ranks = self.ranks();
        let (first, rest) = (self.cost(part_bytes), self.cost(2 * part_bytes));
        let rounds = ranks / 2;
        if let Some(now) = self.together() {
            return self.set_all(now + first.exchange + (rounds - 1) as f64 * rest.exchange);
        }
        if ranks > MOST_WALKED {
            let last = self.last();
            return self.set_all(last + first.exchange + (rounds - 1) as f64 * rest.exchange);
        }
        for round in 0..rounds {
            let cost = if round == 0 { first } else { rest };
            let up = |rank: usize| rank.is_multiple_of(2) == (round % 2 == 0);
            self.exchange_all(&cost, |rank| {
                Some(if up(rank) { (rank + 1) % ranks } else { (rank + ranks - 1) % ranks })
            });
        }
    }

    /// With each other rank in turn. With `partners` of them messages of this size, with the others empty ones.
    pub fn pairwise(&mut self, part_bytes: u64, partners: usize) {
        let ranks = self.ranks();
        let (cost, empty) = (self.cost(part_bytes), self.cost(0));
        let full = partners.min(ranks - 1);
        let all = full as f64 * cost.exchange + (ranks - 1 - full) as f64 * empty.exchange;
        let by_bits = ranks.is_power_of_two();
        if full + 1 < ranks && by_bits && ranks <= MOST_WALKED {
            return self.sparse_pairwise(&spread(full, ranks), &cost, &empty);
        }
        match self.together() {
            Some(now) => self.set_all(now + all),
            None if ranks > MOST_WALKED || full + 1 < ranks => {
                let last = self.last();
                self.set_all(last + all);
            }
            None if by_bits => {
                (1..ranks).for_each(|distance| self.exchange_all(&cost, |rank| Some(rank ^ distance)));
            }
            None => (1..ranks).for_each(|distance| self.shift(distance, &cost)),
        }
    }

    /// Partners differ in the bits of the round, so those that have something to exchange do that in different rounds, and
    /// delay each other.
    fn sparse_pairwise(&mut self, distances: &[bool], cost: &Cost, empty: &Cost) {
        let ranks = self.ranks();
        for bits in 1..ranks {
            for rank in (0..ranks).filter(|rank| rank < &(rank ^ bits)) {
                let partner = rank ^ bits;
                let cost = if distances[partner - rank] { cost } else { empty };
                self.exchange(rank, partner, cost, cost);
            }
        }
    }
}

/// At which distances partners are, if there are so many and nothing else is known: the neighbours, and others spread
/// evenly.
fn spread(partners: usize, ranks: usize) -> Vec<bool> {
    let mut distances = vec![false; ranks];
    for pair in 0..partners.div_ceil(2) {
        let distance = (pair * 2 * ranks / (partners + 1)).max(1);
        (distances[distance], distances[ranks - distance]) = (true, true);
    }
    distances
}
