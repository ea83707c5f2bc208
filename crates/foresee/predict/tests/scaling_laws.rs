//! What is promised about predicting computation: figures over ten laws with 2 % noise, asked for 1,024 ranks.
//!
//! `examples/scaling_laws.rs` prints the same with more trials.

mod laws;

use laws::{LAWS, Question, Trial, Verdict, trials};

/// Others than those with which the constants of the models were chosen.
const SEEDS: [u64; 2] = [101, 102];
const TRIALS: u64 = 15;

fn verdict(counted: bool, sized: bool) -> Verdict {
    let question = Question { counted, sized, ranks: 1_024, vary_doublings: 0.0 };
    let mut all: Vec<Trial> = Vec::new();
    for (number, law) in LAWS.iter().enumerate() {
        for seed in SEEDS {
            all.extend(trials(number, question, TRIALS, seed));
        }
        let is_sound =
            |trial: &Trial| trial.error.is_finite() && trial.width >= 1.0 && !trial.model.is_empty();
        assert!(all.iter().all(is_sound), "{}", law.name);
    }
    Verdict::of(all.iter())
}

fn assert_within(verdict: &Verdict, median: f64, p90: f64) {
    let Verdict { median_error, p90_error, coverage, median_width } = verdict;
    assert!(*median_error <= median, "median error {median_error:.3}, at most {median} is promised");
    assert!(*p90_error <= p90, "nine of ten errors are below {p90_error:.3}, at most {p90} is promised");
    assert!(
        (0.85..=0.97).contains(coverage),
        "intervals for 90 % hold {coverage:.3}, ends differ {median_width:.2}-fold"
    );
}

#[test]
fn times_alone_predict_sixteen_times_the_ranks() {
    assert_within(&verdict(false, false), 0.05, 0.50);
}

#[test]
fn counted_work_predicts_better() {
    assert_within(&verdict(true, false), 0.02, 0.15);
}

#[test]
fn working_sets_help_with_and_without_counts() {
    assert_within(&verdict(false, true), 0.03, 0.50);
    assert_within(&verdict(true, true), 0.015, 0.10);
}
