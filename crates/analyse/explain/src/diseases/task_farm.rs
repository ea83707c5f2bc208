//! Task farms whose last tasks are long: a master hands out tasks to whoever asks, and while a few workers are still at
//! theirs, the others have nothing left to do. In the replay the late workers end when all would if the work could be
//! divided evenly, but not before the longest task could: the others have the time to do the rest.

use super::{Evidence, Suspect, about_call};
use crate::disease::{Diagnosis, Disease};
use crate::finding::Cause;
use crate::profile::{Profile, function_at};
use crate::thresholds::THRESHOLDS;
use kizami_graph::Graph;
use kizami_model::{Length, Moment, Op};
use kizami_replay::{Setting, StepChange};
use kizami_whatif::{Change, Changes, Epochs};
use rustc_hash::{FxHashMap, FxHashSet};

/// One task: the call behind it, and when it was worked on.
struct Task {
    step: u64,
    begin: Moment,
    end: Moment,
}

/// Tasks of one worker, in order.
type Tasks = Vec<Task>;

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    suspect(evidence).into_iter().collect()
}

fn suspect(evidence: &Evidence<'_>) -> Option<Suspect> {
    let Evidence { graph, profile, .. } = evidence;
    if graph.folding.is_some() {
        return None;
    }
    let workers = workers(profile)?;
    let site = task_site(profile, &workers)?;
    let sites = evidence.sites_at_place_of(site);
    let epochs = evidence.epochs.get_or_init(|| Epochs::of(graph));
    let rounds = rounds(graph, epochs, &sites);
    let idle: Length = rounds.values().map(|tasks| idle(tasks)).sum();
    let of_worker = profile.computation.get(&(Some(site), *workers.iter().min()?))?;
    let op = Op::by_name(&function_at(profile, Some(site)))?;
    let diagnosis = Diagnosis::TaskFarmTail { workers: workers.len() };
    let mut finding = about_call(evidence, diagnosis, op, Some(site));
    finding.cause = Cause::Computation;
    finding.after = Some(evidence.place(of_worker.after));
    finding.within = evidence.within(of_worker.after, Some(site));
    finding.share = evidence.share(idle.0 as f64);
    finding.at_most = true;
    finding.option = Changes::at([&finding.place], Change::EvenTail);
    let setting = Setting::of_steps(graph, shortened(&rounds));
    Some(Suspect::without(finding, setting, THRESHOLDS.least_gain))
}

/// Ranks that take tasks of a master: one that exchanges messages with most of the others, who exchange less with each other,
/// and computes next to nothing.
pub(crate) fn workers(profile: &Profile) -> Option<FxHashSet<u32>> {
    let mut partners: FxHashMap<u32, Vec<(u32, u64)>> = FxHashMap::default();
    let mut all = 0;
    for ((from, to), (messages, _)) in &profile.matrix {
        all += messages;
        if let Some((back, _)) = profile.matrix.get(&(*to, *from)) {
            partners.entry(*to).or_default().push((*from, messages + back));
        }
    }
    let messages = |of: &[(u32, u64)]| of.iter().map(|(_, messages)| messages).sum::<u64>();
    let (master, of_master) =
        partners.into_iter().max_by_key(|(rank, of)| (messages(of), std::cmp::Reverse(*rank)))?;
    let many = of_master.len() as f64 >= THRESHOLDS.most_of_the_ranks * (profile.ranks.len() as f64 - 1.0);
    let is_hub = of_master.len() >= THRESHOLDS.fewest_partners && many && 2 * messages(&of_master) > all;
    let computation = |rank: u32| profile.ranks.get(rank as usize).map_or(0.0, |(time, _)| time.0 as f64);
    let of_workers = of_master.iter().map(|(worker, _)| computation(*worker)).sum::<f64>();
    let mean = of_workers / of_master.len().max(1) as f64;
    let hardly_computes = computation(master) < THRESHOLDS.master_computes * mean;
    (is_hub && hardly_computes).then(|| of_master.into_iter().map(|(worker, _)| worker).collect())
}

/// The call before which workers compute most, and most of them do.
fn task_site(profile: &Profile, workers: &FxHashSet<u32>) -> Option<u32> {
    let mut times: FxHashMap<u32, (Length, usize)> = FxHashMap::default();
    for ((site, rank), computation) in &profile.computation {
        if let (Some(site), true) = (site, workers.contains(rank)) {
            let (time, ranks) = times.entry(*site).or_default();
            *time += computation.time;
            *ranks += 1;
        }
    }
    times.retain(|_, (_, ranks)| *ranks as f64 >= THRESHOLDS.baseline_ranks * workers.len() as f64);
    times.into_iter().max_by_key(|(site, (time, _))| (*time, std::cmp::Reverse(*site))).map(|(site, _)| site)
}

/// Tasks that end in calls at these sites: by epoch, of each worker that has some.
fn rounds(graph: &Graph, epochs: &Epochs, sites: &[u32]) -> FxHashMap<usize, Vec<Tasks>> {
    let mut rounds: FxHashMap<usize, Vec<Tasks>> = FxHashMap::default();
    for strand in graph.strands.iter().filter(|strand| strand.first_of_rank) {
        let mut own: FxHashMap<usize, Tasks> = FxHashMap::default();
        let mut last_end: Option<Moment> = None;
        epochs.walk(graph, strand, |epoch, index, step| {
            if let (Some(begin), Some(site)) = (last_end, step.site())
                && sites.contains(&site)
                && begin < step.start
            {
                own.entry(epoch).or_default().push(Task { step: index, begin, end: step.start });
            }
            last_end = Some(step.end);
        });
        own.into_iter().for_each(|(epoch, tasks)| rounds.entry(epoch).or_default().push(tasks));
    }
    rounds
}

fn end_of(tasks: &Tasks) -> Option<Moment> {
    tasks.last().map(|task| task.end)
}

/// How long workers are idle at the end of a round, all together.
fn idle(workers: &[Tasks]) -> Length {
    let ends = || workers.iter().filter_map(end_of);
    let last = ends().max().unwrap_or_default();
    ends().map(|end| last - end).sum()
}

/// When all workers would be done if the last tasks could be divided evenly.
fn even_end(workers: &[Tasks]) -> Option<Moment> {
    let begin = workers.iter().filter_map(|tasks| tasks.first()).map(|task| task.begin).min()?;
    let behind: Length = workers.iter().filter_map(end_of).map(|end| end - begin).sum();
    let longest = workers.iter().flatten().map(|task| task.end - task.begin).max()?;
    Some(begin + (behind / workers.len() as i64).max(longest))
}

/// What changes if the workers of each round end at the same time.
fn shortened(rounds: &FxHashMap<usize, Vec<Tasks>>) -> Vec<(u64, StepChange)> {
    let mut changes = Vec::new();
    for workers in rounds.values() {
        let Some(even) = even_end(workers) else { continue };
        for tasks in workers {
            let mut late = end_of(tasks).map_or(Length::ZERO, |end| (end - even).at_least_zero());
            for task in tasks.iter().rev() {
                let shorter = late.min(task.end - task.begin);
                if shorter <= Length::ZERO {
                    break;
                }
                late -= shorter;
                changes.push((
                    task.step,
                    StepChange { before: Length::ZERO - shorter, ..StepChange::default() },
                ));
            }
        }
    }
    changes.sort_unstable_by_key(|(step, _)| *step);
    changes
}

/// What changes if the last tasks that end in calls made at `sites` are divided evenly.
pub(crate) fn even_tail(graph: &Graph, epochs: &Epochs, sites: &[u32]) -> Vec<(u64, StepChange)> {
    shortened(&rounds(graph, epochs, sites))
}

/// Leaves out what says of the same tasks that some compute longer.
pub(crate) fn explain(suspects: &mut [Suspect]) {
    let is_it = |suspect: &&Suspect| suspect.finding.disease() == Disease::TaskFarmTail;
    let Some(farm) = suspects.iter().find(is_it).filter(|farm| farm.is_worth_listing()) else { return };
    let place = farm.finding.place.clone();
    for suspect in suspects.iter_mut().filter(|suspect| suspect.finding.place == place) {
        let computes_longer = matches!(
            suspect.finding.disease(),
            Disease::Imbalance
                | Disease::GrowingImbalance
                | Disease::MovingImbalance
                | Disease::RandomImbalance
                | Disease::RareImbalance
                | Disease::PipelineFill
                | Disease::SerialisedSection
        );
        suspect.is_part |= computes_longer;
    }
}
