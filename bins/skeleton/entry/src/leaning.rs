//! How often a loop goes round in all rounds of another one, without going round.

/// The sum of `(first + each * i) / step` over `i` below `times`, without what is negative.
pub extern "C" fn leaning(times: i64, first: i64, each: i64, step: i64) -> i64 {
    if times <= 0 || step <= 0 {
        return 0;
    }
    // From the end a line that falls is one that rises.
    let (first, each) = if each < 0 {
        (i128::from(first) + i128::from(each) * i128::from(times - 1), -i128::from(each))
    } else {
        (i128::from(first), i128::from(each))
    };
    let (mut times, mut first, step) = (i128::from(times), first, i128::from(step));
    if first < 0 {
        if each == 0 {
            return 0;
        }
        let below = (-first + each - 1) / each;
        times -= below;
        first += below * each;
    }
    if times <= 0 { 0 } else { line(times, first, each, step).clamp(0, i128::from(i64::MAX)) as i64 }
}

/// The sum of `(first + each * i) / step` over `i` below `times`, of numbers that are not negative: whole steps are taken out,
/// and what is left is counted the other way round, as in Euclid's algorithm.
fn line(mut times: i128, mut first: i128, mut each: i128, mut step: i128) -> i128 {
    let mut sum: i128 = 0;
    loop {
        sum = sum.saturating_add((times * (times - 1) / 2).saturating_mul(each / step));
        sum = sum.saturating_add(times.saturating_mul(first / step));
        (each, first) = (each % step, first % step);
        let end = each * times + first;
        if end < step {
            return sum;
        }
        (times, first) = (end / step, end % step);
        (each, step) = (step, each);
    }
}

#[cfg(test)]
mod tests {
    use super::leaning;

    #[test]
    fn a_sum_is_what_going_round_gives() {
        for times in [0, 1, 2, 7, 40] {
            for first in [-35, -1, 0, 3, 64, 100] {
                for each in [-9, -1, 0, 1, 2, 13] {
                    for step in [1, 2, 7, 64] {
                        let one = |i: i64| ((first + each * i).max(0)) / step;
                        let expected: i64 = (0..times).map(one).sum();
                        assert_eq!(
                            leaning(times, first, each, step),
                            expected,
                            "{times} {first} {each} {step}"
                        );
                    }
                }
            }
        }
    }
}
