//! Messages one by one, when there are few enough to be told apart.

use super::{Selection, TooMany};
use crate::insight::{Insight, MessageRow};
use rustc_hash::{FxHashMap, FxHashSet};

/// The messages under way in a selection, from or to one of its ranks, unless there are more than `limit`.
pub fn messages(insight: &Insight, selection: &Selection, limit: u64) -> Result<Vec<MessageRow>, TooMany> {
    let within = || insight.messages_within(selection.from, selection.to);
    let mut counts: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    within().for_each(|message| *counts.entry((message.from, message.to)).or_default() += 1);
    let ranks: FxHashSet<u32> = selection.ranks.iter().copied().collect();
    let concerned = |from: u32, to: u32, visit: &mut dyn FnMut(u32, u32)| {
        insight.each_pair(from, to, |from, to| {
            if ranks.contains(&from) || ranks.contains(&to) {
                visit(from, to);
            }
        });
    };
    let mut count = 0;
    for ((from, to), messages) in &counts {
        concerned(*from, *to, &mut |_, _| count += messages);
    }
    if count > limit {
        return Err(TooMany { count });
    }
    let mut messages: Vec<MessageRow> = Vec::with_capacity(count as usize);
    for message in within() {
        concerned(message.from, message.to, &mut |from, to| messages.push(message.between(from, to)));
    }
    messages.sort_unstable_by_key(|message| (message.sent(), message.from, message.to, message.received()));
    Ok(messages)
}
