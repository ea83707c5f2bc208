//! From one raw record to its row: local numbers to the run's, ranks in a communicator to world ranks,
//! bytes where something moved.
//!
//! A row says null bytes where nothing moved: setting up a persistent request, a probe, a transfer with
//! `MPI_PROC_NULL`, a direction a collective does not use. A receive that has only been posted has null bytes
//! and, with a wildcard, no tag until [`Translator::complete`] learns what came.

use super::communicators::{Communicators, LocalComm, cell};
use super::names::{ProcessNames, UNDEFINED, known};
use super::requests::{OpenReceive, OpenReceives, PersistentRequests, WideNumbers};
use kizami_model::meaning::{Meaning, Role, is_lock, meaning};
use kizami_model::{Peer, Shape};
use kizami_records::{CallRecord, Completion, NO_SITE, PEER_ANY, PEER_NULL, PEER_ROOT, Started};
use kizami_trace::schema::{NULL32, NULL64};
use kizami_trace::write::{Row, Rows};

/// A completion may name this many requests more than were ever seen to start (some starts may be lost);
/// beyond, its count is damage.
const UNMATCHED_REQUESTS: i64 = 1 << 16;

/// Turns the records of one process into rows.
pub(crate) struct Translator<'a> {
    pub rank: i32,
    pub names: &'a ProcessNames,
    pub communicators: &'a Communicators,
    pub open: &'a mut OpenReceives,
    pub persistent: PersistentRequests,
    pub numbers: WideNumbers,
}

impl Translator<'_> {
    fn comm(&self, local: u32) -> Option<LocalComm> {
        self.names.comms.get(local as usize).copied().flatten()
    }

    fn peer(&self, comm: Option<LocalComm>, peer: i32) -> i32 {
        self.communicators.peer(comm, peer, self.rank)
    }

    /// Everything of a row that does not depend on the function.
    #[inline]
    pub(crate) fn common(&mut self, row: &mut Row, call: &CallRecord) {
        row.failed = call.failed;
        if call.site != NO_SITE {
            row.callsite = known(&self.names.sites, call.site).map_or(NULL32, |site| site as i32);
        }
    }

    /// Fills the row of an ordinary call; returns the receive it posted, if its completion is to be awaited.
    #[inline]
    pub(crate) fn call(&mut self, row: &mut Row, call: &CallRecord) -> Option<OpenReceive> {
        let Meaning { shape, role } = meaning(call.op);
        self.common(row, call);
        self.describe(row, call, shape);
        if call.request != 0 {
            row.request = self.numbers.widen(call.request);
        }
        match role {
            Role::Plain => None,
            Role::Receive => self.post(row, call, false),
            Role::SendReceive => self.post(row, call, true),
            Role::Persistent => {
                (row.bytes_out, row.bytes_in) = (NULL64, NULL64);
                if call.any_tag {
                    row.tag = NULL32;
                }
                self.persistent.made(*call);
                None
            }
            Role::Free => {
                row.request = NULL64;
                self.persistent.freed(call.request);
                None
            }
        }
    }

    /// Fills the row of one started persistent request as its `_init` call described it.
    pub(crate) fn started(&mut self, row: &mut Row, started: Started) -> Option<OpenReceive> {
        row.request = self.numbers.widen(started.request);
        let call = *self.persistent.get(started.persistent)?;
        let shape = meaning(call.op).shape;
        self.describe(row, &call, shape);
        if shape != Shape::Receive {
            return None;
        }
        self.post(row, &CallRecord { request: started.request, ..call }, false)
    }

    /// Communicator, peers, tags and bytes, by the shape of the function.
    #[inline]
    fn describe(&self, row: &mut Row, call: &CallRecord, shape: Shape) {
        let comm = self.comm(call.comm);
        row.comm = comm.map_or(NULL32, |comm| comm.index as i32);
        match shape {
            Shape::Send => {
                (row.peer, row.tag) = (self.peer(comm, call.peer), call.tag);
                row.bytes_out = moved(call.bytes_out, call.peer);
            }
            Shape::Receive => {
                (row.peer, row.tag) = (self.peer(comm, call.peer), call.tag);
                row.bytes_in = moved(call.bytes_in, call.peer);
                wildcards(row, call);
            }
            Shape::SendReceive => {
                (row.peer, row.tag) = (self.peer(comm, call.peer), call.tag);
                row.bytes_out = moved(call.bytes_out, call.peer);
                (row.recv_peer, row.recv_tag) = (self.peer(comm, call.recv_peer), call.recv_tag);
                row.bytes_in = moved(call.bytes_in, call.recv_peer);
                wildcards(row, call);
            }
            Shape::Probe => {
                (row.peer, row.tag) = (self.peer(comm, call.peer), call.tag);
                wildcards(row, call);
            }
            Shape::Collective => {
                row.root = match call.peer {
                    PEER_ROOT => self.rank,
                    peer => self.peer(comm, peer),
                };
                (row.bytes_out, row.bytes_in) = (used(call.bytes_out), used(call.bytes_in));
            }
            Shape::ObjectOut | Shape::ObjectIn | Shape::Object => {
                self.describe_access(row, call, shape, comm)
            }
            Shape::Timed | Shape::Completion | Shape::Start => row.peer = self.peer(comm, call.peer),
        }
    }

    fn describe_access(&self, row: &mut Row, call: &CallRecord, shape: Shape, comm: Option<LocalComm>) {
        let object = match call.object {
            0 => None,
            local => self.names.objects.get(local as usize).filter(|(index, _)| *index != UNDEFINED),
        };
        row.object = object.map_or(NULL32, |(index, _)| *index as i32);
        // Targets are ranks in the communicator the window was made with.
        let comm = comm.or(object.and_then(|(_, comm)| *comm));
        row.peer = self.peer(comm, call.peer);
        if is_lock(call.op) {
            row.tag = call.tag;
        }
        (row.bytes_out, row.bytes_in) = match shape {
            Shape::ObjectOut => (moved(call.bytes_out, call.peer), NULL64),
            Shape::ObjectIn => (NULL64, moved(call.bytes_in, call.peer)),
            _ => (used(call.bytes_out), used(call.bytes_in)),
        };
    }

    /// A receive has been posted: nothing came yet.
    fn post(&mut self, row: &mut Row, call: &CallRecord, second_half: bool) -> Option<OpenReceive> {
        let source = if second_half { call.recv_peer } else { call.peer };
        row.bytes_in = NULL64;
        if call.any_tag && second_half {
            row.recv_tag = NULL32;
        } else if call.any_tag {
            row.tag = NULL32;
        }
        if call.request == 0 || source == PEER_NULL {
            return None;
        }
        let (request, comm, posted_bytes) = (call.request, call.comm, call.bytes_in);
        // The row's place is filled in when it has one.
        Some(OpenReceive { request, row: 0, comm, second_half, posted_bytes })
    }

    /// Fills the row of polls that found nothing.
    pub(crate) fn polls(&mut self, row: &mut Row, call: &CallRecord) {
        self.common(row, call);
        let comm = self.comm(call.comm);
        row.comm = comm.map_or(NULL32, |comm| comm.index as i32);
        if meaning(call.op).shape == Shape::Probe {
            row.peer = self.peer(comm, call.peer);
            row.any_source = call.peer == PEER_ANY;
            // No tag is negative, whatever a library's wildcard looks like.
            row.any_tag = call.tag < 0;
            row.tag = if row.any_tag { NULL32 } else { call.tag };
        }
    }

    /// Lists the completed requests of the row about to be pushed.
    pub(crate) fn list_completed(&mut self, rows: &mut Rows, completions: &[Completion]) {
        for completion in completions {
            match *completion {
                Completion::AsPosted { request, count } => {
                    let newest = self.numbers.newest();
                    let first = self.numbers.widen(request);
                    let believable = (newest - first).max(0) + UNMATCHED_REQUESTS;
                    let count = i64::from(count).min(believable);
                    rows.completes.values.extend(first..first + count);
                }
                Completion::Received { request, .. } | Completion::Cancelled { request } => {
                    rows.completes.values.push(self.numbers.widen(request));
                }
                Completion::MoreBytes { .. } => {}
            }
        }
    }

    /// Patches the rows of the receives that these completions ended.
    pub(crate) fn complete(&mut self, rows: &mut Rows, completions: &[Completion]) {
        let mut last = None;
        for completion in completions {
            match *completion {
                Completion::AsPosted { request, count } => {
                    self.open.remove_range(request, count, |receive| {
                        let row = receive.row as usize;
                        rows.bytes_in.set(rows.len(), row, amount(receive.posted_bytes));
                    });
                }
                Completion::Received { request, peer, tag, bytes } => {
                    last = self.open.remove(request);
                    if let Some(receive) = last {
                        self.received(rows, receive, peer, tag, bytes);
                    }
                }
                // Its row stays as posted: nothing came.
                Completion::Cancelled { request } => _ = self.open.remove(request),
                Completion::MoreBytes { request, bytes } => {
                    let row = last.filter(|receive| receive.request == request).map(|last| last.row as usize);
                    if let Some(row) = row.filter(|row| rows.bytes_in.at(*row) != NULL64) {
                        let all = rows.bytes_in.at(row).saturating_add(amount(bytes));
                        rows.bytes_in.set(rows.len(), row, all);
                    }
                }
            }
        }
    }

    fn received(&self, rows: &mut Rows, receive: OpenReceive, peer: i32, tag: i32, bytes: u32) {
        let (count, row) = (rows.len(), receive.row as usize);
        let source = self.peer(self.comm(receive.comm), peer);
        let (peers, tags) = match receive.second_half {
            true => (&mut rows.recv_peer, &mut rows.recv_tag),
            false => (&mut rows.peer, &mut rows.tag),
        };
        peers.set(count, row, source);
        tags.set(count, row, tag);
        let bytes = if source == cell(Peer::Null) { NULL64 } else { i64::from(bytes) };
        rows.bytes_in.set(count, row, bytes);
    }
}

fn wildcards(row: &mut Row, call: &CallRecord) {
    (row.any_source, row.any_tag) = (call.any_source, call.any_tag);
}

fn amount(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Bytes of a transfer with this peer.
fn moved(bytes: u64, peer: i32) -> i64 {
    if peer == PEER_NULL { NULL64 } else { amount(bytes) }
}

/// Bytes of a direction that may not have been used at all.
fn used(bytes: u64) -> i64 {
    if bytes == 0 { NULL64 } else { amount(bytes) }
}
