//! How long computation before a call usually is: what others waited for is too long only by what is beyond that.
//!
//! A rank that was held up itself makes others wait while it does what everybody does. Nothing of that is too long. What
//! counts is the longest stretch of each rank in each iteration: between the sends of a loop there is some computation, too.

use crate::work_interval::WorkInterval;
use kizami_blame::Pattern;
use kizami_blame::{Blamed, Doing, Excess, Waited, before, keep_longest};
use kizami_graph::{Graph, Step, StepKind};
use kizami_model::{Length, Moment};
use rustc_hash::FxHashMap;

/// The shortest of so many are usual: a tenth.
const SHORTEST_PART: f64 = 0.1;
/// Computation that fewer ranks have is that of those who do something else than the others.
const MOST_OF_THE_RANKS: f64 = 0.75;
/// Stretches of computation of one place that are looked at.
const MOST: usize = 1 << 14;
/// Calls that are looked back over from one that was late.
const MOST_BACK: usize = 1 << 10;

/// By place: what is usual there, if most ranks compute there.
struct Usual<'a> {
    graph: &'a Graph,
    first_steps: Vec<u64>,
    by_site: FxHashMap<u32, Length>,
}

/// What is known of a place so far.
#[derive(Default)]
struct Known {
    /// The longest stretch of each rank in each iteration.
    longest: Vec<Length>,
    /// Only each so-manieth is kept.
    each: usize,
    seen: usize,
    /// Rank and iteration that are being looked at, and the longest there.
    now: Option<(u32, usize, Length)>,
    ranks: usize,
}

impl Known {
    fn add(&mut self, (rank, ranks): (u32, u32), iteration: usize, gap: Length) {
        self.now = match self.now {
            Some((known, of, longest)) if (known, of) == (rank, iteration) => {
                Some((rank, iteration, longest.max(gap)))
            }
            before => {
                let new = before.is_none_or(|(known, ..)| known != rank);
                self.ranks += if new { ranks as usize } else { 0 };
                self.end_iteration();
                Some((rank, iteration, gap))
            }
        };
    }

    fn end_iteration(&mut self) {
        let Some((.., longest)) = self.now.take() else { return };
        self.each = self.each.max(1);
        if self.seen.is_multiple_of(self.each) {
            self.longest.push(longest);
        }
        self.seen += 1;
        if self.longest.len() >= 2 * MOST {
            let mut number = 0;
            self.longest.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.each *= 2;
        }
    }

    fn usual(mut self) -> Length {
        self.end_iteration();
        self.longest.sort_unstable();
        self.longest.get((self.longest.len() as f64 * SHORTEST_PART) as usize).copied().unwrap_or_default()
    }
}

impl<'a> Usual<'a> {
    /// `begins` are those of iterations.
    fn of(graph: &'a Graph, excesses: &[Excess], begins: &[Moment]) -> Usual<'a> {
        // By call site; nothing where nothing is looked for.
        let mut known: Vec<Option<Known>> = Vec::new();
        for excess in excesses.iter().filter(|excess| !excess.inside) {
            if let Some(site) = graph.steps[excess.step as usize].site() {
                let longer = (site as usize + 1).max(known.len());
                known.resize_with(longer, || None);
                known[site as usize].get_or_insert_default();
            }
        }
        for strand in &graph.strands {
            let ranks = (strand.rank.0, graph.weight(strand.rank));
            let (mut index, mut last_end, mut iteration) = (strand.first_step, None, 0);
            loop {
                let step = &graph.steps[index as usize];
                if step.kind() != StepKind::Part {
                    let place = step.site().and_then(|site| known.get_mut(site as usize)?.as_mut());
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
        let most = MOST_OF_THE_RANKS * f64::from(graph.ranks());
        let known = (0..).zip(known).filter_map(|(site, known)| Some((site, known?)));
        let shared = known.filter(|(_, known)| known.ranks > 1 && known.ranks as f64 >= most);
        let mut first_steps: Vec<u64> = graph.strands.iter().map(|strand| strand.first_step).collect();
        first_steps.sort_unstable();
        Usual { graph, first_steps, by_site: shared.map(|(site, known)| (site, known.usual())).collect() }
    }

    /// What is beyond. What is taken off for being usual was lost earlier, where the same computation was too long as
    /// well: since `since` at the most, and since the last call at one of the `meetings`.
    fn beyond(&self, excess: &Excess, since: Moment, meetings: &[Option<u32>], found: &mut Vec<Excess>) {
        let site = self.graph.steps[excess.step as usize].site();
        let usual = site.and_then(|site| self.by_site.get(&site)).filter(|_| !excess.inside);
        let Some(usual) = usual else { return found.push(*excess) };
        // Steps of one rank lie together, so that looking from the first of any of its strands on is enough.
        let first = self.first_steps[self.first_steps.partition_point(|first| *first <= excess.step) - 1];
        let (mut left, mut index) = (excess.length, excess.step);
        for _ in 0..MOST_BACK {
            let step = &self.graph.steps[index as usize];
            let last = before(self.graph, index, first);
            let end = last.map(|last| self.graph.steps[last as usize].end);
            let gap = end.map_or(Length::ZERO, |end| step.start.saturating_since(end));
            let length = left.min(gap - *usual);
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
/// before a root or a target can go on, whoever waits for that does something else meanwhile.
fn one_waits_for_all(pattern: Pattern) -> bool {
    matches!(
        pattern,
        Pattern::LockContention | Pattern::EarlyWait | Pattern::LateComplete | Pattern::EarlyReduce
    )
}

/// What was too long, beyond what is usual: what was done, and each time it was.
pub(crate) fn too_long(
    graph: &Graph,
    blamed: &Blamed,
    interval: WorkInterval,
    begins: &[Moment],
) -> Vec<(Doing, Excess)> {
    let usual = Usual::of(graph, &blamed.excesses, begins);
    // Where those waited who waited for something; nothing where its usual length does not count.
    let meetings = |waited: &Waited| {
        let counts = !waited.most().is_some_and(one_waits_for_all);
        counts.then(|| waited.at.iter().map(|((_, site), _)| *site).collect())
    };
    let meetings: FxHashMap<Doing, Option<Vec<Option<u32>>>> =
        blamed.waited.iter().map(|(doing, waited)| (*doing, meetings(waited))).collect();
    let mut found = Vec::new();
    for excess in &blamed.excesses {
        let step = &graph.steps[excess.step as usize];
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
        let since = iteration.checked_sub(2).map_or(interval.begin, |before| begins[before]);
        usual.beyond(excess, since, meetings, &mut found);
    }
    // What several waits are blamed on was too long once.
    keep_longest(&mut found);
    // What lies before the part of the run that is looked at is left alone.
    let inside = found.into_iter().map(|excess| (&graph.steps[excess.step as usize], excess));
    let inside = inside.filter(|(step, _)| step.start >= interval.begin);
    inside.map(|(step, excess)| (doing(step, &excess), excess)).collect()
}

fn doing(step: &Step, excess: &Excess) -> Doing {
    match excess.inside {
        true => Doing::Calling(step.op(), step.site()),
        false => Doing::Computing(step.site()),
    }
}
