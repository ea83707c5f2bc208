//! The call a thread was inside when its segment was written to for the last time: from the note in the header to what
//! it was waiting for, as far as the program had said.
//!
//! Handles in the note are the MPI library's own; the definitions of the process say what they stood for. One that they
//! do not name (a communicator that was never used before) stays unknown, and so do its peers.

use super::communicators::{Communicators, LocalComm};
use super::names::{ProcessNames, UNDEFINED};
use kizami_model::{EntryNote, Moment, Op, Peer, Rank, ThreadIndex};
use kizami_records::{NO_SITE, PEER_ROOT};
use kizami_segment::{CallNoteView, HeaderView};
use kizami_trace::definitions::UnderWay;
use kizami_trace::schema::NULL32;

/// What communicators and objects of a process are called by its MPI library, in the order they were made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handles {
    /// Handle and local number of each communicator.
    pub communicators: Vec<(u64, u32)>,
    /// The same of windows and files.
    pub objects: Vec<(u64, u32)>,
}

/// Local number of what was last called so. The upper half of a 32-bit handle is noise.
fn last_named(named: &[(u64, u32)], handle: u64) -> Option<u32> {
    let find = |same: &dyn Fn(u64) -> bool| named.iter().rev().find(|(known, _)| same(*known));
    let found = find(&|known| known == handle)
        .or_else(|| find(&|known| known <= u64::from(u32::MAX) && known as u32 == handle as u32));
    found.filter(|_| handle != 0).map(|(_, local)| *local)
}

/// Where the numbers in a note get their meaning.
pub(crate) struct Meaning<'a> {
    pub rank: u32,
    pub thread: u32,
    pub names: &'a ProcessNames,
    pub communicators: &'a Communicators,
}

impl Meaning<'_> {
    /// The call that a header names, which began at `start`.
    pub(crate) fn of(&self, header: &HeaderView, start: Moment) -> UnderWay {
        let op = Op(header.in_call_op);
        let note = &header.in_call_note;
        let mut call = UnderWay::new(Rank(self.rank), ThreadIndex(self.thread), op, start);
        let site = self.names.sites.get(note.site as usize).copied();
        call.callsite = site.filter(|index| note.site != NO_SITE && *index != UNDEFINED);
        let Some(function) = op.function() else { return call };
        match EntryNote::of(function) {
            EntryNote::Nothing => {}
            EntryNote::Requests { .. } => {
                call.requests = Some(note.requests).filter(|requests| *requests > 0);
            }
            EntryNote::File => _ = self.object(&mut call, note),
            EntryNote::Window { ranked, locks } => {
                let comm = self.object(&mut call, note);
                call.peer = if ranked { self.peer(comm, note.peer) } else { None };
                call.tag = locks.then_some(note.tag);
            }
            of_communicator => {
                let comm = last_named(&self.names.handles.communicators, note.handle)
                    .and_then(|local| self.names.comms.get(local as usize).copied().flatten());
                call.comm = comm.map(|comm| comm.index);
                match of_communicator {
                    EntryNote::Message => self.message(&mut call, comm, note),
                    EntryNote::TwoMessages => {
                        self.message(&mut call, comm, note);
                        call.recv_peer = self.peer(comm, note.recv_peer);
                        call.recv_tag = tag(note.recv_tag);
                    }
                    EntryNote::Collective { rooted: true } if note.peer == PEER_ROOT => {
                        call.root = Some(Peer::Rank(Rank(self.rank)));
                    }
                    EntryNote::Collective { rooted: true } => call.root = self.peer(comm, note.peer),
                    _ => {}
                }
            }
        }
        call
    }

    fn message(&self, call: &mut UnderWay, comm: Option<LocalComm>, note: &CallNoteView) {
        // A header of an older version has no note.
        if note.handle != 0 {
            (call.peer, call.tag) = (self.peer(comm, note.peer), tag(note.tag));
        }
    }

    /// Names the window or file; returns its communicator.
    fn object(&self, call: &mut UnderWay, note: &CallNoteView) -> Option<LocalComm> {
        let local = last_named(&self.names.handles.objects, note.handle)?;
        let (index, comm) = *self.names.objects.get(local as usize)?;
        call.object = Some(index).filter(|index| *index != UNDEFINED);
        call.comm = comm.map(|comm| comm.index);
        comm
    }

    fn peer(&self, comm: Option<LocalComm>, peer: i32) -> Option<Peer> {
        let cell = self.communicators.peer(comm, peer, self.rank as i32);
        (cell != NULL32).then(|| Peer::from_table(Some(cell)))
    }
}

/// No tag is negative, whatever a library's wildcard looks like.
fn tag(tag: i32) -> Option<i32> {
    (tag >= 0).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_what_was_called_so_last() {
        let named = [(0x4400_0000, 0), (0x8400_0001, 2), (0x7f00_0000_1000, 5), (0x8400_0001, 7)];
        assert_eq!(last_named(&named, 0x8400_0001), Some(7));
        assert_eq!(last_named(&named, 0xdead_beef_4400_0000), Some(0), "noise above a 32-bit handle");
        assert_eq!(last_named(&named, 0x7f00_0000_1000), Some(5));
        assert_eq!(last_named(&named, 0x1000), None, "half a pointer is no handle");
        assert_eq!(last_named(&named, 0), None);
    }
}
