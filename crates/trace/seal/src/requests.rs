//! Requests: which rows still wait for what really came, and what persistent requests stand for.
//!
//! Numbers of requests count up within a process, so nearly all open ones lie close together: a small table
//! indexed by the low bits finds them without hashing, and the few that are open for long move aside.

use kizami_records::CallRecord;
use std::collections::HashMap;

/// Places in the table; a power of two.
const PLACES: usize = 4096;

/// A receive whose row waits for its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenReceive {
    pub request: u32,
    /// Index of its row.
    pub row: u32,
    /// Local number of its communicator.
    pub comm: u32,
    /// The receiving half of a send-receive.
    pub second_half: bool,
    /// Bytes it was posted for.
    pub posted_bytes: u64,
}

/// The receives of a process that are open.
#[derive(Debug)]
pub(crate) struct OpenReceives {
    places: Vec<Option<OpenReceive>>,
    aside: HashMap<u32, OpenReceive>,
    open: usize,
}

impl OpenReceives {
    pub(crate) fn new() -> OpenReceives {
        OpenReceives { places: vec![None; PLACES], aside: HashMap::new(), open: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// Adds one. One of the same number is forgotten: numbers are unique within what is open at a time.
    #[inline]
    pub(crate) fn insert(&mut self, receive: OpenReceive) {
        self.open += 1;
        let before = self.places[receive.request as usize % PLACES].replace(receive);
        if let Some(before) = before
            && (before.request == receive.request || self.aside.insert(before.request, before).is_some())
        {
            self.open -= 1;
        }
    }

    /// Takes the one with this number out.
    #[inline]
    pub(crate) fn remove(&mut self, request: u32) -> Option<OpenReceive> {
        let place = &mut self.places[request as usize % PLACES];
        let found = match place {
            Some(receive) if receive.request == request => place.take(),
            _ if self.aside.is_empty() => None,
            _ => self.aside.remove(&request),
        };
        self.open -= usize::from(found.is_some());
        found
    }

    /// Takes all of them out whose numbers are `first` and the `count - 1` after it.
    pub(crate) fn remove_range(&mut self, first: u32, count: u32, mut take: impl FnMut(OpenReceive)) {
        let mut offset = 0;
        while offset < count && self.open > 0 {
            if let Some(receive) = self.remove(first.wrapping_add(offset)) {
                take(receive);
            }
            offset += 1;
            // A count beyond all places is damage or a giant; those that are open are fewer than the count.
            if offset as usize > PLACES + self.aside.len() {
                let in_range = |request: u32| request.wrapping_sub(first) < count;
                self.remove_where(in_range, &mut take);
                return;
            }
        }
    }

    fn remove_where(&mut self, chosen: impl Fn(u32) -> bool, take: &mut impl FnMut(OpenReceive)) {
        let numbers: Vec<u32> = self.iter().map(|receive| receive.request).filter(|n| chosen(*n)).collect();
        for number in numbers {
            if let Some(receive) = self.remove(number) {
                take(receive);
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &OpenReceive> {
        self.places.iter().flatten().chain(self.aside.values())
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        if self.open > 0 {
            self.places.fill(None);
            self.aside.clear();
            self.open = 0;
        }
    }
}

/// Persistent requests of a process, as their `_init` calls described them.
#[derive(Debug, Default)]
pub(crate) struct PersistentRequests(HashMap<u32, CallRecord>);

impl PersistentRequests {
    pub(crate) fn made(&mut self, call: CallRecord) {
        if call.request != 0 {
            self.0.insert(call.request, call);
        }
    }

    pub(crate) fn get(&self, number: u32) -> Option<&CallRecord> {
        self.0.get(&number)
    }

    pub(crate) fn freed(&mut self, number: u32) {
        self.0.remove(&number);
    }
}

/// Makes 32-bit request numbers unique within a rank, should they ever wrap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WideNumbers {
    newest: i64,
}

impl WideNumbers {
    /// The highest number so far.
    pub(crate) fn newest(&self) -> i64 {
        self.newest
    }

    /// The number nearest to those seen last that ends in these 32 bits.
    #[inline]
    pub(crate) fn widen(&mut self, number: u32) -> i64 {
        let step = number.wrapping_sub(self.newest as u32) as i32;
        let wide = match self.newest + i64::from(step) {
            wide @ 0.. => wide,
            _ => i64::from(number),
        };
        self.newest = self.newest.max(wide);
        wide
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(request: u32, row: u32) -> OpenReceive {
        OpenReceive { request, row, comm: 0, second_half: false, posted_bytes: 0 }
    }

    #[test]
    fn long_open_receives_are_found_again() {
        let mut open = OpenReceives::new();
        open.insert(receive(1, 0));
        for round in 1..10 {
            let number = 1 + round * PLACES as u32;
            open.insert(receive(number, round));
            assert_eq!(open.remove(number).map(|r| r.row), Some(round));
        }
        assert_eq!(open.remove(1).map(|r| r.row), Some(0));
        assert!(open.is_empty());
        assert_eq!(open.remove(1), None);
    }

    #[test]
    fn a_range_takes_what_is_open_and_no_more() {
        let mut open = OpenReceives::new();
        for number in [5, 7, 9, u32::MAX] {
            open.insert(receive(number, number));
        }
        let mut taken = Vec::new();
        open.remove_range(6, 3, |r| taken.push(r.request));
        assert_eq!(taken, [7]);
        open.remove_range(0, u32::MAX, |r| taken.push(r.request));
        taken.sort_unstable();
        assert_eq!(taken, [5, 7, 9]);
        assert!(!open.is_empty());
    }

    #[test]
    fn numbers_stay_unique_when_they_wrap() {
        let mut numbers = WideNumbers::default();
        assert_eq!(numbers.widen(3), 3);
        assert_eq!(numbers.widen(2), 2);
        let mut wide = numbers;
        for number in [1 << 30, 1 << 31, 3 << 30, u32::MAX - 1] {
            assert_eq!(wide.widen(number), i64::from(number));
        }
        assert_eq!(wide.widen(1), (1 << 32) + 1);
        assert_eq!(wide.widen(u32::MAX), i64::from(u32::MAX));
    }
}
