//! CSV: every row of a trace as a line, for tools that read nothing else.
//!
//! The columns are those of `events/` under the same names, in the same units. Numbers that stand for
//! something are spelled out where a reader would have to join a table: `op` is the function's name,
//! `callsite` is `function file:line`. Quoting follows RFC 4180, with plain line feeds. A missing value is an
//! empty field. Names come out so that neither a terminal nor a spreadsheet obeys them. It is large and slow to read: tools that know Parquet should open `events/` itself.

use super::source::{RowCounter, Source};
use super::{ExportProgress, Summary};
use crate::ExportError;
use crate::call_site::site_text;
use crate::output::Output;
use kizami_model::Call;
use kizami_trace::Trace;
use kizami_trace::schema::{EVENTS, fields_as_text};
use std::path::Path;

/// Writes all rows of `trace` to the file `out`, or to standard output if that is `-`.
pub fn export(trace: &Trace, out: &Path, progress: ExportProgress) -> Result<Summary, ExportError> {
    write(Source::of(trace)?, out, progress)
}

fn write(source: Source, out: &Path, progress: ExportProgress) -> Result<Summary, ExportError> {
    let sites: Vec<String> =
        source.definitions.callsites.iter().map(|site| harmless(&site_text(site))).collect();
    let mut output = Output::create(out)?;
    output.write(header().as_bytes())?;
    let mut counter = RowCounter::new(source.rows.count, progress);
    let mut line = String::new();
    for call in source.rows.calls {
        line.clear();
        append_line(&mut line, &call?, &sites);
        output.write(line.as_bytes())?;
        counter.row();
    }
    output.finish()?;
    let rows = counter.finish();
    Ok(Summary { rows, written: rows, ..Summary::default() })
}

fn header() -> String {
    EVENTS.iter().map(|column| column.field.name).collect::<Vec<_>>().join(",") + "\n"
}

/// A name that neither a terminal obeys nor a spreadsheet works out: control characters as they would be written in a
/// program, and a quote before what would begin a formula.
fn harmless(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}']) {
        harmless.push('\'');
    }
    for letter in text.chars() {
        match letter.is_control() {
            true => harmless.extend(letter.escape_unicode()),
            false => harmless.push(letter),
        }
    }
    harmless
}

fn append_line(line: &mut String, call: &Call, sites: &[String]) {
    let mut first = true;
    fields_as_text(call, |column, value| {
        if !std::mem::take(&mut first) {
            line.push(',');
        }
        let site = call.callsite.filter(|_| column == "callsite").map(|index| sites.get(index as usize));
        append_text(line, site.map_or(value, |site| site.map_or("", String::as_str)));
    });
    line.push('\n');
}

fn append_text(line: &mut String, text: &str) {
    if text.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{self, completes, row, send};
    use kizami_model::Peer;

    fn lines(source: Source) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("run.csv");
        let summary = write(source, &out, &|_, _| ()).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no partial file stays");
        let lines: Vec<String> = std::fs::read_to_string(out).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(summary.rows as usize, lines.len() - 1);
        lines
    }

    #[test]
    fn lines_are_as_written_here() {
        let calls = vec![
            Call { callsite: Some(0), ..send(row(0, "MPI_Isend", 10, 20), 2, 3, -1, 1 << 40) },
            Call { callsite: Some(1), ..completes(row(0, "MPI_Waitall", 30, 40), &[7, 9]) },
            Call { peer: Peer::Null, weight: 2.5, failed: true, ..row(1, "MPI_Recv", 5, 6) },
        ];
        assert_eq!(
            lines(made_up::source(calls, Vec::new())),
            [
                "rank,thread,start_ns,end_ns,op,comm,peer,tag,bytes_out,bytes_in,root,request,completes,\
                 callsite,recv_peer,recv_tag,any_source,any_tag,object,calls,inside_ns,failed,overhead_ns,off_core_ns,\
                 off_core_before_ns,weight",
                "0,0,10,20,MPI_Isend,2,3,-1,1099511627776,,,,,\"send<int, \"\"x\"\"> a, b.cc:42\",,,false,\
                 false,,1,,false,50,,,1",
                "0,0,30,40,MPI_Waitall,,,,,,,,7 9,main main.c:42,,,false,false,,1,,false,50,,,1",
                "1,0,5,6,MPI_Recv,,-1,,,,,,,,,,false,false,,1,,true,50,,,2.5",
            ]
        );
    }

    #[test]
    fn names_cannot_start_formulas() {
        assert_eq!(harmless("main a.c:1"), "main a.c:1");
        assert_eq!(harmless("=cmd|'/c calc'!A0"), "'=cmd|'/c calc'!A0");
        assert_eq!(harmless("\u{1b}]52;c;\u{7}x\n\u{9b}"), "\\u{1b}]52;c;\\u{7}x\\u{a}\\u{9b}");
    }

    #[test]
    fn every_row_is_a_line() {
        let rows = made_up::everything().rows.count;
        assert_eq!(lines(made_up::everything()).len() as u64, rows + 1);
    }

    #[test]
    fn nothing_stays_of_an_export_that_failed() {
        let mut source = made_up::everything();
        let broken = || ExportError::Export { path: "events".into(), what: "a test".to_owned() };
        source.rows.calls = Box::new(source.rows.calls.take(3).chain([Err(broken())]));
        let directory = tempfile::tempdir().unwrap();
        assert!(write(source, &directory.path().join("run.csv"), &|_, _| ()).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
