//! The different values of a column, numbered as they appear.

use super::runs::same;

/// Places of an empty table, a power of two.
const PLACES: usize = 1 << 8;
/// Places that are looked at for a value, on average: more, and values were made up to be slow.
const MOST_TRIES: usize = 16;
/// A place that is free.
const FREE: u32 = u32::MAX;

/// Values and their numbers.
#[derive(Default)]
pub(super) struct Dictionary {
    /// By number.
    pub values: Vec<i64>,
    /// The number of each value that was looked up.
    pub numbers: Vec<u32>,
    /// Value and number, at or behind the place that the value's bits give; half of them are free.
    places: Vec<(i64, u32)>,
}

impl Dictionary {
    /// Numbers all values; `false` if more than so many are different, or if that takes too long.
    pub(super) fn take(&mut self, values: &[i64], most: usize) -> bool {
        self.values.clear();
        self.numbers.clear();
        self.numbers.reserve(values.len());
        self.places.clear();
        self.places.resize(PLACES, (0, FREE));
        let mut tries = 0;
        for part in values.chunks(PLACES) {
            // Room for all of them: then none has to look for it.
            if 2 * (self.values.len() + part.len()) > self.places.len() {
                self.grow(part.len());
            }
            let Dictionary { values, numbers, places } = self;
            let mut number = |value: i64| {
                let place = find(places, value, &mut tries);
                if places[place].1 == FREE {
                    places[place] = (value, values.len() as u32);
                    values.push(value);
                }
                places[place].1
            };
            match same(part) {
                Some(value) => numbers.extend(std::iter::repeat_n(number(value), part.len())),
                None => numbers.extend(part.iter().map(|value| number(*value))),
            }
            if self.values.len() > most || tries > MOST_TRIES * self.numbers.len() {
                return false;
            }
        }
        true
    }

    fn grow(&mut self, more: usize) {
        let places = (4 * (self.values.len() + more)).next_power_of_two();
        self.places.clear();
        self.places.resize(places, (0, FREE));
        for (value, number) in self.values.iter().zip(0..) {
            let place = find(&self.places, *value, &mut 0);
            self.places[place] = (*value, number);
        }
    }
}

/// Where the value is, or belongs; counts places that have others.
#[inline(always)]
fn find(places: &[(i64, u32)], value: i64, tries: &mut usize) -> usize {
    let last = places.len() - 1;
    // The highest bits depend on all others: those of whole fractions are zero at the low end.
    let spread = (value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut place = (spread >> (64 - places.len().trailing_zeros())) as usize;
    while places[place].1 != FREE && places[place].0 != value {
        place = (place + 1) & last;
        *tries += 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_made_up_to_be_slow_are_not_numbered() {
        // Each belongs to the first place of any table: the multiplier's inverse gives what becomes 0, 1, 2 ...
        let mut inverse = 1u64;
        (0..6).for_each(|_| {
            let wrong = inverse.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(wrong));
        });
        let slow: Vec<i64> = (0..100_000u64).map(|value| value.wrapping_mul(inverse) as i64).collect();
        assert!(!Dictionary::default().take(&slow, usize::MAX));
        let usual: Vec<i64> = (0..100_000).map(|value| f64::from(value).to_bits() as i64).collect();
        assert!(Dictionary::default().take(&usual, usize::MAX));
    }
}
