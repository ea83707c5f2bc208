//! How often loops without communication go round, from what is known before they begin.
//!
//! The body of such a loop is not in the skeleton, but how often it would have run says how long the program computes. A
//! loop is counted if it has one exit that compares a variable of constant steps with something that does not change in
//! it. Loops inside others are counted once for the outermost one, by a product, where they run in each of its rounds, or by a
//! sum, where their ends move with the rounds of the next one as in a triangle ([`leaning`]); loops
//! of functions that do not communicate are counted where those that do call them ([`callers`]). Whether a count is worth
//! what it needs, [`crate::slice`] decides.

mod callers;
mod leaning;

use crate::analysis::Analysis;
use crate::builder::Builder;
use crate::flow::Loop;
use crate::llvm::Handle;
use crate::program::*;
use crate::taint::Taint;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionSetDebugLoc;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use rustc_hash::FxHashSet;

/// A number that is known before a loop begins.
#[derive(Clone, Debug)]
pub enum Term {
    /// A value from outside the loop.
    Known(ValueId),
    /// An instruction of the loop that gives the same in each round, with its operands.
    Again(ValueId, Vec<Term>),
}

impl Term {
    /// All values from outside that it is made of.
    pub fn known(&self, found: &mut Vec<ValueId>) {
        match self {
            Term::Known(id) => found.push(*id),
            Term::Again(_, operands) => operands.iter().for_each(|operand| operand.known(found)),
        }
    }

    /// All loads that are done once more.
    pub fn loads(&self, program: &Program, found: &mut Vec<ValueId>) {
        if let Term::Again(id, operands) = self {
            if let Some((_, Action::Load(_))) = program.instruction(*id) {
                found.push(*id);
            }
            operands.iter().for_each(|operand| operand.loads(program, found));
        }
    }
}

/// How often one loop goes round, each time it begins.
#[derive(Clone, Debug)]
struct Rounds {
    start: Term,
    bound: Term,
    step: i64,
    predicate: LLVMIntPredicate,
    /// The test comes at the end: one round is certain.
    at_least: i64,
    /// The test looks at the value of the next round.
    ahead: bool,
    /// Conditions that do not change in the loop, and what they must be for it to go round at all.
    guards: Vec<(Term, bool)>,
    /// By how much the way to go grows with each round of the next loop outwards.
    leans: i64,
}

impl Rounds {
    fn terms(&self) -> impl Iterator<Item = &Term> {
        [&self.start, &self.bound].into_iter().chain(self.guards.iter().map(|(condition, _)| condition))
    }
}

/// A loop that can be counted.
pub struct Candidate {
    /// Which loop of the flow.
    pub number: usize,
    /// Where: each adds to the count.
    pub parts: Vec<Part>,
}

/// A place where a loop is counted.
pub struct Part {
    /// The instruction before which it is counted.
    pub before: ValueId,
    /// The product of these.
    rounds: Vec<Rounds>,
}

impl Candidate {
    /// All that the count is made of.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let rounds = self.parts.iter().flat_map(|part| &part.rounds);
        rounds.flat_map(Rounds::terms)
    }
}

/// In which code a number must stay the same.
#[derive(Clone, Copy)]
enum Within<'a> {
    /// In all rounds of a loop.
    Loop(&'a Loop),
    /// From the beginning of a function to its end.
    Function(FunctionId),
}

impl Within<'_> {
    fn contains(self, program: &Program, block: BlockId) -> bool {
        match self {
            Within::Loop(of) => of.contains(block),
            Within::Function(function) => program.block(block).function == function,
        }
    }
}

/// Finds loops without communication, and ways to count them: the first way is the best.
pub struct Trips<'a> {
    analysis: &'a Analysis<'a>,
    taint: &'a Taint<'a>,
}

impl<'a> Trips<'a> {
    /// Prepares to look for loops.
    pub fn of(analysis: &'a Analysis<'a>, taint: &'a Taint<'a>) -> Trips<'a> {
        Trips { analysis, taint }
    }

    /// The loops without communication that a run may come to.
    pub fn silent_loops(&self) -> Vec<usize> {
        let loops = &self.analysis.flow.loops;
        (0..loops.len())
            .filter(|number| {
                let function = self.analysis.program.block(loops[*number].header).function;
                self.analysis.reachable[function as usize] && self.analysis.silent[*number]
            })
            .collect()
    }

    /// A loop and the loops without communication around it, outwards.
    fn chain(&self, innermost: Option<usize>) -> Vec<usize> {
        let silent = |number: &usize| self.analysis.silent[*number];
        let outer = |number: &usize| self.analysis.flow.loops[*number].outer.filter(silent);
        std::iter::successors(innermost.filter(silent), outer).collect()
    }

    /// The ways to count a loop, the outermost first.
    pub fn candidates(&self, number: usize) -> Vec<Candidate> {
        let flow = &self.analysis.flow;
        let chain = self.chain(Some(number));
        let by_callers = self.in_callers(number, &chain).into_iter();
        let ways = (0..chain.len()).rev().filter_map(|level| {
            let outermost = &flow.loops[chain[level]];
            let anchor = outermost.preheader?;
            let each_round =
                |pair: &[usize]| self.runs_each_round(&flow.loops[pair[0]], &flow.loops[pair[1]]);
            if !chain[..=level].windows(2).all(each_round) {
                return None;
            }
            let rounds = self.nest(&chain[..=level], Within::Loop(outermost))?;
            let before = self.analysis.program.terminator(anchor);
            Some(Candidate { number, parts: vec![Part { before, rounds }] })
        });
        by_callers.chain(ways).chain([self.by_ticks(number)]).collect()
    }

    /// Counts each round as it ends, for loops that a skeleton goes round itself.
    fn by_ticks(&self, number: usize) -> Candidate {
        let latches = self.analysis.flow.loops[number].latches.iter();
        let tick =
            |latch: &BlockId| Part { before: self.analysis.program.terminator(*latch), rounds: Vec::new() };
        Candidate { number, parts: latches.map(tick).collect() }
    }

    /// Whether a loop begins exactly once in each round of another.
    fn runs_each_round(&self, inner: &Loop, outer: &Loop) -> bool {
        let Some(before) = inner.preheader else { return false };
        let own_exit = |block: &BlockId| {
            self.analysis.flow.successors[*block as usize].iter().any(|to| !outer.contains(*to))
        };
        let deciding =
            self.analysis.flow.controllers[before as usize].iter().filter(|block| outer.contains(**block));
        self.analysis.flow.loop_of[before as usize]
            .is_some_and(|number| std::ptr::eq(&self.analysis.flow.loops[number], outer))
            && deciding.into_iter().all(own_exit)
    }

    /// How often a loop goes round, if that is known before `whole` begins; its ends may move with the rounds of a loop
    /// `around` it.
    fn rounds(&self, of: &Loop, whole: Within, around: Option<&Loop>) -> Option<Rounds> {
        let program = self.analysis.program;
        let flow = &self.analysis.flow;
        let exits = |block: &&BlockId| flow.successors[**block as usize].iter().any(|to| !of.contains(*to));
        let exiting: Vec<BlockId> = of.blocks.iter().filter(exits).copied().collect();
        let [latch] = &of.latches[..] else { return None };
        let by_exit = |block: &BlockId| exiting.contains(block) || !of.contains(*block);
        if !exiting.iter().all(|exit| flow.controllers[*exit as usize].iter().all(by_exit)) {
            return None;
        }
        // All exits but one are left for good or not at all.
        let guard = |exit: &BlockId| self.guard(*exit, of, whole);
        let (mut guards, mut moving) = (Vec::new(), Vec::new());
        for exit in &exiting {
            match guard(exit) {
                Some(guard) => guards.push(guard),
                None => moving.push(exit),
            }
        }
        let [exit] = moving[..] else { return None };
        let last = program.terminator(*exit);
        let condition = *program.value(last).operands.first()?;
        let (mut predicate, left, right) = comparison(program, condition)?;
        // The predicate under which the loop goes on.
        if program.block(*exit).successors.first().is_some_and(|to| !of.contains(*to)) {
            predicate = opposite(predicate);
        }
        let (variable, bound, predicate) = match self.steps(of, left) {
            Some(variable) => (variable, right, predicate),
            None => (self.steps(of, right)?, left, mirrored(predicate)),
        };
        let (start, step, ahead) = variable;
        let (start, start_moves) = self.moving(start, whole, around)?;
        let (bound, bound_moves) = self.moving(bound, whole, around)?;
        let leans = (bound_moves - start_moves) * step.signum();
        let at_least = i64::from(*exit == *latch && (*exit != of.header || of.blocks.len() == 1));
        use LLVMIntPredicate::*;
        let fits = match predicate {
            LLVMIntSLT | LLVMIntSLE | LLVMIntULT | LLVMIntULE => step > 0,
            LLVMIntSGT | LLVMIntSGE | LLVMIntUGT | LLVMIntUGE => step < 0,
            LLVMIntNE => step.abs() == 1,
            LLVMIntEQ => false,
        };
        fits.then_some(Rounds { start, bound, step, predicate, at_least, ahead, guards, leans })
    }

    /// For an exit whose condition does not change: the condition, and what it is while the loop goes round.
    fn guard(&self, exit: BlockId, of: &Loop, whole: Within) -> Option<(Term, bool)> {
        let program = self.analysis.program;
        let condition = *program.value(program.terminator(exit)).operands.first()?;
        let [to_true, _] = program.block(exit).successors[..] else { return None };
        Some((self.term(condition, whole, 0)?, of.contains(to_true)))
    }

    /// For a variable of constant steps: where it starts, its step, and whether this is its next value.
    fn steps(&self, of: &Loop, id: ValueId) -> Option<(ValueId, i64, bool)> {
        let program = self.analysis.program;
        if let Some((_, Action::Cast)) = program.instruction(id) {
            // Widened for the comparison.
            return self.steps(of, program.value(id).operands[0]);
        }
        match program.instruction(id)? {
            (block, Action::Phi(from)) if block == of.header => {
                let operands = &program.value(id).operands;
                let outside = from.iter().position(|from| Some(*from) == of.preheader)?;
                let inside = from.iter().position(|from| of.latches.contains(from))?;
                let step = self.step_of(operands[inside], id)?;
                Some((operands[outside], step, false))
            }
            (block, Action::Arithmetic) if of.contains(block) => {
                let phi = *program.value(id).operands.iter().find(|operand| {
                    matches!(program.instruction(**operand), Some((at, Action::Phi(_))) if at == of.header)
                })?;
                let (start, step, _) = self.steps(of, phi)?;
                (self.step_of(id, phi)? == step).then_some((start, step, true))
            }
            _ => None,
        }
    }

    /// By how much an instruction differs from a phi: the constant it adds.
    fn step_of(&self, next: ValueId, phi: ValueId) -> Option<i64> {
        let program = self.analysis.program;
        let value = program.value(next);
        let (_, Action::Arithmetic) = program.instruction(next)? else { return None };
        let [left, right] = value.operands[..] else { return None };
        // SAFETY: an instruction of the living module.
        match unsafe { LLVMGetInstructionOpcode(value.handle) } {
            LLVMOpcode::LLVMAdd if left == phi => program.number(right),
            LLVMOpcode::LLVMAdd if right == phi => program.number(left),
            LLVMOpcode::LLVMSub if left == phi => program.number(right).map(|step| -step),
            _ => None,
        }
        .filter(|step| *step != 0)
    }

    /// A value as it is before some code begins, if it is the same wherever it is asked for there.
    fn term(&self, id: ValueId, of: Within, depth: u32) -> Option<Term> {
        let program = self.analysis.program;
        let value = program.value(id);
        let action = match program.instruction(id) {
            Some((block, action)) if of.contains(program, block) => action,
            // If it depends on data, it is known only where the skeleton asks for it: the slice knows.
            _ => return Some(Term::Known(id)),
        };
        if self.taint.value(id) != 0 || depth > 8 {
            return None;
        }
        match action {
            Action::Load(length) if self.is_unchanged(value.operands[0], *length, of) => {}
            Action::Arithmetic | Action::Cast | Action::Offset(_) => {}
            _ => return None,
        }
        if value.operands.iter().any(|operand| program.value(*operand).kind == Kind::Float) {
            return None;
        }
        let operands: Option<Vec<Term>> =
            value.operands.iter().map(|operand| self.term(*operand, of, depth + 1)).collect();
        Some(Term::Again(id, operands?))
    }

    /// Whether nothing in some code, or in what it calls, writes what an address points to.
    fn is_unchanged(&self, address: ValueId, length: u64, of: Within) -> bool {
        let program = self.analysis.program;
        let mut inside: FxHashSet<FunctionId> = FxHashSet::default();
        let mut open: Vec<FunctionId> = match of {
            Within::Function(function) => vec![function],
            Within::Loop(of) => {
                let calls = self.analysis.calls_in(of);
                calls.iter().flat_map(|call| self.analysis.memory.callees(program, *call)).collect()
            }
        };
        while let Some(function) = open.pop() {
            if inside.insert(function) {
                for id in self.analysis.passable_instructions(function) {
                    open.extend(self.analysis.memory.callees(program, id));
                }
            }
        }
        let writes = |by: ValueId| {
            let (block, _) = program.instruction(by).expect("writers are instructions");
            of.contains(program, block) || inside.contains(&program.block(block).function)
        };
        let places = self.analysis.memory.targets(address);
        !places.is_empty()
            && places
                .iter()
                .all(|place| self.analysis.writers_of(*place, length).all(|access| !writes(access.by)))
    }
}

/// Builds the count of a loop in all its places, and the calls that tell it.
pub fn build(builder: &Builder, program: &Program, candidate: &Candidate, id: u32) {
    for part in &candidate.parts {
        builder.before(program.value(part.before).handle);
        let mut product = builder.number(64, 1);
        let mut rounds = part.rounds.iter();
        while let Some(inner) = rounds.next() {
            let around = if inner.leans == 0 { None } else { rounds.next() };
            let around = around.map(|around| build_rounds(builder, program, around, None));
            let count = build_rounds(builder, program, inner, around);
            // SAFETY: two integers of 64 bits of the living module.
            product = unsafe { LLVMBuildMul(builder.raw(), product, count, c"".as_ptr()) };
        }
        let mut arguments = [builder.number(32, i64::from(id)), product];
        builder.call("__kizami_trips", None, &[32, 64], &mut arguments);
    }
}

/// How often a loop goes round, or, if it leans, in so many rounds of the next loop outwards.
fn build_rounds(builder: &Builder, program: &Program, rounds: &Rounds, around: Option<Handle>) -> Handle {
    use LLVMIntPredicate::*;
    let unsigned = matches!(rounds.predicate, LLVMIntULT | LLVMIntULE | LLVMIntUGT | LLVMIntUGE);
    let start = widened(builder, build_term(builder, program, &rounds.start), unsigned);
    let bound = widened(builder, build_term(builder, program, &rounds.bound), unsigned);
    let raw = builder.raw();
    let none = c"".as_ptr();
    let number = |value| builder.number(64, value);
    // SAFETY: all are integers of 64 bits of the living module.
    unsafe {
        let first = if rounds.ahead { LLVMBuildAdd(raw, start, number(rounds.step), none) } else { start };
        let way = if rounds.step > 0 {
            LLVMBuildSub(raw, bound, first, none)
        } else {
            LLVMBuildSub(raw, first, bound, none)
        };
        let inclusive = matches!(rounds.predicate, LLVMIntSLE | LLVMIntSGE | LLVMIntULE | LLVMIntUGE);
        let step = rounds.step.abs();
        let more = LLVMBuildAdd(raw, way, number(step - 1 + i64::from(inclusive)), none);
        let (count, times) = match around {
            Some(times) => {
                let mut arguments = [times, more, number(rounds.leans), number(step)];
                (builder.call("__kizami_leaning", Some(64), &[64; 4], &mut arguments), times)
            }
            None => {
                let count = LLVMBuildSDiv(raw, more, number(step), none);
                let is_some = LLVMBuildICmp(raw, LLVMIntSGT, more, number(0), none);
                (LLVMBuildSelect(raw, is_some, count, number(0), none), number(1))
            }
        };
        let certain = LLVMBuildMul(raw, times, number(rounds.at_least), none);
        let count = LLVMBuildAdd(raw, count, certain, none);
        rounds.guards.iter().fold(count, |count, (condition, goes_on)| {
            let condition = build_term(builder, program, condition);
            let (yes, no) = if *goes_on { (count, number(0)) } else { (number(0), count) };
            LLVMBuildSelect(raw, condition, yes, no, none)
        })
    }
}

fn widened(builder: &Builder, value: Handle, unsigned: bool) -> Handle {
    // SAFETY: an integer of the living module.
    unsafe {
        if unsigned && LLVMGetIntTypeWidth(LLVMTypeOf(value)) < 64 {
            return LLVMBuildZExt(builder.raw(), value, builder.integer(64), c"".as_ptr());
        }
    }
    builder.widened(value)
}

fn build_term(builder: &Builder, program: &Program, term: &Term) -> Handle {
    match term {
        Term::Known(id) => program.value(*id).handle,
        Term::Again(id, operands) => {
            let operands: Vec<Handle> =
                operands.iter().map(|operand| build_term(builder, program, operand)).collect();
            // SAFETY: a copy of an instruction of the living module, with operands that are known where it is put.
            unsafe {
                let copy = LLVMInstructionClone(program.value(*id).handle);
                for (number, operand) in operands.into_iter().enumerate() {
                    LLVMSetOperand(copy, number as u32, operand);
                }
                // It may come from another function, whose lines have no meaning here.
                LLVMInstructionSetDebugLoc(copy, std::ptr::null_mut());
                LLVMInsertIntoBuilder(builder.raw(), copy);
                copy
            }
        }
    }
}

/// A comparison of integers: predicate and both sides.
fn comparison(program: &Program, id: ValueId) -> Option<(LLVMIntPredicate, ValueId, ValueId)> {
    let value = program.value(id);
    let (_, Action::Arithmetic) = program.instruction(id)? else { return None };
    // SAFETY: an instruction of the living module, asked for its predicate only if it is a comparison.
    unsafe {
        if LLVMGetInstructionOpcode(value.handle) != LLVMOpcode::LLVMICmp {
            return None;
        }
        let [left, right] = value.operands[..] else { return None };
        let integers = matches!(program.value(left).kind, Kind::Integer(_));
        integers.then(|| (LLVMGetICmpPredicate(value.handle), left, right))
    }
}

fn opposite(predicate: LLVMIntPredicate) -> LLVMIntPredicate {
    use LLVMIntPredicate::*;
    match predicate {
        LLVMIntEQ => LLVMIntNE,
        LLVMIntNE => LLVMIntEQ,
        LLVMIntSLT => LLVMIntSGE,
        LLVMIntSGE => LLVMIntSLT,
        LLVMIntSGT => LLVMIntSLE,
        LLVMIntSLE => LLVMIntSGT,
        LLVMIntULT => LLVMIntUGE,
        LLVMIntUGE => LLVMIntULT,
        LLVMIntUGT => LLVMIntULE,
        LLVMIntULE => LLVMIntUGT,
    }
}

fn mirrored(predicate: LLVMIntPredicate) -> LLVMIntPredicate {
    use LLVMIntPredicate::*;
    match predicate {
        LLVMIntSLT => LLVMIntSGT,
        LLVMIntSGT => LLVMIntSLT,
        LLVMIntSLE => LLVMIntSGE,
        LLVMIntSGE => LLVMIntSLE,
        LLVMIntULT => LLVMIntUGT,
        LLVMIntUGT => LLVMIntULT,
        LLVMIntULE => LLVMIntUGE,
        LLVMIntUGE => LLVMIntULE,
        same => same,
    }
}
