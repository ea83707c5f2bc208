//! Numbers for pairs of an index and something else, such as a rank and what it does: found by the index, then by
//! comparing the few things that are kept with it. There is no hashing, and what is used again and again lies together.

/// Pairs with their numbers, which count from 0 on in the order in which pairs came.
#[derive(Debug)]
pub struct PairInterner<K> {
    rows: Vec<Vec<(K, u32)>>,
    count: u32,
}

impl<K> Default for PairInterner<K> {
    fn default() -> PairInterner<K> {
        PairInterner { rows: Vec::new(), count: 0 }
    }
}

impl<K: Copy + PartialEq> PairInterner<K> {
    /// The number of a pair, and whether it is a new one.
    #[inline]
    pub fn number(&mut self, index: usize, key: K) -> (usize, bool) {
        if index >= self.rows.len() {
            self.rows.resize_with(index + 1, Vec::new);
        }
        let row = &mut self.rows[index];
        match row.iter().position(|(known, _)| *known == key) {
            Some(place) => {
                let number = row[place].1;
                // Long rows are kept in the order of use.
                if place > 8 {
                    row.swap(place, place / 2);
                }
                (number as usize, false)
            }
            None => {
                row.push((key, self.count));
                self.count += 1;
                (self.count as usize - 1, true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_what_they_were() {
        let mut pairs = PairInterner::default();
        for round in 0..3 {
            for number in 0..100 {
                let (index, key) = (number % 2 * 7, number / 2);
                assert_eq!(pairs.number(index, key), (number, round == 0));
            }
        }
    }
}
