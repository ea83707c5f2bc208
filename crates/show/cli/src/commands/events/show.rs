//! The two ways to print rows: a table, and JSON.

use super::json::Row;
use super::names::{callers, callsite, communicator, communicator_name, peer_name};
use crate::show::json::{self, Versioned};
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use crate::show::text::Text;
use kizami_model::{Call, Length, Moment};
use kizami_trace::{CallSite, Definitions, PathFrame, function_name};
use std::io::{self, Write};

/// Where weights stand: behind what was called.
const WEIGHT_COLUMN: usize = 4;

/// The two ways to print rows.
pub enum Rows<W: Write> {
    Json {
        out: W,
        paths: bool,
    },
    /// With a column of weights, or without.
    Table {
        table: Table<Text<W>>,
        paths: bool,
        weighted: bool,
    },
}

impl<W: Write> Rows<W> {
    /// One object a line.
    pub fn json(out: W, paths: bool) -> Rows<W> {
        Rows::Json { out, paths }
    }

    /// A table, with a column of weights if rows stand for several calls.
    pub fn table(out: W, paths: bool, weighted: bool) -> Rows<W> {
        let mut columns = vec![
            ("rank", Align::Right),
            ("start s", Align::Right),
            ("took", Align::Right),
            ("call", Align::Left),
            ("peer", Align::Right),
            ("tag", Align::Right),
            ("out B", Align::Right),
            ("in B", Align::Right),
            ("comm", Align::Left),
            ("request", Align::Left),
            ("where", Align::Left),
        ];
        if weighted {
            columns.insert(WEIGHT_COLUMN, ("weight", Align::Right));
        }
        Rows::Table { table: Table::new(Text(out), Paint::stdout(), &columns), paths, weighted }
    }

    /// Prints one row.
    pub fn print(&mut self, call: &Call, definitions: &Definitions) -> io::Result<()> {
        match self {
            Rows::Json { out, paths } => {
                let row = Versioned::new(json::EVENTS, Row::new(call, definitions, *paths));
                writeln!(out, "{}", json::line(&row)?)
            }
            Rows::Table { table, paths, weighted } => {
                let mut cells = as_cells(call, definitions);
                if *paths && let Some(place) = cells.last_mut() {
                    callers(call, definitions)
                        .for_each(|frame| place.push_str(&format!(" <- {}", frame_name(frame))));
                }
                if *weighted {
                    cells.insert(WEIGHT_COLUMN, weight(call.weight));
                }
                table.row(cells)
            }
        }
    }

    /// Prints what was held back.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Rows::Json { mut out, .. } => out.flush(),
            Rows::Table { table, .. } => table.finish(),
        }
    }
}

fn as_cells(call: &Call, definitions: &Definitions) -> Vec<String> {
    let rank =
        if call.thread.0 == 0 { call.rank.to_string() } else { format!("{}.{}", call.rank, call.thread) };
    let mut name = call.op.name().to_owned();
    if call.calls > 1 {
        name.push_str(&format!(" x{}", call.calls));
    }
    if call.failed {
        name.push_str(" (failed)");
    }
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    vec![
        rank,
        quantity::moment(Moment(call.start.0)),
        quantity::duration(Length((call.end - call.start).0)),
        name,
        peers(call),
        tags(call),
        number(call.bytes_out),
        number(call.bytes_in),
        communicator(call, definitions).map(communicator_name).unwrap_or_default(),
        requests(call),
        callsite(call, definitions).map(site_name).unwrap_or_default(),
    ]
}

/// For how many calls a row stands, in as many digits as matter.
fn weight(weight: f64) -> String {
    if weight == weight.round() { format!("{weight:.0}") } else { format!("{weight:.1}") }
}

/// `3`; `3<-1` for a send to 3 with a receive from 1; `root 0` for a collective.
fn peers(call: &Call) -> String {
    match (peer_name(call.peer), peer_name(call.recv_peer), peer_name(call.root)) {
        (Some(to), Some(from), _) => format!("{to}<-{from}"),
        (Some(peer), None, _) | (None, Some(peer), _) => peer,
        (None, None, Some(root)) => format!("root {root}"),
        (None, None, None) => String::new(),
    }
}

fn tags(call: &Call) -> String {
    match (call.tag, call.recv_tag) {
        (Some(sent), Some(received)) if sent != received => format!("{sent}<-{received}"),
        (Some(tag), _) | (None, Some(tag)) => tag.to_string(),
        (None, None) => String::new(),
    }
}

/// `+7` for a request that begins, `-7` for one that ends.
fn requests(call: &Call) -> String {
    const SHOWN: usize = 4;
    let begun = call.request.iter().map(|request| format!("+{request}"));
    let ended = call.completes.iter().take(SHOWN).map(|request| format!("-{request}"));
    let mut text = begun.chain(ended).collect::<Vec<_>>().join(" ");
    if call.completes.len() > SHOWN {
        text.push_str(&format!(" ({} in all)", call.completes.len()));
    }
    text
}

/// `main stencil2d.c:88`: the function and the file's own name; the whole path is in the JSON.
fn site_name(site: &CallSite) -> String {
    place_name(&site.function, site.file.as_deref(), site.line)
}

fn frame_name(frame: &PathFrame) -> String {
    place_name(&frame.function, frame.file.as_deref(), frame.line)
}

fn place_name(function: &str, file: Option<&str>, line: Option<u32>) -> String {
    let function = function_name::shown(function);
    match (file, line) {
        (Some(file), Some(line)) => format!("{function} {}:{line}", base_name(file)),
        (Some(file), None) => format!("{function} {}", base_name(file)),
        _ => function,
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::{Length, Peer, Rank, ThreadIndex};

    fn call() -> Call {
        Call {
            comm: None,
            peer: Peer::Rank(Rank(3)),
            tag: Some(7),
            recv_peer: Peer::Null,
            recv_tag: Some(8),
            bytes_out: Some(64),
            overhead: Length(40),
            ..kizami_testing::call("MPI_Sendrecv", 1, 1_500_000_000, 1_500_012_345)
        }
    }

    #[test]
    fn a_row_reads_well() {
        let cells = as_cells(&call(), &Definitions::default());
        let expected = ["1", "1.5000000", "12.3 us", "MPI_Sendrecv", "3<-null", "7<-8", "64", "", "", "", ""];
        assert_eq!(cells, expected);
    }

    #[test]
    fn folded_failed_and_threaded_rows_say_so() {
        let polls = Call { thread: ThreadIndex(2), calls: 900, failed: true, ..call() };
        let cells = as_cells(&polls, &Definitions::default());
        assert_eq!(cells[0], "1.2");
        assert_eq!(cells[3], "MPI_Sendrecv x900 (failed)");
    }

    #[test]
    fn weights_have_the_digits_that_matter() {
        assert_eq!([1.0, 2.25, 1234.5678].map(weight), ["1", "2.2", "1234.6"]);
    }

    #[test]
    fn requests_show_where_they_begin_and_end() {
        assert_eq!(requests(&Call { request: Some(4), ..call() }), "+4");
        assert_eq!(requests(&Call { completes: vec![4, 5], ..call() }), "-4 -5");
        assert_eq!(requests(&Call { completes: (0..9).collect(), ..call() }), "-0 -1 -2 -3 (9 in all)");
    }
}
