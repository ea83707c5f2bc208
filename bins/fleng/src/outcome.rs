//! What a run comes to: answers and figures, goals that wait for ever, or what went wrong.

use std::fmt;
use thiserror::Error;

/// A run in which nothing went wrong. Goals may wait for ever all the same: see [`Outcome::stuck`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The query's variables and their values as text, in the order of the query; those called `_` are left out.
    pub answers: Vec<(String, String)>,
    /// The virtual time at which the last task ended.
    pub end: u64,
    /// The virtual times of all tasks from start to end, added up.
    pub work: u64,
    /// The most tasks that ran at one virtual time.
    pub peak: u64,
    /// How many tasks ended.
    pub tasks: u64,
    /// How many goals wait for something that nobody will bind. None in a program that came to its end.
    pub stuck_count: usize,
    /// The first of them, in the order of lines and times; at most [`Outcome::MOST_LISTED`].
    pub stuck: Vec<BlockedGoal>,
}

impl Outcome {
    /// How many goals that wait for ever are told one by one.
    pub const MOST_LISTED: usize = 20;

    /// The value of a variable of the query, as text.
    pub fn answer(&self, variable: &str) -> Option<&str> {
        self.answers.iter().find(|(name, _)| name == variable).map(|(_, value)| value.as_str())
    }
}

/// A goal that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedGoal {
    /// Its name.
    pub name: String,
    /// How many arguments it has.
    pub arity: usize,
    /// The line it is written on; 0 if in the query.
    pub line: u32,
    /// When it was made.
    pub born: u64,
    /// The goal as text; unbound variables have the names of the clause they come from.
    pub goal: String,
    /// The variable it waits for, as it is called in the text.
    pub variable: String,
    /// The line of the clause that has this variable; 0 if the query has it.
    pub variable_line: u32,
}

impl fmt::Display for BlockedGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} waits for {}, ", place(self.line), self.goal, self.variable)?;
        match self.variable_line {
            0 => f.write_str("a variable of the query that is never bound"),
            line => write!(f, "a variable of the clause at line {line} that is never bound"),
        }
    }
}

/// How a line is called, of which 0 is the query.
fn place(line: u32) -> String {
    if line == 0 { "the query".to_owned() } else { format!("line {line}") }
}

/// Why a run was given up. Lines are those of goals in the text; line 0 is the query.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RunError {
    /// No head fits a goal.
    #[error("{}: no clause matches {goal}; add a clause for this case, or check what created the goal", place(*line))]
    NoClause {
        /// Where the goal is written.
        line: u32,
        /// The goal.
        goal: String,
    },
    /// A variable was to get a second value.
    #[error(
        "{}: {goal} binds a variable that already has a value; bind each variable once, and match or \
         compare terms in the head of a clause",
        place(*line)
    )]
    BoundTwice {
        /// Where the goal is written.
        line: u32,
        /// The goal that came second.
        goal: String,
    },
    /// Arithmetic with something else than numbers.
    #[error("{}: {goal} needs a number but has {found}; check where the value comes from", place(*line))]
    NotANumber {
        /// Where the goal is written.
        line: u32,
        /// The goal.
        goal: String,
        /// What is no number.
        found: String,
    },
    /// Division by zero.
    #[error("{}: {goal} divides by 0; add a clause for this case", place(*line))]
    DividedByZero {
        /// Where the goal is written.
        line: u32,
        /// The goal.
        goal: String,
    },
    /// A number of more than 61 bits.
    #[error("{}: the result of {goal} exceeds 61 bits, the size of integers in Fleng", place(*line))]
    TooLarge {
        /// Where the goal is written.
        line: u32,
        /// The goal.
        goal: String,
    },
    /// A comparison or computation that does not end.
    #[error("{}: {goal} reads a term that contains itself or is too large; check what created it", place(*line))]
    Endless {
        /// Where the goal is written.
        line: u32,
        /// The goal.
        goal: String,
    },
    /// More tasks than the budget.
    #[error(
        "stopped after {budget} tasks, at {goal} of line {line}; raise --budget if the program should end"
    )]
    Budget {
        /// The budget.
        budget: u64,
        /// Where the next goal is written.
        line: u32,
        /// The goal that would have been next.
        goal: String,
    },
    /// More memory than allowed.
    #[error(
        "stopped: {goals} unfinished goals need more than {memory} bytes; run the newest goals first \
         (--order lifo), or run a smaller problem"
    )]
    Memory {
        /// The limit.
        memory: usize,
        /// How many goals there were.
        goals: usize,
    },
}
