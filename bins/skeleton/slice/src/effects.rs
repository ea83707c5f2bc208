//! What calls of functions outside the program do: those of MPI by the project's table, those of libraries by
//! `library.txt`.
//!
//! For each call it says what happens to the memory that each argument points to and what the result is. A function that
//! nobody has written down is assumed to read and write all that its arguments point to.

use crate::program::*;
use kizami_model::{Function as MpiFunction, Role, role_of};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

const LIBRARY: &str = include_str!("library.txt");

/// What happens to an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Its value is looked at.
    Value,
    /// What it points to is read.
    Reads,
    /// What it points to is written.
    Writes,
    /// Both.
    Updates,
    /// A stream: reading from it moves it on.
    Stream,
    /// A function that is called.
    Callback,
    /// What it points to is copied to where argument 0 points, or into the fresh memory of the result.
    CopiedToFirst,
    /// A pointer to fresh memory is written to it.
    Allocates,
    /// It is written with what differs from run to run.
    Differs,
    /// Payload of MPI.
    Data(Role),
    /// Nothing that matters.
    Nothing,
}

impl Use {
    /// Whether memory it points to is read.
    pub fn reads(self) -> bool {
        matches!(self, Use::Reads | Use::Updates | Use::Stream | Use::CopiedToFirst)
    }

    /// Whether memory it points to is written, payload included.
    pub fn writes(self) -> bool {
        match self {
            Use::Data(role) => role.writes_data(),
            _ => matches!(self, Use::Writes | Use::Updates | Use::Stream | Use::Allocates | Use::Differs),
        }
    }
}

/// What the result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Made from the arguments.
    Value,
    /// Fresh memory.
    Fresh,
    /// Points where an argument does.
    Argument(usize),
    /// Points to memory of the library.
    External,
    /// Differs from run to run.
    Differs,
}

/// In which language a function of MPI is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// As in C.
    C,
    /// As in Fortran: everything by reference, with an error code at the end.
    Fortran,
}

/// What a function outside the program does.
#[derive(Clone)]
pub struct Effects {
    /// The function of MPI, if it is one.
    pub mpi: Option<(&'static MpiFunction, Binding)>,
    /// What the result is.
    pub outcome: Outcome,
    /// What each argument is for; the last one holds for all that follow.
    pub uses: Vec<Use>,
    /// Communication never depends on it.
    pub nothing: bool,
    /// Global variables of the library that it reads and writes.
    pub globals: Vec<String>,
    /// Whether it is written down anywhere.
    pub known: bool,
    /// Its pointers point to descriptors of arrays, and what happens to an argument happens to the array as well.
    pub descriptors: bool,
}

impl Effects {
    /// What an argument is for.
    pub fn of(&self, argument: usize) -> Use {
        match self.uses.get(argument).or(self.uses.last()) {
            Some(of) => *of,
            None => Use::Value,
        }
    }

    /// The argument of MPI's function with this name: its place in a call.
    pub fn argument(&self, name: &str) -> Option<usize> {
        self.mpi?.0.arguments.iter().position(|argument| argument.name == name)
    }
}

/// What all functions outside a program do, by function.
pub struct EffectTable {
    of: Vec<Option<Effects>>,
}

impl EffectTable {
    /// Looks up all functions that have no body.
    pub fn of(program: &Program) -> EffectTable {
        let effects = |function: &Function| {
            function.blocks.is_empty().then(|| {
                let kinds = function.arguments.iter().map(|argument| program.value(*argument).kind);
                effects_of(&function.name, &kinds.collect::<Vec<_>>(), function.variadic)
            })
        };
        EffectTable { of: program.functions.iter().map(effects).collect() }
    }

    /// What a function does; nothing for one with a body.
    pub fn get(&self, function: FunctionId) -> Option<&Effects> {
        self.of[function as usize].as_ref()
    }

    /// What a call does, if it calls a function outside the program.
    pub fn call(&self, program: &Program, call: ValueId) -> Option<&Effects> {
        self.get(program.called(call)?)
    }
}

/// MPI's function of this symbol, and the language it is called in.
pub fn mpi_function(symbol: &str) -> Option<(&'static MpiFunction, Binding)> {
    static FORTRAN: OnceLock<FxHashMap<String, &'static MpiFunction>> = OnceLock::new();
    let bare =
        symbol.strip_prefix(['P', 'p']).filter(|rest| rest.starts_with("MPI_") || rest.starts_with("mpi_"));
    let symbol = bare.unwrap_or(symbol);
    if symbol.starts_with("MPI_") {
        let function = kizami_model::Op::by_name(symbol)?.function()?;
        return Some((function, Binding::C));
    }
    let by_name = FORTRAN.get_or_init(|| {
        let all = kizami_model::function::mpi_functions().iter();
        all.map(|function| (format!("{}_", function.name.to_ascii_lowercase()), function)).collect()
    });
    Some((*by_name.get(symbol)?, Binding::Fortran))
}

/// Whether a variable is one whose address means something to MPI in Fortran: `MPI_IN_PLACE`, `MPI_STATUS_IGNORE` and the
/// like. The MPI and whoever runs a skeleton must find it by its name.
pub fn is_mark_of_mpi(name: &str) -> bool {
    ["mpipriv", "mpifcmb", "mpi_fortran_"].iter().any(|start| name.starts_with(start))
}

fn effects_of(name: &str, kinds: &[Kind], variadic: bool) -> Effects {
    if let Some((function, binding)) = mpi_function(name) {
        return of_mpi(function, binding, kinds.len());
    }
    let effects = match library_line(name) {
        Some(line) => of_line(line),
        None => assumed(name, kinds, variadic),
    };
    Effects { descriptors: takes_descriptors(name), ..effects }
}

/// Whether a function is one of Fortran's run-time library that works on arrays.
fn takes_descriptors(name: &str) -> bool {
    let plain = ["_FortranAio", "_FortranAProgram", "_FortranAStop", "_FortranACharacterCompareScalar"];
    name == "_FortranAioInputDescriptor"
        || name.starts_with("_FortranA") && !plain.iter().any(|start| name.starts_with(start))
}

fn of_mpi(function: &'static MpiFunction, binding: Binding, count: usize) -> Effects {
    let by_reference = binding == Binding::Fortran;
    let of = |number: usize| match role_of(function, number) {
        Role::Value if by_reference => Use::Reads,
        Role::Value => Use::Value,
        Role::Read => Use::Reads,
        Role::Written if function.arguments[number].name == "baseptr" => Use::Allocates,
        Role::Written | Role::Status => Use::Writes,
        Role::Updated => Use::Updates,
        Role::Callback => Use::Callback,
        Role::Hint if by_reference => Use::Reads,
        Role::Hint => Use::Value,
        role => Use::Data(role),
    };
    let mut uses: Vec<Use> = (0..function.arguments.len()).map(of).collect();
    if by_reference {
        if function.name.starts_with("MPI_Init") && function.arguments.len() >= 2 {
            uses.drain(..2);
        }
        uses.push(Use::Writes);
        uses.push(Use::Value);
    }
    uses.truncate(count.max(1));
    if function.arguments.is_empty() && !by_reference {
        uses.clear();
    }
    let outcome = if is_clock(function.name) { Outcome::Differs } else { Outcome::Value };
    Effects {
        mpi: Some((function, binding)),
        outcome,
        uses,
        nothing: false,
        globals: Vec::new(),
        known: true,
        descriptors: false,
    }
}

fn is_clock(name: &str) -> bool {
    matches!(name, "MPI_Wtime" | "MPI_Wtick")
}

/// The line of `library.txt` for a function.
fn library_line(name: &str) -> Option<&'static str> {
    static LINES: OnceLock<Vec<(&'static str, bool, &'static str)>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let meant = LIBRARY.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        meant
            .map(|line| {
                let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
                match name.strip_suffix('*') {
                    Some(beginning) => (beginning, true, rest),
                    None => (name, false, rest),
                }
            })
            .collect()
    });
    let fits = |line: &&(&str, bool, &str)| if line.1 { name.starts_with(line.0) } else { name == line.0 };
    lines.iter().find(fits).map(|line| line.2)
}

fn of_line(line: &str) -> Effects {
    let mut words = line.split_whitespace();
    let outcome = match words.next().unwrap_or("v") {
        "nothing" => {
            return Effects {
                mpi: None,
                outcome: Outcome::Value,
                uses: vec![Use::Nothing],
                nothing: true,
                globals: Vec::new(),
                known: true,
                descriptors: false,
            };
        }
        "new" => Outcome::Fresh,
        "ext" => Outcome::External,
        "clock" => Outcome::Differs,
        word => match word.strip_prefix('=') {
            Some(number) => Outcome::Argument(number.parse().expect("library.txt: `=` and a number")),
            None => Outcome::Value,
        },
    };
    let (globals, uses): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('@'));
    let use_of = |word: &&str| match *word {
        "r" => Use::Reads,
        "w" => Use::Writes,
        "u" => Use::Updates,
        "s" => Use::Stream,
        "f" => Use::Callback,
        "c" => Use::CopiedToFirst,
        "a" => Use::Allocates,
        "t" => Use::Differs,
        "." => Use::Value,
        other => panic!("library.txt: unknown use of an argument: {other}"),
    };
    Effects {
        mpi: None,
        outcome,
        uses: uses.iter().map(use_of).collect(),
        nothing: false,
        globals: globals.iter().map(|name| name[1..].to_owned()).collect(),
        known: true,
        descriptors: false,
    }
}

/// What a function that nobody has written down may do.
fn assumed(name: &str, kinds: &[Kind], variadic: bool) -> Effects {
    let pure = name.starts_with("llvm.") || !kinds.contains(&Kind::Pointer) && !variadic;
    let mut uses: Vec<Use> =
        kinds.iter().map(|kind| if *kind == Kind::Pointer { Use::Updates } else { Use::Value }).collect();
    if variadic {
        uses.push(Use::Updates);
    }
    let outcome = if pure { Outcome::Value } else { Outcome::External };
    let known = pure || name.starts_with("_FortranA");
    Effects { mpi: None, outcome, uses, nothing: false, globals: Vec::new(), known, descriptors: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_libraries_parses() {
        for line in LIBRARY.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            of_line(line.split_once(' ').map_or("", |(_, rest)| rest));
        }
        assert_eq!(effects_of("fscanf", &[], true).of(5), Use::Writes);
        assert!(effects_of("printf", &[], true).nothing);
        assert_eq!(effects_of("_Znwm", &[], false).outcome, Outcome::Fresh);
    }

    #[test]
    fn mpi_functions_are_recognised_in_both_languages() {
        let send = effects_of("MPI_Send", &[Kind::Pointer; 6], false);
        assert_eq!(send.of(0), Use::Data(Role::DataOut));
        assert_eq!(send.of(1), Use::Value);
        let send = effects_of("mpi_send_", &[Kind::Pointer; 7], false);
        assert_eq!((send.of(1), send.of(6)), (Use::Reads, Use::Writes));
        assert!(effects_of("PMPI_Send", &[Kind::Pointer; 6], false).mpi.is_some());
    }
}
