//! `kizami doctor`: whether runs can be recorded here, and what to do where they cannot.
//!
//! The checks do what `kizami record` would do (preload the tracer, launch a process with every launcher,
//! reserve space on the disk) instead of guessing from settings. Nothing is left behind.

mod launch;
mod machine;

pub use launch::arrived;

use crate::arguments::DoctorArguments;
use crate::show::style::Paint;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// As it should be.
    Good,
    /// Recording works, something else does not or is less good.
    Warning,
    /// Recording does not work.
    Problem,
}

/// What one check found.
#[derive(Debug, Serialize)]
struct Finding {
    check: String,
    verdict: Verdict,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Finding {
    fn good(check: impl Into<String>, found: impl Into<String>) -> Finding {
        Finding { check: check.into(), verdict: Verdict::Good, found: found.into(), fix: None }
    }

    fn warning(check: impl Into<String>, found: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Warning, fix: Some(fix.into()), ..Finding::good(check, found) }
    }

    fn problem(check: impl Into<String>, found: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Problem, fix: Some(fix.into()), ..Finding::good(check, found) }
    }
}

/// Runs all checks; the exit code is 1 if something blocks recording.
pub fn run(arguments: &DoctorArguments) -> Result<u8> {
    let mut findings = launch::check(arguments.library.as_deref());
    findings.extend(machine::check());
    let blocked = findings.iter().any(|finding| finding.verdict == Verdict::Problem);
    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(
            &mut out,
            &serde_json::json!({ "ready": !blocked, "findings": findings }),
        )?;
        writeln!(out)?;
    } else {
        print(&mut out, &findings, blocked)?;
    }
    Ok(u8::from(blocked))
}

fn print(out: &mut impl Write, findings: &[Finding], blocked: bool) -> std::io::Result<()> {
    let paint = Paint::stdout();
    let width = findings.iter().map(|finding| finding.check.chars().count()).max().unwrap_or(0);
    for finding in findings {
        let mark = match finding.verdict {
            Verdict::Good => paint.good("ok     "),
            Verdict::Warning => paint.doubtful("warning"),
            Verdict::Problem => paint.bad("problem"),
        };
        writeln!(out, "{mark}  {:<width$}  {}", finding.check, finding.found)?;
        if let Some(fix) = &finding.fix {
            writeln!(out, "{:9}{:width$}  {} {fix}", "", "", paint.label("fix:"))?;
        }
    }
    let verdict = if blocked {
        paint.bad("Something above keeps runs from being recorded.")
    } else {
        paint.good("Ready: kizami record -- mpirun -n 2 ./your-program")
    };
    writeln!(out, "\n{verdict}")
}
