//! What a function does, as types: made once for each line of `functions.txt`, so that no other code compares names.
//!
//! A [`Shape`](crate::Shape) says what the words of a record mean; a [`Kind`] says what the call means to other ranks and
//! to its requests: how a message is sent, who waits for whom in a collective, what happens to a window.

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `MPI_Init` or `MPI_Init_thread`.
    Init,
    /// `MPI_Finalize`.
    Finalize,
    /// Sends a message.
    Send(SendMode, Form),
    /// Receives a message.
    Receive(Form),
    /// Sends one message and receives another.
    SendReceive(Form),
    /// Looks for a message.
    Probe,
    /// Waits for requests, or tests them.
    Complete,
    /// Starts persistent requests.
    Start,
    /// Gives up a request.
    FreeRequest,
    /// All ranks of a communicator take part.
    Collective(CollectiveKind, Form),
    /// Makes, frees or asks a communicator.
    Communicator(CommunicatorCall),
    /// Makes, frees, opens, locks or accesses a window.
    Window(WindowCall),
    /// Opens, closes, reads or writes a file, by MPI or by the C library.
    File(FileCall),
    /// Something else.
    Other,
}

/// When a call returns, and what it leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// When it is done.
    Blocking,
    /// At once, with a request that is completed later.
    NonBlocking,
    /// At once, with a request that moves nothing until it is started.
    Persistent,
}

/// What a send may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendMode {
    /// As the library sees fit: mostly, large messages wait for their receiver.
    Standard,
    /// Never for the receiver.
    Buffered,
    /// Always for the receiver.
    Synchronous,
    /// The receiver is ready already.
    Ready,
}

/// The operation of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // Their names are those of the standard.
pub enum CollectiveKind {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

/// Who waits for whom in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Everybody for all.
    All,
    /// Everybody for the root.
    FromRoot,
    /// The root for all.
    ToRoot,
    /// Everybody for those of lower rank.
    Prefix,
    /// Everybody for its neighbours.
    Neighbours,
}

/// What is done with a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommunicatorCall {
    /// All ranks of one make another, together.
    New,
    /// The ranks of a group make one.
    NewOfGroup,
    /// Begins to make one; a request completes when it is there.
    NewLater,
    /// Two groups make one between them.
    NewBetween,
    /// Gives one up.
    Free,
    /// Names one.
    Name,
    /// Queries or changes something that concerns no other rank.
    Ask,
}

/// What is done with a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowCall {
    /// All ranks make it.
    New,
    /// All ranks free it.
    Free,
    /// All ranks separate what they accessed before from what they access after.
    Fence,
    /// Opens it to a group of origins.
    Post,
    /// Begins to access it at a group of targets.
    Start,
    /// Ends what `Start` began.
    Complete,
    /// Waits until all origins are done.
    Wait,
    /// Asks whether they are.
    Test,
    /// Asks for the lock of one target.
    Lock,
    /// Asks for the locks of all.
    LockAll,
    /// Lets go of a lock, or of all.
    Unlock,
    /// Completes accesses under a lock.
    Flush,
    /// Reads or writes memory of a target.
    Access,
    /// Queries or changes something that concerns no other rank.
    Ask,
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileCall {
    /// Opens it.
    Open,
    /// Closes it, and writes what a buffer still held.
    Close,
    /// Reads from it, or begins or ends to.
    Read,
    /// Writes to it, or begins or ends to.
    Write,
    /// Waits until what was written is safe.
    Sync,
    /// Asks or changes something of it.
    Ask,
}

impl CollectiveKind {
    /// The one with this name in the table.
    pub(crate) fn named(name: &str) -> Option<CollectiveKind> {
        use CollectiveKind::*;
        Some(match name {
            "barrier" => Barrier,
            "bcast" => Bcast,
            "gather" => Gather,
            "gatherv" => Gatherv,
            "scatter" => Scatter,
            "scatterv" => Scatterv,
            "allgather" => Allgather,
            "allgatherv" => Allgatherv,
            "alltoall" => Alltoall,
            "alltoallv" => Alltoallv,
            "alltoallw" => Alltoallw,
            "reduce" => Reduce,
            "allreduce" => Allreduce,
            "reduce_scatter" => ReduceScatter,
            "reduce_scatter_block" => ReduceScatterBlock,
            "scan" => Scan,
            "exscan" => Exscan,
            "neighbor_allgather" => NeighborAllgather,
            "neighbor_allgatherv" => NeighborAllgatherv,
            "neighbor_alltoall" => NeighborAlltoall,
            "neighbor_alltoallv" => NeighborAlltoallv,
            "neighbor_alltoallw" => NeighborAlltoallw,
            _ => return None,
        })
    }

    /// Who waits for whom in it.
    pub fn flow(self) -> Flow {
        use CollectiveKind::*;
        match self {
            Bcast | Scatter | Scatterv => Flow::FromRoot,
            Gather | Gatherv | Reduce => Flow::ToRoot,
            Scan | Exscan => Flow::Prefix,
            NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
            | NeighborAlltoallw => Flow::Neighbours,
            Barrier | Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw | Allreduce
            | ReduceScatter | ReduceScatterBlock => Flow::All,
        }
    }
}

impl Kind {
    /// Of a line of a table: the name without `MPI_`, and the shape.
    pub(crate) fn of(short_name: &str, shape: &str) -> Kind {
        match shape {
            "init" => Kind::Init,
            "finalize" => Kind::Finalize,
            "send" => Kind::Send(send_mode(short_name), Form::Blocking),
            "isend" => Kind::Send(send_mode(short_name), Form::NonBlocking),
            "send_init" | "psend_init" => Kind::Send(send_mode(short_name), Form::Persistent),
            "recv" | "mrecv" => Kind::Receive(Form::Blocking),
            "irecv" | "imrecv" => Kind::Receive(Form::NonBlocking),
            "recv_init" | "precv_init" => Kind::Receive(Form::Persistent),
            "sendrecv" | "sendrecv_replace" => Kind::SendReceive(Form::Blocking),
            "isendrecv" | "isendrecv_replace" => Kind::SendReceive(Form::NonBlocking),
            "probe" | "iprobe" | "mprobe" | "improbe" => Kind::Probe,
            "wait" | "waitall" | "waitany" | "waitsome" | "test" | "testall" | "testany" | "testsome" => {
                Kind::Complete
            }
            "start" | "startall" => Kind::Start,
            "request_free" => Kind::FreeRequest,
            "comm_new" => Kind::Communicator(CommunicatorCall::New),
            "comm_create_group" => Kind::Communicator(CommunicatorCall::NewOfGroup),
            "comm_idup" => Kind::Communicator(CommunicatorCall::NewLater),
            "intercomm_create" => Kind::Communicator(CommunicatorCall::NewBetween),
            "comm_free" => Kind::Communicator(CommunicatorCall::Free),
            "comm_name" => Kind::Communicator(CommunicatorCall::Name),
            "comm" => Kind::Communicator(CommunicatorCall::Ask),
            "win_new" => Kind::Window(WindowCall::New),
            "win_free" => Kind::Window(WindowCall::Free),
            "win" | "win_rank" | "win_group" | "win_lock" | "win_test" => {
                Kind::Window(window_call(short_name))
            }
            "rma_out" | "rma_in" | "rma_both" | "rma_word" => Kind::Window(WindowCall::Access),
            "file_open" | "posix_open" => Kind::File(FileCall::Open),
            "file_close" | "posix_close" | "stdio_close" => Kind::File(FileCall::Close),
            "io_in" | "iio_in" | "io_begin_in" | "io_end_in" | "posix_read" => Kind::File(FileCall::Read),
            "io_out" | "iio_out" | "io_begin_out" | "io_end_out" | "posix_write" => {
                Kind::File(FileCall::Write)
            }
            "posix_sync" => Kind::File(FileCall::Sync),
            "file" if short_name == "File_sync" => Kind::File(FileCall::Sync),
            "file" => Kind::File(FileCall::Ask),
            _ => collective(shape).unwrap_or(Kind::Other),
        }
    }
}

fn collective(shape: &str) -> Option<Kind> {
    let (form, name) = match shape.split_once(':') {
        None => (Form::Blocking, shape),
        Some(("i", name)) => (Form::NonBlocking, name),
        Some(_) => (Form::Persistent, shape.split_once(':')?.1),
    };
    Some(Kind::Collective(CollectiveKind::named(name)?, form))
}

fn send_mode(short_name: &str) -> SendMode {
    let name = short_name.to_ascii_lowercase();
    // `Isend` and `Ibsend`: the mode follows the character that says that the call returns at once.
    match name.strip_prefix('i').unwrap_or(&name).as_bytes() {
        [b'b', ..] => SendMode::Buffered,
        [b's', b's', ..] => SendMode::Synchronous,
        [b'r', ..] => SendMode::Ready,
        _ => SendMode::Standard,
    }
}

fn window_call(short_name: &str) -> WindowCall {
    match short_name {
        "Win_fence" => WindowCall::Fence,
        "Win_post" => WindowCall::Post,
        "Win_start" => WindowCall::Start,
        "Win_complete" => WindowCall::Complete,
        "Win_wait" => WindowCall::Wait,
        "Win_test" => WindowCall::Test,
        "Win_lock" => WindowCall::Lock,
        "Win_lock_all" => WindowCall::LockAll,
        "Win_unlock" | "Win_unlock_all" => WindowCall::Unlock,
        "Win_flush" | "Win_flush_all" | "Win_flush_local" | "Win_flush_local_all" => WindowCall::Flush,
        _ => WindowCall::Ask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;

    fn kind(name: &str) -> Kind {
        Op::by_name(name).and_then(Op::function).unwrap().kind
    }

    #[test]
    fn sends_have_the_mode_their_name_says() {
        for (name, mode, form) in [
            ("MPI_Send", SendMode::Standard, Form::Blocking),
            ("MPI_Isend_c", SendMode::Standard, Form::NonBlocking),
            ("MPI_Psend_init", SendMode::Standard, Form::Persistent),
            ("MPI_Bsend", SendMode::Buffered, Form::Blocking),
            ("MPI_Ibsend", SendMode::Buffered, Form::NonBlocking),
            ("MPI_Ssend", SendMode::Synchronous, Form::Blocking),
            ("MPI_Issend_c", SendMode::Synchronous, Form::NonBlocking),
            ("MPI_Ssend_init", SendMode::Synchronous, Form::Persistent),
            ("MPI_Rsend_init", SendMode::Ready, Form::Persistent),
            ("MPI_Irsend", SendMode::Ready, Form::NonBlocking),
        ] {
            assert_eq!(kind(name), Kind::Send(mode, form), "{name}");
        }
    }

    #[test]
    fn collectives_windows_and_ends_are_distinguished() {
        for (name, expected) in [
            ("MPI_Iallreduce", Kind::Collective(CollectiveKind::Allreduce, Form::NonBlocking)),
            ("MPI_Bcast_init_c", Kind::Collective(CollectiveKind::Bcast, Form::Persistent)),
            ("MPI_Neighbor_alltoallw", Kind::Collective(CollectiveKind::NeighborAlltoallw, Form::Blocking)),
            ("MPI_Win_fence", Kind::Window(WindowCall::Fence)),
            ("MPI_Win_unlock_all", Kind::Window(WindowCall::Unlock)),
            ("MPI_Rput", Kind::Window(WindowCall::Access)),
            ("MPI_Win_set_name", Kind::Window(WindowCall::Ask)),
            ("MPI_Init_thread", Kind::Init),
            ("MPI_Finalize", Kind::Finalize),
            ("MPI_Session_finalize", Kind::Other),
            ("MPI_Comm_split", Kind::Communicator(CommunicatorCall::New)),
            ("MPI_Request_free", Kind::FreeRequest),
            ("MPI_Wtime", Kind::Other),
            ("MPI_File_write_at_all", Kind::File(FileCall::Write)),
            ("MPI_File_read_all_begin", Kind::File(FileCall::Read)),
            ("MPI_File_sync", Kind::File(FileCall::Sync)),
            ("MPI_File_set_view", Kind::File(FileCall::Ask)),
            ("pread", Kind::File(FileCall::Read)),
            ("fflush", Kind::File(FileCall::Write)),
            ("fclose", Kind::File(FileCall::Close)),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
        assert_eq!(CollectiveKind::Exscan.flow(), Flow::Prefix);
    }
}
