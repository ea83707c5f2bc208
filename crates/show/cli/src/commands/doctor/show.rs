//! The findings, one a line, with a fix below each that needs one.

use super::finding::{Finding, Verdict};
use crate::show::style::Paint;
use std::io::Write;

/// Prints them, and whether runs can be recorded.
pub fn print(out: &mut impl Write, findings: &[Finding], blocked: bool) -> std::io::Result<()> {
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
        paint.bad("Recording will not work: fix the problems above.")
    } else {
        paint.good("Ready: kizami record -- mpirun -n 2 ./your-program")
    };
    writeln!(out, "\n{verdict}")
}
