//! Statistics of samples: what a mean, a median or a quantile is here, and fits by least squares.
//!
//! Promised: the same values in the same order give the same bits on every machine, since what is predicted and found
//! follows from them. Sums are plain, from first to last. Not done: sorting behind the caller's back. What needs sorted
//! values says so, and [`sorted`] makes them.

mod least_squares;

pub use least_squares::{dot, line, non_negative, pseudo_inverse, squared_residuals};

/// The same values, ascending.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The sum divided by how many there are; not a number if there are none.
pub fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The variance of the distribution these values were sampled from: squares about their mean, divided by one less than their
/// number. 0 for a single one.
pub fn variance(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let count = values.len() as f64;
    let mean = mean(values.clone());
    values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0)
}

/// The value in the middle; the mean of the two there if their number is even. None if there are none.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let (low, high) = (sorted[last / 2], sorted[sorted.len() / 2]);
    Some(if last.is_multiple_of(2) { high } else { (low + high) / 2.0 })
}

/// The value in the middle, which is one that occurs: of two there, the upper. None if there are none.
pub fn upper_median<T: Copy>(sorted: &[T]) -> Option<T> {
    sorted.get(sorted.len() / 2).copied()
}

/// The value nearest to this share of the way from the first to the last. None if there are none.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(share * last as f64).round() as usize])
}

/// The value that a share of all are not above, where values are given ascending with how often each occurs. None if
/// there are none.
///
/// Of a handful, the largest is the one that 99 % are not above.
pub fn counted_quantile<T>(ascending: impl Iterator<Item = (T, u64)> + Clone, share: f64) -> Option<T> {
    let all = ascending.clone().fold(0u64, |sum, (_, count)| sum.saturating_add(count));
    let wanted = ((share.clamp(0.0, 1.0) * all as f64).ceil() as u64).max(1);
    let mut so_far = 0u64;
    ascending.into_iter().find_map(|(value, count)| {
        so_far = so_far.saturating_add(count);
        (so_far >= wanted).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_many_and_few() {
        assert_eq!(sorted(&[3.0, 1.0, 2.0]), [1.0, 2.0, 3.0]);
        let of = |values: &[f64]| (median(values), upper_median(values));
        assert_eq!(of(&[]), (None, None));
        assert_eq!(of(&[7.0]), (Some(7.0), Some(7.0)));
        assert_eq!(of(&[1.0, 2.0]), (Some(1.5), Some(2.0)));
        assert_eq!(of(&[1.0, 2.0, 9.0]), (Some(2.0), Some(2.0)));
    }

    #[test]
    fn quantiles_are_values_that_occur() {
        let four = [1.0, 2.0, 3.0, 4.0];
        assert_eq!([0.0, 0.1, 0.5, 1.0].map(|share| quantile(&four, share)), [1.0, 1.0, 3.0, 4.0].map(Some));
        assert_eq!(quantile(&[], 0.5), None);
        let counted = |share| counted_quantile([('a', 2), ('b', 1), ('c', 1)].into_iter(), share);
        assert_eq!([0.0, 0.5, 0.51, 0.75, 0.99].map(counted), ['a', 'a', 'b', 'b', 'c'].map(Some));
        assert_eq!(counted_quantile(std::iter::empty::<(i32, u64)>(), 0.5), None);
        let endless = [(1, u64::MAX), (2, u64::MAX)];
        assert_eq!(counted_quantile(endless.into_iter(), 1.0), Some(1), "sums saturate");
    }

    #[test]
    fn spread_about_the_mean() {
        let values = [1.0, 2.0, 3.0, 6.0];
        assert_eq!(mean(values.into_iter()), 3.0);
        assert_eq!(variance(values.into_iter()), 14.0 / 3.0);
        assert_eq!(variance([5.0].into_iter()), 0.0);
    }
}
