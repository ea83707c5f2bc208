//! The records of a process's threads as one stream, in the order of their starts.
//!
//! A thread's own records come in order, so comparing the next record of each thread is enough. Cloning the
//! stream is cheap and gives a look ahead that does not disturb the original.

use super::host::RankClock;
use kizami_records::{CallRecord, Record, Records};

/// One thread's records.
#[derive(Clone)]
pub(crate) struct Stream<'a> {
    pub records: Records<'a>,
    next: Option<(i64, Record<'a>)>,
    times: SegmentTimes<'a>,
}

/// From the ticks of one segment to run time.
#[derive(Clone, Copy)]
pub(crate) struct SegmentTimes<'a> {
    pub clock: RankClock<'a>,
    pub base_ticks: u64,
}

impl SegmentTimes<'_> {
    #[inline]
    pub(crate) fn at(&self, ticks: u64) -> i64 {
        self.clock.at(self.base_ticks.wrapping_add(ticks))
    }

    /// Start and end of a call.
    #[inline]
    pub(crate) fn span(&self, call: &CallRecord) -> (i64, i64) {
        self.stretch(call.start_ticks, call.duration_ticks)
    }

    /// Start and end of something.
    #[inline]
    pub(crate) fn stretch(&self, start_ticks: u64, duration_ticks: u64) -> (i64, i64) {
        let start = self.at(start_ticks);
        (start, self.at(start_ticks.saturating_add(duration_ticks)).max(start))
    }
}

/// All threads' records.
#[derive(Clone)]
pub(crate) struct Merged<'a> {
    pub streams: Vec<Stream<'a>>,
}

impl<'a> Merged<'a> {
    pub(crate) fn new(threads: impl Iterator<Item = (Records<'a>, SegmentTimes<'a>)>) -> Merged<'a> {
        let streams = threads.map(|(records, times)| Stream { records, next: None, times }).collect();
        let mut merged = Merged { streams };
        if merged.streams.len() > 1 {
            merged.streams.iter_mut().for_each(Stream::advance);
        }
        merged
    }

    /// The next record, if there is but one thread and it is a call that takes one slot.
    #[inline]
    pub(crate) fn next_call(&mut self) -> Option<CallRecord> {
        if let [only] = self.streams.as_mut_slice() { only.records.next_call() } else { None }
    }
}

impl<'a> Iterator for Merged<'a> {
    /// Which thread, and its record.
    type Item = (usize, Record<'a>);

    #[inline]
    fn next(&mut self) -> Option<(usize, Record<'a>)> {
        if let [only] = self.streams.as_mut_slice() {
            return only.records.next().map(|record| (0, record));
        }
        let heads = self.streams.iter().enumerate();
        let (_, earliest) =
            heads.filter_map(|(index, stream)| Some((stream.next.as_ref()?.0, index))).min()?;
        let stream = &mut self.streams[earliest];
        let (_, record) = stream.next.take()?;
        stream.advance();
        Some((earliest, record))
    }
}

impl Stream<'_> {
    fn advance(&mut self) {
        // What belongs to the call behind it must come before it.
        let at = |record: &Record<'_>| self.times.at(start_ticks(record).unwrap_or(0));
        self.next = self.records.next().map(|record| (at(&record), record));
    }
}

/// When a record begins; none of one that belongs to the record behind it, or to no moment.
pub(crate) fn start_ticks(record: &Record<'_>) -> Option<u64> {
    Some(match record {
        Record::Call(call) | Record::Completion(call, _) | Record::Start(call, _) => call.start_ticks,
        Record::Fold { call, .. } => call.start_ticks,
        Record::Region { at_ticks, .. } | Record::Count { at_ticks, .. } => *at_ticks,
        Record::Stop { start_ticks, .. } => *start_ticks,
        Record::Counted(_)
        | Record::OffCore { .. }
        | Record::Definition(_)
        | Record::Weight(_)
        | Record::Reduced { .. } => {
            return None;
        }
    })
}
