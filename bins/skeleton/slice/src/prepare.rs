//! Brings a linked module into the form that is analysed.
//!
//! Constructors of global objects become calls at the start of `main`; exceptions become ends; small functions and those
//! that only wrap an allocation or an MPI call are put into their callers, so that memory they give out is told apart; and
//! what can be a value instead of memory becomes one. Nothing that would hide where something comes from in the source, and
//! nothing that merges conditions, is done.

use crate::Error;
use crate::effects::{is_mark_of_mpi, mpi_function};
use crate::llvm::{self, Handle, Module};
use llvm_sys::comdat::LLVMSetComdat;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMValueKind};
use rustc_hash::FxHashMap;

/// Functions up to so many instructions are put into their callers.
const SMALL: usize = 24;
/// Functions that give memory or call MPI, up to so many.
const WRAPPER: usize = 60;

/// Prepares a module for slicing.
pub fn prepare(module: &Module) -> Result<(), Error> {
    rename_main(module)?;
    call_constructors(module);
    make_local(module);
    module.run_passes(
        "inferattrs,function(lower-invoke,simplifycfg),globaldce,function(sroa,early-cse,simplifycfg)",
    )?;
    for _ in 0..3 {
        if mark_inlined(module) == 0 {
            break;
        }
        module.run_passes("always-inline,globaldce,function(sroa,early-cse,simplifycfg)")?;
    }
    module.run_passes("function(mem2reg,sroa,early-cse,simplifycfg,loop-simplify,lcssa)")?;
    module.verify()
}

/// SimGrid's headers give `main` another name.
fn rename_main(module: &Module) -> Result<(), Error> {
    if module.function("main").is_some_and(|main| !llvm::blocks(main).is_empty()) {
        return Ok(());
    }
    match module.function("smpi_simulated_main_") {
        Some(main) if !llvm::blocks(main).is_empty() => {
            // SAFETY: a function of the living module; the name has the length given.
            unsafe { LLVMSetValueName2(main, c"main".as_ptr(), 4) };
            Ok(())
        }
        _ => Err(Error::NoMain),
    }
}

/// Calls the constructors of global objects at the start of `main`.
fn call_constructors(module: &Module) {
    let Some(main) = module.function("main") else { return };
    // SAFETY: all values are of the living module; `llvm.global_ctors` is an array of (priority, function, data), as LLVM
    // defines it; the new calls stand before the first instruction of `main`.
    unsafe {
        let list = LLVMGetNamedGlobal(module.raw(), c"llvm.global_ctors".as_ptr());
        if list.is_null() {
            return;
        }
        let all = LLVMGetInitializer(list);
        let mut constructors: Vec<(i64, Handle)> = (0..LLVMGetNumOperands(all) as u32)
            .map(|number| LLVMGetOperand(all, number))
            .filter(|entry| LLVMGetNumOperands(*entry) >= 2)
            .map(|entry| (LLVMConstIntGetSExtValue(LLVMGetOperand(entry, 0)), LLVMGetOperand(entry, 1)))
            .collect();
        constructors.sort_by_key(|(priority, _)| *priority);
        let builder = LLVMCreateBuilderInContext(module.context());
        let first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(main));
        LLVMPositionBuilderBefore(builder, first);
        // Calls of functions that can be inlined must have a place in the source.
        let all_of_main = llvm::blocks(main).into_iter().flat_map(llvm::instructions);
        let mut places =
            all_of_main.map(|id| LLVMInstructionGetDebugLoc(id)).filter(|place| !place.is_null());
        if let Some(place) = places.next() {
            LLVMSetCurrentDebugLocation2(builder, place);
        }
        for (_, constructor) in constructors {
            let of = LLVMGlobalGetValueType(constructor);
            LLVMBuildCall2(builder, of, constructor, std::ptr::null_mut(), 0, c"".as_ptr());
        }
        LLVMDisposeBuilder(builder);
        LLVMDeleteGlobal(list);
    }
}

/// Nobody but `main` is called from outside.
pub fn make_local(module: &Module) {
    let defined = module.functions().into_iter().filter(|f| !llvm::blocks(*f).is_empty());
    for value in defined.chain(module.globals()) {
        // SAFETY: globals and functions of the living module; names of LLVM's own are left alone.
        unsafe {
            let name = llvm::name(value);
            let declared = LLVMIsDeclaration(value) != 0;
            if name != "main" && !declared && !name.starts_with("llvm.") && !is_mark_of_mpi(&name) {
                LLVMSetComdat(value, std::ptr::null_mut());
                LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
                LLVMSetVisibility(value, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
            }
        }
    }
}

/// Marks functions that are to be put into their callers; how many.
fn mark_inlined(module: &Module) -> usize {
    let functions = module.functions();
    let sizes: FxHashMap<Handle, usize> = functions.iter().map(|f| (*f, size(*f))).collect();
    let mut marked = 0;
    for function in functions {
        let size = sizes[&function];
        let calls = calls(function);
        if size == 0 || llvm::name(function) == "main" || calls.contains(&function) || is_marked(function) {
            continue;
        }
        let wraps = calls.iter().any(|callee| differs_enough(&llvm::name(*callee)));
        if size <= SMALL || size <= WRAPPER && wraps {
            mark(module, function);
            marked += 1;
        }
    }
    marked
}

fn size(function: Handle) -> usize {
    llvm::blocks(function).into_iter().map(|block| llvm::instructions(block).len()).sum()
}

/// The functions that a function calls by name.
fn calls(function: Handle) -> Vec<Handle> {
    let instructions = llvm::blocks(function).into_iter().flat_map(llvm::instructions);
    // SAFETY: instructions of the living module, asked for a callee only if they are calls.
    unsafe {
        instructions
            .filter(|id| LLVMGetInstructionOpcode(*id) == LLVMOpcode::LLVMCall)
            .map(|call| LLVMGetCalledValue(call))
            .filter(|callee| LLVMGetValueKind(*callee) == LLVMValueKind::LLVMFunctionValueKind)
            .collect()
    }
}

fn differs_enough(callee: &str) -> bool {
    let allocates = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "strdup"];
    allocates.contains(&callee) || callee.starts_with("_Zn") || mpi_function(callee).is_some()
}

fn attribute(name: &'static str) -> u32 {
    // SAFETY: the name has the length given.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

fn is_marked(function: Handle) -> bool {
    let at = llvm_sys::LLVMAttributeFunctionIndex;
    // SAFETY: a function of the living module.
    unsafe { !LLVMGetEnumAttributeAtIndex(function, at, attribute("alwaysinline")).is_null() }
}

fn mark(module: &Module, function: Handle) {
    let at = llvm_sys::LLVMAttributeFunctionIndex;
    // SAFETY: a function of the living module and an attribute of its context.
    unsafe {
        LLVMRemoveEnumAttributeAtIndex(function, at, attribute("noinline"));
        LLVMRemoveEnumAttributeAtIndex(function, at, attribute("optnone"));
        let always = LLVMCreateEnumAttribute(module.context(), attribute("alwaysinline"), 0);
        LLVMAddAttributeAtIndex(function, at, always);
    }
}
