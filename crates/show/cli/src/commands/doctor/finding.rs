//! What a check found, and what to do about it.

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Recording works, something else does not or is less good.
    Warning,
    /// Recording does not work.
    Problem,
}

/// What one check found.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub check: String,
    pub verdict: Verdict,
    pub found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
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
