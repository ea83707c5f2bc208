//! What could be done about a run, as the first words of "what if ...".

use crate::loss;
use crate::quantity;
use crate::ranks::named;
use kizami_explain::{Cause, Disease, Finding, Idea, ThreadCount, WhatIf};
use kizami_model::Length;

/// An idea in words.
pub fn sentence(idea: &Idea) -> String {
    match idea {
        Idea::Mended(finding) => mended(finding),
        Idea::Threads(count) => threads(*count),
        Idea::WithoutLoss(kind, place) => loss::without(*kind, place),
        Idea::Balance(place) => format!("balance the computation before {place}"),
        Idea::Halve(place) => format!("halve the computation before {place}"),
        Idea::IdealNetwork => "an ideal network".to_owned(),
        Idea::HalfTheLatency => "half the latency".to_owned(),
        Idea::TwiceTheBandwidth => "twice the bandwidth".to_owned(),
        Idea::Overlap(place) => format!("overlap the wait at {place} with the computation behind it"),
        Idea::EagerLimit(limit) => {
            format!("sends up to {limit} do not wait for their receiver: a larger eager limit")
        }
    }
}

/// All of them in words, as `whatif --json` prints them: the best first, and of equally good ones in the order of their
/// words.
pub fn in_words(ideas: Vec<WhatIf>) -> Vec<WhatIf<String>> {
    let mut told: Vec<WhatIf<String>> =
        ideas.into_iter().map(|idea| idea.with(|what| sentence(&what))).collect();
    told.sort_by(|a, b| b.gain.ns.cmp(&a.gain.ns).then_with(|| a.what.cmp(&b.what)));
    told
}

/// Between what its gain lies, if a run does not tell how what is different would be used.
pub fn range(idea: &WhatIf<String>) -> Option<String> {
    let [least, most] = idea.between_ns?.map(|ns| quantity::duration(Length(ns)));
    Some(format!("{}: from {least} to {most}, by how evenly they share the work", idea.what))
}

/// What is different where a finding is mended.
fn mended(finding: &Finding) -> String {
    let place = &finding.place;
    match finding.disease() {
        Disease::NeedlessBarrier => format!("leave out the barrier at {place}"),
        Disease::WrongOrder => format!("take messages at {place} as they come"),
        Disease::LateReceiver => format!("post the receives of {place} early"),
        Disease::PipelineFill => format!("hand on smaller blocks, an eighth of those before {place}"),
        Disease::SmallMessages => format!("join the small messages at {place}"),
        Disease::TinyCollectives => format!("join the small collectives at {place}"),
        Disease::CollectionLoop => format!("a collective instead of the loop at {place}"),
        Disease::RepeatedCommunicator => format!("create the communicator of {place} once"),
        Disease::Transfer | Disease::Alltoall => format!("{} at {place} in no time", finding.function),
        _ if finding.cause == Cause::Call => format!("{} at {place} holds nobody up", finding.function),
        _ => format!("{}: no longer than the others before {place}", named(&finding.ranks)),
    }
}

fn threads(count: ThreadCount) -> String {
    match count {
        ThreadCount::Times(times) => format!("{times} times as many threads, each with a processor"),
        ThreadCount::Exactly(threads) => format!("{threads} threads a rank, each with a processor"),
    }
}
