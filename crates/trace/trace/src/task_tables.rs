//! Tables of tasks, of any runtime: who made whom, and who needed what others made.
//!
//! A task is whatever a program gives to be run by whichever thread has time: an explicit task of OpenMP, the share of a
//! thread in a parallel region, a goal of Fleng. Its *running* time is that in which it was worked on; while it waits, or
//! its thread is not on a processor, it does not run. A task that waits for others goes on as another row, made by the one
//! before and in need of those it waited for: a row runs from its start to its end without waiting. Tasks of a rank are
//! numbered from 1, and a task that creates another or makes something for it has a smaller number. Where a program runs in
//! virtual time (`clocks.method` of `run.json` is
//! `virtual`), all times are units of it.

use kizami_model::{Length, Moment, Rank, ThreadIndex};

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    /// What a process begins with.
    Initial,
    /// The share of a thread in a parallel region.
    Implicit,
    /// A task that the program asks for.
    Explicit,
    /// What a task does after it has waited.
    Continued,
    /// A goal of a logic program.
    Goal,
}

kizami_model::named!(TaskKind, Initial => "initial", Implicit => "implicit", Explicit => "explicit", Continued => "continued", Goal => "goal");

/// What a task did before it went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Waited {
    /// It waited for nothing.
    Nothing,
    /// For the tasks it had made.
    Children,
    /// For all tasks of a group.
    Group,
    /// At a barrier.
    Barrier,
    /// For the parallel region it had begun.
    Region,
    /// The row belongs to no task: it stands for all that came before a barrier.
    Together,
}

kizami_model::named!(Waited, Nothing => "nothing", Children => "children", Group => "group", Barrier => "barrier", Region => "region", Together => "together");

/// A runtime that gives tasks out in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runtime {
    /// GNU's libgomp.
    Gnu,
    /// LLVM's libomp, and Intel's.
    Llvm,
}

kizami_model::named!(Runtime, Gnu => "gnu", Llvm => "llvm");

crate::table! {
    /// One task, sorted by rank and number.
    TaskRow in "tasks/", if any {
        /// Rank.
        "rank" rank: Rank,
        /// Its number, from 1.
        "task" task: u64,
        /// The number of the task that made it.
        /// Null: none did.
        "parent" parent: Option<u64>,
        /// `initial`, `implicit`, `explicit`, `continued` or `goal`.
        "kind" kind: TaskKind,
        /// Index in `defs/callsites`: where it was made, or what it is.
        /// Null: not known.
        "callsite" callsite: Option<u32>,
        /// The thread that ended it.
        "thread" thread: ThreadIndex,
        /// When it was made.
        /// Null: when its parent ended.
        "created_ns" created: Option<Moment>,
        /// When it began to run.
        "start_ns" start: Moment,
        /// When it ended.
        "end_ns" end: Moment,
        /// How long it ran, in all.
        "running_ns" running: Length,
        /// How long its parent had run when it was made.
        /// Null: equal to its total running time, or in virtual time to the time since its start.
        "parent_running_ns" parent_running: Option<Length>,
        /// What the tracer took of its running time.
        "tracer_ns" tracer: Length,
        /// For how many tasks it stands.
        "weight" weight: f64,
        /// What a continued task waited for: `nothing`, `children`, `group`, `barrier` or `region`; `together` where the
        /// row belongs to no task but stands for all that came before a barrier.
        /// Null: not a continued task, not known, or written by an older version.
        "waited" waited: Option<Waited>,
        /// Number of the group of tasks that it belongs to or, if continued, that it waited for.
        /// Null: none, or written by an older version.
        "group" group: Option<u64>,
        /// How much of `running_ns` its thread slept, or waited for something in the system: files, locks, other threads.
        /// Null: not known, or written by an older version.
        "asleep_ns" asleep: Option<Length>,
    }
}

crate::table! {
    /// Something that a task needed before it could run, sorted by rank and task.
    #[derive(Eq)]
    NeedRow in "needs/", if any {
        /// Rank.
        "rank" rank: Rank,
        /// The task that needed it.
        "task" task: u64,
        /// The task that made it.
        "of" of: u64,
        /// When it was there.
        /// Null: when the task that made it ended.
        "at_ns" at: Option<Moment>,
    }
}

crate::table! {
    /// One run of a parallel region, sorted by rank and start.
    #[derive(Eq)]
    ParallelRow in "parallel/", if any {
        /// Rank.
        "rank" rank: Rank,
        /// Its number, from 1.
        "region" region: u64,
        /// The region inside which it was begun.
        /// Null: none.
        "within" within: Option<u64>,
        /// Index in `defs/callsites`: where it was begun.
        /// Null: not known.
        "callsite" callsite: Option<u32>,
        /// The thread that began it.
        "thread" thread: ThreadIndex,
        /// When it began.
        "start_ns" start: Moment,
        /// When it ended.
        "end_ns" end: Moment,
        /// How many threads ran it.
        "threads" threads: u32,
        /// How long they ran, all together: without waiting at barriers, for tasks or for locks, and without what the
        /// system or the tracer took.
        "running_ns" running: Length,
        /// The longest that one of them ran.
        "longest_ns" longest: Length,
        /// How long they waited for locks, all together.
        "locked_ns" locked: Length,
        /// Total time they were preempted.
        "away_ns" away: Length,
        /// What the tracer took, all together.
        "tracer_ns" tracer: Length,
        /// Tasks made in it.
        "tasks" tasks: u64,
        /// Whose runtime ran it: `gnu` or `llvm` (which is Intel's as well).
        /// Null: not known, or written by an older version.
        "runtime" runtime: Option<Runtime>,
        /// How much of `running_ns` its threads slept, or waited for something in the system.
        /// Null: not known, or written by an older version.
        "asleep_ns" asleep: Option<Length>,
    }
}
