//! Running all checks.

use super::arguments::DoctorArguments;
use super::finding::{Checks, Verdict};
use super::{launch, machine, show};
use crate::show::json;
use crate::show::text;
use anyhow::Result;

/// Runs all checks; the exit code is 1 if something blocks recording.
pub fn run(arguments: &DoctorArguments) -> Result<u8> {
    let mut findings = launch::check(arguments.library.as_deref());
    findings.extend(machine::check());
    let blocked = findings.iter().any(|finding| finding.verdict == Verdict::Problem);
    let mut out = text::stdout();
    if arguments.json {
        json::print(json::DOCTOR, Checks { findings: &findings, ready: !blocked })?;
    } else {
        show::print(&mut out, &findings, blocked)?;
    }
    Ok(u8::from(blocked))
}
