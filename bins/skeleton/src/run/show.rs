//! What was run, in words.

use super::Arguments;
use kizami_execute::Ran;
use std::fmt::Write;

/// Lines with a label each.
pub fn text(ran: &Ran, arguments: &Arguments) -> String {
    let mut lines = vec![
        ("ranks", format!("{} of {} kinds, run {}", ran.ranks, ran.kinds, how(ran))),
        ("calls", ran.calls.to_string()),
        ("took", took(ran, arguments.output.is_some())),
    ];
    if ran.failed > 0 {
        let those = "ended with an exit code other than 0: the program found something wrong";
        lines.push(("failed", format!("{} ranks {those}", ran.failed)));
    }
    if let Some(output) = &arguments.output {
        if arguments.like.is_none() {
            let none = "computation takes no time: --like a recorded run tells how long it takes";
            lines.push(("times", none.to_owned()));
        }
        lines.push(("next", format!("kizami report {}", output.display())));
    }
    lines.iter().fold(String::new(), |mut text, (label, what)| {
        let _ = writeln!(text, "{label:<8} {what}");
        text
    })
}

fn how(ran: &Ran) -> String {
    match (ran.together, ran.passes) {
        (true, _) => "together".to_owned(),
        (false, 1) => "one by one, once".to_owned(),
        (false, passes) => format!("one by one, {passes} times until nothing changed"),
    }
}

fn took(ran: &Ran, written: bool) -> String {
    let running = format!(
        "{:.3} s to run ({:.2} us of processor time a rank)",
        ran.seconds,
        ran.processor_seconds * 1e6 / f64::from(ran.ranks)
    );
    if written { format!("{running}, {:.3} s to write", ran.seconds_writing) } else { running }
}
