//! Writes the table of the page's files: all of `assets/`, by name.

use std::fmt::Write;
use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(&folder).expect("crates/view/assets is there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.expect("assets can be listed").file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    let mut table = String::from("&[\n");
    for name in &names {
        let path = folder.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),").expect("text can be written");
    }
    table.push(']');
    let output = std::env::var_os("OUT_DIR").expect("cargo says where to write");
    std::fs::write(Path::new(&output).join("assets.rs"), table).expect("the table can be written");
}
