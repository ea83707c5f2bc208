//! The JSON Schemas in the book: compared with those of the types that commands print, and used to check what they print.
//!
//! Tests that compare them write them instead if `KIZAMI_WRITE_BOOK` is set.

use serde_json::{Map, Value, json};
use std::path::PathBuf;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src/reference/schemas");

/// How a command prints its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One object.
    Object,
    /// One object per line.
    Line,
    /// A list of objects.
    List,
}

/// Compares the schema in the book with that of a type, as `schemars` derives it. `name` is such as `kizami-report/1`.
pub fn check(name: &str, command: &str, form: Form, schema: Value) {
    let schema = complete(name, command, form, schema);
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).expect("JSON"));
    let path = path(name);
    if std::env::var_os("KIZAMI_WRITE_BOOK").is_some() {
        std::fs::write(&path, text).expect("the schema is written");
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "{} is stale: run this test with KIZAMI_WRITE_BOOK=1 and commit what it wrote",
        path.display()
    );
}

/// The schema in the book. Panics if there is none.
pub fn committed(name: &str) -> Value {
    let path = path(name);
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).expect("a schema is JSON")
}

/// The name without its version: versions that are no longer printed have no schema.
fn path(name: &str) -> PathBuf {
    let name = name.split_once('/').map_or(name, |(name, _)| name);
    PathBuf::from(FOLDER).join(format!("{name}.json"))
}

/// Adds what the type does not show: the field `schema`, and what the whole is.
fn complete(name: &str, command: &str, form: Form, schema: Value) -> Value {
    let Value::Object(mut schema) = schema else { panic!("the schema of an object is an object") };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    properties["schema"] = json!({ "const": name, "description": "Command and version of the format." });
    let required = schema.entry("required").or_insert_with(|| json!([]));
    let required = required.as_array_mut().expect("a list of names");
    required.retain(|field| field != "schema");
    required.insert(0, json!("schema"));
    let (dialect, definitions) = (schema.remove("$schema"), schema.remove("$defs"));
    let what = match form {
        Form::Object | Form::List => format!("Output of `kizami {command}`."),
        Form::Line => format!("A line of the output of `kizami {command}`."),
    };
    schema.remove("title");
    schema.remove("description");
    if form == Form::List {
        schema = Map::from_iter([("type".to_owned(), json!("array")), ("items".to_owned(), schema.into())]);
    }
    schema.insert("title".to_owned(), json!(name));
    schema.insert("description".to_owned(), json!(what));
    schema.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
    schema.extend(definitions.map(|definitions| ("$defs".to_owned(), definitions)));
    let mut schema = Value::Object(schema);
    plain(&mut schema);
    schema
}

/// Removes what only programs in Rust use: formats such as `uint32`, which strict validators refuse, defaults for older files,
/// and all but the first paragraph of a comment.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, value| !(name == "format" && value.is_string() || name == "default"));
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(list) => list.iter_mut().for_each(plain),
        _ => {}
    }
}

/// What a value violates of a schema; none if it is valid. Knows the keywords that schemas of the book use, and panics on
/// any other.
pub fn violation(schema: &Value, value: &Value) -> Option<String> {
    Validator { root: schema }.violation(schema, value, "")
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn violation(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let Value::Object(keywords) = schema else {
            return (schema == &json!(false)).then(|| format!("{at} must not be there"));
        };
        keywords.iter().find_map(|(keyword, rule)| self.violation_of(keyword, rule, value, at))
    }

    fn violation_of(&self, keyword: &str, rule: &Value, value: &Value, at: &str) -> Option<String> {
        let unless = |valid: bool| (!valid).then(|| format!("{at} is {value}, against {keyword} {rule}"));
        let valid_by = |schema: &&Value| self.violation(schema, value, at).is_none();
        match keyword {
            "$schema" | "$defs" | "title" | "description" => None,
            "$ref" => {
                let pointer =
                    rule.as_str().and_then(|path| path.strip_prefix('#')).expect("a local reference");
                let schema = self.root.pointer(pointer).unwrap_or_else(|| panic!("there is no {pointer}"));
                self.violation(schema, value, at)
            }
            "type" => unless(match rule {
                Value::Array(types) => types.iter().any(|kind| is_of_type(value, kind)),
                kind => is_of_type(value, kind),
            }),
            "const" => unless(value == rule),
            "enum" => unless(members(rule).any(|one| one == value)),
            "anyOf" => unless(members(rule).any(|schema| valid_by(&schema))),
            "oneOf" => unless(members(rule).filter(valid_by).count() == 1),
            "minimum" => unless(value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64())),
            "maximum" => unless(value.as_f64().is_none_or(|number| Some(number) <= rule.as_f64())),
            "minItems" => unless(length(value).is_none_or(|length| Some(length) >= rule.as_u64())),
            "maxItems" => unless(length(value).is_none_or(|length| Some(length) <= rule.as_u64())),
            "required" => {
                unless(members(rule).all(|name| value.get(name.as_str().expect("a name")).is_some()))
            }
            "properties" => {
                let fields = rule.as_object().expect("properties have names").iter();
                fields
                    .filter_map(|(name, schema)| Some((name, schema, value.get(name)?)))
                    .find_map(|(name, schema, value)| self.violation(schema, value, &format!("{at}.{name}")))
            }
            "additionalProperties" => {
                let mut fields = value.as_object().into_iter().flatten();
                fields.find_map(|(name, value)| self.violation(rule, value, &format!("{at}.{name}")))
            }
            "items" => {
                let mut parts = value.as_array().into_iter().flatten().enumerate();
                parts.find_map(|(index, value)| self.violation(rule, value, &format!("{at}[{index}]")))
            }
            "prefixItems" => {
                let mut parts = value.as_array().into_iter().flatten().zip(members(rule)).enumerate();
                parts
                    .find_map(|(index, (value, rule))| self.violation(rule, value, &format!("{at}[{index}]")))
            }
            _ => panic!("the keyword {keyword} is not known"),
        }
    }
}

fn members(rule: &Value) -> impl Iterator<Item = &Value> {
    rule.as_array().expect("a list").iter()
}

fn length(value: &Value) -> Option<u64> {
    value.as_array().map(|list| list.len() as u64)
}

fn is_of_type(value: &Value, kind: &Value) -> bool {
    match kind.as_str().expect("the name of a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        kind => panic!("there is no type {kind}"),
    }
}
