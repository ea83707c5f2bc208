//! The verdict of a run without findings.

use crate::finding;
use crate::location::call_at;
use crate::quantity::percent;
use crate::ranks::listed;
use crate::verdict::gain_share;
use kizami_explain::{Consumer, Finding, Gain, NothingFound, SourceLine};

/// In one sentence.
pub fn sentence(nothing: &NothingFound) -> String {
    match nothing {
        NothingFound::NoCalls => "No MPI calls were recorded.".to_owned(),
        NothingFound::NoCallsButThreads => {
            "No MPI calls were recorded, and no single loss of the threads is large and certain.".to_owned()
        }
        NothingFound::WaitingWithoutCause { share, likeliest, lacks_cores, reconstructed, consumers } => {
            waiting_without_cause(*share, likeliest.as_deref(), *lacks_cores, *reconstructed)
                + &consumers_named(consumers)
        }
        NothingFound::Unknown { share, function, place, consumers } => {
            unknown(*share, function, place) + &consumers_named(consumers)
        }
        NothingFound::LongCalls { share, function, place, consumers } => {
            long_calls(*share, function, place.as_ref()) + &consumers_named(consumers)
        }
        NothingFound::HardlyAnyWaiting => {
            "No significant waiting: no rank delays others for long.".to_owned()
        }
    }
}

/// Says what a reduced trace does not know of the time in calls.
pub fn unknown(share: f64, function: &str, place: &SourceLine) -> String {
    format!(
        "A reduced trace does not tell why {} of the time is spent in MPI, mostly in {}: different ranks in turn may have \
         been late, or messages slow. Record with all calls to see.",
        percent(share),
        call_at(function, place)
    )
}

fn waiting_without_cause(
    share: f64,
    likeliest: Option<&Finding>,
    lacks_cores: bool,
    reconstructed: bool,
) -> String {
    let waiting = format!("Ranks wait for {} of the time", percent(share));
    let Some((finding, gain)) = likeliest.and_then(|finding| Some((finding, finding.expected()?))) else {
        return format!("{waiting}, but fixing any single cause would hardly shorten the run.");
    };
    let but = match gain.noise_left_out {
        _ if reconstructed => {
            "a reduced trace knows too little for that to be certain; record with all calls to see"
        }
        _ if lacks_cores => "ranks that lack cores make that uncertain",
        true => "without a loop, the run does not show how much of that is noise",
        false => "iterations differ too much for that to be certain",
    };
    let gain = gain_share(Gain { noise_left_out: false, ..gain });
    let what = finding::sentence(finding);
    format!(
        "{waiting}, but no single cause is certain. The likeliest: {what}; fixing it would save {gain}, but {but}."
    )
}

/// What takes most time, in a sentence.
fn consumers_named(consumers: &[Consumer]) -> String {
    let named = |consumer: &Consumer| {
        let call = call_at(&consumer.function, &consumer.place);
        let what = if consumer.computes { format!("computation before {call}") } else { call };
        format!("{what} ({})", percent(consumer.share))
    };
    match &consumers.iter().map(named).collect::<Vec<_>>()[..] {
        [] => String::new(),
        named => format!(" Most time is spent in: {}.", listed(named)),
    }
}

fn long_calls(share: f64, function: &str, place: Option<&SourceLine>) -> String {
    let call = place.map_or_else(|| function.to_owned(), |place| call_at(function, place));
    format!(
        "No rank delays others for long, but {} of the time is spent in MPI without waiting, mostly in {call}.",
        percent(share)
    )
}
