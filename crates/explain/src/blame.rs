//! Who made others wait, and with what.
//!
//! While a rank waits for another, that other does something: it computes, is inside a call, or waits itself for a
//! third. What it did in just the time it was waited for is to blame. Where it waited itself, the blame goes on to
//! whom it waited for: that part is *propagated*. So every nanosecond of waiting ends at computation or at a call of
//! somebody, or before the first call. Where all of a collective are waited for, those who are not there yet share
//! the blame (`lateness`).
//!
//! Waits are looked at from the last to the first, those for the same step together. A wait can only be to blame for
//! waits that end later, so its own load of blame is complete when its turn comes, and each wait is passed on once.
//! What is passed on keeps the stretch of time it belongs to: a rank is not blamed for what it did before anybody was
//! held up by it. A wait keeps only a few stretches apart, so that memory and time stay in proportion to the number of
//! waits.

use crate::lateness::{Arrival, Arrivals, Lateness, Load};
use crate::marks::{ByStep, RankSet};
use crate::pattern::Pattern;
use crate::waits::LongWait;
use kizami_graph::{Graph, StepKind};
use kizami_model::{Kind, Length, Moment, Op};
use kizami_replay::PairInterner;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What somebody did while others waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Doing {
    /// Computed what leads up to a call at a place.
    Computing(Option<u32>),
    /// Was inside a call of this function at a place.
    Calling(Op, Option<u32>),
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
    /// What both are a part of: what was waited at those times for all who were late together.
    pub whole_ns: f64,
}

/// Who waited for something that was done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waited {
    /// Ranks that waited directly.
    pub ranks: RankSet,
    /// How long they waited, by function and place: mostly few.
    pub at: Vec<((Op, Option<u32>), f64)>,
    /// The same by kind of waiting.
    pub patterns: Vec<(Pattern, f64)>,
    /// When it was done at its worst.
    pub worst: Occasion,
}

impl Waited {
    /// In which way they waited most.
    pub(crate) fn most(&self) -> Option<Pattern> {
        self.patterns.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(pattern, _)| *pattern)
    }
}

/// The middle of what somebody did at one time, and what that cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Occasion {
    pub cost_ns: f64,
    pub strand: u32,
    pub at: Moment,
}

impl Occasion {
    /// The worse of both; of equal ones the first that was told.
    fn worse(self, other: Occasion) -> Occasion {
        if other.cost_ns > self.cost_ns { other } else { self }
    }
}

/// All blame of a run.
#[derive(Debug, Default)]
pub(crate) struct Blamed {
    pub culprits: FxHashMap<Culprit, Blame>,
    pub waited: FxHashMap<Doing, Waited>,
    /// Each time something made others wait, in the order of steps.
    pub excesses: Vec<Excess>,
}

/// Something that was too long: by so much it would have to be shorter to come when most of those who waited for it
/// did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    /// The call, or the one that computation leads up to.
    pub step: u64,
    pub length: Length,
    pub rank: u32,
    /// It was the call itself.
    pub inside: bool,
}

/// Finds who is to blame. `waits` are those of a run, the last to end first, and those for the same step together.
pub(crate) fn blame(graph: &Graph, waits: &[LongWait], by_step: &ByStep) -> Blamed {
    let mut inquiry = Inquiry {
        graph,
        waits,
        by_step,
        arrivals: Arrivals::new(graph, waits),
        loads: Loads::of(waits.len()),
        lateness: Lateness::default(),
        doings: Vec::new(),
        late: Vec::new(),
        carried: Vec::new(),
        lengths: Vec::new(),
        too_long: Vec::new(),
        numbers: PairInterner::default(),
        culprits: Vec::new(),
        waited: FxHashMap::default(),
    };
    let (mut begin, mut too_many) = (0, 1 << 20);
    for group in waits.chunk_by(|a, b| (a.until, a.of) == (b.until, b.of)) {
        inquiry.look_at(begin..begin + group.len());
        begin += group.len();
        if inquiry.too_long.len() >= too_many {
            inquiry.keep_longest();
            too_many = too_many.max(2 * inquiry.too_long.len());
        }
    }
    inquiry.end()
}

struct Inquiry<'a> {
    graph: &'a Graph,
    waits: &'a [LongWait],
    by_step: &'a ByStep,
    arrivals: Arrivals,
    /// What was passed on to waits whose turn is still to come.
    loads: Loads,
    lateness: Lateness,
    /// What those who are late did.
    doings: Vec<Done>,
    /// Kept for their memory.
    late: Vec<Arrival>,
    carried: Vec<Load>,
    lengths: Vec<Length>,
    /// Computation and calls that made others wait.
    too_long: Vec<Excess>,
    /// Where a culprit is in the list: by rank, then by what it did.
    numbers: PairInterner<Doing>,
    culprits: Vec<(Culprit, Blame)>,
    waited: FxHashMap<Doing, Waited>,
}

/// What was passed on, by the index of the wait: most have nothing, and few are under way at a time.
struct Loads {
    /// Where the list of each wait is among the lists.
    places: Vec<u32>,
    lists: Vec<Vec<Load>>,
    /// Lists that nobody has.
    free: Vec<u32>,
}

impl Loads {
    const NOWHERE: u32 = u32::MAX;

    fn of(waits: usize) -> Loads {
        Loads { places: vec![Loads::NOWHERE; waits], lists: Vec::new(), free: Vec::new() }
    }

    fn of_wait(&mut self, wait: usize) -> &mut Vec<Load> {
        let Loads { places, lists, free } = self;
        if places[wait] == Loads::NOWHERE {
            places[wait] = free.pop().unwrap_or_else(|| {
                lists.push(Vec::new());
                lists.len() as u32 - 1
            });
        }
        &mut lists[places[wait] as usize]
    }

    /// Adds what a wait has to a list; it has nothing then.
    fn take(&mut self, wait: usize, to: &mut Vec<Load>) {
        let place = std::mem::replace(&mut self.places[wait], Loads::NOWHERE);
        if place != Loads::NOWHERE {
            to.append(&mut self.lists[place as usize]);
            self.free.push(place);
        }
    }
}

/// What several who are late did at one time.
struct Done {
    doing: Doing,
    /// What it cost directly.
    direct_ns: f64,
    /// Until when it was done at the latest.
    until: Moment,
    worst: Occasion,
}

impl Inquiry<'_> {
    /// Waits for the same step.
    fn look_at(&mut self, group: Range<usize>) {
        let waits = &self.waits[group.clone()];
        let (until, last) = (waits[0].until, waits[0]);
        let from = waits.iter().map(|wait| wait.from).min().unwrap_or(until);
        let mut late = std::mem::take(&mut self.late);
        late.clear();
        match self.arrivals.after(self.graph, &last, from) {
            Some(others) => late.extend_from_slice(others),
            None => late.push(Arrival { at: until, step: last.of, strand: last.of_strand }),
        }
        self.carried.clear();
        group.for_each(|index| self.loads.take(index, &mut self.carried));
        self.lateness.set(self.graph, waits, &self.carried, &late);
        self.doings.clear();
        let mut lengths = std::mem::take(&mut self.lengths);
        lengths.clear();
        lengths.extend(waits.iter().map(|wait| until - self.came(wait)));
        let usual = until - middle(&mut lengths);
        for arrival in &late {
            let until = arrival.at.min(until);
            self.look_back(*arrival, from.min(usual), until, usual);
        }
        self.note_who_waited(waits);
        (self.late, self.lengths) = (late, lengths);
    }

    /// When one came to what it waits for. Only where a call of its own began that, that is not when it began to wait.
    fn came(&self, wait: &LongWait) -> Moment {
        let step = &self.graph.steps[wait.step as usize];
        match step.op().kind() {
            Kind::Complete => self.arrivals.came(self.graph, wait),
            _ => wait.from,
        }
    }

    /// What one who was late did meanwhile. Those it should have come with came at `usual`.
    fn look_back(&mut self, late: Arrival, from: Moment, until: Moment, usual: Moment) {
        let (graph, waits) = (self.graph, self.waits);
        let rank = graph.strands[late.strand as usize].rank;
        let (rank, ranks) = (rank.0, f64::from(graph.weight(rank)));
        look_back(graph, late, from, until, &mut |doing, from, until, step| {
            // Where it waited itself, that is passed on; the rest is to blame on what it did.
            let mut waited = (from, from);
            if let (Doing::Calling(..), Some(earlier)) = (doing, self.by_step.find(step)) {
                let other = &waits[earlier as usize];
                waited = (other.from.clamp(from, until), other.until.clamp(from, until));
                if waited.1 > waited.0 {
                    self.lateness.pass_on(waited.0, waited.1, ranks, self.loads.of_wait(earlier as usize));
                }
            }
            let mut excess = Length::ZERO;
            for (from, until) in [(from, waited.0), (waited.1, until)] {
                if until <= from {
                    continue;
                }
                excess += (until - from.max(usual)).at_least_zero();
                let cost = self.lateness.between(from, until).of_ranks(ranks);
                // Before anybody waited.
                if cost.sum_ns() <= 0.0 {
                    continue;
                }
                let blame = self.blame_of(Culprit { rank, doing });
                blame.direct_ns += cost.direct_ns;
                blame.propagated_ns += cost.propagated_ns;
                blame.whole_ns += cost.whole_ns;
                let at = from + (until - from) / 2;
                let worst = Occasion { cost_ns: cost.sum_ns(), strand: late.strand, at };
                match self.doings.iter_mut().find(|done| done.doing == doing) {
                    Some(done) => {
                        done.direct_ns += cost.direct_ns;
                        done.until = done.until.max(until);
                        done.worst = done.worst.worse(worst);
                    }
                    None => self.doings.push(Done { doing, direct_ns: cost.direct_ns, until, worst }),
                }
            }
            if excess > Length::ZERO && doing != Doing::Starting {
                let inside = matches!(doing, Doing::Calling(..));
                self.too_long.push(Excess { step, length: excess, rank, inside });
            }
        });
    }

    /// Who waited while these things were done, and where.
    fn note_who_waited(&mut self, waits: &[LongWait]) {
        for Done { doing, direct_ns, until, worst } in &self.doings {
            let held = || waits.iter().filter(|wait| wait.from < *until);
            let all: Length = held().map(|wait| *until - wait.from).sum();
            let waited = self.waited.entry(*doing).or_default();
            waited.worst = waited.worst.worse(*worst);
            for wait in held() {
                let step = &self.graph.steps[wait.step as usize];
                waited.ranks.insert(self.graph.strands[wait.strand as usize].rank.0);
                let part = (*until - wait.from).0 as f64 / all.0 as f64;
                let at = (step.op(), step.site());
                match waited.at.iter_mut().find(|(known, _)| *known == at) {
                    Some((_, ns)) => *ns += direct_ns * part,
                    None => waited.at.push((at, direct_ns * part)),
                }
                match waited.patterns.iter_mut().find(|(known, _)| *known == wait.pattern) {
                    Some((_, ns)) => *ns += direct_ns * part,
                    None => waited.patterns.push((wait.pattern, direct_ns * part)),
                }
            }
        }
    }

    /// What several waited for was too long once: by as much as it was for the one who says most.
    fn keep_longest(&mut self) {
        keep_longest(&mut self.too_long);
    }

    fn end(mut self) -> Blamed {
        self.keep_longest();
        let mut blamed =
            Blamed { waited: self.waited, excesses: self.too_long, culprits: FxHashMap::default() };
        // One after the other: sums over them must not depend on how the table grew.
        for (culprit, blame) in self.culprits {
            blamed.culprits.insert(culprit, blame);
        }
        blamed
    }

    fn blame_of(&mut self, culprit: Culprit) -> &mut Blame {
        let (number, new) = self.numbers.number(culprit.rank as usize, culprit.doing);
        if new {
            self.culprits.push((culprit, Blame::default()));
        }
        &mut self.culprits[number].1
    }
}

/// Leaves the longest of those that are the same, in the order of steps.
pub(crate) fn keep_longest(excesses: &mut Vec<Excess>) {
    let which = |excess: &Excess| excess.step << 1 | u64::from(excess.inside);
    // Most are in order already, and this way of sorting makes use of that.
    excesses.sort_by_key(which);
    excesses.dedup_by(|next, kept| {
        let same = which(next) == which(kept);
        if same && next.length > kept.length {
            *kept = *next;
        }
        same
    });
}

/// The length in the middle of the time they take together: half of it is in those that are no longer. Short ones do not
/// count for much.
pub(crate) fn middle(lengths: &mut [Length]) -> Length {
    lengths.sort_unstable();
    let all: Length = lengths.iter().copied().sum();
    let mut so_far = Length::ZERO;
    let middle = lengths.iter().find(|length| {
        so_far += **length;
        so_far * 2 >= all
    });
    middle.copied().unwrap_or_default()
}

/// Goes back over what a strand did before the step that was waited for, as long as it was waited for. Tells each
/// piece: what it was, from when, until when, and the step: the call, or the one that computation leads up to.
fn look_back(
    graph: &Graph,
    late: Arrival,
    from: Moment,
    mut until: Moment,
    tell: &mut dyn FnMut(Doing, Moment, Moment, u64),
) {
    let first = graph.strands[late.strand as usize].first_step;
    let mut index = late.step;
    while until > from {
        let step = &graph.steps[index as usize];
        // Inside the step that was waited for: only if clocks disagree.
        until = until.min(step.start.max(from));
        let Some(before) = before(graph, index, first) else {
            return tell(Doing::Starting, from, until, index);
        };
        let last = &graph.steps[before as usize];
        let begin = last.end.max(from);
        if until > begin {
            tell(Doing::Computing(step.site()), begin, until, index);
            until = begin;
        }
        let begin = last.start.max(from);
        if until > begin {
            tell(Doing::Calling(last.op(), last.site()), begin, until, before);
            until = begin;
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
