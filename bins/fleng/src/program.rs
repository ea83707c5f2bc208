//! Parses and compiles Fleng programs and queries.
//!
//! Every goal of a compiled program has clauses or is a builtin, so a run never meets an unknown goal. A text that
//! violates this is a syntax error with its position.

use crate::code::{self, Builtin, HeadStep, MakeStep, Variables};
use crate::machine::Word;
use crate::symbols::{Symbol, Symbols};
use crate::syntax::parser::Parser;
use crate::syntax::tree::{ClauseTree, Part};
use crate::syntax::{Position, SyntaxError};
use rustc_hash::FxHashMap;

/// A program: clauses in the order of their text.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) symbols: Symbols,
    pub(crate) predicates: Vec<Predicate>,
    numbers: FxHashMap<(Symbol, usize), u32>,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) sites: Vec<Site>,
}

/// All clauses of one name and number of arguments.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) clauses: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Clause {
    /// Of its head; 0 for a query. So are the lines of its goals.
    pub(crate) line: u32,
    pub(crate) head: Vec<HeadStep>,
    pub(crate) body: Vec<BodyStep>,
    /// By number: the variable's name.
    pub(crate) variables: Vec<String>,
}

/// One goal of a body: what it does with the terms that its steps push.
#[derive(Clone, Debug)]
pub(crate) struct BodyStep {
    pub(crate) action: Action,
    pub(crate) line: u32,
    pub(crate) make: Vec<MakeStep>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// `=`: the two are one from now on.
    Bind,
    /// Make the goal of this site.
    Call(u32),
}

/// A goal in the text.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) callee: Callee,
    pub(crate) header: Word,
    pub(crate) name: Symbol,
    pub(crate) arity: usize,
    pub(crate) line: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    Predicate(u32),
    Builtin(Builtin),
}

impl Program {
    /// The program of a text.
    ///
    /// # Errors
    /// If the text is no program, or has a goal without clauses.
    pub fn parse(text: &str) -> Result<Program, SyntaxError> {
        let mut symbols = Symbols::new();
        let mut trees = Vec::new();
        let mut parser = Parser::new(text, &mut symbols)?;
        while let Some(tree) = parser.clause()? {
            trees.push(tree);
        }
        let mut program = Program {
            symbols,
            predicates: Vec::new(),
            numbers: FxHashMap::default(),
            clauses: Vec::new(),
            sites: Vec::new(),
        };
        for (number, tree) in (0..).zip(&trees) {
            if let Some(head) = &tree.head {
                program.define(head, number)?;
            }
        }
        for tree in trees {
            program.add(tree)?;
        }
        Ok(program)
    }

    /// A query: goals that a run begins with. Its variables are what a run answers.
    ///
    /// # Errors
    /// If the text is no list of goals, or one of them has no clauses.
    pub fn query(&self, text: &str) -> Result<Query, SyntaxError> {
        let mut program = self.clone();
        let tree = Parser::new(text, &mut program.symbols)?.query()?;
        program.add(tree)?;
        Ok(Query { program })
    }

    /// Notes that the clause of this number has this head.
    fn define(&mut self, head: &Part, number: u32) -> Result<(), SyntaxError> {
        let (name, arity) = (self.symbols.name(head.name), head.arguments.len());
        let known = head.name == Symbol::BIND || head.name.is_comparison();
        if known || Builtin::named(name, arity).is_some() {
            let problem = format!("{name}/{arity} is part of the language");
            return Err(head.at.error(problem, "give the clause another name"));
        }
        let next = self.predicates.len() as u32;
        let predicate = *self.numbers.entry((head.name, arity)).or_insert(next);
        if predicate == next {
            self.predicates.push(Predicate { clauses: Vec::new() });
        }
        self.predicates[predicate as usize].clauses.push(number);
        Ok(())
    }

    /// Translates a clause.
    fn add(&mut self, tree: ClauseTree) -> Result<(), SyntaxError> {
        let mut variables = Variables::new(&tree.terms);
        let (mut head, mut line) = (Vec::new(), 0);
        if let Some(part) = &tree.head {
            head = code::head(part, &tree.terms, &mut variables);
            line = part.at.line;
        }
        let mut body = Vec::with_capacity(tree.body.len());
        for part in &tree.body {
            let action = self.action(part, &tree)?;
            let make = code::arguments(part, &tree.terms, &mut variables);
            body.push(BodyStep { action, line: line_of(part, &tree), make });
        }
        self.clauses.push(Clause { line, head, body, variables: tree.terms.variables });
        Ok(())
    }

    fn action(&mut self, part: &Part, tree: &ClauseTree) -> Result<Action, SyntaxError> {
        let variable = |place: usize| {
            part.arguments.get(place).is_some_and(|argument| code::is_variable(&tree.terms, *argument))
        };
        let arity = part.arguments.len();
        if part.name == Symbol::BIND && arity == 2 {
            if variable(0) || variable(1) {
                return Ok(Action::Bind);
            }
            let advice = "put a variable on one side, and match terms in the head of a clause";
            return Err(part.at.error("`=` has no variable to bind", advice));
        }
        let callee = self.callee(part.name, arity, part.at)?;
        if matches!(callee, Callee::Builtin(Builtin::Assign)) && !variable(0) {
            return Err(part.at.error("`:=` has no variable on its left", "write `X := expression`"));
        }
        let header = Word::header(part.name, arity);
        self.sites.push(Site { callee, header, name: part.name, arity, line: line_of(part, tree) });
        Ok(Action::Call(self.sites.len() as u32 - 1))
    }

    fn callee(&self, name: Symbol, arity: usize, at: Position) -> Result<Callee, SyntaxError> {
        let text = self.symbols.name(name);
        if let Some(builtin) = Builtin::named(text, arity) {
            return Ok(Callee::Builtin(builtin));
        }
        if let Some(predicate) = self.numbers.get(&(name, arity)) {
            return Ok(Callee::Predicate(*predicate));
        }
        if name.is_comparison() && arity == 2 {
            let problem = format!("the result of the comparison `{text}` is not used");
            return Err(at.error(problem, format!("write `B := X {text} Y` and pass B to a goal")));
        }
        let others = (0..256).filter(|other| {
            self.numbers.contains_key(&(name, *other)) || Builtin::named(text, *other).is_some()
        });
        let others: Vec<String> = others.map(|other| format!("{text}/{other}")).collect();
        let advice = if others.is_empty() {
            "define it, or correct the name".to_owned()
        } else {
            format!("there is {}: correct the number of arguments", others.join(", "))
        };
        Err(at.error(format!("{text}/{arity} has no clauses"), advice))
    }

    /// How many clauses it has.
    pub fn clauses(&self) -> usize {
        self.clauses.len()
    }
}

/// The line of a goal; 0 in a query, whose lines are not those of the program.
fn line_of(goal: &Part, tree: &ClauseTree) -> u32 {
    if tree.head.is_some() { goal.at.line } else { 0 }
}

/// A program together with the goals to run it with.
#[derive(Clone, Debug)]
pub struct Query {
    /// Its last clause, which belongs to no predicate, is the query.
    pub(crate) program: Program,
}

impl Query {
    pub(crate) fn clause(&self) -> u32 {
        self.program.clauses.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_of(text: &str) -> Option<String> {
        Program::parse(text).err().map(|error| error.to_string())
    }

    #[test]
    fn goals_without_clauses_are_errors_of_the_text() {
        assert_eq!(
            message_of("a :- b(1)."),
            Some("line 1, column 6: b/1 has no clauses; define it, or correct the name".into())
        );
        let expected = "line 2, column 2: a/1 has no clauses; there is a/0: correct the number of arguments";
        assert_eq!(message_of("a :-\n a(1)."), Some(expected.into()));
        let expected = "line 1, column 9: the result of the comparison `<` is not used; \
            write `B := X < Y` and pass B to a goal";
        assert_eq!(message_of("a(X) :- X < 1."), Some(expected.into()));
    }

    #[test]
    fn the_language_itself_stays_as_it_is() {
        assert!(
            message_of("less(A, B, C).").is_some_and(|text| text.contains("less/3 is part of the language"))
        );
        assert!(message_of("X = Y :- a.").is_some_and(|text| text.contains("=/2 is part")));
        assert!(message_of("a :- 1 = 2.").is_some_and(|text| text.contains("no variable to bind")));
        assert!(message_of("a :- 1 := 2.").is_some_and(|text| text.contains("no variable on its left")));
        assert_eq!(message_of("a. a :- a, X = 1, Y := 2."), None);
    }

    #[test]
    fn a_query_is_checked_too() {
        let program = Program::parse("a(1).").unwrap();
        assert_eq!(program.clauses(), 1);
        assert!(program.query("a(X), a(Y).").is_ok());
        assert!(program.query("b(X)").is_err());
        assert!(program.query("").is_err());
        assert!(program.query("a(X) a(Y)").is_err());
    }
}
