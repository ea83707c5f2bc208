//! The reducers of one thread of a full trace, fed with its rows.
//!
//! Failed polls that one row stands for count as that many calls of the same length, evenly spaced.

use super::PART;
use super::sample_keys::SampleKeys;
use super::signature::Neighbourhood;
use kizami_model::{Call, Length};
use kizami_records::sequence_codec::Numbering;
use kizami_sequence::{Recorder, Sizes};
use kizami_summary::{Block, PART_BYTES, Reducer, Row, Settings};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the reducers of one thread work.
pub(super) struct Memory {
    pub block: Box<Block>,
    order: Vec<AtomicU64>,
}

impl Memory {
    pub(super) fn new() -> Memory {
        let words = Sizes::default().bytes() / 8;
        Memory { block: Block::boxed(), order: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    pub(super) fn order_bytes(&self) -> Vec<u8> {
        self.order.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect()
    }
}

/// What the reducers of one thread gave away on the way.
pub(super) struct HandedOver {
    pub thread: u32,
    pub parts: Vec<Vec<u8>>,
    pub order: Vec<u8>,
}

/// The reducers of one thread.
pub(super) struct ThreadReducer<'a> {
    pub index: u32,
    reducer: Reducer<'a>,
    recorder: Option<Recorder<'a>>,
    requests: Numbering,
    pub handed_over: HandedOver,
    buffer: Vec<u8>,
    last_end: Option<u64>,
}

impl<'a> ThreadReducer<'a> {
    pub(super) fn start(index: u32, memory: &'a mut Memory, settings: &Settings) -> ThreadReducer<'a> {
        ThreadReducer {
            index,
            reducer: Reducer::start(&mut memory.block, settings),
            recorder: Recorder::start(&memory.order, Sizes::default()),
            requests: Numbering::FIRST,
            handed_over: HandedOver { thread: index, parts: Vec::new(), order: Vec::new() },
            buffer: vec![0; PART_BYTES],
            last_end: None,
        }
    }

    /// Adds the next row, which is the rank's row with this number.
    pub(super) fn add(
        &mut self,
        index: u64,
        call: &Call,
        numbers: &mut SampleKeys<'_>,
        near: &Neighbourhood,
    ) {
        near.record(call, &mut self.requests, |signature, values| {
            if let Some(recorder) = &mut self.recorder
                && recorder.call(signature, values)
            {
                recorder.take(&mut self.buffer, |bytes| self.handed_over.order.extend_from_slice(bytes));
            }
        });
        let key = numbers.of(call);
        let start = call.start.0.max(0) as u64;
        let end = (call.end.0.max(0) as u64).max(start);
        let row = Row {
            site: call.callsite.map_or(0, |site| site.saturating_add(1)),
            op: call.op.0,
            communicator: call.comm.unwrap_or(u32::MAX),
            to: key.to,
            from: key.from,
            bytes_out: call.bytes_out.unwrap_or(0),
            bytes_in: call.bytes_in.unwrap_or(0),
            start_ticks: start,
            duration_ticks: end - start,
            before_ticks: Some(self.last_end.map_or(0, |last_end| start.saturating_sub(last_end))),
            number: key.number,
        };
        match call.calls {
            0 => self.push(&Row { op: row.op | PART, before_ticks: None, ..row }, [index + 1, 0]),
            1 => self.push(&row, [index + 1, 0]),
            polls => self.polls(&row, index, u64::from(polls), call.inside, numbers),
        }
        if call.calls > 0 {
            self.last_end = Some(end.max(self.last_end.unwrap_or(0)));
        }
    }

    /// Failed polls that one row stands for.
    fn polls(
        &mut self,
        row: &Row,
        index: u64,
        polls: u64,
        inside: Option<Length>,
        numbers: &mut SampleKeys<'_>,
    ) {
        let inside = inside.map_or(row.duration_ticks, |inside| inside.0.max(0) as u64);
        let between = row.duration_ticks.saturating_sub(inside);
        let share = |whole: u64, of: u64, nth: u64| whole / of + u64::from(nth < whole % of);
        let mut poll = *row;
        for nth in 0..polls {
            (poll.duration_ticks, poll.number) = (share(inside, polls, nth), numbers.alone());
            self.push(&poll, [index + 1, 1]);
            let before = if nth + 1 < polls { share(between, polls - 1, nth) } else { 0 };
            poll.before_ticks = Some(before);
            poll.start_ticks += poll.duration_ticks + before;
        }
    }

    fn push(&mut self, row: &Row, [index, poll]: [u64; 2]) {
        if !self.reducer.add(row, || [index, poll, 0, 0, 0, 0, 0, 0]) {
            return;
        }
        loop {
            match self.reducer.take(&mut self.buffer) {
                0 => break,
                length => self.handed_over.parts.push(self.buffer[..length].to_vec()),
            }
        }
    }
}
