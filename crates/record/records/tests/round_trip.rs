//! What is written is what is read, whatever the file's length, and nothing else ever comes out.

use kizami_model::function::functions;
use kizami_model::{Op, Shape};
use kizami_records::{
    CallRecord, Completion, Definition, ListItems, NO_COMM, PEER_ANY, PEER_NONE, PEER_NULL, Record, Records,
    Unrecorded, pack_list_head,
};
use kizami_segment::{Appender, HEADER_BYTES, Segment, WindowShape};
use proptest::prelude::*;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering;

/// A segment with a window small enough to be drained often.
struct Writer(Appender);

impl Writer {
    fn create(path: &Path) -> Writer {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        let appender = Appender::create(&path, WindowShape { chunks: 3, chunk_bytes: CHUNK_BYTES }).unwrap();
        appender.header().table.store(kizami_model::function::fingerprint(), Ordering::Relaxed);
        Writer(appender)
    }

    fn push(&mut self, first: [u64; 4], rest: &[[u64; 4]]) {
        self.0.push(first, rest.iter().copied()).unwrap();
    }

    fn call(&mut self, call: &CallRecord) {
        match call.pack(call.op.function().unwrap().shape) {
            Some(words) => self.push(words, &[]),
            None => {
                let [first, second] = call.pack_wide();
                self.push(first, &[second]);
            }
        }
    }
}

const CHUNK_BYTES: usize = 4096;

/// A call with everything that its function's shape can carry.
fn any_call() -> impl Strategy<Value = CallRecord> {
    let plain: Vec<Op> = functions()
        .iter()
        .filter(|function| !matches!(function.shape, Shape::Completion | Shape::Start))
        .map(|function| function.op)
        .collect();
    let edges = prop_oneof![
        Just(0u64),
        Just(1),
        Just((1 << 36) - 1),
        Just(1 << 36),
        any::<u32>().prop_map(u64::from)
    ];
    let sizes =
        prop_oneof![0u64..100, Just((1 << 38) - 1), Just(1 << 38), Just(u64::from(u32::MAX)), Just(1 << 45)];
    let peers = prop_oneof![Just(PEER_NONE), Just(PEER_NULL), Just(PEER_ANY), 0i32..1 << 24];
    (
        (
            prop::sample::select(plain),
            0u64..1 << 54,
            edges,
            any::<u32>(),
            prop_oneof![Just(NO_COMM), 0u32..10_000],
        ),
        (peers.clone(), any::<i32>(), peers, any::<i32>(), sizes.clone(), sizes),
        (any::<u32>(), any::<u32>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.1)),
    )
        .prop_map(
            |((op, start, duration, site, comm), (peer, tag, recv_peer, recv_tag, out, obtained), rest)| {
                let mut call = CallRecord::new(op, start, duration);
                (call.site, call.comm) = (site % 70_000, comm);
                (call.request, call.object, call.any_source, call.any_tag, call.failed) = rest;
                call.peer = peer;
                match op.function().unwrap().shape {
                    Shape::Send => (call.tag, call.bytes_out, call.object) = (tag, out, 0),
                    Shape::Receive | Shape::Probe => {
                        (call.tag, call.bytes_in, call.object) = (tag, obtained, 0)
                    }
                    Shape::SendReceive => {
                        (call.tag, call.recv_peer, call.recv_tag) = (tag, recv_peer, recv_tag);
                        (call.bytes_out, call.bytes_in) = (out, obtained);
                    }
                    Shape::Collective => (call.bytes_out, call.bytes_in, call.object) = (out, obtained, 0),
                    Shape::ObjectOut => call.bytes_out = out,
                    Shape::ObjectIn => call.bytes_in = obtained,
                    Shape::Object => {
                        (call.bytes_out, call.bytes_in) = (out, obtained);
                        (call.tag, call.part) = (tag % 2, recv_tag % 4 == 0);
                    }
                    _ => {}
                }
                call
            },
        )
}

fn any_completions() -> impl Strategy<Value = Vec<Completion>> {
    let one = prop_oneof![
        (any::<u32>(), 1u32..100).prop_map(|(request, count)| Completion::AsPosted { request, count }),
        (any::<u32>(), -4i32..1 << 23, any::<i32>(), any::<u32>())
            .prop_map(|(request, peer, tag, bytes)| Completion::Received { request, peer, tag, bytes }),
        any::<u32>().prop_map(|request| Completion::Cancelled { request }),
        (any::<u32>(), any::<u64>()).prop_map(|(request, bytes)| Completion::MoreBytes { request, bytes }),
    ];
    prop::collection::vec(one, 0..9)
}

proptest! {
    #[test]
    fn calls_survive_a_round_trip(calls in prop::collection::vec(any_call(), 1..50)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("segment");
        let mut writer = Writer::create(&path);
        calls.iter().for_each(|call| writer.call(call));
        let bytes = std::fs::read(&path).unwrap();
        let segment = Segment::parse(&bytes).unwrap();
        let read: Vec<CallRecord> = Records::of(&segment).map(|record| match record {
            Record::Call(call) => call,
            other => panic!("{other:?}"),
        }).collect();
        prop_assert_eq!(read, calls);
    }

    #[test]
    fn completions_survive_a_round_trip(lists in prop::collection::vec(any_completions(), 1..30)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("segment");
        let mut writer = Writer::create(&path);
        let op = Op::by_name("MPI_Waitall").unwrap();
        for list in &lists {
            let items = match list.as_slice() {
                [] => ListItems::None,
                [one] => ListItems::One(one.pack()),
                many => ListItems::Listed(many.len()),
            };
            let rest: Vec<[u64; 4]> = list.chunks(2).map(|pair| {
                let [a, b] = pair[0].pack();
                let [c, d] = pair.get(1).map_or([0, 0], |item| item.pack());
                [a, b, c, d]
            }).collect();
            let rest = if list.len() > 1 { &rest[..] } else { &[] };
            writer.push(pack_list_head(op, 5, 7, 3, false, items), rest);
        }
        let bytes = std::fs::read(&path).unwrap();
        let read: Vec<Vec<Completion>> = records(&bytes).map(|record| match record {
            Record::Completion(_, list) => list,
            other => panic!("{other:?}"),
        }).collect();
        prop_assert_eq!(read, lists);
    }

    /// Cut anywhere, a segment gives nothing that was not written, in order; changed anywhere, it never panics.
    #[test]
    fn damage_never_invents_calls(count in 1usize..3000, cut in 0.0f64..1.0, flip in any::<(prop::sample::Index, u8)>()) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("segment");
        let mut writer = Writer::create(&path);
        let op = Op::by_name("MPI_Barrier").unwrap();
        (0..count as u64).for_each(|index| writer.call(&CallRecord::new(op, 100 * index + 1, 50)));
        let mut bytes = std::fs::read(&path).unwrap();
        let length = HEADER_BYTES + ((bytes.len() - HEADER_BYTES) as f64 * cut) as usize;
        let segment = Segment::parse(&bytes[..length]).unwrap();
        let mut last = 0;
        for record in Records::of(&segment) {
            let Record::Call(call) = record else { panic!("{record:?}") };
            prop_assert_eq!(call, CallRecord::new(op, call.start_ticks, 50));
            prop_assert!(call.start_ticks > last && call.start_ticks % 100 == 1);
            last = call.start_ticks;
        }
        let position = flip.0.index(bytes.len());
        bytes[position] ^= flip.1;
        if let Ok(segment) = Segment::parse(&bytes) {
            prop_assert!(Records::of(&segment).count() <= bytes.len() / 32);
        }
    }

    #[test]
    fn definitions_survive_a_round_trip(local in any::<u32>(), address in any::<u64>(), name in ".{0,300}", ranks in prop::collection::vec(any::<i32>(), 0..50)) {
        let all = [
            Definition::Site { local, address, module: 3, caller: 0 },
            Definition::Site { local, address, module: 3, caller: 7 },
            Definition::Frame { local, address, module: 3, caller: 0 },
            Definition::ScriptFrame { local, function: name.clone(), file: name.clone(), line: 7, caller: 1 },
            Definition::Region { local, name: name.clone() },
            Definition::Module { local, bias: address, path: name.clone(), build_id: vec![1, 2, 3] },
            Definition::Neighbours { local, sources: ranks.clone(), destinations: ranks },
            Definition::Argument { text: name.clone() },
            Definition::Cores { allowed: name.clone() },
            Definition::Unrecorded { reason: Unrecorded::OtherTool, module: name },
            Definition::ClockSample {
                round: local,
                reference: 7,
                sent_ticks: address,
                reference_ticks: !address,
                received_ticks: address | 1,
            },
            Definition::Keep {
                per_second: address % 2 == 0,
                amount_bits: address,
                seed: !address,
                sampled: local % 2 == 0,
                all_below: local,
            },
        ];
        for definition in all {
            let mut bytes = Vec::new();
            definition.encode(&mut bytes);
            prop_assert_eq!(Definition::decode(&bytes), Some(definition));
        }
    }
}

fn records(bytes: &[u8]) -> Records<'_> {
    Records::of(&Segment::parse(bytes).unwrap())
}
