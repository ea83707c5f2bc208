//! The way from a trace to a report.

use crate::Disease;
use crate::cores::{SharedCores, own_cores, without_core};
use crate::diseases::{
    Evidence, Suspect, blamed_suspects, explain_by_farm, explain_by_hot_receiver,
    explain_by_needless_collectives, explain_by_noise, farm_workers, may_be_part, other_suspects, unite,
};
use crate::efficiency::Efficiency;
use crate::error::ExplainError;
use crate::finding::{Cause, Finding};
use crate::outcome::Outcome;
use crate::path::{Path, critical_path};
use crate::phases::{Loop, find_loop, go_in_step};
use crate::profile::{Calls, Profile, function_at, profile};
use crate::protocols::SendProtocol;
use crate::reconstructed::{Doubts, Reconstructed};
use crate::regions::Regions;
use crate::replays::Replays;
use crate::report::{
    CallTotal, ComputationTotal, MatrixCell, NetworkFit, NotUnderstood, PathPart, RankTime, Report,
    SizeClass, WaitTotal,
};
use crate::scatter::scatter;
use crate::thresholds::THRESHOLDS;
use crate::work_interval::{Borders, WorkInterval};
use kizami_blame::ByStep;
use kizami_blame::Pattern;
use kizami_blame::{Doing, blame};
use kizami_blame::{Total, Waits};
use kizami_graph::{Graph, build};
use kizami_model::{Length, Op, Rank};
use kizami_network::Fit;
use kizami_parallel::join;
use kizami_replay::{Network, Setting, Workers, learn};
use kizami_stats::upper_median;
use kizami_trace::SourceLine;
use kizami_trace::{Definitions, RegionSpan, RunInfo, Trace};
use kizami_whatif::Gain;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// How far it is: steps done of all passes, and all there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Done.
    pub done: u64,
    /// All.
    pub total: u64,
}

/// A run taken apart: what reports and what-ifs are made from.
pub struct Analysis {
    pub(crate) graph: Graph,
    pub(crate) definitions: Definitions,
    pub(crate) borders: Borders,
    pub(crate) interval: WorkInterval,
    pub(crate) profile: Profile,
    pub(crate) fit: Fit,
    pub(crate) waits: Waits,
    by_step: ByStep,
    /// The worst first.
    pub(crate) suspects: Vec<Suspect>,
    pub(crate) unmatched: u64,
    pub(crate) ideal: WorkInterval,
    shared_cores: Option<SharedCores>,
    /// The run in which every thread has its own core, and the same on an ideal network; if that is another.
    own_cores: Option<[WorkInterval; 2]>,
    pub(crate) looped: Loop,
    pub(crate) workers: Workers,
    /// How far times are off, if the run was reconstructed.
    pub(crate) doubts: Option<Doubts>,
    /// What is exact about it.
    pub(crate) reconstructed: Option<Reconstructed>,
}

impl Analysis {
    /// Takes a trace apart. If there are several processes, each does so, and they share the replays.
    pub fn of(
        trace: &Trace,
        workers: impl Into<Workers>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Analysis, ExplainError> {
        let events = trace.run().totals.events;
        let total = events.saturating_mul(3);
        let tell =
            |pass: u64, steps: u64| progress(Progress { done: (pass * events + steps).min(total), total });
        let (workers, definitions) = (workers.into(), trace.definitions()?);
        let graph = build(trace, workers.threads, &|rows| tell(0, rows))?;
        Ok(Analysis::watched(graph, definitions, &trace.region_spans()?, workers, &tell))
    }

    /// The same for a graph that was built before, from whatever rows.
    pub fn of_graph(
        graph: Graph,
        definitions: Definitions,
        regions: &[RegionSpan],
        threads: usize,
    ) -> Analysis {
        Analysis::watched(graph, definitions, regions, threads.into(), &|_, _| {})
    }

    /// `tell` is called with the pass and how many of its steps are done.
    fn watched(
        graph: Graph,
        definitions: Definitions,
        regions: &[RegionSpan],
        workers: Workers,
        tell: &(dyn Fn(u64, u64) + Sync),
    ) -> Analysis {
        let threads = workers.threads;
        let borders = Borders::new();
        let interval = WorkInterval::recorded(&graph, &borders, threads);
        let walked = tracing::info_span!("waits", steps = graph.steps.len(), threads)
            .in_scope(|| learn(&graph, threads, Waits::new, &|steps| tell(1, steps)));
        let (fit, unmatched) = (walked.learned, walked.unmatched);
        let sort_waits = || {
            let mut waits = Waits::all(walked.observers);
            kizami_blame::divide(&graph, &mut waits);
            let by_step = ByStep::new(graph.steps.len(), &waits.long);
            (waits, by_step)
        };
        let add_up = || (profile(&graph, interval), find_loop(&graph, &definitions, interval));
        let ((profile, looped), (waits, by_step)) =
            tracing::info_span!("profile", threads).in_scope(|| join(threads, add_up, sort_waits));
        let in_step = go_in_step(&profile) && farm_workers(&profile).is_none();
        let looped = Loop { in_step, ..looped };
        let regions = Regions { definitions: &definitions, strands: &graph.strands, spans: regions };
        let evidence = || Evidence {
            graph: &graph,
            profile: &profile,
            regions: &regions,
            waits: &waits,
            by_step: &by_step,
            interval,
            looped: &looped,
            fit: &fit,
            epochs: OnceLock::new(),
            mutual: OnceLock::new(),
        };
        // Blame has all threads meanwhile, and takes longer: half as many are enough, or one.
        let find_others = || other_suspects(&evidence(), threads / 2);
        let find_blamed = || {
            let blamed = blame(&graph, &waits.long, &by_step, threads);
            blamed_suspects(&evidence(), &blamed, THRESHOLDS.most_causes, threads)
        };
        let (others, blamed) =
            tracing::info_span!("causes", threads).in_scope(|| join(threads, find_others, find_blamed));
        let replays = Replays::new(&graph, &fit, &borders, &looped.marks, workers);
        let outcomes = tracing::info_span!("replays", causes = others.len() + blamed.len(), threads)
            .in_scope(|| replays.ideal_and(&others, &blamed, &|steps| tell(2, steps)));
        let mut analysis = Analysis {
            ideal: interval,
            shared_cores: SharedCores::of(&graph, &definitions.ranks, interval),
            own_cores: None,
            graph,
            definitions,
            borders,
            interval,
            profile,
            fit,
            waits,
            by_step,
            suspects: Vec::new(),
            unmatched,
            looped,
            workers,
            doubts: None,
            reconstructed: None,
        };
        analysis.settle(blamed, others, outcomes);
        analysis.look_again();
        analysis.give_own_cores();
        analysis
    }

    /// Notes how the run came out on an ideal network, without each of the others, and without each that is to blame.
    fn settle(&mut self, mut blamed: Vec<Suspect>, mut others: Vec<Suspect>, outcomes: Vec<Outcome>) {
        let mut outcomes = outcomes.into_iter();
        self.ideal = outcomes.next().map_or(self.interval, |outcome| outcome.interval);
        let worth = others.iter_mut().chain(&mut blamed).filter(|suspect| suspect.is_worth_replaying());
        for suspect in worth {
            suspect.settle(|doubt_ns| outcomes.next().map(|outcome| self.gain(&outcome, doubt_ns)));
        }
        blamed.extend(others);
        unite(&mut blamed, |ns| self.share(ns));
        explain_by_noise(&mut blamed);
        explain_by_hot_receiver(&mut blamed);
        explain_by_farm(&mut blamed);
        explain_by_needless_collectives(&mut blamed);
        blamed.sort_by(|a, b| b.merit().total_cmp(&a.merit()));
        self.suspects = blamed;
    }

    /// Looks again at what cannot be told from noise, in the run in which the first finding is fixed: what is periodic makes
    /// iterations scatter, and hides what else there is.
    fn look_again(&mut self) {
        // Where ranks lack cores, nothing more becomes certain.
        if self.shared_cores.is_some() {
            return;
        }
        let Some(first) = self.suspects.iter().position(Suspect::is_worth_listing) else { return };
        let Some(fixed) = self.suspects[first].expected_setting() else { return };
        let another = |suspect: &Suspect| {
            let finding = &suspect.finding;
            let elsewhere = finding.place != self.suspects[first].finding.place;
            elsewhere && suspect.may_be_worth_listing() && suspect.expected_setting().is_some()
        };
        let hidden: Vec<usize> =
            (0..self.suspects.len()).filter(|number| another(&self.suspects[*number])).collect();
        let before = self.interval.length() - Length(self.suspects[first].gain_ns());
        let mut certain: Vec<(usize, Gain)> = Vec::new();
        for (number, outcome) in hidden.iter().zip(self.replay_on_top_of(fixed, &hidden)) {
            let suspect = &self.suspects[*number];
            let gain = suspect.expected_gain(self.gain_after(before, &outcome, suspect.doubt_ns()));
            if gain.is_sure() && gain.share >= suspect.least_share {
                certain.push((*number, gain));
            }
        }
        certain.into_iter().for_each(|(number, gain)| self.suspects[number].settle_after_first(gain));
        if self.suspects[first].finding.disease() == Disease::NeedlessCollective {
            self.leave_out_parts_of(first);
        }
        let first = self.suspects.remove(first);
        self.suspects.sort_by(|a, b| b.merit().total_cmp(&a.merit()));
        self.suspects.insert(0, first);
    }

    /// Marks findings as parts of one that gain hardly anything once that is fixed.
    fn leave_out_parts_of(&mut self, first: usize) {
        let Some(fixed) = self.suspects[first].expected_setting() else { return };
        let may_be = |number: &usize| {
            let suspect = &self.suspects[*number];
            let listed = suspect.is_worth_listing() && suspect.expected_setting().is_some();
            *number != first && listed && may_be_part(&suspect.finding)
        };
        let listed: Vec<usize> = (0..self.suspects.len()).filter(may_be).collect();
        let before = self.interval.length() - Length(self.suspects[first].gain_ns());
        let outcomes = self.replay_on_top_of(fixed, &listed);
        for (number, outcome) in listed.into_iter().zip(outcomes) {
            let gain = self.gain_after(before, &outcome, 0.0);
            let suspect = &mut self.suspects[number];
            suspect.is_part = (gain.ns as f64) < THRESHOLDS.spreading_helps * suspect.gain_ns() as f64;
        }
    }

    /// Replays the run in which every thread has its own core, if they had not.
    fn give_own_cores(&mut self) {
        let Some(shared) = self.shared_cores.clone() else { return };
        let own_setting = self.own_cores_setting();
        let ideal = Setting { network: Network::Ideal, ..own_setting.clone() };
        let outcomes = self.replay_all(&[&own_setting, &ideal], &|_| {});
        let [own, ideal] = &outcomes[..] else { return };
        self.doubt_without_cores(&own_setting, own.interval.length());
        self.own_cores = Some([own.interval, ideal.interval]);
        self.shared_cores = Some(SharedCores { gain: Some(self.gain(own, 0.0).of_a_best_case()), ..shared });
    }

    /// What findings would gain if every thread had its own core, and the run took so long, is another estimate: they are off
    /// by the difference at least.
    fn doubt_without_cores(&mut self, own: &Setting, length: Length) {
        let is_listed = |number: &usize| {
            let suspect = &self.suspects[*number];
            suspect.is_worth_listing() && suspect.expected_setting().is_some()
        };
        let listed: Vec<usize> = (0..self.suspects.len()).filter(is_listed).collect();
        let run = self.interval.length();
        let lacking = self.shared_cores.as_ref().map_or(0.0, |shared| shared.share);
        for (number, outcome) in listed.iter().zip(self.replay_on_top_of(own, &listed)) {
            let gain = self.gain_after(length, &outcome, 0.0);
            let suspect = &mut self.suspects[*number];
            let mut off = Length((suspect.gain_ns() - gain.ns).abs());
            if suspect.finding.cause == Cause::Call || suspect.finding.at_most {
                // Calls also take longer where the other side has no core, which is not seen on this one.
                off = off.max(run.scaled(lacking));
            }
            suspect.off_by(off, run);
        }
    }

    /// The run with what is to be done about each of these suspects, one at a time, on top of another setting.
    fn replay_on_top_of(&self, setting: &Setting, suspects: &[usize]) -> Vec<Outcome> {
        let with =
            |number: &usize| Some(setting.and(self.suspects[*number].expected_setting()?, &self.graph));
        // Settings take memory for each step that is different.
        let some = suspects.chunks(Replays::MOST_LANES).flat_map(|some| {
            let settings: Vec<Setting> = some.iter().filter_map(with).collect();
            self.replay_all(&settings.iter().collect::<Vec<_>>(), &|_| {})
        });
        some.collect()
    }

    /// The run in which every thread has its own core.
    pub(crate) fn own_cores_setting(&self) -> Setting {
        Setting::of_steps(&self.graph, own_cores(&self.graph, self.interval, &self.waits.long, &self.by_step))
    }

    /// The run under any number of settings, in as few walks as possible.
    pub(crate) fn replay_all(&self, settings: &[&Setting], progress: &(dyn Fn(u64) + Sync)) -> Vec<Outcome> {
        Replays::new(&self.graph, &self.fit, &self.borders, &self.looped.marks, self.workers)
            .all(settings, progress)
    }

    /// What is gained if the run comes out like this. What is taken away may be off by `doubt_ns`, and the rest as two
    /// runs of the program differ.
    pub(crate) fn gain(&self, outcome: &Outcome, doubt_ns: f64) -> Gain {
        self.gain_after(self.interval.length(), outcome, doubt_ns)
    }

    /// The same if the run takes so long before, as a part of the recorded run.
    fn gain_after(&self, before: Length, outcome: &Outcome, doubt_ns: f64) -> Gain {
        let run = self.interval.length();
        let iterations = outcome.iterations.as_ref().filter(|_| self.looped.in_step);
        let noise = iterations.map(|lengths| scatter(lengths, &self.looped.marks));
        let replayed = run - (before - outcome.interval.length());
        Gain::of(run, replayed, noise, doubt_ns)
    }

    /// How far times of a rank are off on average, if the run was reconstructed.
    fn off(&self) -> Length {
        self.doubts.as_ref().map_or(Length::ZERO, |doubts| doubts.run)
    }

    /// All that waiting is blamed on.
    fn blame(&self) -> Vec<Finding> {
        let findings =
            self.suspects.iter().filter(|suspect| !suspect.is_part).map(|suspect| &suspect.finding);
        findings.filter(|finding| finding.waiting_ns + finding.propagated_ns > 0).cloned().collect()
    }

    /// The findings to list, the worst first.
    fn findings(&self) -> Vec<Finding> {
        let listed = self.suspects.iter().filter(|suspect| suspect.is_worth_listing());
        listed.map(|suspect| suspect.finding.clone()).collect()
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.profile.ranks.len() as u32
    }

    /// As a part of the time of all ranks.
    pub(crate) fn share(&self, ns: f64) -> f64 {
        let all_ns = self.interval.length().0 as f64 * f64::from(self.ranks().max(1));
        if all_ns > 0.0 { ns / all_ns } else { 0.0 }
    }

    /// Puts everything into a report.
    pub fn report(&self, trace: &Trace) -> Report {
        self.report_of(&trace.path().display().to_string(), trace.run())
    }

    /// The same for a run of this name that is in no trace.
    pub fn report_of(&self, name: &str, run: &RunInfo) -> Report {
        let mut computation: Vec<Length> =
            self.profile.ranks.iter().map(|(computing, _)| *computing).collect();
        let (own_cores, ideal) = match self.own_cores {
            Some([own_cores, ideal]) => {
                let lacking = without_core(&self.graph, self.interval);
                let ranks = computation.iter_mut().zip(lacking);
                ranks.for_each(|(computing, lacking)| *computing = (*computing - lacking).at_least_zero());
                (Some(own_cores), ideal)
            }
            None => (None, self.ideal),
        };
        let path = critical_path(&self.graph, &self.waits.long, &self.by_step, self.interval);
        let at = |op: Op, site| Some((op.name().to_owned(), SourceLine::of(&self.definitions, site)));
        Report {
            trace: name.to_owned(),
            executable: run.executable.clone(),
            command: run.command.clone(),
            mpi_library: run.mpi_library.clone(),
            ranks: run.ranks,
            events: run.totals.events,
            span_ns: run.span_ns,
            run_ns: self.interval.length().0,
            shared_cores: self.shared_cores.clone(),
            stolen: run.stolen.filter(|share| *share >= THRESHOLDS.least_stolen),
            efficiency: Efficiency::new(&computation, self.interval, own_cores, ideal, self.off()),
            findings: self.findings(),
            blame: self.blame(),
            waits: self.waits_by(Pattern::is_waiting, |_, _| None),
            waits_by_place: self.waits_by(Pattern::is_waiting, at),
            completions: self.waits_by(|pattern| !pattern.is_waiting(), |_, _| None),
            completions_by_place: self.waits_by(|pattern| !pattern.is_waiting(), at),
            critical_path: self.path_parts(&path),
            functions: self.calls_by(|_| None),
            places: self.calls_by(|site| Some(SourceLine::of(&self.definitions, site))),
            computation: self.computation(),
            rank_times: self.rank_times(),
            outliers: outliers(&computation),
            matrix: self.matrix(),
            sizes: self.sizes(),
            phases: self.looped.phases.clone(),
            network: NetworkFit::of(&self.fit),
            protocols: self
                .graph
                .protocols
                .iter()
                .map(|protocol| SendProtocol::of(protocol, &self.definitions))
                .collect(),
            not_understood: NotUnderstood {
                not_followed: self.graph.not_followed,
                unmatched: self.unmatched,
                problems: run.health.problems.clone(),
                unrecorded: run.health.unrecorded.clone(),
            },
            reconstructed: self.reconstructed.clone(),
            hang: None,
            threads: None,
        }
    }

    fn waits_by(
        &self,
        which: impl Fn(Pattern) -> bool,
        at: impl Fn(Op, Option<u32>) -> Option<(String, SourceLine)>,
    ) -> Vec<WaitTotal> {
        type Group = (Pattern, Option<(String, SourceLine)>);
        let mut groups: FxHashMap<Group, FxHashMap<u32, Total>> = FxHashMap::default();
        let totals = self.waits.totals.iter().filter(|(key, total)| which(key.pattern) && total.count > 0);
        for (key, total) in totals {
            let rank = self.graph.strands[key.strand as usize].rank.0;
            let sum = groups.entry((key.pattern, at(key.op, key.site))).or_default().entry(rank).or_default();
            (sum.count, sum.time) = (sum.count + total.count, sum.time + total.time);
        }
        let mut totals: Vec<WaitTotal> = groups
            .into_iter()
            .map(|((pattern, at), by_rank)| {
                let weight = |rank: &u32| self.graph.weight(Rank(*rank));
                let time = |(rank, total): (&u32, &Total)| total.time * i64::from(weight(rank));
                let ns = by_rank.iter().map(time).sum::<Length>().0;
                let worst =
                    by_rank.iter().max_by_key(|(rank, total)| (total.time, std::cmp::Reverse(**rank)));
                let (worst_rank, worst_ns) = worst.map_or((0, 0), |(rank, total)| (*rank, total.time.0));
                let count = by_rank.iter().map(|(rank, total)| total.count * u64::from(weight(rank))).sum();
                WaitTotal { pattern, at, count, ns, share: self.share(ns as f64), worst_rank, worst_ns }
            })
            .collect();
        totals.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| (a.pattern, &a.at).cmp(&(b.pattern, &b.at))));
        totals
    }

    fn calls_by(&self, at: impl Fn(Option<u32>) -> Option<SourceLine>) -> Vec<CallTotal> {
        let mut groups: FxHashMap<(Op, Option<SourceLine>), Calls> = FxHashMap::default();
        for ((op, site), calls) in &self.profile.calls {
            let sum = groups.entry((*op, at(*site))).or_default();
            sum.calls += calls.calls;
            // What is exact is not reported as it comes out of a replay.
            let exact = self.doubts.as_ref().and_then(|doubts| doubts.exact(*op, *site));
            sum.time += exact.unwrap_or(calls.time);
            sum.bytes += calls.bytes;
        }
        let total = |((op, place), calls): ((Op, Option<SourceLine>), Calls)| CallTotal {
            function: op.name().to_owned(),
            place,
            calls: calls.calls,
            ns: calls.time.0,
            share: self.share(calls.time.0 as f64),
            bytes: calls.bytes,
        };
        let mut totals: Vec<CallTotal> = groups.into_iter().map(total).collect();
        totals.sort_by(|a, b| {
            b.ns.cmp(&a.ns).then_with(|| (&a.function, &a.place).cmp(&(&b.function, &b.place)))
        });
        totals
    }

    fn computation(&self) -> Vec<ComputationTotal> {
        let mut sums: FxHashMap<(String, SourceLine), (u64, Length)> = FxHashMap::default();
        for (site, (times, time)) in self.profile.computation_by_site() {
            let group = (function_at(&self.profile, site), SourceLine::of(&self.definitions, site));
            let sum = sums.entry(group).or_default();
            *sum = (sum.0 + times, sum.1 + time);
        }
        let total = |((function, place), (times, time)): ((String, SourceLine), (u64, Length))| {
            ComputationTotal { function, place, times, ns: time.0, share: self.share(time.0 as f64) }
        };
        let mut totals: Vec<ComputationTotal> = sums.into_iter().map(total).collect();
        totals.sort_by(|a, b| {
            b.ns.cmp(&a.ns).then_with(|| (&a.function, &a.place).cmp(&(&b.function, &b.place)))
        });
        totals
    }

    fn path_parts(&self, path: &Path) -> Vec<PathPart> {
        let length: Length = path.values().copied().sum();
        let computation = self.profile.computation_by_site();
        // What all ranks do there, and what is on the path, by rank.
        type Part = (Length, FxHashMap<u32, Length>);
        let mut by_doing: FxHashMap<Doing, FxHashMap<u32, Length>> = FxHashMap::default();
        for ((rank, doing), time) in path {
            *by_doing.entry(*doing).or_default().entry(*rank).or_default() += *time;
        }
        let mut by_place: FxHashMap<(String, SourceLine), Part> = FxHashMap::default();
        for (doing, ranks) in by_doing {
            let (what, site, everybody) = match doing {
                Doing::Computing(site) => {
                    let everybody = computation.get(&site).map_or(Length::ZERO, |(_, time)| *time);
                    let name = function_at(&self.profile, site);
                    (format!("computation before {name}"), site, everybody)
                }
                Doing::Calling(op, site) => {
                    let calls = self.profile.calls.get(&(op, site));
                    (op.name().to_owned(), site, calls.map_or(Length::ZERO, |calls| calls.time))
                }
                Doing::Starting => ("before the first call".to_owned(), None, Length::ZERO),
            };
            let part = by_place.entry((what, SourceLine::of(&self.definitions, site))).or_default();
            part.0 += everybody;
            ranks.into_iter().for_each(|(rank, time)| *part.1.entry(rank).or_default() += time);
        }
        let mut parts: Vec<PathPart> = by_place
            .into_iter()
            .filter_map(|((what, place), (everybody, ranks))| {
                let most = ranks.iter().max_by_key(|(rank, time)| (**time, std::cmp::Reverse(**rank)));
                let rank = most.map_or(0, |(rank, _)| *rank);
                let time: Length = ranks.values().copied().sum();
                let average = everybody / i64::from(self.ranks().max(1));
                (time > Length::ZERO).then(|| PathPart {
                    what,
                    place,
                    rank,
                    ns: time.0,
                    share: time.0 as f64 / length.0.max(1) as f64,
                    imbalance_ns: (time - average).at_least_zero().0,
                })
            })
            .collect();
        parts.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| (&a.what, &a.place).cmp(&(&b.what, &b.place))));
        parts
    }

    fn rank_times(&self) -> Vec<RankTime> {
        let mut waiting = vec![Length::ZERO; self.profile.ranks.len()];
        for (key, total) in self.waits.totals.iter().filter(|(key, _)| key.pattern.is_waiting()) {
            let strand = self.graph.strands[key.strand as usize];
            if strand.first_of_rank {
                waiting[strand.rank.0 as usize] += total.time;
            }
        }
        if let Some(folding) = &self.graph.folding {
            (0..self.ranks()).for_each(|rank| {
                waiting[rank as usize] = waiting[folding.rank_classes.like(Rank(rank)).0 as usize];
            });
        }
        let rank = |((rank, (computing, inside)), waiting): ((u32, &(Length, Length)), Length)| RankTime {
            rank,
            computation_ns: computing.0,
            mpi_ns: inside.0,
            waiting_ns: waiting.0,
        };
        (0..).zip(&self.profile.ranks).zip(waiting).map(rank).collect()
    }

    fn matrix(&self) -> Vec<MatrixCell> {
        let cell = |((from, to), (messages, bytes)): (&(u32, u32), &(u64, u64))| MatrixCell {
            from: *from,
            to: *to,
            messages: *messages,
            bytes: *bytes,
        };
        let mut cells: Vec<MatrixCell> = self.profile.matrix.iter().map(cell).collect();
        cells.sort_unstable_by_key(|cell| (cell.from, cell.to));
        cells
    }

    fn sizes(&self) -> Vec<SizeClass> {
        let class = |(bits, (messages, bytes)): (u32, &(u64, u64))| SizeClass {
            from_bytes: if bits == 0 { 0 } else { 1 << (bits - 1) },
            to_bytes: if bits == 0 { 0 } else { u64::MAX >> (u64::BITS - bits) },
            messages: *messages,
            bytes: *bytes,
        };
        (0..).zip(&self.profile.sizes).map(class).filter(|class| class.messages > 0).collect()
    }
}

fn outliers(computation: &[Length]) -> Vec<u32> {
    let mut sorted = computation.to_vec();
    sorted.sort_unstable();
    let Some(median) = upper_median(&sorted).filter(|median| *median > Length::ZERO) else {
        return Vec::new();
    };
    let far = |(rank, length): (u32, &Length)| {
        let times = length.0 as f64 / median.0 as f64;
        (!(1.0 / THRESHOLDS.outlier..=THRESHOLDS.outlier).contains(&times)).then_some(rank)
    };
    (0..).zip(computation).filter_map(far).collect()
}
