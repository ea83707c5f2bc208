//! Every example has its answer and its figures, and later versions of the inference take less virtual time.

mod common;

use common::{EXAMPLES, query, text};
use kizami_fleng::{Outcome, Settings};

fn run(file: &str, goals: &str) -> Outcome {
    query(&text(file), goals)
        .run(&Settings::default(), &mut ())
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn examples_give_their_answers_and_figures() {
    for (file, goals, variable, answer, figures) in EXAMPLES {
        let outcome = run(file, goals);
        assert_eq!(outcome.answer(variable), Some(answer), "{file} {goals}");
        assert_eq!([outcome.end, outcome.work, outcome.peak], figures, "{file} {goals}");
        assert_eq!(outcome.stuck_count, 0);
    }
}

#[test]
fn every_version_of_the_inference_is_faster_than_the_one_before() {
    let ends: Vec<u64> =
        (1..=4).map(|version| run(&format!("inference{version}.fl"), "infer(A)").end).collect();
    assert!(ends.is_sorted_by(|before, after| before > after), "{ends:?}");
}

#[test]
fn versions_of_the_inference_know_the_same() {
    let known = |version: u32| {
        let text = text(&format!("inference{version}.fl"));
        text.split_once("% ---- What is known").map(|(_, rest)| rest.to_owned()).expect("the part in common")
    };
    for version in 2..=4 {
        assert_eq!(known(version), known(1));
    }
}

#[test]
fn larger_ones_are_right_too() {
    let outcome = run("primes.fl", "primes(2000, P)");
    let primes: Vec<String> = (2..=2000)
        .filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
        .map(|n| n.to_string())
        .collect();
    assert_eq!(outcome.answer("P"), Some(format!("[{}]", primes.join(", ")).as_str()));
    let costs: Vec<Outcome> = ["b", "c", "d", "e", "f", "g", "a"]
        .map(|to| run("best_path.fl", &format!("best_path(a, {to}, Cost, _)")))
        .into();
    let costs: Vec<_> = costs.iter().map(|outcome| outcome.answer("Cost")).collect();
    assert_eq!(costs, ["3", "2", "8", "10", "11", "12", "0"].map(Some));
}
