//! Simulated clocks: how far estimates are from the truth, and whether bounds hold it.
//!
//! Bounds hold for the clocks that are made up here. They are not proven for any clock: of other made-up clocks that wander
//! as much, about one in a thousand leaves its bound, mostly before the first round or after the last.

use kizami_clock::{Chain, ClockModel, Sample};
use kizami_rng::Xorshift64;

fn between(random: &mut Xorshift64, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

/// A clock that is off, drifts and wanders: its offset from the reference over its own time.
#[derive(Clone, Copy, Debug)]
struct Truth {
    offset_ns: f64,
    drift_ppb: f64,
    wander_ns: f64,
    period_s: f64,
    phase: f64,
}

impl Truth {
    fn random(random: &mut Xorshift64) -> Truth {
        Truth {
            offset_ns: between(random, -5e9, 5e9).round(),
            drift_ppb: between(random, -50_000.0, 50_000.0),
            wander_ns: between(random, 500.0, 5_000.0),
            period_s: between(random, 15.0, 60.0),
            phase: between(random, 0.0, std::f64::consts::TAU),
        }
    }

    /// Without the constant part, which would cost digits.
    fn moved_ns(&self, own_ns: f64) -> f64 {
        let s = own_ns * 1e-9;
        self.drift_ppb * s + self.wander_ns * (std::f64::consts::TAU * s / self.period_s + self.phase).sin()
    }

    fn offset_at(&self, own_ns: i64) -> f64 {
        self.offset_ns + self.moved_ns(own_ns as f64)
    }

    /// What the reference shows when the own clock shows this.
    fn reference_ns(&self, own_ns: f64) -> i64 {
        (own_ns + self.moved_ns(own_ns)).round() as i64 + self.offset_ns as i64
    }
}

/// One way of a message: 0.4 us at least, mostly little more, now and then delayed in a queue.
fn one_way_ns(random: &mut Xorshift64) -> f64 {
    let queued = -random.unit().max(1e-9).ln() * 150.0;
    let stuck = if random.unit() < 0.1 { between(random, 0.0, 3_000.0) } else { 0.0 };
    400.0 + queued + stuck
}

/// A round as the tracer asks: 40 questions, of which the eight with the shortest way are kept.
fn round(truth: &Truth, start_ns: f64, random: &mut Xorshift64) -> Vec<Sample> {
    let mut now = start_ns;
    let mut samples: Vec<Sample> = (0..40)
        .map(|_| {
            let sent = now;
            let read = sent + one_way_ns(random);
            let received = read + one_way_ns(random);
            now = received + 200.0;
            Sample {
                sent_ns: sent.round() as i64,
                reference_ns: truth.reference_ns(read),
                received_ns: received.round() as i64,
            }
        })
        .collect();
    samples.sort_by_key(|sample| sample.received_ns - sample.sent_ns);
    samples.truncate(8);
    samples
}

fn rounds_at(truth: &Truth, seconds: &[f64], random: &mut Xorshift64) -> Vec<Vec<Sample>> {
    seconds.iter().map(|s| round(truth, s * 1e9, random)).collect()
}

fn fit(rounds: &[Vec<Sample>]) -> ClockModel {
    ClockModel::fit(rounds.iter().map(Vec::as_slice)).unwrap()
}

/// Every so often from the start to the end of a run.
fn every(step_s: f64, run_s: f64) -> Vec<f64> {
    let count = (run_s / step_s).round() as usize;
    (0..=count).map(|k| k as f64 * step_s).collect()
}

/// Largest error and largest bound over a run of a minute.
fn worst(truth: &Truth, rounds: &[Vec<Sample>]) -> (f64, f64) {
    let model = fit(rounds);
    (0..6_000).fold((0.0f64, 0.0f64), |(error, bound), k| {
        let own_ns = k * 10_000_000;
        let estimate = model.at(own_ns);
        let off = (estimate.offset_ns as f64 - truth.offset_at(own_ns)).abs();
        assert!(off <= estimate.bound_ns as f64, "{off} beyond {} at {own_ns}: {truth:?}", estimate.bound_ns);
        (error.max(off), bound.max(estimate.bound_ns as f64))
    })
}

/// 20 ppm apart, wandering by 3 us in 30 s.
fn typical_clock() -> Truth {
    Truth { offset_ns: 7e6, drift_ppb: 20_000.0, wander_ns: 3_000.0, period_s: 30.0, phase: 0.5 }
}

#[test]
fn readings_every_two_seconds_give_a_fifth_of_a_microsecond() {
    let truth = typical_clock();
    let mut most = (0.0f64, 0.0f64);
    for seed in 1..=50 {
        let mut random = Xorshift64::new(seed * 7919);
        let (error, bound) = worst(&truth, &rounds_at(&truth, &every(2.0, 60.0), &mut random));
        most = (most.0.max(error), most.1.max(bound));
    }
    println!("every 2 s: worst error {:.0} ns, worst bound {:.0} ns", most.0, most.1);
    assert!(most.0 <= 200.0, "{most:?}");
    assert!(most.1 <= 1_500.0, "{most:?}");
}

#[test]
fn measured_only_at_the_ends_or_once_it_is_not() {
    let truth = typical_clock();
    let mut random = Xorshift64::new(99);
    let (ends, ends_bound) = worst(&truth, &rounds_at(&truth, &[0.0, 60.0], &mut random));
    let (once, once_bound) = worst(&truth, &rounds_at(&truth, &[0.0], &mut random));
    println!("at both ends: worst error {ends:.0} ns, worst bound {ends_bound:.0} ns");
    println!("once: worst error {once:.0} ns, worst bound {once_bound:.0} ns");
    assert!(ends > 2_000.0 && once > 1_000_000.0, "{ends} {once}");
}

#[test]
fn smoothing_beats_joining_the_dots() {
    let truth = typical_clock();
    let (mut smoothed, mut joined) = (0.0f64, 0.0f64);
    for seed in 1..=20 {
        let mut random = Xorshift64::new(seed * 104_729);
        let model = fit(&rounds_at(&truth, &every(2.0, 60.0), &mut random));
        for pair in model.epochs().windows(2) {
            for part in 0..20 {
                let own_ns = pair[0].at_ns + (pair[1].at_ns - pair[0].at_ns) * part / 20;
                let on_line = pair[0].offset_ns() + (pair[1].offset_ns() - pair[0].offset_ns()) * part / 20;
                let real = truth.offset_at(own_ns);
                joined = joined.max((on_line as f64 - real).abs());
                smoothed = smoothed.max((model.at(own_ns).offset_ns as f64 - real).abs());
            }
        }
    }
    println!("smoothed {smoothed:.0} ns, joined {joined:.0} ns");
    assert!(smoothed < joined);
}

/// Counts checks; every one of them must find the truth within the bound.
fn check_bounds(truth: &Truth, seconds: &[f64], beyond_s: f64, random: &mut Xorshift64) -> usize {
    let model = fit(&rounds_at(truth, seconds, random));
    let (first, last) = (seconds[0], seconds[seconds.len() - 1]);
    for _ in 0..200 {
        let own_ns = (between(random, first - beyond_s, last + beyond_s) * 1e9) as i64;
        let estimate = model.at(own_ns);
        let off = (estimate.offset_ns as f64 - truth.offset_at(own_ns)).abs();
        assert!(
            off <= estimate.bound_ns as f64,
            "{off} beyond {} at {own_ns} ns with rounds at {seconds:?}: {truth:?}",
            estimate.bound_ns
        );
    }
    200
}

#[test]
fn the_truth_always_lies_within_the_bound() {
    let mut checks = 0;
    for seed in 1..=600u64 {
        let mut random = Xorshift64::new(seed);
        let truth = Truth::random(&mut random);
        let step = between(&mut random, 0.5, 4.0);
        let run = between(&mut random, 5.0, 90.0);
        checks += check_bounds(&truth, &every(step, run), 3.0, &mut random);
        checks += check_bounds(&truth, &[0.0, run], 0.5, &mut random);
        checks += check_bounds(&truth, &[0.0], 60.0, &mut random);
        // Rounds come when the program calls MPI, which may be close together or far apart.
        let mut uneven: Vec<f64> = (0..12).map(|_| between(&mut random, 0.0, run)).collect();
        uneven.sort_by(f64::total_cmp);
        uneven.push(run + 0.001);
        checks += check_bounds(&truth, &uneven, 1.0, &mut random);
    }
    println!("{checks} checks");
    assert!(checks >= 10_000);
}

#[test]
fn errors_add_up_along_the_tree_and_bounds_still_hold() {
    for seed in 1..=100u64 {
        let mut random = Xorshift64::new(seed * 6_700_417);
        let (far, near) = (Truth::random(&mut random), Truth::random(&mut random));
        let model_far = fit(&rounds_at(&far, &every(2.0, 30.0), &mut random));
        let start = far.offset_ns * 1e-9;
        let times: Vec<f64> = every(2.0, 30.0).iter().map(|s| s + start).collect();
        let model_near = fit(&rounds_at(&near, &times, &mut random));
        let chain = Chain::new([&model_far, &model_near]);
        for k in 0..300 {
            let own_ns = k * 100_000_000;
            let middle = own_ns as f64 + far.offset_at(own_ns);
            let real = far.offset_at(own_ns) + near.offset_ns + near.moved_ns(middle);
            let estimate = chain.at(own_ns);
            let off = (estimate.offset_ns as f64 - real).abs();
            assert!(off <= estimate.bound_ns as f64, "{off} beyond {}", estimate.bound_ns);
            assert!(off <= 500.0, "{off}");
        }
    }
}

#[test]
fn time_never_runs_backwards() {
    proptest::proptest!(|(values in proptest::collection::vec(proptest::num::i64::ANY, 3..60))| {
        let samples: Vec<Sample> = values
            .chunks_exact(3)
            .map(|v| Sample { sent_ns: v[0], reference_ns: v[1], received_ns: v[2] })
            .collect();
        if let Some(model) = ClockModel::fit(samples.chunks(2)) {
            let points = Chain::new([&model]).points((0..100).map(|k| k * 50_000_000));
            for pair in points.windows(2) {
                assert!(pair[0].own_ns < pair[1].own_ns && pair[0].root_ns < pair[1].root_ns);
            }
        }
    });
}
