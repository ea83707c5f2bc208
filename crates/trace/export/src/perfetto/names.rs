//! Texts written once and referred to by number afterwards.

use super::schema::{InternedData, InternedName};
use std::collections::HashSet;

/// What a text is for; each kind counts for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Category,
    Event,
    Annotation,
    Value,
}

/// Keeps what was written, and what must go into the next packet.
#[derive(Default)]
pub(super) struct Names {
    written: HashSet<(Kind, u64)>,
    pending: InternedData,
}

impl Names {
    /// The number to refer to a text by, `number` plus one as 0 means nothing. `text` is asked for the first
    /// time only.
    pub fn refer(&mut self, kind: Kind, number: u64, text: impl FnOnce() -> String) -> u64 {
        let iid = number + 1;
        if self.written.insert((kind, iid)) {
            let list = match kind {
                Kind::Category => &mut self.pending.event_categories,
                Kind::Event => &mut self.pending.event_names,
                Kind::Annotation => &mut self.pending.debug_annotation_names,
                Kind::Value => &mut self.pending.debug_annotation_string_values,
            };
            list.push(InternedName { iid: Some(iid), name: Some(text()) });
        }
        iid
    }

    /// What the next packet must carry, if anything.
    pub fn take_pending(&mut self) -> Option<InternedData> {
        let pending = std::mem::take(&mut self.pending);
        (pending != InternedData::default()).then_some(pending)
    }
}
