//! Communicators that are created again and again: all their ranks meet for it and exchange data each time. In the replay
//! the calls are left out: the communicator is there already.

use super::{Evidence, Suspect, about_call};
use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use kizami_model::kind::{CommunicatorCall, Kind};
use kizami_model::{Length, Op};
use kizami_whatif::{Change, Changes};

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let mut places: Vec<(Op, u32, Length)> = Vec::new();
    for ((op, site), calls) in &evidence.profile.calls {
        if let (Some(site), true) = (site, creates(*op))
            && times_of_a_rank(evidence, *site) >= THRESHOLDS.fewest_repetitions as u64
            && evidence.share(calls.time.0 as f64) >= THRESHOLDS.least_gain
        {
            places.push((*op, *site, calls.time));
        }
    }
    places.sort_by_key(|(_, site, time)| (std::cmp::Reverse(*time), *site));
    places.truncate(THRESHOLDS.most_places);
    places.into_iter().map(|(op, site, time)| suspect(evidence, op, site, time)).collect()
}

/// Whether ranks of a communicator make another one together.
fn creates(op: Op) -> bool {
    use CommunicatorCall::{New, NewBetween, NewLater, NewOfGroup};
    matches!(op.kind(), Kind::Communicator(New | NewBetween | NewLater | NewOfGroup))
}

/// How often the rank that calls most often at a place does so.
fn times_of_a_rank(evidence: &Evidence<'_>, site: u32) -> u64 {
    let computation = evidence.profile.computation.iter();
    computation.filter(|((at, _), _)| *at == Some(site)).map(|(_, before)| before.times).max().unwrap_or(0)
}

fn suspect(evidence: &Evidence<'_>, op: Op, site: u32, time: Length) -> Suspect {
    let place = evidence.place(Some(site));
    let diagnosis = Diagnosis::RepeatedCommunicator { times: times_of_a_rank(evidence, site) };
    let mut finding = about_call(evidence, diagnosis, op, Some(site));
    finding.option = Changes::at([&place], Change::LeaveOut);
    finding.share = evidence.share(time.0 as f64);
    let without = evidence.changed(Change::LeaveOut(evidence.sites_at_place_of(site)));
    Suspect::without(finding, without, THRESHOLDS.least_gain)
}
