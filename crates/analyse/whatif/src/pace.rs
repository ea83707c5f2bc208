//! How fast ranks are at the same work: how long each computes before the calls of each place, in each part of the run.
//!
//! A rank's calls at a place are counted, and divided into parts of equal number: so ranks are compared at the same work,
//! also where one is behind the others, and a rank that becomes slow during the run is seen from then on.

use crate::epochs::each_call;
use kizami_graph::{Graph, Strand};
use kizami_model::{Length, Moment};
use kizami_replay::StepChange;
use rustc_hash::FxHashMap;

/// Parts of the run that are told apart, if there is room and ranks come to some place so often.
const MOST_PARTS: usize = 32;
/// Parts that are told apart at least: places with less computation are left out for that.
const LEAST_PARTS: usize = 8;
/// Lengths that are kept, at most: 64 MB.
const MOST_LENGTHS: usize = 1 << 23;
/// A place is compared if this part of the ranks comes there.
const MOST_OF_THE_RANKS: f64 = 0.75;

/// What ranks compute before calls at the places that most of them come to.
pub struct Paces {
    parts: usize,
    ranks: usize,
    /// By rank: how many it stands for.
    weights: Vec<u32>,
    /// Number of a place, by call site.
    places: FxHashMap<u32, usize>,
    /// By place and rank.
    calls: Vec<u32>,
    /// By place: the fewest calls of a rank that comes there.
    fewest: Vec<u32>,
    /// By place, rank and part.
    times: Vec<Length>,
    without_tracer: bool,
}

impl Paces {
    /// Of the first thread of each rank. With `without_tracer`, the tracer overhead does not count as computation.
    pub fn of(graph: &Graph, without_tracer: bool) -> Paces {
        let ranks = graph.ranks() as usize;
        let mut weights = vec![0; ranks];
        // By call site and rank.
        let mut calls_of: Vec<(u32, usize, u32)> = Vec::new();
        let mut time_of: FxHashMap<u32, Length> = FxHashMap::default();
        for strand in first_strands(graph) {
            let rank = strand.rank.0 as usize;
            weights[rank] = graph.weight(strand.rank);
            let mut calls: FxHashMap<u32, u32> = FxHashMap::default();
            each_gap(graph, strand, without_tracer, |_, site, gap| {
                *calls.entry(site).or_default() += 1;
                *time_of.entry(site).or_default() += gap;
            });
            calls_of.extend(calls.into_iter().map(|(site, calls)| (site, rank, calls)));
        }
        calls_of.sort_unstable();
        let all: u32 = weights.iter().sum();
        let come_here = |of_site: &&[(u32, usize, u32)]| {
            let ranks: u32 = of_site.iter().map(|(_, rank, _)| weights[*rank]).sum();
            f64::from(ranks) >= MOST_OF_THE_RANKS * f64::from(all)
        };
        let mut compared: Vec<&[(u32, usize, u32)]> =
            calls_of.chunk_by(|one, other| one.0 == other.0).filter(come_here).collect();
        compared.sort_by_key(|of_site| (std::cmp::Reverse(time_of[&of_site[0].0]), of_site[0].0));
        compared.truncate(MOST_LENGTHS / (LEAST_PARTS * ranks.max(1)));
        let mut places = FxHashMap::default();
        let (mut calls, mut fewest) = (Vec::new(), Vec::new());
        for of_site in compared {
            fewest.extend(of_site.iter().map(|(.., calls)| *calls).min());
            places.insert(of_site[0].0, places.len());
            let first = calls.len();
            calls.resize(first + ranks, 0);
            of_site.iter().for_each(|(_, rank, count)| calls[first + rank] = *count);
        }
        // Parts in which nobody comes anywhere would say that ranks are equally fast.
        let most_filled = fewest.iter().copied().max().unwrap_or(0).max(1) as usize;
        let parts = (MOST_LENGTHS / calls.len().max(1)).clamp(LEAST_PARTS, MOST_PARTS).min(most_filled);
        let mut paces = Paces {
            parts,
            ranks,
            weights,
            places,
            times: vec![Length::ZERO; calls.len() * parts],
            calls,
            fewest,
            without_tracer,
        };
        for strand in first_strands(graph) {
            let mut cells = Vec::new();
            paces.each_cell(graph, strand, |_, cell, gap| cells.push((cell, gap)));
            cells.into_iter().for_each(|(cell, gap)| paces.times[cell] += gap);
        }
        paces
    }

    /// By rank, how much longer it computes than the median of all in each part; below zero if it computes less.
    pub fn beyond_median(&self) -> Vec<Vec<Length>> {
        let mut beyond = vec![vec![Length::ZERO; self.parts]; self.ranks];
        for (place, part) in self.cells() {
            let Some(median) = self.median(place, part, |_| true) else { continue };
            for (rank, beyond) in beyond.iter_mut().enumerate().filter(|(rank, _)| self.weights[*rank] > 0) {
                beyond[part] += self.times[self.cell(place, rank, part)] - median;
            }
        }
        beyond
    }

    /// How long some ranks compute at each place, by call site, and how long they would if they were as fast as the median of
    /// the others.
    pub fn beside_others(&self, ranks: &[u32]) -> Vec<(u32, [Length; 2])> {
        let is_other = self.others_than(ranks);
        let of_site = |(site, place): (&u32, &usize)| {
            let mut sums = [Length::ZERO; 2];
            for part in 0..self.parts {
                let Some(median) = self.median(*place, part, &is_other) else { continue };
                for rank in ranks.iter().filter_map(|rank| self.known(*rank)) {
                    let weight = i64::from(self.weights[rank]);
                    sums[0] += self.times[self.cell(*place, rank, part)] * weight;
                    sums[1] += median * weight;
                }
            }
            (*site, sums)
        };
        let mut sites: Vec<_> = self.places.iter().map(of_site).collect();
        sites.sort_unstable_by_key(|(site, _)| *site);
        sites
    }

    /// What changes if some ranks compute as fast as the median of the others, at each place and in each part of the run.
    pub fn like_others(&self, graph: &Graph, ranks: &[u32]) -> Vec<(u64, StepChange)> {
        let is_other = self.others_than(ranks);
        let medians: FxHashMap<(usize, usize), Length> =
            self.cells().filter_map(|at| Some((at, self.median(at.0, at.1, &is_other)?))).collect();
        let mut changes = Vec::new();
        for strand in first_strands(graph).filter(|strand| ranks.contains(&strand.rank.0)) {
            self.each_cell(graph, strand, |step, cell, gap| {
                let own = self.times[cell];
                // Where none of the others comes there is nobody to be like.
                let like = medians.get(&(cell / self.parts / self.ranks, cell % self.parts));
                if let (Some(like), true) = (like, gap > Length::ZERO && own > Length::ZERO) {
                    let before = gap.scaled(like.0 as f64 / own.0 as f64) - gap;
                    changes.push((step, StepChange { before, ..StepChange::default() }));
                }
            });
        }
        changes
    }

    /// Whether a rank is another than these.
    fn others_than(&self, ranks: &[u32]) -> impl Fn(usize) -> bool {
        let mut listed = vec![false; self.ranks];
        ranks.iter().filter_map(|rank| self.known(*rank)).for_each(|rank| listed[rank] = true);
        move |rank| !listed[rank]
    }

    fn known(&self, rank: u32) -> Option<usize> {
        let rank = rank as usize;
        self.weights.get(rank).is_some_and(|weight| *weight > 0).then_some(rank)
    }

    fn cell(&self, place: usize, rank: usize, part: usize) -> usize {
        (place * self.ranks + rank) * self.parts + part
    }

    /// Places and parts.
    fn cells(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.places.len()).flat_map(|place| (0..self.parts).map(move |part| (place, part)))
    }

    /// Of those ranks that come to a place and count; none if no rank does.
    fn median(&self, place: usize, part: usize, counts: impl Fn(usize) -> bool) -> Option<Length> {
        let there = |rank: &usize| self.calls[place * self.ranks + rank] > 0 && counts(*rank);
        let time = |rank: usize| (self.times[self.cell(place, rank, part)], self.weights[rank]);
        let mut times: Vec<(Length, u32)> = (0..self.ranks).filter(there).map(time).collect();
        times.sort_unstable();
        let half = times.iter().map(|(_, weight)| u64::from(*weight)).sum::<u64>().div_ceil(2);
        let mut so_far = 0;
        let middle = times.iter().find(|(_, weight)| {
            so_far += u64::from(*weight);
            so_far >= half
        });
        middle.map(|(time, _)| *time)
    }

    /// Tells the computation before each call at a place that is compared: the step, where it is added up, how long.
    fn each_cell(&self, graph: &Graph, strand: &Strand, mut tell: impl FnMut(u64, usize, Length)) {
        let rank = strand.rank.0 as usize;
        let mut seen = vec![0u64; self.places.len()];
        each_gap(graph, strand, self.without_tracer, |step, site, gap| {
            let Some(&place) = self.places.get(&site) else { return };
            let all = u64::from(self.calls[place * self.ranks + rank]).max(1);
            // As many parts as the rank with the fewest calls can fill.
            let parts = (self.parts as u64).min(u64::from(self.fewest[place])).max(1);
            let part = (seen[place] * parts / all) as usize;
            seen[place] += 1;
            tell(step, self.cell(place, rank, part), gap);
        });
    }
}

fn first_strands(graph: &Graph) -> impl Iterator<Item = &Strand> {
    graph.strands.iter().filter(|strand| strand.first_of_rank)
}

/// Tells the computation before each call of a strand with a call site: the step, the site, how long.
fn each_gap(graph: &Graph, strand: &Strand, without_tracer: bool, mut tell: impl FnMut(u64, u32, Length)) {
    let mut last_end: Option<Moment> = None;
    each_call(graph, strand.first_step, |index, step| {
        if let (Some(end), Some(site)) = (last_end, step.site()) {
            let gap = step.start.saturating_since(end).at_least_zero();
            let tracer = if without_tracer { step.before.clamp(Length::ZERO, gap) } else { Length::ZERO };
            tell(index, site, gap - tracer);
        }
        last_end = Some(step.end);
    });
}
