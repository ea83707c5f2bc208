//! Whether ranks exchange messages, or hand them on: in a halo exchange both of two ranks send before they have what the other
//! sends; in a sweep one of them has it first. Sweeps may go both ways, one after the other.

use crate::thresholds::THRESHOLDS;
use kizami_graph::{Graph, TieKind};
use kizami_model::Moment;
use kizami_model::Rank;
use rustc_hash::FxHashMap;

/// The first messages of a channel that are compared with those that go the other way.
const COMPARED: usize = 8;

/// Channels that are looked at, at most: programs with more have many that are alike.
const MOST_CHANNELS: u32 = 1 << 16;

/// A message: when its send began, and when the call returned that took it.
#[derive(Clone, Copy, Default)]
struct Message {
    sent: Option<Moment>,
    taken: Option<Moment>,
}

/// Whether more than the part of channels that thresholds say is one half of an exchange.
pub(super) fn is_mutual(graph: &Graph) -> bool {
    // Tags below zero are not those of messages.
    let channels: Vec<u32> = (0..MOST_CHANNELS)
        .zip(&graph.channels)
        .filter(|(_, channel)| channel.tag >= 0)
        .map(|(number, _)| number)
        .collect();
    let ends = |number: u32| {
        let channel = &graph.channels[number as usize];
        (channel.comm, channel.from, channel.to, channel.tag)
    };
    let by_ends: FxHashMap<(u32, Rank, Rank, i32), u32> =
        channels.iter().map(|number| (ends(*number), *number)).collect();
    let back = |number: u32| {
        let (comm, from, to, tag) = ends(number);
        by_ends.get(&(comm, to, from, tag)).copied()
    };
    let messages = first_messages(graph, |number| back(number).is_some());
    let is_half = |number: &&u32| {
        let Some(back) = back(**number) else { return false };
        let pairs =
            messages.get(*number).into_iter().flatten().zip(messages.get(&back).into_iter().flatten());
        let (mut exchanged, mut all) = (0, 0);
        for (there, back) in pairs {
            let (Some(sent), Some(taken)) = (there.sent.zip(back.sent), there.taken.zip(back.taken)) else {
                continue;
            };
            all += 1;
            exchanged += usize::from(sent.0 < taken.1 && sent.1 < taken.0);
        }
        // Messages that nobody took are no sign of a sweep.
        2 * exchanged >= all
    };
    let mutual = channels.iter().filter(is_half).count();
    mutual as f64 > THRESHOLDS.mutual_channels * channels.len() as f64
}

/// The first messages of the channels that count.
fn first_messages(graph: &Graph, counts: impl Fn(u32) -> bool) -> FxHashMap<u32, [Message; COMPARED]> {
    let mut messages: FxHashMap<u32, [Message; COMPARED]> = FxHashMap::default();
    for step in graph.steps.iter() {
        for tie in graph.ties_of(step) {
            // The first message has number one.
            let number = (tie.number() as usize).wrapping_sub(1);
            let is_one = matches!(tie.kind(), TieKind::Departs | TieKind::Awaits);
            if number >= COMPARED || !is_one || !counts(tie.place()) {
                continue;
            }
            let message = &mut messages.entry(tie.place()).or_default()[number];
            match tie.kind() {
                TieKind::Departs => message.sent = Some(step.start),
                _ => message.taken = Some(step.end),
            }
        }
    }
    messages
}
