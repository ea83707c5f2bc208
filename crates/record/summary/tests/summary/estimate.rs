//! Figures from kept rows and from sums over time, each with how far it may be off.
//!
//! [`of_rows`] is for anything that rows show: each stands for 1 / probability rows. [`in_range`] is for calls,
//! time and bytes from one moment to another: slices inside the range are exact, those at its ends are divided.
//! There the rows kept for certain are put where they were, and the rest is divided by the marks, or by time. How much of
//! the rest could lie on the wrong side is known for sure; a third of that is reported as the standard error, so
//! three of them are never exceeded.

use kizami_summary::{KeptRow, Kind, Mark, State, Sums, total};

/// A figure and its standard error; 0 says that it is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Two times out of three it is off by less than this, and by less than three times this practically always.
    pub standard_error: f64,
}

/// For estimates over time, of which three standard errors are a bound.
impl Estimate {
    fn low(self) -> f64 {
        self.value - 3.0 * self.standard_error
    }

    fn high(self) -> f64 {
        self.value + 3.0 * self.standard_error
    }

    /// The same, if it is also known to lie between two figures.
    fn within(self, low: f64, high: f64) -> Estimate {
        let (low, high) = (self.low().max(low), self.high().min(high));
        if low > high {
            return self;
        }
        let value = self.value.clamp(low, high);
        Estimate { value, standard_error: (high - value).max(value - low) / 3.0 }
    }
}

/// The sum over all rows, kept or not, of what `amount` gives for a row.
pub fn of_rows<'a>(
    rows: impl IntoIterator<Item = &'a KeptRow>,
    amount: impl Fn(&KeptRow) -> f64,
) -> Estimate {
    let (mut value, mut variance) = (0.0, 0.0);
    for row in rows {
        let stands_for = amount(row) / row.probability;
        value += stands_for;
        variance += stands_for * stands_for * (1.0 - row.probability);
    }
    Estimate { value, standard_error: variance.sqrt() }
}

/// Calls, time and bytes in a range of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RangeSums {
    /// Calls that started in it.
    pub calls: Estimate,
    /// Time inside them, in ticks, to their ends.
    pub ticks: Estimate,
    /// Bytes they gave; not known for all kinds together.
    pub bytes_out: Estimate,
    /// Bytes they obtained; not known for all kinds together.
    pub bytes_in: Estimate,
}

/// Calls and time of all kinds together, of calls that started from `start` to before `end`.
pub fn in_range(state: &State, start: u64, end: u64) -> RangeSums {
    let mut sums = RangeSums::default();
    for mark in meeting(&state.marks, |mark| (mark.start, mark.end), start, end) {
        let part = Part::new((mark.start, mark.end), (start, end), None);
        let known = Divided::between(state, mark.start, mark.end, |_| true, &part);
        part.add_to(&mut sums.calls, mark.calls as f64, known.calls);
        part.add_to(&mut sums.ticks, mark.ticks as f64, known.ticks);
    }
    sums
}

/// Sums of one kind (its index in [`State::kinds`]), of calls that started from `start` to before `end`.
pub fn kind_in_range(state: &State, kind: usize, start: u64, end: u64) -> RangeSums {
    let mut sums = RangeSums::default();
    let Some(Kind { slices, .. }) = state.kinds.get(kind) else { return sums };
    for slice in meeting(slices, |slice| (slice.start, slice.end), start, end) {
        let part = Part::new((slice.start, slice.end), (start, end), Some(&state.marks));
        let known = Divided::between(state, slice.start, slice.end, |row| row.kind == kind, &part);
        let all = total(&slice.classes);
        part.add_to(&mut sums.calls, all.calls as f64, known.calls);
        part.add_to(&mut sums.ticks, all.ticks as f64, known.ticks);
        part.add_to(&mut sums.bytes_out, all.bytes_out as f64, (0.0, 0.0));
        part.add_to(&mut sums.bytes_in, all.bytes_in as f64, (0.0, 0.0));
    }
    // Of all kinds together more is known; what the others cannot have been, this one was.
    let all = in_range(state, start, end);
    let mut others = Sums::default();
    for (_, other) in state.kinds.iter().enumerate().filter(|(index, _)| *index != kind) {
        for slice in meeting(&other.slices, |slice| (slice.start, slice.end), start, end) {
            others = others.plus(total(&slice.classes));
        }
    }
    sums.calls = sums.calls.within(all.calls.low() - others.calls as f64, all.calls.high());
    sums.ticks = sums.ticks.within(all.ticks.low() - others.ticks as f64, all.ticks.high());
    sums
}

/// Those of a series that share time with a range. A series is in the order of time.
fn meeting<T>(series: &[T], span: impl Fn(&T) -> (u64, u64), start: u64, end: u64) -> &[T] {
    if start >= end {
        return &[];
    }
    let first = series.partition_point(|item| span(item).1 <= start);
    let beyond = series.partition_point(|item| span(item).0 < end);
    series.get(first..beyond.max(first)).unwrap_or(&[])
}

/// Calls and ticks, of which so much is on this side of a division and so much beyond.
struct Divided {
    calls: (f64, f64),
    ticks: (f64, f64),
}

impl Divided {
    /// Rows that were kept for certain between two moments: inside the part, and beside it.
    fn between(state: &State, start: u64, end: u64, of: impl Fn(&KeptRow) -> bool, part: &Part) -> Divided {
        let mut known = Divided { calls: (0.0, 0.0), ticks: (0.0, 0.0) };
        if part.whole() {
            return known;
        }
        let first = state.rows.partition_point(|row| row.start_ticks < start);
        let rows = state.rows[first..].iter().take_while(|row| row.start_ticks < end);
        for row in rows.filter(|row| row.probability >= 1.0 && of(row)) {
            let inside = (part.start..part.end).contains(&row.start_ticks);
            let place = |known: &mut (f64, f64), amount: f64| {
                *(if inside { &mut known.0 } else { &mut known.1 }) += amount;
            };
            place(&mut known.calls, 1.0);
            place(&mut known.ticks, row.duration_ticks as f64);
        }
        known
    }
}

/// The part of a slice that lies in a range.
struct Part {
    start: u64,
    end: u64,
    /// Share of the slice, by marks or by time.
    share: f64,
}

impl Part {
    fn new(slice: (u64, u64), range: (u64, u64), marks: Option<&[Mark]>) -> Part {
        let (start, end) = (slice.0.max(range.0), slice.1.min(range.1));
        let by_time = end.saturating_sub(start) as f64 / slice.1.saturating_sub(slice.0).max(1) as f64;
        let mut part = Part { start, end, share: by_time };
        if let Some(marks) = marks.filter(|_| !part.whole_of(slice)) {
            let whole = calls_around(marks, slice.0, slice.1);
            if whole > 0.0 {
                part.share = (calls_around(marks, start, end) / whole).clamp(0.0, 1.0);
            }
        }
        if part.whole_of(slice) {
            part.share = 1.0;
        }
        part
    }

    fn whole_of(&self, slice: (u64, u64)) -> bool {
        (self.start, self.end) == slice
    }

    fn whole(&self) -> bool {
        self.share >= 1.0
    }

    /// Adds the part of `all`, of which `known` is known to lie inside and beside.
    fn add_to(&self, sum: &mut Estimate, all: f64, known: (f64, f64)) {
        if self.whole() {
            sum.value += all;
            return;
        }
        let rest = (all - known.0 - known.1).max(0.0);
        sum.value += known.0 + rest * self.share;
        sum.standard_error += rest * self.share.max(1.0 - self.share) / 3.0;
    }
}

/// Calls in a range, of all kinds, from marks by their shares of time.
fn calls_around(marks: &[Mark], start: u64, end: u64) -> f64 {
    let inside = meeting(marks, |mark| (mark.start, mark.end), start, end).iter().map(|mark| {
        let shared = mark.end.min(end).saturating_sub(mark.start.max(start));
        mark.calls as f64 * shared as f64 / mark.end.saturating_sub(mark.start).max(1) as f64
    });
    inside.sum()
}
