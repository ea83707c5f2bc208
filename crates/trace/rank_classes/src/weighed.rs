//! Sums over all ranks of a run stored by rank class, and writing one.

use crate::RankClasses;
use kizami_model::{Call, Ending, Length, Op, Rank};
use kizami_trace::run::{FunctionTotal, Totals};
use kizami_trace::write::About;
use kizami_trace::{Definitions, RankInfo, RunInfo, Trace, TraceError, TraceWriter};
use std::collections::BTreeMap;
use std::path::Path;

/// What rows add up to if each counts as often as there are ranks like its own.
#[derive(Clone, Debug, Default)]
pub struct Weighed {
    functions: BTreeMap<u16, FunctionTotal>,
    rows: u64,
}

impl Weighed {
    /// Adds a row that takes so long.
    pub fn add(&mut self, row: &Call, length: Length, classes: &RankClasses) {
        let weight = u64::from(classes.alike(row.rank));
        let sum = self.functions.entry(row.op.0).or_insert_with(|| FunctionTotal {
            op: Op(row.op.0).name().to_owned(),
            calls: 0,
            total_ns: 0,
            bytes_out: 0,
            bytes_in: 0,
        });
        let times = |number: Option<u64>| number.unwrap_or(0).saturating_mul(weight);
        sum.calls += u64::from(row.calls) * weight;
        sum.total_ns = sum.total_ns.saturating_add(length.0.saturating_mul(weight as i64));
        sum.bytes_out = sum.bytes_out.saturating_add(times(row.bytes_out));
        sum.bytes_in = sum.bytes_in.saturating_add(times(row.bytes_in));
        self.rows += 1;
    }

    /// Writes the sums of all ranks to `run.json`.
    pub fn write_to(self, run: &mut RunInfo) {
        let mut functions: Vec<FunctionTotal> = self.functions.into_values().collect();
        functions.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.op.cmp(&b.op)));
        let sum = |of: fn(&FunctionTotal) -> u64| {
            functions.iter().fold(0u64, |all, one| all.saturating_add(of(one)))
        };
        run.totals = Totals {
            events: self.rows,
            calls: sum(|function| function.calls),
            bytes_out: sum(|function| function.bytes_out),
            bytes_in: sum(|function| function.bytes_in),
            mpi_ns: functions.iter().fold(0i64, |all, one| all.saturating_add(one.total_ns)),
            ..run.totals.clone()
        };
        run.functions = functions;
    }
}

/// Writes a trace like another, with these classes; `rows` returns those of a rank, which must be the lowest of its class.
pub fn write(
    like: &Trace,
    mut definitions: Definitions,
    classes: &RankClasses,
    directory: &Path,
    mut rows: impl FnMut(Rank) -> Vec<Call>,
) -> Result<(), TraceError> {
    let run = like.run();
    let about = About {
        executable: run.executable.clone(),
        command: run.command.clone(),
        mpi_library: run.mpi_library.clone(),
        started_unix_ns: run.started_unix_ns,
    };
    definitions.rank_classes = classes.table();
    let mut writer = TraceWriter::create(directory, about, definitions)?;
    for rank in classes.with_rows() {
        for row in rows(*rank) {
            writer.call(&row)?;
        }
    }
    writer.finish(|_| {})?;
    Ok(())
}

/// Entries for ranks of which most have no rows.
pub fn all_ranks(count: u32) -> Vec<RankInfo> {
    let of = |rank| RankInfo { threads: 1, ending: Ending::Finalized, ..RankInfo::absent(Rank(rank)) };
    (0..count).map(of).collect()
}
