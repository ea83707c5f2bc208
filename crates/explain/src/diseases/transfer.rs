//! Communication that takes long though nobody is waited for: large or many messages, exchanges of everybody with
//! everybody. In the replay the calls at one place communicate in no time; that is gained at most.

use super::{Evidence, Suspect, about_call, option};
use crate::disease::Disease;
use kizami_model::kind::{CollectiveKind, Kind};
use kizami_model::{Family, Length, Op};
use kizami_replay::Setting;
use rustc_hash::FxHashMap;

/// Less than this part of all time in calls at a place, beyond waiting, is not looked at.
const LEAST_IN_CALLS: f64 = 0.03;
/// Gains below this part of the run are what communication costs in every run.
const LEAST_SHARE: f64 = 0.05;
/// Places that are looked at.
const MOST: usize = 2;

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let mut places: FxHashMap<(Op, u32), Length> = FxHashMap::default();
    for ((op, site), calls) in &evidence.profile.calls {
        let family = op.function().map(|function| function.family);
        let moves = matches!(family, Some(Family::PointToPoint | Family::Completion | Family::Collective));
        if let (Some(site), true) = (site, moves) {
            *places.entry((*op, *site)).or_default() += calls.time;
        }
    }
    for (key, total) in evidence.waits.totals.iter().filter(|(key, _)| key.pattern.is_waiting()) {
        if let Some(time) = key.site.and_then(|site| places.get_mut(&(key.op, site))) {
            *time -= total.time;
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.retain(|(_, time)| evidence.share(time.0 as f64) >= LEAST_IN_CALLS);
    places.sort_by_key(|((_, site), time)| (std::cmp::Reverse(*time), *site));
    places.truncate(MOST);
    places.into_iter().map(|(at, time)| suspect(evidence, at, time)).collect()
}

fn suspect(evidence: &Evidence<'_>, (op, site): (Op, u32), time: Length) -> Suspect {
    use CollectiveKind::{Alltoall, Alltoallv, Alltoallw};
    let disease = match op.kind() {
        Kind::Collective(Alltoall | Alltoallv | Alltoallw, _) => Disease::Alltoall,
        _ => Disease::Transfer,
    };
    let place = evidence.place(Some(site));
    let share = evidence.share(time.0 as f64);
    let sentence = format!(
        "{} at {place} takes {:.1} % of all time though nobody is waited for",
        op.name(),
        100.0 * share
    );
    let mut finding = about_call(evidence, disease, op, Some(site), sentence);
    finding.share = share;
    finding.option = option("--ideal-at", &place);
    finding.at_most = true;
    let ideal_at = evidence.line_of(site).into_iter().collect();
    let without = Setting { ideal_at, ..Setting::default() };
    Suspect::without(finding, without, LEAST_SHARE)
}
