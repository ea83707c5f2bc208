//! What commands print is valid by the JSON Schemas in the book.

use crate::json;
use crate::place::Place;
use kizami_testing::schemas::{committed, violation};
use serde_json::Value;

/// Beside those of [`json::COMMANDS`]: commands that print forms of their own, and traces with rare fields.
const MORE: [&str; 22] = [
    "report reduced.kz --json",
    "report killed.kz --json",
    "report two-hosts.kz --json",
    "report fleng.kz --json",
    "whatif reduced.kz --json",
    "diff late-sender.kz kept.kz --json",
    "events one-sided.kz --json --limit 0",
    "clocks fleng.kz --json",
    "info counters.kz --json",
    "info fleng.kz --json",
    "info hung.kz --json",
    "info reduced.kz --json",
    "info reduced-paper.kz --json",
    "info replayed.kz --json",
    "info undisturbed.kz --json",
    "predict openmpi4.kz --cpu 2x --json",
    "predict openmpi4.kz --cpu 2x --method sum --json",
    "platform fat-tree:4x4,2:1 --halo 1M --alltoall 1k --json",
    "platform torus:4x4 --json",
    concat!("machines ", env!("CARGO_MANIFEST_DIR"), "/../../../machines/vm-openmpi.kzm --json"),
    "tasks fleng.kz --bounds --json",
    "replay openmpi4.kz --cpu 2x -o fast.kz --json",
];

#[test]
fn output_is_valid_by_the_schemas_of_the_book() {
    let place = Place::new();
    for command in json::COMMANDS.iter().chain(&MORE) {
        let output = place.output(command);
        let printed: Vec<Value> = serde_json::Deserializer::from_slice(&output.stdout)
            .into_iter()
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{command} prints no JSON: {error}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!printed.is_empty(), "{command} prints nothing: {error}");
        for value in printed {
            let schema = committed(json::schema(&value));
            if let Some(violation) = violation(&schema, &value) {
                panic!("{command}: {violation}");
            }
        }
    }
}

#[test]
fn what_a_schema_forbids_is_found() {
    let schema = committed("kizami-report/1");
    let output = Place::new().output("report late-sender.kz --json");
    let valid: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (field, wrong) in [
        ("/schema", Value::from("kizami-report/2")),
        ("/ranks", Value::from("four")),
        ("/events", Value::from(-1)),
        ("/efficiency/parallel", Value::Null),
        ("/findings/0/disease", Value::from("measles")),
        ("/findings/0/place/line", Value::from(1.5)),
    ] {
        let mut value = valid.clone();
        *value.pointer_mut(field).unwrap_or_else(|| panic!("there is no {field}")) = wrong;
        assert!(violation(&schema, &value).is_some(), "{field}");
    }
    let mut value = valid.clone();
    value.as_object_mut().expect("an object").remove("waits");
    assert!(violation(&schema, &value).is_some());
}
