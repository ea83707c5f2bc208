//! Conditions of `--fail-if`: `efficiency < 0.8`, `run_time >= 90 s`, `change(run_time) > 5 %`.

use crate::show::quantity;
use kizami_explain::diff::{Diff, Measure};
use kizami_model::Length;
use std::fmt;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was typed.
    text: String,
    measure: Measure,
    /// The change against the first run, as a part of what it was there; else the value of the second run.
    change: bool,
    comparison: Comparison,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// The longer ones first: each begins with a shorter one.
const COMPARISONS: [(&str, Comparison); 4] = [
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::MoreOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::More),
];

impl Condition {
    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let split = |(sign, comparison): &(&str, Comparison)| {
            text.split_once(sign).map(|(left, right)| (left.trim(), *comparison, right.trim()))
        };
        let (left, comparison, right) = COMPARISONS
            .iter()
            .find_map(split)
            .ok_or("give a comparison with <, <=, > or >=, such as 'efficiency < 0.8'")?;
        let inner = left.strip_prefix("change").map(str::trim_start).and_then(|rest| rest.strip_prefix('('));
        let (name, change) = match inner.map(|inner| inner.strip_suffix(')')) {
            Some(Some(name)) => (name.trim(), true),
            Some(None) => return Err(format!("{left} has no closing parenthesis")),
            None => (left, false),
        };
        let measure = Measure::ALL.into_iter().find(|measure| measure.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Measure::ALL.iter().map(|measure| measure.name()).collect();
            format!("unknown quantity {name:?}; known are {}, and change() of each", names.join(", "))
        })?;
        let limit = match (measure, change, right.strip_suffix('%')) {
            (Measure::RunTime, false, Some(_)) => {
                return Err(
                    "compare run_time with a time such as 90 s, change(run_time) with a fraction such as 5 %"
                        .to_owned(),
                );
            }
            (Measure::RunTime, false, None) => {
                quantity::parse_time(right).map_err(|error| error.to_string())?.as_secs_f64()
            }
            (_, _, Some(percent)) => number(percent)? / 100.0,
            (_, _, None) => number(right)?,
        };
        Ok(Condition { text: text.trim().to_owned(), measure, change, comparison, limit })
    }

    /// What it looks at, in these two runs.
    pub fn value(&self, diff: &Diff) -> f64 {
        diff.measure(self.measure).map_or(f64::NAN, |change| match self.change {
            true => change.relative(),
            false => change.after,
        })
    }

    /// Whether it is true of these two runs.
    pub fn holds(&self, diff: &Diff) -> bool {
        let value = self.value(diff);
        match self.comparison {
            Comparison::Less => value < self.limit,
            Comparison::LessOrEqual => value <= self.limit,
            Comparison::More => value > self.limit,
            Comparison::MoreOrEqual => value >= self.limit,
        }
    }

    /// Its value for people.
    pub fn say(&self, diff: &Diff) -> String {
        let value = self.value(diff);
        match (self.measure, self.change) {
            (Measure::RunTime, false) => quantity::duration(Length((value * 1e9) as i64)),
            (_, true) => format!("{:+.1} %", 100.0 * value),
            (_, false) => format!("{value:.3}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(format!("{:?} is not a number; give one such as 0.8 or 80 %", text.trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_explain::diff::{MeasureChange, Side};

    /// A run of 10 s at 0.9, then one of 12 s at 0.75.
    fn diff() -> Diff {
        let side = Side {
            trace: String::new(),
            executable: String::new(),
            command: Vec::new(),
            ranks: 4,
            run_ns: 0,
        };
        let change = |measure, before, after| MeasureChange { measure, before, after };
        Diff {
            before: side.clone(),
            after: side,
            measures: vec![
                change(Measure::RunTime, 10.0, 12.0),
                change(Measure::Efficiency, 0.9, 0.75),
                change(Measure::Waiting, 0.0, 0.25),
            ],
            changes: Vec::new(),
        }
    }

    #[test]
    fn conditions_are_about_the_second_run_and_the_change() {
        let cases = [
            ("efficiency < 0.8", true),
            ("efficiency<75%", false),
            ("efficiency <= 75 %", true),
            ("run_time > 11s", true),
            ("run_time >= 12", true),
            ("run_time > 12000 ms", false),
            ("change(run_time) > 5 %", true),
            ("change( run_time ) > 0.2", false),
            ("change(efficiency) < -10 %", true),
            ("change(waiting) > 1000 %", true),
            ("waiting > 30 %", false),
        ];
        for (text, expected) in cases {
            let condition = Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(condition.holds(&diff()), expected, "{text}: {condition:?}");
        }
        assert_eq!(Condition::parse("run_time > 1").unwrap().say(&diff()), "12.0 s");
        assert_eq!(Condition::parse("change(run_time) > 1").unwrap().say(&diff()), "+20.0 %");
    }

    #[test]
    fn mistakes_are_reported() {
        for (text, part) in [
            ("efficiency", "<"),
            ("speed > 3", "load_balance"),
            ("run_time > 5 %", "change(run_time)"),
            ("change(run_time > 5 %", "parenthesis"),
            ("efficiency < soon", "number"),
            ("run_time > soon", "unit"),
        ] {
            let error = Condition::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
