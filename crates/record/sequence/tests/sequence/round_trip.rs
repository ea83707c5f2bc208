//! Everything that goes in comes out again, and any bytes can be read.

use crate::programs::{self, SMALL, bytes, call, check, memory, noise, patchwork, program, round_trip};
use kizami_sequence::{CommPosition, FoldedSequence, Recorder, Shared, Sharing, Signature, Sizes};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn programs_survive_a_round_trip(calls in program()) {
        round_trip(&calls, Sizes::default(), usize::MAX);
        round_trip(&calls, SMALL, usize::MAX);
    }

    #[test]
    fn patchwork_survives_a_round_trip(calls in patchwork()) {
        round_trip(&calls, Sizes::default(), usize::MAX);
        round_trip(&calls, SMALL, usize::MAX);
    }

    #[test]
    fn noise_survives_a_round_trip(calls in noise()) {
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

    #[test]
    fn any_bytes_are_read_without_panic(
        calls in prop_oneof![program(), patchwork()],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0u32..4), 1..6),
        output in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        damaged(&calls, &changes, &output);
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
        if let Ok(folded) = FoldedSequence::read(output, &block) {
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
                let killed = programs::bytes(&memory);
                check(&FoldedSequence::read(&kept, &killed).expect("undamaged"), &calls[..=index], 0);
                taken += 1;
            });
        }
    }
    assert!(taken >= 1);
}

#[test]
fn a_sequence_without_room_keeps_its_beginning_and_counts_the_rest() {
    let calls: Vec<u32> = (0..60_000u32).map(|index| index.wrapping_mul(0x9e37_79b9) >> 28).collect();
    let memory = memory(SMALL);
    let mut recorder = Recorder::start(&memory, SMALL).expect("good sizes");
    for (index, &symbol) in calls.iter().enumerate() {
        let (signature, values) = call(symbol, index);
        recorder.call(&signature, &values);
    }
    let folded = FoldedSequence::read(&[], &bytes(&memory)).expect("undamaged");
    assert!(folded.lost() > 0 && recorder.lost() == folded.lost());
    check(&folded, &calls[..calls.len() - folded.lost() as usize], 0);
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
    let folded = FoldedSequence::read(&buffer[..taken], &bytes(&memory)).expect("undamaged");
    assert_eq!(folded.totals().expect("undamaged")[1..], [10_000, 10_000, 30_000, 10_000, 10_000]);
}

#[test]
fn sizes_are_what_is_said() {
    assert_eq!(Sizes::default().bytes(), 371_712);
    let memory = memory(SMALL);
    assert!(Recorder::start(&memory, Sizes::default()).is_none());
    assert!(Recorder::start(&memory, Sizes { loops: 100, ..SMALL }).is_none());
    assert!(Recorder::start(&memory, SMALL).is_some());
}

/// What ranks of a group of programs do: some the same with other peers, some something else.
fn shared_round_trip(programs: &[Vec<u32>], ranks: usize) -> Vec<u8> {
    let forms: Vec<FoldedSequence> = (0..ranks)
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
    let place = |rank: usize, comm: u32| {
        (comm == 0).then_some(CommPosition { rank: rank as u32, size: ranks as u32 })
    };
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
    fn every_rank_is_restored_from_shared_parts(
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
                if let Ok(folded) = shared.folded(rank, |_| Some(CommPosition { rank: 0, size: 0 })) {
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

/// A program that makes a communicator, names it, uses it and frees it, over and over: there are more than shapes.
#[test]
fn calls_on_many_communicators_are_a_few_bytes_each() {
    const COMMUNICATORS: u32 = 20_000;
    let memory = memory(Sizes::default());
    let mut recorder = Recorder::start(&memory, Sizes::default()).expect("good sizes");
    let call = |comm: u32, op: u16| Signature {
        op,
        site: u32::from(op),
        comm,
        peer: -1,
        tag: -1,
        ..Signature::default()
    };
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 100_000]);
    let all =
        || (1..=COMMUNICATORS).flat_map(|comm| [3, 7, 20, 4].map(|op| (call(comm, op), u64::from(comm % 5))));
    for (signature, value) in all() {
        if recorder.call(&signature, &[8, value]) {
            recorder.take(&mut buffer, |bytes| kept.extend_from_slice(bytes));
        }
    }
    let folded = FoldedSequence::read(&kept, &bytes(&memory)).expect("undamaged");
    let mut sharing = Sharing::new();
    sharing.add(&folded, |_| None);
    let stored = sharing.finish();
    assert!(stored.len() < 4 * 6 * COMMUNICATORS as usize, "{} bytes", stored.len());
    let again = Shared::open(&stored).and_then(|shared| shared.folded(0, |_| None)).expect("undamaged");
    assert_eq!(again, folded);
    let same = |(found, (signature, value)): (Result<kizami_sequence::Call, _>, (Signature, u64))| {
        found.is_ok_and(|call| call.signature == signature && call.values() == [8, value])
    };
    assert!(again.calls().zip(all()).all(same));
    assert_eq!(again.calls().count(), 4 * COMMUNICATORS as usize);
    for cut in (0..stored.len()).step_by(997) {
        let _ = Shared::open(&stored[..cut]).and_then(|shared| shared.folded(0, |_| None));
    }
}
