//! Sampling keys of calls.

use kizami_summary::sample::Series;

#[test]
fn one_after_the_other_is_the_same_as_by_place() {
    let series = Series::of_messages(1, 77, 2, 5, 4);
    let mut going = series;
    for before in 0..100 {
        assert_eq!(going.next_number(), series.number(before));
    }
}

#[test]
fn numbers_of_many_short_series_are_spread_evenly() {
    let numbers = (0..1000u32).flat_map(|rank| {
        let series = Series::of_messages(1, 77, rank, rank + 1, 0);
        (0..100).map(move |before| series.number(before))
    });
    let mut bins = [0u32; 64];
    numbers.for_each(|number| bins[(number >> 58) as usize] += 1);
    let expected = 100_000.0 / 64.0;
    let chi_square: f64 = bins.iter().map(|&bin| (f64::from(bin) - expected).powi(2) / expected).sum();
    // 63 degrees of freedom: above 120 once in a hundred thousand.
    assert!(chi_square < 120.0, "{chi_square}");
}
