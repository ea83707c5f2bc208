//! Text as tokens, each with its place.
//!
//! Comments are `% to the end of the line` and `/* between */`. It promises to end at any text, with tokens
//! or with an error.

use super::{Position, SyntaxError};
use crate::LARGEST;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Variable(String),
    Atom(String),
    Int(i64),
    /// An infix operator, or `:-`.
    Operator(&'static str),
    /// One of `( ) [ ] , | .`
    Mark(char),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Variable(name) | Token::Atom(name) => write!(f, "`{name}`"),
            Token::Int(value) => write!(f, "`{value}`"),
            Token::Operator(name) => write!(f, "`{name}`"),
            Token::Mark(mark) => write!(f, "`{mark}`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// Longer ones first where one begins with another.
const OPERATORS: [&str; 15] =
    [":-", ":=", "=:=", "=\\=", "=<", "==", "=", "\\==", "<", ">=", ">", "+", "-", "*", "//"];

pub(super) struct Lexer<'a> {
    rest: &'a str,
    at: Position,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { rest: text, at: Position { line: 1, column: 1 } }
    }

    /// The next token and where it begins; at the end of the text [`Token::End`] again and again.
    pub(super) fn next(&mut self) -> Result<(Token, Position), SyntaxError> {
        self.skip()?;
        let at = self.at;
        let Some(first) = self.rest.chars().next() else { return Ok((Token::End, at)) };
        let token = if first.is_ascii_digit() {
            self.number()?
        } else if first == '\'' {
            self.quoted()?
        } else if first.is_alphabetic() || first == '_' {
            self.word(first)
        } else if "()[],|.".contains(first) {
            self.take(1);
            Token::Mark(first)
        } else {
            self.operator(first)?
        };
        Ok((token, at))
    }

    /// Steps over as many bytes, which end at a character's border.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        for c in taken.chars() {
            if c == '\n' {
                self.at = Position { line: self.at.line.saturating_add(1), column: 1 };
            } else {
                self.at.column = self.at.column.saturating_add(1);
            }
        }
        taken
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    fn skip(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with('%') {
                self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                let Some(end) = self.rest[2..].find("*/") else {
                    return Err(self.at.error("unterminated comment", "close it with `*/`"));
                };
                self.take(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn number(&mut self) -> Result<Token, SyntaxError> {
        let at = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(value) if value <= LARGEST => Ok(Token::Int(value)),
            _ => {
                Err(at
                    .error(format!("the number {digits} is too large"), format!("the largest is {LARGEST}")))
            }
        }
    }

    fn quoted(&mut self) -> Result<Token, SyntaxError> {
        let at = self.at;
        self.take(1);
        let mut name = String::new();
        loop {
            name.push_str(self.take_while(|c| c != '\'' && c != '\n'));
            if self.rest.starts_with("''") {
                self.take(2);
                name.push('\'');
            } else if self.rest.starts_with('\'') {
                self.take(1);
                return Ok(Token::Atom(name));
            } else {
                return Err(at.error("unterminated quoted atom", "close it with `'` on the same line"));
            }
        }
    }

    fn word(&mut self, first: char) -> Token {
        let name = self.take_while(|c| c.is_alphanumeric() || c == '_');
        match name {
            "mod" => Token::Operator("mod"),
            _ if first.is_uppercase() || first == '_' => Token::Variable(name.to_owned()),
            _ => Token::Atom(name.to_owned()),
        }
    }

    fn operator(&mut self, first: char) -> Result<Token, SyntaxError> {
        match OPERATORS.into_iter().find(|name| self.rest.starts_with(name)) {
            Some(name) => {
                self.take(name.len());
                Ok(Token::Operator(name))
            }
            None => {
                Err(self.at.error(format!("unexpected character {first:?}"), "remove it, or quote the atom"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
        let mut lexer = Lexer::new(text);
        let mut all = Vec::new();
        loop {
            match lexer.next()?.0 {
                Token::End => return Ok(all),
                token => all.push(token),
            }
        }
    }

    #[test]
    fn knows_every_kind() {
        let atom = |name: &str| Token::Atom(name.into());
        let expected = vec![
            atom("a"),
            Token::Mark('('),
            Token::Variable("X_1".into()),
            Token::Operator("=<"),
            Token::Int(12),
            Token::Operator("mod"),
            atom("it's"),
            Token::Operator(":-"),
        ];
        assert_eq!(tokens("a(X_1 =< /* no\n */ 12 mod 'it''s' % no\n:-"), Ok(expected));
    }

    #[test]
    fn errors_have_their_line_and_column() {
        let place = |text| tokens(text).map_err(|error| (error.line, error.column));
        assert_eq!(place("a\n  ?"), Err((2, 3)));
        assert_eq!(place("é 'b"), Err((1, 3)));
        assert_eq!(place("/* "), Err((1, 1)));
        assert_eq!(place("99999999999999999999999999"), Err((1, 1)));
    }
}
