//! A whole program as numbers: functions, blocks and values in tables, read once from LLVM.
//!
//! All analysis works on these tables and never asks LLVM; each value keeps its [`Handle`] for those who change the module
//! afterwards. Every SSA value, constant and global has one number. Nothing here changes the module.

mod read;

use crate::llvm::Handle;
use rustc_hash::FxHashMap;

/// Number of a value.
pub type ValueId = u32;
/// Number of a function.
pub type FunctionId = u32;
/// Number of a block, over all functions.
pub type BlockId = u32;

/// All of a program.
pub struct Program {
    /// Every value.
    pub values: Vec<Value>,
    /// Every function, declarations included.
    pub functions: Vec<Function>,
    /// Every block of every function.
    pub blocks: Vec<Block>,
    /// Who uses a value: instructions only.
    pub users: Vec<Vec<ValueId>>,
    by_handle: FxHashMap<Handle, ValueId>,
}

/// A value: an instruction, an argument, a constant, a global.
pub struct Value {
    /// LLVM's reference.
    pub handle: Handle,
    /// Its type, as far as it matters.
    pub kind: Kind,
    /// What it is made from.
    pub operands: Vec<ValueId>,
    /// What it is.
    pub is: Is,
}

/// What a value's type is, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value.
    Nothing,
    /// An integer of so many bits.
    Integer(u32),
    /// A floating-point number.
    Float,
    /// A pointer.
    Pointer,
    /// Anything else: structures, arrays, vectors.
    Other,
}

/// What a value is.
pub enum Is {
    /// An instruction of a block.
    Instruction(BlockId, Action),
    /// An argument of a function.
    Argument(FunctionId, u32),
    /// A global variable.
    Global(Global),
    /// A function.
    Function(FunctionId),
    /// A constant integer.
    Number(i64),
    /// An address made from a global by a constant expression: operand 0, moved by so many bytes.
    ConstantAddress(i64),
    /// Any other constant, with what it is made from.
    Constant,
}

/// A global variable.
pub struct Global {
    /// Size in bytes.
    pub size: u64,
    /// Addresses in its initial value, and where they are.
    pub addresses: Vec<(u64, ValueId)>,
    /// Its value, if it is a constant integer that nobody changes.
    pub number: Option<i64>,
    /// Whether it is defined here.
    pub defined: bool,
}

/// What an instruction does.
pub enum Action {
    /// Room on the stack.
    Alloca,
    /// Operand 0 is the address; so many bytes.
    Load(u64),
    /// Operand 0 goes to address operand 1; so many bytes.
    Store(u64),
    /// Operand 0 moved by a constant and by multiples of variables.
    Offset(Offset),
    /// One operand for each block it comes from.
    Phi(Vec<BlockId>),
    /// Operand 0 chooses between 1 and 2.
    Select,
    /// Integer or logic on integers, comparison of integers included.
    Arithmetic,
    /// Compares floating-point numbers.
    CompareFloats,
    /// From one type to another.
    Cast,
    /// A call.
    Call(Callee),
    /// The end of a block.
    End(Ending),
    /// Anything else: depends on its operands, and on memory they point to if it is atomic.
    Else,
}

/// How an address is moved.
pub struct Offset {
    /// By so many bytes.
    pub bytes: i64,
    /// And by multiples of so many, without a bound.
    pub strides: Vec<u64>,
    /// And by up to so many: elements of arrays of known length.
    pub width: u64,
    /// The size of the field of a structure that it ends in.
    pub field: Option<u64>,
}

/// Who is called; the arguments are all operands but the last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    /// A function of the module.
    Direct(FunctionId),
    /// What the last operand points to.
    Indirect,
    /// Assembly.
    Assembly,
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// On with the next block, or one of several by operand 0.
    Branch,
    /// One of several by operand 0.
    Switch,
    /// Back to the caller, with operand 0 if there is one.
    Return,
    /// Never reached.
    Unreachable,
    /// Something else.
    Other,
}

/// A function.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: ValueId,
    /// Its arguments.
    pub arguments: Vec<ValueId>,
    /// Whether more arguments may follow.
    pub variadic: bool,
    /// Its blocks, the entry first; none for a declaration.
    pub blocks: Vec<BlockId>,
    /// Whether its definition says that it never returns.
    pub never_returns: bool,
}

/// A block.
pub struct Block {
    /// Whose it is.
    pub function: FunctionId,
    /// Its instructions, the terminator last.
    pub instructions: Vec<ValueId>,
    /// Where it goes, in LLVM's order.
    pub successors: Vec<BlockId>,
}

impl Program {
    /// The number of a value of LLVM.
    pub fn number_of(&self, handle: Handle) -> Option<ValueId> {
        self.by_handle.get(&handle).copied()
    }

    /// A value.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id as usize]
    }

    /// What an instruction does, and where; nothing for other values.
    pub fn instruction(&self, id: ValueId) -> Option<(BlockId, &Action)> {
        match &self.value(id).is {
            Is::Instruction(block, action) => Some((*block, action)),
            _ => None,
        }
    }

    /// A block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id as usize]
    }

    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id as usize]
    }

    /// The function an instruction is in.
    pub fn function_of(&self, id: ValueId) -> Option<FunctionId> {
        Some(self.block(self.instruction(id)?.0).function)
    }

    /// The function that a call calls, if it is known from the call alone.
    pub fn called(&self, id: ValueId) -> Option<FunctionId> {
        match self.instruction(id)?.1 {
            Action::Call(Callee::Direct(function)) => Some(*function),
            _ => None,
        }
    }

    /// The arguments of a call.
    pub fn call_arguments(&self, id: ValueId) -> &[ValueId] {
        let operands = &self.value(id).operands;
        &operands[..operands.len().saturating_sub(1)]
    }

    /// The constant integer that a value is.
    pub fn number(&self, id: ValueId) -> Option<i64> {
        match &self.value(id).is {
            Is::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The last instruction of a block.
    pub fn terminator(&self, block: BlockId) -> ValueId {
        *self.block(block).instructions.last().expect("blocks of well-formed modules end")
    }

    /// All instructions.
    pub fn instructions(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.blocks.iter().flat_map(|block| block.instructions.iter().copied())
    }
}
