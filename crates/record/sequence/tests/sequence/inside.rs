//! What needs to see inside: kills between any two stores, and counts that no program reaches.

#[path = "programs.rs"]
mod programs;

use super::operation::{Operation, Operations, Run};
use super::*;
use programs::{SMALL, call, check, memory, noise, patchwork, program, round_trip};
use proptest::prelude::*;
use std::sync::atomic::Ordering;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A process killed between any two stores lacks at most the call that was being recorded.
    #[test]
    fn no_store_is_a_bad_moment_to_be_killed(
        calls in prop_oneof![program(), patchwork(), noise()],
        skip in 0usize..2000,
    ) {
        killed_anywhere(&calls, skip);
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
            check(&FoldedSequence::read(&kept, &cut).expect("undamaged"), &calls[..=index], 1);
        }
        if full {
            recorder.take(&mut buffer, |bytes| {
                kept.extend_from_slice(bytes);
            });
        }
    }
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
