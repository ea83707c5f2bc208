//! Calls without a symbol, as they are stored for good: by what differs from the last one of the same kind.
//!
//! Who has more communicators than there are shapes has such a call for each call on one of the others. Written out as a whole
//! it takes more than a row of a trace; but most of it is as before.
//!
//! ```text
//! call   kind * 16 + what differs from the last of its kind (bits: three words, values), and the differences (zigzag)
//!        0, four words, number of values, values: the first of the next kind
//! ```
//!
//! A kind is a function at a place with so many values. Kinds beyond the first [`KINDS_MOST`] have no number.

use super::folded::{Call, read_literal, write_literal};
use super::signature::Signature;
use kizami_wire::varint::{Input, put, unzigzag, zigzag};
use std::collections::HashMap;

const KINDS_MOST: usize = 1 << 16;
const VALUES_DIFFER: u64 = 1 << 3;

/// Packs them, as far as they make sense.
pub(crate) fn pack(literals: &[u8]) -> Vec<u8> {
    let (mut bytes, mut input) = (Vec::new(), Input::new(literals));
    let (mut numbers, mut last): (HashMap<(u64, u8), usize>, Vec<Call>) = Default::default();
    while let Some(call) = read_literal(&mut input) {
        let words = call.signature.words();
        let next = last.len();
        let number = *numbers.entry((words[0], call.count)).or_insert(next);
        let Some(before) = last.get_mut(number) else {
            put(&mut bytes, 0);
            write_literal(&mut bytes, &call);
            match next < KINDS_MOST {
                true => last.push(call),
                false => drop(numbers.remove(&(words[0], call.count))),
            }
            continue;
        };
        let mut what = (number as u64 + 1) << 4;
        let mut differences = Vec::new();
        for (bit, (now, then)) in words.into_iter().zip(before.signature.words()).skip(1).enumerate() {
            if now != then {
                what |= 1 << bit;
                put(&mut differences, zigzag(now.wrapping_sub(then) as i64));
            }
        }
        if call.values() != before.values() {
            what |= VALUES_DIFFER;
            let pairs = call.values().iter().zip(before.values());
            pairs.for_each(|(now, then)| put(&mut differences, zigzag(now.wrapping_sub(*then) as i64)));
        }
        put(&mut bytes, what);
        bytes.extend_from_slice(&differences);
        *before = call;
    }
    bytes
}

/// As they were. Takes any bytes.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let (mut bytes, mut input, mut last) = (Vec::new(), Input::new(packed), Vec::<Call>::new());
    while !input.is_empty() {
        let what = input.number()?;
        if what == 0 {
            let call = read_literal(&mut input)?;
            write_literal(&mut bytes, &call);
            if last.len() < KINDS_MOST {
                last.push(call);
            }
            continue;
        }
        let call = last.get_mut(usize::try_from(what >> 4).ok()?.checked_sub(1)?)?;
        let mut differs = |value: &mut u64| {
            *value = value.wrapping_add(unzigzag(input.number()?) as u64);
            Some(())
        };
        let mut words = call.signature.words();
        let changed = words[1..].iter_mut().enumerate().filter(|(bit, _)| what >> bit & 1 == 1);
        changed.map(|(_, word)| word).try_for_each(&mut differs)?;
        call.signature = Signature::from_words(words);
        if what & VALUES_DIFFER != 0 {
            call.values_mut().iter_mut().try_for_each(&mut differs)?;
        }
        write_literal(&mut bytes, call);
    }
    Some(bytes)
}
