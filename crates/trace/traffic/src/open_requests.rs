//! Requests that are under way, by number.
//!
//! A rank counts its requests, so those under way are mostly the last ones: they lie side by side, and finding one
//! takes no hashing. Requests that stay open while very many others come and go move to a table of their own.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Requests side by side, the oldest of them under way.
const MOST_SIDE_BY_SIDE: usize = 1 << 12;

/// What is known of each request.
#[derive(Clone, Debug)]
pub struct OpenRequests<T> {
    first: u64,
    near: VecDeque<Option<T>>,
    far: FxHashMap<u64, T>,
}

impl<T> Default for OpenRequests<T> {
    fn default() -> OpenRequests<T> {
        OpenRequests { first: 0, near: VecDeque::new(), far: FxHashMap::default() }
    }
}

impl<T> OpenRequests<T> {
    /// A request begins.
    #[inline]
    pub fn insert(&mut self, request: u64, value: T) {
        if self.near.is_empty() {
            self.first = request;
        }
        match request.checked_sub(self.first) {
            Some(at) if at == self.near.len() as u64 && self.near.len() < MOST_SIDE_BY_SIDE => {
                self.near.push_back(Some(value));
            }
            Some(at) if at < self.near.len() as u64 => self.near[at as usize] = Some(value),
            _ => self.insert_apart(request, value),
        }
    }

    /// A request ends.
    #[inline]
    pub fn remove(&mut self, request: u64) -> Option<T> {
        let at = request.checked_sub(self.first).filter(|at| *at < self.near.len() as u64);
        let found = at.and_then(|at| self.near[at as usize].take());
        while let Some(None) = self.near.front() {
            self.near.pop_front();
            self.first += 1;
        }
        match found {
            None if !self.far.is_empty() => self.far.remove(&request),
            found => found,
        }
    }

    /// A request that does not follow the one before it, or for which there is no more room beside the others.
    #[cold]
    fn insert_apart(&mut self, request: u64, value: T) {
        let behind = request.checked_sub(self.first).is_some_and(|at| at >= self.near.len() as u64);
        let gap = request.wrapping_sub(self.first);
        if behind && gap < MOST_SIDE_BY_SIDE as u64 {
            // Some numbers in between are of requests that are not looked at.
            self.near.resize_with(gap as usize, || None);
            self.near.push_back(Some(value));
        } else if behind {
            // The oldest ones make room.
            let old = (self.first..).zip(self.near.drain(..));
            self.far.extend(old.filter_map(|(request, value)| Some((request, value?))));
            self.first = request;
            self.near.push_back(Some(value));
        } else {
            self.far.insert(request, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_rng::SplitMix64;
    use std::collections::HashMap;

    #[test]
    fn it_is_a_table_whatever_the_numbers() {
        let mut open = OpenRequests::default();
        let mut table = HashMap::new();
        let mut numbers = SplitMix64::new(1);
        let mut next = 0;
        for round in 0..200_000u64 {
            let random = numbers.bits();
            match random >> 61 {
                0..=3 => {
                    next += 1;
                    open.insert(next, round);
                    table.insert(next, round);
                }
                4 => {
                    let number = if random >> 40 & 7 == 0 {
                        random >> 1 | 1 << 63
                    } else {
                        next + (random >> 50 & 0x3f)
                    };
                    open.insert(number, round);
                    table.insert(number, round);
                    next = next.max(if number < 1 << 62 { number } else { 0 });
                }
                _ => {
                    let ago = random >> 33 & if random >> 32 & 15 == 0 { 0xffff } else { 15 };
                    let number = next.saturating_sub(ago);
                    assert_eq!(open.remove(number), table.remove(&number), "{number}");
                }
            }
        }
        for (request, value) in table {
            assert_eq!(open.remove(request), Some(value));
        }
    }
}
