//! Loops of functions that do not communicate, counted where those that do call them.
//!
//! A function that is called in a loop without communication is gone from a skeleton, and its loops with it. If they run each
//! time it is called, and their rounds follow from its arguments, then they are counted before the outermost loop around each
//! call of it, as often as that call is made.

use super::{Candidate, Part, Rounds, Term, Trips, Within};
use crate::program::*;

/// Calls of calls are followed so far.
const DEEPEST: usize = 8;
/// A loop that would be counted in more places is not counted.
const MOST_PARTS: usize = 32;

/// A function and what its callers must multiply.
struct Called {
    function: FunctionId,
    rounds: Vec<Rounds>,
}

impl Trips<'_> {
    /// The way to count a loop of a function that does not communicate, in all its callers.
    pub(super) fn in_callers(&self, number: usize, chain: &[usize]) -> Option<Candidate> {
        let header = self.analysis.flow.loops[number].header;
        let called = self.whole_function(self.analysis.program.block(header).function, chain, None)?;
        let mut parts = Vec::new();
        self.climb(&called, DEEPEST, &mut parts)?;
        (!parts.is_empty()).then_some(Candidate { number, parts })
    }

    /// The rounds of loops, from the innermost outwards, that are all around something in a function, if that function does not
    /// communicate and always comes there.
    fn whole_function(
        &self,
        function: FunctionId,
        chain: &[usize],
        inside: Option<BlockId>,
    ) -> Option<Called> {
        let flow = &self.analysis.flow;
        if self.analysis.communicate.contains(&function) {
            return None;
        }
        let whole = Within::Function(function);
        let first = match chain.last() {
            Some(outermost) => flow.loops[*outermost].preheader?,
            None => inside?,
        };
        if !flow.controllers[first as usize].is_empty() || !self.each_round(chain, inside) {
            return None;
        }
        Some(Called { function, rounds: self.nest(chain, whole)? })
    }

    /// Whether each loop of a chain, and a block inside the innermost, comes exactly once in each round of the next.
    fn each_round(&self, chain: &[usize], inside: Option<BlockId>) -> bool {
        let flow = &self.analysis.flow;
        let block_in = |block: BlockId, number: usize| {
            let own_exit = |by: &BlockId| {
                flow.successors[*by as usize].iter().any(|to| !flow.loops[number].contains(*to))
            };
            let mut deciding =
                flow.controllers[block as usize].iter().filter(|by| flow.loops[number].contains(**by));
            flow.loop_of[block as usize] == Some(number) && deciding.all(own_exit)
        };
        let innermost = match (inside, chain.first()) {
            (Some(block), Some(number)) => block_in(block, *number),
            _ => true,
        };
        let pairs = chain.windows(2);
        innermost
            && pairs.into_iter().all(|pair| self.runs_each_round(&flow.loops[pair[0]], &flow.loops[pair[1]]))
    }

    /// Adds the places where a function's loops are counted: before its calls, or further out.
    fn climb(&self, called: &Called, left: usize, parts: &mut Vec<Part>) -> Option<()> {
        let calls = &self.analysis.callers[called.function as usize];
        if calls.is_empty() || left == 0 {
            return None;
        }
        for call in calls {
            let (block, _) = self.analysis.program.instruction(*call)?;
            let caller = self.analysis.program.block(block).function;
            let chain = self.chain(self.analysis.flow.loop_of[block as usize]);
            if self.analysis.communicate.contains(&caller) {
                parts.push(self.part(called, *call, &chain, block)?);
            } else {
                let mut outer = self.whole_function(caller, &chain, Some(block))?;
                let whole = Within::Function(caller);
                outer.rounds.extend(self.given(&called.rounds, *call, whole)?);
                self.climb(&outer, left - 1, parts)?;
            }
            if parts.len() > MOST_PARTS {
                return None;
            }
        }
        Some(())
    }

    /// The count of a function's loops for one call of it by a function that communicates.
    fn part(&self, called: &Called, call: ValueId, chain: &[usize], block: BlockId) -> Option<Part> {
        let (program, flow) = (self.analysis.program, &self.analysis.flow);
        if !self.each_round(chain, Some(block)) {
            return None;
        }
        let Some(outermost) = chain.last().map(|number| &flow.loops[*number]) else {
            let whole = Within::Function(called.function);
            return Some(Part { before: call, rounds: self.given(&called.rounds, call, whole)? });
        };
        let whole = Within::Loop(outermost);
        let mut rounds = self.nest(chain, whole)?;
        rounds.extend(self.given(&called.rounds, call, whole)?);
        Some(Part { before: program.terminator(outermost.preheader?), rounds })
    }

    /// Rounds of a function's loops with what a call gives for its arguments.
    fn given(&self, rounds: &[Rounds], call: ValueId, whole: Within) -> Option<Vec<Rounds>> {
        let one = |rounds: &Rounds| {
            let start = self.with_arguments(&rounds.start, call, whole)?;
            let bound = self.with_arguments(&rounds.bound, call, whole)?;
            let guard = |(condition, goes_on): &(Term, bool)| {
                Some((self.with_arguments(condition, call, whole)?, *goes_on))
            };
            let guards: Option<Vec<(Term, bool)>> = rounds.guards.iter().map(guard).collect();
            Some(Rounds { start, bound, guards: guards?, ..rounds.clone() })
        };
        rounds.iter().map(one).collect()
    }

    fn with_arguments(&self, term: &Term, call: ValueId, whole: Within) -> Option<Term> {
        let program = self.analysis.program;
        match term {
            Term::Known(id) => match program.value(*id).is {
                Is::Argument(_, number) => {
                    self.term(*program.call_arguments(call).get(number as usize)?, whole, 0)
                }
                _ => Some(term.clone()),
            },
            Term::Again(id, operands) => {
                if let Some((_, Action::Load(length))) = program.instruction(*id)
                    && !self.is_unchanged(program.value(*id).operands[0], *length, whole)
                {
                    return None;
                }
                let operands: Option<Vec<Term>> =
                    operands.iter().map(|operand| self.with_arguments(operand, call, whole)).collect();
                Some(Term::Again(*id, operands?))
            }
        }
    }
}
