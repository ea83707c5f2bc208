//! A run that was reconstructed from a reduced trace, beside what is exact about it, and what it cannot know.
//!
//! A reduced trace knows exactly how long the calls of each place took on each rank, and the distribution of their
//! durations. A run that is reconstructed from it has other times, because waits come from a replay with the mean of each
//! computation: who was late in one iteration is lost. That shows in two ways:
//!
//! - **Error**: the calls of a place take another time than they did.
//! - **Unknown time**: they took longer than what they wait in the reconstructed run and what the fastest calls of that
//!   place and size need. It may be waiting for ranks that were late in turn, or slow messages: nothing says which.
//!
//! No gain and no efficiency is surer than these.

use crate::analysis::Analysis;
use crate::disease::Disease;
use crate::finding::Finding;
use crate::report::Report;
use crate::work_interval::Borders;
use kizami_graph::StepKind;
use kizami_model::{Length, Op, ThreadIndex};
use kizami_trace::reduced_tables::{KindOfCall, SketchRow, What, quantile};
use kizami_trace::{SourceLine, Trace, TraceError};
use kizami_whatif::{Gain, each_call};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Exact values of a reduced trace, and the errors of the reconstructed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reconstructed {
    /// Calls with a row in the reduced trace.
    pub rows_kept: u64,
    /// All calls.
    pub calls: u64,
    /// Time in calls by call site, longest first.
    pub places: Vec<ReconstructedPlace>,
}

/// Calls of a function from one call site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReconstructedPlace {
    /// Full name of the function.
    pub function: String,
    /// Call site.
    pub place: SourceLine,
    /// Exact number of calls.
    pub calls: u64,
    /// Exact time over all ranks.
    pub exact_ns: i64,
    /// Time over all ranks in the reconstructed run.
    #[serde(rename = "drawn_ns")]
    pub reconstructed_ns: i64,
    /// The part of the exact time of which it is not known whether it was waiting or transfer.
    pub unknown_ns: i64,
}

impl ReconstructedPlace {
    /// How far that is off.
    pub fn off_ns(&self) -> i64 {
        self.reconstructed_ns.saturating_sub(self.exact_ns)
    }
}

impl Reconstructed {
    /// How far time in these calls may be off, over all ranks.
    fn error_ns(&self, function: &str, place: &SourceLine) -> Option<i64> {
        let found = self.places.iter().find(|known| known.function == function && known.place == *place);
        found.map(|known| known.off_ns().saturating_abs())
    }

    /// Time in calls of which it is not known whether it was waiting or transfer, over all ranks, and the place with most
    /// of it.
    pub fn unknown(&self) -> Option<(i64, &ReconstructedPlace)> {
        let most = self.places.iter().max_by_key(|place| place.unknown_ns)?;
        Some((self.places.iter().map(|place| place.unknown_ns).sum(), most))
    }
}

impl<F, S> Report<F, S> {
    /// How far time in these calls, or waiting in them, may be off because the run was reconstructed; none if it
    /// was not.
    pub fn reconstruction_error_ns(&self, at: Option<&(String, SourceLine)>) -> Option<i64> {
        let (function, place) = at?;
        self.reconstructed.as_ref()?.error_ns(function, place)
    }

    /// The part of all time that is in calls of which a reduced trace does not know whether they waited, and the place
    /// with most of it; none if the run was not reconstructed.
    pub fn unknown_share(&self) -> Option<(f64, &ReconstructedPlace)> {
        let (ns, most) = self.reconstructed.as_ref()?.unknown()?;
        let all_ns = f64::from(self.ranks) * self.run_ns as f64;
        Some((if all_ns > 0.0 { ns as f64 / all_ns } else { 0.0 }, most))
    }
}

/// What a reduced trace knows exactly of its calls; of the beginning and the end of MPI nothing is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactCalls {
    rows_kept: u64,
    calls: u64,
    places: FxHashMap<(Op, Option<u32>), ExactPlace>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct ExactPlace {
    calls: u64,
    total: Length,
    /// Of the first thread of each rank, which is the one that is reconstructed.
    by_rank: FxHashMap<u32, ExactTime>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ExactTime {
    total: Length,
    /// As many calls as fast as the fastest.
    least: Length,
}

impl ExactCalls {
    /// What a trace knows; none if it has a row for every call, or no exact sums.
    pub fn of(trace: &Trace) -> Result<Option<ExactCalls>, TraceError> {
        let Some(reduced) = trace.run().reduced.as_ref().filter(|reduced| !reduced.is_sampled()) else {
            return Ok(None);
        };
        let (borders, fastest) = (Borders::new(), fastest(&trace.sketches()?, trace.run().ranks));
        let mut exact =
            ExactCalls { rows_kept: reduced.rows_kept, calls: reduced.calls, ..ExactCalls::default() };
        for row in trace.sums()?.iter().filter(|row| row.what == What::Call) {
            let Some(op) = row.op.filter(|op| !borders.begins(*op) && !borders.ends(*op)) else { continue };
            let place = exact.places.entry((op, row.callsite)).or_default();
            place.calls = place.calls.saturating_add(row.calls);
            place.total = place.total.saturating_add(row.total);
            if row.thread == ThreadIndex(0) {
                let time = place.by_rank.entry(row.rank.0).or_default();
                time.total = time.total.saturating_add(row.total);
                let fastest_ns = fastest.get(&row.kind()).copied().unwrap_or(0.0);
                time.least = time.least.saturating_add(Length((fastest_ns * row.calls as f64) as i64));
            }
        }
        Ok(Some(exact))
    }
}

/// How long calls of each kind take that wait for nobody: of each meeting of all ranks, the last one does not wait.
fn fastest(sketches: &[SketchRow], ranks: u32) -> FxHashMap<KindOfCall, f64> {
    let mut by_kind: FxHashMap<KindOfCall, Vec<&SketchRow>> = FxHashMap::default();
    for row in sketches.iter().filter(|row| row.what == What::Call) {
        by_kind.entry(row.kind()).or_default().push(row);
    }
    let share = 0.5 / f64::from(ranks.max(1));
    by_kind.into_iter().filter_map(|(kind, rows)| Some((kind, quantile(rows, share)?))).collect()
}

/// How far times of a reconstructed run are off, and where.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// The run, as the average over ranks.
    pub run: Length,
    places: FxHashMap<(String, SourceLine), PlaceDoubts>,
    /// Exact times of all ranks, by call site.
    exact: FxHashMap<(Op, Option<u32>), Length>,
}

/// How far the times of one place are off.
#[derive(Clone, Copy, Debug, Default)]
struct PlaceDoubts {
    /// Exact time of all ranks.
    exact: Length,
    /// Of the rank where it is largest: the difference to the exact time.
    off: Length,
    /// Of the rank where it is most: time of which it is not known whether it was waiting.
    unknown: Length,
}

impl Doubts {
    /// The exact time in the calls of one site, over all ranks, if it is known.
    pub(crate) fn exact(&self, op: Op, site: Option<u32>) -> Option<Length> {
        self.exact.get(&(op, site)).copied()
    }

    /// The gain of a finding with the error that is due to it.
    pub(crate) fn widened(&self, gain: Gain, finding: &Finding, run: Length) -> Gain {
        let mut off = self.run;
        if let Some(waited) = finding.waiting_in.as_ref().and_then(|at| self.places.get(at)) {
            off = off.max(waited.off);
        }
        let own = || self.places.get(&(finding.function.clone(), finding.place.clone()));
        if let Some(own) = is_about_time_in_calls(finding).then(own).flatten() {
            off = off.max(own.off).max(own.unknown);
            if gain.ns > own.exact.0 {
                // More than the calls took.
                off = off.max(Length(gain.ns));
            }
        }
        gain.of_reconstructed(off, run)
    }
}

/// Whether a finding says that calls take long by themselves. Others follow from the order of calls, which is exact, and
/// from computation.
fn is_about_time_in_calls(finding: &Finding) -> bool {
    matches!(
        finding.disease(),
        Disease::Transfer
            | Disease::Alltoall
            | Disease::SmallMessages
            | Disease::TinyCollectives
            | Disease::RepeatedCommunicator
            | Disease::SlowCall
    )
}

/// Times of one rank at one place.
#[derive(Clone, Copy, Default)]
struct Times {
    exact: ExactTime,
    reconstructed: Length,
    waited: Length,
    /// Some of its rows are several polls with computation between them: how long those took together is not seen.
    polled: bool,
}

impl Times {
    /// How much longer the calls take than they did.
    fn off(&self) -> Length {
        let off = self.reconstructed - self.exact.total;
        if self.polled { off.min(Length::ZERO) } else { off }
    }

    fn unknown(&self) -> Length {
        (self.exact.total - self.exact.least - self.waited).at_least_zero()
    }
}

impl Analysis {
    /// The run was reconstructed from a trace that knows this: notes how far it is off, and what it cannot know. No gain
    /// and no efficiency is surer than that.
    pub fn compare_with(&mut self, exact: &ExactCalls) {
        let times = self.times_by_place(exact);
        let mut sums: FxHashMap<(Op, SourceLine), (u64, Length)> = FxHashMap::default();
        for ((op, site), place) in &exact.places {
            let sum = sums.entry((*op, SourceLine::of(&self.definitions, *site))).or_default();
            *sum = (sum.0.saturating_add(place.calls), sum.1.saturating_add(place.total));
        }
        let (mut too_much, mut too_little, mut unknown) = (Length::ZERO, Length::ZERO, Length::ZERO);
        let exact_times = exact.places.iter().map(|(key, place)| (*key, place.total));
        let mut doubts = Doubts { exact: exact_times.collect(), ..Doubts::default() };
        let mut places = Vec::new();
        for ((op, place), by_rank) in times {
            let (calls, total) = sums.get(&(op, place.clone())).copied().unwrap_or_default();
            let mut of_place = PlaceDoubts { exact: total, ..PlaceDoubts::default() };
            let (mut reconstructed, mut place_unknown) = (Length::ZERO, Length::ZERO);
            for times in by_rank.values() {
                let off = times.off();
                too_much += off.at_least_zero();
                too_little += (-off).at_least_zero();
                reconstructed += times.reconstructed;
                place_unknown += times.unknown();
                of_place.off = of_place.off.max(Length(off.0.saturating_abs()));
                of_place.unknown = of_place.unknown.max(times.unknown());
            }
            unknown += place_unknown;
            doubts.places.insert((op.name().to_owned(), place.clone()), of_place);
            places.push(ReconstructedPlace {
                function: op.name().to_owned(),
                place,
                calls,
                exact_ns: total.0,
                reconstructed_ns: reconstructed.0,
                unknown_ns: place_unknown.0,
            });
        }
        places.retain(|place| place.calls > 0);
        places.sort_by(|one, other| {
            let key = |place: &ReconstructedPlace| std::cmp::Reverse(place.exact_ns);
            key(one)
                .cmp(&key(other))
                .then_with(|| (&one.function, &one.place).cmp(&(&other.function, &other.place)))
        });
        doubts.run = too_much.max(too_little).max(unknown) / i64::from(self.ranks().max(1));
        self.reconstructed = Some(Reconstructed { rows_kept: exact.rows_kept, calls: exact.calls, places });
        self.doubt(doubts);
    }

    /// Exact and reconstructed times of first threads, by place and rank.
    fn times_by_place(&self, exact: &ExactCalls) -> FxHashMap<(Op, SourceLine), FxHashMap<u32, Times>> {
        let mut by_site: FxHashMap<(Op, Option<u32>), FxHashMap<u32, Times>> = FxHashMap::default();
        for (key, place) in &exact.places {
            let ranks = by_site.entry(*key).or_default();
            for (rank, time) in &place.by_rank {
                ranks.entry(*rank).or_default().exact = *time;
            }
        }
        for strand in self.graph.strands.iter().filter(|strand| strand.first_of_rank) {
            each_call(&self.graph, strand.first_step, |_, step| {
                if !self.borders.begins(step.op()) && !self.borders.ends(step.op()) {
                    let ranks = by_site.entry((step.op(), step.site())).or_default();
                    let times = ranks.entry(strand.rank.0).or_default();
                    times.reconstructed += step.end - step.start;
                    times.polled |= step.kind() == StepKind::Polling;
                }
            });
        }
        for (key, total) in self.waits.totals.iter().filter(|(key, _)| key.pattern.is_waiting()) {
            let strand = self.graph.strands[key.strand as usize];
            if let Some(ranks) = by_site.get_mut(&(key.op, key.site)).filter(|_| strand.first_of_rank) {
                ranks.entry(strand.rank.0).or_default().waited += total.time;
            }
        }
        let mut by_place: FxHashMap<(Op, SourceLine), FxHashMap<u32, Times>> = FxHashMap::default();
        for ((op, site), ranks) in by_site {
            let place = by_place.entry((op, SourceLine::of(&self.definitions, site))).or_default();
            for (rank, times) in ranks {
                let sum = place.entry(rank).or_default();
                sum.exact.total += times.exact.total;
                sum.exact.least += times.exact.least;
                sum.reconstructed += times.reconstructed;
                sum.waited += times.waited;
                sum.polled |= times.polled;
            }
        }
        by_place
    }

    /// Widens the errors of all gains. What was certain only once the first finding is fixed is not where that one is not.
    fn doubt(&mut self, doubts: Doubts) {
        let run = self.interval.length();
        for suspect in &mut self.suspects {
            let finding = &suspect.finding;
            let [gain, balanced] =
                [finding.gain, finding.balanced].map(|gain| Some(doubts.widened(gain?, finding, run)));
            (suspect.finding.gain, suspect.finding.balanced) = (gain, balanced);
        }
        let first = self.suspects.iter().find(|suspect| !suspect.finding.after_first);
        if !first.is_some_and(|first| first.is_worth_listing()) {
            for suspect in self.suspects.iter_mut().filter(|suspect| suspect.finding.after_first) {
                suspect.off_by(Length(suspect.gain_ns()), run);
            }
        }
        self.doubts = Some(doubts);
    }
}
