//! Readers of folded sequences take any bytes at all. By its first byte the input is shared sequences, a block, or what
//! was handed out next to a block of a recording of a few shapes, some words of which are changed.
#![no_main]

use kizami_sequence::{FoldedSequence, CommPosition, Recorder, Shared, Signature, Sizes};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a block that say from where to where the output is in it.
const OUTPUT: [usize; 2] = [13, 14];

static BLOCK: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let sizes = Sizes { window: 16, bodies: 16, loops: 16, shapes: 16, values: 16, changing: 16 };
    let memory: Vec<AtomicU64> = (0..sizes.bytes() / 8).map(|_| AtomicU64::new(0)).collect();
    let mut recorder = Recorder::start(&memory, sizes).expect("good sizes");
    for op in 0..8 {
        recorder.call(&Signature { op, ..Signature::default() }, &[u64::from(op)][..usize::from(op % 2)]);
    }
    memory.iter().map(|word| word.load(Ordering::Relaxed)).collect()
});

fn go_through(folded: &FoldedSequence) {
    let total = folded.totals().map(|totals| totals.iter().fold(0u64, |sum, count| sum.saturating_add(*count)));
    let calls = folded.calls().take(10_000).filter(|call| call.is_ok()).count();
    if let Ok(total) = total {
        assert!(calls as u64 <= total);
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    match kind % 3 {
        0 => {
            let Ok(shared) = Shared::open(rest) else { return };
            for rank in 0..shared.ranks().min(4) {
                if let Ok(folded) = shared.folded(rank, |comm| Some(CommPosition { rank: rank as u32, size: comm })) {
                    go_through(&folded);
                }
            }
        }
        1 => {
            if let Ok(folded) = FoldedSequence::read(&[], rest) {
                go_through(&folded);
            }
        }
        _ => {
            let mut block = BLOCK.clone();
            let changes = rest.first().map_or(0, |count| usize::from(count % 8)) * 4;
            let Some((changes, output)) = rest.get(1..).and_then(|rest| rest.split_at_checked(changes)) else { return };
            OUTPUT.into_iter().for_each(|word| block[word] = output.len() as u64);
            for change in changes.as_chunks::<4>().0 {
                let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % block.len();
                block[place] = u64::from(u16::from_le_bytes([change[2], change[3]]));
            }
            let block: Vec<u8> = block.iter().flat_map(|word| word.to_le_bytes()).collect();
            if let Ok(folded) = FoldedSequence::read(output, &block) {
                go_through(&folded);
            }
        }
    }
});
