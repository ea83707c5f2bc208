//! The events of one thread's segment, chunk by chunk. A chunk that is damaged ends where the damage begins, and the next
//! one goes on by itself.

use kizami_records::threading::{ThreadEvent, ThreadEvents};
use kizami_segment::{Committed, Segment};

/// All events of a segment.
#[derive(Clone, Debug)]
pub struct StreamEvents<'a> {
    chunks: Committed<'a>,
    events: ThreadEvents<'a>,
    stream: u32,
    damaged: u64,
}

impl<'a> StreamEvents<'a> {
    /// Of a segment whose chunks are filled by words.
    pub fn of(segment: &Segment<'a>) -> StreamEvents<'a> {
        let stream = segment.header.thread.unwrap_or_default();
        StreamEvents {
            chunks: segment.committed(),
            events: ThreadEvents::of(&[], stream),
            stream,
            damaged: 0,
        }
    }

    /// Chunks that could not be read, or not to their end, so far.
    pub fn damaged(&self) -> u64 {
        self.damaged + self.chunks.damage().len() as u64
    }
}

impl Iterator for StreamEvents<'_> {
    type Item = (u64, ThreadEvent);

    #[inline]
    fn next(&mut self) -> Option<(u64, ThreadEvent)> {
        loop {
            if let Some(event) = self.events.next() {
                return Some(event);
            }
            self.damaged += u64::from(self.events.is_damaged());
            self.events = ThreadEvents::of(&[], self.stream);
            self.events = ThreadEvents::of(self.chunks.next_words()?, self.stream);
        }
    }
}
