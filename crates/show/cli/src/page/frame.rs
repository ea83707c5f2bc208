//! What every page has: its head and foot, titles of sections, tables.

use super::markup::Markup;
use crate::sections::tables::{Kind, Part, Section};

const STYLE: &str = include_str!("style.css");

/// Everything before the first section. No script may run, and nothing is loaded but pictures inside the page.
pub fn begin(out: &mut Markup, title: &str) {
    out.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; ");
    out.raw("img-src data:; base-uri 'none'; form-action 'none'\">\n");
    out.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    out.text(title).raw("</title>\n<style>\n").raw(STYLE).raw("</style>\n</head>\n");
    out.raw("<body>\n<main>\n");
}

/// Everything behind the last section, with what the page is made from.
pub fn end(out: &mut Markup, made_from: impl FnOnce(&mut Markup)) {
    out.raw("</main>\n<footer>");
    made_from(out);
    out.raw("; written by Kizami ").raw(env!("CARGO_PKG_VERSION")).raw("</footer>\n</body>\n</html>\n");
}

/// Says how figures came to be: recorded, corrected or predicted.
pub fn badge(out: &mut Markup, word: Option<&'static str>) {
    if let Some(word) = word {
        out.raw(" <span class=\"badge ").raw(word).raw("\">").raw(word).raw("</span>");
    }
}

/// Everything before the title of a section.
pub fn open_section(out: &mut Markup, part: Option<Part>) {
    // Both tables of calls are narrow: they stand side by side where there is room.
    let narrow = matches!(part, Some(Part::Functions | Part::Places));
    out.raw(if narrow { "<section class=\"narrow\">\n<h2>" } else { "<section>\n<h2>" });
}

/// The table of a section, if it has rows.
pub fn table(out: &mut Markup, section: &Section) {
    if section.rows.is_empty() {
        return;
    }
    let numbered = section.part == Part::Path;
    out.raw("<div class=\"scroll\"><table").raw(if numbered { " class=\"numbered\"" } else { "" });
    out.raw(">\n<thead><tr>");
    for column in &section.columns {
        out.raw("<th scope=\"col\"").raw(class(column.kind)).raw(">").text(column.name).raw("</th>");
    }
    out.raw("</tr></thead>\n<tbody>\n");
    for row in &section.rows {
        out.raw("<tr>");
        for (cell, column) in row.iter().zip(&section.columns) {
            out.raw("<td").raw(class(column.kind)).raw(">").text(cell).raw("</td>");
        }
        out.raw("</tr>\n");
    }
    out.raw("</tbody>\n</table></div>\n");
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => " class=\"n\"",
        Kind::Words => "",
        Kind::Code => " class=\"c\"",
    }
}
