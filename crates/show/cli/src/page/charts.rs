//! The charts of a page, as inline SVG of bounded size.

use super::columns::{Column, Columns, text};
use super::markup::Markup;
use crate::sections::heat::{HeatMap, LEVELS};
use crate::sections::tables::{size, time};
use crate::show::functions;
use crate::show::quantity::{self, percent};
use kizami_explain::{RankTime, Report};
use kizami_phrases::location::call_at;

/// Columns of the chart of ranks: more ranks share them.
const MOST_COLUMNS: usize = 128;
/// Parts of the critical path that are drawn one by one, if they are wide enough to be seen.
const MOST_PARTS: usize = 12;
const THINNEST_PART: f64 = 0.005;
/// Cells along each side of the heat map, how wide it is at most, and the largest cell.
const HEAT_MAP_SIDE: u32 = 64;
const HEAT_MAP_WIDTH: f64 = 448.0;
const LARGEST_CELL: f64 = 36.0;

/// Time of ranks: computation, other MPI and waiting on top of each other.
pub fn ranks(out: &mut Markup, report: &Report) {
    let together = report.rank_times.len().div_ceil(MOST_COLUMNS).max(1);
    let inside = functions::together(report.functions.iter().map(|total| &total.function));
    let columns: Vec<Column> =
        report.rank_times.chunks(together).map(|ranks| rank_column(ranks, inside)).collect();
    let highest = report.rank_times.iter().map(|rank| rank.computation_ns + rank.mpi_ns).max().unwrap_or(0);
    out.raw("<figure>\n<figcaption>");
    let other = if inside == "MPI" { "MPI, not waiting" } else { "calls, not waiting" };
    legend(out, &[("computation", "computation"), ("other", other), ("waiting", "waiting")]);
    if together > 1 {
        out.raw("<span>").text(&format!("{together} ranks per column, averaged; "));
        out.raw("<i class=\"mark\"></i> longest computation among them</span>");
    }
    out.raw("</figcaption>\n");
    let label = format!(
        "time of {} by computation, {inside} and waiting",
        quantity::counted(u64::from(report.ranks), "rank")
    );
    Columns { label, axis: "rank", highest: highest as f64, say: &|ns| time(ns as i64), columns }.write(out);
    out.raw("</figure>\n");
}

/// The average of some ranks.
fn rank_column(ranks: &[RankTime], inside: &str) -> Column {
    let average =
        |of: fn(&RankTime) -> i64| ranks.iter().map(|rank| of(rank) as f64).sum::<f64>() / ranks.len() as f64;
    let computation = average(|rank| rank.computation_ns);
    let waiting = average(|rank| rank.waiting_ns.min(rank.mpi_ns));
    let other = average(|rank| (rank.mpi_ns - rank.waiting_ns).max(0));
    let (first, last) = (ranks[0].rank, ranks[ranks.len() - 1].rank);
    let which =
        if first == last { format!("rank {first}") } else { format!("ranks {first} to {last}, average") };
    let [computing, others, idle] = [computation, other, waiting].map(|ns| time(ns as i64));
    let longest = ranks.iter().map(|rank| rank.computation_ns).max().unwrap_or(0) as f64;
    Column {
        label: first.to_string(),
        title: format!("{which}: computation {computing}, waiting {idle}, other {inside} {others}"),
        parts: vec![("computation", computation), ("other", other), ("waiting", waiting)],
        mark: (first != last).then_some(longest),
    }
}

/// The critical path as one bar, its parts numbered as in the table.
pub fn path(out: &mut Markup, report: &Report) {
    const WIDTH: f64 = 1000.0;
    out.raw("<figure class=\"wide\">\n<figcaption>");
    legend(out, &[("computation", "computation"), ("other", "inside calls"), ("rest", "small parts")]);
    out.raw("</figcaption>\n<svg class=\"chart wide\" role=\"img\" viewBox=\"0 0 1000 34\" aria-label=\"");
    out.raw("parts of the critical path, as in the table\">\n");
    let drawn = report.critical_path.iter().take(MOST_PARTS).take_while(|part| part.share >= THINNEST_PART);
    let mut x = 0.0;
    for (number, part) in (1..).zip(drawn) {
        let class = if functions::is_name(&part.what) { "other" } else { "computation" };
        let what = call_at(&part.what, &part.place);
        let title = format!("{number}. {what}: {}, {}", time(part.ns), percent(part.share));
        segment(out, class, &title, x, WIDTH * part.share);
        let label =
            if part.share > 0.08 { format!("{number}: {}", percent(part.share)) } else { number.to_string() };
        if part.share > 0.018 {
            out.raw("<g class=\"on-").raw(class).raw("\">");
            text(out, "middle", x + WIDTH * part.share / 2.0, 21.0, &label);
            out.raw("</g>");
        }
        x += WIDTH * part.share;
    }
    if WIDTH - x > 1.0 {
        segment(out, "rest", &format!("the rest: {}", percent(1.0 - x / WIDTH)), x, WIDTH - x);
    }
    out.raw("</svg>\n</figure>\n");
}

/// A part of a bar, with a gap behind it.
fn segment(out: &mut Markup, class: &'static str, title: &str, x: f64, width: f64) {
    out.raw("<rect class=\"")
        .raw(class)
        .raw("\" x=\"")
        .number(x)
        .raw("\" width=\"")
        .number((width - 2.0).max(1.0));
    out.raw("\" height=\"34\" rx=\"2\"><title>").text(title).raw("</title></rect>\n");
}

/// Who sends how much to whom.
pub fn matrix(out: &mut Markup, report: &Report) {
    const LEFT: f64 = 52.0;
    const ABOVE: f64 = 34.0;
    let Some(map) = HeatMap::of(report, HEAT_MAP_SIDE) else { return };
    let cell = (HEAT_MAP_WIDTH / map.side as f64).min(LARGEST_CELL);
    let side = cell * map.side as f64;
    out.raw("<figure>\n<figcaption>");
    heat_legend(out, &map);
    out.raw("</figcaption>\n<svg class=\"chart\" role=\"img\" aria-label=\"bytes by sender and receiver\" width=\"");
    out.number(side + LEFT + 2.0).raw("\" height=\"").number(side + ABOVE + 2.0).raw("\" viewBox=\"0 0 ");
    out.number(side + LEFT + 2.0).raw(" ").number(side + ABOVE + 2.0).raw("\">\n");
    out.raw("<rect class=\"field\" x=\"")
        .number(LEFT)
        .raw("\" y=\"")
        .number(ABOVE)
        .raw("\" width=\"")
        .number(side);
    out.raw("\" height=\"").number(side).raw("\"/>\n");
    for (row, cells) in map.rows().enumerate() {
        for (column, sent) in cells.iter().enumerate().filter(|(_, sent)| sent.messages > 0) {
            out.raw("<rect class=\"")
                .raw(heat_class(map.level(sent)))
                .raw("\" x=\"")
                .number(LEFT + cell * column as f64);
            out.raw("\" y=\"")
                .number(ABOVE + cell * row as f64)
                .raw("\" width=\"")
                .number(cell)
                .raw("\" height=\"");
            out.number(cell).raw("\"><title>");
            let messages = quantity::counted(sent.messages, "message");
            let (from, to) = (ranks_of(&map, report, row), ranks_of(&map, report, column));
            out.text(&format!("{from} to {to}: {messages}, {}", quantity::bytes(sent.bytes)));
            out.raw("</title></rect>\n");
        }
    }
    let every = (36.0 / cell).ceil().max(1.0) as usize;
    for index in (0..map.side).step_by(every) {
        let (at, first) = (cell * (index as f64 + 0.5), (index as u32 * map.ranks_per_cell).to_string());
        text(out, "middle", LEFT + at, ABOVE - 5.0, &first);
        text(out, "end", LEFT - 6.0, ABOVE + at + 4.0, &first);
    }
    text(out, "start", LEFT, 11.0, "to rank →");
    text(out, "end", LEFT - 6.0, ABOVE - 5.0, "from ↓");
    out.raw("</svg>\n</figure>\n");
}

/// The ranks along one side of a cell.
fn ranks_of(map: &HeatMap, report: &Report, index: usize) -> String {
    let first = index as u32 * map.ranks_per_cell;
    let last = (first + map.ranks_per_cell).min(report.ranks.max(first + 1)) - 1;
    if first == last { format!("rank {first}") } else { format!("ranks {first}-{last}") }
}

fn heat_legend(out: &mut Markup, map: &HeatMap) {
    out.raw("<span>bytes up to</span>");
    for level in 1..=LEVELS {
        let bytes = map.highest as f64 * f64::from(level) / f64::from(LEVELS);
        out.raw("<span><i class=\"").raw(heat_class(level)).raw("\"></i>");
        out.text(&quantity::bytes(bytes as u64)).raw("</span>");
    }
    if map.ranks_per_cell > 1 {
        out.raw("<span>").text(&format!("{0} × {0} ranks per cell", map.ranks_per_cell)).raw("</span>");
    }
}

fn heat_class(level: u8) -> &'static str {
    match level {
        0 | 1 => "heat1",
        2 => "heat2",
        3 => "heat3",
        4 => "heat4",
        _ => "heat5",
    }
}

/// How many messages there are of each size, and how much they carry.
pub fn sizes(out: &mut Markup, report: &Report) {
    let messages: u64 = report.sizes.iter().map(|class| class.messages).sum();
    let bytes: u64 = report.sizes.iter().map(|class| class.bytes).sum();
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let highest =
        report.sizes.iter().map(|class| share(class.messages, messages).max(share(class.bytes, bytes)));
    let highest = highest.fold(0.0, f64::max);
    let mut columns = Vec::new();
    for class in &report.sizes {
        let (of_messages, of_bytes) = (share(class.messages, messages), share(class.bytes, bytes));
        let size = size(class);
        let column = |label: String, what: &str, class: &'static str, part: f64| Column {
            label,
            title: format!("{size}: {} of all {what}", percent(part)),
            parts: vec![(class, part)],
            mark: None,
        };
        columns.push(column(quantity::bytes(class.from_bytes), "messages", "computation", of_messages));
        columns.push(column(String::new(), "bytes", "other", of_bytes));
    }
    if columns.is_empty() {
        return;
    }
    out.raw("<figure>\n<figcaption>");
    legend(out, &[("computation", "share of messages"), ("other", "share of bytes")]);
    out.raw("</figcaption>\n");
    let label = "share of messages and of bytes by size".to_owned();
    Columns { label, axis: "size, at least", highest, say: &percent, columns }.write(out);
    out.raw("</figure>\n");
}

pub fn legend(out: &mut Markup, entries: &[(&'static str, &'static str)]) {
    for (class, name) in entries {
        out.raw("<span><i class=\"").raw(class).raw("\"></i>").raw(name).raw("</span>");
    }
}
