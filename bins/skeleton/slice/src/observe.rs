//! The whole program with notes: what the places that depend on data turn out to be in a real run.
//!
//! Behind each such value stands a call of `__kizami_note`, which `observe.c` defines: it is compiled and linked with the
//! program, keeps the values of each place run-length encoded, and writes them when the process ends.

use crate::Error;
use crate::analysis::Analysis;
use crate::builder::Builder;
use crate::llvm::{Handle, Module};
use crate::program::*;
use llvm_sys::core::LLVMInstructionEraseFromParent;
use rustc_hash::FxHashMap;
use std::path::Path;

/// The C source that notes the values.
pub const RUNTIME: &str = concat!(include_str!("noting.c"), include_str!("observe.c"));

/// Writes the whole program with notes as bitcode, and leaves the module as it was.
pub fn write_with_notes(
    module: &Module,
    analysis: &Analysis,
    oracles: &FxHashMap<ValueId, u32>,
    file: &Path,
) -> Result<(), Error> {
    let builder = Builder::new(module);
    let mut added: Vec<Handle> = Vec::new();
    for (id, number) in oracles {
        let value = analysis.program.value(*id).handle;
        builder.behind(value);
        let wide = builder.widened(value);
        let mut arguments = [builder.number(32, i64::from(*number)), wide];
        added.push(builder.call("__kizami_note", None, &[32, 64], &mut arguments));
        if wide != value {
            added.push(wide);
        }
    }
    module.write(file)?;
    for instruction in added {
        // SAFETY: made above, in an order in which users come before what they use, and used by nobody else.
        unsafe { LLVMInstructionEraseFromParent(instruction) };
    }
    Ok(())
}
