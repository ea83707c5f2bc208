//! How well computation on other ranks is predicted from 4 to 64, for ten laws with 2 % noise.
//!
//!     cargo run --release -p kizami-predict --example scaling_laws [TRIALS [SEED]]

#[path = "../tests/laws/mod.rs"]
mod laws;

use kizami_predict::scaling::{Measured, Situation, predict};
use laws::{LAWS, Question, Trial, Verdict, trials};
use std::time::Instant;

const PLAIN: Question = Question { counted: false, sized: false, ranks: 1_024, vary_doublings: 0.0 };

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let count = arguments.next().unwrap_or(100);
    let seed = arguments.next().unwrap_or(1);
    println!("{count} trials of each law, seed {seed}");
    let counted = Question { counted: true, ..PLAIN };
    for (title, question) in [
        ("times only, 1,024 ranks", PLAIN),
        ("with working sets, 1,024 ranks", Question { sized: true, ..PLAIN }),
        ("with counts, 1,024 ranks", counted),
        ("with counts and working sets, 1,024 ranks", Question { sized: true, ..counted }),
    ] {
        println!("\n{title}");
        print_head();
        let started = Instant::now();
        let by_law: Vec<Vec<Trial>> = (0..LAWS.len()).map(|law| trials(law, question, count, seed)).collect();
        let each_us = started.elapsed().as_secs_f64() * 1e6 / (count as usize * LAWS.len()) as f64;
        for (law, trials) in LAWS.iter().zip(&by_law) {
            let model = trials.last().map_or("", |trial| &trial.model);
            print_row(law.name, &Verdict::of(trials.iter()), model);
        }
        print_row("all", &Verdict::of(by_law.iter().flatten()), &format!("({each_us:.0} us each)"));
    }
    println!("\nall laws, other questions");
    print_head();
    for ranks in [48, 128, 256, 4_096] {
        print_all(&format!("{ranks} ranks"), Question { ranks, ..PLAIN }, count, seed);
        print_all(&format!("{ranks} ranks, counts"), Question { ranks, ..counted }, count, seed);
    }
    let varied = Question { vary_doublings: 1.0, ..PLAIN };
    print_all("b / 2 to 2 b", varied, count, seed);
    print_all("b / 2 to 2 b, counts", Question { vary_doublings: 1.0, ..counted }, count, seed);
    print_speed();
}

/// A program of 300 places, each asked for 30 numbers of ranks.
fn print_speed() {
    let targets: Vec<Situation> = (1..=30).map(|number| Situation::of_ranks(64 * number)).collect();
    let started = Instant::now();
    for place in 0..300 {
        let samples_s =
            |ranks: u32| (0..5).map(|i| 1.0 / f64::from(ranks) + 1e-4 * f64::from(i * place % 7)).collect();
        let measured = [4, 8, 16, 32, 64]
            .map(|ranks| Measured { at: Situation::of_ranks(ranks), samples_s: samples_s(ranks) });
        predict(&measured, &targets, None, 1).expect("five numbers of ranks are enough");
    }
    println!("\n300 places, 30 targets each: {:.2} s", started.elapsed().as_secs_f64());
}

fn print_head() {
    println!(
        "{:20} {:>8} {:>8} {:>8} {:>6}  model of the last trial",
        "law", "median", "p90", "covered", "width"
    );
}

fn print_all(name: &str, question: Question, count: u64, seed: u64) {
    let all: Vec<Trial> = (0..LAWS.len()).flat_map(|law| trials(law, question, count, seed)).collect();
    print_row(name, &Verdict::of(all.iter()), "");
}

fn print_row(name: &str, verdict: &Verdict, note: &str) {
    let Verdict { median_error, p90_error, coverage, median_width } = verdict;
    let [median, p90, covered] = [median_error, p90_error, coverage].map(|part| 100.0 * part);
    println!("{name:20} {median:6.1} % {p90:6.1} % {covered:6.1} % {median_width:6.2}  {note}");
}
