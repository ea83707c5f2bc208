//! Findings: what is wrong with a run, each with its place, what it costs, and what mending it would gain.

use crate::disease::{Diagnosis, Disease};
use kizami_trace::SourceLine;
use kizami_whatif::{Changes, Gain};
use serde::{Deserialize, Serialize};

/// What the ones who were waited for did.
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

/// Which of its gains a finding is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Headline {
    /// That of the cause being gone.
    #[default]
    Gain,
    /// That of the work being spread over all ranks: it must be done by someone.
    Balanced,
}

/// One finding: data, with its diagnosis in whatever form who reads it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Finding"))]
pub struct Finding<D = Diagnosis> {
    /// What it is.
    #[serde(flatten)]
    pub diagnosis: D,
    /// What was done.
    pub cause: Cause,
    /// Ranks that did it: those that have most of the blame; none if many take turns, or cannot be named shortly.
    pub ranks: Vec<u32>,
    /// Where: the call that computation leads up to, or the call itself.
    pub place: SourceLine,
    /// The call there.
    pub function: String,
    /// Where the call before it is made.
    pub after: Option<SourceLine>,
    /// The innermost region the program named, where it cost most.
    pub region: Option<String>,
    /// How long others waited for just this, over all ranks.
    pub waiting_ns: i64,
    /// How long others waited for those who waited for it.
    pub propagated_ns: i64,
    /// Both as a part of the time of all ranks.
    pub share: f64,
    /// How many ranks waited directly.
    pub waiting_ranks: usize,
    /// Where they waited most.
    pub waiting_in: Option<(String, SourceLine)>,
    /// What the run would gain if just that which others waited for were gone; none where that cannot be replayed.
    pub gain: Option<Gain>,
    /// What it would gain if the same work were spread over all ranks, step by step; none where there is no work to
    /// spread.
    pub balanced: Option<Gain>,
    /// Which of both is to be expected.
    pub headline: Headline,
    /// It gains that at most: in the best case.
    pub at_most: bool,
    /// The options of `kizami replay` that reproduce the gain; none if there are none.
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
            function: self.function,
            after: self.after,
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
            option: self.option,
        }
    }
}
