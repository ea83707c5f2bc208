//! Which instructions communication depends on: backwards slicing over a whole program.
//!
//! Begins at every call of MPI that communicates, and keeps what it needs: the values of arguments that say what is
//! communicated, the memory they come from, what decides whether the call happens, and the calls that lead there. Where
//! something needed depends on data ([`crate::taint`]), the slice ends and the place becomes an oracle. Payload is needed
//! only where something else needs what arrives.

mod calls;
mod payload;
mod reach;
mod refuse;
mod trial;

use crate::analysis::Analysis;
use crate::effects::Effects;
use crate::memory::{Object, Place};
use crate::program::*;
use crate::taint::{DATA, Taint};
use kizami_model::Family;
use rustc_hash::{FxHashMap, FxHashSet};
use trial::Step;

/// What is kept of a program.
pub struct Slice<'a> {
    analysis: &'a Analysis<'a>,
    taint: &'a Taint<'a>,
    /// Instructions that are kept.
    pub kept: Vec<bool>,
    /// Blocks whose execution matters.
    blocks: Vec<bool>,
    /// Functions that do something that matters besides giving a result.
    acts: Vec<bool>,
    /// Functions whose result matters.
    result_matters: Vec<bool>,
    /// Arguments that matter.
    arguments: Vec<bool>,
    /// Kept calls by function.
    kept_calls: Vec<Vec<ValueId>>,
    memory: FxHashSet<(Place, u64)>,
    /// MPI calls whose payload matters.
    pub carries: FxHashSet<ValueId>,
    /// Places that become oracles, in the order they were found.
    pub oracles: Vec<ValueId>,
    is_oracle: FxHashSet<ValueId>,
    /// Instructions that cannot be sliced, and why.
    pub refused: Vec<(ValueId, String)>,
    open: Vec<ValueId>,
    /// For each instruction: the one on whose behalf it was kept.
    parents: FxHashMap<ValueId, ValueId>,
    now: ValueId,
    /// What was done since a trial began.
    journal: Option<Vec<Step>>,
}

impl<'a> Slice<'a> {
    /// Slices from all communication.
    pub fn of(analysis: &'a Analysis<'a>, taint: &'a Taint<'a>) -> Slice<'a> {
        let program = analysis.program;
        let mut slice = Slice {
            analysis,
            taint,
            kept: vec![false; program.values.len()],
            blocks: vec![false; program.blocks.len()],
            acts: vec![false; program.functions.len()],
            result_matters: vec![false; program.functions.len()],
            arguments: vec![false; program.values.len()],
            kept_calls: vec![Vec::new(); program.functions.len()],
            memory: FxHashSet::default(),
            carries: FxHashSet::default(),
            oracles: Vec::new(),
            is_oracle: FxHashSet::default(),
            refused: Vec::new(),
            open: Vec::new(),
            parents: FxHashMap::default(),
            now: ValueId::MAX,
            journal: None,
        };
        for call in analysis.instructions() {
            if slice.is_root(call) {
                slice.keep(call);
            }
        }
        slice.work();
        slice
    }

    /// Whether an instruction is where slicing begins: it communicates, or it ends the run.
    fn is_root(&self, id: ValueId) -> bool {
        if let Some(effects) = self.analysis.mpi_call(id) {
            return communicates(effects);
        }
        let called = self.analysis.program.called(id);
        called.is_some_and(|function| self.analysis.program.function(function).name == "exit")
    }

    fn work(&mut self) {
        while let Some(id) = self.open.pop() {
            self.visit(id);
        }
    }

    /// Keeps an instruction.
    fn keep(&mut self, id: ValueId) {
        if !std::mem::replace(&mut self.kept[id as usize], true) {
            self.note(Step::Kept(id));
            self.parents.insert(id, self.now);
            self.open.push(id);
        }
    }

    /// Needs a value, whatever it is.
    fn need(&mut self, id: ValueId) {
        let program = self.analysis.program;
        match &program.value(id).is {
            Is::Argument(function, number) => {
                let known = std::mem::replace(&mut self.arguments[id as usize], true);
                if !known {
                    self.note(Step::Argument(id));
                    for call in self.kept_calls[*function as usize].clone() {
                        self.need_argument(call, *number as usize);
                    }
                }
            }
            Is::Instruction(block, action) => {
                if self.is_cut(id, action) {
                    self.cut(id, *block);
                    return;
                }
                self.keep(id);
                if let Action::Call(_) = action {
                    self.need_result(id);
                }
            }
            _ => {}
        }
    }

    fn need_argument(&mut self, call: ValueId, number: usize) {
        if let Some(actual) = self.analysis.program.call_arguments(call).get(number) {
            self.need(*actual);
        }
    }

    /// Whether a value is where the slice ends.
    fn is_cut(&self, id: ValueId, action: &Action) -> bool {
        let program = self.analysis.program;
        // Who sent a message is known to whoever runs the skeleton, as ranks run together then.
        if self.taint.value(id) & DATA == 0 || !matches!(program.value(id).kind, Kind::Integer(_)) {
            return false;
        }
        match action {
            Action::Load(_) | Action::Phi(_) | Action::Call(_) | Action::CompareFloats | Action::Else => true,
            Action::Cast => {
                program.value(id).operands.iter().any(|from| program.value(*from).kind == Kind::Float)
            }
            _ => false,
        }
    }

    fn cut(&mut self, id: ValueId, block: BlockId) {
        if self.is_oracle.insert(id) {
            self.oracles.push(id);
            self.note(Step::Oracle(id));
            self.parents.insert(id, self.now);
            self.need_block(block);
            self.act(self.analysis.program.block(block).function);
        }
    }

    /// Needs that a block is executed exactly when it would be.
    fn need_block(&mut self, block: BlockId) {
        if std::mem::replace(&mut self.blocks[block as usize], true) {
            return;
        }
        self.note(Step::Block(block));
        for controller in &self.analysis.flow.controllers[block as usize] {
            self.keep(self.analysis.program.terminator(*controller));
        }
    }

    /// A function does something that matters: all its calls do.
    fn act(&mut self, function: FunctionId) {
        if std::mem::replace(&mut self.acts[function as usize], true) {
            return;
        }
        self.note(Step::Acts(function));
        for call in &self.analysis.callers[function as usize] {
            self.keep(*call);
            self.act(self.analysis.program.function_of(*call).expect("a call is in a function"));
        }
    }

    /// Memory is written through an address: that matters to others unless it is the function's own stack.
    fn act_on(&mut self, by: ValueId, address: ValueId) {
        let program = self.analysis.program;
        let function = program.function_of(by);
        let targets = self.analysis.memory.targets(address);
        let own = targets.iter().all(|place| match self.analysis.memory.object(place.object) {
            Object::Stack(room) => program.function_of(room) == function,
            _ => false,
        });
        if !own || targets.is_empty() {
            self.act(function.expect("an instruction is in a function"));
        }
    }

    fn need_result(&mut self, call: ValueId) {
        let program = self.analysis.program;
        for callee in self.analysis.memory.callees(program, call) {
            if std::mem::replace(&mut self.result_matters[callee as usize], true) {
                continue;
            }
            self.note(Step::Result(callee));
            for block in &program.function(callee).blocks {
                let last = program.terminator(*block);
                let returns = matches!(program.instruction(last), Some((_, Action::End(Ending::Return))));
                if returns && self.analysis.flow.passable[*block as usize] {
                    self.keep(last);
                }
            }
        }
    }

    fn visit(&mut self, id: ValueId) {
        let program = self.analysis.program;
        let value = program.value(id);
        let (block, action) = program.instruction(id).expect("only instructions are kept");
        self.now = id;
        self.need_block(block);
        match action {
            Action::Load(length) => {
                self.need(value.operands[0]);
                self.need_target(value.operands[0], *length);
            }
            Action::Store(_) => {
                value.operands.iter().for_each(|operand| self.need(*operand));
                self.act_on(id, value.operands[1]);
            }
            Action::Phi(from) => {
                for (operand, from) in value.operands.iter().zip(from) {
                    if self.analysis.flow.passable[*from as usize] {
                        self.need(*operand);
                        self.need_block(*from);
                    }
                }
            }
            Action::Call(callee) => self.visit_call(id, *callee),
            Action::End(Ending::Branch | Ending::Switch) => {
                if let Some(condition) = value.operands.first() {
                    self.refuse_senders(id, *condition);
                    self.need(*condition);
                }
            }
            Action::Else => {
                value.operands.iter().for_each(|operand| self.need(*operand));
                if let Some(address) = value.operands.first()
                    && program.value(*address).kind == Kind::Pointer
                {
                    self.need_target(*address, 8);
                    self.act_on(id, *address);
                }
            }
            _ => value.operands.iter().for_each(|operand| self.need(*operand)),
        }
    }

    fn is_variable(&self, id: ValueId) -> bool {
        matches!(self.analysis.program.value(id).is, Is::Instruction(..) | Is::Argument(..))
    }

    /// Why an instruction was kept: those on whose behalf, up to where slicing began.
    pub fn reasons(&self, id: ValueId) -> Vec<ValueId> {
        std::iter::successors(self.parents.get(&id).copied(), |id| self.parents.get(id).copied())
            .take_while(|id| *id != ValueId::MAX)
            .collect()
    }
}

/// Whether a call says something about communication, so that a skeleton has to make it.
fn communicates(effects: &Effects) -> bool {
    let Some((function, _)) = effects.mpi else { return false };
    let name = function.name.to_ascii_lowercase();
    if ["errhandler", "_info", "_attr", "keyval", "_name"].iter().any(|word| name.contains(word)) {
        return false;
    }
    match function.family {
        Family::Environment => {
            matches!(function.shape_name, "init" | "finalize" | "session_init" | "session_finalize")
                || name.contains("buffer_attach")
                || name.contains("buffer_detach")
        }
        Family::Datatype => matches!(function.shape_name, "type_new" | "type_free"),
        _ => true,
    }
}
