//! The cost of lateness, when several ranks are late together.
//!
//! Of each stretch of time every rank that is not there yet has an equal part: `waiting / late` of its length, where
//! `waiting` is how many wait and `late` how many have yet to come. What was passed on to those who wait is shared in
//! the same way. So every nanosecond of waiting is blamed once, and a rank that comes last has more than one that comes last
//! but one.

use crate::arrivals::Arrival;
use crate::waits::LongWait;
use kizami_graph::Graph;
use kizami_model::{Length, Moment};

/// Stretches of time a wait keeps apart.
const MOST_LOADS: usize = 4;

/// A stretch of time in which a waiting rank was waited for, and how long others waited meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Load {
    pub from: Moment,
    pub until: Moment,
    pub waited_ns: f64,
}

impl Load {
    /// Both as one, spread evenly.
    fn with(&self, other: &Load) -> Load {
        Load {
            from: self.from.min(other.from),
            until: self.until.max(other.until),
            waited_ns: self.waited_ns + other.waited_ns,
        }
    }

    /// Adds it to others: to one of the same stretch, or if there are many, to the one that it fits best.
    pub(crate) fn add_to(self, loads: &mut Vec<Load>) {
        // Nothing if both are of the same stretch.
        let apart = |load: &Load| (load.from - self.from).abs() + (load.until - self.until).abs();
        let full = loads.len() >= MOST_LOADS;
        match loads.iter_mut().min_by_key(|load| apart(load)) {
            Some(best) if full || apart(best) == Length::ZERO => *best = best.with(&self),
            _ => loads.push(self),
        }
    }
}

/// What it costs within some stretch of time that one of those who are late is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Others wait for it.
    pub direct_ns: f64,
    /// Others wait for those who wait.
    pub propagated_ns: f64,
    /// What both are a part of: for all who are late.
    pub whole_ns: f64,
}

impl Cost {
    /// The same for so many who are late alike.
    pub(crate) fn of_ranks(&self, ranks: f64) -> Cost {
        Cost { direct_ns: ranks * self.direct_ns, propagated_ns: ranks * self.propagated_ns, ..*self }
    }

    pub(crate) fn sum_ns(&self) -> f64 {
        self.direct_ns + self.propagated_ns
    }

    fn plus(&self, other: &Cost, times: f64) -> Cost {
        Cost {
            direct_ns: self.direct_ns + times * other.direct_ns,
            propagated_ns: self.propagated_ns + times * other.propagated_ns,
            whole_ns: self.whole_ns + times * other.whole_ns,
        }
    }
}

/// The cost of being late, from the first who waits to the last who comes.
#[derive(Default)]
pub(crate) struct Lateness {
    changes: Vec<Change>,
    /// In order: when the cost begins to grow faster or slower. It grows evenly between them.
    moments: Vec<Moment>,
    /// The cost up to each.
    sums: Vec<Cost>,
}

/// What is different from a moment on.
#[derive(Clone, Copy)]
struct Change {
    at: Moment,
    waiting: f64,
    load: f64,
    late: f64,
}

impl Lateness {
    /// Those who wait for the same, what was passed on to them, and those who are late, up to the end of the wait.
    /// Each counts as often as there are ranks that its strand stands for.
    pub(crate) fn set(&mut self, graph: &Graph, waits: &[LongWait], loads: &[Load], late: &[Arrival]) {
        let ranks = |strand: u32| f64::from(graph.weight(graph.strands[strand as usize].rank));
        let Some(until) = waits.first().map(|wait| wait.until) else { return };
        let none = Change { at: until, waiting: 0.0, load: 0.0, late: 0.0 };
        self.changes.clear();
        let begins = |wait: &LongWait| Change { at: wait.from, waiting: ranks(wait.strand), ..none };
        self.changes.extend(waits.iter().map(begins));
        for load in loads {
            let even = load.waited_ns / (load.until - load.from).0 as f64;
            self.changes.push(Change { at: load.from, load: even, ..none });
            self.changes.push(Change { at: load.until, load: -even, ..none });
        }
        let comes =
            |arrival: &Arrival| Change { at: arrival.at.min(until), late: -ranks(arrival.strand), ..none };
        self.changes.extend(late.iter().map(comes));
        self.changes.push(none);
        self.changes.sort_unstable_by_key(|change| change.at);

        self.moments.clear();
        self.sums.clear();
        let mut now = Change { late: late.iter().map(|arrival| ranks(arrival.strand)).sum(), ..none };
        let mut sum = Cost::default();
        for change in self.changes.iter().take_while(|change| change.at <= until) {
            match self.moments.last() {
                Some(before) if *before == change.at => {}
                Some(before) => {
                    let each = Cost {
                        direct_ns: now.waiting / now.late,
                        propagated_ns: now.load / now.late,
                        whole_ns: now.waiting + now.load,
                    };
                    sum = sum.plus(&each, (change.at - *before).0 as f64);
                    self.moments.push(change.at);
                    self.sums.push(sum);
                }
                None => {
                    self.moments.push(change.at);
                    self.sums.push(sum);
                }
            }
            now.waiting += change.waiting;
            now.load += change.load;
            now.late += change.late;
        }
    }

    /// The cost of one late rank within some stretches of time, queried one after the other.
    pub(crate) fn costs(&self) -> Costs<'_> {
        Costs { of: self, last: (Moment(i64::MIN), Cost::default()) }
    }

    fn until(&self, at: Moment) -> Cost {
        let next = self.moments.partition_point(|moment| *moment <= at);
        let Some(last) = next.checked_sub(1) else { return Cost::default() };
        let (earlier, before) = (self.moments[last], &self.sums[last]);
        match (self.moments.get(next), self.sums.get(next)) {
            (Some(later), Some(after)) => {
                let part = (at - earlier).0 as f64 / (*later - earlier).0 as f64;
                before.plus(&after.plus(before, -1.0), part)
            }
            _ => *before,
        }
    }

    /// Passes the cost within a stretch of time on to a wait of so many ranks, in the parts in which it is spread evenly if
    /// they are few.
    pub(crate) fn pass_on(&self, from: Moment, until: Moment, ranks: f64, loads: &mut Vec<Load>) {
        let first = self.moments.partition_point(|moment| *moment <= from);
        let last = self.moments.partition_point(|moment| *moment < until).max(first);
        let between = if last - first < MOST_LOADS { &self.moments[first..last] } else { &[] };
        let (mut from, mut costs) = (from, self.costs());
        for until in between.iter().copied().chain([until]) {
            let waited_ns = ranks * costs.between(from, until).sum_ns();
            Load { from, until, waited_ns }.add_to(loads);
            from = until;
        }
    }
}

/// The cost of one late rank. Stretches queried one after the other have a border in common, which is looked up
/// once.
pub(crate) struct Costs<'a> {
    of: &'a Lateness,
    /// The border that was looked up last, and the cost up to it.
    last: (Moment, Cost),
}

impl Costs<'_> {
    /// Within a stretch of time.
    pub(crate) fn between(&mut self, from: Moment, until: Moment) -> Cost {
        if from == self.last.0 {
            let before = self.last.1;
            return self.until(until).plus(&before, -1.0);
        }
        let all = self.until(until);
        all.plus(&self.until(from), -1.0)
    }

    fn until(&mut self, at: Moment) -> Cost {
        if at != self.last.0 {
            self.last = (at, self.of.until(at));
        }
        self.last.1
    }
}
