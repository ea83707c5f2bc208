//! CSV: every row of a trace as a line, for tools that read nothing else.
//!
//! The columns are those of `events/` under the same names, in the same units. Numbers that stand for
//! something are spelled out where a reader would have to join a table: `op` is the function's name,
//! `callsite` is `function file:line`. Quoting follows RFC 4180, with plain line feeds. A missing value is an
//! empty field. It is large and slow to read: tools that know Parquet should open `events/` itself.

use super::output::Output;
use super::source::{RowCounter, Source};
use super::{ExportProgress, Summary};
use crate::schema::EVENTS;
use crate::{CallSite, StoreError, Trace};
use kizami_model::{Call, Peer};
use std::fmt::{Display, Write};
use std::path::Path;

/// Writes all rows of `trace` to the file `out`, or to standard output if that is `-`.
pub fn export(trace: &Trace, out: &Path, progress: ExportProgress) -> Result<Summary, StoreError> {
    write(Source::of(trace)?, out, progress)
}

fn write(source: Source, out: &Path, progress: ExportProgress) -> Result<Summary, StoreError> {
    let sites: Vec<String> = source.definitions.callsites.iter().map(site_text).collect();
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
    EVENTS.map(|field| field.name).join(",") + "\n"
}

/// A call site as one text: `function file:line`, as much of it as is known.
pub(super) fn site_text(site: &CallSite) -> String {
    match (&site.file, site.line) {
        (Some(file), Some(line)) => format!("{} {file}:{line}", site.function),
        (Some(file), None) => format!("{} {file}", site.function),
        (None, _) => site.function.clone(),
    }
}

fn append_line(line: &mut String, call: &Call, sites: &[String]) {
    let mut fields = Fields { line, first: true };
    let peer = |peer: Peer| peer.to_table();
    let site = call.callsite.and_then(|index| sites.get(index as usize));
    fields
        .value(call.rank)
        .value(call.thread)
        .value(call.start.0)
        .value(call.end.0)
        .value(call.op.name())
        .maybe(call.comm)
        .maybe(peer(call.peer))
        .maybe(call.tag)
        .maybe(call.bytes_out)
        .maybe(call.bytes_in)
        .maybe(peer(call.root))
        .maybe(call.request)
        .list(&call.completes)
        .text(site.map_or("", String::as_str))
        .maybe(peer(call.recv_peer))
        .maybe(call.recv_tag)
        .value(call.any_source)
        .value(call.any_tag)
        .maybe(call.object)
        .value(call.calls)
        .maybe(call.inside.map(|inside| inside.0))
        .value(call.failed)
        .value(call.overhead.0)
        .value(call.weight);
    line.push('\n');
}

/// The fields of one line.
struct Fields<'a> {
    line: &'a mut String,
    first: bool,
}

impl Fields<'_> {
    fn separate(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.line.push(',');
        }
    }

    /// A value whose text needs no quotes.
    fn value(&mut self, value: impl Display) -> &mut Self {
        self.separate();
        write!(self.line, "{value}").expect("writing to a string cannot fail");
        self
    }

    fn maybe(&mut self, value: Option<impl Display>) -> &mut Self {
        match value {
            Some(value) => self.value(value),
            None => self.value(""),
        }
    }

    fn list(&mut self, values: &[u64]) -> &mut Self {
        self.separate();
        for (index, value) in values.iter().enumerate() {
            let space = if index > 0 { " " } else { "" };
            write!(self.line, "{space}{value}").expect("writing to a string cannot fail");
        }
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.separate();
        if text.contains([',', '"', '\n', '\r']) {
            self.line.push('"');
            self.line.push_str(&text.replace('"', "\"\""));
            self.line.push('"');
        } else {
            self.line.push_str(text);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sample::{self, completes, row, send};

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
            lines(sample::source(calls, Vec::new())),
            [
                "rank,thread,start_ns,end_ns,op,comm,peer,tag,bytes_out,bytes_in,root,request,completes,\
                 callsite,recv_peer,recv_tag,any_source,any_tag,object,calls,inside_ns,failed,overhead_ns,weight",
                "0,0,10,20,MPI_Isend,2,3,-1,1099511627776,,,,,\"send<int, \"\"x\"\"> a, b.cc:42\",,,false,\
                 false,,1,,false,50,1",
                "0,0,30,40,MPI_Waitall,,,,,,,,7 9,main main.c:42,,,false,false,,1,,false,50,1",
                "1,0,5,6,MPI_Recv,,-1,,,,,,,,,,false,false,,1,,true,50,2.5",
            ]
        );
    }

    #[test]
    fn every_row_is_a_line() {
        let rows = sample::everything().rows.count;
        assert_eq!(lines(sample::everything()).len() as u64, rows + 1);
    }

    #[test]
    fn nothing_stays_of_an_export_that_failed() {
        let mut source = sample::everything();
        let broken = || StoreError::Damaged { path: "events".into(), what: "a test".to_owned() };
        source.rows.calls = Box::new(source.rows.calls.take(3).chain([Err(broken())]));
        let directory = tempfile::tempdir().unwrap();
        assert!(write(source, &directory.path().join("run.csv"), &|_, _| ()).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
