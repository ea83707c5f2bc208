//! What places that depend on data give: as observed, by a rule from runs at other numbers of ranks, or as the user says.
//!
//! A place for which none of these holds is refused before anything runs: a made-up value would be a made-up run.

mod law;
mod rule;
mod setting;

pub use setting::{SetTo, Setting};

use crate::ExecuteError;
use crate::skeleton::Skeleton;
use kizami_entry::{Observed, PlaceValues, Runs};
use kizami_folder::{ObservedRun, Oracle};
use rule::Rule;
use serde::Serialize;

/// Where the values of a place come from.
#[derive(Clone, Debug, Serialize)]
pub struct Answered {
    /// File of the source.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// The variable, or what is there instead of one.
    pub variable: String,
    /// The rule, in words.
    pub rule: String,
    /// How far off the rule was for observed runs that were left out of it, as a share; none where nothing was fitted.
    pub error: Option<f64>,
}

/// The values of all places for one number of ranks.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// For those who run.
    pub values: Observed,
    /// For those who read.
    pub rules: Vec<Answered>,
}

/// No values at all: what a place gives that no rank of a run came to.
static NONE: Runs = Runs::new();

impl Answers {
    /// Finds what each place of a skeleton gives at so many ranks.
    pub fn find(skeleton: &Skeleton, ranks: u32, settings: &[Setting]) -> Result<Answers, ExecuteError> {
        let oracles = &skeleton.manifest.oracles;
        if let Some(lost) = settings.iter().find(|setting| !oracles.iter().any(|one| setting.is_about(one))) {
            let path = skeleton.bitcode.clone();
            let what = format!("--set {}: no value at that line depends on data", lost.place());
            return Err(ExecuteError::Skeleton { path, what });
        }
        let (mut found, mut rules, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for oracle in oracles {
            let setting = settings.iter().find(|setting| setting.is_about(oracle));
            match answer(skeleton, oracle, ranks, setting) {
                Some((values, rule, error)) => {
                    found.push((oracle.id, values));
                    let Oracle { file, line, variable, .. } = oracle.clone();
                    rules.push(Answered { file, line, variable, rule, error });
                }
                None => missing.push(oracle),
            }
        }
        if missing.is_empty() {
            return Ok(Answers { values: Observed::of(found), rules });
        }
        Err(refusal(skeleton, &missing, ranks))
    }
}

/// What one place gives, in words as well, and how far off that may be.
fn answer(
    skeleton: &Skeleton,
    oracle: &Oracle,
    ranks: u32,
    setting: Option<&Setting>,
) -> Option<(PlaceValues, String, Option<f64>)> {
    let runs = &skeleton.observed;
    let as_in = |run: &ObservedRun| PlaceValues::ByRank(of_ranks(run, oracle).into_iter().cloned().collect());
    match setting.map(|setting| &setting.to) {
        Some(SetTo::Values(values)) => {
            let one = PlaceValues::ByKind { kind_of: Default::default(), values: vec![values.clone()] };
            return Some((one, "given by --set".to_owned(), None));
        }
        Some(SetTo::Observed) => {
            let near = runs.iter().min_by_key(|run| run.ranks.abs_diff(ranks))?;
            return Some((as_in(near), format!("as observed at {} ranks, by --set", near.ranks), None));
        }
        None => {}
    }
    if let Some(same) = runs.iter().find(|run| run.ranks == ranks) {
        return Some((as_in(same), format!("as observed at {ranks} ranks"), None));
    }
    let by_run: Vec<(u32, Vec<&Runs>)> = runs.iter().map(|run| (run.ranks, of_ranks(run, oracle))).collect();
    let rule = Rule::of(&by_run)?;
    let (kind_of, values) = rule.at(ranks)?;
    Some((PlaceValues::ByKind { kind_of, values }, rule.words(), Some(rule.error)))
}

/// What each rank of a run saw at a place.
fn of_ranks<'a>(run: &'a ObservedRun, oracle: &Oracle) -> Vec<&'a Runs> {
    run.values.iter().map(|rank| rank.values.get(&oracle.id).unwrap_or(&NONE)).collect()
}

/// More places than this are not listed.
const LISTED: usize = 8;

fn refusal(skeleton: &Skeleton, missing: &[&Oracle], ranks: u32) -> ExecuteError {
    let short =
        |file: &str| std::path::Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    let name = |oracle: &Oracle| format!("{}:{}", short(&oracle.file).unwrap_or_default(), oracle.line);
    let mut lines: Vec<String> =
        missing.iter().map(|oracle| format!("  {}  {}", name(oracle), oracle.variable)).collect();
    lines.dedup();
    if lines.len() > LISTED {
        let more = lines.len() - LISTED;
        lines.truncate(LISTED);
        lines.push(format!("  and {more} more"));
    }
    let sizes: Vec<String> = skeleton.observed.iter().map(|run| run.ranks.to_string()).collect();
    let observed = match sizes.len() {
        0 => "never observed".to_owned(),
        1 => format!("observed at {} ranks only", sizes[0]),
        _ => format!("no rule fits the values observed at {} ranks", sizes.join(", ")),
    };
    ExecuteError::Unanswered { ranks, observed, places: lines.join("\n"), example: name(missing[0]) }
}
