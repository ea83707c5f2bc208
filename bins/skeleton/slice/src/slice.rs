//! Which instructions communication depends on: backwards slicing over a whole program.
//!
//! Begins at every call of MPI that communicates, and keeps what it needs: the values of arguments that say what is
//! communicated, the memory they come from, what decides whether the call happens, and the calls that lead there. Where
//! something needed depends on data ([`crate::taint`]), the slice ends and the place becomes an oracle. Payload is needed
//! only where something else needs what arrives.

use crate::analysis::{ANY_LENGTH, Access, Analysis};
use crate::effects::{Effects, Use};
use crate::memory::{Object, Place};
use crate::program::*;
use crate::taint::{SENDER, Taint};
use crate::trips::Candidate;
use kizami_model::{Family, Shape};
use rustc_hash::{FxHashMap, FxHashSet};

/// Functions of Fortran's run-time library that reach memory through descriptors of arrays.
const FORTRAN_ARRAYS: [&str; 4] =
    ["_FortranAAssign", "_FortranAPointer", "_FortranACopy", "_FortranAAllocatableSetBounds"];

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

/// A change that can be taken back.
enum Step {
    Kept(ValueId),
    Block(BlockId),
    Acts(FunctionId),
    Result(FunctionId),
    Argument(ValueId),
    KeptCall(FunctionId),
    Memory(Place, u64),
    Carries(ValueId),
    Oracle(ValueId),
    Refused,
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
        slice.refuse_strangers();
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

    /// Keeps what the count of a loop needs, if that costs no new oracle, no new loop and no more than `budget` instructions.
    pub fn try_count(&mut self, candidate: &Candidate, budget: usize) -> bool {
        self.journal = Some(Vec::new());
        self.need_count(candidate);
        let mut looked_at = 0;
        let mut fine = true;
        loop {
            let steps = self.journal.as_ref().expect("a trial is on");
            fine &= steps.len() <= 4 * budget;
            fine &= steps[looked_at..].iter().all(|step| match step {
                Step::Oracle(_) | Step::Carries(_) | Step::Refused => false,
                Step::Kept(id) => !self.goes_round(*id),
                _ => true,
            });
            looked_at = steps.len();
            match self.open.pop() {
                Some(id) if fine => self.visit(id),
                _ => break,
            }
        }
        let steps = self.journal.take().expect("a trial is on");
        if !fine {
            self.open.clear();
            steps.into_iter().rev().for_each(|step| self.take_back(step));
        }
        fine
    }

    fn need_count(&mut self, candidate: &Candidate) {
        let program = self.analysis.program;
        let (mut known, mut loads) = (Vec::new(), Vec::new());
        for term in candidate.terms() {
            term.known(&mut known);
            term.loads(program, &mut loads);
        }
        self.need_block(candidate.anchor);
        self.act(program.block(candidate.anchor).function);
        known.into_iter().for_each(|id| self.need(id));
        for id in loads {
            if let Some((_, Action::Load(length))) = program.instruction(id) {
                self.need_target(program.value(id).operands[0], *length);
            }
        }
    }

    /// Whether an instruction decides if a loop goes round once more.
    fn goes_round(&self, id: ValueId) -> bool {
        match self.analysis.program.instruction(id) {
            Some((block, Action::End(Ending::Branch | Ending::Switch))) => {
                self.analysis.flow.loop_of[block as usize].is_some_and(|number| {
                    let around = &self.analysis.flow.loops[number];
                    self.analysis.flow.successors[block as usize].iter().any(|to| !around.contains(*to))
                        || self.analysis.flow.controllers[block as usize].contains(&block)
                })
            }
            _ => false,
        }
    }

    fn take_back(&mut self, step: Step) {
        match step {
            Step::Kept(id) => self.kept[id as usize] = false,
            Step::Block(block) => self.blocks[block as usize] = false,
            Step::Acts(function) => self.acts[function as usize] = false,
            Step::Result(function) => self.result_matters[function as usize] = false,
            Step::Argument(id) => self.arguments[id as usize] = false,
            Step::KeptCall(function) => {
                self.kept_calls[function as usize].pop();
            }
            Step::Memory(place, length) => {
                self.memory.remove(&(place, length));
            }
            Step::Carries(call) => {
                self.carries.remove(&call);
            }
            Step::Oracle(id) => {
                self.is_oracle.remove(&id);
                self.oracles.pop();
            }
            Step::Refused => {
                self.refused.pop();
            }
        }
    }

    fn note(&mut self, step: Step) {
        if let Some(journal) = &mut self.journal {
            journal.push(step);
        }
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
        if self.taint.value(id) == 0 || !matches!(program.value(id).kind, Kind::Integer(_)) {
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

    /// Who sent a message may decide what is sent, but not what happens: it would differ in the next run.
    fn refuse_senders(&mut self, branch: ValueId, condition: ValueId) {
        if self.taint.value(condition) & SENDER != 0 {
            let why = "what happens next depends on who sent a message that was received from MPI_ANY_SOURCE";
            self.refuse(branch, why.to_owned());
        }
    }

    /// Functions that call MPI and are handed to others: threads, or callbacks of libraries.
    fn refuse_strangers(&mut self) {
        let program = self.analysis.program;
        for call in self.analysis.instructions() {
            let Some(effects) = self.analysis.effects.call(program, call) else { continue };
            if effects.mpi.is_some() || effects.nothing {
                continue;
            }
            let called = &program.function(program.called(call).expect("it has effects")).name;
            let speaks = program.call_arguments(call).iter().any(|argument| {
                self.analysis.memory.targets(*argument).iter().any(|place| {
                    matches!(self.analysis.memory.object(place.object), Object::Code(function)
                        if self.analysis.communicate.contains(&function))
                })
            });
            if FORTRAN_ARRAYS.iter().any(|start| called.starts_with(start)) {
                let why = "Fortran's run-time library works on whole arrays here, which is not followed; write a loop";
                self.refuse(call, why.to_owned());
            } else if speaks && called.starts_with("pthread_") {
                self.refuse(call, "a thread calls MPI; a skeleton has one thread for each rank".to_owned());
            } else if speaks {
                self.refuse(
                    call,
                    format!("{called}, of which there is no source, is given a function that calls MPI"),
                );
            }
        }
    }

    fn refuse(&mut self, id: ValueId, why: String) {
        if !self.refused.iter().any(|(known, reason)| *known == id && *reason == why) {
            self.refused.push((id, why));
            self.note(Step::Refused);
        }
    }

    fn visit_call(&mut self, id: ValueId, callee: Callee) {
        let program = self.analysis.program;
        if callee == Callee::Assembly {
            let why = "communication depends on what inline assembly does";
            self.refuse(id, why.to_owned());
            return;
        }
        let callees = self.analysis.memory.callees(program, id);
        if callee == Callee::Indirect {
            let pointer = *program.value(id).operands.last().expect("a call has a callee");
            self.need(pointer);
            if callees.is_empty() {
                let why = "calls through a pointer that comes from code outside the program";
                self.refuse(id, why.to_owned());
            }
        }
        for function in callees {
            match self.analysis.effects.get(function) {
                Some(effects) => self.visit_outside(id, effects),
                None => self.visit_inside(id, function),
            }
        }
    }

    fn visit_inside(&mut self, call: ValueId, function: FunctionId) {
        let program = self.analysis.program;
        self.kept_calls[function as usize].push(call);
        self.note(Step::KeptCall(function));
        let callee = program.function(function);
        for (number, formal) in callee.arguments.iter().enumerate() {
            if self.arguments[*formal as usize] {
                self.need_argument(call, number);
            }
        }
        if callee.variadic {
            (0..program.call_arguments(call).len()).for_each(|number| self.need_argument(call, number));
        }
    }

    fn visit_outside(&mut self, call: ValueId, effects: &Effects) {
        let program = self.analysis.program;
        let copies = self.analysis.copy_of(call).is_some();
        if effects.mpi.is_some() || !effects.globals.is_empty() {
            self.act(program.function_of(call).expect("a call is in a function"));
        }
        for (number, argument) in program.call_arguments(call).iter().enumerate() {
            let of = effects.of(number);
            if of.writes() {
                self.act_on(call, *argument);
            }
            match of {
                Use::Nothing => {}
                Use::Data(_) => self.visit_payload(call, *argument, of),
                Use::Callback => self.need_whole(call, *argument),
                _ => {
                    self.need(*argument);
                    if of.reads() && !copies {
                        self.need_target(*argument, self.analysis.length_of(call, effects, number));
                    }
                }
            }
        }
        for name in &effects.globals {
            for other in self.analysis.global_writers.get(name).cloned().unwrap_or_default() {
                self.keep(other);
            }
        }
        if self.carries.contains(&call) {
            self.carry_partners(call);
        }
    }

    fn visit_payload(&mut self, call: ValueId, argument: ValueId, of: Use) {
        if self.carries.contains(&call) {
            self.need(argument);
            if matches!(of, Use::Data(role) if role.reads_data()) {
                self.need_target(argument, ANY_LENGTH);
            }
        } else if self.may_be_constant(argument, &mut Vec::new()) {
            // MPI_IN_PLACE or not: that says how much is sent.
            self.need(argument);
        }
    }

    /// Whether an address may be a constant, such as `MPI_IN_PLACE`.
    fn may_be_constant(&self, id: ValueId, seen: &mut Vec<ValueId>) -> bool {
        let program = self.analysis.program;
        if seen.contains(&id) || seen.len() > 64 {
            return false;
        }
        seen.push(id);
        let value = program.value(id);
        match &value.is {
            Is::Constant => {
                let number = value.operands.first().is_some_and(|from| program.number(*from).is_some());
                seen.len() > 1 && number
            }
            Is::Instruction(_, Action::Phi(_)) => {
                value.operands.iter().any(|from| self.may_be_constant(*from, seen))
            }
            Is::Instruction(_, Action::Select) => {
                value.operands[1..].iter().any(|from| self.may_be_constant(*from, seen))
            }
            Is::Argument(function, number) => self.analysis.callers[*function as usize].iter().any(|call| {
                let actual = program.call_arguments(*call).get(*number as usize);
                actual.is_some_and(|actual| self.may_be_constant(*actual, seen))
            }),
            _ => false,
        }
    }

    /// A function that others call is kept as it is.
    fn need_whole(&mut self, call: ValueId, function: ValueId) {
        let program = self.analysis.program;
        self.need(function);
        let targets: Vec<FunctionId> = self
            .analysis
            .memory
            .targets(function)
            .iter()
            .filter_map(|place| match self.analysis.memory.object(place.object) {
                Object::Code(function) => Some(function),
                _ => None,
            })
            .collect();
        if targets.is_empty() && program.value(function).kind == Kind::Pointer && self.is_variable(function) {
            self.refuse(call, "hands on a function that comes from code outside the program".to_owned());
        }
        for target in targets {
            self.analysis.passable_instructions(target).into_iter().for_each(|id| self.keep(id));
        }
    }

    fn is_variable(&self, id: ValueId) -> bool {
        matches!(self.analysis.program.value(id).is, Is::Instruction(..) | Is::Argument(..))
    }

    fn need_target(&mut self, address: ValueId, length: u64) {
        for place in self.analysis.memory.targets(address).to_vec() {
            let (place, length) = self.analysis.reached(address, place, length);
            self.need_memory(place, length);
        }
    }

    /// Needs what is at a place: whoever may have written it.
    fn need_memory(&mut self, place: Place, length: u64) {
        if matches!(self.analysis.memory.object(place.object), Object::Code(_))
            || !self.memory.insert((place, length))
        {
            return;
        }
        self.note(Step::Memory(place, length));
        if let Some(name) = self.analysis.library_global(place.object) {
            for call in self.analysis.global_writers.get(&name).cloned().unwrap_or_default() {
                self.keep(call);
            }
        }
        let writers: Vec<Access> = self.analysis.writers_of(place, length).copied().collect();
        for access in writers {
            self.keep(access.by);
            if let Some((to, from)) = self.analysis.copy_of(access.by) {
                self.need_copied(place, length, to, from);
            }
            let payload = |effects: &Effects| {
                access.argument.is_some_and(|number| matches!(effects.of(number as usize), Use::Data(_)))
            };
            if self.analysis.mpi_call(access.by).is_some_and(payload) {
                self.carry(access.by);
            }
        }
    }

    fn need_copied(&mut self, place: Place, length: u64, to: ValueId, from: ValueId) {
        let memory = &self.analysis.memory;
        for target in memory.targets(to).iter().filter(|target| target.object == place.object) {
            for source in memory.targets(from).to_vec() {
                let piece = source.across(*target, place);
                self.need_memory(piece, if piece.stride == 1 { ANY_LENGTH } else { length });
            }
        }
    }

    /// The payload of a call matters.
    fn carry(&mut self, call: ValueId) {
        if self.carries.insert(call) {
            self.note(Step::Carries(call));
            self.keep(call);
            // Once more, now with its payload.
            self.open.push(call);
        }
    }

    /// What arrives in one call left in another.
    fn carry_partners(&mut self, call: ValueId) {
        let Some((function, _)) = self.analysis.mpi_call(call).and_then(|effects| effects.mpi) else {
            return;
        };
        let receives = matches!(function.shape, Shape::Receive | Shape::SendReceive);
        for other in self.analysis.mpi_calls.clone() {
            let Some((partner, _)) = self.analysis.mpi_call(other).and_then(|effects| effects.mpi) else {
                continue;
            };
            let collective = |kind: &'static kizami_model::Function| kind.shape_name.rsplit(':').next();
            let matches = match partner.shape {
                Shape::Send | Shape::SendReceive => receives && self.tags_match(call, other),
                Shape::Collective => {
                    function.shape == Shape::Collective && collective(function) == collective(partner)
                }
                _ => false,
            };
            if matches && self.datatypes_match(call, other) {
                self.carry(other);
            }
        }
    }

    fn tags_match(&self, receive: ValueId, send: ValueId) -> bool {
        let tag = |call, names: [&str; 2]| {
            names.iter().find_map(|name| self.analysis.constant_argument(call, name))
        };
        match (tag(receive, ["recvtag", "tag"]), tag(send, ["sendtag", "tag"])) {
            (Some(received), Some(sent)) => received == sent || received < 0,
            _ => true,
        }
    }

    /// Two calls whose datatypes are known and differ do not belong together.
    fn datatypes_match(&self, left: ValueId, right: ValueId) -> bool {
        let datatype = |call: ValueId| -> Option<ValueId> {
            let effects = self.analysis.mpi_call(call)?;
            let names = ["datatype", "sendtype", "recvtype"];
            let place = names.iter().find_map(|name| effects.argument(name))?;
            let id = *self.analysis.program.call_arguments(call).get(place)?;
            let known = matches!(
                self.analysis.program.value(id).is,
                Is::Number(_) | Is::Global(_) | Is::Constant | Is::ConstantAddress(_)
            );
            known.then_some(id)
        };
        match (datatype(left), datatype(right)) {
            (Some(left), Some(right)) => left == right,
            _ => true,
        }
    }

    /// Why an instruction was kept: those on whose behalf, up to where slicing began.
    pub fn reasons(&self, id: ValueId) -> Vec<ValueId> {
        std::iter::successors(self.parents.get(&id).copied(), |id| self.parents.get(id).copied())
            .take_while(|id| *id != ValueId::MAX)
            .collect()
    }

    /// Whether the payload argument of a kept MPI call is passed on.
    pub fn keeps_payload(&self, call: ValueId, argument: ValueId) -> bool {
        let constant = !self.is_variable(argument)
            && !matches!(
                self.analysis.program.value(argument).is,
                Is::Global(_) | Is::ConstantAddress(_) | Is::Function(_)
            );
        constant || self.carries.contains(&call) || self.may_be_constant(argument, &mut Vec::new())
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
