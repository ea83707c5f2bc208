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

/// How a rank ended, as its own segments tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ending {
    /// No sign of an end: killed, crashed, left by `_exit`, or still running.
    Vanished = 0,
    /// `MPI_Finalize` returned.
    Finalized = 1,
    /// The process left by `exit` or by returning from `main`, without `MPI_Finalize`.
    Exited = 2,
    /// The rank called `MPI_Abort`.
    Aborted = 3,
}

macro_rules! named {
    ($kind:ty, $($variant:ident => $name:literal),+) => {
        impl $kind {
            /// The name used in trace tables.
            pub fn name(self) -> &'static str {
                match self { $(<$kind>::$variant => $name),+ }
            }

            /// From the number used in raw segments.
            pub fn from_number(number: u8) -> Option<Self> {
                [$(<$kind>::$variant),+].into_iter().find(|kind| *kind as u8 == number)
            }
        }
    };
}

named!(CommKind, World => "world", SelfOnly => "self", Duplicate => "dup", Split => "split",
    Create => "create", Cartesian => "cart", Graph => "graph", DistributedGraph => "dist_graph",
    Inter => "inter", Merge => "merge", Other => "other");
named!(ObjectKind, Window => "window", File => "file", Datatype => "datatype");
named!(Ending, Vanished => "vanished", Finalized => "finalized", Exited => "exited", Aborted => "aborted");
