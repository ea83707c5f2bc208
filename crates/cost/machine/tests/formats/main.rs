//! Files of other benchmarks in, files for other tools out.

mod export;
mod imb;
mod osu;

use kizami_machine::{CollectiveRow, Machine, MachineError, MessageRow, import};
use std::path::PathBuf;
use tempfile::TempDir;

/// A file of this name with this text.
fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn import_osu(name: &str, text: &str, ranks: Option<u32>) -> Result<Machine, MachineError> {
    let folder = TempDir::new().unwrap();
    import::osu(&[file(&folder, name, text)], ranks)
}

fn import_imb(text: &str) -> Result<Machine, MachineError> {
    let folder = TempDir::new().unwrap();
    import::imb(&[file(&folder, "imb.txt", text)])
}

/// Operation, pattern, bytes, ranks, nanoseconds and repetitions.
fn collectives(machine: &Machine) -> Vec<(&str, &str, u64, u32, f64, u64)> {
    let rounded = |row: &CollectiveRow| row.span_ns.round();
    let rows = machine.collectives.iter();
    rows.map(|row| {
        (row.operation.as_str(), row.pattern.as_str(), row.bytes, row.ranks, rounded(row), row.repetitions)
    })
    .collect()
}

/// Kind, bytes, ranks and nanoseconds.
fn messages(machine: &Machine) -> Vec<(&str, u64, u32, f64)> {
    let rounded = |row: &MessageRow| row.time_ns.round();
    machine.messages.iter().map(|row| (row.kind.as_str(), row.bytes, row.ranks, rounded(row))).collect()
}
