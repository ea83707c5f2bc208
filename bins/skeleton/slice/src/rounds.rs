//! The whole program with counters: how often each loop between MPI calls really goes round.
//!
//! Only for measuring how many of these rounds a skeleton counts. At the end of each round stands a call of
//! `__kizami_round`, which `rounds.c` defines.

use crate::Error;
use crate::analysis::Analysis;
use crate::builder::Builder;
use crate::llvm::{Handle, Module};
use llvm_sys::core::LLVMInstructionEraseFromParent;
use std::path::Path;

/// The C source that counts.
pub const RUNTIME: &str = concat!(include_str!("noting.c"), include_str!("rounds.c"));

/// Writes the whole program with a counter in each of these loops as bitcode, and leaves the module as it was.
pub fn write_with_rounds(
    module: &Module,
    analysis: &Analysis,
    loops: &[usize],
    file: &Path,
) -> Result<(), Error> {
    let builder = Builder::new(module);
    let mut added: Vec<Handle> = Vec::new();
    for (number, of) in (0..).zip(loops) {
        for latch in &analysis.flow.loops[*of].latches {
            builder.before(analysis.program.value(analysis.program.terminator(*latch)).handle);
            let mut arguments = [builder.number(32, number)];
            added.push(builder.call("__kizami_round", None, &[32], &mut arguments));
        }
    }
    module.write(file)?;
    for call in added {
        // SAFETY: made above, and used by nobody.
        unsafe { LLVMInstructionEraseFromParent(call) };
    }
    Ok(())
}
