//! What was measured, in a few lines.

use crate::show::quantity;
use kizami_machine::Machine;
use std::io::{self, Write};

/// Prints it.
pub fn print(out: &mut impl Write, machine: &Machine) -> io::Result<()> {
    let ranks: Vec<String> = machine.ranks().iter().map(ToString::to_string).collect();
    let about = &machine.about;
    writeln!(out, "machine      {}", about.name)?;
    if !about.mpi.is_empty() {
        writeln!(out, "MPI          {}", about.mpi)?;
    }
    writeln!(
        out,
        "collectives  {} of {} at {} ranks",
        quantity::counted(machine.collectives.len() as u64, "row"),
        quantity::counted(machine.operations().len() as u64, "operation"),
        ranks.join(", ")
    )?;
    writeln!(out, "messages     {}", quantity::counted(machine.messages.len() as u64, "row"))?;
    for disturbed in &about.disturbed {
        writeln!(out, "disturbed    {disturbed}")?;
    }
    Ok(())
}
