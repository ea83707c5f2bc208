//! Payload of messages: needed only where something else needs what arrives, and then at both ends.

use super::Slice;
use super::trial::Step;
use crate::analysis::ANY_LENGTH;
use crate::effects::{Use, is_mark_of_mpi};
use crate::program::*;
use kizami_model::Shape;

impl Slice<'_> {
    pub(super) fn visit_payload(&mut self, call: ValueId, argument: ValueId, of: Use) {
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

    /// The payload of a call matters.
    pub(super) fn carry(&mut self, call: ValueId) {
        if self.carries.insert(call) {
            self.note(Step::Carries(call));
            self.keep(call);
            // Once more, now with its payload.
            self.open.push(call);
        }
    }

    /// What arrives in one call left in another.
    pub(super) fn carry_partners(&mut self, call: ValueId) {
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

    /// Whether an address is that of a variable by which Fortran says something to MPI.
    fn is_mark(&self, argument: ValueId) -> bool {
        let value = self.analysis.program.value(argument);
        match value.is {
            Is::Global(_) => is_mark_of_mpi(&crate::llvm::name(value.handle)),
            Is::ConstantAddress(_) => self.is_mark(value.operands[0]),
            _ => false,
        }
    }

    /// Whether the payload argument of a kept MPI call is passed on.
    pub fn keeps_payload(&self, call: ValueId, argument: ValueId) -> bool {
        let constant = !self.is_variable(argument)
            && !matches!(
                self.analysis.program.value(argument).is,
                Is::Global(_) | Is::ConstantAddress(_) | Is::Function(_)
            );
        constant
            || self.is_mark(argument)
            || self.carries.contains(&call)
            || self.may_be_constant(argument, &mut Vec::new())
    }
}
