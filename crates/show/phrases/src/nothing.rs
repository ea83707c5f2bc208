//! What is said where there is no finding.

use crate::quantity::percent;
use kizami_explain::{NothingFound, SourceLine};

/// In one sentence.
pub fn sentence(nothing: &NothingFound) -> String {
    match nothing {
        NothingFound::NoCalls => "No MPI call was recorded.".to_owned(),
        NothingFound::WaitingWithoutCause { share } => waiting_without_cause(*share),
        NothingFound::LongCalls { share, function, place } => long_calls(*share, function, place.as_ref()),
        NothingFound::HardlyAnyWaiting => "No rank kept others waiting for long.".to_owned(),
    }
}

fn waiting_without_cause(share: f64) -> String {
    format!("Ranks waited for {} of all time, but no cause stands out from the noise.", percent(share))
}

fn long_calls(share: f64, function: &str, place: Option<&SourceLine>) -> String {
    let at = place.map_or(String::new(), |place| format!(" at {place}"));
    format!(
        "No rank kept others waiting for long, but {} of all time went into calls that waited for nobody, most into {function}{at}.",
        percent(share)
    )
}
