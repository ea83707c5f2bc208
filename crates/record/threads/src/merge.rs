//! The events of all threads in the order of time.
//!
//! At one moment, what ends or makes something comes before what begins or goes on, so that no task begins before it was
//! made. The events of one thread keep their order, whatever their times say.

use kizami_records::threading::{ThreadEvent, WaitFor};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Time, whether it depends on others, and whose.
type Key = (u64, bool, usize);

pub(crate) struct Merged<I> {
    streams: Vec<Stream<I>>,
    heap: BinaryHeap<Reverse<Key>>,
}

struct Stream<I> {
    events: I,
    next: Option<ThreadEvent>,
    at: u64,
}

impl<I: Iterator<Item = (u64, ThreadEvent)>> Stream<I> {
    fn advance(&mut self, number: usize) -> Option<Key> {
        let (at, event) = self.events.next()?;
        self.at = self.at.max(at);
        let key = (self.at, is_consequence(&event), number);
        self.next = Some(event);
        Some(key)
    }
}

fn is_consequence(event: &ThreadEvent) -> bool {
    match event {
        ThreadEvent::Begin(_) | ThreadEvent::Share { .. } | ThreadEvent::RegionEnd => true,
        ThreadEvent::Waited(what) => *what != WaitFor::Lock,
        _ => false,
    }
}

impl<I: Iterator<Item = (u64, ThreadEvent)>> Merged<I> {
    pub(crate) fn new(streams: impl Iterator<Item = I>) -> Merged<I> {
        let mut streams: Vec<Stream<I>> =
            streams.map(|events| Stream { events, next: None, at: 0 }).collect();
        let heap = streams.iter_mut().enumerate().filter_map(|(number, stream)| stream.advance(number));
        Merged { heap: heap.map(Reverse).collect(), streams }
    }
}

impl<I: Iterator<Item = (u64, ThreadEvent)>> Iterator for Merged<I> {
    type Item = (usize, u64, ThreadEvent);

    #[inline]
    fn next(&mut self) -> Option<(usize, u64, ThreadEvent)> {
        let mut top = self.heap.peek_mut()?;
        let Reverse((at, _, number)) = *top;
        let stream = &mut self.streams[number];
        let event = stream.next.take();
        match stream.advance(number) {
            Some(key) => *top = Reverse(key),
            None => _ = std::collections::binary_heap::PeekMut::pop(top),
        }
        event.map(|event| (number, at, event))
    }
}
