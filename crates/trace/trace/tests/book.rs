//! The book's tables of columns are those of the schema.
//!
//! `KIZAMI_WRITE_BOOK=1 cargo nextest run -p kizami-trace --test book` writes them anew after a change.

use kizami_trace::schema::{Column, TABLES, TableInfo};
use std::fmt::Write;
use std::path::Path;

const PAGE: &str = "../../../docs/src/reference/trace-format.md";
const END: &str = "<!-- end of table -->";

/// Meaning and, behind `Null:`, what a missing value means.
fn meaning(column: &Column) -> (String, String) {
    let text = column.about.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let (meaning, null) = text.split_once("Null:").unwrap_or((&text, ""));
    let plain = |text: &str| text.trim().trim_end_matches('.').replace('|', "\\|");
    // What is a link between types in the code is a name in the book.
    let named = plain(meaning).replace("[`", "`").replace("`]", "`").replace("kizami_model::", "");
    (named, plain(null))
}

fn as_markdown(table: &TableInfo) -> String {
    let mut text = String::from("| Column | Type | Null | Meaning |\n|---|---|---|---|\n");
    for column in table.columns {
        let (meaning, null) = meaning(column);
        let null = match (column.field.nullable, null.is_empty()) {
            (false, _) => "no",
            (true, true) => "yes",
            (true, false) => &null,
        };
        let kind = column.field.kind.name();
        writeln!(text, "| `{}` | {kind} | {null} | {meaning} |", column.field.name).unwrap();
    }
    text
}

#[test]
fn the_book_has_the_columns_of_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let mut written = page.clone();
    for table in TABLES {
        let begin = format!("<!-- table: {} -->\n", table.path);
        let from = written.find(&begin).unwrap_or_else(|| panic!("the book has no {begin}")) + begin.len();
        let to = from + written[from..].find(END).unwrap_or_else(|| panic!("{begin} does not end"));
        written.replace_range(from..to, &as_markdown(table));
    }
    if std::env::var_os("KIZAMI_WRITE_BOOK").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    assert!(
        page == written,
        "{PAGE} is stale: run this test with KIZAMI_WRITE_BOOK=1 and commit what it wrote"
    );
}
