//! What a platform file may ask of its parser, looked at before it is parsed: one pass over the text.
//!
//! The parser compares each attribute of an element with all others, copies the namespaces of an element to those within it,
//! and replaces entities by what they stand for, so that a small file can ask for much time and memory. No platform of
//! SimGrid needs many attributes, namespaces or entities of its own.

use super::PlatformError;

/// Larger files are refused; who reads one need read no further than a byte behind this.
pub const MOST_FILE_BYTES: u64 = 256 << 20;

const MOST_ATTRIBUTES: usize = 64;
const DEEPEST: usize = 64;

/// Refuses what would take the parser longer than its size warrants.
pub(super) fn check(text: &str) -> Result<(), PlatformError> {
    if text.len() as u64 > MOST_FILE_BYTES {
        let why = format!("it is larger than {} MiB", MOST_FILE_BYTES >> 20);
        return Err(PlatformError::File { line: 1, why });
    }
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(found) = text[at..].find('<') {
        let begin = at + found;
        let rest = &text[begin..];
        at = begin + length(rest);
        let is_element = !["<!", "<?"].iter().any(|other| rest.starts_with(other));
        let markup = &text[begin..at];
        if is_element && markup.starts_with("</") {
            depth = depth.saturating_sub(1);
        } else if is_element && !markup.ends_with("/>") {
            depth += 1;
        }
        let why = if depth > DEEPEST {
            format!("elements lie more than {DEEPEST} deep in each other")
        } else if is_element && unquoted(markup, '=') > MOST_ATTRIBUTES {
            format!("an element has more than {MOST_ATTRIBUTES} attributes")
        } else if is_element && markup.contains("xmlns") {
            "namespaces are not read".to_owned()
        } else if markup.starts_with("<!DOCTYPE") && unquoted(markup, '[') > 0 {
            "its DOCTYPE declares something; leave only SYSTEM \"https://simgrid.org/simgrid.dtd\"".to_owned()
        } else {
            continue;
        };
        let line = 1 + text[..begin].bytes().filter(|byte| *byte == b'\n').count() as u32;
        return Err(PlatformError::File { line, why });
    }
    Ok(())
}

/// How long the comment, section, instruction or tag is that a text begins with.
fn length(text: &str) -> usize {
    let others = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
    if let Some((begin, end)) = others.iter().find(|(begin, _)| text.starts_with(begin)) {
        let found = text[begin.len()..].find(end);
        return found.map_or(text.len(), |found| begin.len() + found + end.len());
    }
    let mut outside = outside_quotes(text);
    outside.find(|(_, byte)| *byte == b'>').map_or(text.len(), |(at, _)| at + 1)
}

/// How often a character stands in a tag outside of what is quoted.
fn unquoted(tag: &str, character: char) -> usize {
    outside_quotes(tag).filter(|(_, byte)| char::from(*byte) == character).count()
}

fn outside_quotes(tag: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut quote = None;
    tag.bytes().enumerate().filter(move |(_, byte)| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), _) if open == *byte => quote = None,
            (None, _) => return true,
            (Some(_), _) => {}
        }
        false
    })
}
