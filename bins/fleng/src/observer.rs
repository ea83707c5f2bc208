//! What a run tells those who watch it: every finished task, once.

/// Who made a value be there, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binder {
    /// The virtual time from which on it is there.
    pub time: u64,
    /// The number of the task; 0 is the query.
    pub task: u64,
}

/// One goal, from its making to its end. All times are virtual.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Counted from 1 in the order in which tasks ended in this run; a task that another needs has a smaller number.
    pub number: u64,
    /// The number of the task that made it; 0 is the query.
    pub parent: u64,
    /// The same number for tasks of the same name and number of arguments, counted from 0.
    pub kind: u32,
    /// The goal's name.
    pub name: &'a str,
    /// How many arguments it has.
    pub arity: usize,
    /// The line of the clause it committed to; for a goal of the language itself, the line it is
    /// written on, which is 0 in the query.
    pub line: u32,
    /// When it was made.
    pub born: u64,
    /// When all it had to look at was there.
    pub start: u64,
    /// When it had made its last goal or bound its last variable.
    pub end: u64,
    /// The thread that ran it. One thread runs all: this is 0.
    pub thread: u32,
    /// Who bound what it looked at, in the order of times, each once. Where a value passed variables that `=` made one, it
    /// is whoever did the last thing that was missing.
    pub needs: &'a [Binder],
}

/// Watches a run.
pub trait Observer {
    /// A task ended.
    fn finished(&mut self, task: &Task<'_>);

    /// Whether [`Task::needs`] are wanted; they cost time. Asked once, before the run.
    fn wants_needs(&self) -> bool {
        true
    }
}

/// Watches nothing.
impl Observer for () {
    #[inline]
    fn finished(&mut self, _: &Task<'_>) {}

    fn wants_needs(&self) -> bool {
        false
    }
}
