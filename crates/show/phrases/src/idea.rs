//! A change in words, as it follows "what if".

use crate::location::call_at;
use crate::loss;
use crate::quantity;
use crate::ranks::named;
use kizami_explain::{Cause, Disease, Finding, Idea, LossKind, ThreadCount, WhatIf};
use kizami_model::Length;

/// An idea in words.
pub fn sentence(idea: &Idea) -> String {
    match idea {
        Idea::Fix(finding) => fix(finding),
        Idea::Threads(count) => threads(*count),
        Idea::WithoutLoss(kind, place) => loss::without(*kind, place),
        Idea::Balance(place) => format!("balance the computation before {place}"),
        Idea::Halve(place) => format!("halve the computation before {place}"),
        Idea::HalveBelow(function) => format!("halve the computation in {function} and what it calls"),
        Idea::OwnCores => "give every thread its own core".to_owned(),
        Idea::IdealNetwork => "an ideal network".to_owned(),
        Idea::HalfTheLatency => "half the latency".to_owned(),
        Idea::TwiceTheBandwidth => "twice the bandwidth".to_owned(),
        Idea::Overlap(place) => format!("overlap the wait at {place} with the computation after it"),
        Idea::EagerLimit(limit) => {
            format!("raise the eager limit to {limit}")
        }
    }
}

/// All of them in words, as `whatif --json` prints them: the best first, equally good ones in alphabetical order.
pub fn in_words(ideas: Vec<WhatIf>) -> Vec<WhatIf<String>> {
    let mut fixes: Vec<WhatIf<String>> =
        ideas.into_iter().map(|idea| idea.with(|what| sentence(&what))).collect();
    fixes.sort_by(|a, b| b.gain.ns.cmp(&a.gain.ns).then_with(|| a.what.cmp(&b.what)));
    fixes
}

/// The range of its gain, if that depends on something that the run does not show.
pub fn range(idea: &WhatIf<String>) -> Option<String> {
    let [least, most] = idea.between_ns?.map(|ns| quantity::duration(Length(ns)));
    Some(format!("{}: from {least} to {most}, depending on how evenly they divide the work", idea.what))
}

/// The change that fixes a finding.
fn fix(finding: &Finding) -> String {
    let place = &finding.place;
    match finding.disease() {
        Disease::NeedlessBarrier => format!("remove the barrier at {place}"),
        Disease::NeedlessCollective => format!("synchronise at {place} and the like less often"),
        Disease::WrongOrder => format!("receive messages at {place} in the order of arrival"),
        Disease::LateReceiver => format!("post the receives for {place} early"),
        Disease::PipelineFill => format!("use blocks of an eighth of the size before {place}"),
        Disease::SerialisedSection => format!("do the work before {place} on all ranks at once"),
        Disease::SmallMessages => format!("merge the small messages at {place}"),
        Disease::TinyCollectives => format!("merge the small collectives at {place}"),
        Disease::CollectionLoop => format!("use a collective instead of the loop at {place}"),
        Disease::RepeatedCommunicator => format!("create the communicator at {place} once"),
        Disease::RandomImbalance if finding.at_most => {
            let meeting = finding.waiting_in.as_ref();
            meeting.map_or_else(String::new, |(function, place)| {
                format!("leave out {}", call_at(function, place))
            })
        }
        Disease::SlowRanks => format!("make {} compute as fast as the others", named(&finding.ranks)),
        Disease::SystemNoise => "give every thread its own core".to_owned(),
        Disease::TaskFarmTail => format!("end the last tasks before {place} at the same time on all workers"),
        Disease::HotReceiver => format!("let all ranks receive the same amount at {place}"),
        Disease::Transfer | Disease::Alltoall => {
            format!("{} takes no time", call_at(&finding.function, place))
        }
        Disease::ThreadImbalance => loss::without(LossKind::Imbalance, place),
        Disease::ThreadWaits => loss::without(LossKind::InRegion, place),
        Disease::ThreadLocks => loss::without(LossKind::Locks, place),
        Disease::FewThreads => loss::without(LossKind::FewerThreads, place),
        Disease::SerialPart => loss::without(LossKind::Serial, place),
        Disease::TaskChain => format!("make the tasks of the parallel region at {place} independent"),
        _ if finding.cause == Cause::Call => {
            format!("{} delays no other rank", call_at(&finding.function, place))
        }
        _ => format!("remove the excess computation of {} before {place}", named(&finding.ranks)),
    }
}

fn threads(count: ThreadCount) -> String {
    match count {
        ThreadCount::Times(times) => format!("{times} times as many threads, each on its own core"),
        ThreadCount::Exactly(threads) => format!("{threads} threads per rank, each on its own core"),
    }
}
