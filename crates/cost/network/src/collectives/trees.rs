//! Collectives from a root or to a root, along trees.
//!
//! Places are counted from the root: place 0 is the root, and a parent has a lower place than its children. Large vectors
//! go in segments; then a receiver has a few receives ready at a time, and a segment moves on as soon as it is
//! there.

use super::walk::{Cost, TwoReceives, Walk};
use crate::Messages;
use std::rc::Rc;

/// Who is below whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Below a place are those with one more bit set, below its lowest.
    Binomial,
    /// Each has two below it.
    Binary,
    /// Each has two below it, and the ranks below one are next to each other. The highest rank is at the top.
    InOrderBinary,
    /// Each but the root has one below it; the root has so many.
    Chains(u32),
}

/// The lowest bit of a place, or for the root the first power of two that is not below the number of ranks.
fn reach(place: usize, ranks: usize) -> usize {
    if place == 0 { ranks.next_power_of_two() } else { place & place.wrapping_neg() }
}

impl Tree {
    /// Whoever is directly below a place, in the order in which it is served.
    fn below(self, place: usize, ranks: usize, below: &mut Vec<usize>) {
        below.clear();
        match self {
            Tree::Binomial => {
                let mut distance = 1;
                while distance < reach(place, ranks) {
                    below.push(place + distance);
                    distance *= 2;
                }
            }
            Tree::Binary => {
                let distance = 1 << (place + 1).ilog2();
                below.extend([place + distance, place + 2 * distance]);
            }
            Tree::InOrderBinary => below.extend(in_order_below(place, ranks)),
            Tree::Chains(chains) => {
                let length = (ranks - 1).div_ceil(chains.max(1) as usize).max(1);
                match place {
                    0 => below.extend((1..ranks).step_by(length)),
                    _ if !place.is_multiple_of(length) => below.push(place + 1),
                    _ => {}
                }
            }
        }
        below.retain(|below| *below < ranks);
    }

    /// The rank at a place.
    fn rank(self, place: usize, root: usize, ranks: usize) -> usize {
        match self {
            Tree::InOrderBinary => ranks - 1 - place,
            _ => (place + root) % ranks,
        }
    }
}

/// Of a tree over `ranks` places in order, the children of a place: half of the rest, and the other half.
fn in_order_below(place: usize, ranks: usize) -> Vec<usize> {
    let (mut top, mut size) = (0, ranks);
    loop {
        let second = size / 2;
        let first = size.saturating_sub(second + 1);
        if place == top {
            let halves = [(first, top + 1), (second, top + 1 + first)];
            return halves.into_iter().filter(|(size, _)| *size > 0).map(|(_, top)| top).collect();
        }
        (top, size) = if place <= top + first { (top + 1, first) } else { (top + 1 + first, second) };
    }
}

/// The segments of a vector: sizes of all but the last, of the last, and how many there are.
struct Segments {
    whole: Cost,
    last: Cost,
    count: usize,
}

impl Segments {
    fn new<M: Messages + ?Sized>(walk: &Walk<M>, bytes: u64, segment_bytes: u64) -> Segments {
        let size = if segment_bytes == 0 { bytes } else { segment_bytes.min(bytes) };
        let count = if size == 0 { 1 } else { bytes.div_ceil(size) };
        let last = bytes - (count - 1) * size;
        Segments { whole: walk.cost(size), last: walk.cost(last), count: count as usize }
    }

    fn cost(&self, index: usize) -> &Cost {
        if index + 1 == self.count { &self.last } else { &self.whole }
    }
}

impl<M: Messages + ?Sized> Walk<'_, M> {
    /// The whole vector from the root, the farthest below first.
    pub fn binomial_from_root(&mut self, root: usize, bytes: u64) {
        let cost = self.cost(bytes);
        self.binomial_down(root, Order::FarFirst, |_| cost);
    }

    /// The whole vector from the root, the farthest below first, with the link to each message alone.
    pub fn plain_from_root(&mut self, root: usize, bytes: u64) {
        let (ranks, cost) = (self.ranks(), self.cost(bytes));
        let mut below = Vec::new();
        for place in 0..ranks {
            Tree::Binomial.below(place, ranks, &mut below);
            for below in below.iter().rev() {
                self.message((place + root) % ranks, (below + root) % ranks, &cost);
            }
        }
    }

    /// The whole vector to the root, from the nearest below first.
    pub fn binomial_to_root(&mut self, root: usize, bytes: u64) {
        let cost = self.cost(bytes);
        self.binomial_up(root, |_| cost);
    }

    /// A part for each, together with those of all below it.
    pub fn binomial_scatter(&mut self, root: usize, part_bytes: u64, order: Order) {
        let net: Vec<Cost> = self.costs_of_parts(part_bytes);
        let ranks = self.ranks();
        let rest: Vec<usize> = rests(ranks);
        let uneven: Vec<Cost> = rest.iter().map(|rest| self.cost(*rest as u64 * part_bytes)).collect();
        self.binomial_down(root, order, |place| part(place, ranks, &net, &rest, &uneven));
    }

    /// A part of each, together with those of all below it.
    pub fn binomial_gather(&mut self, root: usize, part_bytes: u64) {
        let net: Vec<Cost> = self.costs_of_parts(part_bytes);
        let ranks = self.ranks();
        let rest: Vec<usize> = rests(ranks);
        let uneven: Vec<Cost> = rest.iter().map(|rest| self.cost(*rest as u64 * part_bytes)).collect();
        self.binomial_up(root, |place| part(place, ranks, &net, &rest, &uneven));
    }

    /// What 1, 2, 4, ... parts cost.
    fn costs_of_parts(&self, part_bytes: u64) -> Vec<Cost> {
        (0..self.ranks().next_power_of_two().ilog2()).map(|round| self.cost(part_bytes << round)).collect()
    }

    fn binomial_down(&mut self, root: usize, order: Order, cost_to: impl Fn(usize) -> Cost) {
        let ranks = self.ranks();
        let mut below = Vec::new();
        let mut messages: Vec<(usize, Cost)> = Vec::new();
        for place in 0..ranks {
            Tree::Binomial.below(place, ranks, &mut below);
            if let Order::FarFirst = order {
                below.reverse();
            }
            messages.clear();
            messages.extend(below.iter().map(|below| ((below + root) % ranks, cost_to(*below))));
            self.send_in_turn((place + root) % ranks, &messages);
        }
    }

    fn binomial_up(&mut self, root: usize, cost_from: impl Fn(usize) -> Cost) {
        let ranks = self.ranks();
        let mut below = Vec::new();
        for place in (0..ranks).rev() {
            Tree::Binomial.below(place, ranks, &mut below);
            for below in &below {
                self.message((below + root) % ranks, (place + root) % ranks, &cost_from(*below));
            }
        }
    }

    /// The whole vector from the root; below a place are those that differ in one digit below its lowest one.
    pub fn knomial(&mut self, root: usize, radix: usize, bytes: u64) {
        let (ranks, cost) = (self.ranks(), self.cost(bytes));
        let mut messages: Vec<(usize, Cost)> = Vec::new();
        for place in 0..ranks {
            let mut distance = 1;
            while distance < ranks && place.is_multiple_of(radix * distance) {
                distance *= radix;
            }
            let from = (place + root) % ranks;
            messages.clear();
            while distance > 0 {
                let level = (1..radix).map(|digit| place + digit * distance).filter(|below| *below < ranks);
                // The place itself has this digit already if it is its lowest one.
                if place.is_multiple_of(radix * distance) {
                    messages.extend(level.map(|below| ((below + root) % ranks, cost)));
                }
                if cost.waits {
                    self.send_at_once(from, &messages);
                    messages.clear();
                }
                distance /= radix;
            }
            self.send_at_once(from, &messages);
        }
    }

    /// The whole vector from rank to rank, or from each to two, in segments that are all sent at once; through rank 0.
    pub fn all_segments_at_once(&mut self, root: usize, fan_out: usize, bytes: u64, segment_bytes: u64) {
        if root != 0 {
            self.message(root, 0, &self.cost(bytes));
        }
        let segments = Segments::new(self, bytes, segment_bytes);
        let ranks = self.ranks();
        for rank in 0..ranks {
            let below = (rank * fan_out + 1).min(ranks)..(rank * fan_out + 1 + fan_out).min(ranks);
            self.send_many(rank, below, segments.count as u64, &segments.whole);
        }
    }

    /// The whole vector along the ranks in segments; each has two receives ready.
    pub fn pipeline(&mut self, root: usize, bytes: u64, segment_bytes: u64) {
        let segments = Segments::new(self, bytes, segment_bytes);
        let ranks = self.ranks();
        let mut sent = vec![self.now[root]; segments.count];
        for place in 1..ranks {
            let rank = (place + root) % ranks;
            receive_segments(&mut sent, self.now[rank], &segments, true, 1);
            self.now[rank] = sent[segments.count - 1];
        }
    }

    /// One half of the vector down each side of a binary tree in segments; then those at the same place in both sides
    /// exchange what they have.
    pub fn split_binary(&mut self, root: usize, bytes: u64, segment_bytes: u64) {
        let (ranks, half) = (self.ranks(), bytes.div_ceil(2));
        let segments = Segments::new(self, half, segment_bytes);
        let mut sent: Vec<Vec<f64>> = vec![Vec::new(); ranks];
        sent[0] = vec![self.now[root]; segments.count];
        let mut below = Vec::new();
        let mut under = Vec::new();
        for place in 0..ranks {
            Tree::Binary.below(place, ranks, &mut below);
            let from = std::mem::take(&mut sent[place]);
            for next in &below {
                let rank = (next + root) % ranks;
                Tree::Binary.below(*next, ranks, &mut under);
                let mut got = from.clone();
                receive_segments(&mut got, self.now[rank], &segments, !under.is_empty(), below.len());
                self.now[rank] = got[segments.count - 1];
                sent[*next] = got;
            }
        }
        let cost = self.cost(half);
        for place in (1..ranks).step_by(2) {
            let (one, other) = ((place + root) % ranks, (place + 1 + root) % ranks);
            match place + 1 < ranks {
                true => self.exchange(one, other, &cost, &cost),
                false => self.message(root, one, &cost),
            }
        }
    }

    /// The whole vector to the root in segments; every rank has two receives ready, in the order of segments and of those
    /// below it.
    pub fn segmented_to_root(&mut self, tree: Tree, root: usize, bytes: u64, segment_bytes: u64) {
        let ranks = self.ranks();
        let segments = Segments::new(self, bytes, segment_bytes);
        let nothing: Rc<[f64]> = Rc::new([]);
        let mut sent: Vec<Rc<[f64]>> = (0..ranks).map(|_| Rc::clone(&nothing)).collect();
        // If all come at once, full trees of one size are all the same: the first place with such a tree, and how far it was.
        let alike = tree == Tree::Binomial && self.together().is_some();
        let mut seen: [Option<(usize, f64)>; usize::BITS as usize] = [None; usize::BITS as usize];
        let mut below = Vec::new();
        for place in (0..ranks).rev() {
            tree.below(place, ranks, &mut below);
            let rank = tree.rank(place, root, ranks);
            let size = reach(place, ranks);
            let full = alike && place + size <= ranks;
            let class = size.trailing_zeros() as usize;
            if let (true, Some((same, now))) = (full, seen[class]) {
                for next in &below {
                    self.now[(next + root) % ranks] = self.now[(next - place + same + root) % ranks];
                }
                (self.now[rank], sent[place]) = (now, sent[same].clone());
                continue;
            }
            let done = self.receive_all_segments(tree, root, place, &below, &sent, &segments);
            // From now on a sender is as far as its sends are.
            if let (false, Some(first)) = (place == 0, done.first()) {
                self.now[rank] = *first;
            }
            if full {
                seen[class] = Some((place, self.now[rank]));
            } else if !alike {
                below.iter().for_each(|next| sent[*next] = Rc::clone(&nothing));
            }
            sent[place] = done.into();
        }
        let top = tree.rank(0, root, ranks);
        if top != root {
            self.message(top, root, &self.cost(bytes));
        }
    }

    /// One takes all segments of those below it, which have them to send at `sent`. Returns when it has each.
    fn receive_all_segments(
        &mut self,
        tree: Tree,
        root: usize,
        place: usize,
        below: &[usize],
        sent: &[Rc<[f64]>],
        segments: &Segments,
    ) -> Vec<f64> {
        let ranks = self.ranks();
        let rank = tree.rank(place, root, ranks);
        let mut receives = TwoReceives::new(self.now[rank]);
        let mut done = Vec::new();
        if below.is_empty() {
            return done;
        }
        for index in 0..segments.count {
            let cost = segments.cost(index);
            for (child, next) in below.iter().enumerate() {
                let from = tree.rank(*next, root, ranks);
                // Leaves send all segments as soon as they may.
                let ready = sent[*next].get(index).copied().unwrap_or(f64::NEG_INFINITY).max(self.now[from]);
                let taken = cost.taken(ready, receives.ready);
                let before = receives.take(taken - cost.occupied, cost.occupied);
                self.now[from] = if cost.waits { taken } else { ready + cost.sending };
                done.extend(before.filter(|_| child == 0));
            }
        }
        done.push(receives.end());
        self.now[rank] = receives.end();
        done
    }
}

/// Whom to serve first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those with most below them.
    FarFirst,
    /// The leaves.
    NearFirst,
}

/// How many places there are from each on whose tree is not full.
fn rests(ranks: usize) -> Vec<usize> {
    (0..ranks.next_power_of_two().ilog2() as usize)
        .map(|round| {
            let size = 1 << round;
            let last = (ranks - 1) & !(size - 1);
            (ranks - last).min(size)
        })
        .collect()
}

/// What all parts below a place and its own cost together.
fn part(place: usize, ranks: usize, even: &[Cost], rest: &[usize], uneven: &[Cost]) -> Cost {
    let round = reach(place, ranks).trailing_zeros() as usize;
    if ranks - place < (1 << round) && ranks - place == rest[round] { uneven[round] } else { even[round] }
}

/// When a rank has each segment, in place of when each was sent. It has one receive ready or two, and its sender sends
/// each segment so many times.
fn receive_segments(times: &mut [f64], came: f64, segments: &Segments, two: bool, copies: usize) {
    let mut receives = TwoReceives::new(came);
    for index in 0..times.len() {
        let cost = segments.cost(index);
        let ready = if two { receives.ready } else { receives.end() };
        let begins = cost.taken(times[index], ready) - cost.occupied;
        if let Some(before) = receives.take(begins, cost.occupied * copies as f64) {
            times[index - 1] = before;
        }
    }
    if let Some(last) = times.last_mut() {
        *last = receives.end();
    }
}
