//! One call as a row of a trace.

use crate::{Length, Moment, Op, Rank, ThreadIndex};

/// The other side of a call, in world ranks once a trace is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Peer {
    /// The call has no peer.
    #[default]
    None,
    /// A process.
    Rank(Rank),
    /// `MPI_PROC_NULL`: the call did nothing.
    Null,
    /// `MPI_ANY_SOURCE`, and who it was never became known (the request was not completed).
    Any,
    /// There is one, but it cannot be named (a rank whose definitions were lost, a process outside the run).
    Unknown,
}

impl Peer {
    /// As the integer trace tables hold: a rank, -1 for none (`MPI_PROC_NULL`), -2 for a wildcard that was
    /// never resolved, -3 for a peer that cannot be named, nothing where the call has no peer.
    pub fn to_table(self) -> Option<i32> {
        match self {
            Peer::None => None,
            Peer::Rank(rank) => Some(rank.0 as i32),
            Peer::Null => Some(-1),
            Peer::Any => Some(-2),
            Peer::Unknown => Some(-3),
        }
    }

    /// The inverse of [`Peer::to_table`].
    pub fn from_table(value: Option<i32>) -> Peer {
        match value {
            None => Peer::None,
            Some(-1) => Peer::Null,
            Some(-2) => Peer::Any,
            Some(rank @ 0..) => Peer::Rank(Rank(rank as u32)),
            Some(_) => Peer::Unknown,
        }
    }
}

/// One row: a call from entry to return. Computation is what lies between rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Who called.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: ThreadIndex,
    /// When the call began, on the run-wide clock.
    pub start: Moment,
    /// When it returned.
    pub end: Moment,
    /// Which function.
    pub op: Op,
    /// How many calls the row stands for: 1; more for failed polls folded into one row; 0 for a part of
    /// another row (one request started by an `MPI_Startall`).
    pub calls: u32,
    /// Time spent inside the calls of a row of failed polls; start and end are those of the first and last.
    pub inside: Option<Length>,
    /// Index of the communicator in `defs/communicators`.
    pub comm: Option<u32>,
    /// Destination of a send, source of a receive, target of a one-sided access.
    pub peer: Peer,
    /// Tag of the message.
    pub tag: Option<i32>,
    /// Source of the receiving half of a send-receive.
    pub recv_peer: Peer,
    /// Tag of the receiving half of a send-receive.
    pub recv_tag: Option<i32>,
    /// The source was given as `MPI_ANY_SOURCE`.
    pub any_source: bool,
    /// The tag was given as `MPI_ANY_TAG`.
    pub any_tag: bool,
    /// Bytes this rank gave.
    pub bytes_out: Option<u64>,
    /// Bytes this rank obtained.
    pub bytes_in: Option<u64>,
    /// Root of a collective, as a world rank.
    pub root: Peer,
    /// Number of the request this call started; unique within the rank.
    pub request: Option<u64>,
    /// Numbers of the requests this call completed.
    pub completes: Vec<u64>,
    /// Index of the window, file or datatype in `defs/objects`.
    pub object: Option<u32>,
    /// Index in `defs/callsites`.
    pub callsite: Option<u32>,
    /// The call returned an error code.
    pub failed: bool,
    /// What the tracer itself cost around this call.
    pub overhead: Length,
    /// How long inside the call the thread could have run, but had no core.
    pub off_core: Option<Length>,
    /// The same between the thread's call before and this one.
    pub off_core_before: Option<Length>,
    /// 1 unless the row stands for others that were sampled away.
    pub weight: f64,
}

impl Call {
    /// A row of which nothing is known.
    pub const BLANK: Call = Call {
        rank: Rank(0),
        thread: ThreadIndex(0),
        start: Moment(0),
        end: Moment(0),
        op: Op(0),
        calls: 0,
        inside: None,
        comm: None,
        peer: Peer::None,
        tag: None,
        recv_peer: Peer::None,
        recv_tag: None,
        any_source: false,
        any_tag: false,
        bytes_out: None,
        bytes_in: None,
        root: Peer::None,
        request: None,
        completes: Vec::new(),
        object: None,
        callsite: None,
        failed: false,
        overhead: Length(0),
        off_core: None,
        off_core_before: None,
        weight: 0.0,
    };

    /// One call of which only the time is known.
    pub fn new(rank: Rank, thread: ThreadIndex, op: Op, start: Moment, end: Moment) -> Call {
        Call { rank, thread, op, start, end, calls: 1, weight: 1.0, ..Call::BLANK }
    }
}
