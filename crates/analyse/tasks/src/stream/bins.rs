//! How many tasks run over time, in equal parts of it: as fine as a fixed number of parts allows.
//!
//! The area below the curve is exact. Parts are as long as the clock's unit at first, and become twice as long whenever the
//! run turns out to be longer.

use kizami_model::{Length, Moment};

/// Parts, at most.
const MOST: usize = 1 << 18;

/// The curve.
#[derive(Clone, Debug)]
pub struct Bins {
    /// Each part is 2 to the power of this long.
    shift: u32,
    bins: Vec<Sums>,
}

/// What is added up for a part.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// What tasks run in it that do not run through all of it, and all that was there before parts became longer.
    area: i64,
    /// How many tasks more than in the one before run through all of it.
    more: i32,
}

impl Default for Bins {
    fn default() -> Bins {
        Bins { shift: 0, bins: vec![Sums::default(); MOST] }
    }
}

impl Bins {
    /// A task runs from one moment to another, neither of which is before the beginning.
    #[inline]
    pub(super) fn add(&mut self, start: Moment, end: Moment) {
        if start >= end {
            return;
        }
        while end.0 >> self.shift >= MOST as i64 {
            self.fold();
        }
        let (first, last) = ((start.0 >> self.shift) as usize, (end.0 >> self.shift) as usize);
        if first == last {
            self.bins[first].area += end.0 - start.0;
            return;
        }
        let begin = |bin: usize| (bin as i64) << self.shift;
        let ends_in = &mut self.bins[last];
        ends_in.more -= 1;
        if end.0 > begin(last) {
            ends_in.area += end.0 - begin(last);
        }
        if start.0 == begin(first) {
            self.bins[first].more += 1;
        } else {
            self.bins[first].area += begin(first + 1) - start.0;
            self.bins[first + 1].more += 1;
        }
    }

    #[cold]
    fn fold(&mut self) {
        let areas: Vec<i64> = self.areas().collect();
        self.shift += 1;
        self.bins.fill(Sums::default());
        for (place, pair) in areas.chunks(2).enumerate() {
            self.bins[place].area = pair.iter().sum();
        }
    }

    /// How long tasks run in each part, added up.
    fn areas(&self) -> impl Iterator<Item = i64> + '_ {
        let mut through = 0;
        self.bins.iter().map(move |sums| {
            through += i64::from(sums.more);
            sums.area + (through << self.shift)
        })
    }

    /// How long a part is; what is as long as the clock's unit is exact.
    pub fn width(&self) -> Length {
        Length(1 << self.shift)
    }

    /// The area below the curve.
    pub fn work(&self) -> Length {
        self.areas().map(Length).sum()
    }

    /// The most tasks at once, as a mean over a part.
    pub fn peak(&self) -> f64 {
        let width = (1i64 << self.shift) as f64;
        self.areas().map(|area| area as f64 / width).fold(0.0, f64::max)
    }

    /// Mean parallelism in so many equal parts of the time from the beginning to the end of the span.
    pub fn curve(&self, span: Length, columns: usize) -> Vec<f64> {
        let mut sums = vec![0.0; columns.max(1)];
        let (bin_width, width) = ((1i64 << self.shift) as f64, span.0.max(1) as f64 / sums.len() as f64);
        for (place, area) in self.areas().enumerate().filter(|(_, area)| *area > 0) {
            let begin = place as f64 * bin_width / width;
            let end = ((place + 1) as f64 * bin_width).min(span.0 as f64) / width;
            let height = area as f64 / (end - begin).max(f64::MIN_POSITIVE);
            for column in begin as usize..(end.ceil() as usize).min(sums.len()) {
                let part = end.min(column as f64 + 1.0) - begin.max(column as f64);
                sums[column] += part.max(0.0) * height / width;
            }
        }
        sums
    }
}
