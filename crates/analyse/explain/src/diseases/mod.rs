//! Detectors: each looks for the signs of one performance pattern, or of a few that look alike, and names the replay that shows
//! what mending it would gain.
//!
//! What a detector finds is a [`Suspect`]. Whether it is listed depends on the replay alone: on what it gains, and on
//! whether that is more than its error.

mod barrier;
mod baseline;
mod blamed;
mod calls;
mod collection;
mod communicators;
mod hot_receiver;
mod joined;
mod late_receiver;
mod lock;
mod mutual;
mod needless_collective;
mod noise;
mod order;
mod shape;
mod slow_ranks;
mod task_farm;
mod transfer;

use crate::changes::{ChangedRun, ResolvedChange};
use crate::disease::{Diagnosis, Disease};
use crate::finding::{Cause, Finding, Headline};
use crate::phases::Loop;
use crate::profile::Profile;
use crate::regions::Regions;
use crate::thresholds::THRESHOLDS;
use crate::work_interval::WorkInterval;
use kizami_blame::ByStep;
use kizami_blame::Waits;
use kizami_graph::Graph;
use kizami_model::{Length, Op, Rank};
use kizami_network::Fit;
use kizami_parallel::map_in_turns;
use kizami_replay::Setting;
use kizami_trace::{Definitions, SourceLine};
use kizami_whatif::{Change, Changes, Epochs, Gain, Location, sites_at};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::OnceLock;

pub(crate) use baseline::too_long;
pub(crate) use blamed::suspects as blamed_suspects;
pub(crate) use hot_receiver::{even as even_exchanges, explain as explain_by_hot_receiver};
pub(crate) use joined::joined;
pub(crate) use lock::out_of_locks;
pub(crate) use needless_collective::{explain as explain_by_needless_collectives, may_be_part};
pub(crate) use noise::explain as explain_by_noise;
pub(crate) use order::as_they_come;
pub(crate) use slow_ranks::unite;
pub(crate) use task_farm::{even_tail, explain as explain_by_farm, workers as farm_workers};

/// A finding with what is needed to replay it.
pub(crate) struct Suspect {
    pub finding: Finding,
    /// The run without it, and how far what is taken away may be off.
    pub without: Option<(Setting, f64)>,
    /// The run with its work spread over all ranks.
    pub balanced: Option<Setting>,
    /// The alternative, with the run in which that is fixed.
    pub instead: Option<(Finding, Setting)>,
    /// Gains below this part of the run are not listed.
    pub least_share: f64,
    /// Another one says the same and more.
    pub is_part: bool,
}

impl Suspect {
    /// A suspect whose replay leaves one thing out.
    fn without(finding: Finding, setting: Setting, least_share: f64) -> Suspect {
        Suspect {
            finding,
            without: Some((setting, 0.0)),
            balanced: None,
            instead: None,
            least_share,
            is_part: false,
        }
    }

    /// Whether it is worth a replay: blame for next to nothing is not.
    pub(crate) fn is_worth_replaying(&self) -> bool {
        let by_itself = self.finding.waiting_ns == 0
            && (self.finding.cause == Cause::Call
                || self.finding.disease() == Disease::SystemNoise
                || slow_ranks::is_joint(&self.finding));
        by_itself || self.finding.share >= THRESHOLDS.worth_replaying
    }

    /// All runs to be replayed.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &Setting> {
        let without = self.without.as_ref().map(|(setting, _)| setting);
        without.into_iter().chain(&self.balanced).chain(self.instead.as_ref().map(|(_, setting)| setting))
    }

    /// Notes what replays gained, in the order of their settings; `gain` is called with how far what is taken away may be
    /// off.
    pub(crate) fn settle(&mut self, mut gain: impl FnMut(f64) -> Option<Gain>) {
        self.finding.gain = self.without.as_ref().and_then(|(_, doubt_ns)| gain(*doubt_ns));
        if self.finding.at_most {
            self.finding.gain = self.finding.gain.map(Gain::of_a_best_case);
        }
        self.finding.balanced = self.balanced.as_ref().and_then(|_| gain(0.0));
        let ns = |gain: Option<Gain>| gain.map_or(0.0, |gain| gain.ns as f64);
        if let Some((mut instead, setting)) = self.instead.take()
            && let Some(gained) = gain(0.0)
        {
            let most = ns(self.finding.gain).max(ns(self.finding.balanced));
            // No more can be gained than was waited: what goes beyond is computation that does not wait in a pipeline.
            let waited = self.finding.all_waiting_ns() as f64;
            let much = gained.share >= THRESHOLDS.least_gain_instead;
            if much && ns(Some(gained)) > THRESHOLDS.surely_instead * most && ns(Some(gained)) <= waited {
                (instead.gain, instead.balanced) = (Some(gained.of_a_best_case()), None);
                (self.finding, self.without, self.balanced) = (instead, Some((setting, 0.0)), None);
            }
        }
        let rarely = self.finding.disease() == Disease::RandomImbalance && self.finding.at_most;
        if rarely && ns(self.finding.gain) < THRESHOLDS.spreading_helps * ns(self.finding.balanced) {
            // Where ranks are late for long, meeting less often does not even that out.
            (self.finding.headline, self.finding.at_most) = (Headline::Balanced, false);
            (self.finding.gain, self.without) = (None, None);
            self.finding.option = Changes::at([&self.finding.place], Change::Balance);
            return;
        }
        if ns(self.finding.balanced) < THRESHOLDS.spreading_helps * ns(self.finding.gain) {
            self.finding.headline = Headline::Gain;
            self.finding.option = self.finding.option.take().map(without_spreading);
        }
    }

    /// The run with what is to be done about it.
    pub(crate) fn expected_setting(&self) -> Option<&Setting> {
        let without = self.without.as_ref().map(|(setting, _)| setting);
        match self.finding.headline {
            Headline::Gain => without,
            Headline::Balanced => self.balanced.as_ref().or(without),
        }
    }

    /// How far what is taken away in that run may be off.
    pub(crate) fn doubt_ns(&self) -> f64 {
        match (self.finding.headline, &self.without) {
            (Headline::Balanced, _) if self.balanced.is_some() => 0.0,
            (_, without) => without.as_ref().map_or(0.0, |(_, doubt_ns)| *doubt_ns),
        }
    }

    /// The same gain with the error that such a finding has.
    pub(crate) fn expected_gain(&self, gain: Gain) -> Gain {
        if self.finding.at_most { gain.of_a_best_case() } else { gain }
    }

    /// Notes what it gains once the first finding is fixed.
    pub(crate) fn settle_after_first(&mut self, gain: Gain) {
        let spread = self.finding.headline == Headline::Balanced && self.finding.balanced.is_some();
        (self.finding.gain, self.finding.balanced) =
            if spread { (None, Some(gain)) } else { (Some(gain), None) };
        self.finding.after_first = true;
    }

    /// The expected gain.
    pub(crate) fn gain_ns(&self) -> i64 {
        self.finding.expected().map_or(0, |gain| gain.ns)
    }

    /// The expected gain may be off by this much.
    pub(crate) fn off_by(&mut self, off: Length, run: Length) {
        let spread = self.finding.headline == Headline::Balanced && self.finding.balanced.is_some();
        let gain = if spread { &mut self.finding.balanced } else { &mut self.finding.gain };
        *gain = gain.map(|gain| gain.off_by(off, run));
    }

    /// Whether it gains enough to be listed, if only that were sure.
    pub(crate) fn may_be_worth_listing(&self) -> bool {
        let gain = self.finding.expected();
        !self.is_part && gain.is_some_and(|gain| !gain.is_sure() && gain.share >= self.least_share)
    }

    /// What it is sorted by: the gain that is to be expected, and how easily it is to be had.
    pub(crate) fn merit(&self) -> f64 {
        let ns = self.finding.expected().map_or(0.0, |gain| gain.ns as f64);
        match self.finding.disease() {
            Disease::NeedlessBarrier
            | Disease::NeedlessCollective
            | Disease::LateReceiver
            | Disease::WrongOrder
            | Disease::PipelineFill
            | Disease::SerialisedSection
            | Disease::RepeatedCommunicator
            | Disease::SmallMessages
            | Disease::TinyCollectives
            | Disease::TaskFarmTail
            | Disease::HotReceiver => THRESHOLDS.easily_fixed * ns,
            Disease::CollectionLoop => THRESHOLDS.loop_of_one * ns,
            Disease::Transfer => THRESHOLDS.hardly_fixed * ns,
            // Nobody in particular is to blame.
            Disease::RandomImbalance => THRESHOLDS.by_chance * ns,
            _ => ns,
        }
    }

    /// Whether it is surely more than noise.
    pub(crate) fn is_worth_listing(&self) -> bool {
        let gain = self.finding.expected();
        !self.is_part && gain.is_some_and(|gain| gain.is_sure() && gain.share >= self.least_share)
    }
}

/// Everything detectors look at.
pub(crate) struct Evidence<'a> {
    pub graph: &'a Graph,
    pub profile: &'a Profile,
    pub regions: &'a Regions<'a>,
    pub waits: &'a Waits,
    pub by_step: &'a ByStep,
    pub interval: WorkInterval,
    pub looped: &'a Loop,
    pub fit: &'a Fit,
    /// Worked out on first use.
    pub epochs: OnceLock<Epochs>,
    pub mutual: OnceLock<bool>,
}

impl Evidence<'_> {
    /// The run with a change made.
    fn changed(&self, change: ResolvedChange) -> Setting {
        let (graph, fit, epochs) = (self.graph, self.fit, &self.epochs);
        ChangedRun { graph, fit, epochs, regions: None, network: None, threads: 1 }.setting(&[change])
    }

    /// Whether most messages are exchanged: each of two ranks sends before it has what the other sends.
    fn is_mutual(&self) -> bool {
        *self.mutual.get_or_init(|| mutual::is_mutual(self.graph))
    }

    /// Whether all messages go around: each rank sends to one other rank, and the last to the first.
    fn is_ring(&self) -> bool {
        let mut next: FxHashMap<Rank, Rank> = FxHashMap::default();
        for channel in self.graph.channels.iter().filter(|channel| channel.tag >= 0) {
            if *next.entry(channel.from).or_insert(channel.to) != channel.to {
                return false;
            }
        }
        let Some(first) = next.keys().min().copied() else { return false };
        let around =
            std::iter::successors(next.get(&first), |rank| next.get(rank).filter(|_| **rank != first));
        next.len() == self.ranks() && around.take(self.ranks() + 1).count() == self.ranks()
    }

    fn ranks(&self) -> usize {
        self.graph.ranks() as usize
    }

    /// As a part of the time of all ranks.
    fn share(&self, ns: f64) -> f64 {
        let all_ns = self.interval.length().0 as f64 * self.ranks().max(1) as f64;
        if all_ns > 0.0 { ns / all_ns } else { 0.0 }
    }

    fn place(&self, site: Option<u32>) -> SourceLine {
        SourceLine::of(self.regions.definitions, site)
    }

    /// The innermost function that contains the computation between two calls, as the lines that it lies between. None if
    /// the calls say the same.
    fn within(&self, after: Option<u32>, site: Option<u32>) -> Option<[SourceLine; 2]> {
        let [called, calls] = [self.place(after), self.place(site)];
        let within = if after == site {
            // A loop somewhere: what it is called from says more than the function that all use.
            let caller = *calls.caller.clone()?;
            [caller.clone(), caller]
        } else {
            SourceLine::between(self.regions.definitions, after?, site?)?
        };
        (within != [called.of_any_caller(), calls.of_any_caller()]).then_some(within)
    }

    fn path(&self, site: Option<u32>) -> Vec<SourceLine> {
        SourceLine::path(self.regions.definitions, site)
    }

    /// All call sites at the places of some sites, each once: those that an option at these places names.
    fn sites_at_places_of(&self, sites: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let places: BTreeSet<SourceLine> = sites.into_iter().map(|site| self.place(Some(site))).collect();
        let of_place = |place| sites_of_place(self.regions.definitions, place);
        let sites: BTreeSet<u32> = places.iter().flat_map(of_place).collect();
        sites.into_iter().collect()
    }

    fn sites_at_place_of(&self, site: u32) -> Vec<u32> {
        self.sites_at_places_of([site])
    }
}

/// All call sites of a place: those that an option at this place names.
pub(crate) fn sites_of_place(definitions: &Definitions, place: &SourceLine) -> Vec<u32> {
    let named = Location::of(place).and_then(|location| sites_at(&location, definitions).ok());
    named.unwrap_or_else(|| {
        let sites = 0..definitions.callsites.len() as u32;
        sites.filter(|site| SourceLine::of(definitions, Some(*site)) == *place).collect()
    })
}

/// A finding about a call, of which only the place and what it is are known.
fn about_call(evidence: &Evidence<'_>, diagnosis: Diagnosis, op: Op, site: Option<u32>) -> Finding {
    Finding {
        diagnosis,
        cause: Cause::Call,
        ranks: Vec::new(),
        place: evidence.place(site),
        path: evidence.path(site),
        function: op.name().to_owned(),
        after: None,
        within: None,
        region: None,
        waiting_ns: 0,
        propagated_ns: 0,
        share: 0.0,
        waiting_ranks: 0,
        waiting_in: None,
        gain: None,
        balanced: None,
        headline: Headline::Gain,
        at_most: false,
        after_first: false,
        option: None,
    }
}

/// The same changes with the excess removed where it was to be spread.
fn without_spreading(changes: Changes) -> Changes {
    let instead = |change: Change| match change {
        Change::Balance(line) | Change::OutOfLock(line) => Change::RemoveExcess(line),
        other => other,
    };
    Changes(changes.0.into_iter().map(instead).collect())
}

/// Finds suspects that do not depend on blame.
type Detector = fn(&Evidence<'_>) -> Vec<Suspect>;
const DETECTORS: [Detector; 12] = [
    slow_ranks::suspects,
    barrier::suspects,
    order::suspects,
    late_receiver::suspects,
    joined::suspects,
    collection::suspects,
    communicators::suspects,
    noise::suspects,
    transfer::suspects,
    hot_receiver::suspects,
    task_farm::suspects,
    needless_collective::suspects,
];

/// Suspects that do not depend on blame.
pub(crate) fn other_suspects(evidence: &Evidence<'_>, threads: usize) -> Vec<Suspect> {
    map_in_turns(DETECTORS.to_vec(), threads, |find| find(evidence)).into_iter().flatten().collect()
}
