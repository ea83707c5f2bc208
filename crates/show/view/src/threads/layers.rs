//! Layers of intervals: what lies in one is made to follow each other, and one layer is laid over another.

use super::Doing;
use kizami_model::Moment;
use std::ops::Range;

/// From when to when something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub from: Moment,
    pub to: Moment,
    pub doing: Doing,
}

/// Cuts intervals to a range and to each other, so that they follow each other: inside one that began later, it hides those
/// that began before.
pub(super) fn flatten(mut intervals: Vec<Interval>, range: &Range<Moment>) -> Vec<Interval> {
    intervals.retain_mut(|interval| {
        interval.from = interval.from.max(range.start);
        interval.to = interval.to.min(range.end);
        interval.from < interval.to
    });
    // Of those that begin together, the longest lies below.
    intervals.sort_by_key(|interval| (interval.from, std::cmp::Reverse(interval.to)));
    if intervals.is_sorted_by(|one, other| one.to <= other.from) {
        return intervals;
    }
    let mut flat = Vec::with_capacity(intervals.len());
    // Those that have begun and not ended, the last on top.
    let mut open: Vec<Interval> = Vec::new();
    let mut at = range.start;
    let mut close = |open: &mut Vec<Interval>, at: &mut Moment, until: Moment| {
        while let Some(top) = open.last().copied().filter(|_| *at < until) {
            let to = top.to.min(until);
            if to > *at {
                flat.push(Interval { from: *at, to, ..top });
                *at = to;
            }
            if top.to <= until {
                open.pop();
            }
        }
        *at = (*at).max(until);
    };
    for interval in intervals {
        close(&mut open, &mut at, interval.from);
        open.push(interval);
    }
    close(&mut open, &mut at, range.end);
    flat
}

/// Lays intervals over others. Those of each follow each other, and each of the upper ones lies above lower ones. `both`
/// says what is done where one lies over another.
pub(super) fn lay(
    under: &[Interval],
    over: &[Interval],
    mut both: impl FnMut(Doing, Doing) -> Doing,
) -> Vec<Interval> {
    let mut laid = Vec::with_capacity(under.len() + 2 * over.len());
    let mut upper = over.iter().peekable();
    for lower in under {
        let mut at = lower.from;
        while let Some(next) = upper.peek().filter(|next| next.from < lower.to) {
            let (from, to) = (next.from.max(at), next.to.min(lower.to));
            if from > at {
                laid.push(Interval { from: at, to: from, ..*lower });
            }
            if to > from {
                laid.push(Interval { from, to, doing: both(lower.doing, next.doing) });
                at = to;
            }
            if next.to > lower.to {
                break;
            }
            upper.next();
        }
        if at < lower.to {
            laid.push(Interval { from: at, ..*lower });
        }
    }
    laid
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn interval(from: i64, to: i64, number: u32) -> Interval {
        let doing = Doing { state: State::Computing, subject: Some(number) };
        Interval { from: Moment(from), to: Moment(to), doing }
    }

    fn plain(intervals: &[Interval]) -> Vec<(i64, i64, u32)> {
        intervals.iter().map(|each| (each.from.0, each.to.0, each.doing.subject.unwrap())).collect()
    }

    #[test]
    fn what_began_later_hides_what_began_before() {
        let range = Moment(0)..Moment(100);
        let flat = |intervals: Vec<Interval>| plain(&flatten(intervals, &range));
        assert_eq!(flat(vec![interval(0, 10, 1), interval(10, 20, 2)]), [(0, 10, 1), (10, 20, 2)]);
        assert_eq!(
            flat(vec![interval(0, 50, 1), interval(10, 20, 2), interval(12, 14, 3)]),
            [(0, 10, 1), (10, 12, 2), (12, 14, 3), (14, 20, 2), (20, 50, 1)]
        );
        // One reaches beyond the other, and all beyond the range.
        assert_eq!(
            flat(vec![interval(-50, 30, 1), interval(20, 400, 2), interval(200, 300, 3)]),
            [(0, 20, 1), (20, 100, 2)]
        );
        assert_eq!(flat(vec![interval(10, 10, 1), interval(9, 2, 2)]), []);
        assert_eq!(flat(vec![interval(0, 5, 1), interval(0, 20, 2)]), [(0, 5, 1), (5, 20, 2)]);
    }

    #[test]
    fn layers_hide_those_below_and_leave_no_gaps() {
        let under = [interval(0, 10, 1), interval(10, 30, 2)];
        let over = [interval(2, 4, 10), interval(8, 12, 20), interval(25, 30, 30)];
        let both = |lower: Doing, upper: Doing| Doing {
            subject: Some(lower.subject.unwrap() + upper.subject.unwrap()),
            ..upper
        };
        assert_eq!(
            plain(&lay(&under, &over, both)),
            [(0, 2, 1), (2, 4, 11), (4, 8, 1), (8, 10, 21), (10, 12, 22), (12, 25, 2), (25, 30, 32)]
        );
        assert_eq!(lay(&under, &[], both), under);
    }
}
