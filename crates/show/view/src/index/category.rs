//! What a rank does at a moment, in the few kinds a picture can tell apart.
//!
//! The kind of a call follows from its function alone: no waiting is worked out here. Whether a receive waited or
//! only took what was there is for the verdict to say.

use kizami_model::{Family, Op, Shape};

/// How many kinds there are.
pub const CATEGORIES: usize = 9;

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Category {
    /// Anything outside MPI.
    Compute = 0,
    /// Sends, and posts of what is completed later.
    PointToPoint = 1,
    /// Receives, completions and probes: calls that last as long as the other side lets them.
    Receive = 2,
    /// Collective communication.
    Collective = 3,
    /// Windows and one-sided communication.
    OneSided = 4,
    /// Files.
    File = 5,
    /// All other MPI functions.
    Other = 6,
    /// The tracer held the rank.
    Tracer = 7,
    /// Nothing was recorded: before the first call, behind the last, paused or lost.
    NoRecord = 8,
}

impl Category {
    /// That of a call.
    pub fn of(op: Op) -> Category {
        let Some(function) = op.function() else { return Category::Other };
        match (function.shape, function.family) {
            (Shape::Send | Shape::Start, _) => Category::PointToPoint,
            (Shape::Receive, _) if function.gives_request() => Category::PointToPoint,
            (Shape::SendReceive, _) if function.gives_request() => Category::PointToPoint,
            (Shape::Receive | Shape::SendReceive | Shape::Probe | Shape::Completion, _) => Category::Receive,
            (Shape::Collective, _) => Category::Collective,
            (_, Family::OneSided) => Category::OneSided,
            (_, Family::Io) => Category::File,
            _ => Category::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_from_functions() {
        let of = |name| Category::of(Op::by_name(name).unwrap());
        for name in ["MPI_Send", "MPI_Isend", "MPI_Irecv", "MPI_Imrecv", "MPI_Startall", "MPI_Recv_init"] {
            assert_eq!(of(name), Category::PointToPoint, "{name}");
        }
        for name in ["MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Waitall", "MPI_Testany", "MPI_Iprobe"] {
            assert_eq!(of(name), Category::Receive, "{name}");
        }
        assert_eq!(of("MPI_Iallreduce"), Category::Collective);
        assert_eq!(of("MPI_Win_fence"), Category::OneSided);
        assert_eq!(of("MPI_Put"), Category::OneSided);
        assert_eq!(of("MPI_File_write_all"), Category::File);
        assert_eq!(of("MPI_Init"), Category::Other);
        assert_eq!(Category::of(Op(0)), Category::Other);
    }
}
