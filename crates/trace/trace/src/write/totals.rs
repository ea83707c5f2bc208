//! Sums over the calls of a trace, function by function.

use super::rows::Rows;
use crate::run::FunctionTotal;
use crate::schema::NULL64;
use kizami_model::{Op, function};
use kizami_wire::wire_struct;

/// Sums over the calls of one function.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpTotal {
    /// Rows.
    pub rows: u64,
    /// Calls they stand for.
    pub calls: u64,
    /// Time inside them.
    pub total_ns: i64,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes obtained.
    pub bytes_in: u64,
    /// What recording them cost.
    pub overhead_ns: i64,
}

wire_struct!(OpTotal { rows, calls, total_ns, bytes_out, bytes_in, overhead_ns });

impl OpTotal {
    fn plus(&mut self, other: &OpTotal) {
        self.rows = self.rows.saturating_add(other.rows);
        self.calls = self.calls.saturating_add(other.calls);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.overhead_ns = self.overhead_ns.saturating_add(other.overhead_ns);
    }
}

/// Sums over all functions.
#[derive(Clone, Debug)]
pub struct OpTotals(Vec<OpTotal>);

impl Default for OpTotals {
    fn default() -> OpTotals {
        OpTotals(vec![OpTotal::default(); function::functions().len() + 1])
    }
}

impl OpTotals {
    pub(super) fn add_rows(&mut self, rows: &Rows) {
        for row in 0..rows.len() {
            let Some(total) = self.0.get_mut(usize::from(rows.op.at(row).0)) else { continue };
            total.rows += 1;
            if rows.kept.at(row) {
                continue;
            }
            total.calls += rows.calls.at(row) as u64;
            let length_ns = rows.end_ns.at(row).saturating_sub(rows.start_ns.at(row));
            let polls = rows.calls.at(row) > 1 && rows.inside_ns.at(row) != NULL64;
            let time = if polls { rows.inside_ns.at(row) } else { length_ns };
            total.total_ns = total.total_ns.saturating_add(time);
            // Missing bytes are negative.
            total.bytes_out = total.bytes_out.saturating_add(rows.bytes_out.at(row).max(0) as u64);
            total.bytes_in = total.bytes_in.saturating_add(rows.bytes_in.at(row).max(0) as u64);
            total.overhead_ns = total.overhead_ns.saturating_add(i64::from(rows.overhead_ns.at(row)));
        }
    }

    /// Adds sums that are known without rows.
    pub fn add_sums(&mut self, op: Op, sums: &OpTotal) {
        let Some(total) = self.0.get_mut(usize::from(op.0)) else { return };
        total.plus(sums);
    }

    /// Sums of each function, in the order of their numbers.
    pub fn by_number(&self) -> &[OpTotal] {
        &self.0
    }

    /// Adds those of another part.
    pub fn add(&mut self, other: &OpTotals) {
        for (total, other) in self.0.iter_mut().zip(&other.0) {
            total.plus(other);
        }
    }

    /// Over all functions.
    pub fn sum(&self) -> OpTotal {
        let mut sum = OpTotal::default();
        self.0.iter().for_each(|total| sum.plus(total));
        sum
    }

    /// Functions that were called, longest total time first.
    pub fn by_function(&self) -> Vec<FunctionTotal> {
        let called = self.0.iter().zip(0..).filter(|(total, _)| total.rows > 0 || total.calls > 0);
        let mut functions: Vec<FunctionTotal> = called
            .map(|(total, number)| FunctionTotal {
                op: Op(number).name().to_owned(),
                calls: total.calls,
                total_ns: total.total_ns,
                bytes_out: total.bytes_out,
                bytes_in: total.bytes_in,
            })
            .collect();
        functions.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.op.cmp(&b.op)));
        functions
    }
}
