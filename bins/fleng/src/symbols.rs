//! Names of atoms, structures and goals as small numbers, so that comparing two of them is one instruction.
//!
//! Names that the language itself knows have fixed numbers. It promises that a number, once given, keeps its
//! name; it never forgets a name.

use rustc_hash::FxHashMap;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Symbol(pub(crate) u32);

macro_rules! known {
    ($($constant:ident $name:literal),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Known { $($constant),* }
        impl Symbol { $(pub(crate) const $constant: Symbol = Symbol(Known::$constant as u32);)* }
        const KNOWN: &[&str] = &[$($name),*];
    };
}

known! {
    NIL "[]", CONS ".", TRUE "true", FALSE "false",
    ADD "+", SUBTRACT "-", MULTIPLY "*", DIVIDE "//", REMAINDER "mod", MIN "min", MAX "max",
    LESS "<", GREATER ">", AT_MOST "=<", AT_LEAST ">=", EQUAL "=:=", UNEQUAL "=\\=", SAME "==", DIFFERENT "\\==",
    BIND "=", ASSIGN ":=",
}

impl Symbol {
    /// How loosely an infix operator holds its operands; none if it is no such operator.
    pub(crate) fn looseness(self) -> Option<u32> {
        match self {
            Symbol::BIND | Symbol::ASSIGN => Some(3),
            Symbol::ADD | Symbol::SUBTRACT => Some(1),
            Symbol::MULTIPLY | Symbol::DIVIDE | Symbol::REMAINDER => Some(0),
            _ if self.is_comparison() => Some(2),
            _ => None,
        }
    }

    /// Whether it compares two numbers or terms.
    pub(crate) fn is_comparison(self) -> bool {
        (Symbol::LESS.0..=Symbol::DIFFERENT.0).contains(&self.0)
    }

    /// Whether it makes a number of two.
    pub(crate) fn is_arithmetic(self) -> bool {
        (Symbol::ADD.0..=Symbol::MAX.0).contains(&self.0)
    }
}

/// All names of a program.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    names: Vec<String>,
    numbers: FxHashMap<String, Symbol>,
}

impl Symbols {
    /// Those that the language knows.
    pub(crate) fn new() -> Symbols {
        let mut symbols = Symbols { names: Vec::new(), numbers: FxHashMap::default() };
        for name in KNOWN {
            symbols.number(name);
        }
        symbols
    }

    /// The number of a name, a new one if need be.
    pub(crate) fn number(&mut self, name: &str) -> Symbol {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let symbol = Symbol(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), symbol);
        symbol
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_have_their_numbers() {
        let mut symbols = Symbols::new();
        assert_eq!(symbols.number("[]"), Symbol::NIL);
        assert_eq!(symbols.number(":="), Symbol::ASSIGN);
        assert_eq!(symbols.name(Symbol::DIFFERENT), "\\==");
        let new = symbols.number("new");
        assert_eq!((symbols.number("new"), symbols.name(new)), (new, "new"));
    }
}
