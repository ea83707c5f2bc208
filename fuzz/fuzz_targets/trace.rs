//! The readers of a sealed trace take any bytes at all: a part of `events/`, or, if the first byte is odd, a
//! `run.json`.
#![no_main]

use kizami_trace::{Calls, RunInfo};
use libfuzzer_sys::fuzz_target;
use std::sync::Once;

fuzz_target!(|input: &[u8]| {
    // The Parquet decoder panics on some damaged files; our reader turns that into an error, so a panic that
    // does not get out is no finding. One that does ends the process all the same.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let Some((first, rest)) = input.split_first() else { return };
    if first & 1 == 1 {
        let _ = RunInfo::parse(rest, "run.json".into());
    } else {
        for call in Calls::in_memory(rest.to_vec()) {
            let Ok(_) = call else { break };
        }
    }
});
