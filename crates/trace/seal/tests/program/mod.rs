//! A made-up program of a few ranks, written as segments: with a record for every call, or reduced while it runs.

#[path = "../../../../record/tracer/core/src/reduction/sequence.rs"]
#[allow(dead_code, reason = "the tracer uses all of it")]
mod sequence;

use kizami_model::{Shape, StopReason};
use kizami_records::sequence_codec::Numbering;
use kizami_records::{CallRecord, Completion, Definition, ListItems, NO_COMM, ReducedBy, pack_list_head};
use kizami_rng::SplitMix64;
use kizami_sequence::{Recorder, Sizes};
use kizami_summary::sample::Series;
use kizami_summary::{Block, NO_PEER, PART_BYTES, Reducer, Row, Settings};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

pub const RANKS: u32 = 4;
const WORLD: u32 = 0;

/// Something a rank does.
enum Event {
    Call(CallRecord),
    Completion(CallRecord, Completion),
    Region(u64, bool),
    Stop(u64, u64),
}

/// Mostly about a microsecond, at times much longer.
fn duration(random: &mut SplitMix64) -> u64 {
    match random.below(2000) {
        0 => 11_000_000 + random.below(1_000_000),
        1..20 => 20_000 + random.below(50_000),
        _ => 300 + random.below(900),
    }
}

fn program(rank: u32, rounds: u64) -> Vec<Event> {
    let mut random = SplitMix64::new(u64::from(rank));
    let mut at = 10;
    let mut events = Vec::new();
    let mut request = 1;
    let timed = |name: &str, site: u32, at: &mut u64, random: &mut SplitMix64| {
        *at += 50 + random.below(500);
        let record = CallRecord { site, comm: WORLD, ..call(name, *at, duration(random)) };
        *at += record.duration_ticks;
        record
    };
    let (left, right) = (((rank + RANKS - 1) % RANKS) as i32, ((rank + 1) % RANKS) as i32);
    events.push(Event::Call(timed("MPI_Init", 0, &mut at, &mut random)));
    for round in 0..rounds {
        let (tag, bytes) = ((round % 3) as i32, 1024 * (1 + round % 2));
        if round % 100 == 0 {
            events.push(Event::Region(at, true));
        }
        let send = timed("MPI_Isend", 1, &mut at, &mut random);
        events.push(Event::Call(CallRecord { peer: right, tag, bytes_out: bytes, request, ..send }));
        let receive = timed("MPI_Irecv", 2, &mut at, &mut random);
        events.push(Event::Call(CallRecord {
            peer: left,
            tag,
            bytes_in: bytes,
            request: request + 1,
            ..receive
        }));
        let wait = CallRecord { comm: NO_COMM, ..timed("MPI_Waitall", 3, &mut at, &mut random) };
        events.push(Event::Completion(wait, Completion::AsPosted { request, count: 2 }));
        request += 2;
        if round % 10 == 0 {
            let reduce = timed("MPI_Allreduce", 4, &mut at, &mut random);
            events.push(Event::Call(CallRecord { bytes_out: 8, bytes_in: 8, ..reduce }));
            let partner = (rank ^ 1) as i32;
            let exchange = timed("MPI_Sendrecv", 5, &mut at, &mut random);
            events.push(Event::Call(CallRecord {
                peer: partner,
                recv_peer: partner,
                tag: 9,
                recv_tag: 9,
                bytes_out: 64,
                bytes_in: 64,
                ..exchange
            }));
        }
        if round % 100 == 99 {
            events.push(Event::Region(at, false));
            events.push(Event::Stop(at, 40));
            at += 100;
        }
    }
    events.push(Event::Call(timed("MPI_Finalize", 6, &mut at, &mut random)));
    events
}

fn prepare(trace: &Path, rank: u32, keep: Option<Definition>) -> SegmentWriter {
    let who = SegmentOwner { last_ticks: 1 << 40, ..SegmentOwner::rank(rank, RANKS) };
    let mut definitions = vec![Definition::Region { local: 1, name: "round".to_owned() }];
    definitions.extend(keep);
    definitions.extend((1..7).map(|local| Definition::Site {
        local,
        address: 0x100 * u64::from(local),
        module: 9,
        caller: 0,
    }));
    define(trace, &who, &definitions);
    SegmentWriter::create(trace, &who, Some(0))
}

/// Segments with a record for every call.
pub fn write_full(trace: &Path, rounds: u64) {
    for rank in 0..RANKS {
        let mut segment = prepare(trace, rank, None);
        for event in program(rank, rounds) {
            match event {
                Event::Call(record) => segment.call(&record),
                Event::Completion(record, item) => segment.completion(&record, &[item]),
                other => write_mark(&mut segment, &other),
            }
        }
        segment.finish();
    }
}

fn write_mark(segment: &mut SegmentWriter, event: &Event) {
    match event {
        Event::Region(at, begins) => segment.region(*at, 1, *begins),
        Event::Stop(at, length) => segment.stop(*at, *length, StopReason::ChunkWait, 0),
        Event::Call(_) | Event::Completion(..) => {}
    }
}

/// Segments of threads that were reduced while they ran, with their companions.
pub fn write_reduced(trace: &Path, rounds: u64) {
    write_reduced_from(trace, rounds, 0);
}

/// The same where so many of the first calls have a record all the same.
pub fn write_reduced_from(trace: &Path, rounds: u64, all_below: u32) {
    for rank in 0..RANKS {
        let amount_bits = 0.2f64.to_bits();
        let keep = Definition::Keep { per_second: false, amount_bits, seed: 1, sampled: false, all_below };
        let mut segment = prepare(trace, rank, (all_below > 0).then_some(keep));
        let mut block = Block::boxed();
        let memory: Vec<AtomicU64> = (0..Sizes::default().bytes() / 8).map(|_| AtomicU64::new(0)).collect();
        // So much that the reducer hands some of it over.
        let settings = Settings::fraction(0.2, 32, 1_000_000_000);
        let mut thread = Thread {
            reducer: Reducer::start(&mut block, &settings),
            recorder: Recorder::start(&memory, Sizes::default()).unwrap(),
            requests: Numbering::FIRST,
            buffer: vec![0; PART_BYTES],
            last_end: None,
            calls: 0,
            rank,
        };
        for event in program(rank, rounds) {
            match event {
                Event::Call(record) => {
                    let shape = record.op.function().unwrap().shape;
                    let mut payload = [0; 8];
                    match record.pack(shape) {
                        Some(words) => payload[..4].copy_from_slice(&words),
                        None => {
                            let words = record.pack_wide();
                            payload.copy_from_slice(words.as_flattened());
                        }
                    }
                    let is_recorded = thread.calls < u64::from(all_below);
                    thread.add(&mut segment, &record, None, payload);
                    if is_recorded {
                        segment.call(&record);
                    }
                }
                Event::Completion(record, item) => {
                    let items = ListItems::One(item.pack());
                    let CallRecord { op, start_ticks, duration_ticks, site, .. } = record;
                    let mut payload = [0; 8];
                    payload[..4].copy_from_slice(&pack_list_head(
                        op,
                        start_ticks,
                        duration_ticks,
                        site,
                        false,
                        items,
                    ));
                    let is_recorded = thread.calls < u64::from(all_below);
                    thread.add(&mut segment, &record, Some(item), payload);
                    if is_recorded {
                        segment.completion(&record, &[item]);
                    }
                }
                other => write_mark(&mut segment, &other),
            }
        }
        let path = segment.finish();
        let companion = |ending: &str| format!("{}{ending}", path.display());
        std::fs::write(companion(".sample"), block.as_bytes()).unwrap();
        let order: Vec<u8> =
            memory.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        std::fs::write(companion(".order"), order).unwrap();
    }
}

struct Thread<'a> {
    reducer: Reducer<'a>,
    recorder: Recorder<'a>,
    requests: Numbering,
    buffer: Vec<u8>,
    last_end: Option<u64>,
    calls: u64,
    rank: u32,
}

impl Thread<'_> {
    fn add(
        &mut self,
        segment: &mut SegmentWriter,
        record: &CallRecord,
        completed: Option<Completion>,
        payload: [u64; 8],
    ) {
        let shape = record.op.function().unwrap().shape;
        let (to, from) = match shape {
            Shape::Send => (record.peer, NO_PEER),
            Shape::Receive => (NO_PEER, record.peer),
            Shape::SendReceive => (record.peer, record.recv_peer),
            _ => (NO_PEER, NO_PEER),
        };
        self.calls += 1;
        let row = Row {
            site: record.site,
            op: record.op.0,
            communicator: record.comm,
            to,
            from,
            bytes_out: record.bytes_out,
            bytes_in: record.bytes_in,
            start_ticks: record.start_ticks,
            duration_ticks: record.duration_ticks,
            before_ticks: Some(self.last_end.map_or(0, |end| record.start_ticks - end)),
            number: Series::alone(1, u64::from(self.rank)).number(self.calls),
        };
        self.push(segment, &row, payload);
        self.last_end = Some(record.start_ticks + record.duration_ticks);
        let mut put = |signature: &_, values: &sequence::Values| {
            if self.recorder.call(signature, values.as_slice()) {
                self.recorder.take(&mut self.buffer, |bytes| segment.reduced(ReducedBy::Sequence, bytes));
            }
        };
        match completed {
            Some(item) => sequence::of_completion(record, &[item], self.requests.next(), false, put),
            None => {
                let (signature, values) =
                    sequence::of_call(record, shape, record.request != 0, &mut self.requests);
                put(&signature, &values);
            }
        }
    }

    fn push(&mut self, segment: &mut SegmentWriter, row: &Row, payload: [u64; 8]) {
        if !self.reducer.add(row, || payload) {
            return;
        }
        loop {
            match self.reducer.take(&mut self.buffer) {
                0 => break,
                length => segment.reduced(ReducedBy::Summary, &self.buffer[..length]),
            }
        }
    }
}
