//! Bins for durations: an octave and a bin inside it, so narrow that its middle is at most 1 % off.
//!
//! An octave is cut at multiples of 1/256 of its beginning. Bins are made as wide as 1 % allows; a table
//! leads from the eight bits behind the leading one to the bin. There is no logarithm and no rounding.

/// Octaves with bins of their own; longer durations count as some of the last, which are minutes.
pub const OCTAVES: usize = 40;
/// Bins of one octave.
pub const BINS: usize = count_bins();

const STEPS: usize = 256;
const BIN_OF_STEP: [u8; STEPS] = table().0;
const FIRST_STEP: [u16; BINS + 1] = first_steps();

/// Steps that a bin may take from `step` on: (high - low) / (high + low) <= 1/100.
const fn width(step: usize) -> usize {
    let mut width = 1;
    while step + width < STEPS && 100 * (width + 1) <= 2 * (STEPS + step) + width + 1 {
        width += 1;
    }
    width
}

const fn table() -> ([u8; STEPS], usize) {
    let mut bins = [0; STEPS];
    let (mut step, mut bin) = (0, 0);
    while step < STEPS {
        let end = step + width(step);
        while step < end {
            bins[step] = bin as u8;
            step += 1;
        }
        bin += 1;
    }
    (bins, bin)
}

const fn count_bins() -> usize {
    table().1
}

const fn first_steps() -> [u16; BINS + 1] {
    let mut first = [STEPS as u16; BINS + 1];
    let mut step = STEPS;
    while step > 0 {
        step -= 1;
        first[BIN_OF_STEP[step] as usize] = step as u16;
    }
    first
}

/// Octave and bin of a duration. No time at all counts as one tick.
#[inline(always)]
pub fn place(ticks: u64) -> (usize, usize) {
    let zeros = (ticks | 1).leading_zeros();
    let step = ((ticks << zeros) >> 55) as usize & (STEPS - 1);
    ((63 - zeros as usize).min(OCTAVES - 1), BIN_OF_STEP[step] as usize)
}

/// From where to where the durations of a bin reach.
pub fn edges(octave: usize, bin: usize) -> (f64, f64) {
    let edge = |step: u16| (octave as f64).exp2() * (1.0 + f64::from(step) / STEPS as f64);
    let bin = bin.min(BINS - 1);
    (edge(FIRST_STEP[bin]), edge(FIRST_STEP[bin + 1]))
}

/// The duration a bin stands for: off by at most 1 % for everything that falls into it.
pub fn middle(octave: usize, bin: usize) -> f64 {
    let (low, high) = edges(octave, bin);
    2.0 * low * high / (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_within_one_percent_of_its_bin() {
        let mut worst: f64 = 0.0;
        let mut ticks = 1u64;
        while ticks < 1 << OCTAVES {
            for near in [ticks - 1, ticks, ticks + 1] {
                let near = near.clamp(1, (1 << OCTAVES) - 1);
                let (octave, bin) = place(near);
                worst = worst.max((middle(octave, bin) / near as f64 - 1.0).abs());
            }
            ticks += (ticks >> 10).max(1);
        }
        assert!(worst <= 0.01, "{worst}");
    }

    #[test]
    fn extremes_have_a_place() {
        assert_eq!(place(0), place(1));
        assert_eq!(place(u64::MAX).0, OCTAVES - 1);
    }
}
