//! Tokens as clauses: `head.` or `head :- goal, goal.`, with infix operators inside terms.
//!
//! Loosest first: `=` and `:=`; comparisons; `+` and `-`; `*`, `//` and `mod`. Operators of one row group to
//! the left.

use super::lexer::{Lexer, Token};
use super::tree::{ClauseTree, Part, Term, TermId, Terms};
use super::{Position, SyntaxError};
use crate::symbols::{Symbol, Symbols};

/// How deep parentheses, lists and structures may stand in each other.
pub(crate) const DEEPEST: u32 = 200;

/// How many arguments a structure or goal may have.
const MOST_ARGUMENTS: usize = 255;

/// That of `=`: see [`Symbol::looseness`].
const LOOSEST: u32 = 3;

pub(crate) struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    at: Position,
    symbols: &'a mut Symbols,
    terms: Terms,
    depth: u32,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str, symbols: &'a mut Symbols) -> Result<Parser<'a>, SyntaxError> {
        let mut lexer = Lexer::new(text);
        let (token, at) = lexer.next()?;
        Ok(Parser { lexer, token, at, symbols, terms: Terms::default(), depth: 0 })
    }

    /// The next clause; none at the end of the text.
    pub(crate) fn clause(&mut self) -> Result<Option<ClauseTree>, SyntaxError> {
        if self.token == Token::End {
            return Ok(None);
        }
        let head = self.part("a clause")?;
        let body = if self.token == Token::Operator(":-") {
            self.advance()?;
            self.goals()?
        } else {
            Vec::new()
        };
        if self.token != Token::Mark('.') {
            return Err(self.unexpected("`.`, `,` or `:-`", "end the clause with `.`"));
        }
        self.advance()?;
        Ok(Some(ClauseTree { head: Some(head), body, terms: std::mem::take(&mut self.terms) }))
    }

    /// The whole text as goals, with or without a `.` after them.
    pub(crate) fn query(&mut self) -> Result<ClauseTree, SyntaxError> {
        let body = self.goals()?;
        if self.token == Token::Mark('.') {
            self.advance()?;
        }
        if self.token != Token::End {
            return Err(self.unexpected("`,` or the end of the query", "put `,` between goals"));
        }
        Ok(ClauseTree { head: None, body, terms: std::mem::take(&mut self.terms) })
    }

    fn goals(&mut self) -> Result<Vec<Part>, SyntaxError> {
        let mut goals = vec![self.part("a goal")?];
        while self.token == Token::Mark(',') {
            self.advance()?;
            goals.push(self.part("a goal")?);
        }
        Ok(goals)
    }

    fn part(&mut self, what: &str) -> Result<Part, SyntaxError> {
        let at = self.at;
        let term = self.term(LOOSEST)?;
        match self.terms.get(term) {
            Term::Atom(Symbol::NIL) | Term::Structure(Symbol::CONS, _) => {
                Err(at.error(format!("{what} cannot be a list"), "give it a name, such as `append(X, Y, Z)`"))
            }
            Term::Atom(name) => Ok(Part { name: *name, arguments: Vec::new(), at }),
            Term::Structure(name, range) => {
                Ok(Part { name: *name, arguments: self.terms.arguments(range).to_vec(), at })
            }
            Term::Int(_) | Term::Variable(_) => Err(at.error(
                format!("{what} cannot be a number or a variable"),
                "start it with a lower-case name, such as `append(X, Y, Z)`",
            )),
        }
    }

    fn advance(&mut self) -> Result<Token, SyntaxError> {
        let (token, at) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn unexpected(&self, expected: &str, advice: &str) -> SyntaxError {
        self.at.error(format!("expected {expected}, found {}", self.token), advice)
    }

    fn term(&mut self, loosest: u32) -> Result<TermId, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let problem = format!("terms are nested more than {DEEPEST} deep");
            return Err(self.at.error(problem, "name the inner terms with `=`"));
        }
        let mut left = self.primary()?;
        while let Token::Operator(operator) = self.token {
            let name = self.symbols.number(operator);
            let Some(own) = name.looseness().filter(|own| *own <= loosest) else { break };
            self.advance()?;
            let right = match own.checked_sub(1) {
                Some(tighter) => self.term(tighter)?,
                None => self.primary()?,
            };
            left = self.terms.structure(name, &[left, right]);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn primary(&mut self) -> Result<TermId, SyntaxError> {
        match &self.token {
            Token::Variable(name) => {
                let id = self.terms.variable(name.clone());
                self.advance()?;
                Ok(id)
            }
            Token::Int(value) => {
                let id = self.terms.push(Term::Int(*value));
                self.advance()?;
                Ok(id)
            }
            Token::Atom(name) => {
                let symbol = self.symbols.number(name);
                self.advance()?;
                self.atom_or_structure(symbol)
            }
            Token::Operator("-") => self.negative(),
            Token::Mark('(') => {
                self.advance()?;
                let inner = self.term(LOOSEST)?;
                self.close(')', "close the parenthesis")?;
                Ok(inner)
            }
            Token::Mark('[') => self.list(),
            _ => Err(self.unexpected("a term", "write a variable, number, atom, structure or list here")),
        }
    }

    /// `-3` is a number, `-X` is `0 - X`.
    fn negative(&mut self) -> Result<TermId, SyntaxError> {
        self.advance()?;
        if let Token::Int(value) = self.token {
            self.advance()?;
            return Ok(self.terms.push(Term::Int(-value)));
        }
        let zero = self.terms.push(Term::Int(0));
        let inner = self.term(0)?;
        Ok(self.terms.structure(Symbol::SUBTRACT, &[zero, inner]))
    }

    fn atom_or_structure(&mut self, name: Symbol) -> Result<TermId, SyntaxError> {
        if self.token != Token::Mark('(') {
            return Ok(self.terms.push(Term::Atom(name)));
        }
        let at = self.at;
        self.advance()?;
        let arguments = self.terms_between_commas()?;
        self.close(')', "put `,` between arguments and `)` after the last")?;
        if arguments.len() > MOST_ARGUMENTS {
            let problem = format!("{} arguments; the limit is {MOST_ARGUMENTS}", arguments.len());
            return Err(at.error(problem, "group some of them in a list or structure"));
        }
        Ok(self.terms.structure(name, &arguments))
    }

    fn list(&mut self) -> Result<TermId, SyntaxError> {
        self.advance()?;
        if self.token == Token::Mark(']') {
            self.advance()?;
            return Ok(self.terms.push(Term::Atom(Symbol::NIL)));
        }
        let items = self.terms_between_commas()?;
        let mut list = if self.token == Token::Mark('|') {
            self.advance()?;
            self.term(LOOSEST)?
        } else {
            self.terms.push(Term::Atom(Symbol::NIL))
        };
        self.close(']', "put `,` between items, `|` before the rest and `]` after the list")?;
        for item in items.into_iter().rev() {
            list = self.terms.structure(Symbol::CONS, &[item, list]);
        }
        Ok(list)
    }

    fn terms_between_commas(&mut self) -> Result<Vec<TermId>, SyntaxError> {
        let mut all = vec![self.term(LOOSEST)?];
        while self.token == Token::Mark(',') {
            self.advance()?;
            all.push(self.term(LOOSEST)?);
        }
        Ok(all)
    }

    fn close(&mut self, mark: char, advice: &str) -> Result<(), SyntaxError> {
        if self.token == Token::Mark(mark) {
            return self.advance().map(|_| ());
        }
        Err(self.unexpected(&format!("`{mark}`"), advice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<usize, SyntaxError> {
        let mut symbols = Symbols::new();
        let mut parser = Parser::new(text, &mut symbols)?;
        let mut clauses = 0;
        while parser.clause()?.is_some() {
            clauses += 1;
        }
        Ok(clauses)
    }

    #[test]
    fn takes_all_of_the_language() {
        let text = "a. b(X, _, [1, -2 | T]) :- X = f(T, []), Y := (X + 1) * -X mod 3, c(Y, 'a b'). % end";
        assert_eq!(parse(text), Ok(2));
        assert_eq!(parse(""), Ok(0));
    }

    #[test]
    fn says_what_it_expected() {
        let message_of = |text| parse(text).map_err(|error| error.to_string());
        let expected =
            "line 1, column 6: expected `)`, found `.`; put `,` between arguments and `)` after the last";
        assert_eq!(message_of("a(X Y"), Err(expected.replace("column 6", "column 5").replace("`.`", "`Y`")));
        assert_eq!(
            message_of("a(X,\n  [Y"),
            Err("line 2, column 5: expected `]`, found the end of the text; put `,` between \
            items, `|` before the rest and `]` after the list"
                .into())
        );
        assert_eq!(
            message_of("a :- b"),
            Err("line 1, column 7: expected `.`, `,` or `:-`, found the end of the text; \
            end the clause with `.`"
                .into())
        );
        assert_eq!(
            message_of("X :- b."),
            Err("line 1, column 1: a clause cannot be a number or a variable; start it with a \
            lower-case name, such as `append(X, Y, Z)`"
                .into())
        );
    }

    #[test]
    fn refuses_what_is_too_deep_and_takes_what_is_long() {
        let deep = format!("a({}1{}).", "(".repeat(5000), ")".repeat(5000));
        assert!(parse(&deep).is_err_and(|error| error.problem.contains("nested")));
        assert!(parse(&format!("a({}1).", "-".repeat(5000))).is_err());
        assert_eq!(parse(&format!("a([{}1]).", "1,".repeat(50_000))), Ok(1));
        assert_eq!(parse(&format!("a({}1).", "1+".repeat(50_000))), Ok(1));
    }
}
