//! When ranks arrive where a rank waits for all of several others.

use crate::pattern::Pattern;
use crate::waits::LongWait;
use kizami_graph::{Graph, TieKind};
use kizami_model::Moment;
use kizami_parallel::map;
use kizami_replay::Shares;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// One who entered a collective, or sent or posted what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    pub at: Moment,
    pub step: u64,
    pub strand: u32,
}

/// When ranks arrived where a rank waited for all: in collectives, and as origins of windows.
pub(crate) struct Arrivals {
    /// By what was waited in: where its arrivals begin and end in the list.
    places: FxHashMap<Meeting, (usize, usize)>,
    /// By place and time.
    list: Vec<Arrival>,
}

/// Where a rank waits for all of several others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Meeting {
    /// A collective, by the key of its ties.
    Collective(u64),
    /// The end of an exposure of a window, by its step.
    Exposure(u64),
}

impl Arrivals {
    /// Looked for by a thread for each share.
    pub(crate) fn new(graph: &Graph, waits: &[LongWait], shares: &Shares) -> Arrivals {
        let mut places: FxHashMap<Meeting, (usize, usize)> = FxHashMap::default();
        // The message by which origins tell a target that they are done, by its key.
        let mut origins: FxHashMap<u64, Meeting> = FxHashMap::default();
        // Whoever waits for the same step as the one before waits in the same, if in anything.
        let mut met: Option<&LongWait> = None;
        for wait in waits {
            let same = |met: &LongWait| met.of == wait.of && wait.pattern != Pattern::EarlyWait;
            if met.is_some_and(same) {
                continue;
            }
            let Some(meeting) = met_at(graph, wait) else { continue };
            if wait.pattern != Pattern::EarlyWait {
                met = Some(wait);
            }
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
        let expected = Expected { graph, places: &places, origins: &origins };
        let parts = expected.found_by(shares);
        let mut sizes = vec![0usize; places.len()];
        parts.iter().flatten().for_each(|(place, _)| sizes[*place as usize] += 1);
        let (list, ends) = by_place(&parts, &sizes);
        for (begin, end) in places.values_mut() {
            let place = *begin;
            (*begin, *end) = (ends[place] - sizes[place], ends[place]);
        }
        Arrivals { places, list }
    }

    /// Those who came after a moment to what a rank waited for all in, in order; none if it was not that.
    pub(crate) fn after(&self, graph: &Graph, wait: &LongWait, from: Moment) -> Option<&[Arrival]> {
        let (begin, end) = *self.places.get(&met_at(graph, wait)?)?;
        let all = &self.list[begin..end];
        Some(&all[all.partition_point(|arrival| arrival.at <= from)..]).filter(|late| !late.is_empty())
    }
}

impl Arrivals {
    /// When a waiting rank entered what it waits in: before it began to wait, where it only began the collective then.
    pub(crate) fn came(&self, graph: &Graph, wait: &LongWait) -> Moment {
        let came = met_at(graph, wait).and_then(|key| {
            let (begin, end) = *self.places.get(&key)?;
            let own = self.list[begin..end].iter().find(|arrival| arrival.strand == wait.strand)?;
            Some(own.at)
        });
        came.map_or(wait.from, |came| came.min(wait.from))
    }
}

/// What is looked for among the steps of a run.
struct Expected<'a> {
    graph: &'a Graph,
    /// The number of each meeting first.
    places: &'a FxHashMap<Meeting, (usize, usize)>,
    origins: &'a FxHashMap<u64, Meeting>,
}

impl Expected<'_> {
    /// Arrivals with the number of their meeting, by share.
    fn found_by(&self, shares: &Shares) -> Vec<Vec<(u32, Arrival)>> {
        if self.places.is_empty() {
            return Vec::new();
        }
        map(0..shares.count(), |share| self.among(shares.strands(self.graph, share)))
    }

    fn among(&self, strands: Range<u32>) -> Vec<(u32, Arrival)> {
        let mut found = Vec::new();
        for strand in strands {
            let mut index = self.graph.strands[strand as usize].first_step;
            loop {
                let step = &self.graph.steps[index as usize];
                let announcing = self.graph.ties_of(step).iter().filter(|tie| tie.kind().announces());
                let meetings = announcing.filter_map(|tie| match tie.kind() {
                    TieKind::Posts => self.origins.get(&tie.key).copied(),
                    kind => kind.is_collective().then_some(Meeting::Collective(tie.key)),
                });
                for (place, _) in meetings.filter_map(|meeting| self.places.get(&meeting)) {
                    found.push((*place as u32, Arrival { at: step.start, step: index, strand }));
                }
                if step.next == 0 {
                    break;
                }
                index += u64::from(step.next);
            }
        }
        found
    }
}

/// Arrivals by place and time, and where those of each place end. How many each has is known.
fn by_place(parts: &[Vec<(u32, Arrival)>], sizes: &[usize]) -> (Vec<Arrival>, Vec<usize>) {
    let mut filled: Vec<usize> = sizes
        .iter()
        .scan(0, |next, size| {
            *next += size;
            Some(*next - size)
        })
        .collect();
    let nobody = Arrival { at: Moment::default(), step: 0, strand: 0 };
    let mut list = vec![nobody; parts.iter().map(Vec::len).sum()];
    for (place, arrival) in parts.iter().flatten() {
        let next = &mut filled[*place as usize];
        list[*next] = *arrival;
        *next += 1;
    }
    for (end, size) in filled.iter().zip(sizes) {
        list[end - size..*end].sort_unstable();
    }
    (list, filled)
}

/// The wait for all that a step is, if it is one.
fn met_at(graph: &Graph, wait: &LongWait) -> Option<Meeting> {
    if wait.pattern == Pattern::EarlyWait {
        return Some(Meeting::Exposure(wait.step));
    }
    // It was one who was waited for: nothing has to be looked up.
    if !wait.pattern.may_be_for_all() {
        return None;
    }
    let last = graph.ties_of(&graph.steps[wait.of as usize]).iter();
    let key =
        last.filter(|tie| tie.kind().is_collective() && tie.kind().announces()).map(|tie| tie.key).next()?;
    let mut awaited = graph.ties_of(&graph.steps[wait.step as usize]).iter();
    let met = awaited.any(|tie| tie.kind() == TieKind::AwaitsAll && tie.key == key);
    met.then_some(Meeting::Collective(key))
}
