//! Tables of tasks, of any runtime: who made whom, and who needed what others made.
//!
//! A task is whatever a program gives to be run by whichever thread has time: an explicit task of OpenMP, the share of a
//! thread in a parallel region, a goal of Fleng. Its *running* time is that in which it was worked on; while it waits, or
//! its thread is not on a processor, it does not run. Tasks of a rank are numbered from 1, and whoever makes a task or
//! makes something for it has a smaller number. Where a program runs in virtual time (`clocks.method` of `run.json` is
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
    /// A goal of a logic program.
    Goal,
}

kizami_model::named!(TaskKind, Initial => "initial", Implicit => "implicit", Explicit => "explicit", Goal => "goal");

crate::table! {
    /// One task, sorted by rank and number.
    TaskRow in "tasks/", if any {
        /// Whose.
        "rank" rank: Rank,
        /// Its number, from 1.
        "task" task: u64,
        /// The number of the task that made it.
        /// Null: none did.
        "parent" parent: Option<u64>,
        /// `initial`, `implicit`, `explicit` or `goal`.
        "kind" kind: TaskKind,
        /// Index in `defs/callsites`: where it was made, or what it is.
        /// Null: not known.
        "callsite" callsite: Option<u32>,
        /// The thread that ended it.
        "thread" thread: ThreadIndex,
        /// When it was made.
        "created_ns" created: Moment,
        /// When it began to run.
        "start_ns" start: Moment,
        /// When it ended.
        "end_ns" end: Moment,
        /// How long it ran, in all.
        "running_ns" running: Length,
        /// How long its parent had run when it was made.
        /// Null: as long as between the parent's start and then.
        "parent_running_ns" parent_running: Option<Length>,
        /// What the tracer took of its running time.
        "tracer_ns" tracer: Length,
        /// For how many tasks it stands.
        "weight" weight: f64,
    }
}

crate::table! {
    /// Something that a task needed before it could run, sorted by rank and task.
    #[derive(Eq)]
    NeedRow in "needs/", if any {
        /// Whose.
        "rank" rank: Rank,
        /// The task that needed it.
        "task" task: u64,
        /// The task that made it.
        "of" of: u64,
        /// When it was there.
        "at_ns" at: Moment,
    }
}
