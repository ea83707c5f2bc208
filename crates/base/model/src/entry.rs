//! What of a call is noted as it begins: enough to say what it waits for if it never returns.
//!
//! The tracer writes by this, and sealing reads by it, so a note needs no word that says what it is. Only functions that
//! may wait for others, or for a disk, note more than where they were called from.

use crate::function::Function;
use crate::kind::{Form, Kind};

/// What is noted of a call beside its function, start and call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryNote {
    /// Nothing.
    Nothing,
    /// Peer, tag and communicator of a message.
    Message,
    /// Peers and tags of two messages, and their communicator.
    TwoMessages,
    /// The communicator of a collective, and its root if it has one.
    Collective {
        /// It has a root.
        rooted: bool,
    },
    /// How many requests are waited for.
    Requests {
        /// All of them, or one.
        all: bool,
    },
    /// The communicator that something is made from.
    Communicator,
    /// A window; with the rank in it that is meant, if there is one, and for a lock with its kind.
    Window {
        /// One rank of it is meant.
        ranked: bool,
        /// It is locked: shared, or exclusively.
        locks: bool,
    },
    /// A file.
    File,
}

impl EntryNote {
    /// Of calls of this function.
    pub fn of(function: &Function) -> EntryNote {
        let has = |name: &str| function.arguments.iter().any(|argument| argument.name == name);
        match function.shape_name {
            "send" | "recv" | "probe" | "mprobe" => EntryNote::Message,
            "sendrecv" | "sendrecv_replace" => EntryNote::TwoMessages,
            "wait" | "waitall" => EntryNote::Requests { all: true },
            "waitany" | "waitsome" => EntryNote::Requests { all: false },
            "comm_new" | "comm_create_group" | "intercomm_create" | "win_new" | "file_open" => {
                EntryNote::Communicator
            }
            "win" | "win_group" => EntryNote::Window { ranked: false, locks: false },
            "win_rank" => EntryNote::Window { ranked: true, locks: false },
            "win_lock" => EntryNote::Window { ranked: true, locks: true },
            "file" | "io_in" | "io_out" | "io_begin_in" | "io_begin_out" | "io_end_in" | "io_end_out" => {
                EntryNote::File
            }
            _ => match function.kind {
                Kind::Collective(_, Form::Blocking) => EntryNote::Collective { rooted: has("root") },
                _ => EntryNote::Nothing,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;

    #[test]
    fn what_may_wait_is_noted() {
        let of = |name| EntryNote::of(Op::by_name(name).unwrap().function().unwrap());
        assert_eq!(of("MPI_Ssend"), EntryNote::Message);
        assert_eq!(of("MPI_Mprobe"), EntryNote::Message);
        assert_eq!(of("MPI_Sendrecv_replace"), EntryNote::TwoMessages);
        assert_eq!(of("MPI_Allreduce_c"), EntryNote::Collective { rooted: false });
        assert_eq!(of("MPI_Reduce"), EntryNote::Collective { rooted: true });
        assert_eq!(of("MPI_Waitsome"), EntryNote::Requests { all: false });
        assert_eq!(of("MPI_Comm_split"), EntryNote::Communicator);
        assert_eq!(of("MPI_Win_lock"), EntryNote::Window { ranked: true, locks: true });
        assert_eq!(of("MPI_File_write_all"), EntryNote::File);
        for name in ["MPI_Isend", "MPI_Irecv", "MPI_Ibarrier", "MPI_Test", "MPI_Comm_rank", "MPI_Bcast_init"]
        {
            assert_eq!(of(name), EntryNote::Nothing, "{name}");
        }
    }
}
