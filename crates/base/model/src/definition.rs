//! The things calls refer to, and how a rank ended.

/// How a communicator came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "each variant is the MPI function's own name")]
pub enum CommKind {
    World = 0,
    SelfOnly = 1,
    Duplicate = 2,
    Split = 3,
    Create = 4,
    Cartesian = 5,
    Graph = 6,
    DistributedGraph = 7,
    Inter = 8,
    Merge = 9,
    Other = 10,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ObjectKind {
    Window = 0,
    File = 1,
    Datatype = 2,
}

/// How a rank ended, according to its own segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ending {
    /// No sign of an end: killed, crashed, left by `_exit`, or (as far as segments show) still running.
    Vanished = 0,
    /// `MPI_Finalize` returned.
    Finalized = 1,
    /// The process left by `exit` or by returning from `main`, without `MPI_Finalize`.
    Exited = 2,
    /// The rank called `MPI_Abort`.
    Aborted = 3,
    /// It still runs. Not in raw segments: their reader finds it out.
    Running = 4,
}

/// Why the tracer stopped recording for a while, and whether it held the thread up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum StopReason {
    /// One that this version does not know.
    Other = 0,
    /// The next chunk was not ready and had to be prepared on the spot.
    ChunkWait = 1,
    /// The program switched recording off by `MPI_Pcontrol(0)`.
    Paused = 2,
    /// All ranks stopped together to write out what they had recorded.
    Suspended = 3,
    /// The clocks of hosts were compared.
    ClockRound = 4,
    /// Ranks settled that there was nothing to stop for.
    Settling = 5,
    /// The tracer measured what recording a call costs.
    Calibration = 6,
    /// The tracer drew from the calls it had collected.
    Sampling = 7,
    /// Calls could not be stored. Not in raw segments: sealing finds it out.
    Lost = 255,
}

/// Gives the variants of an enum the names that trace tables have for them.
#[macro_export]
macro_rules! named {
    ($kind:ty, $($variant:ident => $name:literal),+ $(,)?) => {
        impl $kind {
            /// All of them.
            pub const ALL: &[$kind] = &[$(<$kind>::$variant),+];

            /// The name used in trace tables.
            pub fn name(self) -> &'static str {
                match self { $(<$kind>::$variant => $name),+ }
            }

            /// From the name used in trace tables.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }

            /// From the number used in raw segments.
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| *kind as u8 == number)
            }
        }
    };
}

named!(CommKind, World => "world", SelfOnly => "self", Duplicate => "dup", Split => "split",
    Create => "create", Cartesian => "cart", Graph => "graph", DistributedGraph => "dist_graph",
    Inter => "inter", Merge => "merge", Other => "other");
named!(ObjectKind, Window => "window", File => "file", Datatype => "datatype");
named!(Ending, Vanished => "vanished", Finalized => "finalized", Exited => "exited", Aborted => "aborted",
    Running => "running");
// The names of two of them are older than their words.
named!(StopReason, Other => "other", ChunkWait => "chunk-wait", Paused => "paused", Suspended => "suspended",
    ClockRound => "clock-round", Settling => "settling", Calibration => "rehearsal", Sampling => "drawing",
    Lost => "lost");
