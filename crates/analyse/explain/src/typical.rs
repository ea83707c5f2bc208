//! Which of many occasions is typical.
//!
//! The longest may be a freak, and the one in the middle by number a trifle: a loop that waits for one late message waits
//! for a thousand others a moment. So each counts for the root of its length, and the one in the middle of that is taken:
//! neither one that took half the run nor a thousand that took no time win.

use kizami_model::Length;

/// Classes of lengths: eight for each power of two.
const CLASSES: usize = 8 * 64;

fn class(length: Length) -> usize {
    ((8.0 * (length.0.max(1) as f64).log2()) as usize).min(CLASSES - 1)
}

/// A typical one; of equally good ones the first. `all` is called twice, so that nothing has to be kept.
pub fn typical<T, All: Iterator<Item = T>>(
    all: impl Fn() -> All,
    length: impl Fn(&T) -> Length,
) -> Option<T> {
    let mut weights = [0.0; CLASSES];
    for one in all() {
        let length = length(&one);
        weights[class(length)] += (length.0.max(1) as f64).sqrt();
    }
    let half = weights.iter().sum::<f64>() / 2.0;
    let mut so_far = 0.0;
    let middle = weights.iter().position(|weight| {
        so_far += weight;
        *weight > 0.0 && so_far >= half
    })?;
    all().find(|one| class(length(one)) == middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lengths: &[(usize, i64)]) -> Option<i64> {
        let all = || lengths.iter().flat_map(|(count, ns)| std::iter::repeat_n(Length(*ns), *count));
        typical(all, |length| *length).map(|length| length.0)
    }

    #[test]
    fn neither_freaks_nor_trifles_are_typical() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(1, 0)]), Some(0));
        assert_eq!(of(&[(20, 20_000_000), (1, 500_000_000)]), Some(20_000_000));
        assert_eq!(of(&[(300, 1_000), (20, 20_000_000), (1, 500_000_000)]), Some(20_000_000));
        // A million trifles are no trifle.
        assert_eq!(of(&[(1_000_000, 1_000), (20, 20_000_000)]), Some(1_000));
    }
}
