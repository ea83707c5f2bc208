//! The order of calls determines everything about requests: whatever a program does with them, the order of a recording that
//! was reduced, the order made from the rows of a full one, and runs reconstructed from both have the rows of the full one.

mod place;
#[path = "../../../record/tracer/core/src/reduction/sequence.rs"]
mod sequence;

use kizami_model::{Call, Length, Moment, Rank, Shape, ThreadIndex};
use kizami_reconstruct::expand;
use kizami_records::sequence_codec::Numbering;
use kizami_records::{CallRecord, Completion, NO_COMM, PEER_ANY, PEER_NULL, ReducedBy, Started};
use kizami_reduced::{Importance, Keep, ReduceOptions, SequenceCall, reduce};
use kizami_sequence::{Recorder, Signature, Sizes};
use kizami_summary::{Block, PART_BYTES, Reducer, Settings};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::{RankSelection, Trace};
use place::Place;
use proptest::prelude::*;
use sequence::Values;
use std::sync::atomic::{AtomicU64, Ordering};

const RANKS: u32 = 3;
const ANY_TAG: i32 = -1;

/// Something a rank does; numbers choose among what is there.
#[derive(Clone, Debug)]
enum Step {
    Send,
    Receive {
        any_source: bool,
        any_tag: bool,
        from_null: bool,
    },
    Exchange {
        any: bool,
    },
    Blocking {
        any: bool,
    },
    Collective,
    Duplicate,
    Failed,
    MakeSend,
    MakeReceive {
        any: bool,
    },
    StartOne {
        which: usize,
    },
    StartAll {
        skip: usize,
    },
    Polls {
        count: u64,
        probe: bool,
    },
    /// Completes requests from the given one on, so many and in steps of so many; how they end is chosen by `ends`.
    Complete {
        first: usize,
        count: usize,
        step: usize,
        ends: u64,
    },
    /// Another thread takes numbers.
    Skip {
        numbers: u32,
    },
    /// All that before again.
    Repeat,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Send),
        4 => (any::<bool>(), any::<bool>(), 0..8).prop_map(|(any_source, any_tag, nobody)| Step::Receive {
            any_source,
            any_tag,
            from_null: nobody == 0,
        }),
        1 => any::<bool>().prop_map(|any| Step::Exchange { any }),
        1 => any::<bool>().prop_map(|any| Step::Blocking { any }),
        1 => Just(Step::Collective),
        1 => Just(Step::Duplicate),
        1 => Just(Step::Failed),
        1 => Just(Step::MakeSend),
        2 => any::<bool>().prop_map(|any| Step::MakeReceive { any }),
        2 => any::<usize>().prop_map(|which| Step::StartOne { which }),
        2 => (0..4usize).prop_map(|skip| Step::StartAll { skip }),
        1 => (1..9u64, any::<bool>()).prop_map(|(count, probe)| Step::Polls { count, probe }),
        5 => (any::<usize>(), 0..30usize, 1..4usize, any::<u64>())
            .prop_map(|(first, count, step, ends)| Step::Complete { first, count, step, ends }),
        1 => (1..5u32).prop_map(|numbers| Step::Skip { numbers }),
        1 => Just(Step::Repeat),
    ];
    prop::collection::vec(step, 1..60)
}

/// A record of the full trace, and so an item of the order.
#[derive(Clone, Debug)]
enum Made {
    Call(CallRecord),
    Completion(CallRecord, Vec<Completion>),
    Start(CallRecord, Vec<Started>),
    Polls(CallRecord, u64),
}

/// A request under way, and whether it receives.
#[derive(Clone, Copy)]
struct Open {
    request: u32,
    receives: bool,
    wild: bool,
}

/// The program that makes the records.
struct Program {
    at: u64,
    next: u32,
    open: Vec<Open>,
    persistent: Vec<Open>,
    made: Vec<Made>,
}

impl Program {
    fn of(steps: &[Step]) -> Vec<Made> {
        let mut program =
            Program { at: 10, next: 1, open: Vec::new(), persistent: Vec::new(), made: Vec::new() };
        for (index, step) in steps.iter().enumerate() {
            match step {
                Step::Repeat => (0..20).for_each(|_| {
                    steps[..index].iter().rev().take(6).rev().for_each(|step| program.step(step));
                }),
                step => program.step(step),
            }
        }
        program.made
    }

    fn record(&mut self, name: &str) -> CallRecord {
        self.at += 100;
        CallRecord { comm: 0, site: 0, ..call(name, self.at, 50) }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn receive(&mut self, name: &str, any_source: bool, any_tag: bool) -> CallRecord {
        let record = self.record(name);
        let request = self.number();
        let (peer, tag) = (if any_source { PEER_ANY } else { 1 }, if any_tag { ANY_TAG } else { 7 });
        CallRecord { peer, tag, any_source, any_tag, bytes_in: 64, request, ..record }
    }

    fn begin(&mut self, record: CallRecord, receives: bool, wild: bool) {
        self.open.push(Open { request: record.request, receives, wild });
        self.made.push(Made::Call(record));
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Send => {
                let record = self.record("MPI_Isend");
                let request = self.number();
                self.begin(CallRecord { peer: 2, tag: 3, bytes_out: 8, request, ..record }, false, false);
            }
            Step::Receive { any_source, any_tag, from_null } => {
                let mut record = self.receive("MPI_Irecv", any_source && !from_null, any_tag);
                if from_null {
                    (record.peer, record.bytes_in) = (PEER_NULL, 0);
                }
                self.begin(record, !from_null, any_source || any_tag);
            }
            Step::Exchange { any } => {
                let record = self.receive("MPI_Isendrecv", any, any);
                let (recv_peer, recv_tag) = (record.peer, record.tag);
                let record = CallRecord { peer: 0, tag: 1, bytes_out: 16, recv_peer, recv_tag, ..record };
                self.begin(record, true, any);
            }
            Step::Blocking { any } => {
                let record = self.record("MPI_Recv");
                let record = CallRecord { peer: 1, tag: 5, bytes_in: 9, ..record };
                self.made.push(Made::Call(CallRecord { any_source: any, any_tag: any, ..record }));
            }
            Step::Collective => {
                let record = self.record("MPI_Ibcast");
                let request = self.number();
                self.begin(CallRecord { peer: 0, bytes_in: 4, request, ..record }, false, false);
            }
            Step::Duplicate => {
                let record = self.record("MPI_Comm_idup");
                let request = self.number();
                self.begin(CallRecord { request, ..record }, false, false);
            }
            Step::Failed => {
                let record = self.receive("MPI_Irecv", true, true);
                self.next -= 1;
                self.made.push(Made::Call(CallRecord { request: 0, bytes_in: 0, failed: true, ..record }));
            }
            Step::MakeSend => {
                let record = self.record("MPI_Send_init");
                let request = self.number();
                self.persistent.push(Open { request, receives: false, wild: false });
                self.made.push(Made::Call(CallRecord { peer: 2, tag: 3, bytes_out: 8, request, ..record }));
            }
            Step::MakeReceive { any } => {
                let record = self.receive("MPI_Recv_init", any, any);
                self.persistent.push(Open { request: record.request, receives: true, wild: any });
                self.made.push(Made::Call(record));
            }
            Step::StartOne { which } => {
                let chosen: Vec<Open> =
                    self.persistent.iter().copied().cycle().skip(which % 16).take(1).collect();
                self.start("MPI_Start", &chosen);
            }
            Step::StartAll { skip } => {
                let chosen: Vec<Open> = self.persistent.iter().skip(skip).copied().collect();
                self.start("MPI_Startall", &chosen);
            }
            Step::Polls { count, probe } => {
                let record = self.record(if probe { "MPI_Iprobe" } else { "MPI_Test" });
                let probed = CallRecord { peer: PEER_ANY, tag: ANY_TAG, ..record };
                let tested = CallRecord { comm: NO_COMM, ..record };
                self.made.push(Made::Polls(if probe { probed } else { tested }, count));
            }
            Step::Complete { first, count, step, ends } => self.complete(first, count, step, ends),
            Step::Skip { numbers } => self.next += numbers,
            Step::Repeat => {}
        }
    }

    fn start(&mut self, name: &str, chosen: &[Open]) {
        let record = CallRecord { comm: NO_COMM, ..self.record(name) };
        let mut started = Vec::new();
        for one in chosen {
            let request = self.number();
            self.open.push(Open { request, ..*one });
            started.push(Started { persistent: one.request, request });
        }
        self.made.push(Made::Start(record, started));
    }

    fn complete(&mut self, first: usize, count: usize, step: usize, mut ends: u64) {
        let name = ["MPI_Waitall", "MPI_Waitsome", "MPI_Waitany", "MPI_Test"][count % 4];
        let record = CallRecord { comm: NO_COMM, ..self.record(name) };
        let mut items: Vec<Completion> = Vec::new();
        let mut at = if self.open.is_empty() { 0 } else { first % self.open.len() };
        for _ in 0..count.min(self.open.len()) {
            at %= self.open.len();
            let Open { request, receives, wild } = self.open.remove(at);
            at += step - 1;
            let end = ends % 4;
            ends = ends.rotate_right(2);
            match items.last_mut() {
                _ if end == 0 => items.push(Completion::Cancelled { request }),
                _ if receives && (wild || end == 1) => {
                    let tag = (request % 100) as i32;
                    items.push(Completion::Received {
                        request,
                        peer: (request % 3) as i32,
                        tag,
                        bytes: request,
                    });
                    if end == 2 {
                        items.push(Completion::MoreBytes { request, bytes: 3 << 32 });
                    }
                }
                Some(Completion::AsPosted { request: first, count }) if *first + *count == request => {
                    *count += 1
                }
                _ => items.push(Completion::AsPosted { request, count: 1 }),
            }
        }
        self.made.push(Made::Completion(record, items));
    }
}

fn write_full(segment: &mut SegmentWriter, made: &[Made]) {
    for made in made {
        match made {
            Made::Call(record) => segment.call(record),
            Made::Completion(record, items) => segment.completion(record, items),
            Made::Start(record, started) => segment.start(record, started),
            Made::Polls(record, count) => segment.fold(record, *count, record.start_ticks + 60, 40),
        }
    }
}

/// The order as the tracer records it; what is handed over on the way goes into the segment.
fn order(segment: &mut SegmentWriter, made: &[Made]) -> Vec<u8> {
    let memory: Vec<AtomicU64> = (0..Sizes::default().bytes() / 8).map(|_| AtomicU64::new(0)).collect();
    let mut recorder = Recorder::start(&memory, Sizes::default()).unwrap();
    let mut buffer = vec![0; PART_BYTES];
    let mut put = |signature: &Signature, values: &Values| {
        if recorder.call(signature, values.as_slice()) {
            recorder.take(&mut buffer, |bytes| segment.reduced(ReducedBy::Sequence, bytes));
        }
    };
    let mut requests = Numbering::FIRST;
    for made in made {
        match made {
            Made::Call(record) => {
                let shape = record.op.function().map_or(Shape::Timed, |function| function.shape);
                let (signature, values) =
                    sequence::of_call(record, shape, record.request != 0, &mut requests);
                put(&signature, &values);
            }
            // Long lists come in several turns.
            Made::Completion(record, items) => {
                let parts = items.split_at_checked(9).filter(|(_, rest)| {
                    rest.first().is_some_and(|item| !matches!(item, Completion::MoreBytes { .. }))
                });
                let (first, rest) = parts.unwrap_or((&[], items));
                if !first.is_empty() {
                    sequence::of_completion(record, first, requests.next(), true, &mut put);
                }
                sequence::of_completion(record, rest, requests.next(), false, &mut put);
            }
            Made::Start(record, started) => {
                let (first, rest) = started.split_at(started.len() / 5);
                if !first.is_empty() {
                    sequence::of_start(record, first, &mut requests, true, &mut put);
                }
                sequence::of_start(record, rest, &mut requests, false, &mut put);
            }
            Made::Polls(record, count) => {
                let mut values = Values::default();
                values.push(*count);
                put(&sequence::of_polls(record), &values);
            }
        }
    }
    memory.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect()
}

/// The same program with a record for every call, and with its order alone.
fn written(programs: &[Vec<Step>]) -> [Place; 2] {
    let places = [Place::new(), Place::new()];
    for (steps, rank) in programs.iter().zip(0..) {
        let made = Program::of(steps);
        let who = SegmentOwner { last_ticks: 1 << 40, ..SegmentOwner::rank(rank, RANKS) };
        let [mut full, mut kept] = [&places[0], &places[1]].map(|place| {
            define(&place.trace, &who, &[]);
            SegmentWriter::create(&place.trace, &who, Some(0))
        });
        write_full(&mut full, &made);
        full.finish();
        let order = order(&mut kept, &made);
        let path = kept.finish();
        let mut block = Block::boxed();
        Reducer::start(&mut block, &Settings::fraction(0.1, 32, 1_000_000_000));
        std::fs::write(format!("{}.sample", path.display()), block.as_bytes()).unwrap();
        std::fs::write(format!("{}.order", path.display()), order).unwrap();
    }
    for place in &places {
        assert_eq!(place.seal().health.problems, Vec::<String>::new());
    }
    places
}

fn assert_same_order(trace: &Trace, full: &[Call]) {
    let order = kizami_reduced::sequences_of(trace).unwrap().unwrap();
    for rank in 0..RANKS {
        let rows = full.iter().filter(|row| row.rank == Rank(rank));
        let expected: Vec<SequenceCall> = rows.map(SequenceCall::of).collect();
        // Who called nothing may have no sequence.
        let sequence = order.sequence(Rank(rank), ThreadIndex(0)).unwrap();
        let calls = sequence.iter().flat_map(|sequence| sequence.calls());
        let found: Vec<SequenceCall> = calls.map(Result::unwrap).collect();
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
        assert_eq!(found.len(), expected.len());
    }
}

fn assert_same_expanded(trace: &Trace, full: &[Call]) {
    let out = trace.path().with_extension("drawn.kz");
    expand(trace, &out, &|_| {}).unwrap();
    let without_times = |row: &Call| {
        let nothing = Moment(0);
        Call { start: nothing, end: nothing, inside: None, overhead: Length::ZERO, ..row.clone() }
    };
    let expanded = Trace::open(&out).unwrap();
    let found = expanded.calls(RankSelection::All).unwrap().map(|row| without_times(&row.unwrap()));
    assert!(found.eq(full.iter().map(without_times)));
}

fn check(programs: &[Vec<Step>]) {
    let [full, kept] = written(programs);
    let rows = full.calls();
    let options =
        ReduceOptions { keep: Keep::Fraction(0.01), seed: 1, importance: Importance::Classes, all_below: 0 };
    let out = full.trace.with_extension("small.kz");
    reduce(&full.open(), &out, &options, &|_, _| {}).unwrap();
    for trace in [Trace::open(&out).unwrap(), kept.open()] {
        assert_same_order(&trace, &rows);
        assert_same_expanded(&trace, &rows);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn requests_are_those_of_the_rows(programs in prop::collection::vec(steps(), RANKS as usize)) {
        check(&programs);
    }
}

/// A call that completes more than an entry of a list encodes, and more than an item has values.
#[test]
fn lists_are_as_long_as_they_need_to_be() {
    let many = |step: Step, count: usize| vec![step; count];
    let wild = Step::Receive { any_source: true, any_tag: true, from_null: false };
    let all = |step| Step::Complete { first: 0, count: 20_000, step, ends: 0x5555_5555_5555_5555 };
    let mut posted = many(Step::Send, 10_000);
    posted.push(all(1));
    let mut scattered = many(wild, 300);
    scattered.push(all(3));
    scattered.extend(many(Step::Send, 300));
    scattered.push(all(2));
    let mut persistent = many(Step::MakeReceive { any: false }, 5000);
    persistent.extend([Step::StartAll { skip: 0 }, all(1), Step::StartAll { skip: 7 }, Step::Send, all(2)]);
    check(&[posted, scattered, persistent]);
}
