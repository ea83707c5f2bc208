//! Everything that goes in comes out again, whenever the process dies.

use super::block::{Block, Sizes};
use super::operation::{Operation, Operations, Run};
use super::*;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sizes at which everything runs full soon.
const SMALL: Sizes = Sizes { window: 64, bodies: 64, loops: 16, shapes: 16, values: 16, changing: 16 };

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
fn program() -> impl Strategy<Value = Vec<u32>> {
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
fn patchwork() -> impl Strategy<Value = Vec<u32>> {
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

fn noise() -> impl Strategy<Value = Vec<u32>> {
    (1u32..40).prop_flat_map(|symbols| prop::collection::vec(0..symbols, 0..2500))
}

fn memory(sizes: Sizes) -> Vec<AtomicU64> {
    (0..sizes.bytes() / 8).map(|_| AtomicU64::new(0)).collect()
}

fn bytes(memory: &[AtomicU64]) -> Vec<u8> {
    memory.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect()
}

fn call(symbol: u32, index: usize) -> (Signature, Vec<u64>) {
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

fn check(folded: &Folded, expected: &[u32], lacking: usize) {
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
fn round_trip(calls: &[u32], sizes: Sizes, every: usize) -> Folded {
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
            check(&Folded::read(&kept, &bytes(&memory)).expect("undamaged"), &calls[..=index], 0);
        }
    }
    let folded = Folded::read(&kept, &bytes(&memory)).expect("undamaged");
    check(&folded, calls, 0);
    assert_eq!(folded.lost(), 0);
    folded
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn programs_come_back(calls in program()) {
        round_trip(&calls, Sizes::default(), usize::MAX);
        round_trip(&calls, SMALL, usize::MAX);
    }

    #[test]
    fn patchwork_comes_back(calls in patchwork()) {
        round_trip(&calls, Sizes::default(), usize::MAX);
        round_trip(&calls, SMALL, usize::MAX);
    }

    #[test]
    fn noise_comes_back(calls in noise()) {
        round_trip(&calls, Sizes::default(), usize::MAX);
        round_trip(&calls, SMALL, usize::MAX);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_in_the_block_is_exact_after_any_call(calls in prop_oneof![program(), patchwork(), noise()]) {
        round_trip(&calls[..calls.len().min(400)], SMALL, 1);
    }

    /// A process killed between any two stores lacks at most the call that was being recorded.
    #[test]
    fn no_store_is_a_bad_moment_to_be_killed(
        calls in prop_oneof![program(), patchwork(), noise()],
        skip in 0usize..2000,
    ) {
        killed_anywhere(&calls, skip);
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        calls in prop_oneof![program(), patchwork()],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0u32..4), 1..6),
        output in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        damaged(&calls, &changes, &output);
    }
}

fn killed_anywhere(calls: &[u32], skip: usize) {
    let memory = memory(SMALL);
    let mut recorder = Recorder::start(&memory, SMALL).expect("good sizes");
    let skip = skip.min(calls.len());
    let mut kept = Vec::new();
    let mut buffer = [0; 200];
    for (index, &symbol) in calls.iter().enumerate().take(skip + 12) {
        let (signature, values) = call(symbol, index);
        let mut words: Vec<u64> = memory.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        recorder.block().journal = (index >= skip).then(Vec::new);
        let full = recorder.call(&signature, &values);
        for (word, value) in recorder.block().journal.take().unwrap_or_default() {
            words[word] = value;
            let cut: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            check(&Folded::read(&kept, &cut).expect("undamaged"), &calls[..=index], 1);
        }
        if full {
            recorder.take(&mut buffer, |bytes| {
                kept.extend_from_slice(bytes);
            });
        }
    }
}

fn damaged(calls: &[u32], changes: &[(prop::sample::Index, u64, u32)], output: &[u8]) {
    let memory = memory(SMALL);
    let mut recorder = Recorder::start(&memory, SMALL).expect("good sizes");
    for (index, &symbol) in calls.iter().enumerate() {
        let (signature, values) = call(symbol, index);
        recorder.call(&signature, &values);
    }
    let mut block = bytes(&memory);
    for (place, value, kind) in changes {
        // Half of the changes are in the first words, where they do most harm.
        let words = if *kind % 2 == 0 { 64 } else { block.len() / 8 };
        let at = 8 * place.index(words);
        let value = if *kind < 2 { *value % 64 } else { *value };
        block[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    for output in [&[][..], output] {
        if let Ok(folded) = Folded::read(output, &block) {
            let _ = folded.totals();
            folded.calls().take(100_000).for_each(drop);
        }
    }
}

#[test]
fn bytes_taken_but_not_ticked_off_are_not_read_twice() {
    let calls: Vec<u32> = (0..5000u32).map(|index| index.wrapping_mul(0x9e37_79b9) >> 28).collect();
    let memory = memory(SMALL);
    let mut recorder = Recorder::start(&memory, SMALL).expect("good sizes");
    let mut kept = Vec::new();
    let mut buffer = vec![0; 100_000];
    let mut taken = 0;
    for (index, &symbol) in calls.iter().enumerate() {
        let (signature, values) = call(symbol, index);
        if recorder.call(&signature, &values) {
            recorder.take(&mut buffer, |bytes| {
                kept.extend_from_slice(bytes);
                let killed = self::bytes(&memory);
                check(&Folded::read(&kept, &killed).expect("undamaged"), &calls[..=index], 0);
                taken += 1;
            });
        }
    }
    assert!(taken >= 1);
}

#[test]
fn who_takes_nothing_keeps_the_beginning_and_the_number_of_the_rest() {
    let calls: Vec<u32> = (0..60_000u32).map(|index| index.wrapping_mul(0x9e37_79b9) >> 28).collect();
    let memory = memory(SMALL);
    let mut recorder = Recorder::start(&memory, SMALL).expect("good sizes");
    for (index, &symbol) in calls.iter().enumerate() {
        let (signature, values) = call(symbol, index);
        recorder.call(&signature, &values);
    }
    let folded = Folded::read(&[], &bytes(&memory)).expect("undamaged");
    assert!(folded.lost() > 0 && recorder.lost() == folded.lost());
    check(&folded, &calls[..calls.len() - folded.lost() as usize], 0);
}

#[test]
fn many_repetitions_are_few_bytes_and_are_not_unrolled() {
    // A loop of one call, inside a loop, inside a loop, each of a count that no machine can go through.
    let mut folded = round_trip(&[1, 1, 1, 2, 1, 1, 1, 2, 3, 1, 1, 1, 2, 1, 1, 1, 2, 3], SMALL, 1);
    let stream = |value: u64, more: u64| {
        let mut operations = Operations::default();
        operations.push(Operation::literal(0, value, 0));
        operations.push_run(Run::SAME, more);
        operations.bytes().to_vec()
    };
    folded.counts.iter_mut().for_each(|lane| *lane = stream(1 << 60, 1 << 40));
    folded.values.iter_mut().for_each(|lane| *lane = stream(0, 1 << 50));
    assert!(folded.counts.iter().map(Vec::len).sum::<usize>() < 60);
    assert_eq!(folded.calls().take(1000).filter(|call| call.is_ok()).count(), 1000);
    assert!(folded.totals().is_err());
    // A loop that goes round for ever without a call is an error, soon.
    folded.counts[0] = stream(0, 1 << 40);
    folded.parts[0].add_loop(&[1], 3).expect("a good body");
    folded.parts[0].items = vec![2 * folded.parts[0].loops() as u32 - 1];
    folded.counts.push(stream(1 << 60, 0));
    assert!(folded.calls().next().expect("an error").is_err());
}

#[test]
fn a_loop_that_is_gone_through_costs_no_output() {
    let iteration = [1, 2, 3, 3, 3, 4, 5];
    let calls: Vec<u32> = iteration.iter().copied().cycle().take(70_000).collect();
    let memory = memory(Sizes::default());
    let mut recorder = Recorder::start(&memory, Sizes::default()).expect("good sizes");
    for &symbol in &calls {
        let signature = Signature { op: symbol as u16, ..Signature::default() };
        assert!(!recorder.call(&signature, &[u64::from(symbol)]));
    }
    let mut buffer = [0; 1000];
    let mut taken = 0;
    recorder.take(&mut buffer, |bytes| taken = bytes.len());
    assert!(taken < 100);
    let folded = Folded::read(&buffer[..taken], &bytes(&memory)).expect("undamaged");
    assert_eq!(folded.totals().expect("undamaged")[1..], [10_000, 10_000, 30_000, 10_000, 10_000]);
}

#[test]
fn sizes_are_what_is_said() {
    assert_eq!(Sizes::default().bytes(), 371_712);
    let memory = memory(SMALL);
    assert!(Recorder::start(&memory, Sizes::default()).is_none());
    assert!(Recorder::start(&memory, Sizes { loops: 100, ..SMALL }).is_none());
    assert!(Block::start(&memory, SMALL).is_some());
}

/// What ranks of a group of programs do: some the same with other peers, some something else.
fn shared_round_trip(programs: &[Vec<u32>], ranks: usize) -> Vec<u8> {
    let forms: Vec<Folded> = (0..ranks)
        .map(|rank| {
            let mut folded = round_trip(&programs[rank % programs.len()], SMALL, usize::MAX);
            folded
                .map_signatures(|signature| {
                    let rank = rank as i32;
                    signature.comm = signature.site % 2;
                    signature.peer = match signature.site % 4 {
                        0 => 0,
                        1 => (rank + 3) % ranks as i32,
                        2 => rank ^ 4,
                        _ => rank.wrapping_mul(0x9e37_79b9u32 as i32),
                    };
                })
                .expect("undamaged");
            folded
        })
        .collect();
    let place =
        |rank: usize, comm: u32| (comm == 0).then_some(Place { rank: rank as u32, size: ranks as u32 });
    let mut sharing = Sharing::new();
    for (rank, folded) in forms.iter().enumerate() {
        sharing.add(folded, |comm| place(rank, comm));
    }
    let bytes = sharing.finish();
    let shared = Shared::open(&bytes).expect("undamaged");
    assert_eq!(shared.ranks(), ranks);
    for (rank, folded) in forms.iter().enumerate() {
        assert_eq!(shared.folded(rank, |comm| place(rank, comm)).as_ref(), Ok(folded), "rank {rank}");
    }
    assert!(shared.folded(ranks, |_| None).is_err());
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_rank_comes_back_from_what_is_shared(
        programs in prop::collection::vec(prop_oneof![program(), noise()], 1..4),
        ranks in 1usize..20,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = shared_round_trip(&programs, ranks);
        for (place, value) in &changes {
            let at = place.index(bytes.len());
            bytes[at] = *value;
        }
        if let Ok(shared) = Shared::open(&bytes) {
            for rank in 0..ranks {
                if let Ok(folded) = shared.folded(rank, |_| Some(Place { rank: 0, size: 0 })) {
                    let _ = folded.totals();
                    folded.calls().take(10_000).for_each(drop);
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_shared_sequences_or_not(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let bytes = [&b"KZSHAR01"[..], &bytes].concat();
        if let Ok(shared) = Shared::open(&bytes) {
            let _ = shared.folded(0, |_| None);
        }
    }
}
