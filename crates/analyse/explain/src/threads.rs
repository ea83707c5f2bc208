//! What a run would gain if threads of its ranks lost less of their time, or were more: the run replayed with what its
//! ranks compute shorter where that is. Where ranks make no calls, nothing has to be replayed: each is shorter by itself.
//!
//! Losses whose gain is large and certain become findings, and so do chains of tasks that are longer than threads need for all
//! tasks.

use crate::analysis::Analysis;
use crate::disease::Diagnosis;
use crate::finding::{Cause, Finding, Headline};
use crate::report::Report;
use crate::thresholds::THRESHOLDS;
use kizami_hybrid::{
    AloneRun, Chain, Loss, LossKind, Regions, Sharing, Spans, ThreadChange, Threads, Window, changed_alone,
    changes,
};
use kizami_model::Length;
use kizami_replay::{Pieces, Setting};
use kizami_trace::{Definitions, SourceLine, function_name};
use kizami_whatif::{Gain, ThreadCount};

/// What is known of a run's threads.
#[derive(Clone, Debug)]
pub struct RunThreads {
    /// What became of their time.
    pub times: Threads,
    /// What they ran.
    pub regions: Regions,
    /// What tasks say of it.
    pub spans: Spans,
}

/// What is different, and how far that may be off.
pub(crate) type Without = (Setting, f64);

impl Analysis {
    /// Tells what the run would gain without what threads lost, by replaying it.
    pub fn gains_of_threads(&self, times: &mut Threads, regions: &Regions, spans: &Spans) {
        let all_ns = times.all_ns.max(1) as f64;
        let worth = |loss: &&mut Loss| loss.ns as f64 >= THRESHOLDS.least_loss * all_ns;
        let mut replayed: Vec<(&mut Loss, Without)> = times
            .losses
            .iter_mut()
            .filter(worth)
            .filter_map(|loss| Some((self.without_loss(regions, spans, loss)?, loss)))
            .map(|(without, loss)| (loss, without))
            .take(THRESHOLDS.most_losses)
            .collect();
        let settings: Vec<Setting> = replayed.iter().map(|(_, (setting, _))| setting.clone()).collect();
        let outcomes = self.replay_all(&settings.iter().collect::<Vec<_>>(), &|_| {});
        for ((loss, (_, doubt_ns)), outcome) in replayed.iter_mut().zip(outcomes) {
            let Some(fix) = loss.kind.fix(&loss.place) else { continue };
            let gain = self.gain(&outcome, *doubt_ns);
            loss.gain = Some(if fix.at_most { gain.of_a_best_case() } else { gain });
            (loss.at_most, loss.option) = (fix.at_most, fix.option);
        }
    }

    /// The run without a loss; none if it cannot be avoided.
    pub(crate) fn without_loss(&self, regions: &Regions, spans: &Spans, loss: &Loss) -> Option<Without> {
        loss.kind.fix(&loss.place)?;
        let sites = self.all_sites_of(&loss.place);
        if loss.kind == LossKind::IdleInMpi {
            let overlapped = sites.into_iter().flatten().map(|site| (site, Pieces::Endless)).collect();
            return Some((Setting { overlapped, ..Setting::default() }, 0.0));
        }
        let change = ThreadChange { without: vec![(loss.kind, sites)], ..ThreadChange::default() };
        Some(self.with_threads(regions, spans, &change))
    }

    /// The run with other threads, shared as they may be: as now, and the two ends of what is possible.
    pub(crate) fn with_thread_count(&self, threads: &RunThreads, count: ThreadCount) -> [Without; 3] {
        [Sharing::AsNow, Sharing::Evenly, Sharing::AsLong].map(|sharing| {
            let change = ThreadChange { threads: Some(count), sharing, without: Vec::new() };
            self.with_threads(&threads.regions, &threads.spans, &change)
        })
    }

    fn with_threads(&self, regions: &Regions, spans: &Spans, change: &ThreadChange) -> Without {
        let changed = changes(&self.graph, regions, spans, change);
        (Setting::of_steps(&self.graph, changed.steps), changed.doubt_ns)
    }

    fn all_sites_of(&self, place: &SourceLine) -> Vec<Option<u32>> {
        all_sites_of(&self.definitions, place)
    }
}

/// All call sites that people name like this; none stands for what has no place.
fn all_sites_of(definitions: &Definitions, place: &SourceLine) -> Vec<Option<u32>> {
    every_site(definitions).into_iter().filter(|site| SourceLine::of(definitions, *site) == *place).collect()
}

fn every_site(definitions: &Definitions) -> Vec<Option<u32>> {
    (0..definitions.callsites.len() as u32).map(Some).chain([None]).collect()
}

impl RunThreads {
    /// Tells what a run without calls would gain without what its threads lost: as a part of the run in which each has a core.
    pub fn gains_alone(&mut self, definitions: &Definitions, window: Window) {
        let all_ns = self.times.all_ns.max(1) as f64;
        let worth = |loss: &&mut Loss| loss.ns as f64 >= THRESHOLDS.least_loss * all_ns;
        let (regions, spans) = (&self.regions, &self.spans);
        let without = |without| {
            let change = ThreadChange { without, ..ThreadChange::default() };
            changed_alone(regions, spans, window, &change)
        };
        let gain = |run: AloneRun, before: Length| Gain::of(before, run.changed, run.noise, run.doubt_ns);
        let run = self.with_own_cores(definitions, window);
        let own_cores = (LossKind::Away, every_site(definitions));
        for loss in self.times.losses.iter_mut().filter(worth).take(THRESHOLDS.most_losses) {
            let Some(fix) = loss.kind.fix(&loss.place) else { continue };
            let sites = all_sites_of(definitions, &loss.place);
            let gain = match loss.kind {
                LossKind::Away => gain(without(vec![(loss.kind, sites)]), window.length()),
                // What a thread lacks a core for is no matter of the program: each has one.
                _ => gain(without(vec![own_cores.clone(), (loss.kind, sites)]), run),
            };
            loss.gain = Some(if fix.at_most { gain.of_a_best_case() } else { gain });
            // There is nothing to replay.
            loss.at_most = fix.at_most;
        }
    }

    /// How long a run without calls takes with a core for each thread.
    pub fn with_own_cores(&self, definitions: &Definitions, window: Window) -> Length {
        let without = vec![(LossKind::Away, every_site(definitions))];
        let change = ThreadChange { without, ..ThreadChange::default() };
        changed_alone(&self.regions, &self.spans, window, &change).changed
    }

    /// Findings about threads, the largest gain first: losses that are worth fixing and chains of tasks, in a run that takes so long.
    pub fn findings(&self, definitions: &Definitions, run: Length) -> Vec<Finding> {
        let is_worth = |gain: &Gain| gain.is_sure() && gain.share >= THRESHOLDS.least_gain;
        let of_losses = self.times.losses.iter().filter_map(|loss| {
            let gain = loss.gain.filter(is_worth)?;
            let diagnosis = diagnosis(loss.kind, self.times.most_threads)?;
            let (share, option) = (self.times.share(loss), loss.option.clone());
            let about = about_region(diagnosis, loss.place.clone());
            Some(Finding { share, gain: Some(gain), at_most: loss.at_most, option, ..about })
        });
        let of_chains = self.spans.chains(&self.regions).into_iter().filter_map(|chain| {
            let gain = gain_of_chain(&chain, run, self.regions.noise()).filter(is_worth)?;
            let (span_ns, work_ns, threads) = (chain.span.0, chain.work.0, chain.threads);
            let tasks = chain.tasks.map(|site| SourceLine::of(definitions, Some(site)));
            let diagnosis = Diagnosis::TaskChain { span_ns, work_ns, threads, tasks };
            let place = SourceLine::of(definitions, chain.region);
            let share = chain.length.0 as f64 / run.0.max(1) as f64;
            let about = about_region(diagnosis, place);
            Some(Finding { share, gain: Some(gain), at_most: true, ..about })
        });
        let mut findings: Vec<Finding> = of_losses.chain(of_chains).collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.expected().map_or(0, |gain| gain.ns)));
        findings
    }
}

/// What the run would gain if no task of these regions depended on another one.
fn gain_of_chain(chain: &Chain, run: Length, noise: Option<Length>) -> Option<Gain> {
    let is_limit = chain.span.0 as f64 >= THRESHOLDS.least_chain * chain.length.0 as f64;
    let gained = (chain.length - chain.shared).min(run);
    (is_limit && gained > Length::ZERO).then(|| Gain::of(run, run - gained, noise, 0.0).of_a_best_case())
}

/// What a loss is as a finding; none if findings about ranks say it, or if it is no fault of the program.
fn diagnosis(kind: LossKind, threads: u32) -> Option<Diagnosis> {
    match kind {
        LossKind::Imbalance => Some(Diagnosis::ThreadImbalance { threads }),
        LossKind::InRegion => Some(Diagnosis::ThreadWaits { threads }),
        LossKind::Locks => Some(Diagnosis::ThreadLocks { threads }),
        LossKind::FewerThreads => Some(Diagnosis::FewThreads { threads }),
        LossKind::Serial => Some(Diagnosis::SerialPart { threads }),
        LossKind::IdleInMpi | LossKind::Mpi | LossKind::Away | LossKind::Tracer => None,
    }
}

fn about_region(diagnosis: Diagnosis, place: SourceLine) -> Finding {
    Finding {
        diagnosis,
        cause: Cause::Computation,
        ranks: Vec::new(),
        path: Vec::new(),
        function: function_name::shown(&place.function),
        place,
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

impl<S> Report<Finding, S> {
    /// Adds findings about threads: each comes before those that gain less.
    pub fn add_findings(&mut self, findings: Vec<Finding>) {
        let gain = |finding: &Finding| finding.expected().map_or(0, |gain| gain.ns);
        for finding in findings {
            let gained = gain(&finding);
            let place = self.findings.iter().position(|other| gain(other) < gained);
            self.findings.insert(place.unwrap_or(self.findings.len()), finding);
        }
    }
}
