//! What the instructions of a program say about pointers, before any of it is solved.

use super::{Object, ObjectId, Place};
use crate::effects::{EffectTable, Effects, Outcome, Use};
use crate::program::*;
use rustc_hash::FxHashMap;

/// Number of a variable: that of its value, or one of a piece of memory behind all values.
pub(super) type Variable = u32;

/// How an address changes from one variable to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Move {
    /// By so many bytes.
    pub bytes: i64,
    /// And by multiples of this.
    pub stride: u64,
    /// And by up to so many bytes more.
    pub width: u64,
}

impl Move {
    /// The same address.
    pub const NONE: Move = Move { bytes: 0, stride: 0, width: 0 };
    /// Any address in the same object.
    pub const ANYWHERE: Move = Move { bytes: 0, stride: 1, width: 0 };
}

/// All constraints on what pointers point to.
#[derive(Default)]
pub(super) struct Constraints {
    pub objects: Vec<Object>,
    pub numbers: FxHashMap<Object, ObjectId>,
    /// What a variable surely may point to.
    pub given: Vec<(Variable, Place)>,
    /// What one variable may point to, another may, moved.
    pub flows: Vec<(Variable, Variable, Move)>,
    /// `.1` is loaded from where `.0` points.
    pub loads: Vec<(Variable, Variable)>,
    /// `.1` is stored to where `.0` points.
    pub stores: Vec<(Variable, Variable)>,
    /// What `.1` points to is copied to where `.0` points.
    pub copies: Vec<(Variable, Variable)>,
    /// Calls of what a variable points to.
    pub calls: Vec<(Variable, ValueId)>,
    /// Of a call and one of its arguments: the array that the descriptor there describes.
    pub described: Vec<(ValueId, u32, Variable)>,
    /// Memory that begins with a pointer.
    pub initial: Vec<(Place, Variable)>,
    /// How many variables there are.
    pub variables: u32,
}

impl Constraints {
    pub fn of(program: &Program, effects: &EffectTable) -> Constraints {
        let mut all = Constraints { variables: program.values.len() as u32, ..Constraints::default() };
        for (id, value) in program.values.iter().enumerate() {
            all.of_value(program, effects, id as ValueId, value);
        }
        if let Some(main) = program.functions.iter().find(|f| f.name == "main")
            && let Some(words) = main.arguments.get(1)
        {
            let list = all.start(Object::CommandLine(false));
            all.given.push((*words, list));
            all.holds(list.anywhere(), Object::CommandLine(true));
        }
        all
    }

    /// The number of an object, and its beginning.
    pub fn start(&mut self, object: Object) -> Place {
        let next = self.objects.len() as ObjectId;
        let number = *self.numbers.entry(object).or_insert(next);
        if number == next {
            self.objects.push(object);
        }
        Place { object: number, offset: 0, stride: 0, width: 0 }
    }

    /// Memory that holds a pointer to an object from the beginning.
    fn holds(&mut self, place: Place, object: Object) {
        let variable = self.variables;
        self.variables += 1;
        let target = self.start(object);
        self.given.push((variable, target));
        self.initial.push((place, variable));
    }

    fn of_value(&mut self, program: &Program, effects: &EffectTable, id: ValueId, value: &Value) {
        match &value.is {
            Is::Global(global) => {
                let start = self.start(Object::Global(id));
                self.given.push((id, start));
                for (at, address) in &global.addresses {
                    self.initial.push((start.moved(Move { bytes: *at as i64, ..Move::NONE }), *address));
                }
                if !global.defined {
                    self.holds(start.anywhere(), Object::Library(id));
                }
            }
            Is::Function(function) => {
                let start = self.start(Object::Code(*function));
                self.given.push((id, start));
            }
            Is::ConstantAddress(bytes) => {
                self.flows.push((value.operands[0], id, Move { bytes: *bytes, ..Move::NONE }))
            }
            Is::Constant => {
                value.operands.iter().for_each(|operand| self.flows.push((*operand, id, Move::NONE)));
            }
            Is::Instruction(_, action) => self.of_instruction(program, effects, id, value, action),
            Is::Argument(..) | Is::Number(_) => {}
        }
    }

    fn of_instruction(
        &mut self,
        program: &Program,
        effects: &EffectTable,
        id: ValueId,
        value: &Value,
        action: &Action,
    ) {
        let may_be_address =
            |id: ValueId| matches!(program.value(id).kind, Kind::Pointer | Kind::Integer(64) | Kind::Other);
        match action {
            Action::Alloca => {
                let start = self.start(Object::Stack(id));
                self.given.push((id, start));
            }
            Action::Load(_) if may_be_address(id) => self.loads.push((value.operands[0], id)),
            Action::Store(_) if may_be_address(value.operands[0]) => {
                self.stores.push((value.operands[1], value.operands[0]));
            }
            Action::Offset(offset) => {
                let stride = offset.strides.iter().copied().fold(0, super::gcd);
                self.flows.push((
                    value.operands[0],
                    id,
                    Move { bytes: offset.bytes, stride, width: offset.width },
                ));
            }
            Action::Call(Callee::Direct(function)) => match effects.get(*function) {
                Some(outside) => self.of_outside(program, id, outside),
                None => self.link(program, id, *function),
            },
            Action::Call(Callee::Indirect) => {
                let callee = value.operands[value.operands.len() - 1];
                self.calls.push((callee, id));
            }
            Action::Phi(_) | Action::Select | Action::Cast | Action::Else if may_be_address(id) => {
                value.operands.iter().for_each(|operand| self.flows.push((*operand, id, Move::NONE)));
            }
            Action::Arithmetic if may_be_address(id) => {
                value.operands.iter().for_each(|operand| self.flows.push((*operand, id, Move::ANYWHERE)));
            }
            _ => {}
        }
    }

    /// Ties a call to a function of the program.
    pub fn link(&mut self, program: &Program, call: ValueId, function: FunctionId) {
        let callee = program.function(function);
        for (actual, formal) in program.call_arguments(call).iter().zip(&callee.arguments) {
            self.flows.push((*actual, *formal, Move::NONE));
        }
        for block in &callee.blocks {
            let last = program.terminator(*block);
            if let Some((_, Action::End(Ending::Return))) = program.instruction(last)
                && let Some(result) = program.value(last).operands.first()
            {
                self.flows.push((*result, call, Move::NONE));
            }
        }
    }

    /// What a call of a function outside the program does to pointers.
    pub fn of_outside(&mut self, program: &Program, call: ValueId, effects: &Effects) {
        let arguments = program.call_arguments(call);
        match effects.outcome {
            Outcome::Fresh => {
                let start = self.start(Object::Heap(call));
                self.given.push((call, start));
            }
            Outcome::Argument(number) if number < arguments.len() => {
                self.flows.push((arguments[number], call, Move::ANYWHERE));
            }
            Outcome::External => {
                let start = self.start(Object::Library(call));
                self.given.push((call, start));
                self.holds(start.anywhere(), Object::Library(call));
                if !effects.known {
                    arguments.iter().for_each(|argument| self.flows.push((*argument, call, Move::ANYWHERE)));
                }
            }
            _ => {}
        }
        for (number, argument) in arguments.iter().enumerate() {
            match effects.of(number) {
                Use::CopiedToFirst if effects.outcome == Outcome::Fresh => {
                    self.copies.push((call, *argument))
                }
                Use::CopiedToFirst => self.copies.push((arguments[0], *argument)),
                Use::Allocates => {
                    let variable = self.variables;
                    self.variables += 1;
                    let start = self.start(Object::Heap(call));
                    self.given.push((variable, start));
                    self.stores.push((*argument, variable));
                }
                _ => {}
            }
        }
        if effects.descriptors {
            self.descriptors(program, call, effects);
        }
        self.callbacks(program, arguments, effects);
    }

    /// A descriptor begins with the address of its array.
    fn descriptors(&mut self, program: &Program, call: ValueId, effects: &Effects) {
        for (number, argument) in program.call_arguments(call).iter().enumerate() {
            let of = effects.of(number);
            if program.value(*argument).kind == Kind::Pointer && (of.reads() || of.writes()) {
                let array = self.variables;
                self.variables += 1;
                self.loads.push((*argument, array));
                self.described.push((call, number as u32, array));
            }
        }
    }

    /// A function that is called back gets the other pointers of the call.
    fn callbacks(&mut self, program: &Program, arguments: &[ValueId], effects: &Effects) {
        for (number, argument) in arguments.iter().enumerate() {
            let Is::Function(function) = program.value(*argument).is else { continue };
            if effects.of(number) != Use::Callback {
                continue;
            }
            for formal in &program.function(function).arguments {
                for actual in arguments {
                    self.flows.push((*actual, *formal, Move::ANYWHERE));
                }
            }
        }
    }
}
