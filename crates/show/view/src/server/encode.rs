//! Answers as bytes: columns one behind the other, little endian, as the page reads them.

use crate::index::category::CATEGORIES;
use crate::insight::MessageRow;
use crate::query::calls::Calls;
use crate::query::matrix::Matrix;
use crate::query::timeline::Timeline;

fn u32s(bytes: &mut Vec<u8>, values: impl IntoIterator<Item = u32>) {
    values.into_iter().for_each(|value| bytes.extend(value.to_le_bytes()));
}

fn f64s(bytes: &mut Vec<u8>, values: impl IntoIterator<Item = f64>) {
    values.into_iter().for_each(|value| bytes.extend(value.to_le_bytes()));
}

pub(super) fn timeline(timeline: &Timeline) -> Vec<u8> {
    let rows = timeline.first_ranks.len();
    let mut bytes = Vec::with_capacity(16 + 4 * rows + timeline.shares.len());
    u32s(&mut bytes, [timeline.columns as u32, rows as u32, CATEGORIES as u32, 1]);
    u32s(&mut bytes, timeline.first_ranks.iter().copied());
    bytes.extend(&timeline.shares);
    bytes
}

pub(super) fn calls(calls: &Calls) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + calls.rank.len() * 30 + 4);
    u32s(&mut bytes, [calls.rank.len() as u32]);
    f64s(&mut bytes, calls.start_ns.iter().map(|ns| *ns as f64));
    f64s(&mut bytes, calls.end_ns.iter().map(|ns| *ns as f64));
    u32s(&mut bytes, calls.rank.iter().copied());
    calls.op.iter().for_each(|op| bytes.extend(op.to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    u32s(&mut bytes, calls.site.iter().copied());
    u32s(&mut bytes, calls.thread.iter().copied());
    bytes
}

pub(super) fn messages(messages: &[MessageRow]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + messages.len() * 32);
    u32s(&mut bytes, [messages.len() as u32]);
    f64s(&mut bytes, messages.iter().map(|message| message.sent().0 as f64));
    f64s(&mut bytes, messages.iter().map(|message| message.received().0 as f64));
    u32s(&mut bytes, messages.iter().map(|message| message.from));
    u32s(&mut bytes, messages.iter().map(|message| message.to));
    f64s(&mut bytes, messages.iter().map(|message| message.bytes as f64));
    bytes
}

pub(super) fn matrix(matrix: &Matrix) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + matrix.bytes.len() * 32);
    u32s(&mut bytes, [matrix.size as u32]);
    for cells in [&matrix.bytes, &matrix.messages, &matrix.mean_latency_ns, &matrix.wait_ns] {
        f64s(&mut bytes, cells.iter().copied());
    }
    bytes
}
