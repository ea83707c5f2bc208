//! What a check found, and what to do about it.

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing to do.
    Good,
    /// Recording works; something else does not work, or works less well.
    Warning,
    /// Recording does not work.
    Problem,
}

/// Result of one check.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// What was checked.
    pub check: String,
    /// What to do; only if there is something to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The result.
    pub found: String,
    /// How much it matters.
    pub verdict: Verdict,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Checks<'a> {
    /// The result of each check.
    pub findings: &'a [Finding],
    /// Nothing would prevent a run from being recorded.
    pub ready: bool,
}

impl Finding {
    /// As it should be.
    pub fn good(check: impl Into<String>, found: impl Into<String>) -> Finding {
        Finding { check: check.into(), verdict: Verdict::Good, found: found.into(), fix: None }
    }

    /// Recording works, but.
    pub fn warning(check: impl Into<String>, found: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Warning, fix: Some(fix.into()), ..Finding::good(check, found) }
    }

    /// Recording does not work.
    pub fn problem(check: impl Into<String>, found: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Problem, fix: Some(fix.into()), ..Finding::good(check, found) }
    }
}
