//! Follows the events of a threading runtime (OpenMP above all) of one process, and reports them as pieces of
//! tasks, what each piece needed, and runs of parallel regions.
//!
//! A task is cut into *pieces* where it waits: for tasks it made, for a group, a barrier, or a region it began. Each piece
//! runs without waiting. Pieces are numbered from 1 in the order in which they began to run, over all threads, so whatever
//! a piece needs has a smaller number; they are reported in that order.
//!
//! Promises: any events may come, in any order; what makes no sense is counted in [`Followed::strange`] and left out. Memory
//! holds the tasks that are alive and [`Settings::most_held`] pieces, besides what waits to be joined. The sum of running
//! times is what threads really ran, whatever pieces it was cut into.
//!
//! It knows ticks alone: moments of the run, names of places and tables are for others. It does not work out virtual time.

mod away;
mod buffer;
mod depend;
mod follow;
mod joins;
mod merge;
mod region;
mod stack;
mod stream;
mod task;

pub use kizami_records::threading::Runtime;

pub use away::{Absence, absences};
pub use follow::{Settings, ThreadInput, follow};
pub use stream::StreamEvents;

/// What a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// What a thread runs outside of all regions: its first piece.
    Initial,
    /// The share of a thread in a region: its first piece.
    Share,
    /// An explicit task: its first piece.
    Task,
    /// What any of them does after it has waited.
    Continued,
}

/// What a task did between the piece before and this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It waited for nothing: the piece before was cut because too many were held.
    ForNothing,
    /// For the tasks it had made.
    ForChildren,
    /// For all tasks of a group.
    ForGroup,
    /// At a barrier.
    AtBarrier,
    /// For the region it had begun.
    ForRegion,
    /// The piece belongs to no task: it stands for all that came before a barrier.
    Together,
}

/// A piece that has ended. Times are ticks of the process's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// From 1, in the order of starts.
    pub number: u64,
    /// The piece that made it, or before it in the same task; none if unknown.
    pub parent: Option<u64>,
    /// Of what.
    pub kind: PieceKind,
    /// What came before it; none before the first piece of a task.
    pub waited: Option<Waited>,
    /// The group that a task belongs to, or that was waited for; 0 if none.
    pub group: u64,
    /// Local number of the place where its task was made, 0 if not known.
    pub site: u32,
    /// Index of the thread that ended it, among those given.
    pub thread: usize,
    /// When it was made, or the piece before it ended.
    pub created: u64,
    /// When it began to run.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// How long it ran, without what the system took, waits for locks, and other tasks on top of it.
    pub running: u64,
    /// How long the parent had run when it was made.
    pub parent_running: u64,
    /// How much of its running time went into recording.
    pub tracer: u64,
    /// How much of its running time it slept, or waited for something in the system.
    pub asleep: u64,
}

/// A piece that another one needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
    /// Its number.
    pub of: u64,
    /// When it ended.
    pub at: u64,
}

/// One run of a parallel region. Times are ticks of the process's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionRun {
    /// Its number in the process.
    pub region: u64,
    /// The region inside which it was begun.
    pub within: Option<u64>,
    /// Local number of the place where it was begun, 0 if not known.
    pub site: u32,
    /// Who ran it.
    pub runtime: Runtime,
    /// Index of the thread that began it.
    pub thread: usize,
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// How many threads had a share.
    pub threads: u32,
    /// How long all of them ran, without recording.
    pub running: u64,
    /// The longest that one of them ran.
    pub longest: u64,
    /// How long they waited for locks.
    pub locked: u64,
    /// How long the system kept them from running.
    pub away: u64,
    /// What recording took, all together.
    pub tracer: u64,
    /// How much of the time they ran they slept, or waited for something in the system.
    pub asleep: u64,
    /// Tasks made in it, also those that were only counted.
    pub tasks: u64,
}

/// Receives the results.
pub trait Listener {
    /// Why it stops.
    type Error;
    /// A piece, and what it needed besides its parent. They come by number.
    fn piece(&mut self, piece: &Piece, needs: &[Need]) -> Result<(), Self::Error>;
    /// A region. They come in the order in which they began.
    fn region(&mut self, region: &RegionRun) -> Result<(), Self::Error>;
}

/// What came of following threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Events that made no sense and were left out.
    pub strange: u64,
    /// Tasks that ran without a known creation.
    pub orphans: u64,
    /// Pieces that were reported.
    pub pieces: u64,
    /// Tasks of which only that is known how many they were.
    pub counted: Counted,
}

/// Tasks that were only counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// How many.
    pub tasks: u64,
    /// How long they ran while a known task was waiting.
    pub running: u64,
    /// Since when: the first of them.
    pub since: Option<u64>,
}
