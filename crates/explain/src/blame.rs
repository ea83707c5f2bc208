//! Who made others wait, and with what.
//!
//! While a rank waits for another, that other does something: it computes, is inside a call, or waits itself for a
//! third. What it did in just the time it was waited for is to blame. Where it waited itself, the blame goes on to
//! whom it waited for: that part is *propagated*. So every nanosecond of waiting ends at computation or at a call of
//! somebody, or before the first call.
//!
//! Waits are looked at from the last to the first. A wait can only be to blame for waits that end later, so its own
//! load of blame is complete when its turn comes, and each wait is passed on once. What is passed on keeps the stretch
//! of time it belongs to: a rank is not blamed for what it did before anybody was held up by it. A wait keeps only a
//! few stretches apart, so that memory and time stay in proportion to the number of waits.

use crate::waits::LongWait;
use kizami_graph::{Graph, Step, StepKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// What somebody did while others waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Doing {
    /// Computed what leads up to a call at a place.
    Computing(Option<u32>),
    /// Was inside a call of this function at a place.
    Calling(u16, Option<u32>),
    /// Had not made its first call.
    Starting,
}

/// Whose doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Culprit {
    pub rank: u32,
    pub doing: Doing,
}

/// What somebody's doing cost others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blame {
    /// Others waited for just this.
    pub direct_ns: f64,
    /// Others waited for somebody who waited for this.
    pub propagated_ns: f64,
    /// By how much it would have to be shorter for (half of) those who waited not to wait, each time it made others
    /// wait: sum, sum of squares, and how often.
    pub excess: Excess,
    /// Ranks that waited directly.
    pub waiting: FxHashSet<u32>,
    /// How long they waited, by function and place.
    pub at: FxHashMap<(u16, Option<u32>), f64>,
}

/// Lengths that were added up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Excess {
    pub times: u64,
    pub ns: f64,
    pub squares: f64,
}

impl Excess {
    fn add(&mut self, ns: f64) {
        (self.times, self.ns, self.squares) = (self.times + 1, self.ns + ns, self.squares + ns * ns);
    }

    /// How far the sum may be off, if it is taken again in another run: twice its standard deviation.
    pub(crate) fn error_ns(&self) -> f64 {
        let mean = self.ns / self.times.max(1) as f64;
        2.0 * (self.squares - self.ns * mean).max(0.0).sqrt()
    }
}

/// Stretches of time a wait keeps apart.
const MOST_LOADS: usize = 4;

/// A stretch of time in which somebody who waited was waited for, and how long others waited meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Load {
    from_ns: i64,
    until_ns: i64,
    waited_ns: f64,
}

impl Load {
    /// What of it falls into another stretch of time.
    fn part(&self, from_ns: i64, until_ns: i64) -> Option<Load> {
        let (from_ns, until_ns) = (from_ns.max(self.from_ns), until_ns.min(self.until_ns));
        let whole_ns = (self.until_ns - self.from_ns) as f64;
        let waited_ns = self.waited_ns * (until_ns - from_ns) as f64 / whole_ns;
        (until_ns > from_ns).then_some(Load { from_ns, until_ns, waited_ns })
    }

    /// Both as one, spread evenly.
    fn with(&self, other: &Load) -> Load {
        Load {
            from_ns: self.from_ns.min(other.from_ns),
            until_ns: self.until_ns.max(other.until_ns),
            waited_ns: self.waited_ns + other.waited_ns,
        }
    }

    /// Adds it to others: to one of the same stretch, or if there are many, to the one that it fits best.
    fn add_to(self, loads: &mut Vec<Load>) {
        // 0 if both are of the same stretch.
        let apart_ns =
            |load: &Load| (load.from_ns - self.from_ns).abs() + (load.until_ns - self.until_ns).abs();
        let full = loads.len() >= MOST_LOADS;
        match loads.iter_mut().min_by_key(|load| apart_ns(load)) {
            Some(best) if full || apart_ns(best) == 0 => *best = best.with(&self),
            _ => loads.push(self),
        }
    }
}

/// Finds who is to blame. `waits` are those of a run, the last to end first.
pub(crate) fn blame(graph: &Graph, waits: &[LongWait]) -> FxHashMap<Culprit, Blame> {
    let by_step: FxHashMap<u64, u32> =
        waits.iter().zip(0..).map(|(wait, index)| (wait.step, index)).collect();
    let mut loads: FxHashMap<u32, Vec<Load>> = FxHashMap::default();
    let medians = medians(waits);
    let mut blamed: FxHashMap<Culprit, Blame> = FxHashMap::default();
    for (index, wait) in (0u32..).zip(waits) {
        let carried = loads.remove(&index).unwrap_or_default();
        let representative = medians.get(&wait.of).is_some_and(|median| *median == index);
        let (waiting, waited_in) =
            (graph.strands[wait.strand as usize].rank.0, &graph.steps[wait.step as usize]);
        let rank = graph.strands[wait.of_strand as usize].rank.0;
        let mut excess: Vec<(Doing, i64)> = Vec::new();
        look_back(graph, wait, &mut |doing, from_ns, until_ns, step| {
            // Where it waited itself, that is passed on; the rest is to blame on what it did.
            let mut waited = (from_ns, from_ns);
            if let Some(earlier) = step.and_then(|step| by_step.get(&step)) {
                let other = &waits[*earlier as usize];
                let clip = |ns: i64| ns.clamp(from_ns, until_ns);
                waited = (clip(other.from_ns), clip(other.until_ns));
                if waited.1 > waited.0 {
                    let own = Load {
                        from_ns: waited.0,
                        until_ns: waited.1,
                        waited_ns: (waited.1 - waited.0) as f64,
                    };
                    let passed = loads.entry(*earlier).or_default();
                    own.add_to(passed);
                    for load in carried.iter().filter_map(|load| load.part(waited.0, waited.1)) {
                        load.add_to(passed);
                    }
                }
            }
            for (from_ns, until_ns) in [(from_ns, waited.0), (waited.1, until_ns)] {
                let parts = carried.iter().filter_map(|load| load.part(from_ns, until_ns));
                let propagated_ns = parts.map(|part| part.waited_ns).sum();
                let culprit = Culprit { rank, doing };
                add(&mut blamed, culprit, until_ns - from_ns, propagated_ns, waiting, waited_in);
            }
            excess.push((doing, until_ns - from_ns - (waited.1 - waited.0)));
        });
        if representative {
            excess.sort_unstable();
            for group in excess.chunk_by(|a, b| a.0 == b.0) {
                let sum: i64 = group.iter().map(|(_, ns)| *ns).sum();
                if sum > 0 {
                    blamed.entry(Culprit { rank, doing: group[0].0 }).or_default().excess.add(sum as f64);
                }
            }
        }
    }
    blamed
}

fn add(
    blamed: &mut FxHashMap<Culprit, Blame>,
    culprit: Culprit,
    direct_ns: i64,
    propagated_ns: f64,
    waiting: u32,
    waited_in: &Step,
) {
    if direct_ns <= 0 {
        return;
    }
    let blame = blamed.entry(culprit).or_default();
    blame.direct_ns += direct_ns as f64;
    blame.propagated_ns += propagated_ns;
    blame.waiting.insert(waiting);
    *blame.at.entry((waited_in.op().0, waited_in.site())).or_default() += direct_ns as f64;
}

/// For each step that was waited for, the wait of middle length.
fn medians(waits: &[LongWait]) -> FxHashMap<u64, u32> {
    let mut order: Vec<(u64, i64, u32)> =
        waits.iter().zip(0..).map(|(wait, index)| (wait.of, wait.length_ns(), index)).collect();
    order.sort_unstable();
    order.chunk_by(|a, b| a.0 == b.0).map(|group| (group[0].0, group[group.len() / 2].2)).collect()
}

/// Goes back over what a strand did before the step that was waited for, as long as it was waited for. Tells each
/// piece: what it was, from when, until when, and the step if it was a call.
fn look_back(graph: &Graph, wait: &LongWait, tell: &mut dyn FnMut(Doing, i64, i64, Option<u64>)) {
    let first = graph.strands[wait.of_strand as usize].first_step;
    let mut index = wait.of;
    let mut until_ns = wait.until_ns;
    while until_ns > wait.from_ns {
        let step = &graph.steps[index as usize];
        // Inside the step that was waited for: only if clocks disagree.
        until_ns = until_ns.min(step.start_ns.max(wait.from_ns));
        let Some(before) = before(graph, index, first) else {
            return tell(Doing::Starting, wait.from_ns, until_ns, None);
        };
        let last = &graph.steps[before as usize];
        let from_ns = last.end_ns.max(wait.from_ns);
        if until_ns > from_ns {
            tell(Doing::Computing(step.site()), from_ns, until_ns, None);
            until_ns = from_ns;
        }
        let from_ns = last.start_ns.max(wait.from_ns);
        if until_ns > from_ns {
            tell(Doing::Calling(last.op().0, last.site()), from_ns, until_ns, Some(before));
            until_ns = from_ns;
        }
        index = before;
    }
}

/// The call before a step of the same strand, whose first one is known.
pub(crate) fn before(graph: &Graph, mut index: u64, first: u64) -> Option<u64> {
    loop {
        // Steps of one rank lie together; those of its other threads are between.
        index = (first..index).rev().find(|before| {
            let step = &graph.steps[*before as usize];
            step.next > 0 && before + u64::from(step.next) == index
        })?;
        // Parts lie within the call before them, at its start.
        if graph.steps[index as usize].kind() != StepKind::Part {
            return Some(index);
        }
    }
}
