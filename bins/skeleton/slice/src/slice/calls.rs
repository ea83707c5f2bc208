//! What a call needs, inside the program and outside.

use super::Slice;
use super::trial::Step;
use crate::analysis::ANY_LENGTH;
use crate::effects::{Effects, Use};
use crate::memory::Object;
use crate::program::*;

impl Slice<'_> {
    pub(super) fn visit_call(&mut self, id: ValueId, callee: Callee) {
        let program = self.analysis.program;
        if callee == Callee::Assembly {
            let why = "communication depends on inline assembly";
            self.refuse(id, why.to_owned());
            return;
        }
        let callees = self.analysis.memory.callees(program, id);
        if callee == Callee::Indirect {
            let pointer = *program.value(id).operands.last().expect("a call has a callee");
            self.need(pointer);
            if callees.is_empty() {
                let why = "calls a function pointer that comes from code outside the program";
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

    /// What a call does with an array that it is given by its descriptor.
    fn visit_array(&mut self, call: ValueId, number: usize, of: Use) {
        for place in self.analysis.memory.described(call, number).to_vec() {
            if of.writes() {
                self.act(self.analysis.program.function_of(call).expect("a call is in a function"));
            }
            if of.reads() {
                self.need_memory(place.anywhere(), ANY_LENGTH);
            }
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
            self.visit_array(call, number, of);
            match of {
                Use::Nothing => {}
                Use::Data(_) => self.visit_payload(call, *argument, of),
                Use::Callback => self.need_whole(call, *argument),
                _ => {
                    self.need(*argument);
                    // A descriptor says where the array is, also to who writes to it.
                    if (of.reads() || effects.descriptors && of.writes()) && !copies {
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
            self.refuse(
                call,
                "passes on a function pointer that comes from code outside the program".to_owned(),
            );
        }
        for target in targets {
            self.analysis.passable_instructions(target).into_iter().for_each(|id| self.keep(id));
        }
    }
}
