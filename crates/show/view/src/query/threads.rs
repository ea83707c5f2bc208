//! What the threads of ranks did in a time range: stretches where they are as wide as a column, and shares of time where
//! they are not.

use crate::threads::{RankThreads, STATES, Subject, Subjects, ThreadTime};
use kizami_model::{Length, Moment, Rank};
use serde::Serialize;
use std::ops::Range;

/// What the threads of some ranks did in a range of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ThreadRows {
    /// By rank as asked for.
    pub ranks: Vec<RankRows>,
    /// What stretches are about.
    pub subjects: Vec<ThreadSubject>,
}

/// What the threads of a rank did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RankRows {
    /// Which one.
    pub rank: u32,
    /// As many threads as there is room for.
    pub threads: Vec<ThreadRow>,
    /// How many it has.
    pub of: usize,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ThreadRow {
    /// Number of the thread.
    pub thread: u32,
    /// Stretches follow each other: when each begins, and when the last ends.
    pub bounds: Vec<i64>,
    /// The state in each; none where several stretches are told as one.
    pub states: Vec<Option<u8>>,
    /// What each is about, or what most of its time is about.
    pub subjects: Vec<Option<u32>>,
    /// Of those without a state, in their order: the share of each state in 255 parts.
    pub shares: Vec<[u8; STATES]>,
}

/// What a stretch is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ThreadSubject {
    /// Index of the place: of the region or, of a call, where it was made.
    pub site: Option<u32>,
    /// Number of the function that was called.
    pub op: Option<u16>,
    /// Index of the place where the task was made.
    pub task: Option<u32>,
}

/// The threads of these ranks in the range `shown`, at most `rows` of them. A stretch is told by itself if it is as long as
/// one of `columns` columns, others together with those that begin in the same column: at most three times as many as there
/// are columns, however many there are.
pub fn threads(
    of: &[(Rank, &RankThreads)],
    shown: &Range<Moment>,
    columns: usize,
    rows: usize,
) -> ThreadRows {
    let mut subjects = Subjects::default();
    let mut left = rows;
    let mut ranks = Vec::with_capacity(of.len());
    for (rank, threads) in of {
        if left == 0 {
            break;
        }
        let mut told = |subject: Option<u32>| Some(subjects.number(threads.subjects.list[subject? as usize]));
        let of_rank = threads.threads.iter().take(left);
        let rows: Vec<ThreadRow> = of_rank
            .map(|(thread, time)| ThreadRow { thread: thread.0, ..row(time, shown, columns, &mut told) })
            .collect();
        left -= rows.len();
        ranks.push(RankRows { rank: rank.0, threads: rows, of: threads.threads.len() });
    }
    let told = |subject: &Subject| ThreadSubject {
        site: subject.site,
        op: subject.op.map(|op| op.0),
        task: subject.task,
    };
    ThreadRows { ranks, subjects: subjects.list.iter().map(told).collect() }
}

/// Stretches that are looked at to find out what most of a column is about.
const LOOKED_AT: usize = 32;

fn row(
    time: &ThreadTime,
    shown: &Range<Moment>,
    columns: usize,
    told: &mut impl FnMut(Option<u32>) -> Option<u32>,
) -> ThreadRow {
    let width = ((shown.end - shown.start).0 / columns.max(1) as i64).max(1);
    let mut row = ThreadRow {
        thread: 0,
        bounds: Vec::new(),
        states: Vec::new(),
        subjects: Vec::new(),
        shares: Vec::new(),
    };
    let mut place = time.first_behind(shown.start);
    while place < time.len() && time.start(place) < shown.end {
        let start = time.start(place);
        row.bounds.push(start.0);
        let is_short = |place: usize| time.length(place).0 < width;
        let mut next = place + 1;
        if is_short(place) {
            let column = (start - shown.start).0.div_euclid(width) + 1;
            next = time.first_from(place, shown.start + Length(column * width)).max(next);
            // A long one that begins in the same column is told by itself.
            if next > place + 1 && !is_short(next - 1) {
                next -= 1;
            }
        }
        let doing = time.doing(place);
        if next == place + 1 {
            row.states.push(Some(doing.state as u8));
            row.subjects.push(told(doing.subject));
        } else {
            let length = (time.start(next) - start).0.max(1);
            let share = |part: Length| ((part.0 * 255 + length / 2) / length) as u8;
            row.shares.push(time.time_in(place..next).map(share));
            row.states.push(None);
            row.subjects.push(told(most(time, place..next)));
        }
        place = next;
    }
    row.bounds.push(time.start(place).0);
    row
}

/// What most of the time of some stretches is about; if they are many, of those in their middle. Evenly spaced ones
/// would mislead, as tasks and waits often alternate.
fn most(time: &ThreadTime, places: Range<usize>) -> Option<u32> {
    let left_out = places.len().saturating_sub(LOOKED_AT) / 2;
    let mut sums: Vec<(u32, Length)> = Vec::new();
    for place in places.skip(left_out).take(LOOKED_AT) {
        let Some(subject) = time.doing(place).subject else { continue };
        match sums.iter_mut().find(|(other, _)| *other == subject) {
            Some((_, sum)) => *sum += time.length(place),
            None => sums.push((subject, time.length(place))),
        }
    }
    sums.into_iter()
        .max_by_key(|(subject, sum)| (*sum, std::cmp::Reverse(*subject)))
        .map(|(subject, _)| subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::{Doing, State};
    use kizami_model::ThreadIndex;

    /// A thread of which every second stretch is a task, each from one moment to the next.
    fn rank(moments: &[i64], end: i64) -> RankThreads {
        let mut subjects = Subjects::default();
        let number = subjects.number(Subject { site: Some(3), ..Subject::default() });
        let doing = |place: usize| match place % 2 {
            0 => Doing { state: State::Waiting, subject: None },
            _ => Doing { state: State::Computing, subject: Some(number) },
        };
        let stretches = moments.iter().enumerate().map(|(place, at)| (Moment(*at), doing(place)));
        let time = ThreadTime::of(stretches, Moment(end));
        RankThreads { threads: vec![(ThreadIndex(0), time)], subjects }
    }

    fn ask(threads: &RankThreads, from: i64, to: i64, columns: usize) -> ThreadRow {
        let told = super::threads(&[(Rank(0), threads)], &(Moment(from)..Moment(to)), columns, 8);
        told.ranks[0].threads[0].clone()
    }

    #[test]
    fn wide_stretches_are_told_as_they_are() {
        let threads = rank(&[0, 100, 300], 400);
        let row = ask(&threads, 0, 400, 400);
        assert_eq!(row.bounds, [0, 100, 300, 400]);
        assert_eq!(row.states, [Some(1), Some(0), Some(1)]);
        assert_eq!((row.subjects, row.shares), (vec![None, Some(0), None], vec![]));
        // Those that reach into the range, whole.
        assert_eq!(ask(&threads, 150, 160, 10).bounds, [100, 300]);
        assert_eq!(ask(&threads, 500, 600, 10).bounds, [300, 400]);
    }

    #[test]
    fn narrow_ones_of_a_column_are_told_as_shares_beside_wide_ones() {
        // Stretches of 1 and 3 up to 400, then one of 600.
        let moments: Vec<i64> = (0..100).flat_map(|n| [n * 4, n * 4 + 1]).chain([400]).collect();
        let row = ask(&rank(&moments, 1_000), 0, 1_000, 10);
        assert_eq!(row.bounds, [0, 100, 200, 300, 400, 1_000]);
        assert_eq!(row.states, [None, None, None, None, Some(1)]);
        assert!(row.shares.iter().all(|shares| shares[..2] == [191, 64]), "{:?}", row.shares);
        assert_eq!(row.subjects, [Some(0), Some(0), Some(0), Some(0), None]);
    }

    #[test]
    fn a_million_tasks_are_no_more_than_three_a_column() {
        let moments: Vec<i64> = (0..1_000_000).map(|n| n * 10 + n % 7).collect();
        let threads = rank(&moments, 10_000_000);
        for (from, to) in [(0, 10_000_000), (-5_000_000, 20_000_000), (3_000_000, 3_100_000), (77, 78)] {
            for columns in [1, 300, 1_000] {
                let row = ask(&threads, from, to, columns);
                assert!(row.states.len() <= 3 * columns + 2, "{} of {columns}", row.states.len());
                assert_eq!((row.bounds.len(), row.subjects.len()), (row.states.len() + 1, row.states.len()));
                assert_eq!(row.shares.len(), row.states.iter().filter(|state| state.is_none()).count());
                assert!(row.bounds.is_sorted());
            }
        }
    }

    #[test]
    fn there_are_no_more_rows_than_asked_for() {
        let threads = rank(&[0, 10], 20);
        let three = [(Rank(0), &threads), (Rank(5), &threads), (Rank(6), &threads)];
        let told = super::threads(&three, &(Moment(0)..Moment(20)), 10, 2);
        assert_eq!(told.ranks.iter().map(|rank| (rank.rank, rank.of)).collect::<Vec<_>>(), [(0, 1), (5, 1)]);
        assert_eq!(told.subjects, [ThreadSubject { site: Some(3), op: None, task: None }]);
    }
}
