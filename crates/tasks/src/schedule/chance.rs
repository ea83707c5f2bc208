//! Numbers by chance: the same for the same seed, so that a schedule comes out alike whenever it is asked for.

/// Where they come from.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next one, of 53 bits.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// One that is smaller than this.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// From 0 to 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 53) as f64
    }
}
