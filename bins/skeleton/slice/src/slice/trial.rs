//! Tries what the count of a loop would add to a slice, and takes it back if that is too much.

use super::Slice;
use crate::memory::Place;
use crate::program::*;
use crate::trips::Candidate;

/// A change that can be taken back.
pub(super) enum Step {
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

impl Slice<'_> {
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
        for part in &candidate.parts {
            let (anchor, _) = program.instruction(part.before).expect("counts stand before instructions");
            self.need_block(anchor);
            self.act(program.block(anchor).function);
        }
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

    pub(super) fn note(&mut self, step: Step) {
        if let Some(journal) = &mut self.journal {
            journal.push(step);
        }
    }
}
