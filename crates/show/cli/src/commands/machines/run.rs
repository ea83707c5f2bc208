//! Machines side by side.

use super::arguments::MachinesArguments;
use crate::show::json;
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use crate::show::text;
use anyhow::Result;
use kizami_machine::Machine;
use kizami_model::{Length, Op};
use kizami_terminal::failure::UsageError;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;

/// A small size and a large one.
const SIZES_BYTES: [u64; 2] = [8, 1 << 20];

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listed {
    /// The machines, in the order given.
    machines: Vec<About>,
    /// The largest number of ranks that all machines have, to which the costs refer; null if there is none.
    ranks: Option<u32>,
    /// Costs of operations, each at a small and a large size; empty if `ranks` is null.
    costs: Vec<Cost>,
}

/// One machine.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct About {
    /// Name of the machine.
    name: String,
    /// MPI library.
    mpi: String,
    /// Measured numbers of ranks.
    ranks: Vec<u32>,
    /// Rows of collectives and messages.
    rows: usize,
    /// How many of them were disturbed.
    disturbed_rows: usize,
}

/// Cost of an operation on each machine.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cost {
    /// The MPI function.
    operation: String,
    /// What one rank moves.
    bytes: u64,
    /// Cost in the order of machines; null where it was not measured.
    cost_ns: Vec<Option<f64>>,
}

/// Lists and compares.
pub fn run(arguments: &MachinesArguments) -> Result<u8> {
    let mut machines = Vec::new();
    for path in &arguments.machines {
        machines.push(Machine::open(path)?);
    }
    if let Some(asked) = &arguments.operation {
        refuse_unknown_operation(&machines, asked)?;
    }
    let listed = listed(&machines, arguments.operation.as_deref());
    if arguments.json {
        json::print(json::MACHINES, &listed)?;
        return Ok(0);
    }
    let mut out = text::stdout();
    let columns =
        [("machine", Align::Left), ("ranks", Align::Left), ("rows", Align::Right), ("MPI", Align::Left)];
    let mut table = Table::new(&mut out, Paint::stdout(), &columns);
    for about in &listed.machines {
        let ranks: Vec<String> = about.ranks.iter().map(ToString::to_string).collect();
        let marked = match about.disturbed_rows {
            0 => String::new(),
            rows => format!(" ({} disturbed)", quantity::count(rows as u64)),
        };
        let rows = format!("{}{marked}", quantity::count(about.rows as u64));
        table.row(vec![about.name.clone(), ranks.join(", "), rows, about.mpi.clone()])?;
    }
    table.finish()?;
    let Some(ranks) = listed.ranks else {
        writeln!(out, "\nthe machines have no number of ranks in common: their costs cannot be compared")?;
        return Ok(0);
    };
    writeln!(out, "\nat {ranks} ranks:")?;
    let mut columns = vec![("operation", Align::Left), ("bytes", Align::Right)];
    columns.extend(listed.machines.iter().map(|about| (about.name.as_str(), Align::Right)));
    let mut table = Table::new(&mut out, Paint::stdout(), &columns);
    for cost in &listed.costs {
        let shown = |ns: &Option<f64>| match ns {
            Some(ns) => quantity::duration(Length::from_nanos_f64(*ns)),
            None => "-".to_owned(),
        };
        let mut cells = vec![cost.operation.clone(), quantity::bytes(cost.bytes)];
        cells.extend(cost.cost_ns.iter().map(shown));
        table.row(cells)?;
    }
    table.finish()?;
    Ok(0)
}

/// Refuses an operation that no machine has.
fn refuse_unknown_operation(machines: &[Machine], asked: &str) -> Result<(), UsageError> {
    let known: BTreeSet<&str> = machines.iter().flat_map(Machine::operations).collect();
    if known.contains(asked) {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    let which = if machines.len() == 1 { "the machine has" } else { "the machines have" };
    Err(UsageError(format!("unknown operation {asked}; {which} {}", known.join(", "))))
}

fn listed(machines: &[Machine], only: Option<&str>) -> Listed {
    let about = |machine: &Machine| About {
        name: machine.about.name.clone(),
        mpi: machine.about.mpi.clone(),
        ranks: machine.ranks().into_iter().collect(),
        rows: machine.collectives.len() + machine.messages.len(),
        disturbed_rows: machine.disturbed(),
    };
    let in_common = machines.iter().map(Machine::ranks).reduce(|one, other| &one & &other);
    let ranks = in_common.and_then(|ranks| ranks.last().copied());
    let costs: Vec<_> = machines.iter().map(Machine::costs).collect();
    let operations: BTreeSet<&str> = machines.iter().flat_map(Machine::operations).collect();
    let mut rows = Vec::new();
    for operation in operations.into_iter().filter(|operation| only.is_none_or(|only| only == *operation)) {
        let (Some(op), Some(ranks)) = (Op::by_name(operation), ranks) else { continue };
        for bytes in SIZES_BYTES {
            let curve = |costs: &kizami_network::MeasuredCosts| {
                costs.collectives.get(&(op, ranks)).map(|curve| curve.at(bytes))
            };
            let cost_ns: Vec<Option<f64>> = costs.iter().map(curve).collect();
            if cost_ns.iter().any(Option::is_some) {
                rows.push(Cost { operation: operation.to_owned(), bytes, cost_ns });
            }
        }
    }
    Listed { machines: machines.iter().map(about).collect(), ranks, costs: rows }
}
