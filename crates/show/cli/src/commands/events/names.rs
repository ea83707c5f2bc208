//! What the numbers in a row stand for.

use kizami_model::{Call, Peer};
use kizami_trace::{CallSite, Communicator, Definitions, PathFrame};

/// The other side, as people say it.
pub fn peer_name(peer: Peer) -> Option<String> {
    match peer {
        Peer::None => None,
        Peer::Rank(rank) => Some(rank.to_string()),
        Peer::Null => Some("null".to_owned()),
        Peer::Any => Some("any".to_owned()),
        Peer::Unknown => Some("?".to_owned()),
    }
}

/// The communicator of a call, if it is known.
pub fn communicator<'a>(call: &Call, definitions: &'a Definitions) -> Option<&'a Communicator> {
    definitions.communicators.get(call.comm? as usize)
}

/// The name the program gave it, or one that tells it apart.
pub fn communicator_name(communicator: &Communicator) -> String {
    match &communicator.name {
        Some(name) if !name.is_empty() => name.strip_prefix("MPI_COMM_").unwrap_or(name).to_owned(),
        _ if communicator.index == 0 => "WORLD".to_owned(),
        _ => format!("{}#{}", communicator.kind.name(), communicator.index),
    }
}

/// Where a call was made from, if that is known.
pub fn callsite<'a>(call: &Call, definitions: &'a Definitions) -> Option<&'a CallSite> {
    definitions.callsites.get(call.callsite? as usize)
}

/// The calls that led to it, innermost first, if they are known.
pub fn callers<'a>(call: &Call, definitions: &'a Definitions) -> impl Iterator<Item = &'a PathFrame> {
    definitions.callers(callsite(call, definitions).and_then(|site| site.path))
}
