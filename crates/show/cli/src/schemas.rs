//! The JSON Schemas in the book are those of the types that `--json` prints.
//!
//! `KIZAMI_WRITE_BOOK=1 cargo nextest run -p kizami-cli schema` writes them after a change. Whether real output is valid is
//! checked by the test `golden`.

use crate::commands::{clocks, doctor, events, machines, platform, predict, reduce, tasks};
use crate::show::json;
use kizami_explain::WhatIf;
use kizami_explain::diff::Diff;
use kizami_phrases::report::WordedReport;
use kizami_predict::Checked;
use kizami_testing::schemas::{Form, check};
use kizami_trace::RunInfo;
use kizami_trace::run::{ReplayedFrom, SCHEMA, Undisturbed};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

/// Compares the schema of what a command prints with the book.
fn is_in_book<T: JsonSchema>(name: &str, command: &str, form: Form) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    check(name, command, form, generator.into_root_schema_for::<T>().to_value());
}

#[test]
fn schemas_of_the_book_are_those_of_the_types() {
    is_in_book::<RunInfo>(SCHEMA, "info --json", Form::Object);
    is_in_book::<clocks::Report<'_>>(json::CLOCKS, "clocks --json", Form::Object);
    is_in_book::<Diff>(json::DIFF, "diff --json", Form::Object);
    is_in_book::<doctor::Checks<'_>>(json::DOCTOR, "doctor --json", Form::Object);
    is_in_book::<events::Row<'_>>(json::EVENTS, "events --json", Form::Line);
    is_in_book::<machines::Listed>(json::MACHINES, "machines --json", Form::Object);
    is_in_book::<platform::Described>(json::PLATFORM, "platform --json", Form::Object);
    is_in_book::<predict::Predicted>(json::PREDICT, "predict --json", Form::Object);
    is_in_book::<Checked>(json::PREDICT_CHECK, "predict --check --json", Form::Object);
    is_in_book::<predict::Sums>(json::PREDICT_SUM, "predict --method sum --json", Form::Object);
    is_in_book::<reduce::Summary<'_>>(json::REDUCE, "reduce --json", Form::Object);
    is_in_book::<ReplayedFrom>(json::REPLAY, "replay --json", Form::Object);
    is_in_book::<WordedReport>(json::REPORT, "report --json", Form::Object);
    is_in_book::<tasks::TasksReport>(json::TASKS, "tasks --json", Form::Object);
    is_in_book::<Undisturbed>(json::UNDISTURB, "undisturb --json", Form::Object);
    is_in_book::<WhatIf<String>>(json::WHATIF, "whatif --json", Form::List);
}
