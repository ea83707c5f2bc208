//! The result of a replay: run times, network and matching.

use crate::show::quantity;
use kizami_model::Length;
use kizami_phrases::links;
use kizami_trace::run::ReplayedFrom;

/// Recorded and replayed run time, and what the result is based on.
pub fn lines(replayed: &ReplayedFrom, needs_fit: bool) -> Vec<(&'static str, String)> {
    let (recorded_ns, replayed_ns) = (replayed.recorded_ns, replayed.replayed_ns);
    let change = change(recorded_ns, replayed_ns);
    let setting = if replayed.setting.is_empty() {
        String::new()
    } else {
        format!(", with {}", replayed.setting.join(" "))
    };
    let mut lines = vec![
        ("recorded", quantity::duration(Length(recorded_ns))),
        ("replayed", format!("{}, {change}{setting}", quantity::duration(Length(replayed_ns)))),
    ];
    lines.extend(at_work(replayed).map(|text| ("at work", text)));
    match &replayed.links {
        None => lines.push(("network", network(replayed, needs_fit))),
        Some(shared) => {
            let by_simgrid = shared.by == "simgrid";
            let [low, high] = [shared.low_ns, shared.high_ns].map(Length);
            lines.push(("links", links::modelled(by_simgrid, shared.accurate, low, high)));
            lines.extend(shared.not_simulated.clone().map(|why| ("no SimGrid", why)));
        }
    }
    let followed = quantity::counted(replayed.followed, "call");
    lines.push(("waits", format!("{followed} with known wait dependencies")));
    if replayed.not_followed > 0 {
        let calls = quantity::counted(replayed.not_followed, "call");
        lines.push((
            "not followed",
            format!("{calls} with unknown wait dependencies kept their recorded duration"),
        ));
    }
    if replayed.unmatched > 0 {
        let those = quantity::calls_or_messages(replayed.unmatched);
        lines.push(("unmatched", format!("{those} whose partner is not in the trace")));
    }
    lines
}

/// By which part a length changed.
fn change(recorded_ns: i64, replayed_ns: i64) -> String {
    let changed_ns = replayed_ns.saturating_sub(recorded_ns);
    if changed_ns == 0 {
        return "as recorded".to_owned();
    }
    let how = if changed_ns < 0 { "less" } else { "more" };
    format!("{} {how}", quantity::share(changed_ns.unsigned_abs() as f64, recorded_ns as f64))
}

/// The same without starting and ending MPI: what reports and what-ifs give parts of.
fn at_work(replayed: &ReplayedFrom) -> Option<String> {
    let (recorded_ns, replayed_ns) = (replayed.recorded_work_ns?, replayed.replayed_work_ns?);
    let [recorded, now] = [recorded_ns, replayed_ns].map(|ns| quantity::duration(Length(ns)));
    let change = change(recorded_ns, replayed_ns);
    let instead = if now == recorded { String::new() } else { format!(" instead of {recorded}") };
    Some(format!("{now}{instead} between MPI_Init and MPI_Finalize, {change}"))
}

/// What the recorded run says about its network.
fn network(replayed: &ReplayedFrom, needs_fit: bool) -> String {
    if replayed.latency_ns <= 0.0 && replayed.per_byte_ns <= 0.0 {
        let unknown = "unknown: too few messages were waited for";
        let so = if needs_fit { "; --latency and --bandwidth have no effect" } else { "" };
        return format!("{unknown}{so}");
    }
    let latency = quantity::duration(Length(replayed.latency_ns.round() as i64));
    let bandwidth = if replayed.per_byte_ns > 0.0 {
        format!("{}/s", quantity::bytes((1e9 / replayed.per_byte_ns) as u64))
    } else {
        "a bandwidth too high to measure".to_owned()
    };
    format!("{latency} and {bandwidth}, fitted to the fastest messages (or collectives, if messages are few)")
}
