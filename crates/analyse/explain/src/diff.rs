//! What changed between two runs of a program.
//!
//! Runs are compared by the average of their ranks, so that they may have different numbers of them. Places are the
//! same if the function called, the file and the line are. What has no counterpart by that is matched by the function
//! called and the function it is called in, in the order of lines: code that moved is still the same code.

use crate::report::Report;
use kizami_blame::Pattern;
use kizami_trace::SourceLine;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diff {
    /// The baseline run.
    pub before: Side,
    /// The run compared with it.
    pub after: Side,
    /// Run time, efficiencies and shares; always all of them.
    pub measures: Vec<MeasureChange>,
    /// Where time changed, largest change first. Times are averages per rank. Entries overlap: waiting is inside calls.
    pub changes: Vec<Change>,
}

/// One of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// The trace, as it was named.
    pub trace: String,
    /// Path of the executable.
    pub executable: String,
    /// The command line, for its name; `info` prints it.
    #[serde(skip)]
    pub command: Vec<String>,
    /// Number of ranks.
    pub ranks: u32,
    /// Run time.
    pub run_ns: i64,
}

/// A figure of a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Run time in seconds.
    RunTime,
    /// Parallel efficiency: mean share of the run in which ranks compute.
    Efficiency,
    /// Load balance.
    LoadBalance,
    /// Serialisation efficiency.
    Serialisation,
    /// Transfer efficiency.
    Transfer,
    /// Mean share of the run that ranks are inside MPI.
    Mpi,
    /// Mean share of the run that ranks wait for other ranks.
    Waiting,
}

/// A measure of both runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasureChange {
    /// The measure.
    pub measure: Measure,
    /// Value in the baseline run.
    pub before: f64,
    /// Value in the run compared with it.
    pub after: f64,
}

/// Category of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Waiting for other ranks, by wait-state pattern.
    Waiting,
    /// Inside calls, by function and call site.
    Call,
    /// Computation, by the call that follows it.
    Computation,
}

/// Time that changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Category of time.
    pub kind: Kind,
    /// The wait-state pattern, or the function called.
    pub name: String,
    /// Call site in the run after; the one before if it is gone; null for patterns.
    pub place: Option<SourceLine>,
    /// Call site in the run before, if it moved.
    pub moved_from: Option<SourceLine>,
    /// Time before, mean of all ranks.
    pub before_ns: i64,
    /// Time after, mean of all ranks.
    pub after_ns: i64,
    /// Time after minus time before.
    pub change_ns: i64,
}

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 7] = [
        Measure::RunTime,
        Measure::Efficiency,
        Measure::LoadBalance,
        Measure::Serialisation,
        Measure::Transfer,
        Measure::Mpi,
        Measure::Waiting,
    ];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Measure::RunTime => "run_time",
            Measure::Efficiency => "efficiency",
            Measure::LoadBalance => "load_balance",
            Measure::Serialisation => "serialisation",
            Measure::Transfer => "transfer",
            Measure::Mpi => "mpi",
            Measure::Waiting => "waiting",
        }
    }

    /// Of a run.
    pub fn of(self, report: &Report) -> f64 {
        let efficiency = &report.efficiency;
        let all_ns = report.run_ns as f64 * report.rank_times.len() as f64;
        let share = |ns: i64| if all_ns > 0.0 { ns as f64 / all_ns } else { 0.0 };
        let ranks = &report.rank_times;
        match self {
            Measure::RunTime => report.run_ns as f64 / 1e9,
            Measure::Efficiency => efficiency.parallel,
            Measure::LoadBalance => efficiency.load_balance,
            Measure::Serialisation => efficiency.serialisation,
            Measure::Transfer => efficiency.transfer,
            Measure::Mpi => share(ranks.iter().map(|rank| rank.mpi_ns).sum()),
            Measure::Waiting => share(ranks.iter().map(|rank| rank.waiting_ns).sum()),
        }
    }
}

impl MeasureChange {
    /// The change as a part of what was before: 0.05 is 5 % more. Infinite if there was nothing before.
    pub fn relative(&self) -> f64 {
        relative(self.before, self.after)
    }
}

impl Change {
    /// The change as a part of what was before; none if there was nothing.
    pub fn relative(&self) -> Option<f64> {
        (self.before_ns > 0).then(|| relative(self.before_ns as f64, self.after_ns as f64))
    }
}

fn relative(before: f64, after: f64) -> f64 {
    match (before, after) {
        (before, after) if before == after => 0.0,
        (0.0, after) => f64::INFINITY.copysign(after),
        (before, after) => (after - before) / before,
    }
}

impl Diff {
    /// Compares two runs.
    pub fn of(before: &Report, after: &Report) -> Diff {
        let measure = |measure: Measure| MeasureChange {
            measure,
            before: measure.of(before),
            after: measure.of(after),
        };
        let mut changes = waiting(before, after);
        let calls = |report: &Report| {
            let per_rank = PerRank::of(report);
            let calls = report.places.iter();
            calls
                .filter_map(|call| Some((call.function.clone(), call.place.clone()?, per_rank.ns(call.ns))))
                .collect()
        };
        changes.extend(places(Kind::Call, calls(before), calls(after)));
        let computation = |report: &Report| {
            let per_rank = PerRank::of(report);
            let totals = report.computation.iter();
            totals.map(|total| (total.function.clone(), total.place.clone(), per_rank.ns(total.ns))).collect()
        };
        changes.extend(places(Kind::Computation, computation(before), computation(after)));
        changes.retain(|change| change.change_ns != 0);
        changes.sort_by(|a, b| {
            let order = b.change_ns.abs().cmp(&a.change_ns.abs());
            order.then_with(|| (a.kind, &a.name, &a.place).cmp(&(b.kind, &b.name, &b.place)))
        });
        Diff {
            before: Side::of(before),
            after: Side::of(after),
            measures: Measure::ALL.map(measure).to_vec(),
            changes,
        }
    }

    /// One of the measures.
    pub fn measure(&self, measure: Measure) -> Option<&MeasureChange> {
        self.measures.iter().find(|change| change.measure == measure)
    }
}

impl Side {
    fn of(report: &Report) -> Side {
        Side {
            trace: report.trace.clone(),
            executable: report.executable.clone(),
            command: report.command.clone(),
            ranks: report.ranks,
            run_ns: report.run_ns,
        }
    }
}

/// Averages over the ranks of a run.
struct PerRank(i64);

impl PerRank {
    fn of(report: &Report) -> PerRank {
        PerRank(i64::from(report.ranks.max(1)))
    }

    fn ns(&self, all_ns: i64) -> i64 {
        all_ns / self.0
    }
}

fn waiting(before: &Report, after: &Report) -> Vec<Change> {
    let of = |report: &Report, pattern: Pattern| {
        let waits = report.waits.iter().filter(|wait| wait.pattern == pattern);
        PerRank::of(report).ns(waits.map(|wait| wait.ns).sum())
    };
    let change = |pattern: Pattern| {
        let (before_ns, after_ns) = (of(before, pattern), of(after, pattern));
        Change::new(Kind::Waiting, pattern.name().to_owned(), None, None, before_ns, after_ns)
    };
    Pattern::WAITS.into_iter().map(change).collect()
}

type Times = Vec<(String, SourceLine, i64)>;

/// Leaves callers out at lines where only one of the runs has several.
fn leave_lone_callers_out(before: &mut Times, after: &mut Times) {
    let lines = |times: &Times| {
        let mut several: BTreeMap<(String, SourceLine), bool> = BTreeMap::new();
        for (name, place, _) in times {
            let line = (name.clone(), place.clone().of_any_caller());
            *several.entry(line).or_default() |= place.caller.is_some();
        }
        several
    };
    let [of_before, of_after] = [lines(before), lines(after)];
    let differ: BTreeSet<&(String, SourceLine)> = of_before
        .iter()
        .filter(|(line, several)| of_after.get(line).is_some_and(|other| other != *several))
        .map(|(line, _)| line)
        .collect();
    for (name, place, _) in before.iter_mut().chain(after) {
        let line = (name.clone(), place.clone().of_any_caller());
        if differ.contains(&line) {
            *place = line.1;
        }
    }
}

/// Matches places: first those that are the same, then those that moved.
fn places(kind: Kind, mut before: Times, mut after: Times) -> Vec<Change> {
    leave_lone_callers_out(&mut before, &mut after);
    let mut exact: BTreeMap<(String, SourceLine), (Option<i64>, Option<i64>)> = BTreeMap::new();
    before
        .into_iter()
        .for_each(|(name, place, ns)| *exact.entry((name, place)).or_default().0.get_or_insert(0) += ns);
    after
        .into_iter()
        .for_each(|(name, place, ns)| *exact.entry((name, place)).or_default().1.get_or_insert(0) += ns);
    let mut changes = Vec::new();
    // Lists are in the order of lines, as the map is.
    let mut gone: BTreeMap<(String, String), Vec<(SourceLine, i64)>> = BTreeMap::new();
    let mut new: BTreeMap<(String, String), Vec<(SourceLine, i64)>> = BTreeMap::new();
    for ((name, place), times) in exact {
        let inside = (name.clone(), place.function.clone());
        match times {
            (Some(before_ns), Some(after_ns)) => {
                changes.push(Change::new(kind, name, Some(place), None, before_ns, after_ns));
            }
            (Some(ns), None) => gone.entry(inside).or_default().push((place, ns)),
            (None, Some(ns)) => new.entry(inside).or_default().push((place, ns)),
            (None, None) => {}
        }
    }
    let insides: BTreeSet<(String, String)> = gone.keys().chain(new.keys()).cloned().collect();
    for inside in insides {
        let mut old = gone.remove(&inside).unwrap_or_default().into_iter();
        let mut now = new.remove(&inside).unwrap_or_default().into_iter();
        let name = inside.0;
        loop {
            changes.push(match (old.next(), now.next()) {
                (Some((from, before_ns)), Some((place, after_ns))) => {
                    Change::new(kind, name.clone(), Some(place), Some(from), before_ns, after_ns)
                }
                (Some((place, ns)), None) => Change::new(kind, name.clone(), Some(place), None, ns, 0),
                (None, Some((place, ns))) => Change::new(kind, name.clone(), Some(place), None, 0, ns),
                (None, None) => break,
            });
        }
    }
    changes
}

impl Change {
    fn new(
        kind: Kind,
        name: String,
        place: Option<SourceLine>,
        moved_from: Option<SourceLine>,
        before_ns: i64,
        after_ns: i64,
    ) -> Change {
        Change { kind, name, place, moved_from, before_ns, after_ns, change_ns: after_ns - before_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32) -> SourceLine {
        SourceLine { file: Some("solver.c".to_owned()), line: Some(line), ..SourceLine::in_function("solve") }
    }

    fn times(list: &[(&str, u32, i64)]) -> Times {
        list.iter().map(|(name, line, ns)| ((*name).to_owned(), at(*line), *ns)).collect()
    }

    fn changes_of(
        before: &[(&str, u32, i64)],
        after: &[(&str, u32, i64)],
    ) -> Vec<(String, u32, Option<u32>, i64)> {
        places(Kind::Call, times(before), times(after))
            .into_iter()
            .map(|change| {
                let line = |place: Option<SourceLine>| place.and_then(|place| place.line);
                (change.name, line(change.place).unwrap(), line(change.moved_from), change.change_ns)
            })
            .collect()
    }

    #[test]
    fn places_are_matched_by_line_first() {
        let changes = changes_of(
            &[("MPI_Send", 10, 100), ("MPI_Send", 20, 7)],
            &[("MPI_Send", 10, 150), ("MPI_Send", 20, 7)],
        );
        assert_eq!(changes, [("MPI_Send".to_owned(), 10, None, 50), ("MPI_Send".to_owned(), 20, None, 0)]);
    }

    #[test]
    fn places_that_moved_are_matched_in_their_order() {
        let changes = changes_of(
            &[("MPI_Send", 10, 100), ("MPI_Recv", 12, 5), ("MPI_Send", 20, 1_000)],
            &[("MPI_Send", 13, 101), ("MPI_Recv", 15, 6), ("MPI_Send", 23, 900)],
        );
        let expected = [
            ("MPI_Recv".to_owned(), 15, Some(12), 1),
            ("MPI_Send".to_owned(), 13, Some(10), 1),
            ("MPI_Send".to_owned(), 23, Some(20), -100),
        ];
        assert_eq!(changes, expected);
    }

    #[test]
    fn callers_are_compared_where_both_runs_have_several() {
        let from = |line, caller| SourceLine { caller: Some(Box::new(at(caller))), ..at(line) };
        let send = |place, ns| ("MPI_Send".to_owned(), place, ns);
        let before = vec![send(from(5, 10), 100), send(from(5, 20), 7)];
        let changes = |after| -> Vec<(String, i64)> {
            let changes = places(Kind::Call, before.clone(), after);
            changes.into_iter().map(|change| (change.place.unwrap().to_string(), change.change_ns)).collect()
        };
        let after = vec![send(from(5, 10), 150), send(from(5, 20), 7)];
        assert_eq!(
            changes(after),
            [("solver.c:5 <- solver.c:10".to_owned(), 50), ("solver.c:5 <- solver.c:20".to_owned(), 0)]
        );
        assert_eq!(changes(vec![send(at(5), 109)]), [("solver.c:5".to_owned(), 2)]);
    }

    #[test]
    fn what_is_new_or_gone_is_compared_with_nothing() {
        let changes = changes_of(&[("MPI_Send", 10, 100)], &[("MPI_Bcast", 10, 30)]);
        assert_eq!(
            changes,
            [("MPI_Bcast".to_owned(), 10, None, 30), ("MPI_Send".to_owned(), 10, None, -100)]
        );
    }

    #[test]
    fn changes_are_parts_of_what_was_before() {
        assert_eq!(relative(2.0, 3.0), 0.5);
        assert_eq!(relative(2.0, 1.0), -0.5);
        assert_eq!(relative(0.0, 0.0), 0.0);
        assert_eq!(relative(0.0, 1.0), f64::INFINITY);
    }
}
