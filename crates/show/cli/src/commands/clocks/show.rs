//! How the clocks of a run look: a sentence for one host, a table for several.

use super::measured::{Offset, Report};
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_model::Length;
use kizami_trace::run::MessageOrder;
use std::io::{self, Write};

/// Prints it.
pub fn print(out: &mut impl Write, report: &Report<'_>, paint: Paint) -> io::Result<()> {
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
        some => format!("; {} could not be matched with certainty", quantity::counted(some, "message")),
    };
    let repairs = match order.repairs {
        0 => "none needed".to_owned(),
        some => format!(
            "{} in {}, {} at most; {}",
            quantity::count(some),
            quantity::counted(ranks, "rank"),
            quantity::duration(Length(order.largest_repair_ns)),
            quantity::counted(order.violations_left, "violation") + " left"
        ),
    };
    let violations = format!(
        "{} by wall clocks, {} by this trace's clock",
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
            host.bound_ns.map_or_else(String::new, |bound| quantity::duration(Length(bound))),
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
            [text, quantity::duration(Length(offset.error_ns))]
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
    fn repairs_are_listed_with_the_remainder() {
        let order = MessageOrder { repairs: 3, largest_repair_ns: 5_000_000, ..MessageOrder::default() };
        let facts = message_facts(&order, 1);
        assert_eq!(facts[2].1, "3 in 1 rank, 5.00 ms at most; 0 violations left");
        assert_eq!(message_facts(&MessageOrder::default(), 0)[2].1, "none needed");
    }
}
