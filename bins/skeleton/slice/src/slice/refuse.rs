//! What cannot be sliced, and why: found before anything runs.

use super::Slice;
use super::trial::Step;
use crate::memory::Object;
use crate::program::*;
use crate::taint::SENDER;

/// Functions of Fortran's run-time library that reach memory through descriptors of arrays.
const FORTRAN_ARRAYS: [&str; 4] =
    ["_FortranAAssign", "_FortranAPointer", "_FortranACopy", "_FortranAAllocatableSetBounds"];

impl Slice<'_> {
    /// Who sent a message may decide what is sent, but not what happens: it would differ in the next run.
    pub(super) fn refuse_senders(&mut self, branch: ValueId, condition: ValueId) {
        if self.taint.value(condition) & SENDER != 0 {
            let why = "what happens next depends on who sent a message that was received from MPI_ANY_SOURCE";
            self.refuse(branch, why.to_owned());
        }
    }

    /// Functions that call MPI and are handed to others: threads, or callbacks of libraries.
    pub(super) fn refuse_strangers(&mut self) {
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

    pub(super) fn refuse(&mut self, id: ValueId, why: String) {
        if !self.refused.iter().any(|(known, reason)| *known == id && *reason == why) {
            self.refused.push((id, why));
            self.note(Step::Refused);
        }
    }
}
