//! What cannot be sliced, and why: found before anything runs.

use super::Slice;
use super::trial::Step;
use crate::effects::{Effects, Use};
use crate::memory::{Object, Place};
use crate::program::*;
use crate::taint::SENDER;
use std::collections::HashMap;

impl Slice<'_> {
    /// Who sent a message may decide what is sent, and in which order it is kept, but not which calls are made: those would be
    /// others in the next run.
    pub(super) fn refuse_senders(&mut self, branch: ValueId, condition: ValueId) {
        if self.taint.value(condition) & SENDER != 0 && self.analysis.decides_calls(branch) {
            let why = "control flow depends on the sender of a message received from MPI_ANY_SOURCE";
            self.refuse(branch, why.to_owned());
        }
    }

    /// What code without source hides: functions that call MPI, and functions of ours that call MPI and are handed to it.
    /// `strangers` are functions of libraries that call MPI, with the library of each.
    pub fn refuse_strangers(&mut self, strangers: &HashMap<String, String>) {
        let program = self.analysis.program;
        for call in self.analysis.instructions() {
            let Some(effects) = self.analysis.effects.call(program, call) else { continue };
            if effects.mpi.is_some() {
                continue;
            }
            let called = &program.function(program.called(call).expect("it has effects")).name;
            let speaks = self.hands_on_communication(call, effects);
            if let Some(library) = strangers.get(called) {
                let why = format!(
                    "{called} is in {library}, which calls MPI and has no LLVM IR to slice; compile it with this \
                     command and link it statically"
                );
                self.refuse(call, why);
            } else if speaks && called.starts_with("pthread_") {
                self.refuse(call, "a thread calls MPI; a skeleton has one thread per rank".to_owned());
            } else if speaks {
                let why = format!("{called}, whose source is unknown, receives a function that calls MPI");
                self.refuse(call, why);
            }
        }
    }

    /// Whether a call of a library hands it a function that communicates, and that it may call.
    fn hands_on_communication(&self, call: ValueId, effects: &Effects) -> bool {
        let memory = &self.analysis.memory;
        let communicates = |place: &Place| {
            matches!(memory.object(place.object), Object::Code(function)
                if self.analysis.communicate.contains(&function))
        };
        self.analysis.program.call_arguments(call).iter().enumerate().any(|(number, argument)| {
            // What is written down calls nobody but callbacks; `nothing` says that of results only.
            let may_call = !effects.known || effects.nothing || effects.of(number) == Use::Callback;
            may_call && memory.targets(*argument).iter().any(communicates)
        })
    }

    pub(super) fn refuse(&mut self, id: ValueId, why: String) {
        if !self.refused.iter().any(|(known, reason)| *known == id && *reason == why) {
            self.refused.push((id, why));
            self.note(Step::Refused);
        }
    }
}
