//! Other tools read the tables of a trace as they are: DuckDB and Polars find the rows that Kizami tells of.

use crate::mpi::{Scratch, finish, mpi, prepared};
use std::process::Command;

/// Compares what both read with the rows of an export to CSV, which has names where tables have numbers of call sites.
const COMPARE: &str = r#"
import csv, sys
import duckdb, polars

tables = sys.argv[1] + "/events/*.parquet"
frame = polars.read_parquet(tables)
rows = frame.rows()
assert rows == duckdb.sql(f"select * from '{tables}'").fetchall(), "Polars and DuckDB do not read the same"

def cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return " ".join(map(str, value))
    return format(value, "g") if isinstance(value, float) else str(value)

exported = list(csv.reader(sys.stdin))
assert exported[0] == frame.columns, (exported[0], frame.columns)
assert len(exported) == len(rows) + 1, (len(exported), len(rows))
named = frame.columns.index("callsite")
for told, read in zip(exported[1:], rows):
    read = list(map(cell, read))
    told[named] = read[named]
    assert told == read, (told, read)
print(len(rows))
"#;

fn check(name: &'static str) {
    let mpi = mpi(name);
    // Lists, wildcards, sizes that are not known, functions of all kinds, and more rows than a page holds.
    let programs = [
        mpi.workload("coverage", &[]),
        mpi.workload("persistent", &[]),
        mpi.workload("wildcard", &[]),
        mpi.workload("halo", &["12000"]),
    ];
    let mut most = 0;
    for program in programs {
        let scratch = Scratch::new();
        let trace = scratch.path().join("run.kz");
        let output = finish(mpi.record_command(2, &program, scratch.path(), &trace));
        assert!(output.status.success(), "{:?}: {}", program.0, String::from_utf8_lossy(&output.stderr));
        let csv = scratch.path().join("run.csv");
        let exported = Command::new(env!("CARGO_BIN_EXE_kizami"))
            .args(["export", "--to", "csv", "-o"])
            .args([&csv, &trace])
            .output();
        assert!(exported.expect("runs").status.success());
        let compared = Command::new(prepared().join("python/tables/bin/python3"))
            .args(["-c", COMPARE])
            .arg(&trace)
            .stdin(std::fs::File::open(&csv).expect("an export"))
            .output()
            .expect("runs");
        let failed = String::from_utf8_lossy(&compared.stderr);
        assert!(compared.status.success(), "{:?}: {failed}", program.0);
        let rows = String::from_utf8_lossy(&compared.stdout).trim().parse::<u64>().expect("a number");
        most = most.max(rows);
    }
    assert!(most > 70_000, "{most} rows fit into a page");
}

#[test]
fn openmpi() {
    check("openmpi");
}

#[test]
fn mpich() {
    check("mpich");
}
