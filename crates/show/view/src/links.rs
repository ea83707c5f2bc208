//! What the links of a simulated network carried, as a run's table has it, laid out so that any range of it is found at once.
//!
//! Read when somebody first asks, and kept. Stretches that make no sense are left out.

use kizami_model::{Length, Moment, Op};
use kizami_trace::{LinkLoad, Trace, TraceError};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

/// A function, and where it was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkCall {
    /// The function.
    pub op: Op,
    /// Index of the place, if that is known.
    pub site: Option<u32>,
}

/// What a link carried in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// When the stretch begins.
    pub from: Moment,
    /// When it ends.
    pub to: Moment,
    /// Bandwidth taken, on average.
    pub bytes_per_s: f64,
    /// The part of the link's bandwidth that this is.
    pub share: f64,
    /// The call that took most of it, by its place in [`Links::calls`].
    pub call: Option<u32>,
    /// The part of what was taken that it took.
    pub call_part: f64,
}

impl Load {
    /// How much of it lies in a range.
    pub fn within(&self, range: &Range<Moment>) -> Length {
        (self.to.min(range.end) - self.from.max(range.start)).at_least_zero()
    }
}

/// The links of a run that carried anything.
#[derive(Debug, Default)]
pub struct Links {
    /// Those that took more than others in some stretch, by name of the function, then by place.
    pub calls: Vec<LinkCall>,
    links: Vec<(String, Range<usize>)>,
    /// By link, then by time.
    loads: Vec<Load>,
}

impl Links {
    /// Reads those of a trace.
    pub fn of(trace: &Trace) -> Result<Links, TraceError> {
        Ok(Links::of_rows(trace.rows_of()?))
    }

    fn of_rows(mut rows: Vec<LinkLoad>) -> Links {
        let is_number = |value: f64| value.is_finite() && value >= 0.0;
        rows.retain(|row| {
            let known = is_number(row.share) && is_number(row.bytes_per_s) && is_number(row.op_share);
            known && row.length > Length::ZERO && row.start.0.checked_add(row.length.0).is_some()
        });
        // They are, unless the table is damaged.
        if !rows.is_sorted_by(|one, other| (&one.link, one.start) <= (&other.link, other.start)) {
            rows.sort_by(|one, other| (&one.link, one.start).cmp(&(&other.link, other.start)));
        }
        let known: BTreeSet<(&str, Option<u32>, Op)> =
            rows.iter().filter_map(|row| row.op.map(|op| (op.name(), row.callsite, op))).collect();
        let calls: Vec<LinkCall> = known.into_iter().map(|(_, site, op)| LinkCall { op, site }).collect();
        let numbers: FxHashMap<LinkCall, u32> = calls.iter().copied().zip(0..).collect();
        let load = |row: &LinkLoad| Load {
            from: row.start,
            to: row.start + row.length,
            bytes_per_s: row.bytes_per_s,
            share: row.share,
            call: row.op.map(|op| numbers[&LinkCall { op, site: row.callsite }]),
            call_part: row.op_share,
        };
        let loads = rows.iter().map(load).collect();
        let mut links: Vec<(String, Range<usize>)> = Vec::new();
        for (place, row) in rows.into_iter().enumerate() {
            match links.last_mut() {
                Some((name, places)) if *name == row.link => places.end = place + 1,
                _ => links.push((row.link, place..place + 1)),
            }
        }
        Links { calls, links, loads }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether no link carried anything.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Name of a link.
    pub fn name(&self, link: usize) -> &str {
        &self.links[link].0
    }

    /// What a link carried in the stretches that reach into a range.
    pub fn loads(&self, link: usize, range: &Range<Moment>) -> &[Load] {
        let all = &self.loads[self.links[link].1.clone()];
        let first = all.partition_point(|load| load.to <= range.start);
        let end = all.partition_point(|load| load.from < range.end);
        &all[first..end.max(first)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(link: &str, start: i64, share: f64, callsite: Option<u32>) -> LinkLoad {
        LinkLoad {
            link: link.to_owned(),
            start: Moment(start),
            length: Length(10),
            bytes_per_s: share * 100.0,
            share,
            op: Op::by_name("MPI_Send"),
            callsite,
            op_share: 1.0,
        }
    }

    #[test]
    fn damaged_tables_are_put_in_order_and_what_makes_no_sense_is_left_out() {
        let endless = LinkLoad { length: Length(i64::MAX), ..row("a", 10, 0.5, None) };
        let rows = vec![
            row("b", 0, 0.5, Some(3)),
            row("a", 20, 0.25, Some(3)),
            row("a", 0, 0.5, None),
            row("a", 40, f64::NAN, None),
            row("c", 0, -1.0, None),
            LinkLoad { length: Length(0), ..row("d", 0, 0.5, None) },
            endless,
        ];
        let links = Links::of_rows(rows);
        assert_eq!((links.len(), links.name(0), links.name(1)), (2, "a", "b"));
        assert_eq!(links.calls.iter().map(|call| call.site).collect::<Vec<_>>(), [None, Some(3)]);
        let starts = |range: Range<i64>| {
            let range = Moment(range.start)..Moment(range.end);
            links.loads(0, &range).iter().map(|load| load.from.0).collect::<Vec<_>>()
        };
        assert_eq!(
            (starts(0..100), starts(5..20), starts(10..20), starts(25..26)),
            (vec![0, 20], vec![0], vec![], vec![20])
        );
    }
}
