//! From a module of LLVM to the tables of a [`Program`].

use super::*;
use crate::llvm::{self, Module};
use llvm_sys::LLVMOpcode::*;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind, LLVMValueKind};

impl Program {
    /// Reads all of a module.
    pub fn read(module: &Module) -> Program {
        // SAFETY: the layout is owned by the living module.
        let layout = unsafe { LLVMGetModuleDataLayout(module.raw()) };
        let empty = Program {
            values: Vec::new(),
            functions: Vec::new(),
            blocks: Vec::new(),
            users: Vec::new(),
            by_handle: FxHashMap::default(),
        };
        let mut reader =
            Reader { program: empty, layout, numbers: FxHashMap::default(), blocks: FxHashMap::default() };
        let functions = module.functions();
        functions.iter().for_each(|function| reader.declare(*function));
        let globals: Vec<ValueId> = module.globals().into_iter().map(|global| reader.value(global)).collect();
        functions.iter().for_each(|function| reader.number_body(*function));
        for number in 0..functions.len() {
            reader.body(number as FunctionId);
        }
        globals.into_iter().for_each(|global| reader.global(global));
        reader.finish()
    }
}

struct Reader {
    program: Program,
    layout: LLVMTargetDataRef,
    numbers: FxHashMap<Handle, FunctionId>,
    blocks: FxHashMap<LLVMBasicBlockRef, BlockId>,
}

impl Reader {
    fn push(&mut self, handle: Handle, is: Is) -> ValueId {
        let id = self.program.values.len() as ValueId;
        // SAFETY: the handle is of the living module.
        let kind = kind_of(unsafe { LLVMTypeOf(handle) });
        self.program.values.push(Value { handle, kind, operands: Vec::new(), is });
        self.program.by_handle.insert(handle, id);
        id
    }

    fn declare(&mut self, handle: Handle) {
        let number = self.program.functions.len() as FunctionId;
        let value = self.push(handle, Is::Function(number));
        self.numbers.insert(handle, number);
        // SAFETY: the handle is a function of the living module; the attribute's name has the length given.
        let (variadic, never_returns) = unsafe {
            let kind = LLVMGetEnumAttributeKindForName(c"noreturn".as_ptr(), 8);
            let noreturn = LLVMGetEnumAttributeAtIndex(handle, llvm_sys::LLVMAttributeFunctionIndex, kind);
            (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(handle)) != 0, !noreturn.is_null())
        };
        self.program.functions.push(Function {
            name: llvm::name(handle),
            value,
            arguments: Vec::new(),
            variadic,
            blocks: Vec::new(),
            never_returns,
        });
    }

    /// Gives arguments, blocks and instructions their numbers, so that operands can refer to what comes later.
    fn number_body(&mut self, handle: Handle) {
        let function = self.numbers[&handle];
        // SAFETY: the handle is a function of the living module, with as many arguments as it says.
        let arguments: Vec<Handle> =
            unsafe { (0..LLVMCountParams(handle)).map(|number| LLVMGetParam(handle, number)).collect() };
        for (number, argument) in arguments.into_iter().enumerate() {
            let id = self.push(argument, Is::Argument(function, number as u32));
            self.program.functions[function as usize].arguments.push(id);
        }
        for block in llvm::blocks(handle) {
            let id = self.program.blocks.len() as BlockId;
            self.blocks.insert(block, id);
            let instructions = llvm::instructions(block)
                .into_iter()
                .map(|i| self.push(i, Is::Instruction(id, Action::Else)));
            let instructions = instructions.collect();
            self.program.blocks.push(Block { function, instructions, successors: Vec::new() });
            self.program.functions[function as usize].blocks.push(id);
        }
    }

    fn body(&mut self, function: FunctionId) {
        for block in self.program.function(function).blocks.clone() {
            for id in self.program.block(block).instructions.clone() {
                let handle = self.program.value(id).handle;
                // SAFETY: an instruction of the living module.
                let opcode = unsafe { LLVMGetInstructionOpcode(handle) };
                let operands = self.operands(handle, opcode);
                let action = self.action(handle, opcode);
                let value = &mut self.program.values[id as usize];
                value.operands = operands;
                value.is = Is::Instruction(block, action);
            }
            let last = self.program.value(self.program.terminator(block)).handle;
            // SAFETY: the last instruction of a block of a well-formed module is a terminator.
            let successors = unsafe {
                (0..LLVMGetNumSuccessors(last)).map(|n| self.blocks[&LLVMGetSuccessor(last, n)]).collect()
            };
            self.program.blocks[block as usize].successors = successors;
        }
    }

    /// The operands that are values: blocks are left out, and so are the case values of switches.
    fn operands(&mut self, handle: Handle, opcode: LLVMOpcode) -> Vec<ValueId> {
        // SAFETY: an instruction or constant expression of the living module; operands in range.
        unsafe {
            let all = LLVMGetNumOperands(handle) as u32;
            let count = match opcode {
                LLVMBr => u32::from(LLVMIsConditional(handle) != 0),
                LLVMSwitch | LLVMIndirectBr => 1,
                _ => all,
            };
            (0..count)
                .map(|number| LLVMGetOperand(handle, number))
                .filter(|operand| LLVMValueIsBasicBlock(*operand) == 0)
                .map(|operand| self.value(operand))
                .collect()
        }
    }

    fn action(&mut self, handle: Handle, opcode: LLVMOpcode) -> Action {
        match opcode {
            LLVMAlloca => Action::Alloca,
            // SAFETY: loads and stores have the operands asked for, of types with a size.
            LLVMLoad => Action::Load(unsafe { LLVMStoreSizeOfType(self.layout, LLVMTypeOf(handle)) }),
            // SAFETY: as above.
            LLVMStore => Action::Store(unsafe {
                LLVMStoreSizeOfType(self.layout, LLVMTypeOf(LLVMGetOperand(handle, 0)))
            }),
            LLVMGetElementPtr => Action::Offset(self.offset(handle)),
            // SAFETY: a phi with as many incoming blocks as it says.
            LLVMPHI => Action::Phi(unsafe {
                (0..LLVMCountIncoming(handle))
                    .map(|n| self.blocks[&LLVMGetIncomingBlock(handle, n)])
                    .collect()
            }),
            LLVMSelect => Action::Select,
            LLVMFCmp => Action::CompareFloats,
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr
            | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMICmp | LLVMFreeze => Action::Arithmetic,
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP
            | LLVMFPTrunc | LLVMFPExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast => {
                Action::Cast
            }
            LLVMCall | LLVMInvoke => Action::Call(self.callee(handle)),
            LLVMBr => Action::End(Ending::Branch),
            LLVMSwitch => Action::End(Ending::Switch),
            LLVMRet => Action::End(Ending::Return),
            LLVMUnreachable => Action::End(Ending::Unreachable),
            LLVMIndirectBr | LLVMResume | LLVMCleanupRet | LLVMCatchRet | LLVMCatchSwitch | LLVMCallBr => {
                Action::End(Ending::Other)
            }
            _ => Action::Else,
        }
    }

    fn callee(&self, handle: Handle) -> Callee {
        // SAFETY: a call of the living module.
        let called = unsafe { LLVMGetCalledValue(handle) };
        // SAFETY: a value of the living module.
        match self.numbers.get(&called) {
            Some(function) => Callee::Direct(*function),
            // SAFETY: a value of the living module.
            None if unsafe { LLVMGetValueKind(called) } == LLVMValueKind::LLVMInlineAsmValueKind => {
                Callee::Assembly
            }
            None => Callee::Indirect,
        }
    }

    /// How far a GEP, an instruction or a constant, moves its base.
    fn offset(&self, handle: Handle) -> Offset {
        let mut moved = Offset { bytes: 0, strides: Vec::new(), width: 0, field: None };
        // SAFETY: a GEP of the living module: operands and types are those it was made with.
        unsafe {
            let mut at = LLVMGetGEPSourceElementType(handle);
            for number in 1..LLVMGetNumOperands(handle) as u32 {
                let index = LLVMGetOperand(handle, number);
                let constant = constant_number(index);
                if number > 1 && LLVMGetTypeKind(at) == LLVMTypeKind::LLVMStructTypeKind {
                    let field = constant.unwrap_or(0) as u32;
                    moved.bytes += LLVMOffsetOfElement(self.layout, at, field) as i64;
                    at = LLVMStructGetTypeAtIndex(at, field);
                    moved.field = Some(LLVMABISizeOfType(self.layout, at)).filter(|size| *size > 0);
                    continue;
                }
                let mut elements = 0;
                if number > 1 {
                    if LLVMGetTypeKind(at) == LLVMTypeKind::LLVMArrayTypeKind {
                        elements = LLVMGetArrayLength2(at);
                    }
                    at = LLVMGetElementType(at);
                }
                let size = LLVMABISizeOfType(self.layout, at);
                match constant {
                    Some(times) => moved.bytes += times * size as i64,
                    // An array of structures that is an object by itself: its fields stay apart.
                    None if number == 2 && elements > 1 && is_record(at) && is_object(handle) => {
                        moved.strides.push(size)
                    }
                    // Arrays of one element at the end of structures are as long as the memory behind them.
                    None if elements > 1 => moved.width += (elements - 1) * size,
                    None => moved.strides.push(size),
                }
            }
        }
        moved
    }

    /// The number of any value, read when it is first seen if it is a constant.
    fn value(&mut self, handle: Handle) -> ValueId {
        if let Some(known) = self.program.by_handle.get(&handle) {
            return *known;
        }
        // SAFETY: a constant of the living module.
        let kind = unsafe { LLVMGetValueKind(handle) };
        match kind {
            LLVMValueKind::LLVMConstantIntValueKind => {
                let number = constant_number(handle);
                self.push(handle, number.map_or(Is::Constant, Is::Number))
            }
            LLVMValueKind::LLVMGlobalVariableValueKind => {
                let global = Global { size: 0, addresses: Vec::new(), number: None, defined: false };
                self.push(handle, Is::Global(global))
            }
            LLVMValueKind::LLVMConstantExprValueKind => self.expression(handle),
            LLVMValueKind::LLVMGlobalAliasValueKind => {
                // SAFETY: an alias has an aliasee.
                let target = unsafe { LLVMAliasGetAliasee(handle) };
                let target = self.value(target);
                let id = self.push(handle, Is::ConstantAddress(0));
                self.program.values[id as usize].operands = vec![target];
                id
            }
            _ => self.push(handle, Is::Constant),
        }
    }

    fn expression(&mut self, handle: Handle) -> ValueId {
        // SAFETY: a constant expression of the living module.
        let opcode = unsafe { LLVMGetConstOpcode(handle) };
        let operands = self.operands(handle, opcode);
        let is = if opcode == LLVMGetElementPtr {
            Is::ConstantAddress(self.offset(handle).bytes)
        } else {
            Is::Constant
        };
        let id = self.push(handle, is);
        self.program.values[id as usize].operands = operands;
        id
    }

    fn global(&mut self, id: ValueId) {
        let handle = self.program.value(id).handle;
        let mut addresses = Vec::new();
        // SAFETY: a global variable of the living module; its value type may lack a size if it is only declared.
        let (size, number, defined) = unsafe {
            let of = LLVMGlobalGetValueType(handle);
            let size = if LLVMTypeIsSized(of) != 0 { LLVMABISizeOfType(self.layout, of) } else { 0 };
            let initial = LLVMGetInitializer(handle);
            let mut number = None;
            if !initial.is_null() {
                self.addresses_in(initial, 0, &mut addresses);
                number = constant_number(initial).filter(|_| LLVMIsGlobalConstant(handle) != 0);
            }
            (size, number, !initial.is_null())
        };
        self.program.values[id as usize].is = Is::Global(Global { size, addresses, number, defined });
    }

    /// Finds addresses in an initial value.
    fn addresses_in(&mut self, constant: Handle, at: u64, found: &mut Vec<(u64, ValueId)>) {
        use LLVMValueKind::*;
        // SAFETY: a constant of the living module; operands in range and of its type.
        unsafe {
            let of = LLVMTypeOf(constant);
            match LLVMGetValueKind(constant) {
                LLVMConstantStructValueKind => {
                    for number in 0..LLVMGetNumOperands(constant) as u32 {
                        let inner = at + LLVMOffsetOfElement(self.layout, of, number);
                        self.addresses_in(LLVMGetOperand(constant, number), inner, found);
                    }
                }
                LLVMConstantArrayValueKind => {
                    let stride = LLVMABISizeOfType(self.layout, LLVMGetElementType(of));
                    for number in 0..LLVMGetNumOperands(constant) as u32 {
                        let inner = at + u64::from(number) * stride;
                        self.addresses_in(LLVMGetOperand(constant, number), inner, found);
                    }
                }
                LLVMFunctionValueKind
                | LLVMGlobalVariableValueKind
                | LLVMGlobalAliasValueKind
                | LLVMConstantExprValueKind => found.push((at, self.value(constant))),
                _ => {}
            }
        }
    }

    fn finish(mut self) -> Program {
        let mut users = vec![Vec::new(); self.program.values.len()];
        for block in &self.program.blocks {
            for id in &block.instructions {
                for operand in &self.program.value(*id).operands {
                    users[*operand as usize].push(*id);
                }
            }
        }
        self.program.users = users;
        self.program
    }
}

/// Whether a type is a structure.
fn is_record(of: LLVMTypeRef) -> bool {
    // SAFETY: a type of a living context.
    unsafe { LLVMGetTypeKind(of) == LLVMTypeKind::LLVMStructTypeKind }
}

/// Whether a GEP moves the address of a whole variable, global or on the stack.
fn is_object(gep: Handle) -> bool {
    // SAFETY: a GEP of a living module has a base.
    unsafe {
        let base = LLVMGetOperand(gep, 0);
        !LLVMIsAGlobalVariable(base).is_null() || !LLVMIsAAllocaInst(base).is_null()
    }
}

fn kind_of(of: LLVMTypeRef) -> Kind {
    use LLVMTypeKind::*;
    // SAFETY: a type of a living context.
    match unsafe { LLVMGetTypeKind(of) } {
        LLVMVoidTypeKind => Kind::Nothing,
        // SAFETY: it is an integer type.
        LLVMIntegerTypeKind => Kind::Integer(unsafe { LLVMGetIntTypeWidth(of) }),
        LLVMHalfTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMX86_FP80TypeKind
        | LLVMFP128TypeKind => Kind::Float,
        LLVMPointerTypeKind => Kind::Pointer,
        _ => Kind::Other,
    }
}

/// The value of a constant integer of up to 64 bits.
fn constant_number(handle: Handle) -> Option<i64> {
    // SAFETY: a value of a living module, asked for its number only if it is a constant integer that fits.
    unsafe {
        let fits = LLVMGetValueKind(handle) == LLVMValueKind::LLVMConstantIntValueKind
            && LLVMGetIntTypeWidth(LLVMTypeOf(handle)) <= 64;
        fits.then(|| LLVMConstIntGetSExtValue(handle))
    }
}
