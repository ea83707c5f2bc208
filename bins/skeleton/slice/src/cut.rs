//! Cuts a module down to a slice.
//!
//! What is not kept goes; values that nobody needs become zero. A branch that does not matter goes on towards the end of
//! its function. Oracles take the places of values that depend on data, every MPI call is preceded by its number, and
//! payload that does not matter is a null pointer. What is left is tidied by LLVM and checked.

use crate::Error;
use crate::analysis::Analysis;
use crate::builder::Builder;
use crate::effects::Use;
use crate::llvm::{self, Handle, Module};
use crate::program::*;
use crate::slice::Slice;
use crate::trips::{self, Candidate};
use llvm_sys::core::*;
use rustc_hash::FxHashMap;

/// Passes that tidy what is left.
const TIDYING: &str = "globaldce,function(simplifycfg,adce,simplifycfg),deadargelim,globaldce,\
     function(sroa,early-cse,simplifycfg,adce),globalopt,globaldce,strip-dead-prototypes";

/// What is put into a module in place of what goes.
pub struct Cuts<'a> {
    /// The numbers of MPI calls.
    pub sites: &'a FxHashMap<ValueId, u32>,
    /// The numbers of places that depend on data.
    pub oracles: &'a FxHashMap<ValueId, u32>,
    /// Loops that are counted, in the order of their numbers.
    pub counted: &'a [Candidate],
}

/// Cuts the module down to a slice.
pub fn cut(module: &Module, analysis: &Analysis, slice: &Slice, cuts: &Cuts) -> Result<(), Error> {
    let cutter = Cutter { builder: Builder::new(module), analysis, slice };
    for (candidate, number) in cuts.counted.iter().zip(0..) {
        trips::build(&cutter.builder, analysis.program, candidate, number);
    }
    for (oracle, number) in cuts.oracles {
        cutter.replace_by_oracle(*oracle, *number);
    }
    for (call, number) in cuts.sites {
        cutter.announce(*call, *number);
    }
    for block in 0..analysis.program.blocks.len() {
        cutter.end_block(block as BlockId);
    }
    for block in &analysis.program.blocks {
        for id in block.instructions.iter().rev() {
            cutter.remove(*id);
        }
    }
    drop_promises(module);
    drop_lists(module);
    module.verify()?;
    module.run_passes(TIDYING)?;
    module.verify()
}

struct Cutter<'a> {
    builder: Builder<'a>,
    analysis: &'a Analysis<'a>,
    slice: &'a Slice<'a>,
}

impl Cutter<'_> {
    fn handle(&self, id: ValueId) -> Handle {
        self.analysis.program.value(id).handle
    }

    fn replace_by_oracle(&self, id: ValueId, number: u32) {
        let place = self.handle(id);
        self.builder.behind(place);
        let mut arguments = [self.builder.number(32, i64::from(number))];
        let value = self.builder.call("__kizami_oracle", Some(64), &[32], &mut arguments);
        // SAFETY: both are values of the living module, of the same type after narrowing; the oracle stands behind the
        // place, and so before all that used it.
        unsafe {
            let narrow = self.builder.narrowed(value, LLVMTypeOf(place));
            LLVMReplaceAllUsesWith(place, narrow);
        }
    }

    fn announce(&self, call: ValueId, number: u32) {
        let handle = self.handle(call);
        self.builder.before(handle);
        let mut arguments = [self.builder.number(32, i64::from(number))];
        self.builder.call("__kizami_site", None, &[32], &mut arguments);
        let effects = self.analysis.mpi_call(call).expect("sites are calls of MPI");
        for (place, argument) in self.analysis.program.call_arguments(call).iter().enumerate() {
            let payload = matches!(effects.of(place), Use::Data(_));
            if payload && !self.slice.keeps_payload(call, *argument) {
                // SAFETY: an operand of a call of the living module, replaced by a null of its type.
                unsafe {
                    let null = LLVMConstNull(LLVMTypeOf(LLVMGetOperand(handle, place as u32)));
                    LLVMSetOperand(handle, place as u32, null);
                }
            }
        }
    }

    /// Makes the end of a block go where it always goes, if it does not matter.
    fn end_block(&self, block: BlockId) {
        let program = self.analysis.program;
        let id = program.terminator(block);
        let handle = self.handle(id);
        let onward = self.analysis.flow.onward[block as usize];
        if self.slice.kept[id as usize] {
            return;
        }
        let successors = &program.block(block).successors;
        let to = onward.and_then(|next| successors.iter().position(|to| *to == next)).unwrap_or(0);
        // SAFETY: a terminator of the living module, whose condition is replaced by a constant of its type.
        unsafe {
            match program.instruction(id) {
                Some((_, Action::End(Ending::Branch))) if successors.len() == 2 => {
                    LLVMSetCondition(handle, self.builder.number(1, i64::from(to == 0)));
                }
                Some((_, Action::End(Ending::Switch))) => {
                    LLVMSetOperand(handle, 0, switch_value(handle, to as u32));
                }
                Some((_, Action::End(Ending::Return))) if LLVMGetNumOperands(handle) == 1 => {
                    LLVMSetOperand(handle, 0, LLVMConstNull(LLVMTypeOf(LLVMGetOperand(handle, 0))));
                }
                _ => {}
            }
        }
    }

    fn remove(&self, id: ValueId) {
        let Some((_, action)) = self.analysis.program.instruction(id) else { return };
        if self.slice.kept[id as usize] || matches!(action, Action::End(_)) {
            return;
        }
        let handle = self.handle(id);
        // SAFETY: an instruction of the living module that is no terminator; all its uses are replaced before it goes.
        unsafe {
            let of = LLVMTypeOf(handle);
            if LLVMGetTypeKind(of) != llvm_sys::LLVMTypeKind::LLVMVoidTypeKind
                && !LLVMGetFirstUse(handle).is_null()
            {
                let nothing = match LLVMGetTypeKind(of) {
                    llvm_sys::LLVMTypeKind::LLVMTokenTypeKind => LLVMGetPoison(of),
                    _ => LLVMConstNull(of),
                };
                LLVMReplaceAllUsesWith(handle, nothing);
            }
            LLVMInstructionEraseFromParent(handle);
        }
    }
}

/// A value for which a switch goes to its successor of this number; the first is the default.
///
/// # Safety
/// The handle is a switch of a living module with such a successor.
unsafe fn switch_value(switch: Handle, successor: u32) -> Handle {
    // SAFETY: operands of a switch are the condition, the default, then pairs of value and block.
    unsafe {
        if successor > 0 {
            return LLVMGetOperand(switch, 2 * successor);
        }
        let of = LLVMTypeOf(LLVMGetOperand(switch, 0));
        let cases: Vec<u64> = (2..LLVMGetNumOperands(switch) as u32)
            .step_by(2)
            .map(|number| LLVMConstIntGetZExtValue(LLVMGetOperand(switch, number)))
            .collect();
        let free = (0..).find(|number| !cases.contains(number)).expect("there are more numbers than cases");
        LLVMConstInt(of, free, 0)
    }
}

/// Takes back what was promised about arguments and results: they may be null now.
fn drop_promises(module: &Module) {
    let names = ["nonnull", "dereferenceable", "noundef", "returned", "align", "dereferenceable_or_null"];
    // SAFETY: names with their lengths; functions and calls of the living module.
    unsafe {
        let kinds: Vec<u32> = names
            .iter()
            .map(|name| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()))
            .collect();
        for function in module.functions() {
            let places = 0..=LLVMCountParams(function);
            for (place, kind) in places.flat_map(|place| kinds.iter().map(move |kind| (place, *kind))) {
                LLVMRemoveEnumAttributeAtIndex(function, place, kind);
            }
            for call in llvm::blocks(function).into_iter().flat_map(llvm::instructions) {
                if LLVMGetInstructionOpcode(call) != llvm_sys::LLVMOpcode::LLVMCall {
                    continue;
                }
                let places = 0..=LLVMGetNumArgOperands(call);
                for (place, kind) in places.flat_map(|place| kinds.iter().map(move |kind| (place, *kind))) {
                    LLVMRemoveCallSiteEnumAttribute(call, place, kind);
                }
            }
        }
    }
}

/// Lists of LLVM that hold on to what nobody needs.
fn drop_lists(module: &Module) {
    for name in [c"llvm.used", c"llvm.compiler.used", c"llvm.global_dtors"] {
        // SAFETY: the module lives, the names end with zeros, and nothing refers to these lists.
        unsafe {
            let list = LLVMGetNamedGlobal(module.raw(), name.as_ptr());
            if !list.is_null() {
                LLVMDeleteGlobal(list);
            }
        }
    }
}
