//! System noise: threads lose their core for short times, here and there, and others wait for them. In the replay every thread
//! has its own core. Where that takes much of the time, the report begins with it, and this says nothing.

use super::{Evidence, Suspect, about_call};
use crate::cores::{lacking, own_cores};
use crate::disease::{Diagnosis, Disease};
use crate::finding::Cause;
use crate::thresholds::THRESHOLDS;
use crate::who::Who;
use kizami_model::{Length, Op};
use kizami_replay::Setting;
use kizami_whatif::{Change, Changes};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let Evidence { graph, interval, waits, by_step, .. } = evidence;
    let mut places: FxHashMap<(Op, Option<u32>), Length> = FxHashMap::default();
    let (mut all, mut ranks) = (Length::ZERO, FxHashSet::default());
    for (rank, off_core) in lacking(graph, *interval) {
        let lost = off_core.before + off_core.inside;
        let step = &graph.steps[off_core.step as usize];
        all += lost;
        ranks.insert(rank);
        *places.entry((step.op(), step.site())).or_default() += lost;
    }
    let share = evidence.share(all.0 as f64);
    let most = places.into_iter().max_by_key(|((_, site), lost)| (*lost, std::cmp::Reverse(*site)));
    let Some(((op, site), _)) = most.filter(|_| share < THRESHOLDS.least_without_core) else {
        return Vec::new();
    };
    let mut finding = about_call(evidence, Diagnosis::SystemNoise { ranks: ranks.len() }, op, site);
    finding.cause = Cause::Computation;
    finding.share = share;
    finding.at_most = true;
    finding.option = Some(Changes::from(Change::OwnCores));
    let setting = Setting::of_steps(graph, own_cores(graph, *interval, &waits.long, by_step));
    vec![Suspect::without(finding, setting, THRESHOLDS.least_gain)]
}

/// Leaves out findings that say no more than that ranks compute longer in turn, if noise gains about as much.
pub(crate) fn explain(suspects: &mut [Suspect]) {
    let is_noise = |suspect: &&Suspect| suspect.finding.disease() == Disease::SystemNoise;
    let Some(noise) = suspects.iter().find(is_noise).filter(|noise| noise.is_worth_listing()) else { return };
    let most = THRESHOLDS.surely_joint * noise.gain_ns() as f64;
    for suspect in suspects.iter_mut() {
        let in_turn = matches!(
            &suspect.finding.diagnosis,
            Diagnosis::Imbalance { who: Who::InTurns }
                | Diagnosis::MovingImbalance { who: Who::InTurns }
                | Diagnosis::RandomImbalance { who: Who::InTurns }
        );
        suspect.is_part |= in_turn && suspect.gain_ns() as f64 <= most;
    }
}
