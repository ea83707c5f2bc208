//! What it costs that somebody is late, when several are late together.
//!
//! Of each stretch of time everybody who is not there yet has an equal part: `waiting / late` of its length, where
//! `waiting` is how many wait and `late` how many have yet to come. What was passed on to those who wait is shared in
//! the same way. So every nanosecond of waiting is somebody's, once, and who comes last has more than who comes last
//! but one.

use crate::pattern::Pattern;
use crate::waits::LongWait;
use kizami_graph::{Graph, TieKind};
use kizami_model::{Length, Moment};
use rustc_hash::FxHashMap;

/// Stretches of time a wait keeps apart.
const MOST_LOADS: usize = 4;

/// A stretch of time in which somebody who waited was waited for, and how long others waited meanwhile.
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

/// One who came to a collective, or sent or posted what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    pub at: Moment,
    pub step: u64,
    pub strand: u32,
}

/// Who came when to that in which somebody waited for all: to collectives, and as origins to windows.
pub(crate) struct Arrivals {
    /// By what was waited in: where its arrivals begin and end in the list.
    places: FxHashMap<Meeting, (usize, usize)>,
    /// By place and time.
    list: Vec<Arrival>,
}

/// What somebody waits in for all of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Meeting {
    /// A collective, by the key of its ties.
    Collective(u64),
    /// The end of an exposure of a window, by its step.
    Exposure(u64),
}

impl Arrivals {
    pub(crate) fn new(graph: &Graph, waits: &[LongWait]) -> Arrivals {
        let mut places: FxHashMap<Meeting, (usize, usize)> = FxHashMap::default();
        // What origins tell a target when they are done, by the step of the target.
        let mut origins: FxHashMap<u64, Meeting> = FxHashMap::default();
        for meeting in waits.iter().filter_map(|wait| met_at(graph, wait)) {
            let number = places.len();
            if places.contains_key(&meeting) {
                continue;
            }
            places.insert(meeting, (number, 0));
            if let Meeting::Exposure(step) = meeting {
                let awaited = graph.ties_of(&graph.steps[step as usize]).iter();
                let awaited = awaited.filter(|tie| tie.kind().awaits_readiness());
                origins.extend(awaited.map(|tie| (tie.key, meeting)));
            }
        }
        let mut all: Vec<(u32, Arrival)> = Vec::new();
        let mut sizes = vec![0usize; places.len()];
        for (number, strand) in (0..).zip(&graph.strands) {
            let mut index = strand.first_step;
            loop {
                let step = &graph.steps[index as usize];
                let told = graph.ties_of(step).iter().filter(|tie| tie.kind().tells());
                let meetings = told.filter_map(|tie| match tie.kind() {
                    TieKind::Posts => origins.get(&tie.key).copied(),
                    kind => kind.is_collective().then_some(Meeting::Collective(tie.key)),
                });
                for (place, _) in meetings.filter_map(|meeting| places.get(&meeting)) {
                    sizes[*place] += 1;
                    all.push((*place as u32, Arrival { at: step.start, step: index, strand: number }));
                }
                if step.next == 0 {
                    break;
                }
                index += u64::from(step.next);
            }
        }
        let (list, ends) = by_place(&all, &sizes);
        for (begin, end) in places.values_mut() {
            let place = *begin;
            (*begin, *end) = (ends[place] - sizes[place], ends[place]);
        }
        Arrivals { places, list }
    }

    /// Those who came after a moment to what somebody waited for all in, in order; none if it was not that.
    pub(crate) fn after(&self, graph: &Graph, wait: &LongWait, from: Moment) -> Option<&[Arrival]> {
        let (begin, end) = *self.places.get(&met_at(graph, wait)?)?;
        let all = &self.list[begin..end];
        Some(&all[all.partition_point(|arrival| arrival.at <= from)..]).filter(|late| !late.is_empty())
    }
}

impl Arrivals {
    /// When one who waits came to what it waits in: before it began to wait, where it only began the collective then.
    pub(crate) fn came(&self, graph: &Graph, wait: &LongWait) -> Moment {
        let came = met_at(graph, wait).and_then(|key| {
            let (begin, end) = *self.places.get(&key)?;
            let own = self.list[begin..end].iter().find(|arrival| arrival.strand == wait.strand)?;
            Some(own.at)
        });
        came.map_or(wait.from, |came| came.min(wait.from))
    }
}

/// Arrivals by place and time, and where those of each place end. How many each has is known.
fn by_place(all: &[(u32, Arrival)], sizes: &[usize]) -> (Vec<Arrival>, Vec<usize>) {
    let mut filled: Vec<usize> = sizes
        .iter()
        .scan(0, |next, size| {
            *next += size;
            Some(*next - size)
        })
        .collect();
    let nobody = Arrival { at: Moment::default(), step: 0, strand: 0 };
    let mut list = vec![nobody; all.len()];
    for (place, arrival) in all {
        let next = &mut filled[*place as usize];
        list[*next] = *arrival;
        *next += 1;
    }
    for (end, size) in filled.iter().zip(sizes) {
        list[end - size..*end].sort_unstable();
    }
    (list, filled)
}

/// What somebody waited for all in, if it was that.
fn met_at(graph: &Graph, wait: &LongWait) -> Option<Meeting> {
    if wait.pattern == Pattern::EarlyWait {
        return Some(Meeting::Exposure(wait.step));
    }
    // What was waited for was a message: nothing has to be looked up.
    if matches!(wait.pattern, Pattern::LateSender | Pattern::LateSenderWrongOrder) {
        return None;
    }
    let last = graph.ties_of(&graph.steps[wait.of as usize]).iter();
    let key =
        last.filter(|tie| tie.kind().is_collective() && tie.kind().tells()).map(|tie| tie.key).next()?;
    let mut awaited = graph.ties_of(&graph.steps[wait.step as usize]).iter();
    let met = awaited.any(|tie| tie.kind() == TieKind::AwaitsAll && tie.key == key);
    met.then_some(Meeting::Collective(key))
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
    /// Moments, and the cost up to each. It grows evenly between them.
    sums: Vec<(Moment, Cost)>,
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

        self.sums.clear();
        let mut now = Change { late: late.iter().map(|arrival| ranks(arrival.strand)).sum(), ..none };
        let mut sum = Cost::default();
        for change in self.changes.iter().take_while(|change| change.at <= until) {
            match self.sums.last() {
                Some((before, _)) if *before == change.at => {}
                Some((before, _)) => {
                    let each = Cost {
                        direct_ns: now.waiting / now.late,
                        propagated_ns: now.load / now.late,
                        whole_ns: now.waiting + now.load,
                    };
                    sum = sum.plus(&each, (change.at - *before).0 as f64);
                    self.sums.push((change.at, sum));
                }
                None => self.sums.push((change.at, sum)),
            }
            now.waiting += change.waiting;
            now.load += change.load;
            now.late += change.late;
        }
    }

    /// What it costs one who is late within a stretch of time.
    pub(crate) fn between(&self, from: Moment, until: Moment) -> Cost {
        self.until(until).plus(&self.until(from), -1.0)
    }

    fn until(&self, at: Moment) -> Cost {
        let next = self.sums.partition_point(|(moment, _)| *moment <= at);
        match (next.checked_sub(1).and_then(|last| self.sums.get(last)), self.sums.get(next)) {
            (Some((earlier, before)), Some((later, after))) => {
                let part = (at - *earlier).0 as f64 / (*later - *earlier).0 as f64;
                before.plus(&after.plus(before, -1.0), part)
            }
            (Some((_, all)), None) => *all,
            (None, _) => Cost::default(),
        }
    }

    /// Passes the cost within a stretch of time on to a wait of so many ranks, in the parts in which it is spread evenly if
    /// they are few.
    pub(crate) fn pass_on(&self, from: Moment, until: Moment, ranks: f64, loads: &mut Vec<Load>) {
        let first = self.sums.partition_point(|(moment, _)| *moment <= from);
        let last = self.sums.partition_point(|(moment, _)| *moment < until).max(first);
        let between = if last - first < MOST_LOADS { &self.sums[first..last] } else { &[] };
        let mut from = from;
        for until in between.iter().map(|(moment, _)| *moment).chain([until]) {
            let waited_ns = ranks * self.between(from, until).sum_ns();
            Load { from, until, waited_ns }.add_to(loads);
            from = until;
        }
    }
}
