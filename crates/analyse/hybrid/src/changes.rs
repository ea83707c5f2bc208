//! What is different, step by step, if a rank's threads are more, or lose less of their time.
//!
//! Between the calls of a rank lie parallel regions and serial parts. Each of them becomes shorter or longer (a `Piece`),
//! and so does the computation between the calls it lies between. Threads that make calls themselves have computation of
//! their own there, which changes as that of the others does.

use crate::loss::LossKind;
use crate::regions::{RankRegions, Region, Regions};
use crate::sharing::{Shares, Sharing, Tasks};
use crate::spans::{Span, Spans};
use crate::strand::{CallSpan, Piece, Shorter, calls_of, distribute};
use crate::window::Window;
use kizami_graph::{Graph, Strand};
use kizami_model::{Length, Moment};
use kizami_replay::StepChange;
use kizami_whatif::{ThreadCount, sum_error_ns};

/// How long a run takes whose ranks wait for no other: it has no calls.
#[derive(Clone, Copy, Debug)]
pub struct AloneRun {
    /// How long it took.
    pub recorded: Length,
    /// How long it takes with the change.
    pub changed: Length,
    /// How far what is taken away may be off in another run, by how unevenly it came.
    pub doubt_ns: f64,
    /// How far two runs differ, judged by regions that are run again and again; none if few are.
    pub noise: Option<Length>,
}

/// What is different about threads.
#[derive(Clone, Debug, Default)]
pub struct ThreadChange {
    /// How many there are; as many as there were if none.
    pub threads: Option<ThreadCount>,
    /// How others share work.
    pub sharing: Sharing,
    /// Losses that are gone, each at these places: regions, or those that come after a serial part.
    pub without: Vec<(LossKind, Vec<Option<u32>>)>,
}

/// Steps that change by it.
#[derive(Clone, Debug, Default)]
pub struct ThreadChanges {
    /// For a setting.
    pub steps: Vec<(u64, StepChange)>,
    /// How far what is taken away may be off in another run, by how unevenly it came.
    pub doubt_ns: f64,
}

/// Which steps of a run with these regions are longer or shorter.
pub fn changes(graph: &Graph, regions: &Regions, spans: &Spans, change: &ThreadChange) -> ThreadChanges {
    let mut all = ThreadChanges::default();
    let mut square_ns = 0.0;
    for strands in graph.strands.chunk_by(|one, other| one.rank == other.rank) {
        let rank = strands[0].rank.0 as usize;
        let Some(of_rank) = regions.ranks.get(rank).filter(|of_rank| !of_rank.outer.is_empty()) else {
            continue;
        };
        let saved = of_one_rank(graph, strands, (rank, of_rank), spans, change, &mut all.steps);
        square_ns += sum_error_ns(saved.into_iter()).powi(2);
    }
    all.doubt_ns = square_ns.sqrt();
    all
}

/// The run of a trace without calls with a change made: every rank is shorter or longer by itself.
pub fn changed_alone(regions: &Regions, spans: &Spans, window: Window, change: &ThreadChange) -> AloneRun {
    let (mut changed, mut square_ns) = (Length::ZERO, 0.0f64);
    for (rank, of_rank) in regions.ranks.iter().enumerate().filter(|(_, of_rank)| !of_rank.outer.is_empty()) {
        let pieces = pieces(&[], (rank, of_rank), spans, change);
        let saved: Vec<Length> = pieces.iter().map(|piece| piece.saved(window)).collect();
        changed = changed.max(window.length() - saved.iter().copied().sum());
        square_ns += sum_error_ns(saved.into_iter().map(Length::abs)).powi(2);
    }
    let noise = regions.noise();
    AloneRun { recorded: window.length(), changed, doubt_ns: square_ns.sqrt(), noise }
}

/// Adds the changed steps of one rank, and gives what each piece of its first strand became shorter by.
fn of_one_rank(
    graph: &Graph,
    strands: &[Strand],
    (rank, of_rank): (usize, &RankRegions),
    spans: &Spans,
    change: &ThreadChange,
    steps: &mut Vec<(u64, StepChange)>,
) -> Vec<Length> {
    let calls = strands.iter().map(|strand| (strand.thread, calls_of(graph, strand)));
    let runs_regions = |(thread, calls): &(u32, Vec<CallSpan>)| {
        of_rank.has_thread(*thread, calls.iter().map(|call| (call.start, call.end)))
    };
    let calls: Vec<Vec<CallSpan>> = calls.filter(runs_regions).map(|(_, calls)| calls).collect();
    let pieces = pieces(&calls, (rank, of_rank), spans, change);
    let mut saved = Vec::new();
    for (number, calls) in calls.iter().enumerate() {
        let by_piece = distribute(calls, &pieces, steps);
        if number == 0 {
            saved = by_piece;
        }
    }
    saved
}

/// The regions of a rank and the serial parts between them, each with what it is shorter by.
fn pieces(
    calls: &[Vec<CallSpan>],
    (rank, of_rank): (usize, &RankRegions),
    spans: &Spans,
    change: &ThreadChange,
) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(2 * of_rank.outer.len() + 1);
    let mut at = Moment(i64::MIN);
    for (place, region) in of_rank.outer.iter().enumerate() {
        let (from, to) = (region.row.start.max(at), region.row.end.max(at));
        pieces.push(change.serial(of_rank.widest, (at, from), region.row.callsite));
        let lost = Inside { from, to, calls };
        let new = change.region(of_rank.widest, region, &lost, (spans, (rank, place)));
        pieces.push(Piece { from, to, shorter: Shorter::By(to - from - new) });
        at = to;
    }
    pieces.push(change.serial(of_rank.widest, (at, Moment(i64::MAX)), None));
    pieces
}

/// A stretch of time with all calls of a rank.
struct Inside<'a> {
    from: Moment,
    to: Moment,
    calls: &'a [Vec<CallSpan>],
}

impl Inside<'_> {
    /// How long threads are in calls: all together, and each that makes some.
    fn calls(&self) -> (Length, Length) {
        let (mut all, mut callers) = (Length::ZERO, 0);
        for calls in self.calls {
            let first = calls.partition_point(|call| call.end <= self.from);
            let there = calls[first..].iter().take_while(|call| call.start < self.to);
            let own: Length = there.map(|call| call.end.min(self.to) - call.start.max(self.from)).sum();
            all += own;
            callers += i64::from(own > Length::ZERO);
        }
        (all, all / callers.max(1))
    }
}

impl ThreadChange {
    /// Whether a loss is gone there.
    fn is_without(&self, kind: LossKind, site: Option<u32>) -> bool {
        self.without.iter().any(|(gone, sites)| *gone == kind && sites.contains(&site))
    }

    fn threads(&self, had: u32) -> u32 {
        self.threads.map_or(had, |count| count.instead_of(had))
    }

    /// What becomes of a serial part before a region: its threads share it, or nothing.
    fn serial(&self, widest: u32, (from, to): (Moment, Moment), next: Option<u32>) -> Piece {
        let part = match self.is_without(LossKind::Serial, next) {
            true => 1.0 - 1.0 / f64::from(self.threads(widest).max(1)),
            false => 0.0,
        };
        Piece { from, to, shorter: Shorter::Part(part) }
    }

    /// How long a region takes.
    fn region(
        &self,
        widest: u32,
        region: &Region,
        inside: &Inside<'_>,
        (spans, place): (&Spans, (usize, usize)),
    ) -> Length {
        let (length, had) = (inside.to - inside.from, region.threads(widest));
        let (in_calls, of_a_caller) = inside.calls();
        let site = region.row.callsite;
        let losses = region.losses(widest, length, in_calls);
        let gone = losses.inside.iter().filter(|(kind, _)| self.is_without(*kind, site));
        let mut left = length - gone.map(|(_, lost)| *lost).sum::<Length>() / i64::from(had);
        if self.is_without(LossKind::FewerThreads, site) {
            left = left.scaled(f64::from(had) / f64::from(widest.max(1)));
        }
        let span = spans.get(place.0, place.1);
        let made_of_tasks = span.filter(Span::is_of_tasks);
        if let Some(span) = made_of_tasks {
            // Whatever its threads do, one task follows another.
            left = left.max(span.length.min(length));
        }
        // A region without all threads has a `num_threads` clause or a false `if` clause.
        let wanted = if had == widest { self.threads(widest) } else { had };
        if wanted == had {
            return left;
        }
        if let Some(span) = made_of_tasks {
            let tasks = Tasks { work: losses.running, span: span.length };
            return tasks.length_with(left, had, wanted, self.sharing);
        }
        let mean = losses.running / i64::from(had);
        let longest = (region.row.longest - of_a_caller).max(span.map_or(Length::ZERO, |span| span.length));
        let shares = Shares { threads: had, work: losses.running, longest: longest.min(length).max(mean) };
        let shares = if self.is_without(LossKind::Imbalance, site) { shares.balanced() } else { shares };
        left + shares.longest_with(wanted, self.sharing) - shares.longest
    }
}
