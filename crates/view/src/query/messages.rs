//! Messages one by one, when there are few enough to be told apart.

use super::{Selection, TooMany};
use crate::insight::{Insight, MessageRow};
use rustc_hash::FxHashSet;

/// The messages under way in a selection, from or to one of its ranks, unless there are more than `limit`.
pub fn messages(insight: &Insight, selection: &Selection, limit: u64) -> Result<Vec<MessageRow>, TooMany> {
    let ranks: FxHashSet<u32> = selection.ranks.iter().copied().collect();
    let concerns = |message: &&MessageRow| ranks.contains(&message.from) || ranks.contains(&message.to);
    let within = || insight.messages_within(selection.from, selection.to).filter(concerns);
    let count = within().count() as u64;
    if count > limit {
        return Err(TooMany { count });
    }
    let mut messages: Vec<MessageRow> = within().copied().collect();
    messages.sort_unstable_by_key(|message| (message.sent(), message.from, message.to, message.received()));
    Ok(messages)
}
