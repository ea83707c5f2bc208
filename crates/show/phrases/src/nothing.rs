//! The verdict of a run without findings.

use crate::location::call_at;
use crate::quantity::percent;
use kizami_explain::{NothingFound, SourceLine};

/// In one sentence.
pub fn sentence(nothing: &NothingFound) -> String {
    match nothing {
        NothingFound::NoCalls => "No MPI calls were recorded.".to_owned(),
        NothingFound::WaitingWithoutCause { share } => waiting_without_cause(*share),
        NothingFound::LongCalls { share, function, place } => long_calls(*share, function, place.as_ref()),
        NothingFound::HardlyAnyWaiting => {
            "No significant waiting: no rank delays others for long.".to_owned()
        }
    }
}

fn waiting_without_cause(share: f64) -> String {
    format!("Ranks wait for {} of the time, but no single cause stands out from the noise.", percent(share))
}

fn long_calls(share: f64, function: &str, place: Option<&SourceLine>) -> String {
    let call = place.map_or_else(|| function.to_owned(), |place| call_at(function, place));
    format!(
        "No rank delays others for long, but {} of the time is spent in MPI without waiting, mostly in {call}.",
        percent(share)
    )
}
