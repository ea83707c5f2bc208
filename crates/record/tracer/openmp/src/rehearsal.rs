//! What recording costs: records are discarded, in memory of their own.

use crate::clock;
use crate::recorder::Recorder;
use kizami_records::threading;
use kizami_segment::{Cursor, Slot, WordCursor};
use std::sync::OnceLock;

/// Records of a round; as many words.
const RECORDS: usize = 256;
const ROUNDS: usize = 16;
/// What a cost is counted in, of a tick.
const COST_UNIT: u64 = 1024;

/// What one record costs, in 1/1024 tick, found out once.
pub fn record_cost() -> u64 {
    static COST: OnceLock<u64> = OnceLock::new();
    *COST.get_or_init(measure)
}

fn measure() -> u64 {
    const SLOTS: usize = RECORDS * size_of::<u64>() / size_of::<Slot>();
    let mut memory = Box::<[Slot; SLOTS]>::new_uninit();
    // SAFETY: slots are made of integers, for which zero is a value.
    let memory = unsafe {
        memory.as_mut_ptr().write_bytes(0, 1);
        memory.assume_init()
    };
    let round = || {
        // SAFETY: the memory outlives the recorder, and no other cursor leads there.
        let cursor = unsafe { Cursor::new(memory.as_ptr(), SLOTS) };
        let mut recorder = Recorder::for_calibration(WordCursor::of(cursor));
        let start = clock::now();
        (0..RECORDS).for_each(|_| recorder.put(threading::end()));
        clock::now().saturating_sub(start)
    };
    // The least: whatever comes between makes it more.
    (0..ROUNDS).map(|_| round()).min().unwrap_or(0) * COST_UNIT / RECORDS as u64
}
