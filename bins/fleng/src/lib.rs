//! Fleng, a language whose programs show how parallel an algorithm is: its parser, and its execution in virtual time.
//!
//! A program is clauses without guards, `head :- goal, goal.` A goal commits to the first clause whose head
//! fits, waits while an argument it must look at is unbound, and then makes the goals of the clause's body
//! and binds variables. All goals that can run may run at once. Virtual time is the time on a machine with
//! as many processors as wanted: a goal starts as soon as all it looks at is there.
//!
//! ```
//! use kizami_fleng::{Program, Settings};
//!
//! let program = Program::parse(
//!     "append([], Y, Z) :- Z = Y.
//!      append([H | T], Y, Z) :- Z = [H | W], append(T, Y, W).",
//! )?;
//! let outcome = program.query("append([1, 2], [3], R)")?.run(&Settings::default(), &mut ())?;
//! assert_eq!(outcome.answer("R"), Some("[1, 2, 3]"));
//! assert_eq!((outcome.end, outcome.work, outcome.tasks), (8, 8, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The language
//!
//! Terms are variables (`X`, `_`), integers of 61 bits, atoms (`a`, `'any text'`), structures (`f(X, 1)`) and lists
//! (`[a, b | T]`). Comments are `% to the end of the line` and `/* between */`. Besides goals with clauses there are:
//!
//! | goal | does |
//! |---|---|
//! | `X = term` | makes the two sides one. It is part of the clause, not a task. A variable gets one value only: a second one ends the run |
//! | `X := expression` | waits for all variables in it, then binds X. `+ - * // mod min(A, B) max(A, B)`; or a comparison, which gives `true` or `false`: `< > =< >= =:= =\=` of numbers, `== \==` of terms |
//! | `less(A, B, R)`, `at_most(A, B, R)`, `equal(A, B, R)` | compare expressions; R is `true` or `false` |
//! | `same(A, B, R)` | compares terms |
//!
//! # What does not depend on the order
//!
//! A run takes goals one at a time, in an [`Order`] of one's choice. Virtual times, answers, the number of tasks, their
//! clauses and what they needed, and the list of goals that wait for ever are the same for all orders; only the numbers of
//! tasks differ. Two rules make it so. A goal tries clauses in the order of the text, looks at arguments from
//! left to right, and commits to a clause only when all before it are known not to fit: what it waits for next
//! depends on values, not on which of them came first. And a variable takes one value, along one way. In
//! return there is no choice between two streams by which of them has something first, and a goal may wait
//! for an argument although a later clause would not ask for it. If several things are wrong with a program,
//! which of them ends the run may depend on the order.
//!
//! Finished goals are forgotten, and garbage is collected: memory follows what is still needed. There
//! is one thread. The crate does no I/O.

mod code;
mod machine;
mod observer;
mod outcome;
mod program;
mod settings;
mod symbols;
mod syntax;

pub use observer::{Binder, Observer, Task};
pub use outcome::{BlockedGoal, Outcome, RunError};
pub use program::{Program, Query};
pub use settings::{Costs, Order, Settings, TextLimits};
pub use syntax::SyntaxError;

use machine::LARGEST;

impl Query {
    /// Runs the query to its end. An observer is told of every task; `&mut ()` watches nothing.
    ///
    /// # Errors
    /// If a goal fits no clause or cannot be computed, a variable is bound twice, or a limit of the settings is reached.
    pub fn run<O: Observer>(&self, settings: &Settings, observer: &mut O) -> Result<Outcome, RunError> {
        machine::run(self, settings, observer)
    }
}
