//! `kizami clocks`: how the clocks of a run's hosts were brought together, and how well.
//!
//! A run on one host needs one sentence. For several hosts there is a row for each whose clock was measured,
//! then what that did to messages which seem to arrive before they were sent.

use crate::arguments::ClocksArguments;
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use anyhow::Result;
use kizami_model::{Nanos, Rank};
use kizami_store::run::{ClockInfo, MessageOrder};
use kizami_store::{ClockKind, ClockRow, HostInfo, Trace};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    clocks: &'a ClockInfo,
    hosts: Vec<HostReport>,
    /// Ranks whose times were moved.
    repaired_ranks: Vec<u32>,
}

/// One host. Offsets are those of its root's clock from its own.
#[derive(Debug, Serialize)]
struct HostReport {
    host: u32,
    name: String,
    /// The host whose clock its times are on.
    root: Option<u32>,
    /// The host it asked.
    reference: Option<u32>,
    /// The rank that asked.
    rank: Option<u32>,
    /// What each round found, in order.
    rounds: Vec<Offset>,
    drift_ppb: Option<i64>,
    drift_error_ppb: Option<f64>,
    bound_ns: Option<i64>,
}

/// An offset with its bound.
#[derive(Clone, Copy, Debug, Serialize)]
struct Offset {
    at_ns: i64,
    offset_ns: i64,
    error_ns: i64,
}

/// Prints how the clocks were brought together.
pub fn run(arguments: &ClocksArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.trace)?;
    let rows = trace.clocks()?;
    let hosts = trace.definitions()?.hosts;
    let ranks: BTreeSet<Rank> = trace.repairs()?.iter().map(|repair| repair.rank).collect();
    let report = Report {
        clocks: &trace.run().clocks,
        hosts: hosts.iter().map(|host| host_report(host, &rows)).collect(),
        repaired_ranks: ranks.into_iter().map(|rank| rank.0).collect(),
    };
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        print(&mut out, &report, Paint::stdout())?;
    }
    Ok(0)
}

fn host_report(host: &HostInfo, rows: &[ClockRow]) -> HostReport {
    let own = |kind: ClockKind| rows.iter().filter(move |row| row.host == host.index && row.kind == kind);
    let offset = |row: &ClockRow| {
        Some(Offset { at_ns: row.at?.0, offset_ns: row.root_offset?.0, error_ns: row.root_error?.0 })
    };
    let epochs: Vec<&ClockRow> = own(ClockKind::Epoch).collect();
    let whole = own(ClockKind::Host).next();
    let rounds: Vec<Offset> = epochs.iter().filter_map(|row| offset(row)).collect();
    let drift_error_ppb = rounds.first().zip(rounds.last()).and_then(|(first, last)| {
        let seconds = Nanos(last.at_ns - first.at_ns).as_secs_f64();
        (seconds > 0.0).then(|| (first.error_ns + last.error_ns) as f64 / seconds)
    });
    HostReport {
        host: host.index,
        name: host.name.clone(),
        root: whole.and_then(|row| row.reference_host),
        reference: epochs.first().and_then(|row| row.reference_host),
        rank: whole.and_then(|row| row.rank).map(|rank| rank.0),
        rounds,
        drift_ppb: whole.and_then(|row| row.drift_ppb),
        drift_error_ppb,
        bound_ns: whole.and_then(|row| row.root_error).map(|bound| bound.0),
    }
}

fn print(out: &mut impl Write, report: &Report<'_>, paint: Paint) -> io::Result<()> {
    let label = |name: &str| paint.label(&format!("{name:<9}"));
    writeln!(out, "{} {}", label("clock"), report.clocks.note)?;
    if report.hosts.len() < 2 {
        return Ok(());
    }
    if let Some(order) = &report.clocks.messages {
        for (name, text) in message_facts(order, report.repaired_ranks.len() as u64) {
            writeln!(out, "{} {text}", label(name))?;
        }
    }
    writeln!(out)?;
    print_hosts(out, report, paint)
}

fn message_facts(order: &MessageOrder, ranks: u64) -> Vec<(&'static str, String)> {
    let doubtful = match order.doubtful {
        0 => String::new(),
        some => format!("; {} could not be matched for sure", quantity::counted(some, "message")),
    };
    let repairs = match order.repairs {
        0 => "none needed".to_owned(),
        some => format!(
            "{} in {}, {} at most; {}",
            quantity::count(some),
            quantity::counted(ranks, "rank"),
            quantity::duration(Nanos(order.largest_repair_ns)),
            quantity::counted(order.violations_left, "violation") + " left"
        ),
    };
    let violations = format!(
        "{} by wall clocks, {} by the clock of this trace",
        quantity::count(order.violations_wall_clock),
        quantity::count(order.violations)
    );
    vec![
        ("messages", format!("{} matched{doubtful}", quantity::count(order.matched))),
        ("violated", violations),
        ("repairs", repairs),
    ]
}

fn print_hosts(out: &mut impl Write, report: &Report<'_>, paint: Paint) -> io::Result<()> {
    let columns = [
        ("host", Align::Left),
        ("asked", Align::Left),
        ("rank", Align::Right),
        ("rounds", Align::Right),
        ("first offset s", Align::Right),
        ("+-", Align::Right),
        ("last offset s", Align::Right),
        ("+-", Align::Right),
        ("drift ppm", Align::Right),
        ("+-", Align::Right),
        ("worst bound", Align::Right),
    ];
    let name = |host: u32| report.hosts.get(host as usize).map_or("?", |host| &host.name).to_owned();
    let is_root = |index: u32| report.hosts.iter().any(|host| host.root == Some(index));
    let mut table = Table::new(&mut *out, paint, &columns);
    for host in &report.hosts {
        let asked = match host.reference {
            Some(reference) => name(reference),
            None if is_root(host.host) => "(root)".to_owned(),
            None => "(wall clock)".to_owned(),
        };
        let [first, first_error] = offset_cells(host.rounds.first().copied());
        let [last, last_error] = offset_cells(host.rounds.last().copied());
        table.row(vec![
            host.name.clone(),
            asked,
            host.rank.map_or_else(String::new, |rank| rank.to_string()),
            host.rounds.len().to_string(),
            first,
            first_error,
            last,
            last_error,
            host.drift_ppb.map_or_else(String::new, |ppb| format!("{:.3}", ppb as f64 / 1e3)),
            host.drift_error_ppb.map_or_else(String::new, |ppb| format!("{:.3}", ppb / 1e3)),
            host.bound_ns.map_or_else(String::new, |bound| quantity::duration(Nanos(bound))),
        ])?;
    }
    table.finish()
}

/// Seconds to the nanosecond: what changes over a run is in the last digits.
fn offset_cells(offset: Option<Offset>) -> [String; 2] {
    match offset {
        None => [String::new(), String::new()],
        Some(offset) => {
            let (seconds, rest) = (offset.offset_ns / 1_000_000_000, offset.offset_ns % 1_000_000_000);
            let sign = if offset.offset_ns < 0 { "-" } else { "" };
            let text = format!("{sign}{}.{:09}", seconds.unsigned_abs(), rest.unsigned_abs());
            [text, quantity::duration(Nanos(offset.error_ns))]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_keep_their_last_digits() {
        let cells = |offset_ns| offset_cells(Some(Offset { at_ns: 0, offset_ns, error_ns: 512 }));
        assert_eq!(cells(-893_000_000_017), ["-893.000000017".to_owned(), "512 ns".to_owned()]);
        assert_eq!(cells(-5)[0], "-0.000000005");
        assert_eq!(cells(1_500_000_000)[0], "1.500000000");
    }

    #[test]
    fn repairs_are_told_with_what_is_left() {
        let order = MessageOrder { repairs: 3, largest_repair_ns: 5_000_000, ..MessageOrder::default() };
        let facts = message_facts(&order, 1);
        assert_eq!(facts[2].1, "3 in 1 rank, 5.00 ms at most; 0 violations left");
        assert_eq!(message_facts(&MessageOrder::default(), 0)[2].1, "none needed");
    }
}
