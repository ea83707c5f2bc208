//! Writes a trace of an invented run: two ranks, one message. All commands take it.
//!
//! ```text
//! cargo run --release -p kizami-trace --example write_a_trace -- made-up.kz
//! kizami report made-up.kz
//! ```

use kizami_model::{Call, CommKind, Moment, Op, Peer, Rank, ThreadIndex};
use kizami_trace::write::About;
use kizami_trace::{CallSite, CommIdentity, Communicator, Definitions, TraceError, TraceWriter};

fn main() -> Result<(), TraceError> {
    let output = std::env::args().nth(1).unwrap_or_else(|| "made-up.kz".to_owned());
    let world = Communicator {
        index: 0,
        identity: CommIdentity(1),
        parent: None,
        kind: CommKind::World,
        name: None,
        size: 2,
        members: vec![Some(Rank(0)), Some(Rank(1))],
        remote_members: Vec::new(),
        dims: Vec::new(),
        periodic: Vec::new(),
    };
    let place = CallSite {
        index: 0,
        offset: 0,
        module: None,
        function: "main".to_owned(),
        file: Some("made_up.c".to_owned()),
        line: Some(7),
        inlined_into: Vec::new(),
        path: None,
    };
    let definitions =
        Definitions { communicators: vec![world], callsites: vec![place], ..Definitions::default() };
    let about = About { executable: "made_up".to_owned(), ..About::default() };
    let mut writer = TraceWriter::create(output.as_ref(), about, definitions)?;
    // Rank 0 computes for 3 ms before it sends; rank 1 waits for it from the beginning.
    let message = |name, rank, peer, start_ns, end_ns| Call {
        comm: Some(0),
        peer: Peer::Rank(Rank(peer)),
        tag: Some(0),
        callsite: Some(0),
        ..Call::new(
            Rank(rank),
            ThreadIndex(0),
            Op::by_name(name).unwrap_or(Op(0)),
            Moment(start_ns),
            Moment(end_ns),
        )
    };
    writer.call(&Call { bytes_out: Some(8), ..message("MPI_Send", 0, 1, 3_000_000, 3_001_000) })?;
    writer.call(&Call { bytes_in: Some(8), ..message("MPI_Recv", 1, 0, 0, 3_002_000) })?;
    let run = writer.finish(|_| {})?;
    println!("wrote {output}: {} calls of {} ranks", run.totals.calls, run.ranks);
    Ok(())
}
