//! Communication that takes long although no rank is waited for: large or many messages, exchanges of all ranks with
//! all ranks. In the replay the calls at one place communicate in no time; that bounds the gain.

use super::{Evidence, Suspect, about_call};
use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use kizami_model::kind::{CollectiveKind, Kind};
use kizami_model::{Length, Op};
use kizami_replay::communicates;
use kizami_whatif::{Change, Changes};
use rustc_hash::FxHashMap;

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let mut places: FxHashMap<(Op, u32), Length> = FxHashMap::default();
    for ((op, site), calls) in &evidence.profile.calls {
        if let (Some(site), true) = (site, communicates(*op)) {
            *places.entry((*op, *site)).or_default() += calls.time;
        }
    }
    for (key, total) in evidence.waits.totals.iter().filter(|(key, _)| key.pattern.is_waiting()) {
        if let Some(time) = key.site.and_then(|site| places.get_mut(&(key.op, site))) {
            *time -= total.time;
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.retain(|(_, time)| evidence.share(time.0 as f64) >= THRESHOLDS.least_in_calls);
    places.sort_by_key(|((_, site), time)| (std::cmp::Reverse(*time), *site));
    places.truncate(THRESHOLDS.most_places);
    places.into_iter().map(|(at, time)| suspect(evidence, at, time)).collect()
}

fn suspect(evidence: &Evidence<'_>, (op, site): (Op, u32), time: Length) -> Suspect {
    use CollectiveKind::{Alltoall, Alltoallv, Alltoallw};
    let diagnosis = match op.kind() {
        Kind::Collective(Alltoall | Alltoallv | Alltoallw, _) => Diagnosis::Alltoall {},
        _ => Diagnosis::Transfer {},
    };
    let place = evidence.place(Some(site));
    let mut finding = about_call(evidence, diagnosis, op, Some(site));
    finding.share = evidence.share(time.0 as f64);
    finding.option = Changes::at([&place], Change::IdealAt);
    finding.at_most = true;
    let without = evidence.changed(Change::IdealAt(evidence.sites_at_place_of(site)));
    Suspect::without(finding, without, THRESHOLDS.least_gain_of_transfer)
}
