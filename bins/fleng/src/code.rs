//! Terms of a clause as short lists of steps, which a machine follows without recursion.
//!
//! A head becomes steps in the order in which a goal looks at its arguments: left to right, and a structure
//! before what is in it. A body's terms become steps that make parts before wholes.

use crate::machine::Word;
use crate::syntax::tree::{Part, Term, TermId, Terms};

/// What the next term that a goal brings must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeadStep {
    /// Anything; nobody asks for it again.
    Any,
    /// Anything; it is kept under this number.
    Keep(u32),
    /// The same as what was kept.
    Same(u32),
    /// This integer or atom.
    Constant(Word),
    /// A structure with this header, whose arguments are looked at next.
    Structure(Word),
}

/// How to make a term, with a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MakeStep {
    /// Push this integer or atom.
    Constant(Word),
    /// Push a new variable and keep it under this number.
    New(u32),
    /// Push what was kept.
    Kept(u32),
    /// Make a structure with this header of what was pushed last, and push it.
    Structure(Word),
}

/// What is known of a clause's variables while it is translated.
pub(crate) struct Variables {
    uses: Vec<u32>,
    known: Vec<bool>,
}

impl Variables {
    pub(crate) fn new(terms: &Terms) -> Variables {
        let mut uses = vec![0; terms.variables.len()];
        for node in &terms.nodes {
            if let Term::Variable(number) = node {
                uses[*number as usize] += 1;
            }
        }
        Variables { known: vec![false; uses.len()], uses }
    }

    /// Whether the variable was met before; from now on it was.
    fn meet(&mut self, number: u32) -> bool {
        std::mem::replace(&mut self.known[number as usize], true)
    }
}

/// The steps of a head.
pub(crate) fn head(part: &Part, terms: &Terms, variables: &mut Variables) -> Vec<HeadStep> {
    let mut steps = Vec::new();
    let mut left: Vec<TermId> = part.arguments.iter().rev().copied().collect();
    while let Some(id) = left.pop() {
        steps.push(match terms.get(id) {
            Term::Int(value) => HeadStep::Constant(Word::int(*value)),
            Term::Atom(name) => HeadStep::Constant(Word::atom(*name)),
            Term::Variable(number) if variables.meet(*number) => HeadStep::Same(*number),
            Term::Variable(number) if variables.uses[*number as usize] == 1 => HeadStep::Any,
            Term::Variable(number) => HeadStep::Keep(*number),
            Term::Structure(name, range) => {
                let arguments = terms.arguments(range);
                left.extend(arguments.iter().rev());
                HeadStep::Structure(Word::header(*name, arguments.len()))
            }
        });
    }
    steps
}

/// The steps that push all arguments of a goal.
pub(crate) fn arguments(part: &Part, terms: &Terms, variables: &mut Variables) -> Vec<MakeStep> {
    // Wholes before parts and the last before the first: the other way round it is the order wanted.
    let mut order = Vec::new();
    let mut left = part.arguments.clone();
    while let Some(id) = left.pop() {
        order.push(id);
        if let Term::Structure(_, range) = terms.get(id) {
            left.extend(terms.arguments(range));
        }
    }
    let step = |id: &TermId| match terms.get(*id) {
        Term::Int(value) => MakeStep::Constant(Word::int(*value)),
        Term::Atom(name) => MakeStep::Constant(Word::atom(*name)),
        Term::Variable(number) if variables.meet(*number) => MakeStep::Kept(*number),
        Term::Variable(number) => MakeStep::New(*number),
        Term::Structure(name, range) => {
            MakeStep::Structure(Word::header(*name, terms.arguments(range).len()))
        }
    };
    order.iter().rev().map(step).collect()
}

/// Whether a term is a variable.
pub(crate) fn is_variable(terms: &Terms, id: TermId) -> bool {
    matches!(terms.get(id), Term::Variable(_))
}

/// A goal that is there in the language itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    /// `X := expression`, of a number or a comparison.
    Assign,
    /// `less(A, B, R)`
    Less,
    /// `at_most(A, B, R)`
    AtMost,
    /// `equal(A, B, R)`, of numbers.
    Equal,
    /// `same(A, B, R)`, of terms.
    Same,
}

impl Builtin {
    /// The one of this name with as many arguments.
    pub(crate) fn named(name: &str, arity: usize) -> Option<Builtin> {
        match (name, arity) {
            (":=", 2) => Some(Builtin::Assign),
            ("less", 3) => Some(Builtin::Less),
            ("at_most", 3) => Some(Builtin::AtMost),
            ("equal", 3) => Some(Builtin::Equal),
            ("same", 3) => Some(Builtin::Same),
            _ => None,
        }
    }
}
