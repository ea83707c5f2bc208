//! Terms as text, cut where a limit says so.
//!
//! Unbound variables have the names of the text they come from; if two have the same name, the second is
//! called `X_2`. It promises to end at terms that contain themselves.

use super::heap::{Heap, Origin};
use super::word::{View, Word};
use crate::program::Program;
use crate::settings::TextLimits;
use crate::symbols::Symbol;
use std::fmt::Write;

/// Deeper than this no limit goes: writing is recursive.
const DEEPEST: usize = 500;

/// Writes terms; variables keep their names from one to the next.
pub(crate) struct Writer<'a> {
    program: &'a Program,
    heap: &'a Heap,
    /// Unbound variables met, by place.
    names: Vec<(usize, String)>,
    parts: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(program: &'a Program, heap: &'a Heap) -> Writer<'a> {
        Writer { program, heap, names: Vec::new(), parts: 0 }
    }

    /// A term as text.
    pub(crate) fn text(&mut self, word: Word, limits: TextLimits) -> String {
        self.parts = limits.parts;
        let mut text = String::new();
        self.write(&mut text, word, limits.depth.min(DEEPEST));
        text
    }

    /// What an unbound variable is called.
    pub(crate) fn name(&mut self, variable: usize) -> String {
        if let Some((_, name)) = self.names.iter().find(|(place, _)| *place == variable) {
            return name.clone();
        }
        let Origin { clause, number } = self.heap.origin(variable);
        let name = &self.program.clauses[clause as usize].variables[number as usize];
        let taken = |name: &str| self.names.iter().any(|(_, other)| other == name);
        let free = (2..).map(|count| format!("{name}_{count}")).find(|name| !taken(name));
        let name = if taken(name) && name != "_" { free.unwrap_or_default() } else { name.clone() };
        self.names.push((variable, name.clone()));
        name
    }

    fn write(&mut self, text: &mut String, word: Word, depth: usize) {
        if self.parts == 0 {
            return text.push_str("...");
        }
        self.parts -= 1;
        match word.view() {
            View::Variable(variable) => match self.heap.value(variable) {
                Some((value, _)) => {
                    self.parts += 1;
                    self.write(text, value, depth);
                }
                None => text.push_str(&self.name(variable)),
            },
            View::Int(value) => text.push_str(&value.to_string()),
            View::Atom(name) => self.write_name(text, name),
            View::Structure(_) if depth == 0 => text.push_str("..."),
            View::Structure(at) => self.write_structure(text, at, depth - 1),
            // First words of things in the heap are no terms.
            View::Header(..) | View::Unbound | View::Awaited(_) | View::Moved(_) => text.push('?'),
        }
    }

    fn write_name(&self, text: &mut String, name: Symbol) {
        let name = self.program.symbols.name(name);
        let plain =
            name.starts_with(char::is_lowercase) && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if plain || name == "[]" {
            text.push_str(name);
        } else {
            // A string takes all that is written to it.
            let _ = write!(text, "'{}'", name.replace('\'', "''"));
        }
    }

    fn write_structure(&mut self, text: &mut String, at: usize, depth: usize) {
        let View::Header(name, _) = self.heap.header(at).view() else { return };
        let heap = self.heap;
        match (heap.arguments(at), name.looseness()) {
            ([head, tail], _) if name == Symbol::CONS => self.write_list(text, *head, *tail, depth),
            ([left, right], Some(own)) => {
                self.write_operand(text, *left, own + 1, depth);
                let _ = write!(text, " {} ", self.program.symbols.name(name));
                // Operators of one row group to the left.
                self.write_operand(text, *right, own, depth);
            }
            (arguments, _) => {
                self.write_name(text, name);
                if !arguments.is_empty() {
                    text.push('(');
                    self.write_all(text, arguments, depth);
                    text.push(')');
                }
            }
        }
    }

    fn write_all(&mut self, text: &mut String, arguments: &[Word], depth: usize) {
        for (place, argument) in arguments.iter().enumerate() {
            if place > 0 {
                text.push_str(", ");
            }
            self.write(text, *argument, depth);
        }
    }

    /// With parentheses if it has an operator that holds its operands as loosely as this.
    fn write_operand(&mut self, text: &mut String, word: Word, too_loose: u32, depth: usize) {
        let looseness = match self.value(word).view() {
            View::Structure(at) => match self.heap.header(at).view() {
                View::Header(name, 2) => name.looseness(),
                _ => None,
            },
            _ => None,
        };
        let parentheses = looseness.is_some_and(|own| own >= too_loose);
        text.push_str(if parentheses { "(" } else { "" });
        self.write(text, word, depth);
        text.push_str(if parentheses { ")" } else { "" });
    }

    fn write_list(&mut self, text: &mut String, head: Word, tail: Word, depth: usize) {
        text.push('[');
        self.write(text, head, depth);
        let mut rest = self.value(tail);
        loop {
            let pair = match rest.view() {
                View::Structure(at) if self.heap.header(at) == Word::header(Symbol::CONS, 2) => at,
                View::Atom(Symbol::NIL) => break,
                _ => {
                    text.push_str(" | ");
                    self.write(text, rest, depth);
                    break;
                }
            };
            text.push_str(", ");
            if self.parts == 0 {
                text.push_str("...");
                break;
            }
            let heap = self.heap;
            if let [head, tail] = heap.arguments(pair) {
                self.write(text, *head, depth);
                rest = self.value(*tail);
            }
        }
        text.push(']');
    }

    fn value(&self, word: Word) -> Word {
        match word.view() {
            View::Variable(variable) => self.heap.value(variable).map_or(word, |(value, _)| value),
            _ => word,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Program, Settings};

    /// What a term that was read is written as.
    fn again(term: &str) -> Option<String> {
        let query = Program::parse("").and_then(|program| program.query(&format!("X = {term}"))).ok()?;
        query.run(&Settings::default(), &mut ()).ok()?.answer("X").map(str::to_owned)
    }

    #[test]
    fn terms_are_written_as_they_are_read() {
        for term in [
            "a",
            "'B c'",
            "'it''s'",
            "f(-1, [], g(a))",
            "[a, [b] | c]",
            "[Y, Z | Y]",
            "1 + 2 * 3 - 4",
            "(1 + 2) * (3 - (4 - 5))",
            "1 * (2 * 3) mod max(A, B)",
            "(1 + 2 < 3)",
        ] {
            let plain = term
                .strip_prefix('(')
                .and_then(|term| term.strip_suffix("< 3)"))
                .map(|term| format!("{term}< 3"));
            assert_eq!(again(term), Some(plain.unwrap_or_else(|| term.to_owned())));
        }
    }
}
