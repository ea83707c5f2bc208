//! A clause as the text has it: terms in one flat table, so that no term is too deep to be walked or dropped.

use super::Position;
use crate::symbols::Symbol;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The place of a term in its clause's table.
pub(crate) type TermId = u32;

#[derive(Clone, Debug)]
pub(crate) enum Term {
    Int(i64),
    Atom(Symbol),
    /// By its number in the clause.
    Variable(u32),
    /// Its name and where its arguments are in [`Terms::arguments`].
    Structure(Symbol, Range<u32>),
}

/// A head or a goal.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: Symbol,
    pub(crate) arguments: Vec<TermId>,
    pub(crate) at: Position,
}

/// Terms of one clause or query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) nodes: Vec<Term>,
    arguments: Vec<TermId>,
    /// By number: the name. `_` is a new one each time.
    pub(crate) variables: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Terms {
    pub(crate) fn push(&mut self, term: Term) -> TermId {
        self.nodes.push(term);
        self.nodes.len() as TermId - 1
    }

    pub(crate) fn structure(&mut self, name: Symbol, arguments: &[TermId]) -> TermId {
        let from = self.arguments.len() as u32;
        self.arguments.extend_from_slice(arguments);
        self.push(Term::Structure(name, from..from + arguments.len() as u32))
    }

    pub(crate) fn variable(&mut self, name: String) -> TermId {
        let next = self.variables.len() as u32;
        let number = if name == "_" { next } else { *self.numbers.entry(name.clone()).or_insert(next) };
        if number == next {
            self.variables.push(name);
        }
        self.push(Term::Variable(number))
    }

    pub(crate) fn get(&self, id: TermId) -> &Term {
        &self.nodes[id as usize]
    }

    pub(crate) fn arguments(&self, range: &Range<u32>) -> &[TermId] {
        &self.arguments[range.start as usize..range.end as usize]
    }
}

/// A clause, or a query: that has no head.
#[derive(Clone, Debug)]
pub(crate) struct ClauseTree {
    pub(crate) head: Option<Part>,
    pub(crate) body: Vec<Part>,
    pub(crate) terms: Terms,
}
