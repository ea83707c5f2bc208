//! Loops whose ends move with the rounds of the next loop outwards, as in a triangle.
//!
//! Where start and bound grow by a constant in each round of the loop around, the rounds of all of them are the sum of a line,
//! which whoever runs the skeleton knows without going round.

use super::{Rounds, Term, Trips, Within};
use crate::flow::Loop;
use crate::program::*;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::LLVMGetInstructionOpcode;

impl Trips<'_> {
    /// The rounds of loops inside each other, from the innermost outwards. One that leans does so on one that does not.
    pub(super) fn nest(&self, chain: &[usize], whole: Within) -> Option<Vec<Rounds>> {
        let loops = &self.analysis.flow.loops;
        let around = |level: usize| chain.get(level + 1).map(|number| &loops[*number]);
        let rounds: Option<Vec<Rounds>> =
            (0..chain.len()).map(|level| self.rounds(&loops[chain[level]], whole, around(level))).collect();
        let leans = |pair: &[Rounds]| pair[0].leans != 0 && pair[1].leans != 0;
        rounds.filter(|rounds| !rounds.windows(2).any(leans))
    }

    /// A value as it is in the first round of a loop around, and by how much it grows with each.
    pub(super) fn moving(&self, id: ValueId, whole: Within, around: Option<&Loop>) -> Option<(Term, i64)> {
        if let Some(term) = self.term(id, whole, 0) {
            return Some((term, 0));
        }
        let (program, around) = (self.analysis.program, around?);
        let value = program.value(id);
        match program.instruction(id)? {
            (block, Action::Phi(_)) if block == around.header => {
                let (start, step, _) = self.steps(around, id)?;
                Some((self.term(start, whole, 0)?, step))
            }
            (_, Action::Cast) => {
                let (term, moves) = self.moving(value.operands[0], whole, Some(around))?;
                Some((Term::Again(id, vec![term]), moves))
            }
            (_, Action::Arithmetic) => {
                let [left, right] = value.operands[..] else { return None };
                let (left, left_moves) = self.moving(left, whole, Some(around))?;
                let (right, right_moves) = self.moving(right, whole, Some(around))?;
                // SAFETY: an instruction of the living module.
                let moves = match unsafe { LLVMGetInstructionOpcode(value.handle) } {
                    LLVMOpcode::LLVMAdd => left_moves + right_moves,
                    LLVMOpcode::LLVMSub => left_moves - right_moves,
                    _ => return None,
                };
                Some((Term::Again(id, vec![left, right]), moves))
            }
            _ => None,
        }
    }
}
