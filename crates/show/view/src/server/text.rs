//! Texts of a trace, as much of them as anybody reads: whoever made the trace may have made them as long as they liked.

use serde_json::Value;

/// Letters of a name that are sent.
const MOST_CHARACTERS: usize = 400;

/// Shortens all texts of an answer.
pub(super) fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > MOST_CHARACTERS => *text = shown(text),
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.iter_mut().for_each(|(_, value)| shorten(value)),
        _ => {}
    }
}

/// As much of a text as anybody reads.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
