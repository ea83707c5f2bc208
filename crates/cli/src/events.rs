//! `kizami events`: the rows of a trace, as a table or as JSON, one object a line.
//!
//! Rows are read and printed as they come, so the output of any length needs little memory, and a limit ends
//! the reading.

use crate::arguments::EventsArguments;
use crate::failure::UsageError;
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use anyhow::Result;
use kizami_model::{Call, Nanos, Op, Peer, Rank};
use kizami_store::{CallSite, Communicator, Definitions, RankSelection, Trace};
use serde::Serialize;
use std::io::{self, BufWriter, Write};

const ROWS_OF_A_TABLE: u64 = 100;
/// Where weights stand: behind what was called.
const WEIGHT_COLUMN: usize = 4;

/// Prints the rows that were asked for.
pub fn run(arguments: &EventsArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.trace)?;
    let filter = Filter::new(arguments, &trace)?;
    let definitions = trace.definitions()?;
    let ranks = arguments.rank.map_or(RankSelection::All, |rank| RankSelection::One(Rank(rank)));
    let limit = match arguments.limit {
        Some(0) => u64::MAX,
        Some(limit) => limit,
        None if arguments.json => u64::MAX,
        None => ROWS_OF_A_TABLE,
    };
    let wanted = trace.calls(ranks)?.filter(|call| call.as_ref().map_or(true, |call| filter.keeps(call)));
    let mut wanted = wanted.peekable();
    let out = BufWriter::new(io::stdout().lock());
    let weighted = trace.run().reduced.is_some();
    let mut rows = if arguments.json { Rows::json(out) } else { Rows::table(out, weighted) };
    let mut printed = 0;
    while printed < limit
        && let Some(call) = wanted.next()
    {
        rows.print(&call?, &definitions)?;
        printed += 1;
    }
    rows.finish()?;
    if printed == 0 {
        eprintln!(
            "no call fits; the trace holds {} in all",
            quantity::counted(trace.run().totals.events, "row")
        );
    } else if arguments.limit.is_none() && wanted.peek().is_some() {
        eprintln!("only the first {printed} rows; --limit 0 shows all");
    }
    Ok(0)
}

/// Which rows are wanted.
struct Filter {
    op: Option<Op>,
    from: Nanos,
    to: Nanos,
}

impl Filter {
    fn new(arguments: &EventsArguments, trace: &Trace) -> Result<Filter, UsageError> {
        let ranks = trace.run().ranks;
        if let Some(rank) = arguments.rank.filter(|rank| *rank >= ranks) {
            let last = ranks.saturating_sub(1);
            return Err(UsageError(format!(
                "there is no rank {rank}; the ranks of this trace are 0 to {last}"
            )));
        }
        let op = arguments.op.as_deref().map(function_named).transpose()?;
        let from = arguments.from.unwrap_or(Nanos(i64::MIN));
        Ok(Filter { op, from, to: arguments.to.unwrap_or(Nanos(i64::MAX)) })
    }

    fn keeps(&self, call: &Call) -> bool {
        self.op.is_none_or(|op| call.op == op) && call.end >= self.from && call.start <= self.to
    }
}

/// `MPI_Send`, `Send` and `send` are the same.
fn function_named(name: &str) -> Result<Op, UsageError> {
    let short = name.strip_prefix("MPI_").or_else(|| name.strip_prefix("mpi_")).unwrap_or(name);
    kizami_model::function::functions()
        .iter()
        .find(|function| function.name["MPI_".len()..].eq_ignore_ascii_case(short))
        .map(|function| function.op)
        .ok_or_else(|| {
            UsageError(format!(
                "there is no MPI function {name}; `kizami info --all` lists those that were called"
            ))
        })
}

/// The two ways to print rows.
enum Rows<W: Write> {
    Json(W),
    /// With a column of weights, or without.
    Table(Table<W>, bool),
}

impl<W: Write> Rows<W> {
    fn json(out: W) -> Rows<W> {
        Rows::Json(out)
    }

    fn table(out: W, weighted: bool) -> Rows<W> {
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
        Rows::Table(Table::new(out, Paint::stdout(), &columns), weighted)
    }

    fn print(&mut self, call: &Call, definitions: &Definitions) -> io::Result<()> {
        match self {
            Rows::Json(out) => {
                serde_json::to_writer(&mut *out, &Row::new(call, definitions))?;
                out.write_all(b"\n")
            }
            Rows::Table(table, weighted) => {
                let mut cells = as_cells(call, definitions);
                if *weighted {
                    cells.insert(WEIGHT_COLUMN, weight(call.weight));
                }
                table.row(cells)
            }
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Rows::Json(mut out) => out.flush(),
            Rows::Table(table, _) => table.finish(),
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
        quantity::moment(call.start),
        quantity::duration(call.end - call.start),
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

fn peer_name(peer: Peer) -> Option<String> {
    match peer {
        Peer::None => None,
        Peer::Rank(rank) => Some(rank.to_string()),
        Peer::Null => Some("null".to_owned()),
        Peer::Any => Some("any".to_owned()),
        Peer::Unknown => Some("?".to_owned()),
    }
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

fn communicator<'a>(call: &Call, definitions: &'a Definitions) -> Option<&'a Communicator> {
    definitions.communicators.get(call.comm? as usize)
}

fn communicator_name(communicator: &Communicator) -> String {
    match &communicator.name {
        Some(name) if !name.is_empty() => name.strip_prefix("MPI_COMM_").unwrap_or(name).to_owned(),
        _ if communicator.index == 0 => "WORLD".to_owned(),
        _ => format!("{}#{}", communicator.kind.name(), communicator.index),
    }
}

fn callsite<'a>(call: &Call, definitions: &'a Definitions) -> Option<&'a CallSite> {
    definitions.callsites.get(call.callsite? as usize)
}

/// `main stencil2d.c:88`: the function and the file's own name; the whole path is in the JSON.
fn site_name(site: &CallSite) -> String {
    match (&site.file, site.line) {
        (Some(file), Some(line)) => format!("{} {}:{line}", site.function, base_name(file)),
        (Some(file), None) => format!("{} {}", site.function, base_name(file)),
        _ => site.function.clone(),
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// One row as JSON; the fields stand in the order of the trace's own tables.
#[derive(Serialize)]
struct Row<'a> {
    rank: u32,
    thread: u32,
    start_ns: i64,
    end_ns: i64,
    op: &'static str,
    calls: u32,
    inside_ns: Option<i64>,
    comm: Option<u32>,
    comm_name: Option<String>,
    peer: Option<PeerValue>,
    tag: Option<i32>,
    recv_peer: Option<PeerValue>,
    recv_tag: Option<i32>,
    any_source: bool,
    any_tag: bool,
    bytes_out: Option<u64>,
    bytes_in: Option<u64>,
    root: Option<PeerValue>,
    request: Option<u64>,
    completes: &'a [u64],
    object: Option<&'a str>,
    callsite: Option<Place<'a>>,
    failed: bool,
    overhead_ns: i64,
    weight: f64,
}

/// A rank as a number; whatever else a peer may be, as a word.
#[derive(Serialize)]
#[serde(untagged)]
enum PeerValue {
    Rank(u32),
    Word(String),
}

impl PeerValue {
    fn of(peer: Peer) -> Option<PeerValue> {
        match peer {
            Peer::Rank(rank) => Some(PeerValue::Rank(rank.0)),
            other => peer_name(other).map(PeerValue::Word),
        }
    }
}

#[derive(Serialize)]
struct Place<'a> {
    function: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    module: Option<&'a str>,
}

impl<'a> Row<'a> {
    fn new(call: &'a Call, definitions: &'a Definitions) -> Row<'a> {
        let place = |site: &'a CallSite| Place {
            function: &site.function,
            file: site.file.as_deref(),
            line: site.line,
            module: site.module.as_deref(),
        };
        let object = call.object.and_then(|index| definitions.objects.get(index as usize));
        Row {
            rank: call.rank.0,
            thread: call.thread.0,
            start_ns: call.start.0,
            end_ns: call.end.0,
            op: call.op.name(),
            calls: call.calls,
            inside_ns: call.inside.map(|inside| inside.0),
            comm: call.comm,
            comm_name: communicator(call, definitions).map(communicator_name),
            peer: PeerValue::of(call.peer),
            tag: call.tag,
            recv_peer: PeerValue::of(call.recv_peer),
            recv_tag: call.recv_tag,
            any_source: call.any_source,
            any_tag: call.any_tag,
            bytes_out: call.bytes_out,
            bytes_in: call.bytes_in,
            root: PeerValue::of(call.root),
            request: call.request,
            completes: &call.completes,
            object: object.map(|object| object.name.as_str()),
            callsite: callsite(call, definitions).map(place),
            failed: call.failed,
            overhead_ns: call.overhead.0,
            weight: call.weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::ThreadIndex;

    fn call() -> Call {
        Call {
            comm: None,
            peer: Peer::Rank(Rank(3)),
            tag: Some(7),
            recv_peer: Peer::Null,
            recv_tag: Some(8),
            bytes_out: Some(64),
            overhead: Nanos(40),
            ..kizami_sample::call("MPI_Sendrecv", 1, 1_500_000_000, 1_500_012_345)
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

    #[test]
    fn json_has_numbers_for_ranks_and_words_for_the_rest() {
        let definitions = Definitions::default();
        let json = serde_json::to_value(Row::new(&call(), &definitions)).unwrap();
        assert_eq!(json["peer"], 3);
        assert_eq!(json["recv_peer"], "null");
        assert_eq!(json["root"], serde_json::Value::Null);
        assert_eq!(json["op"], "MPI_Sendrecv");
    }

    #[test]
    fn functions_are_found_as_people_type_them() {
        for name in ["MPI_Send", "Send", "send", "mpi_send"] {
            assert_eq!(function_named(name).unwrap().name(), "MPI_Send");
        }
        assert!(function_named("Sennd").unwrap_err().to_string().contains("Sennd"));
    }
}
