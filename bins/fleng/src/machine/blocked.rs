//! Goals that are left when nothing can run any more: what each is, and what it waits for.
//!
//! It promises the same list whatever the order of the run.

use super::goals::Goal;
use super::heap::Heap;
use super::look::{Looks, Stop};
use super::run::SHORT;
use super::text::Writer;
use super::word::Word;
use crate::outcome::{BlockedGoal, Outcome};
use crate::program::{Callee, Program};

/// The first of the goals, told in the order of lines, times and texts.
pub(super) fn list(program: &Program, heap: &Heap, mut goals: Vec<Goal>) -> Vec<BlockedGoal> {
    let key = |goal: &Goal| (program.sites[goal.site as usize].line, goal.born);
    goals.sort_unstable_by_key(key);
    // Those alike in line and time are all written, as only their texts tell which comes first.
    if let Some(last) = goals.get(Outcome::MOST_LISTED - 1).map(key) {
        goals.truncate(goals.partition_point(|goal| key(goal) <= last));
    }
    let mut blocked: Vec<BlockedGoal> = goals.iter().filter_map(|goal| one(program, heap, goal)).collect();
    blocked
        .sort_by(|a, b| (a.line, a.born, &a.goal, &a.variable).cmp(&(b.line, b.born, &b.goal, &b.variable)));
    blocked.truncate(Outcome::MOST_LISTED);
    blocked
}

fn one(program: &Program, heap: &Heap, goal: &Goal) -> Option<BlockedGoal> {
    let site = &program.sites[goal.site as usize];
    let variable = waits_for(program, heap, goal)?;
    let mut writer = Writer::new(program, heap);
    let text = writer.text(goal.term, SHORT);
    let clause = heap.origin(variable).clause as usize;
    Some(BlockedGoal {
        name: program.symbols.name(site.name).to_owned(),
        arity: site.arity,
        line: site.line,
        born: goal.born,
        goal: text,
        variable: writer.name(variable),
        variable_line: program.clauses[clause].line,
    })
}

/// The variable at which the goal's look ends.
fn waits_for(program: &Program, heap: &Heap, goal: &Goal) -> Option<usize> {
    let mut looks = Looks::default();
    let stop = match program.sites[goal.site as usize].callee {
        Callee::Builtin(builtin) => heap.compute(builtin, goal.place(), &mut looks).err(),
        Callee::Predicate(kind) => program.predicates[kind as usize].clauses.iter().find_map(|number| {
            let clause = &program.clauses[*number as usize];
            let mut kept = vec![Word::UNBOUND; clause.variables.len()];
            heap.fits(&clause.head, goal.place(), &mut kept, &mut looks).err()
        }),
    };
    match stop {
        Some(Stop::Unbound(variable)) => Some(variable),
        _ => None,
    }
}
