//! The baseline of computation before a call: what others waited for is an excess only by what is beyond the baseline.
//!
//! A rank that was delayed itself makes others wait while it computes as long as every rank does. Nothing of that is too long.
//! What counts is the longest stretch of each rank in each iteration: between the sends of a loop there is some computation,
//! too.

use crate::thresholds::THRESHOLDS;
use crate::work_interval::WorkInterval;
use kizami_blame::Pattern;
use kizami_blame::{Blamed, Doing, Excess, Waited, before, keep_longest};
use kizami_graph::{Graph, Step, StepKind, Strand};
use kizami_model::{Length, Moment};
use kizami_parallel::map;
use kizami_replay::Shares;
use rustc_hash::FxHashMap;

/// Stretches of computation of one place that are looked at.
const MOST: usize = 1 << 14;
/// Calls that are looked back over from one that was late.
const MOST_BACK: usize = 1 << 10;

/// By call site: the baseline, if most ranks compute there.
struct Baselines<'a> {
    graph: &'a Graph,
    first_steps: Vec<u64>,
    by_site: FxHashMap<u32, Length>,
}

/// Stretches of one call site so far. Which are kept depends on a sampling key of rank and iteration, so that it does not
/// matter in which order ranks are looked at, nor by how many threads.
#[derive(Default)]
struct Stretches {
    /// The longest stretch of each rank in each iteration, with its sampling key.
    longest: Vec<(u32, Length)>,
    /// Lower sampling keys are not kept.
    least_key: u32,
    /// Rank and iteration that are being looked at, and the longest there.
    now: Option<(u32, usize, Length)>,
    ranks: usize,
}

impl Stretches {
    fn add(&mut self, (rank, ranks): (u32, u32), iteration: usize, gap: Length) {
        self.now = match self.now {
            Some((same, of, longest)) if (same, of) == (rank, iteration) => {
                Some((rank, iteration, longest.max(gap)))
            }
            before => {
                let new = before.is_none_or(|(last, ..)| last != rank);
                self.ranks += if new { ranks as usize } else { 0 };
                self.end_iteration();
                Some((rank, iteration, gap))
            }
        };
    }

    fn end_iteration(&mut self) {
        let Some((rank, iteration, longest)) = self.now.take() else { return };
        let sampling_key = sampling_key(rank, iteration);
        if sampling_key >= self.least_key {
            self.longest.push((sampling_key, longest));
            self.keep_some();
        }
    }

    /// Keeps the higher sampling keys where there are too many.
    fn keep_some(&mut self) {
        while self.longest.len() >= 2 * MOST {
            self.least_key += 1;
            self.longest.retain(|(sampling_key, _)| *sampling_key >= self.least_key);
        }
    }

    /// Both, of different ranks.
    fn and(mut self, mut other: Stretches) -> Stretches {
        self.end_iteration();
        other.end_iteration();
        self.ranks += other.ranks;
        self.longest.append(&mut other.longest);
        self.least_key = self.least_key.max(other.least_key);
        self.longest.retain(|(sampling_key, _)| *sampling_key >= self.least_key);
        self.keep_some();
        self
    }

    fn baseline(mut self) -> Length {
        self.end_iteration();
        self.longest.sort_unstable_by_key(|(_, length)| *length);
        let baseline = self.longest.get((self.longest.len() as f64 * THRESHOLDS.shortest_part) as usize);
        baseline.map_or(Length::ZERO, |(_, length)| *length)
    }
}

/// The sampling key of a rank in an iteration: half of all have 0, half of the others 1, and so on.
fn sampling_key(rank: u32, iteration: usize) -> u32 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = (u64::from(rank).wrapping_mul(ODD) ^ iteration as u64).wrapping_mul(ODD);
    (mixed >> 32).trailing_zeros()
}

impl<'a> Baselines<'a> {
    /// `begins` are those of iterations.
    fn of(graph: &'a Graph, excesses: &[Excess], begins: &[Moment], threads: usize) -> Baselines<'a> {
        // By call site: whether it is looked at.
        let mut wanted: Vec<bool> = Vec::new();
        for excess in excesses.iter().filter(|excess| !excess.inside) {
            if let Some(site) = graph.steps[excess.step as usize].site() {
                let longer = (site as usize + 1).max(wanted.len());
                wanted.resize(longer, false);
                wanted[site as usize] = true;
            }
        }
        let shares = Shares::of(graph, threads);
        let by_share = map(0..shares.count(), |share| {
            let strands = shares.strands(graph, share);
            stretches(graph, &graph.strands[strands.start as usize..strands.end as usize], &wanted, begins)
        });
        let all = by_share.into_iter().reduce(|all, share| {
            all.into_iter().zip(share).map(|(one, other)| Some(one?.and(other?))).collect()
        });
        let most = THRESHOLDS.baseline_ranks * f64::from(graph.ranks());
        let stretches =
            (0..).zip(all.unwrap_or_default()).filter_map(|(site, stretches)| Some((site, stretches?)));
        let shared = stretches.filter(|(_, stretches)| stretches.ranks > 1 && stretches.ranks as f64 >= most);
        let mut first_steps: Vec<u64> = graph.strands.iter().map(|strand| strand.first_step).collect();
        first_steps.sort_unstable();
        Baselines {
            graph,
            first_steps,
            by_site: shared.map(|(site, stretches)| (site, stretches.baseline())).collect(),
        }
    }

    /// The part beyond the baseline. The time below it was lost earlier, where the same computation was too long as
    /// well: since `since` at the most, and since the last call at one of the `meetings`.
    fn beyond(&self, excess: &Excess, since: Moment, meetings: &[Option<u32>], found: &mut Vec<Excess>) {
        let site = self.graph.steps[excess.step as usize].site();
        let baseline = site.and_then(|site| self.by_site.get(&site)).filter(|_| !excess.inside);
        let Some(baseline) = baseline else { return found.push(*excess) };
        // Steps of one rank lie together, so that looking from the first of any of its strands on is enough.
        let first = self.first_steps[self.first_steps.partition_point(|first| *first <= excess.step) - 1];
        let (mut left, mut index) = (excess.length, excess.step);
        for _ in 0..MOST_BACK {
            let step = &self.graph.steps[index as usize];
            let last = before(self.graph, index, first);
            let end = last.map(|last| self.graph.steps[last as usize].end);
            let gap = end.map_or(Length::ZERO, |end| step.start.saturating_since(end));
            let length = left.min(gap - *baseline);
            if step.site() == site && length > Length::ZERO {
                found.push(Excess { step: index, length, ..*excess });
                left -= length;
            }
            match last {
                Some(last) if left > Length::ZERO && !self.is_border(last, since, meetings) => index = last,
                _ => break,
            }
        }
    }

    /// Whether ranks were together at a step.
    fn is_border(&self, step: u64, since: Moment, meetings: &[Option<u32>]) -> bool {
        let step = &self.graph.steps[step as usize];
        step.start < since || meetings.contains(&step.site())
    }
}

/// Whether those who wait are others than those who compute: however long a lock is usually held, and all usually compute
/// before a root or a target can go on, the waiting rank does something else meanwhile.
fn one_waits_for_all(pattern: Pattern) -> bool {
    matches!(
        pattern,
        Pattern::LockContention | Pattern::EarlyWait | Pattern::LateComplete | Pattern::EarlyReduce
    )
}

/// What was too long, in the order of steps, in so many parts; each has all of the strands it is about.
fn shares_of_strands<'e>(
    mut excesses: &'e [Excess],
    first_steps: &[u64],
    threads: usize,
) -> Vec<&'e [Excess]> {
    let each = excesses.len().div_ceil(threads.max(1)).max(1);
    let mut shares = Vec::new();
    while let Some(last) = excesses.get(each.min(excesses.len()).wrapping_sub(1)) {
        let next = first_steps.partition_point(|first| *first <= last.step);
        let border = first_steps.get(next).copied().unwrap_or(u64::MAX);
        let here = excesses.partition_point(|excess| excess.step < border);
        let (share, rest) = excesses.split_at(here.max(1));
        shares.push(share);
        excesses = rest;
    }
    shares
}

/// What is known of the wanted places after a look at these strands.
fn stretches(
    graph: &Graph,
    strands: &[Strand],
    wanted: &[bool],
    begins: &[Moment],
) -> Vec<Option<Stretches>> {
    let mut stretches: Vec<Option<Stretches>> =
        wanted.iter().map(|wanted| wanted.then(Stretches::default)).collect();
    for strand in strands {
        let ranks = (strand.rank.0, graph.weight(strand.rank));
        let (mut index, mut last_end, mut iteration) = (strand.first_step, None, 0);
        loop {
            let step = &graph.steps[index as usize];
            if step.kind() != StepKind::Part {
                let place = step.site().and_then(|site| stretches.get_mut(site as usize)?.as_mut());
                if let (Some(end), Some(place)) = (last_end, place) {
                    // Steps of a strand begin one after the other.
                    while begins.get(iteration).is_some_and(|begin| *begin < step.start) {
                        iteration += 1;
                    }
                    place.add(ranks, iteration, step.start.saturating_since(end).at_least_zero());
                }
                last_end = Some(step.end);
            }
            if step.next == 0 {
                break;
            }
            index += u64::from(step.next);
        }
    }
    stretches
}

/// Where ranks waited for an activity; nothing where its baseline does not count.
type Meetings = FxHashMap<Doing, Option<Vec<Option<u32>>>>;

fn meetings(blamed: &Blamed) -> Meetings {
    let of = |waited: &Waited| {
        let counts = !waited.most().is_some_and(one_waits_for_all);
        counts.then(|| waited.at.iter().map(|((_, site), _)| *site).collect())
    };
    blamed.waited.iter().map(|(doing, waited)| (*doing, of(waited))).collect()
}

/// Excesses beyond the baseline: by activity, each occurrence, in the order of steps.
pub(crate) fn too_long(
    graph: &Graph,
    blamed: &Blamed,
    interval: WorkInterval,
    begins: &[Moment],
    threads: usize,
) -> FxHashMap<Doing, Vec<Excess>> {
    let baseline = Baselines::of(graph, &blamed.excesses, begins, threads);
    let meetings = meetings(blamed);
    let shares = shares_of_strands(&blamed.excesses, &baseline.first_steps, threads);
    let found = map(shares, |excesses| beyond_baseline(&baseline, excesses, &meetings, interval, begins));
    let mut all: FxHashMap<Doing, Vec<Excess>> = FxHashMap::default();
    for (doing, mut excesses) in found.into_iter().flatten() {
        all.entry(doing).or_default().append(&mut excesses);
    }
    all
}

/// The same, of some strands.
fn beyond_baseline(
    baseline: &Baselines<'_>,
    excesses: &[Excess],
    meetings: &Meetings,
    interval: WorkInterval,
    begins: &[Moment],
) -> FxHashMap<Doing, Vec<Excess>> {
    let steps = &baseline.graph.steps;
    let mut found = Vec::new();
    for excess in excesses {
        let step = &steps[excess.step as usize];
        let meetings = match meetings.get(&doing(step, excess)) {
            Some(None) => {
                found.push(*excess);
                continue;
            }
            Some(Some(meetings)) => meetings.as_slice(),
            None => &[],
        };
        // Iterations begin when the rank that marks them comes, which may be the first of all.
        let iteration = begins.partition_point(|begin| *begin < step.start);
        let since =
            iteration.checked_sub(THRESHOLDS.iterations_back).map_or(interval.begin, |before| begins[before]);
        baseline.beyond(excess, since, meetings, &mut found);
    }
    // What several waits are blamed on was too long once.
    keep_longest(&mut found);
    let mut by_doing: FxHashMap<Doing, Vec<Excess>> = FxHashMap::default();
    for excess in found {
        let step = &steps[excess.step as usize];
        // What lies before the part of the run that is looked at is left alone.
        if step.start >= interval.begin {
            by_doing.entry(doing(step, &excess)).or_default().push(excess);
        }
    }
    by_doing
}

fn doing(step: &Step, excess: &Excess) -> Doing {
    match excess.inside {
        true => Doing::Calling(step.op(), step.site()),
        false => Doing::Computing(step.site()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What 64 ranks have in 2,000 iterations each, looked at in so many shares.
    fn in_shares(shares: u32) -> Stretches {
        let each = 64 / shares;
        let share = |share: u32| {
            let mut stretches = Stretches::default();
            for rank in share * each..(share + 1) * each {
                (0..2000).for_each(|iteration| {
                    let gap = Length(i64::from(rank) * 10 + iteration as i64 % 7);
                    stretches.add((rank, 1), iteration, Length(1));
                    stretches.add((rank, 1), iteration, gap.max(Length(2)));
                });
            }
            stretches
        };
        (0..shares).map(share).reduce(Stretches::and).unwrap()
    }

    #[test]
    fn the_baseline_does_not_depend_on_the_number_of_threads() {
        let kept = |mut stretches: Stretches| {
            stretches.end_iteration();
            stretches.longest.sort_unstable();
            (stretches.longest, stretches.least_key, stretches.ranks)
        };
        let alone = kept(in_shares(1));
        assert!((MOST / 2..2 * MOST).contains(&alone.0.len()) && alone.1 > 0 && alone.2 == 64);
        for shares in [2, 4, 32] {
            assert!(kept(in_shares(shares)) == alone, "{shares} shares");
        }
        // A tenth of the ranks have less than 64.
        let baseline = in_shares(8).baseline();
        assert!((Length(50)..Length(76)).contains(&baseline), "{baseline:?}");
    }

    #[test]
    fn what_was_too_long_on_a_strand_is_in_one_share() {
        let excess = |step| Excess { step, length: Length(1), rank: 0, inside: false };
        let excesses: Vec<Excess> = [0, 3, 3, 9, 10, 11, 25, 31].into_iter().map(excess).collect();
        let first_steps = [0, 10, 20, 30];
        for threads in 0..12 {
            let shares = shares_of_strands(&excesses, &first_steps, threads);
            assert!(shares.concat() == excesses && shares.len() <= threads.max(1));
            let strand = |excess: &Excess| excess.step / 10;
            let apart = shares.windows(2).all(|pair| strand(pair[0].last().unwrap()) < strand(&pair[1][0]));
            assert!(apart, "{threads} threads");
        }
        assert!(shares_of_strands(&[], &first_steps, 3).is_empty());
    }
}
