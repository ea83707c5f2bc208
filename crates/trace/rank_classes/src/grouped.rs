//! Many ranks as few: which of them are alike, and how many.

use crate::{Rank, RankClasses};

impl RankClasses {
    /// The ranks with rows that these ranks are like, in rising order, each with how many of these are like it.
    pub fn weighed(&self, ranks: &[u32]) -> Vec<(u32, u64)> {
        let mut counts = vec![0u64; self.count()];
        ranks.iter().for_each(|rank| counts[self.number(Rank(*rank)) as usize] += 1);
        let with_rows = self.with_rows().iter().map(|rank| rank.0);
        with_rows.zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    /// The ranks of each class, in rising order.
    pub fn ranks_of_each(&self) -> Vec<Vec<u32>> {
        let mut ranks: Vec<Vec<u32>> =
            self.sizes.iter().map(|size| Vec::with_capacity(*size as usize)).collect();
        (0..).zip(&self.of).for_each(|(rank, class)| ranks[*class as usize].push(rank));
        ranks
    }

    /// Those of these ranks before which fewer than `most` of their class come.
    pub fn first_of_each(&self, ranks: &[u32], most: usize) -> Vec<u32> {
        let mut counts = vec![0usize; self.count()];
        let is_early = |rank: &u32| {
            let count = &mut counts[self.number(Rank(*rank)) as usize];
            *count += 1;
            *count <= most
        };
        ranks.iter().copied().filter(is_early).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_by_the_one_they_are_like() {
        let definitions = kizami_testing::definitions(&[vec![0, 1, 2, 3, 4, 5]]);
        let classes = RankClasses::from_keys(&[0, 1, 1, 1, 0, 2], &definitions);
        assert_eq!(classes.weighed(&[1, 2, 3, 4]), [(0, 1), (1, 3)]);
        assert_eq!(classes.ranks_of_each(), [vec![0, 4], vec![1, 2, 3], vec![5]]);
        assert_eq!(classes.first_of_each(&[0, 1, 2, 3, 4, 5], 1), [0, 1, 5]);
        assert_eq!(classes.first_of_each(&[4, 3, 2, 1], 2), [4, 3, 2]);
    }
}
