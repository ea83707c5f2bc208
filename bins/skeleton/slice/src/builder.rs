//! Puts instructions into a module.

use crate::llvm::{Handle, Module};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use llvm_sys::prelude::*;
use std::ffi::CString;

/// Builds instructions in one module.
pub struct Builder<'a> {
    module: &'a Module,
    builder: LLVMBuilderRef,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this type and not used afterwards.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl<'a> Builder<'a> {
    /// A builder for a module.
    pub fn new(module: &'a Module) -> Builder<'a> {
        // SAFETY: the context lives as long as the module, which outlives the builder.
        let builder = unsafe { LLVMCreateBuilderInContext(module.context()) };
        Builder { module, builder }
    }

    /// LLVM's own reference.
    pub fn raw(&self) -> LLVMBuilderRef {
        self.builder
    }

    /// The type of integers of so many bits.
    pub fn integer(&self, bits: u32) -> LLVMTypeRef {
        // SAFETY: the context lives.
        unsafe { LLVMIntTypeInContext(self.module.context(), bits) }
    }

    /// A constant.
    pub fn number(&self, bits: u32, number: i64) -> Handle {
        // SAFETY: the type is of the living context.
        unsafe { LLVMConstInt(self.integer(bits), number as u64, 0) }
    }

    /// Builds before an instruction from now on, with its place in the source.
    pub fn before(&self, instruction: Handle) {
        // SAFETY: an instruction of the living module.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, instruction);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(instruction));
        }
    }

    /// Builds behind an instruction, or behind all phis of its block if it is one.
    pub fn behind(&self, instruction: Handle) {
        // SAFETY: an instruction of the living module that is no terminator: another one follows.
        unsafe {
            let mut next = LLVMGetNextInstruction(instruction);
            while LLVMGetInstructionOpcode(next) == llvm_sys::LLVMOpcode::LLVMPHI {
                next = LLVMGetNextInstruction(next);
            }
            LLVMPositionBuilderBefore(self.builder, next);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(instruction));
        }
    }

    /// Calls one of the functions that a skeleton has besides those of the program.
    pub fn call(&self, name: &str, result: Option<u32>, bits: &[u32], arguments: &mut [Handle]) -> Handle {
        let text = CString::new(name).expect("names have no zeros");
        // SAFETY: types, function and arguments are of the living module, and fit each other as the callers give them.
        unsafe {
            let result = match result {
                Some(bits) => self.integer(bits),
                None => LLVMVoidTypeInContext(self.module.context()),
            };
            let mut types: Vec<LLVMTypeRef> = bits.iter().map(|bits| self.integer(*bits)).collect();
            let of = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
            let function = self
                .module
                .function(name)
                .unwrap_or_else(|| LLVMAddFunction(self.module.raw(), text.as_ptr(), of));
            let count = arguments.len() as u32;
            LLVMBuildCall2(self.builder, of, function, arguments.as_mut_ptr(), count, c"".as_ptr())
        }
    }

    /// Makes an integer as wide as 64 bits, with its sign.
    pub fn widened(&self, value: Handle) -> Handle {
        // SAFETY: an integer of the living module.
        unsafe {
            let of = LLVMTypeOf(value);
            assert!(LLVMGetTypeKind(of) == LLVMTypeKind::LLVMIntegerTypeKind, "only integers are widened");
            match LLVMGetIntTypeWidth(of) {
                64 => value,
                1 => LLVMBuildZExt(self.builder, value, self.integer(64), c"".as_ptr()),
                _ => LLVMBuildSExt(self.builder, value, self.integer(64), c"".as_ptr()),
            }
        }
    }

    /// Makes 64 bits as narrow as a type.
    pub fn narrowed(&self, value: Handle, of: LLVMTypeRef) -> Handle {
        // SAFETY: an integer of 64 bits and a type of integers of the living module.
        unsafe {
            if LLVMGetIntTypeWidth(of) >= 64 {
                return value;
            }
            LLVMBuildTrunc(self.builder, value, of, c"".as_ptr())
        }
    }
}
