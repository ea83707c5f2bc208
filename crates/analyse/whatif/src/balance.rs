//! What would make ranks even: the computation before some calls, spread over all ranks in each step of the program.
//!
//! In every epoch (see [`Epochs`]) all computation that leads up to the calls is taken together and given back so that
//! ranks compute as evenly as it allows: who has least to do otherwise gets most of it. So work that comes now here
//! and now there is spread where it comes, and nothing of it vanishes.

use crate::epochs::{Epochs, place_of};
use kizami_graph::{Graph, Strand};
use kizami_model::{Length, Moment};
use kizami_replay::StepChange;

/// What a rank computes in one epoch.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Before the calls whose computation is spread.
    spread: Length,
    /// Before all others.
    other: Length,
    /// The longest stretch, and the step that it leads up to.
    longest: Length,
    step: u64,
    /// How many ranks make calls in it: those that are like this one; none if it makes none.
    ranks: u32,
}

/// What changes if the computation before calls made at `sites` is spread evenly over all ranks, in each step of the
/// program. With `without_tracer`, the tracer overhead does not count as computation.
pub fn balance(
    graph: &Graph,
    epochs: &Epochs,
    sites: &[u32],
    without_tracer: bool,
) -> Vec<(u64, StepChange)> {
    let ranks = epochs.ranks();
    let mut cells = vec![Cell::default(); ranks * epochs.count()];
    let is_spread = |site: Option<u32>| site.is_some_and(|site| sites.contains(&site));
    for strand in &graph.strands {
        let rank = place_of(strand.rank);
        each_gap(graph, epochs, strand, without_tracer, |epoch, index, site, gap| {
            let cell = &mut cells[epoch * ranks + rank];
            cell.ranks = graph.weight(strand.rank);
            *(if is_spread(site) { &mut cell.spread } else { &mut cell.other }) += gap;
            if strand.first_of_rank && gap >= cell.longest {
                (cell.longest, cell.step) = (gap, index);
            }
        });
    }
    let levels: Vec<f64> = cells.chunks(ranks.max(1)).map(level_ns).collect();
    // What each rank has in the end, of what is spread.
    let target =
        |epoch: usize, cell: &Cell| Length::from_nanos_f64((levels[epoch] - cell.other.0 as f64).max(0.0));
    let mut changes = Vec::new();
    let before = |length| StepChange { before: length, ..StepChange::default() };
    for (number, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.ranks > 0) {
        let epoch = number / ranks;
        if cell.spread == Length::ZERO && target(epoch, cell) > Length::ZERO {
            changes.push((cell.step, before(target(epoch, cell))));
        }
    }
    for strand in &graph.strands {
        let rank = place_of(strand.rank);
        each_gap(graph, epochs, strand, without_tracer, |epoch, index, site, gap| {
            let cell = &cells[epoch * ranks + rank];
            if is_spread(site) && gap > Length::ZERO {
                let part = gap.0 as f64 / cell.spread.0 as f64;
                changes.push((index, before(target(epoch, cell).scaled(part) - gap)));
            }
        });
    }
    changes
}

/// How long each rank computes that gets some of what is spread: what is poured over ranks that compute for different
/// times fills up those that compute least.
fn level_ns(cells: &[Cell]) -> f64 {
    let there = cells.iter().filter(|cell| cell.ranks > 0);
    let mut others: Vec<(f64, f64)> =
        there.map(|cell| (cell.other.0 as f64, f64::from(cell.ranks))).collect();
    others.sort_by(|one, other| one.0.total_cmp(&other.0));
    let spread_ns: f64 = cells.iter().map(|cell| cell.spread.0 as f64 * f64::from(cell.ranks)).sum();
    let (mut below_ns, mut ranks, mut level_ns) = (0.0, 0.0, 0.0);
    for (number, (other_ns, alike)) in (1..).zip(&others) {
        below_ns += other_ns * alike;
        ranks += alike;
        level_ns = (spread_ns + below_ns) / ranks;
        if others.get(number).is_none_or(|(next_ns, _)| level_ns <= *next_ns) {
            break;
        }
    }
    level_ns
}

/// Tells the computation before each call of a strand: in which epoch, the step, its place, how long.
fn each_gap(
    graph: &Graph,
    epochs: &Epochs,
    strand: &Strand,
    without_tracer: bool,
    mut tell: impl FnMut(usize, u64, Option<u32>, Length),
) {
    let mut last_end: Option<Moment> = None;
    epochs.walk(graph, strand, |epoch, index, step| {
        if let Some(end) = last_end {
            let gap = step.start.saturating_since(end).at_least_zero();
            let tracer = if without_tracer { step.before.clamp(Length::ZERO, gap) } else { Length::ZERO };
            tell(epoch, index, step.site(), gap - tracer);
        }
        last_end = Some(step.end);
    });
}
