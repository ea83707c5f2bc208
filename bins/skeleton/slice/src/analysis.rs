//! All that is known about a program before anything is cut: its flow, what calls do, what pointers point to, and who
//! reads and writes which memory.

use crate::effects::{EffectTable, Effects, Use};
use crate::flow::{Flow, Loop};
use crate::memory::{Memory, Object, ObjectId, Place};
use crate::program::*;
use kizami_folder::Dialect;
use rustc_hash::{FxHashMap, FxHashSet};

/// As many bytes as anything may have.
pub const ANY_LENGTH: u64 = 1 << 40;

/// As many bytes as a status has in any MPI.
const STATUS: u64 = 24;

/// Somebody who reads or writes memory.
#[derive(Clone, Copy)]
pub struct Access {
    /// The instruction.
    pub by: ValueId,
    /// For a call: by which argument.
    pub argument: Option<u32>,
    /// Where.
    pub place: Place,
    /// So many bytes.
    pub length: u64,
}

/// A program and what is known about it.
pub struct Analysis<'a> {
    /// The program.
    pub program: &'a Program,
    /// How control flows.
    pub flow: Flow,
    /// What functions outside the program do.
    pub effects: EffectTable,
    /// Where pointers point to.
    pub memory: Memory,
    /// Who calls a function, in blocks that can be passed.
    pub callers: Vec<Vec<ValueId>>,
    /// Whether `main` may come to call a function.
    pub reachable: Vec<bool>,
    /// Who writes an object.
    pub writers: Vec<Vec<Access>>,
    /// Who reads an object.
    pub readers: Vec<Vec<Access>>,
    /// Calls that write global variables of libraries, by name.
    pub global_writers: FxHashMap<String, Vec<ValueId>>,
    /// All calls of MPI.
    pub mpi_calls: Vec<ValueId>,
    /// Functions that may come to call MPI.
    pub communicate: FxHashSet<FunctionId>,
    /// Whether a loop holds no communication.
    pub silent: Vec<bool>,
    /// Whose constants the program was compiled with.
    pub dialect: Dialect,
}

impl<'a> Analysis<'a> {
    /// Analyses a program.
    pub fn of(program: &'a Program, dialect: Dialect) -> Analysis<'a> {
        let flow = Flow::of(program);
        let effects = EffectTable::of(program);
        let memory = Memory::of(program, &effects);
        let mut analysis = Analysis {
            program,
            flow,
            effects,
            memory,
            callers: vec![Vec::new(); program.functions.len()],
            reachable: vec![false; program.functions.len()],
            writers: Vec::new(),
            readers: Vec::new(),
            global_writers: FxHashMap::default(),
            mpi_calls: Vec::new(),
            communicate: FxHashSet::default(),
            silent: Vec::new(),
            dialect,
        };
        analysis.find_reachable();
        analysis.find_accesses();
        analysis.mpi_calls =
            analysis.instructions().into_iter().filter(|id| analysis.mpi_call(*id).is_some()).collect();
        analysis.find_silence();
        analysis
    }

    fn find_silence(&mut self) {
        let in_function = |call: &ValueId| self.program.function_of(*call).expect("a call is in a function");
        let mut communicate: FxHashSet<FunctionId> = self.mpi_calls.iter().map(in_function).collect();
        let mut open: Vec<FunctionId> = communicate.iter().copied().collect();
        while let Some(function) = open.pop() {
            for caller in self.callers[function as usize].iter().map(in_function) {
                if communicate.insert(caller) {
                    open.push(caller);
                }
            }
        }
        self.communicate = communicate;
        let speaks = |of: &Loop| of.blocks.iter().any(|block| self.block_speaks(*block));
        self.silent = self.flow.loops.iter().map(|of| !speaks(of)).collect();
    }

    /// Whether the end of a block decides, by itself or through others, if calls of MPI happen.
    pub fn decides_calls(&self, branch: ValueId) -> bool {
        let Some((from, _)) = self.program.instruction(branch) else { return false };
        let function = self.program.function(self.program.block(from).function);
        let mut decided = vec![from];
        let mut at = 0;
        while let Some(controller) = decided.get(at).copied() {
            at += 1;
            for block in &function.blocks {
                if self.flow.controllers[*block as usize].contains(&controller) && !decided.contains(block) {
                    decided.push(*block);
                }
            }
        }
        decided.iter().skip(1).any(|block| self.block_speaks(*block)) || self.controls_itself(from)
    }

    /// Whether a block goes round by its own decision, with calls of MPI.
    fn controls_itself(&self, block: BlockId) -> bool {
        self.flow.controllers[block as usize].contains(&block) && self.block_speaks(block)
    }

    fn block_speaks(&self, block: BlockId) -> bool {
        self.program.block(block).instructions.iter().any(|call| {
            let callees = self.memory.callees(self.program, *call);
            self.mpi_call(*call).is_some() || callees.iter().any(|callee| self.communicate.contains(callee))
        })
    }

    /// The calls in a loop.
    pub fn calls_in(&self, of: &Loop) -> Vec<ValueId> {
        let all = of.blocks.iter().flat_map(|block| self.program.block(*block).instructions.iter().copied());
        all.filter(|id| matches!(self.program.instruction(*id), Some((_, Action::Call(_))))).collect()
    }

    fn find_reachable(&mut self) {
        let program = self.program;
        let main = program.functions.iter().position(|function| function.name == "main");
        let mut open: Vec<FunctionId> = main.into_iter().map(|number| number as FunctionId).collect();
        while let Some(function) = open.pop() {
            if std::mem::replace(&mut self.reachable[function as usize], true) {
                continue;
            }
            for call in self.passable_instructions(function) {
                for callee in self.memory.callees(program, call) {
                    self.callers[callee as usize].push(call);
                    open.push(callee);
                }
                for argument in program.call_arguments_or_none(call) {
                    // Functions that others call back.
                    if let Is::Function(called_back) = program.value(*argument).is {
                        open.push(called_back);
                    }
                }
            }
        }
    }

    /// The instructions of a function in blocks that can be passed.
    pub fn passable_instructions(&self, function: FunctionId) -> Vec<ValueId> {
        let blocks = self.program.function(function).blocks.iter();
        blocks
            .filter(|block| self.flow.passable[**block as usize])
            .flat_map(|block| self.program.block(*block).instructions.iter().copied())
            .collect()
    }

    /// All instructions that a run from `main` may come to.
    pub fn instructions(&self) -> Vec<ValueId> {
        let functions = 0..self.program.functions.len() as FunctionId;
        functions
            .filter(|function| self.reachable[*function as usize])
            .flat_map(|function| self.passable_instructions(function))
            .collect()
    }

    fn find_accesses(&mut self) {
        let objects = self.memory.object_count();
        self.writers = vec![Vec::new(); objects];
        self.readers = vec![Vec::new(); objects];
        for id in self.instructions() {
            let value = self.program.value(id);
            match self.program.instruction(id).expect("an instruction").1 {
                Action::Load(length) => self.note(id, None, value.operands[0], *length, true, false),
                Action::Store(length) => self.note(id, None, value.operands[1], *length, false, true),
                Action::Else => {
                    // Atomic operations: the address is the first operand.
                    let address = value.operands.first().copied();
                    if let Some(address) = address.filter(|a| self.program.value(*a).kind == Kind::Pointer) {
                        self.note(id, None, address, 8, true, true);
                    }
                }
                Action::Call(Callee::Assembly) => {
                    for (number, argument) in self.program.call_arguments(id).iter().enumerate() {
                        self.note(id, Some(number as u32), *argument, ANY_LENGTH, true, true);
                    }
                }
                Action::Call(_) => self.note_call(id),
                _ => {}
            }
        }
    }

    fn note_call(&mut self, call: ValueId) {
        for callee in self.memory.callees(self.program, call) {
            let Some(effects) = self.effects.get(callee).cloned() else { continue };
            for (number, argument) in self.program.call_arguments(call).iter().enumerate() {
                let of = effects.of(number);
                let length = self.length_of(call, &effects, number);
                self.note(call, Some(number as u32), *argument, length, of.reads(), of.writes());
                self.note_array(call, number, of);
            }
            for name in &effects.globals {
                self.global_writers.entry(name.clone()).or_default().push(call);
            }
        }
    }

    /// An array that is given by its descriptor is read or written anywhere.
    fn note_array(&mut self, call: ValueId, number: usize, of: Use) {
        for place in self.memory.described(call, number) {
            let place = place.anywhere();
            let access = Access { by: call, argument: Some(number as u32), place, length: ANY_LENGTH };
            if of.reads() {
                self.readers[place.object as usize].push(access);
            }
            if of.writes() {
                self.writers[place.object as usize].push(access);
            }
        }
    }

    /// How many bytes from where an argument points on a call may read or write.
    pub fn length_of(&self, call: ValueId, effects: &Effects, number: usize) -> u64 {
        let arguments = self.program.call_arguments(call);
        match effects.mpi {
            // One number or handle.
            Some((function, _)) if function.arguments.get(number).is_some_and(|a| is_single(a.name)) => 8,
            Some((function, _)) if function.arguments.get(number).is_some_and(|a| a.name == "status") => {
                STATUS
            }
            None if self.copy_of(call).is_some() || number == 0 && arguments.len() >= 3 => {
                let length = arguments.get(2).and_then(|length| self.program.number(*length));
                length.filter(|_| effects.of(0) == Use::Writes).map_or(ANY_LENGTH, |length| length as u64)
            }
            _ => ANY_LENGTH,
        }
    }

    /// For a call that copies memory as it is: to where and from where.
    pub fn copy_of(&self, call: ValueId) -> Option<(ValueId, ValueId)> {
        let name = &self.program.function(self.program.called(call)?).name;
        let copies = ["llvm.memcpy.", "llvm.memmove."].iter().any(|start| name.starts_with(start));
        if copies || name == "memcpy" || name == "memmove" {
            let arguments = self.program.call_arguments(call);
            return Some((arguments[0], arguments[1]));
        }
        None
    }

    fn note(
        &mut self,
        by: ValueId,
        argument: Option<u32>,
        address: ValueId,
        length: u64,
        reads: bool,
        writes: bool,
    ) {
        for place in self.memory.targets(address) {
            if matches!(self.memory.object(place.object), Object::Code(_)) {
                continue;
            }
            let (place, length) = self.reached(address, *place, length);
            let access = Access { by, argument, place, length };
            if reads {
                self.readers[place.object as usize].push(access);
            }
            if writes {
                self.writers[place.object as usize].push(access);
            }
        }
    }

    /// What may be reached through an address: its field of a structure, or anything in the object if the length is not
    /// known.
    pub fn reached(&self, address: ValueId, place: Place, length: u64) -> (Place, u64) {
        if length != ANY_LENGTH {
            return (place, length);
        }
        let mut at = address;
        while let Some((_, Action::Offset(offset))) = self.program.instruction(at) {
            match offset.field {
                _ if !offset.strides.is_empty() => break,
                Some(size) => return (place, size),
                None => at = self.program.value(at).operands[0],
            }
        }
        (place.anywhere(), length)
    }

    /// Who may write what is at a place.
    pub fn writers_of(&self, place: Place, length: u64) -> impl Iterator<Item = &Access> {
        self.writers[place.object as usize]
            .iter()
            .filter(move |access| access.place.overlaps(access.length, place, length))
    }

    /// Who may read what is at a place.
    pub fn readers_of(&self, place: Place, length: u64) -> impl Iterator<Item = &Access> {
        self.readers[place.object as usize]
            .iter()
            .filter(move |access| access.place.overlaps(access.length, place, length))
    }

    /// The name of the library's global variable that an object is.
    pub fn library_global(&self, object: ObjectId) -> Option<String> {
        match self.memory.object(object) {
            Object::Global(id) => match &self.program.value(id).is {
                Is::Global(global) if !global.defined => {
                    Some(crate::llvm::name(self.program.value(id).handle))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What a call does, if it is one of MPI.
    pub fn mpi_call(&self, id: ValueId) -> Option<&Effects> {
        self.effects.call(self.program, id).filter(|effects| effects.mpi.is_some())
    }

    /// The constant number that an argument of an MPI call is, by reference or not.
    pub fn constant_argument(&self, call: ValueId, name: &str) -> Option<i64> {
        let effects = self.mpi_call(call)?;
        let argument = *self.program.call_arguments(call).get(effects.argument(name)?)?;
        self.constant_at(argument, effects.mpi?.1 == crate::effects::Binding::Fortran)
    }

    /// The constant number of a value, or of what it points to.
    pub fn constant_at(&self, value: ValueId, by_reference: bool) -> Option<i64> {
        if !by_reference {
            return self.program.number(value);
        }
        match &self.program.value(value).is {
            Is::Global(global) => global.number,
            _ => None,
        }
    }
}

impl Program {
    /// The arguments of a call; none of any other value.
    fn call_arguments_or_none(&self, id: ValueId) -> &[ValueId] {
        match self.instruction(id) {
            Some((_, Action::Call(_))) => self.call_arguments(id),
            _ => &[],
        }
    }
}

/// Arguments of MPI's functions that point to one number or handle.
fn is_single(name: &str) -> bool {
    matches!(
        name,
        "rank"
            | "size"
            | "flag"
            | "request"
            | "comm"
            | "newcomm"
            | "comm_cart"
            | "newtype"
            | "datatype"
            | "count"
            | "rank_source"
            | "rank_dest"
            | "indx"
            | "outcount"
            | "newgroup"
            | "group"
            | "provided"
            | "win"
            | "fh"
            | "op"
            | "message"
            | "position"
            | "newintercomm"
            | "newintracomm"
            | "address"
            | "extent"
            | "lb"
            | "baseptr"
            | "newrank"
            | "ndims"
            | "comm_dist_graph"
            | "comm_graph"
            | "nneighbors"
    )
}
