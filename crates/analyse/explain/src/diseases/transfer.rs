//! Communication that takes long although no rank is waited for: large or many messages, exchanges of all ranks with
//! all ranks. In the replay the calls at one place communicate in no time; that bounds the gain.

use super::{Evidence, Suspect, about_call, sites_of_place};
use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use kizami_model::kind::{CollectiveKind, Kind};
use kizami_model::{Length, Op};
use kizami_replay::communicates;
use kizami_trace::SourceLine;
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
    let mut places = lines(evidence, places.into_iter().collect());
    places.retain(|line| evidence.share(line.time.0 as f64) >= THRESHOLDS.least_in_calls);
    places.sort_by_key(|line| (std::cmp::Reverse(line.time), line.site));
    places.truncate(THRESHOLDS.most_places);
    places.into_iter().map(|line| suspect(evidence, line)).collect()
}

/// Calls of a function at a line.
struct CallsOfLine {
    op: Op,
    place: SourceLine,
    time: Length,
    /// The call site with most of it.
    site: u32,
    sites: Vec<u32>,
}

/// Call sites by line, whoever called the function that they are in: the transfer is the same.
fn lines(evidence: &Evidence<'_>, mut sites: Vec<((Op, u32), Length)>) -> Vec<CallsOfLine> {
    sites.sort_by_key(|((_, site), time)| (std::cmp::Reverse(*time), *site));
    let mut lines: Vec<CallsOfLine> = Vec::new();
    let mut known: FxHashMap<(Op, SourceLine), usize> = FxHashMap::default();
    for ((op, site), time) in sites {
        let place = evidence.place(Some(site));
        let number = *known.entry((op, place.clone().of_any_caller())).or_insert(lines.len());
        match lines.get_mut(number) {
            None => lines.push(CallsOfLine { op, place, time, site, sites: vec![site] }),
            Some(line) => {
                if line.place != place {
                    line.place = place.of_any_caller();
                }
                line.time += time;
                line.sites.push(site);
            }
        }
    }
    lines
}

fn suspect(evidence: &Evidence<'_>, line: CallsOfLine) -> Suspect {
    use CollectiveKind::{Alltoall, Alltoallv, Alltoallw};
    let CallsOfLine { op, place, time, site, sites } = line;
    let diagnosis = match op.kind() {
        Kind::Collective(Alltoall | Alltoallv | Alltoallw, _) => Diagnosis::Alltoall {},
        _ => Diagnosis::Transfer {},
    };
    let mut finding = about_call(evidence, diagnosis, op, Some(site));
    finding.share = evidence.share(time.0 as f64);
    finding.option = Changes::at([&place], Change::IdealAt);
    finding.at_most = true;
    let named = sites_of_place(evidence.regions.definitions, &place);
    let without = evidence.changed(Change::IdealAt(if named.is_empty() { sites } else { named }));
    if place.caller.is_none() && finding.place.caller.is_some() {
        // Several paths lead there.
        finding.path.clear();
    }
    finding.place = place;
    Suspect::without(finding, without, THRESHOLDS.least_gain_of_transfer)
}
