//! Foretelling computation where the answer is known: exact laws, parameters, steps, and what is refused.

use kizami_predict::scaling::{Measured, PredictedTime, Scaling, ScalingError, Situation, predict};

fn exact(at: Situation, time_s: f64) -> Measured {
    Measured { at, samples_s: vec![time_s; 3] }
}

fn by_ranks(ranks: &[u32], time_s: impl Fn(f64) -> f64) -> Vec<Measured> {
    ranks.iter().map(|&ranks| exact(Situation::of_ranks(ranks), time_s(f64::from(ranks)))).collect()
}

fn one(measured: &[Measured], target: Situation) -> PredictedTime {
    predict(measured, &[target], None, 7).unwrap().remove(0)
}

fn with_n(ranks: u32, n: f64) -> Situation {
    Situation { parameters: vec![("n".to_owned(), n)], ..Situation::of_ranks(ranks) }
}

fn assert_near(found: f64, wanted: f64, relative: f64) {
    assert!((found / wanted - 1.0).abs() <= relative, "{found} instead of {wanted}");
}

#[test]
fn exact_laws_are_found_and_reported() {
    let measured = by_ranks(&[64, 4, 8, 16, 32], |p| 10.0 / p + 0.0012 * p.log2());
    let found = one(&measured, Situation::of_ranks(1_024));
    assert_near(found.median_s, 10.0 / 1_024.0 + 0.012, 0.01);
    assert_eq!(found.model, "10.0 s / P + 1.20 ms log2 P");
    assert!(found.low_s <= found.median_s && found.median_s <= found.high_s);

    let found = one(&by_ranks(&[4, 8, 16], |_| 0.25), Situation::of_ranks(512));
    assert_eq!(found.model, "250 ms");
    assert_near(found.median_s, 0.25, 1e-9);
}

#[test]
fn two_numbers_of_ranks_give_one_power_and_a_wide_interval() {
    let found = one(&by_ranks(&[8, 16], |p| 3.0 / p), Situation::of_ranks(128));
    assert_eq!(found.model, "3.00 s / P");
    assert!(found.high_s / found.low_s > 1.3, "{found:?}");
}

#[test]
fn times_that_no_sum_explains_are_predicted_without_failure() {
    let found = one(&by_ranks(&[4, 8, 16, 32, 64], |p| 100.0 / p.powi(5)), Situation::of_ranks(128));
    assert!(found.median_s > 0.0 && found.error_per_doubling > 0.3, "{found:?}");
    let found = one(&by_ranks(&[1, 2, 3, 5, 7, 11, 13, 64], |p| 1.0 + p.sin().abs()), Situation::of_ranks(9));
    assert!(found.low_s < found.high_s);
}

#[test]
fn intervals_widen_with_the_way() {
    let measured = by_ranks(&[4, 8, 16, 32], |p| 1.0 / p + 0.01 * p.sin().abs());
    let targets = [16, 64, 256, 1_024].map(Situation::of_ranks);
    let found = predict(&measured, &targets, None, 3).unwrap();
    let widths: Vec<f64> = found.iter().map(|found| found.high_s / found.low_s).collect();
    assert!(widths.is_sorted(), "{widths:?}");
}

#[test]
fn the_same_seed_gives_the_same_answer_in_any_order() {
    let samples =
        |p: u32| (0..5).map(|i| 1.0 / f64::from(p) * (1.0 + 0.01 * f64::from((i * p) % 7))).collect();
    let mut measured: Vec<Measured> =
        [4, 8, 16, 32].map(|p| Measured { at: Situation::of_ranks(p), samples_s: samples(p) }).to_vec();
    let first = one(&measured, Situation::of_ranks(256));
    measured.reverse();
    assert_eq!(one(&measured, Situation::of_ranks(256)), first);
}

#[test]
fn weak_scaling_is_distinguished_from_strong_scaling() {
    let time_s = |p: f64, n: f64| 2e-9 * n.powi(3) / p + 0.001 * p.log2();
    let points = [(4, 100.0), (8, 100.0), (16, 100.0), (32, 100.0), (4, 200.0), (16, 200.0), (32, 200.0)];
    let measured: Vec<Measured> =
        points.iter().map(|&(p, n)| exact(with_n(p, n), time_s(f64::from(p), n))).collect();
    for (p, n) in [(256, 100.0), (256, 400.0), (32, 400.0)] {
        let found = one(&measured, with_n(p, n));
        assert_near(found.median_s, time_s(f64::from(p), n), 0.03);
        assert!(found.model.contains("n^3 / P"), "{}", found.model);
    }
}

#[test]
fn counted_work_of_several_kinds_gets_rates_that_are_not_negative() {
    let counts = |p: f64| vec![1e9 / p, 1e6 * p.log2()];
    let at = |ranks: u32| Situation { counts: counts(f64::from(ranks)), ..Situation::of_ranks(ranks) };
    let measured = [4, 8, 32].map(|ranks| {
        let counts = counts(f64::from(ranks));
        exact(at(ranks), 2e-9 * counts[0] + 5e-9 * counts[1])
    });
    let found = one(&measured, at(1_000));
    assert_near(found.median_s, 2e-9 * 1e6 + 5e-9 * 1e6 * 1_000f64.log2(), 1e-6);
    assert_eq!(found.model, "2.00 ns x count 1 + 5.00 ns x count 2");
}

#[test]
fn work_that_was_not_there_before_leaves_a_finite_interval() {
    let at = |ranks, counts: [f64; 2]| Situation { counts: counts.to_vec(), ..Situation::of_ranks(ranks) };
    let measured =
        [exact(at(4, [9.0, 0.0]), 9.0), exact(at(8, [5.0, 0.0]), 5.0), exact(at(16, [0.0, 4.0]), 8.0)];
    let found = one(&measured, at(32, [0.0, 5.0]));
    assert_near(found.median_s, 10.0, 1e-9);
    assert!(found.high_s.is_finite() && found.low_s > 0.0 && found.high_s / found.low_s > 100.0, "{found:?}");
}

#[test]
fn rates_come_from_working_sets_like_the_target() {
    let rate_s = |bytes: f64| if bytes > 1e6 { 3e-9 } else { 1e-9 };
    let at = |ranks: u32, counted: bool| Situation {
        counts: if counted { vec![1e9 / f64::from(ranks)] } else { Vec::new() },
        working_set_bytes: Some(2e7 / f64::from(ranks)),
        ..Situation::of_ranks(ranks)
    };
    for counted in [false, true] {
        let time_s = |ranks: u32| 1e9 / f64::from(ranks) * rate_s(2e7 / f64::from(ranks));
        let measured = [4, 8, 16, 32, 64].map(|ranks| exact(at(ranks, counted), time_s(ranks)));
        for ranks in [6, 512] {
            assert_near(one(&measured, at(ranks, counted)).median_s, time_s(ranks), 0.01);
        }
    }
}

#[test]
fn one_number_of_ranks_needs_an_assumption_or_counts() {
    let measured = by_ranks(&[16], |_| 0.5);
    let target = [Situation::of_ranks(64)];
    let refused = predict(&measured, &target, None, 1);
    assert_eq!(refused, Err(ScalingError::OneSituation { ranks: 16 }));
    for (assumed, wanted_s) in [(Scaling::Strong, 0.125), (Scaling::Weak, 0.5)] {
        let found = predict(&measured, &target, Some(assumed), 1).unwrap().remove(0);
        assert_near(found.median_s, wanted_s, 1e-9);
        assert!(found.high_s > found.median_s);
    }
    let counted = |ranks, count| Situation { counts: vec![count], ..Situation::of_ranks(ranks) };
    assert_near(one(&[exact(counted(16, 100.0), 0.5)], counted(64, 30.0)).median_s, 0.15, 1e-9);
}

#[test]
fn unpredictable_inputs_are_refused_with_a_reason() {
    let refused =
        |measured: &[Measured], target: Situation| predict(measured, &[target], None, 1).unwrap_err();
    let target = || Situation::of_ranks(64);
    assert_eq!(refused(&[], target()), ScalingError::NoSamples);
    assert_eq!(refused(&by_ranks(&[4, 8], |_| 0.0), target()), ScalingError::NotPositive("a measured time"));
    let measured = [exact(with_n(4, 10.0), 1.0), exact(with_n(8, 10.0), 0.5)];
    assert_eq!(refused(&measured, target()), ScalingError::ParameterMissing("n".to_owned()));
    let never = refused(&measured, with_n(64, 20.0));
    assert!(never.to_string().contains("measure with a second value of n"), "{never}");
    let counted = Situation { counts: vec![1.0, 2.0], ..target() };
    assert_eq!(refused(&by_ranks(&[4, 8], |_| 1.0), counted.clone()), ScalingError::CountsDiffer);
    let few = refused(&[exact(counted.clone(), 1.0)], counted);
    assert_eq!(few, ScalingError::TooManyCounts { kinds: 2, situations: 1 });
}
