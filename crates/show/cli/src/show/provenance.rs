//! How a trace was produced and how accurate it is, in the same words for all commands.
//!
//! A plain recording needs no remark. Anything else (reduced, compensated, replayed, predicted, reconstructed) is reported on
//! standard error by every command that reads rows, before its answer, and by `kizami info` among the facts.

use super::path::as_typed;
use super::{quantity, say};
use kizami_model::Length;
use kizami_trace::run::{Missing, Reduced, ReplayedFrom, Undisturbed};
use kizami_trace::{Provenance, RunInfo, Trace};

/// Says all of it about a trace.
pub fn report(trace: &Trace) {
    report_each(trace, trace.provenance().into_iter());
}

/// Says how its times came to be; that it is reduced is said in other words.
pub fn report_times(trace: &Trace) {
    report_each(trace, trace.provenance().into_iter().filter(|one| !matches!(one, Provenance::Reduced(_))));
}

fn report_each<'a>(trace: &Trace, all: impl Iterator<Item = Provenance<'a>>) {
    let name = as_typed(trace.path());
    let lines: Vec<String> = all.map(|one| line(&name, &one)).collect();
    if !lines.is_empty() {
        say(&lines);
    }
}

fn line(name: &str, provenance: &Provenance<'_>) -> String {
    match provenance {
        Provenance::Reduced(reduced) => {
            let weights = if reduced.is_sampled() {
                "sampled without weights; nothing is known of the others"
            } else {
                "each stands for as many calls as its weight"
            };
            labelled("reduced", &format!("{name}: {} kept; {weights}", rows_of_calls(reduced)))
        }
        Provenance::Undisturbed(made) => {
            labelled("corrected", &format!("{name}: tracer overhead removed from {}", without_tracer(made)))
        }
        Provenance::Replayed(made) | Provenance::Reconstructed(made) => {
            labelled("replayed", &format!("{name}: a replay of {}", replay(made)))
        }
        Provenance::Predicted(made) => labelled("predicted", &format!("{name}: {}", predicted_from(made))),
    }
}

/// Says that a run is reconstructed from a reduced trace.
pub fn report_reconstructed(reduced: &Reduced) {
    let kept = quantity::count(reduced.rows_kept);
    let calls = quantity::counted(reduced.calls, "call");
    let what = "reconstructed with the exact order of calls and times sampled from exact sums";
    say(&[labelled("reduced", &format!("{kept} of {calls} were kept; {what}"))]);
}

/// Says how much of the time in MPI such a run has in other functions than it was.
pub fn report_reconstruction_error(off_ns: f64, mpi: Length) {
    let off = quantity::share(off_ns, mpi.0 as f64);
    say(&[labelled(
        "reduced",
        &format!("error: {off} of the time in MPI is assigned to the wrong function"),
    )]);
}

fn labelled(label: &str, text: &str) -> String {
    format!("kizami: {label:<9} {text}")
}

/// How many rows there are for how many calls.
pub fn rows_of_calls(reduced: &Reduced) -> String {
    format!("{} of {}", quantity::counted(reduced.rows_kept, "row"), quantity::counted(reduced.calls, "call"))
}

/// What the tracer was taken out of, and how sure that is.
fn without_tracer(made: &Undisturbed) -> String {
    format!(
        "{}, which took {}; error {}",
        made.made_from,
        quantity::duration(Length(made.recorded_ns)),
        quantity::duration(Length(made.error_ns))
    )
}

/// What was replayed, and with what changed.
fn replay(made: &ReplayedFrom) -> String {
    let setting = match made.setting.as_slice() {
        [] => "without changes".to_owned(),
        words => format!("with {}", words.join(" ")),
    };
    format!("{}, which took {}, {setting}", made.made_from, quantity::duration(Length(made.recorded_ns)))
}

/// From which runs a run was foretold, and for what.
fn predicted_from(made: &ReplayedFrom) -> String {
    let options = made.setting.get(1..).unwrap_or_default().join(" ");
    format!("predicted from {}, with {options}", made.made_from)
}

/// Where the times of a trace come from, as facts with their labels.
pub fn facts_of_times(run: &RunInfo) -> Vec<(&'static str, String)> {
    let fact = |one| match one {
        Provenance::Reduced(_) => None,
        Provenance::Undisturbed(made) => Some(("made from", without_tracer(made))),
        Provenance::Replayed(made) | Provenance::Reconstructed(made) => Some(("replayed", replay(made))),
        Provenance::Predicted(made) => Some(("predicted", predicted_from(made))),
    };
    run.provenance().into_iter().filter_map(fact).collect()
}

/// What rows a reduced trace has, and what of it is exact, as facts with their labels.
pub fn facts_of_rows(reduced: &Reduced) -> Vec<(&'static str, String)> {
    let asked = reduced.keep.as_ref().map_or_else(String::new, |keep| format!(", requested {keep}"));
    let drawn = match (reduced.paper_n, reduced.paper_x) {
        (Some(n), Some(x)) => format!(", {} of every {}", quantity::count(x), quantity::count(n)),
        _ => String::new(),
    };
    let from = match (&reduced.made_from, reduced.made_from_bytes) {
        (Some(from), Some(bytes)) => format!("; made from {from}, {}", quantity::bytes(bytes)),
        (Some(from), None) => format!("; made from {from}"),
        (None, _) => String::new(),
    };
    let text = format!(
        "{} of calls ({} of {}{asked}; by {}{drawn}){from}",
        quantity::share(reduced.rows_kept as f64, reduced.calls as f64),
        quantity::counted(reduced.rows_kept, "row"),
        quantity::count(reduced.calls),
        reduced.importance,
    );
    let mut facts = vec![("kept", text), ("exact", exact(reduced).to_owned())];
    facts.extend(incomplete(&reduced.missing).into_iter().map(|text| ("but", text)));
    facts
}

/// What can be believed to the last digit.
pub fn exact(reduced: &Reduced) -> &'static str {
    if reduced.sums_exact {
        "counts, times, bytes, messages between ranks, and the order of all calls; quantiles are within 1 %"
    } else if reduced.sums_are_of_rows() {
        "the number of calls; rows were sampled by a published scheme without weights, and times and bytes are those of the rows"
    } else if reduced.is_sampled() {
        "only run.json: rows were sampled by a published scheme without weights"
    } else {
        "the sums present; those of some threads could not be read"
    }
}

/// Where room was missing, one sentence each.
pub fn incomplete(missing: &Missing) -> Vec<String> {
    let counted = [
        (missing.calls_without_place, "call", "are counted by function only: too many call sites and sizes"),
        (missing.calls_without_quantile, "call", "are in no quantile: too many durations"),
        (missing.calls_of_other_duration, "call", "are counted with those of another duration"),
        (missing.messages_without_peer, "message", "have no peer: too many peers"),
        (missing.rows_lost, "row", "that should have been kept were lost"),
        (missing.calls_without_order, "call", "at the end are missing from the order of calls"),
        (missing.damage, "thing", "could not be parsed"),
    ];
    let some = counted.into_iter().filter(|(count, ..)| *count > 0);
    some.map(|(count, noun, what)| format!("{} {what}", quantity::counted(count, noun))).collect()
}

/// What tracing took, and which part of the time of all ranks that is.
pub fn tracer_cost(run: &RunInfo) -> String {
    let threads = f64::from(run.threads.max(run.ranks));
    format!(
        "took {} over all ranks, {} of their time",
        quantity::duration(Length(run.totals.overhead_ns)),
        quantity::share(run.totals.overhead_ns as f64, run.span_ns as f64 * threads)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_traces_name_their_origin() {
        let replayed = ReplayedFrom {
            made_from: "run.kz".to_owned(),
            recorded_ns: 2_000_000_000,
            setting: vec!["--cpu 2x".to_owned()],
            ..ReplayedFrom::default()
        };
        let reduced = Reduced { rows_kept: 3, calls: 1_000, ..Reduced::default() };
        assert_eq!(
            line("new.kz", &Provenance::Replayed(&replayed)),
            "kizami: replayed  new.kz: a replay of run.kz, which took 2.00 s, with --cpu 2x"
        );
        let shown = line("new.kz", &Provenance::Reduced(&reduced));
        assert!(shown.starts_with("kizami: reduced   new.kz: 3 rows of 1,000 calls kept; "), "{shown}");
    }
}
