//! What a report holds, section by section, however it is shown.
//!
//! Text, Markdown and HTML all show these sections, so there is one place that says which columns a table has and in
//! which words a number stands there. How a heading or a table looks is for those who show them.

use super::heat::HeatMap;
use crate::show::functions;
use crate::show::quantity::{self, percent};
use crate::show::table::Align;
use kizami_explain::{CallTotal, Gain, Loss, NotUnderstood, Report, SizeClass, Threads, WaitTotal};
use kizami_model::Length;
use kizami_phrases::location::call_at;
use kizami_phrases::{loss, protocols};

/// Losses of threads below this part of their time are not told.
const LEAST_LOSS: f64 = 0.0005;

/// Which section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Threads,
    Ranks,
    Waits,
    Reconstructed,
    Completions,
    Path,
    Functions,
    Places,
    Matrix,
    Sizes,
    Loops,
    NotUnderstood,
}

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers with their unit.
    Number,
    /// Words.
    Words,
    /// Names and places of the program.
    Code,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
}

/// One section: a table under a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub part: Part,
    pub title: &'static str,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
    /// Rows that are left out.
    pub hidden: usize,
    /// What else is to be said.
    pub notes: Vec<String>,
}

impl Column {
    /// On which side its cells stand.
    pub fn align(self) -> Align {
        if self.kind == Kind::Number { Align::Right } else { Align::Left }
    }
}

impl Section {
    fn new(part: Part, title: &'static str, columns: &[Column]) -> Section {
        Section { part, title, columns: columns.to_vec(), rows: Vec::new(), hidden: 0, notes: Vec::new() }
    }

    /// With the first `most` of these as rows, without columns in which nothing stands.
    fn with<T>(mut self, of: &[T], most: usize, row: impl FnMut(&T) -> Vec<String>) -> Section {
        self.rows = of.iter().take(most).map(row).collect();
        self.hidden = of.len() - self.rows.len();
        for index in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| row[index].is_empty()) {
                self.columns.remove(index);
                self.rows.iter_mut().for_each(|row| drop(row.remove(index)));
            }
        }
        self
    }

    /// Says that rows are left out.
    pub fn more(&self) -> Option<String> {
        (self.hidden > 0).then(|| format!("{} more; --all shows them", quantity::count(self.hidden as u64)))
    }

    /// Whether there is anything to show.
    fn has_content(&self) -> bool {
        !self.rows.is_empty() || !self.notes.is_empty()
    }
}

const fn number(name: &'static str) -> Column {
    Column { name, kind: Kind::Number }
}

const fn words(name: &'static str) -> Column {
    Column { name, kind: Kind::Words }
}

const fn code(name: &'static str) -> Column {
    Column { name, kind: Kind::Code }
}

/// All sections that have something to tell, with at most so many rows each.
pub fn sections(report: &Report, most: usize) -> Vec<Section> {
    let all = [
        ranks(report, most),
        waits(Part::Waits, "wait states by pattern and call site", report, &report.waits_by_place, most),
        waits(
            Part::Completions,
            "collectives after the last rank entered",
            report,
            &report.completions_by_place,
            most,
        ),
        reconstructed(report, most),
        path(report, most),
        calls(Part::Functions, "calls by function", &report.functions, most),
        calls(Part::Places, "calls by call site", &report.places, most),
        matrix(report, most),
        sizes(report),
        loops(report),
        not_understood(report, most),
    ];
    let threads = report.threads.iter().map(|threads| lost_by_threads(threads, most));
    // Without calls none was left out.
    let is_told = |section: &Section| {
        let nothing =
            section.part == Part::NotUnderstood && report.not_understood == NotUnderstood::default();
        section.has_content() && !(report.has_only_threads() && nothing)
    };
    threads.chain(all).filter(is_told).collect()
}

/// A length of time, as all tables say it.
pub fn time(ns: i64) -> String {
    quantity::duration(Length(ns))
}

/// What threads did not compute in.
fn lost_by_threads(threads: &Threads, most: usize) -> Section {
    let columns = [number("lost"), number("time"), number("gain"), words("cause and location")];
    let title = "lost time of threads";
    // What is hardly there would only be in the way.
    let listed: Vec<&Loss> = threads.losses.iter().filter(|loss| threads.share(loss) >= LEAST_LOSS).collect();
    Section::new(Part::Threads, title, &columns).with(&listed, most, |loss| {
        vec![percent(threads.share(loss)), time(loss.ns), gained(loss), loss::sentence(loss)]
    })
}

/// What the run gains without a loss, as a part of it.
fn gained(loss: &Loss) -> String {
    let at_most = if loss.at_most { "at most " } else { "" };
    let gained =
        |gain: Gain| format!("{at_most}{:.1} % +- {:.1}", 100.0 * gain.share, 100.0 * gain.share_error);
    loss.gain.map(gained).unwrap_or_default()
}

fn ranks(report: &Report, most: usize) -> Section {
    let inside = functions::together(report.functions.iter().map(|total| &total.function));
    let columns = [number("rank"), number("computation"), number(inside), number("waiting"), words("note")];
    let mut order = report.rank_times.clone();
    order.sort_by_key(|rank| std::cmp::Reverse(rank.computation_ns));
    Section::new(Part::Ranks, "time of ranks", &columns).with(&order, most, |rank| {
        let far = report.outliers.contains(&rank.rank);
        vec![
            rank.rank.to_string(),
            time(rank.computation_ns),
            time(rank.mpi_ns),
            time(rank.waiting_ns),
            if far { "outlier".to_owned() } else { String::new() },
        ]
    })
}

fn waits(part: Part, title: &'static str, report: &Report, totals: &[WaitTotal], most: usize) -> Section {
    let waiting = part == Part::Waits;
    let columns = [
        number("time"),
        number("+-"),
        number("share"),
        number(if waiting { "waits" } else { "calls" }),
        words("pattern"),
        code("call"),
        number("worst rank"),
        number(if waiting { "waited" } else { "took" }),
    ];
    Section::new(part, title, &columns).with(totals, most, |wait| {
        let call = wait.at.as_ref().map_or(String::new(), |(function, place)| call_at(function, place));
        let error_ns = report.reconstruction_error_ns(wait.at.as_ref());
        vec![
            time(wait.ns),
            error_ns.map_or(String::new(), time),
            percent(wait.share),
            quantity::count(wait.count),
            wait.pattern.name().to_owned(),
            call,
            wait.worst_rank.to_string(),
            time(wait.worst_ns),
        ]
    })
}

/// A difference of times, with its sign.
fn more_or_less(ns: i64) -> String {
    format!("{}{}", if ns < 0 { '-' } else { '+' }, time(ns.saturating_abs()))
}

fn reconstructed(report: &Report, most: usize) -> Section {
    let columns = [
        number("exact"),
        number("reconstructed"),
        number("error"),
        number("unknown"),
        number("calls"),
        code("function"),
    ];
    let places = report.reconstructed.as_ref().map_or(&[][..], |reconstructed| &reconstructed.places);
    Section::new(Part::Reconstructed, "time in calls: exact and reconstructed", &columns).with(
        places,
        most,
        |place| {
            vec![
                time(place.exact_ns),
                time(place.reconstructed_ns),
                more_or_less(place.off_ns()),
                time(place.unknown_ns),
                quantity::count(place.calls),
                call_at(&place.function, &place.place),
            ]
        },
    )
}

fn path(report: &Report, most: usize) -> Section {
    let columns =
        [number("time"), number("share"), number("imbalance"), code("what"), number("most on rank")];
    let section = Section::new(Part::Path, "critical path", &columns);
    section.with(&report.critical_path, most, |part| {
        vec![
            time(part.ns),
            percent(part.share),
            time(part.imbalance_ns),
            call_at(&part.what, &part.place),
            part.rank.to_string(),
        ]
    })
}

fn calls(part: Part, title: &'static str, totals: &[CallTotal], most: usize) -> Section {
    let columns = [number("time"), number("share"), number("calls"), number("bytes"), code("function")];
    Section::new(part, title, &columns).with(totals, most, |total| {
        let name = match &total.place {
            Some(place) => call_at(&total.function, place),
            None => total.function.clone(),
        };
        vec![
            time(total.ns),
            percent(total.share),
            quantity::count(total.calls),
            quantity::bytes(total.bytes),
            name,
        ]
    })
}

/// The pairs that send most to each other; the whole matrix is a [`HeatMap`].
fn matrix(report: &Report, most: usize) -> Section {
    let columns = [number("from rank"), number("to rank"), number("messages"), number("bytes")];
    let mut order = report.matrix.clone();
    order.sort_by_key(|cell| (std::cmp::Reverse((cell.bytes, cell.messages)), cell.from, cell.to));
    let title = "messages by sender and receiver";
    Section::new(Part::Matrix, title, &columns).with(&order, most, |cell| {
        vec![
            cell.from.to_string(),
            cell.to.to_string(),
            quantity::count(cell.messages),
            quantity::bytes(cell.bytes),
        ]
    })
}

fn sizes(report: &Report) -> Section {
    let columns = [number("size"), number("messages"), number("bytes")];
    let section = Section::new(Part::Sizes, "messages by size", &columns);
    let mut section = section.with(&report.sizes, usize::MAX, |class| {
        vec![size(class), quantity::count(class.messages), quantity::bytes(class.bytes)]
    });
    let network = report.network;
    if network.latency_ns > 0.0 {
        let bandwidth = match network.bandwidth {
            0.0 => "bandwidth unknown".to_owned(),
            bandwidth => format!("{}/s", quantity::bytes(bandwidth as u64)),
        };
        section.notes.push(format!("fastest messages: {}, {bandwidth}", time(network.latency_ns as i64)));
    }
    section.notes.extend(protocols::sentences(report));
    section
}

/// The sizes of a class.
pub fn size(class: &SizeClass) -> String {
    match (class.from_bytes, class.to_bytes) {
        (from, to) if from == to => quantity::bytes(from),
        (from, to) => format!("{} - {}", quantity::bytes(from), quantity::bytes(to)),
    }
}

fn loops(report: &Report) -> Section {
    let columns = [
        code("marked by"),
        number("iterations"),
        number("median"),
        number("shortest"),
        number("longest"),
        number("which"),
    ];
    let section = Section::new(Part::Loops, "loops", &columns);
    section.with(&report.phases, usize::MAX, |phase| {
        vec![
            phase.place.to_string(),
            quantity::count(phase.iterations as u64),
            time(phase.median_ns),
            time(phase.shortest_ns),
            time(phase.longest_ns),
            quantity::count(phase.longest as u64),
        ]
    })
}

fn not_understood(report: &Report, most: usize) -> Section {
    let left = &report.not_understood;
    let mut facts: Vec<(&str, String)> = Vec::new();
    if left.unmatched > 0 {
        let those = quantity::calls_or_messages(left.unmatched);
        facts.push(("unmatched", format!("{those} whose partner is not in the trace")));
    }
    if left.not_followed > 0 {
        let calls = quantity::counted(left.not_followed, "call");
        facts.push(("unknown", format!("{calls} whose wait dependencies are unknown")));
    }
    facts.extend(left.problems.iter().map(|problem| ("health", problem.clone())));
    let section = Section::new(Part::NotUnderstood, "not analysed", &[words("what"), words("how")]);
    let mut section = section.with(&facts, most, |(what, text)| vec![(*what).to_owned(), text.clone()]);
    if facts.is_empty() {
        let nothing = "nothing: all calls and messages were matched";
        section.notes.push(nothing.to_owned());
    }
    section
}

/// What is said above a heat map.
pub fn heat_caption(map: &HeatMap) -> String {
    let each = match map.ranks_per_cell {
        1 => String::new(),
        several => format!(", {several} x {several} ranks per cell"),
    };
    format!("bytes from each rank (down) to each (across); 5 is {}{each}", quantity::bytes(map.highest))
}
