//! Barriers that no data needs. Messages keep the order that data needs by themselves; so a barrier in which much is
//! waited is replayed as if it were not there.

use super::{Evidence, Suspect, about_call};
use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use kizami_blame::Pattern;
use kizami_model::kind::{CollectiveKind, Form, Kind};
use kizami_model::{Length, Op};
use kizami_whatif::{Change, Changes};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let mut places: FxHashMap<(Op, u32), (Length, FxHashSet<u32>)> = FxHashMap::default();
    for (key, total) in &evidence.waits.totals {
        let blocking = matches!(key.op.kind(), Kind::Collective(CollectiveKind::Barrier, Form::Blocking));
        if let (Some(site), Pattern::WaitAtBarrier, true) = (key.site, key.pattern, blocking) {
            let (time, ranks) = places.entry((key.op, site)).or_default();
            *time += total.time;
            ranks.insert(evidence.graph.strands[key.strand as usize].rank.0);
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.retain(|(_, (time, _))| evidence.share(time.0 as f64) >= THRESHOLDS.least_gain);
    places.sort_by_key(|((_, site), (time, _))| (std::cmp::Reverse(*time), *site));
    places.truncate(THRESHOLDS.most_places);
    places
        .into_iter()
        .map(|((op, site), (time, ranks))| suspect(evidence, op, site, time, ranks.len()))
        .collect()
}

fn suspect(evidence: &Evidence<'_>, op: Op, site: u32, waiting: Length, ranks: usize) -> Suspect {
    let place = evidence.place(Some(site));
    let mut finding = about_call(evidence, Diagnosis::NeedlessBarrier {}, op, Some(site));
    finding.waiting_ranks = ranks;
    finding.waiting_in = Some((op.name().to_owned(), place.clone()));
    finding.option = Changes::at([&place], Change::LeaveOut);
    finding.share = evidence.share(waiting.0 as f64);
    let without = evidence.changed(Change::LeaveOut(evidence.sites_at_place_of(site)));
    Suspect::without(finding, without, THRESHOLDS.least_gain)
}
