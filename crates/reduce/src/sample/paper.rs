//! The scheme of Kamoshida and Taura, to compare with: rows are drawn by how rare their class is.
//!
//! Of every `n` rows that were collected, `x` are drawn one after the other, without putting back, a row with
//! the probability s / sum of s, where s = 1 / f(rows of its class among the n). Classes are the function and the decade of
//! the duration, six of them, from up to 1 us to more than 10 ms.
//!
//! Sums cannot be found again from what is drawn; that is why this is here for comparison only.

use super::draw::Series;

/// What is drawn less the more there are of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// f(h) = 1: all rows alike.
    One,
    /// f(h) = h: all classes alike.
    H,
    /// f(h) = h^2: rare classes first.
    H2,
}

/// Decades that the paper tells apart.
pub const PAPER_DECADES: u64 = 6;

/// The decade of a duration in the paper: 0 for up to 1 us, 5 for more than 10 ms.
pub fn decade(nanoseconds: u64) -> u64 {
    (0..PAPER_DECADES - 1).filter(|&decade| nanoseconds > 1_000 * 10u64.pow(decade as u32)).count() as u64
}

/// Draws `drawn.len()` of the rows of a window. `classes` has the class of each row, below `counts.len()`;
/// rows with another class are never drawn. `keys` and `counts` are memory to work in, `keys` as long as
/// `classes`. Gives how many were drawn; their indices are in `drawn`, ascending.
pub fn draw(
    classes: &[u32],
    importance: Importance,
    seed: u64,
    keys: &mut [(f64, u32)],
    counts: &mut [u32],
    drawn: &mut [u32],
) -> usize {
    counts.fill(0);
    for &class in classes {
        if let Some(count) = counts.get_mut(class as usize) {
            *count += 1;
        }
    }
    // Drawing without putting back is the same as taking those whose exponential clocks of rate s ring first.
    let mut used = 0;
    let mut numbers = Series::alone(seed, 0);
    for (index, (&class, key)) in classes.iter().zip(keys.iter_mut()).enumerate() {
        let frequency = counts.get(class as usize).map_or(0.0, |&count| f64::from(count));
        let mean = match importance {
            Importance::One => 1.0,
            Importance::H => frequency,
            Importance::H2 => frequency * frequency,
        };
        let chance = numbers.next_number() >> 11;
        let chance = (chance as f64 + 0.5) / (1u64 << 53) as f64;
        let rings = if frequency == 0.0 { f64::INFINITY } else { -chance.ln() * mean };
        *key = (rings, index as u32);
        used = index + 1;
    }
    let count = drawn.len().min(used);
    let keys = &mut keys[..used];
    if count < keys.len() && count > 0 {
        keys.select_nth_unstable_by(count - 1, |one, other| one.0.total_cmp(&other.0));
    }
    let mut found = 0;
    for &(_, index) in keys[..count].iter().filter(|key| key.0.is_finite()) {
        drawn[found] = index;
        found += 1;
    }
    drawn[..found].sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_those_of_the_paper() {
        let decades = [1_000, 1_001, 10_000, 100_000, 1_000_000, 10_000_000, 10_000_001].map(decade);
        assert_eq!(decades, [0, 1, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn rare_classes_are_drawn_as_the_importance_says() {
        // 10 rows of class 1 among 9,990 of class 0.
        let classes: Vec<u32> = (0..10_000).map(|row| u32::from(row % 1_000 == 0)).collect();
        let (mut keys, mut counts, mut drawn) = (vec![(0.0, 0); 10_000], vec![0; 2], vec![0; 100]);
        let mut rare = |importance| {
            let rows = (0..20).map(|seed| {
                let count = draw(&classes, importance, seed, &mut keys, &mut counts, &mut drawn);
                assert_eq!(count, 100);
                drawn.iter().filter(|&&row| row % 1_000 == 0).count()
            });
            rows.sum::<usize>() as f64 / 20.0
        };
        assert!(rare(Importance::One) < 1.0);
        assert!(rare(Importance::H) > 9.0);
        assert_eq!(rare(Importance::H2), 10.0);
    }
}
