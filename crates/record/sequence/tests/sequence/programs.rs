//! Programs made by chance, and whether their calls come back from what was recorded.

use super::{FoldedSequence, Recorder, Signature, Sizes};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sizes at which everything runs full soon.
pub const SMALL: Sizes = Sizes { window: 64, bodies: 64, loops: 16, shapes: 16, values: 16, changing: 16 };

/// A program: calls, and loops that go round a number of times that depends on how often they were reached.
#[derive(Clone, Debug)]
enum Step {
    Call(u32),
    Loop(Vec<u8>, Vec<Step>),
}

fn step() -> impl Strategy<Value = Step> {
    let call = (0u32..9).prop_map(Step::Call);
    call.prop_recursive(4, 40, 5, |inner| {
        let counts = prop_oneof![
            3 => (2u8..9).prop_map(|count| vec![count]),
            1 => prop::collection::vec(0u8..6, 1..7),
        ];
        (counts, prop::collection::vec(inner, 1..6)).prop_map(|(counts, steps)| Step::Loop(counts, steps))
    })
}

fn run(steps: &[Step], calls: &mut Vec<u32>, seed: &mut usize) {
    for step in steps {
        match step {
            _ if calls.len() > 3000 => return,
            Step::Call(call) => calls.push(*call),
            Step::Loop(counts, body) => {
                *seed += 1;
                for _ in 0..counts[*seed % counts.len()] {
                    run(body, calls, seed);
                }
            }
        }
    }
}

/// Calls of a program, each with a value that is regular, irregular or constant.
pub fn program() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(step(), 1..8).prop_map(|steps| {
        let mut calls = Vec::new();
        let mut seed = 0;
        for _ in 0..12 {
            run(&steps, &mut calls, &mut seed);
        }
        calls
    })
}

/// Long repetitions of noise, in which nothing fits together for long.
pub fn patchwork() -> impl Strategy<Value = Vec<u32>> {
    let piece = (prop::collection::vec(0u32..4, 1..12), 1usize..8, 0usize..4);
    prop::collection::vec(piece, 1..80).prop_map(|pieces| {
        pieces
            .into_iter()
            .flat_map(|(piece, times, cut)| {
                let length = (piece.len() * times).saturating_sub(cut);
                piece.into_iter().cycle().take(length).collect::<Vec<_>>()
            })
            .collect()
    })
}

pub fn noise() -> impl Strategy<Value = Vec<u32>> {
    (1u32..40).prop_flat_map(|symbols| prop::collection::vec(0..symbols, 0..2500))
}

pub fn memory(sizes: Sizes) -> Vec<AtomicU64> {
    (0..sizes.bytes() / 8).map(|_| AtomicU64::new(0)).collect()
}

pub fn bytes(memory: &[AtomicU64]) -> Vec<u8> {
    memory.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect()
}

pub fn call(symbol: u32, index: usize) -> (Signature, Vec<u64>) {
    let signature =
        Signature { op: symbol as u16, site: 100 + symbol, peer: symbol as i32 - 2, ..Signature::default() };
    let index = index as u64;
    let values = match symbol % 5 {
        0 => vec![],
        1 => vec![4096],
        2 => vec![index * 8, 7],
        3 => vec![index % 3],
        _ => vec![index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (index % 64)],
    };
    (signature, values)
}

pub fn check(folded: &FoldedSequence, expected: &[u32], lacking: usize) {
    let found: Vec<(Signature, Vec<u64>)> = folded
        .calls()
        .map(|call| call.map(|call| (call.signature, call.values().to_vec())).expect("undamaged"))
        .collect();
    assert!(found.len() <= expected.len() && found.len() + lacking >= expected.len());
    for (index, found) in found.iter().enumerate() {
        assert_eq!(*found, call(expected[index], index), "call {index}");
    }
    let total: u64 = folded.totals().expect("undamaged").iter().sum();
    assert_eq!(total, found.len() as u64);
}

/// Records all calls; looks at the state after each of them if asked to.
pub fn round_trip(calls: &[u32], sizes: Sizes, every: usize) -> FoldedSequence {
    let memory = memory(sizes);
    let mut recorder = Recorder::start(&memory, sizes).expect("good sizes");
    let mut kept = Vec::new();
    let mut buffer = [0; 999];
    for (index, &symbol) in calls.iter().enumerate() {
        let (signature, values) = call(symbol, index);
        if recorder.call(&signature, &values) {
            recorder.take(&mut buffer, |bytes| kept.extend_from_slice(bytes));
        }
        if index % every == every - 1 {
            check(&FoldedSequence::read(&kept, &bytes(&memory)).expect("undamaged"), &calls[..=index], 0);
        }
    }
    let folded = FoldedSequence::read(&kept, &bytes(&memory)).expect("undamaged");
    check(&folded, calls, 0);
    assert_eq!(folded.lost(), 0);
    folded
}
