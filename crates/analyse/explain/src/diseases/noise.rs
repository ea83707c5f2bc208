//! System noise: threads lose their core for short times, here and there, and others wait for them. In the replay every thread
//! has its own core. Where that takes much of the time, the report begins with it, and this says nothing.

use super::{Evidence, Suspect, about_call};
use crate::cores::{lacking, own_cores};
use crate::disease::Diagnosis;
use crate::finding::Cause;
use crate::thresholds::THRESHOLDS;
use kizami_model::{Length, Op};
use kizami_replay::Setting;
use kizami_whatif::{Change, Changes};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let Evidence { graph, interval, waits, by_step, .. } = evidence;
    let mut places: FxHashMap<(Op, u32), Length> = FxHashMap::default();
    let (mut all, mut ranks) = (Length::ZERO, FxHashSet::default());
    for (rank, off_core) in lacking(graph, *interval) {
        let lost = off_core.before + off_core.inside;
        let step = &graph.steps[off_core.step as usize];
        all += lost;
        ranks.insert(rank);
        if let Some(site) = step.site() {
            *places.entry((step.op(), site)).or_default() += lost;
        }
    }
    let share = evidence.share(all.0 as f64);
    let most = places.into_iter().max_by_key(|((_, site), lost)| (*lost, std::cmp::Reverse(*site)));
    let Some(((op, site), _)) = most.filter(|_| share < THRESHOLDS.least_without_core) else {
        return Vec::new();
    };
    let mut finding = about_call(evidence, Diagnosis::SystemNoise { ranks: ranks.len() }, op, Some(site));
    finding.cause = Cause::Computation;
    finding.share = share;
    finding.at_most = true;
    finding.option = Some(Changes::from(Change::OwnCores));
    let setting = Setting::of_steps(graph, own_cores(graph, *interval, &waits.long, by_step));
    vec![Suspect::without(finding, setting, THRESHOLDS.least_gain)]
}
