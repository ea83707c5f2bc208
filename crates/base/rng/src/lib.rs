//! Random numbers that repeat: for drawing samples, for noise, and for tests.
//!
//! Promised: a seed gives the same numbers on every machine and in every version, since traces, predictions and
//! schedules are made with them. Nothing here allocates, locks or fails, so the tracer may use it.
//!
//! Not promised: numbers that cannot be guessed. Secrets come from the kernel.

/// The generator to use: SplitMix64 by Steele, Lea and Flood. Any seed is as good as any other, also similar ones.
///
/// A copy goes on with the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Begins with a seed.
    #[inline(always)]
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next 64 bits.
    #[inline(always)]
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        mix(self.0)
    }

    /// What [`SplitMix64::bits`] would return after so many other numbers.
    #[inline(always)]
    pub const fn bits_after(self, before: u64) -> u64 {
        mix(self.0.wrapping_add(Self::STEP.wrapping_mul(before.wrapping_add(1))))
    }

    /// At least 0 and below 1.
    #[inline]
    pub const fn unit(&mut self) -> f64 {
        unit_of(self.bits() >> 11)
    }

    /// Below `end`; 0 if that is 0.
    #[inline]
    pub const fn below(&mut self, end: u64) -> u64 {
        ((self.bits() as u128 * end as u128) >> 64) as u64
    }

    /// The place of one of so many things; 0 if there are none.
    #[inline]
    pub const fn index(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    /// Normally distributed, with mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// A hash of one word: every bit of the result depends on every bit given. 0 stays 0.
#[inline(always)]
pub const fn mix(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Marsaglia's xorshift with 64 bits of state: only for schedules of tasks, the watching of simulated links and the
/// simulated clocks of tests. They were begun with it, and another stream would change every figure that they print.
#[derive(Clone, Debug)]
pub struct Xorshift64(u64);

impl Xorshift64 {
    /// Begins with a seed.
    pub const fn new(seed: u64) -> Xorshift64 {
        // The state must not be 0.
        Xorshift64(seed.wrapping_mul(SplitMix64::STEP) | 1)
    }

    /// The next 53 bits; the lowest bits of the state are the worst.
    const fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// At least 0 and below 1.
    pub const fn unit(&mut self) -> f64 {
        unit_of(self.bits())
    }

    /// The place of one of so many things; 0 if there are none.
    pub const fn index(&mut self, count: usize) -> usize {
        if count == 0 { 0 } else { (self.bits() % count as u64) as usize }
    }
}

const fn unit_of(bits_53: u64) -> f64 {
    bits_53 as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_algorithms() {
        let mut random = SplitMix64::new(0);
        let first = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!(first.map(|_| random.bits()), first);
        assert_eq!([0, 1, 2].map(|before| SplitMix64::new(0).bits_after(before)), first);
        // By the definition, with a state of 1.
        let mut state = Xorshift64::new(0);
        assert_eq!([(); 2].map(|()| state.bits()), [0x0008_1044, 0x0002_0008_20c1_8022]);
    }

    #[test]
    fn numbers_lie_in_their_range() {
        let (mut random, mut shifted) = (SplitMix64::new(5), Xorshift64::new(5));
        let mut seen = [[0; 7]; 2];
        for _ in 0..7_000 {
            assert!((0.0..1.0).contains(&random.unit()) && (0.0..1.0).contains(&shifted.unit()));
            seen[0][random.index(7)] += 1;
            seen[1][shifted.index(7)] += 1;
        }
        assert!(seen.as_flattened().iter().all(|times| (850..1150).contains(times)), "{seen:?}");
        assert_eq!((random.below(1), random.index(0), shifted.index(0)), (0, 0, 0));
    }

    #[test]
    fn normal_numbers_have_their_mean_and_deviation() {
        let mut random = SplitMix64::new(9);
        let numbers = [(); 10_000].map(|()| random.normal());
        let mean = numbers.iter().sum::<f64>() / 1e4;
        let variance = numbers.iter().map(|number| number * number).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
