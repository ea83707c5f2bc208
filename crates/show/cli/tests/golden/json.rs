//! The book's page on JSON and what commands print have the same fields.

use crate::place::Place;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../../../../docs/src/reference/json.md");

/// What shows all fields of each command: some are printed of certain traces only.
pub const COMMANDS: [&str; 31] = [
    "report late-sender.kz --json",
    "report openmpi4.kz --json",
    "report regions.kz --json",
    "report kept.kz --json",
    "report hung.kz --json",
    "report hybrid.kz --json",
    "report paths.kz --json",
    "report helpers.kz --json",
    "whatif openmpi4.kz --json",
    "whatif late-sender.kz --json",
    "whatif hybrid.kz --json",
    "replay openmpi4.kz --cpu 2x --json",
    "replay openmpi4.kz --platform flat:4,bw=1GBps,lat=1us --network phases --json",
    "diff late-sender.kz openmpi4.kz --json",
    "diff mpich4.kz openmpi4.kz --json",
    "events openmpi4.kz --json",
    "events wildcard.kz --json",
    "events paths.kz --paths --json",
    "clocks openmpi4.kz --json",
    "clocks two-hosts.kz --json",
    "clocks two-hosts-repaired.kz --json",
    "reduce openmpi4.kz --keep 10% --keep-all-below 0 -o small.kz --json",
    "reduce openmpi4.kz --keep 10% --importance paper:h2 -o drawn.kz --json",
    "undisturb openmpi4.kz -o clean.kz --json",
    "undisturb two-hosts.kz -o clean-hosts.kz --json",
    "doctor --library /no/libkizami.so --json",
    "info openmpi4.kz --json",
    "tasks fleng.kz --curve 4 --json",
    "tasks hybrid.kz --json",
    "info kept.kz --json",
    "info two-hosts.kz --json",
];

#[test]
fn the_page_names_every_field_and_no_other() {
    let documented = documented();
    let place = Place::new();
    let mut printed: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for command in COMMANDS {
        let name = command.split(' ').next().expect("a command");
        let output = place.output(command);
        for object in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
            let object = object.unwrap_or_else(|error| panic!("{command} prints no JSON: {error}"));
            assert_eq!(schema(&object), version_of(name), "{command}");
            fields(&object, "", printed.entry(name).or_default());
        }
    }
    // `run.json` is described with the trace.
    printed.remove("info");
    for (name, printed) in printed {
        let documented = documented.get(name).unwrap_or_else(|| panic!("the page has no `kizami {name}`"));
        let missing: Vec<&String> = printed.difference(documented).collect();
        assert!(missing.is_empty(), "kizami {name} prints {missing:?}, and the page does not say so");
        let unknown: Vec<&String> = documented
            .difference(&printed)
            .filter(|field| !OF_SOME_MACHINES.contains(&field.as_str()))
            .collect();
        assert!(unknown.is_empty(), "kizami {name} prints no {unknown:?}, and the page says it does");
    }
}

fn version_of(command: &str) -> String {
    match command {
        "info" => "kizami-trace/1".to_owned(),
        other => format!("kizami-{other}/1"),
    }
}

pub fn schema(printed: &Value) -> &str {
    let object = printed.as_array().and_then(|list| list.first()).unwrap_or(printed);
    object["schema"].as_str().expect("every object has its schema")
}

/// Any place may have it: whether it does depends on the program alone.
const OF_ANY_PLACE: &str = "caller";

/// Whether these are there depends on the machine: other machines must have taken its cores.
const OF_SOME_MACHINES: [&str; 1] = ["stolen"];

/// Adds the names of all fields, such as `findings[].place.file`.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object.iter().filter(|(name, _)| *name != OF_ANY_PLACE) {
                let path = below(path, name);
                fields(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| fields(value, &format!("{path}[]"), found)),
        _ => {}
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() || name.starts_with('[') { format!("{path}{name}") } else { format!("{path}.{name}") }
}

/// The fields of each command by the page; a type that is a link stands for the fields of that section.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let mut sections: BTreeMap<String, Vec<(String, Option<String>)>> = BTreeMap::new();
    let mut section = String::new();
    for line in PAGE.lines() {
        if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            section = title.trim_matches('`').trim_start_matches("kizami ").replace(' ', "-");
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if section.is_empty() || cells.len() != 5 || !cells[1].starts_with('`') {
            continue;
        }
        let kind = cells[2].split_once("](#").map(|(_, link)| link.trim_end_matches(')').to_owned());
        for name in cells[1].split(", ") {
            let row = (name.trim_matches('`').to_owned(), kind.clone());
            if row.0 == OF_ANY_PLACE {
                continue;
            }
            sections.entry(section.clone()).or_default().push(row);
        }
    }
    let commands = sections.iter().filter(|(_, rows)| rows.iter().any(|(name, _)| name.ends_with("schema")));
    let expanded = |rows| {
        let mut names = BTreeSet::new();
        expand(rows, "", &sections, &mut names);
        names
    };
    commands.map(|(title, rows)| (title.clone(), expanded(rows))).collect()
}

fn expand(
    rows: &[(String, Option<String>)],
    path: &str,
    sections: &BTreeMap<String, Vec<(String, Option<String>)>>,
    names: &mut BTreeSet<String>,
) {
    for (name, kind) in rows {
        let path = below(path, name);
        if let Some(kind) = kind {
            let rows = sections.get(kind).unwrap_or_else(|| panic!("the page has no section {kind}"));
            expand(rows, &path, sections, names);
        }
        if !path.ends_with("[]") {
            names.insert(path);
        }
    }
}
