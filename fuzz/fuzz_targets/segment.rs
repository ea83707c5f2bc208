//! The segment reader takes any bytes at all. The input is what follows the header of a
//! segment with small chunks, or, if its first byte is odd, the whole file.
#![no_main]

use kizami_records::{Definition, Record, Records};
use kizami_segment::{HEADER_BYTES, Header, MAGIC, Segment};
use libfuzzer_sys::fuzz_target;
use std::mem::offset_of;
use std::sync::LazyLock;

static HEADER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut header = vec![0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC.to_le_bytes());
    header[8..16].copy_from_slice(&kizami_model::function::fingerprint().to_le_bytes());
    for (place, value) in [(offset_of!(Header, chunk_bytes), 1024u32), (offset_of!(Header, window_chunks), 2)] {
        header[place..place + 4].copy_from_slice(&value.to_le_bytes());
    }
    header
});

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let whole;
    let bytes = if first & 1 == 1 {
        rest
    } else {
        whole = [HEADER.as_slice(), rest].concat();
        &whole
    };
    let Ok(segment) = Segment::parse(bytes) else { return };
    let mut records = Records::of(&segment);
    for record in records.by_ref() {
        if let Record::Definition(bytes) = record {
            let _ = Definition::decode(bytes);
        }
    }
    assert!(records.damage().iter().all(|damage| damage.bytes.end <= bytes.len()));
});
