//! What each thread of a rank did over the whole run, laid out so that any range of it is summed up at once.
//!
//! Read when somebody first asks, and kept. A thread's time is divided in layers, each of which hides those below: what it
//! is outside of everything (serial, idle, or not recorded), the parallel regions it is in, what it ran in them, and its
//! calls. Rows that make no sense are cut to what can be.

mod layers;

use crate::index::Index;
use kizami_memory::half_of_free;
use kizami_model::{Length, Moment, Op, Rank, StopReason, ThreadIndex};
use kizami_tasks::{PieceOf, RegionRun, TasksError, ThreadPiece, memory_needed, region_runs, thread_pieces};
use kizami_trace::disturbance::Held;
use kizami_trace::{TaskRow, Trace};
use layers::{Interval, flatten, lay};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// It computes in a parallel region, or runs a task.
    Computing = 0,
    /// It is in a parallel region and runs nothing there: it waits for other threads or for tasks.
    Waiting = 1,
    /// It computes outside of parallel regions.
    Serial = 2,
    /// It is in a recorded call: of MPI, or on a file.
    Call = 3,
    /// It is outside of parallel regions, and only there to run them.
    Idle = 4,
    /// It is in a parallel region of which not all tasks were recorded: it waits, or runs one of the others.
    Region = 5,
    /// Nothing was recorded: before it was first seen, afterwards, or while the tracer held it.
    NoRecord = 6,
}

/// How many there are.
pub const STATES: usize = 7;

/// What a stretch is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Index of the place: of the region or, of a call, where it was made.
    pub site: Option<u32>,
    /// The function that was called.
    pub op: Option<Op>,
    /// Index of the place where the task was made.
    pub task: Option<u32>,
}

/// Subjects, each with a number.
#[derive(Debug, Default)]
pub struct Subjects {
    numbers: FxHashMap<Subject, u32>,
    /// By number.
    pub list: Vec<Subject>,
}

impl Subjects {
    /// The number of one, which is given if it has none.
    pub fn number(&mut self, subject: Subject) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(subject).or_insert(next);
        if number == next {
            self.list.push(subject);
        }
        number
    }
}

/// State and number of the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing {
    /// What a thread does.
    pub state: State,
    /// With what, by its number; none if there is nothing to say.
    pub subject: Option<u32>,
}

/// From one sum of times to the next, so many stretches.
const STEP: usize = 64;

/// All time of one thread: stretches that follow each other.
#[derive(Debug)]
pub struct ThreadTime {
    starts: Vec<Moment>,
    doings: Vec<Doing>,
    end: Moment,
    /// Time in each state before every `STEP`th stretch.
    sums: Vec<[Length; STATES]>,
}

impl ThreadTime {
    /// Of stretches, each of which lasts until the next begins, and the last until `end`.
    pub(crate) fn of(stretches: impl IntoIterator<Item = (Moment, Doing)>, end: Moment) -> ThreadTime {
        let (starts, doings): (Vec<Moment>, Vec<Doing>) = stretches.into_iter().unzip();
        let mut time = ThreadTime { starts, doings, end, sums: Vec::new() };
        let mut sum = [Length::ZERO; STATES];
        for place in 0..time.len() {
            if place.is_multiple_of(STEP) {
                time.sums.push(sum);
            }
            sum[time.doings[place].state as usize] += time.length(place);
        }
        time
    }

    /// How many stretches there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// What is done in a stretch.
    pub fn doing(&self, place: usize) -> Doing {
        self.doings[place]
    }

    /// When a stretch begins; the end of all behind the last.
    pub fn start(&self, place: usize) -> Moment {
        self.starts.get(place).copied().unwrap_or(self.end)
    }

    /// How long a stretch is.
    pub fn length(&self, place: usize) -> Length {
        self.start(place + 1) - self.start(place)
    }

    /// The first stretch that ends behind a moment.
    pub fn first_behind(&self, moment: Moment) -> usize {
        self.starts.partition_point(|start| *start <= moment).saturating_sub(1)
    }

    /// The first stretch from this one on that begins at a moment or behind it.
    pub fn first_from(&self, place: usize, moment: Moment) -> usize {
        place + self.starts[place..].partition_point(|start| *start < moment)
    }

    /// Time in each state in some stretches.
    pub fn time_in(&self, places: Range<usize>) -> [Length; STATES] {
        let (mut until, before) = (self.time_before(places.end), self.time_before(places.start));
        until.iter_mut().zip(before).for_each(|(sum, before)| *sum -= before);
        until
    }

    fn time_before(&self, place: usize) -> [Length; STATES] {
        let known = (place / STEP).min(self.sums.len().saturating_sub(1));
        let mut sum = self.sums.get(known).copied().unwrap_or_default();
        for place in known * STEP..place {
            sum[self.doings[place].state as usize] += self.length(place);
        }
        sum
    }
}

/// All threads of a rank that were in parallel regions or made calls.
#[derive(Debug, Default)]
pub struct RankThreads {
    /// Each with its time.
    pub threads: Vec<(ThreadIndex, ThreadTime)>,
    /// What stretches are about.
    pub subjects: Subjects,
}

/// Where reading the tasks of a rank takes more memory, its regions are shown undivided.
const MOST_PIECES_BYTES: u64 = 1 << 30;
/// Far outside any run.
const FARTHEST: i64 = 1 << 60;

impl RankThreads {
    /// Reads those of a rank, whose calls are in the index.
    pub fn of(trace: &Trace, index: &Index, rank: Rank) -> Result<RankThreads, TasksError> {
        let needed = memory_needed(trace, rank)?;
        let divided = trace.has_parts_of::<TaskRow>() && needed <= half_of_free().min(MOST_PIECES_BYTES);
        let (regions, pieces) = match divided {
            true => (region_runs(trace, rank)?, thread_pieces(trace, rank)?),
            false => (region_runs(trace, rank)?, Vec::new()),
        };
        // From then on tasks were only counted; without pieces nothing is known from the beginning on.
        let counted = trace.run().counted_tasks.map(|counted| Moment(counted.since_ns));
        let undivided_from = if divided { counted } else { Some(Moment(i64::MIN)) };
        let mut made = Recorded::default();
        made.regions(&regions, &pieces, |region| {
            undivided_from.is_some_and(|from| region.end > from && (!divided || region.tasks > 0))
        });
        made.pieces(&pieces);
        made.calls(index, rank.0);
        let run = index.begin_ns()..trace.run().span_ns.max(index.known_until_ns());
        let bound = |ns: i64| Moment(ns.clamp(-FARTHEST, FARTHEST));
        Ok(made.laid_out(bound(run.start)..bound(run.end.max(run.start))))
    }
}

/// What was recorded of one thread, by layers.
#[derive(Default)]
struct Layers {
    regions: Vec<Interval>,
    pieces: Vec<Interval>,
    stops: Vec<Interval>,
    calls: Vec<Interval>,
    /// Whether it does anything of its own outside of regions.
    is_own: bool,
    /// From when to when it was seen.
    seen: Option<(Moment, Moment)>,
}

impl Layers {
    fn see(&mut self, from: Moment, to: Moment) {
        let seen = self.seen.get_or_insert((from, to));
        *seen = (seen.0.min(from), seen.1.max(to));
    }
}

/// What was recorded of a rank.
#[derive(Default)]
struct Recorded {
    threads: BTreeMap<ThreadIndex, Layers>,
    subjects: Subjects,
}

impl Recorded {
    fn of(&mut self, thread: ThreadIndex) -> &mut Layers {
        self.threads.entry(thread).or_default()
    }

    /// Adds regions to all threads that have a share in them.
    fn regions(
        &mut self,
        regions: &[RegionRun],
        pieces: &[ThreadPiece],
        undivided: impl Fn(&RegionRun) -> bool,
    ) {
        let mut member = |thread: ThreadIndex, region: &RegionRun, begins: bool| {
            let state = if undivided(region) { State::Region } else { State::Waiting };
            let subject = self.subjects.number(Subject { site: region.place, ..Subject::default() });
            let layers = self.threads.entry(thread).or_default();
            layers.is_own |= begins;
            layers.see(region.start, region.end);
            layers.regions.push(Interval {
                from: region.start,
                to: region.end,
                doing: Doing { state, subject: Some(subject) },
            });
        };
        for region in regions {
            member(region.thread, region, true);
        }
        // A share was made when its region began.
        let begun_at: FxHashMap<(Moment, Option<u32>), &RegionRun> =
            regions.iter().rev().map(|region| ((region.start, region.place), region)).collect();
        for piece in pieces {
            let PieceOf::Share(Some(begun)) = piece.of else { continue };
            let own = begun_at.get(&(begun, piece.place));
            if let Some(region) = own.filter(|region| region.thread != piece.thread) {
                member(piece.thread, region, false);
            }
        }
    }

    fn pieces(&mut self, pieces: &[ThreadPiece]) {
        for piece in pieces {
            let subject = match piece.of {
                // The layers below say what this is.
                PieceOf::Outside => {
                    self.of(piece.thread).see(piece.start, piece.end);
                    continue;
                }
                PieceOf::Share(_) => Subject { site: piece.place, ..Subject::default() },
                PieceOf::Task => Subject { task: piece.place, ..Subject::default() },
            };
            let subject = Some(self.subjects.number(subject));
            let layers = self.of(piece.thread);
            layers.see(piece.start, piece.end);
            layers.pieces.push(Interval {
                from: piece.start,
                to: piece.end,
                doing: Doing { state: State::Computing, subject },
            });
        }
    }

    /// Adds calls, and what the tracer says of the time between them.
    fn calls(&mut self, index: &Index, rank: u32) {
        // Calls of one kind are about the same.
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        index.each(rank, i64::MIN, i64::MAX, |row| {
            let Some(kind) = index.kinds().get(row.kind as usize).filter(|kind| !kind.is_part()) else {
                return;
            };
            let subject = *numbers.entry(row.kind).or_insert_with(|| {
                self.subjects.number(Subject { site: kind.site(), op: Some(kind.op()), task: None })
            });
            let layers = self.threads.entry(ThreadIndex(kind.thread)).or_default();
            let (from, to) = (Moment(row.start_ns), Moment(row.end_ns));
            layers.see(from, to);
            layers.calls.push(Interval {
                from,
                to,
                doing: Doing { state: State::Call, subject: Some(subject) },
            });
        });
        if let Some((_, _, first)) = index.seen(rank) {
            self.of(ThreadIndex(first)).is_own = true;
        }
        for stop in index.stops(rank) {
            let unknown =
                Held::of(stop).is_some() || matches!(stop.reason, StopReason::Paused | StopReason::Lost);
            if let (true, Some(layers)) = (unknown, self.threads.get_mut(&stop.thread)) {
                let doing = Doing { state: State::NoRecord, subject: None };
                layers.stops.push(Interval { from: stop.start, to: stop.end, doing });
            }
        }
    }

    /// Lays the layers of each thread over each other.
    fn laid_out(mut self, run: Range<Moment>) -> RankThreads {
        let threads = self.threads.values_mut();
        for layers in threads {
            layers.regions = flatten(std::mem::take(&mut layers.regions), &run);
            layers.calls = flatten(std::mem::take(&mut layers.calls), &run);
            // Whoever calls outside of regions was not only started to run them.
            let regions = &layers.regions;
            layers.is_own |= layers.calls.iter().any(|call| {
                let place = regions.partition_point(|region| region.to <= call.from);
                regions.get(place).is_none_or(|region| region.from > call.from)
            });
        }
        let own = || self.threads.values().filter(|layers| layers.is_own).filter_map(|layers| layers.seen);
        let of_rank = own().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let mut threads = Vec::with_capacity(self.threads.len());
        for (thread, layers) in self.threads {
            let (state, seen) = match layers.is_own {
                true => (State::Serial, layers.seen),
                false => (State::Idle, of_rank.or(layers.seen)),
            };
            let outside = |from, to, state| Interval { from, to, doing: Doing { state, subject: None } };
            let mut time = vec![outside(run.start, run.end, State::NoRecord)];
            if let Some((from, to)) = seen {
                let seen = flatten(vec![outside(from, to, state)], &run);
                time = lay(&time, &seen, |_, over| over);
            }
            time = lay(&time, &layers.regions, |_, over| over);
            let pieces = flatten(layers.pieces, &run);
            let subjects = &mut self.subjects;
            time = lay(&time, &pieces, |under, over| in_region(subjects, under, over));
            let stops = flatten(layers.stops, &run);
            time = lay(&time, &stops, |_, over| over);
            time = lay(&time, &layers.calls, |_, over| over);
            let stretches = time.iter().map(|stretch| (stretch.from, stretch.doing));
            threads.push((thread, ThreadTime::of(stretches, run.end)));
        }
        RankThreads { threads, subjects: self.subjects }
    }
}

/// A piece of a task, with the place of the region that it ran in.
fn in_region(subjects: &mut Subjects, under: Doing, over: Doing) -> Doing {
    let subject = |doing: Doing| doing.subject.map(|number| subjects.list[number as usize]);
    match (subject(under), subject(over)) {
        (Some(region), Some(piece)) if piece.site.is_none() => {
            let subject = subjects.number(Subject { site: region.site, ..piece });
            Doing { subject: Some(subject), ..over }
        }
        _ => over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: i64, end: i64, place: u32, tasks: u64) -> RegionRun {
        RegionRun {
            place: Some(place),
            thread: ThreadIndex(0),
            start: Moment(start),
            end: Moment(end),
            tasks,
        }
    }

    fn piece(of: PieceOf, thread: u32, place: u32, start: i64, end: i64) -> ThreadPiece {
        ThreadPiece {
            of,
            place: Some(place),
            thread: ThreadIndex(thread),
            start: Moment(start),
            end: Moment(end),
        }
    }

    fn told(time: &ThreadTime, subjects: &Subjects) -> Vec<(i64, State, Option<u32>, Option<u32>)> {
        (0..time.len())
            .map(|place| {
                let doing = time.doing(place);
                let subject = doing.subject.map_or(Subject::default(), |n| subjects.list[n as usize]);
                (time.start(place).0, doing.state, subject.site, subject.task)
            })
            .collect()
    }

    /// A region from 100 to 200 of two threads: one has a share to 180, the other to 130 and a task from 150 to 170.
    fn recorded(undivided: bool) -> RankThreads {
        let regions = [region(100, 200, 3, 1)];
        let share = || PieceOf::Share(Some(Moment(100)));
        let pieces = [
            piece(PieceOf::Outside, 0, 0, 10, 100),
            piece(share(), 0, 3, 100, 180),
            piece(share(), 1, 3, 105, 130),
            piece(PieceOf::Task, 1, 5, 150, 170),
            piece(PieceOf::Outside, 0, 0, 200, 290),
        ];
        let mut made = Recorded::default();
        made.regions(&regions, &pieces, |_| undivided);
        made.pieces(&pieces);
        made.laid_out(Moment(0)..Moment(300))
    }

    #[test]
    fn each_moment_of_each_thread_is_in_one_state() {
        use State::*;
        let made = recorded(false);
        let of = |number: usize| told(&made.threads[number].1, &made.subjects);
        assert_eq!(
            of(0),
            [
                (0, NoRecord, None, None),
                (10, Serial, None, None),
                (100, Computing, Some(3), None),
                (180, Waiting, Some(3), None),
                (200, Serial, None, None),
                (290, NoRecord, None, None),
            ]
        );
        assert_eq!(
            of(1),
            [
                (0, NoRecord, None, None),
                (10, Idle, None, None),
                (100, Waiting, Some(3), None),
                (105, Computing, Some(3), None),
                (130, Waiting, Some(3), None),
                (150, Computing, Some(3), Some(5)),
                (170, Waiting, Some(3), None),
                (200, Idle, None, None),
                (290, NoRecord, None, None),
            ]
        );
    }

    #[test]
    fn where_tasks_were_only_counted_nobody_is_said_to_wait() {
        let made = recorded(true);
        let states = told(&made.threads[1].1, &made.subjects).into_iter().map(|(_, state, ..)| state);
        assert!(states.clone().any(|state| state == State::Region));
        assert!(states.clone().all(|state| state != State::Waiting));
    }

    #[test]
    fn sums_are_those_of_the_stretches() {
        let stretch = |number: i64| {
            let state = if number % 3 == 0 { State::Computing } else { State::Waiting };
            (Moment(number * 10), Doing { state, subject: None })
        };
        let time = ThreadTime::of((0..1_000).map(stretch), Moment(10_000));
        for places in [0..1_000, 0..0, 1_000..1_000, 63..65, 100..999, 5..6] {
            let sums = time.time_in(places.clone());
            let computing = places.clone().filter(|place| place % 3 == 0).count() as i64 * 10;
            assert_eq!(sums[State::Computing as usize], Length(computing), "{places:?}");
            assert_eq!(sums.iter().copied().sum::<Length>(), Length(places.len() as i64 * 10));
        }
        assert_eq!((time.first_behind(Moment(-5)), time.first_behind(Moment(10))), (0, 1));
        assert_eq!(time.first_behind(Moment(19)), 1);
        assert_eq!((time.first_from(1, Moment(15)), time.first_from(1, Moment(20))), (2, 2));
    }
}
