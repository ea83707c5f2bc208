//! The tables of a report, for a terminal.

use super::verdict::percent;
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_explain::{CallTotal, MatrixCell, Report};
use kizami_model::Nanos;
use std::io::{self, Write};

/// Rows of a table unless all are asked for.
const ROWS_SHOWN: usize = 10;
/// Ranks along each side of the heat map.
const HEAT_MAP_RANKS: u32 = 32;
/// From nothing to most.
const HEAT: [char; 6] = ['.', '1', '2', '3', '4', '5'];

use Align::{Left, Right};

/// Prints all tables.
pub fn print(out: &mut impl Write, report: &Report, paint: Paint, all: bool) -> io::Result<()> {
    let most = if all { usize::MAX } else { ROWS_SHOWN };
    waits(out, report, paint, most)?;
    path(out, report, paint, most)?;
    calls(out, paint, "calls by time", &report.functions, most)?;
    calls(out, paint, "calls by place", &report.places, most)?;
    ranks(out, report, paint, most)?;
    matrix(out, report, paint)?;
    sizes(out, report, paint)?;
    rest(out, report, paint)
}

fn heading(out: &mut impl Write, paint: Paint, text: &str) -> io::Result<()> {
    writeln!(out, "\n{}", paint.heading(text))
}

fn more(out: &mut impl Write, shown: usize, there: usize) -> io::Result<()> {
    if there > shown { writeln!(out, "({} more; --all shows them)", there - shown) } else { Ok(()) }
}

fn time(ns: i64) -> String {
    quantity::duration(Nanos(ns))
}

fn waits(out: &mut impl Write, report: &Report, paint: Paint, most: usize) -> io::Result<()> {
    if report.waits_by_place.is_empty() {
        return Ok(());
    }
    heading(out, paint, "waiting by kind and place")?;
    let columns = [
        ("time", Right),
        ("share", Right),
        ("waits", Right),
        ("kind", Left),
        ("call", Left),
        ("worst rank", Left),
    ];
    let mut table = Table::new(&mut *out, paint, &columns);
    for wait in report.waits_by_place.iter().take(most) {
        let call =
            wait.at.as_ref().map_or(String::new(), |(function, place)| format!("{function} at {place}"));
        table.row(vec![
            time(wait.ns),
            percent(wait.share),
            quantity::count(wait.count),
            wait.pattern.name().to_owned(),
            call,
            format!("{} ({})", wait.worst_rank, time(wait.worst_ns)),
        ])?;
    }
    table.finish()?;
    more(out, most, report.waits_by_place.len())
}

fn path(out: &mut impl Write, report: &Report, paint: Paint, most: usize) -> io::Result<()> {
    heading(out, paint, "critical path")?;
    let columns =
        [("time", Right), ("share", Right), ("imbalance", Right), ("what", Left), ("most on", Left)];
    let mut table = Table::new(&mut *out, paint, &columns);
    for part in report.critical_path.iter().take(most) {
        table.row(vec![
            time(part.ns),
            percent(part.share),
            time(part.imbalance_ns),
            format!("{} at {}", part.what, part.place),
            format!("rank {}", part.rank),
        ])?;
    }
    table.finish()?;
    more(out, most, report.critical_path.len())
}

fn calls(
    out: &mut impl Write,
    paint: Paint,
    title: &str,
    totals: &[CallTotal],
    most: usize,
) -> io::Result<()> {
    heading(out, paint, title)?;
    let columns = [("time", Right), ("share", Right), ("calls", Right), ("bytes", Right), ("function", Left)];
    let mut table = Table::new(&mut *out, paint, &columns);
    for total in totals.iter().take(most) {
        let name = match &total.place {
            Some(place) => format!("{} at {place}", total.function),
            None => total.function.clone(),
        };
        table.row(vec![
            time(total.ns),
            percent(total.share),
            quantity::count(total.calls),
            quantity::bytes(total.bytes),
            name,
        ])?;
    }
    table.finish()?;
    more(out, most, totals.len())
}

fn ranks(out: &mut impl Write, report: &Report, paint: Paint, most: usize) -> io::Result<()> {
    heading(out, paint, "ranks, those that compute longest first")?;
    let columns = [("rank", Right), ("computation", Right), ("MPI", Right), ("waiting", Right), ("", Left)];
    let mut table = Table::new(&mut *out, paint, &columns);
    let mut order = report.rank_times.clone();
    order.sort_by_key(|rank| std::cmp::Reverse(rank.computation_ns));
    for rank in order.iter().take(most) {
        let far = report.outliers.contains(&rank.rank);
        table.row(vec![
            rank.rank.to_string(),
            time(rank.computation_ns),
            time(rank.mpi_ns),
            time(rank.waiting_ns),
            if far { "far from the others".to_owned() } else { String::new() },
        ])?;
    }
    table.finish()?;
    more(out, most, order.len())
}

/// Bytes from each rank (down) to each (across); several ranks share a cell if there are many.
fn matrix(out: &mut impl Write, report: &Report, paint: Paint) -> io::Result<()> {
    if report.matrix.is_empty() {
        return Ok(());
    }
    let ranks = report.rank_times.len() as u32;
    let per_cell = ranks.div_ceil(HEAT_MAP_RANKS).max(1);
    let side = ranks.div_ceil(per_cell) as usize;
    let mut cells = vec![0u64; side * side];
    let place = |cell: &MatrixCell| (cell.from / per_cell) as usize * side + (cell.to / per_cell) as usize;
    for cell in &report.matrix {
        if let Some(sum) = cells.get_mut(place(cell)) {
            *sum += cell.bytes.max(1);
        }
    }
    let highest = cells.iter().copied().max().unwrap_or(0).max(1);
    let each = if per_cell > 1 { format!(", {per_cell} ranks to a cell") } else { String::new() };
    let title =
        format!("bytes by sender (down) and receiver (across); 5 is {}{each}", quantity::bytes(highest));
    heading(out, paint, &title)?;
    for row in cells.chunks(side) {
        let heat = |bytes: &u64| match bytes {
            0 => HEAT[0],
            bytes => HEAT[1 + ((bytes * 4) / highest).min(4) as usize],
        };
        let line: Vec<String> = row.iter().map(|bytes| heat(bytes).to_string()).collect();
        writeln!(out, "{}", line.join(" "))?;
    }
    Ok(())
}

fn sizes(out: &mut impl Write, report: &Report, paint: Paint) -> io::Result<()> {
    if report.sizes.is_empty() {
        return Ok(());
    }
    heading(out, paint, "messages by size")?;
    let mut table = Table::new(&mut *out, paint, &[("size", Right), ("messages", Right), ("bytes", Right)]);
    for class in &report.sizes {
        let size = match class.from_bytes {
            0 => "0".to_owned(),
            from => format!("{} - {}", quantity::bytes(from), quantity::bytes(class.to_bytes)),
        };
        table.row(vec![size, quantity::count(class.messages), quantity::bytes(class.bytes)])?;
    }
    table.finish()
}

/// Loops, the network, and what was not understood.
fn rest(out: &mut impl Write, report: &Report, paint: Paint) -> io::Result<()> {
    heading(out, paint, "also")?;
    for phase in &report.phases {
        writeln!(
            out,
            "loop       {} iterations, marked by {}: median {}, shortest {}, longest {} (number {})",
            quantity::count(phase.iterations as u64),
            phase.place,
            time(phase.median_ns),
            time(phase.shortest_ns),
            time(phase.longest_ns),
            phase.longest
        )?;
    }
    let network = report.network;
    if network.latency_ns > 0.0 {
        let bandwidth = match network.bandwidth {
            0.0 => "bandwidth unknown".to_owned(),
            bandwidth => format!("{}/s", quantity::bytes(bandwidth as u64)),
        };
        writeln!(out, "network    fastest messages: {}, {bandwidth}", time(network.latency_ns as i64))?;
    }
    let left = &report.not_understood;
    if left.unmatched > 0 {
        let text = quantity::counted(left.unmatched, "call or message");
        writeln!(out, "unmatched  {text} whose partner is not in the trace")?;
    }
    if left.not_followed > 0 {
        let text = quantity::counted(left.not_followed, "call");
        writeln!(out, "unknown    {text} that may wait for others in a way that is not followed")?;
    }
    for problem in &left.problems {
        writeln!(out, "health     {problem}")?;
    }
    Ok(())
}
