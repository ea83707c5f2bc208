//! Findings: what is wrong with a run, each with its place, what it costs, and what mending it would gain.

use crate::disease::{Diagnosis, Disease};
use kizami_trace::SourceLine;
use kizami_whatif::{Changes, Gain};
use serde::{Deserialize, Serialize};

/// What the delaying ranks did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// They computed.
    Computation,
    /// They were inside a call.
    Call,
    /// They had not made their first call.
    Start,
}

/// Which gain to expect of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Headline {
    /// `gain`: the cause is removed.
    #[default]
    Gain,
    /// `balanced`: the work is spread over all ranks.
    Balanced,
}

/// A finding: a performance pattern with its location, its cost and its gain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Finding"))]
pub struct Finding<D = Diagnosis> {
    /// What it is.
    #[serde(flatten)]
    pub diagnosis: D,
    /// What the delaying ranks did.
    pub cause: Cause,
    /// The delaying ranks; empty if many do so in turn, or if they cannot be listed briefly.
    pub ranks: Vec<u32>,
    /// The call after the computation, or the call itself.
    pub place: SourceLine,
    /// How the program came there: `place`, then the call that led to its function, and so on to the outermost function. Empty if
    /// that is not known.
    #[serde(default)]
    pub path: Vec<SourceLine>,
    /// The function called there.
    pub function: String,
    /// Call site of the previous call.
    pub after: Option<SourceLine>,
    /// The computation in the innermost function that leads to both calls: the lines there that lead to the previous call and
    /// to this one. Null if `after` and `place` say the same, or if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<[SourceLine; 2]>,
    /// The innermost region that the program named, where it cost most.
    pub region: Option<String>,
    /// Direct waiting for it, over all ranks.
    pub waiting_ns: i64,
    /// Indirect waiting for it, over all ranks: for ranks that waited for it.
    pub propagated_ns: i64,
    /// Direct and indirect waiting as a share of the time of all ranks.
    pub share: f64,
    /// Number of ranks that waited directly.
    pub waiting_ranks: usize,
    /// Where they waited most: function and call site.
    pub waiting_in: Option<(String, SourceLine)>,
    /// Gain if the part that others waited for is removed; null if that was not replayed.
    pub gain: Option<Gain>,
    /// Gain if the same work is spread over all ranks, step by step, or, for lock contention, done before the lock is taken;
    /// null if there is no such work.
    pub balanced: Option<Gain>,
    /// Which of the two to expect.
    pub headline: Headline,
    /// The gain is a best case.
    pub at_most: bool,
    /// The gain is had once the first finding is fixed: before, it cannot be distinguished from noise.
    #[serde(default)]
    pub after_first: bool,
    /// Options of `kizami replay` that reproduce the expected gain; null if there are none.
    pub option: Option<Changes>,
}

impl Finding {
    /// What it is, by name.
    pub fn disease(&self) -> Disease {
        self.diagnosis.disease()
    }
}

impl<D> Finding<D> {
    /// The gain that is to be expected.
    pub fn expected(&self) -> Option<Gain> {
        match self.headline {
            Headline::Gain => self.gain,
            Headline::Balanced => self.balanced.or(self.gain),
        }
    }

    /// How long others waited for it, over all ranks: for just this, and for those who waited for it. Its share is
    /// of this, and this is what all views show.
    pub fn all_waiting_ns(&self) -> i64 {
        self.waiting_ns.saturating_add(self.propagated_ns)
    }

    /// The same finding with its diagnosis in another form.
    pub fn with<E>(self, diagnosis: E) -> Finding<E> {
        Finding {
            diagnosis,
            cause: self.cause,
            ranks: self.ranks,
            place: self.place,
            path: self.path,
            function: self.function,
            after: self.after,
            within: self.within,
            region: self.region,
            waiting_ns: self.waiting_ns,
            propagated_ns: self.propagated_ns,
            share: self.share,
            waiting_ranks: self.waiting_ranks,
            waiting_in: self.waiting_in,
            gain: self.gain,
            balanced: self.balanced,
            headline: self.headline,
            at_most: self.at_most,
            after_first: self.after_first,
            option: self.option,
        }
    }
}
