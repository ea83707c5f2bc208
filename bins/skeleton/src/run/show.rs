//! What was run, in words.

use super::Arguments;
use kizami_execute::Ran;
use std::fmt::Write;
use std::path::Path;

/// Lines with a label each.
pub fn text(ran: &Ran, arguments: &Arguments) -> String {
    let mut lines = vec![
        ("ranks", format!("{} in {} rank classes, run {}", ran.ranks, ran.kinds, how(ran))),
        ("calls", ran.calls.to_string()),
        ("took", took(ran, arguments.output.is_some())),
    ];
    if ran.failed > 0 {
        let those = "exited with a non-zero code: the program reported an error";
        lines.push(("failed", format!("{} ranks {those}", ran.failed)));
    }
    lines.extend(oracle_lines(ran).into_iter().map(|rule| ("values", rule)));
    if let Some(output) = &arguments.output {
        if arguments.like.is_none() {
            let none = "computation takes no time; pass a recorded run with --like to model it";
            lines.push(("times", none.to_owned()));
        }
        lines.push(("next", format!("kizami report {}", output.display())));
    }
    lines.iter().fold(String::new(), |mut text, (label, what)| {
        let _ = writeln!(text, "{label:<8} {what}");
        text
    })
}

/// Where the values of places that depend on data came from, each answer once with all its places.
fn oracle_lines(ran: &Ran) -> Vec<String> {
    let mut by_rule: Vec<(String, Vec<String>)> = Vec::new();
    for oracle in &ran.oracles {
        let file = Path::new(&oracle.file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = format!("{} ({file}:{})", oracle.variable, oracle.line);
        let rule = match oracle.error {
            None => oracle.rule.clone(),
            Some(error) => format!("{}, leave-one-out error {:.0} %", oracle.rule, 100.0 * error),
        };
        match by_rule.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, places)) if !places.contains(&place) => places.push(place),
            Some(_) => {}
            None => by_rule.push((rule, vec![place])),
        }
    }
    let words = |(rule, places): (String, Vec<String>)| format!("{}: {rule}", places.join(", "));
    by_rule.into_iter().map(words).collect()
}

fn how(ran: &Ran) -> String {
    match (ran.together, ran.passes) {
        (true, _) => "together".to_owned(),
        (false, 1) => "separately, in one pass".to_owned(),
        (false, passes) => format!("separately, in {passes} passes"),
    }
}

fn took(ran: &Ran, written: bool) -> String {
    let running = format!(
        "{:.3} s to run ({:.2} us of CPU time per rank)",
        ran.seconds,
        ran.processor_seconds * 1e6 / f64::from(ran.ranks)
    );
    if written { format!("{running}, {:.3} s to write", ran.seconds_writing) } else { running }
}
