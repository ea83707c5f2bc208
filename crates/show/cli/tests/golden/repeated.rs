//! Every idea of `kizami whatif` can be tried with `kizami replay`, and gains there what it gains here.

use crate::place::Place;
use serde_json::Value;

const TRACES: [&str; 4] = ["late-sender-20.kz", "openmpi4.kz", "simulated.kz", "hybrid.kz"];

fn json(place: &Place, line: &str) -> Value {
    let output = place.output(line);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line} prints no JSON: {error}"))
}

#[test]
fn an_idea_gains_the_same_part_of_the_work_in_a_replay() {
    let place = Place::new();
    for trace in TRACES {
        let ideas = json(&place, &format!("whatif {trace} --json"));
        let mut tried = 0;
        for idea in ideas.as_array().expect("a list") {
            let Some(option) = idea["option"].as_str() else { continue };
            let replayed = json(&place, &format!("replay {trace} {option} --json"));
            let [before, after] = ["recorded_work_ns", "replayed_work_ns"].map(|key| replayed[key].as_i64());
            let (before, after) = (before.expect("a time"), after.expect("a time"));
            assert_eq!(Some(before - after), idea["gain"]["ns"].as_i64(), "{trace} {option}");
            let share = idea["gain"]["share"].as_f64().expect("a part");
            assert!((share - (before - after) as f64 / before as f64).abs() < 1e-9, "{trace} {option}");
            tried += 1;
        }
        assert!(tried > 3, "{trace}: {tried} ideas with an option");
    }
}

/// A run that was drawn from a reduced trace may be off: what is told is told with that, the same by both commands, and
/// nothing is told that may be nothing.
#[test]
fn both_commands_report_the_error_of_a_reconstructed_run() {
    let place = Place::new();
    let report = json(&place, "report reduced.kz --json");
    let off = report["efficiency"]["error"].as_f64().expect("efficiencies of a drawn run may be off");
    let error = |gain: &Value| gain["share_error"].as_f64().expect("an error");
    for finding in report["findings"].as_array().expect("a list") {
        let gain = Some(&finding["gain"]).filter(|gain| !gain.is_null()).unwrap_or(&finding["balanced"]);
        assert!(error(gain) >= off && gain["ns"].as_i64() > gain["error_ns"].as_i64(), "{finding:#}");
    }
    for idea in json(&place, "whatif reduced.kz --json").as_array().expect("a list") {
        assert!(error(&idea["gain"]) >= off, "{idea:#}");
    }
}
