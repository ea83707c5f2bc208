//! What could be done about a run: each idea replayed, the best first. The wording is up to the front end.

use crate::analysis::Analysis;
use crate::changes::ChangedRun;
use crate::diseases::sites_of_place;
use crate::finding::{Finding, Headline};
use crate::outcome::Outcome;
use crate::threads::RunThreads;
use crate::thresholds::THRESHOLDS;
use kizami_blame::Pattern;
use kizami_graph::TieKind;
use kizami_hybrid::{Fix, Loss, LossKind};
use kizami_model::{Kind, Length, Op};
use kizami_replay::Setting;
use kizami_trace::{Definitions, SourceLine};
use kizami_whatif::{Change, Changes, EagerLimit, Gain, Location, ThreadCount, Times};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Something that could be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Idea {
    /// A finding is fixed.
    Fix(Box<Finding>),
    /// So many threads.
    Threads(ThreadCount),
    /// What threads lose to this, there, is gone.
    WithoutLoss(LossKind, SourceLine),
    /// The computation before this is spread evenly.
    Balance(SourceLine),
    /// It takes half the time.
    Halve(SourceLine),
    /// The computation in a function, and in those it calls, takes half the time.
    HalveBelow(String),
    /// Every thread has its own core.
    OwnCores,
    /// Messages take no time.
    IdealNetwork,
    /// Messages are on their way for half the time.
    HalfTheLatency,
    /// Bytes take half the time.
    TwiceTheBandwidth,
    /// The wait there is hidden behind the computation that follows.
    Overlap(SourceLine),
    /// Sends of up to so many bytes do not wait for their receiver.
    EagerLimit(EagerLimit),
}

/// An idea that is to be replayed.
#[derive(Clone, Debug, PartialEq)]
struct Candidate {
    what: Idea,
    /// The options of `kizami replay`; none if there are none.
    option: Option<Changes>,
    setting: Setting,
    error_ns: f64,
    /// The gain is that of the best case.
    at_most: bool,
    /// Where the truth lies between, if that is known.
    ends: Option<[Setting; 2]>,
}

/// A change and its replayed gain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WhatIf"))]
pub struct WhatIf<I = Idea> {
    /// The change.
    pub what: I,
    /// The same as options of `kizami replay`; null if it has none.
    pub option: Option<Changes>,
    /// Its gain.
    pub gain: Gain,
    /// The gain is a best case.
    pub at_most: bool,
    /// Smallest and largest gain, where the run cannot decide: for other numbers of threads, depending on how evenly
    /// they share the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_ns: Option<[i64; 2]>,
}

impl<I> WhatIf<I> {
    /// The same with the idea in another form.
    pub fn with<J>(self, form: impl FnOnce(I) -> J) -> WhatIf<J> {
        let WhatIf { what, option, gain, at_most, between_ns } = self;
        WhatIf { what: form(what), option, gain, at_most, between_ns }
    }
}

/// Replays all ideas for a run, the best first. If it has threads, these numbers of them are among the ideas.
pub fn what_if(
    analysis: &Analysis,
    threads: Option<(&RunThreads, &[ThreadCount])>,
    progress: &(dyn Fn(u64) + Sync),
) -> Vec<WhatIf> {
    let mut candidates = candidates(analysis);
    if let Some((threads, counts)) = threads {
        candidates.extend(of_threads(analysis, threads, counts));
    }
    let settings: Vec<&Setting> = candidates.iter().flat_map(Candidate::settings).collect();
    let mut outcomes = tracing::info_span!("replays", changes = settings.len())
        .in_scope(|| analysis.replay_all(&settings, progress))
        .into_iter();
    let mut results: Vec<WhatIf> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let Some(outcome) = outcomes.next() else { break };
        let length = |outcome: Outcome| outcome.interval.length();
        let ends: Vec<Length> =
            outcomes.by_ref().take(candidate.settings().count() - 1).map(length).collect();
        let run = analysis.interval.length();
        let gains_ns = ends.iter().map(|end| (run - *end).0);
        let own_ns = (run - outcome.interval.length()).0;
        let range_ns = gains_ns.clone().map(|ns| (ns - own_ns).abs()).max().unwrap_or(0);
        let (least_ns, most_ns) =
            gains_ns.fold((own_ns, own_ns), |(least, most), ns| (least.min(ns), most.max(ns)));
        let mut gain = analysis.gain(&outcome, candidate.error_ns.hypot(range_ns as f64));
        if let Some(doubts) = &analysis.doubts {
            gain = match &candidate.what {
                Idea::Fix(finding) => doubts.widened(gain, finding, run),
                _ => gain.of_reconstructed(doubts.run, run),
            };
        }
        results.push(WhatIf {
            what: candidate.what,
            option: candidate.option,
            gain,
            at_most: candidate.at_most,
            between_ns: candidate.ends.is_some().then_some([least_ns, most_ns]),
        });
    }
    results.sort_by_key(|result| std::cmp::Reverse(result.gain.ns));
    results
}

impl Candidate {
    /// One whose gain is as sure as replays are.
    fn new(what: Idea, change: Option<Change>, setting: Setting) -> Candidate {
        Candidate {
            what,
            option: change.map(Changes::from),
            setting,
            error_ns: 0.0,
            at_most: false,
            ends: None,
        }
    }

    fn settings(&self) -> impl Iterator<Item = &Setting> {
        std::iter::once(&self.setting).chain(self.ends.iter().flatten())
    }
}

/// Ideas about the threads of ranks: other numbers of them, and the largest losses gone.
fn of_threads(analysis: &Analysis, threads: &RunThreads, counts: &[ThreadCount]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for count in counts {
        let [(setting, error_ns), (even, _), (as_long, _)] = analysis.with_thread_count(threads, *count);
        candidates.push(Candidate {
            what: Idea::Threads(*count),
            option: Some(Change::Threads(*count).into()),
            setting,
            error_ns,
            // Nothing is known of how several threads share what one did.
            at_most: threads.regions.of_one_thread(),
            ends: Some([even, as_long]),
        });
    }
    let times = &threads.times;
    // Waits in MPI are among the ideas anyway.
    let is_idea =
        |loss: &&Loss| loss.kind != LossKind::IdleInMpi && times.share(loss) >= THRESHOLDS.least_idea;
    for loss in times.losses.iter().filter(is_idea) {
        let Some(fix) = loss.kind.fix(&loss.place) else { continue };
        let Some((setting, error_ns)) = analysis.without_loss(&threads.regions, &threads.spans, loss) else {
            continue;
        };
        let what = Idea::WithoutLoss(loss.kind, loss.place.clone());
        let Fix { option, at_most } = fix;
        candidates.push(Candidate { what, option, setting, error_ns, at_most, ends: None });
    }
    candidates.truncate(counts.len() + THRESHOLDS.most_idea_places);
    candidates
}

/// Ideas: what the findings say, balance and speed where time is spent, other networks, waits hidden behind
/// computation, and room for messages.
fn candidates(analysis: &Analysis) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for suspect in &analysis.suspects {
        let finding = &suspect.finding;
        // Cores of their own are offered below.
        let is_other = finding.disease() != crate::Disease::SystemNoise;
        if let Some((setting, doubt_ns)) = suspect.without.as_ref().filter(|_| is_other) {
            candidates.push(Candidate {
                what: Idea::Fix(Box::new(finding.clone())),
                option: fix(finding),
                setting: setting.clone(),
                error_ns: *doubt_ns,
                at_most: finding.at_most,
                ends: None,
            });
        }
    }
    if !analysis.graph.off_core.is_empty() {
        let own_cores = Candidate::new(Idea::OwnCores, Some(Change::OwnCores), analysis.own_cores_setting());
        candidates.push(Candidate { at_most: true, ..own_cores });
    }
    let epochs = OnceLock::new();
    let run = ChangedRun {
        graph: &analysis.graph,
        fit: &analysis.fit,
        epochs: &epochs,
        regions: None,
        network: None,
        threads: 1,
    };
    for place in longest_computation(analysis) {
        let sites = sites_of_place(&analysis.definitions, &place);
        let location = Location::of(&place);
        candidates.push(Candidate::new(
            Idea::Balance(place.clone()),
            location.clone().map(Change::Balance),
            run.setting(&[Change::Balance(sites.clone())]),
        ));
        candidates.push(Candidate::new(
            Idea::Halve(place),
            location.map(|location| Change::Scale(location, None, 0.5)),
            run.setting(&[Change::Scale(sites, None, 0.5)]),
        ));
    }
    for function in functions_with_most(analysis) {
        let change = Change::ScaleBelow(Location::Function(function.clone()), None, 0.5);
        let Ok(resolved) = change.resolve(&analysis.definitions) else { continue };
        candidates.push(Candidate::new(Idea::HalveBelow(function), Some(change), run.setting(&[resolved])));
    }
    let mut networks = vec![
        (Idea::IdealNetwork, Change::IdealNetwork),
        (Idea::HalfTheLatency, Change::Latency(Times(0.5))),
        (Idea::TwiceTheBandwidth, Change::Bandwidth(Times(2.0))),
    ];
    // Where messages do not show the bandwidth, twice as much of it is unknown.
    networks
        .retain(|(_, change)| !matches!(change, Change::Bandwidth(_)) || analysis.fit.per_byte_ns() > 0.0);
    for (what, change) in networks {
        // It names no place.
        let Ok(resolved) = change.resolve(&Definitions::default()) else { continue };
        candidates.push(Candidate::new(what, Some(change), run.setting(&[resolved])));
    }
    for (place, sites) in longest_waits(analysis) {
        let setting = run.setting(&[Change::Overlap(sites.into_iter().collect())]);
        let change = Location::of(&place).map(Change::Overlap);
        let idea = Candidate::new(Idea::Overlap(place), change, setting);
        // Some of that computation may need what is waited for.
        candidates.push(Candidate { at_most: true, ..idea });
    }
    if let Some(bytes) = largest_unbuffered_bytes(analysis) {
        // Limits are powers of two.
        let limit = EagerLimit { bytes: bytes.checked_next_power_of_two().unwrap_or(u64::MAX) };
        let setting = run.setting(&[Change::EagerLimit(limit)]);
        candidates.push(Candidate::new(Idea::EagerLimit(limit), Some(Change::EagerLimit(limit)), setting));
    }
    candidates
}

/// What is done about a finding, as a change.
fn fix(finding: &Finding) -> Option<Changes> {
    match finding.headline {
        Headline::Gain => finding.option.clone(),
        Headline::Balanced => Changes::at([&finding.place], Change::RemoveExcess),
    }
}

/// Places where most is waited for ranks and messages, with their call sites: those of one line together, as options name
/// them.
fn longest_waits(analysis: &Analysis) -> Vec<(SourceLine, FxHashSet<u32>)> {
    let mut places: FxHashMap<SourceLine, (Length, FxHashSet<u32>)> = FxHashMap::default();
    for (key, total) in &analysis.waits.totals {
        let Some(site) = key.site.filter(|_| can_be_overlapped(key.pattern)) else { continue };
        let (time, sites) = places.entry(SourceLine::of(&analysis.definitions, Some(site))).or_default();
        *time += total.time;
        sites.insert(site);
    }
    // Where requests are completed, messages may be on their way although no rank is late.
    let mut waited: FxHashMap<(Op, u32), Length> = FxHashMap::default();
    for (key, total) in &analysis.waits.totals {
        if let Some(site) = key.site {
            *waited.entry((key.op, site)).or_default() += total.time;
        }
    }
    for ((op, site), calls) in &analysis.profile.calls {
        let Some(site) = site.filter(|_| op.kind() == Kind::Complete) else { continue };
        let (time, sites) = places.entry(SourceLine::of(&analysis.definitions, Some(site))).or_default();
        *time += calls.time - waited.get(&(*op, site)).copied().unwrap_or_default();
        sites.insert(site);
    }
    let mut places: Vec<_> = places
        .into_iter()
        .filter(|(_, (time, _))| analysis.share(time.0 as f64) >= THRESHOLDS.least_idea)
        .collect();
    places.sort_by(|(a, (a_time, _)), (b, (b_time, _))| b_time.cmp(a_time).then_with(|| a.cmp(b)));
    places.into_iter().map(|(place, (_, sites))| (place, sites)).take(THRESHOLDS.most_idea_places).collect()
}

/// Whether there is a call that only begins what is waited for.
fn can_be_overlapped(pattern: Pattern) -> bool {
    matches!(
        pattern,
        Pattern::LateSender
            | Pattern::LateSenderWrongOrder
            | Pattern::WaitAtNxN
            | Pattern::WaitAtBarrier
            | Pattern::EarlyReduce
            | Pattern::LateBroadcast
            | Pattern::EarlyScan
    )
}

/// Size of the largest message whose send waited for its receiver only because MPI had no room for it.
fn largest_unbuffered_bytes(analysis: &Analysis) -> Option<u64> {
    let graph = &analysis.graph;
    let waits = analysis.waits.long.iter().filter(|wait| wait.pattern == Pattern::LateReceiver);
    let ties = waits.flat_map(|wait| graph.ties_of(&graph.steps[wait.step as usize]));
    ties.filter(|tie| tie.kind() == TieKind::AwaitsPost).map(|tie| tie.bytes()).max()
}

/// What is computed before calls that are made in a function, or in those it calls.
#[derive(Default)]
struct Below {
    time: Length,
    /// The part that lies between two of these calls: what lies before the first one may be anybody's.
    between: Length,
    /// How many functions led there, at most.
    depth: usize,
    sites: BTreeSet<u32>,
}

/// Functions in which, with those they call, most is computed. Only those with most of that between two of their calls, which is
/// not so of one that just wraps a call; of those with the same calls, the innermost; none that contains the whole run.
fn functions_with_most(analysis: &Analysis) -> Vec<String> {
    let definitions = &analysis.definitions;
    let mut by_calls: FxHashMap<(u32, Option<u32>), Length> = FxHashMap::default();
    for ((site, _), computation) in &analysis.profile.computation {
        let Some(site) = *site else { continue };
        // Where a call follows itself, the loop may be anywhere.
        let after = computation.after.filter(|after| *after != site);
        *by_calls.entry((site, after)).or_default() += computation.time * i64::from(computation.ranks);
    }
    let mut functions: FxHashMap<String, Below> = FxHashMap::default();
    for ((site, after), time) in by_calls {
        let around = after.and_then(|after| SourceLine::between(definitions, after, site));
        let around = around.map(|[_, to]| to.function);
        let mut contains = around.is_some();
        for (depth, place) in definitions.functions_on_path(site).iter().rev().enumerate() {
            if let Some(Location::Function(name)) = Location::of_function(place) {
                let below = functions.entry(name).or_default();
                below.time += time;
                below.between += if contains { time } else { Length::ZERO };
                below.depth = below.depth.max(depth);
                below.sites.insert(site);
            }
            contains = contains && Some(&place.function) != around.as_ref();
        }
    }
    let all: Length = analysis.profile.computation_by_site().values().map(|(_, time)| *time).sum();
    let is_idea = |below: &Below| {
        let share = below.time.0 as f64 / all.0.max(1) as f64;
        (THRESHOLDS.least_idea..THRESHOLDS.nearly_all).contains(&share) && below.between * 2 >= below.time
    };
    let mut functions: Vec<(String, Below)> =
        functions.into_iter().filter(|(_, below)| is_idea(below)).collect();
    functions.sort_by(|(a, of_a), (b, of_b)| (of_b.time, of_b.depth, a).cmp(&(of_a.time, of_a.depth, b)));
    functions.dedup_by(|(_, outer), (_, inner)| outer.sites == inner.sites);
    functions.into_iter().map(|(name, _)| name).take(THRESHOLDS.most_idea_places).collect()
}

/// Places before which most is computed.
fn longest_computation(analysis: &Analysis) -> Vec<SourceLine> {
    let mut by_place: FxHashMap<SourceLine, Length> = FxHashMap::default();
    for (site, (_, time)) in analysis.profile.computation_by_site() {
        if site.is_some() {
            *by_place.entry(SourceLine::of(&analysis.definitions, site)).or_default() += time;
        }
    }
    let all: Length = by_place.values().copied().sum();
    let mut sums: Vec<(SourceLine, Length)> = by_place.into_iter().collect();
    sums.retain(|(_, time)| time.0 as f64 >= THRESHOLDS.least_idea * all.0 as f64 && *time > Length::ZERO);
    sums.sort_by(|(a, of_a), (b, of_b)| (of_b, a).cmp(&(of_a, b)));
    sums.into_iter().map(|(place, _)| place).take(THRESHOLDS.most_idea_places).collect()
}
