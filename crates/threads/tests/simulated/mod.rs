//! Made-up programs: what they do, how long they take with as many processors as wanted, and a small runtime that runs them
//! on some threads and leaves the events that a recorder would.

pub mod program;
pub mod runtime;

/// A small generator: the same numbers every time.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }
}
