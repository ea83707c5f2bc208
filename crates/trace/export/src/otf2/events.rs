//! Calls as OTF2 events, one event file for each thread.

use super::archive::{Archive, Attribute, CollectiveRecord, Event, EventWriter, MessageRecord};
use super::comm_ranks::CommRanks;
use super::definitions::{self, Location, Used};
use super::roles;
use crate::ExportError;
use crate::unfold::{Place, Sink, UnfoldedCall};
use kizami_model::{Moment, Peer, Rank, ThreadIndex};
use kizami_trace::Definitions;
use kizami_traffic::{Beginning, Collective, Ending, Message};
use std::collections::BTreeMap;

const ROOT_NONE: u32 = u32::MAX;
const ROOT_SELF: u32 = u32::MAX - 1;
const ROOT_THIS_GROUP: u32 = u32::MAX - 2;

/// Writes the events of one rank after the other.
pub(super) struct EventFiles<'a> {
    archive: &'a Archive,
    ranks: CommRanks,
    definitions: &'a Definitions,
    /// The open files of the rank being written.
    writers: BTreeMap<ThreadIndex, EventWriter>,
    /// What the definitions must contain.
    pub used: Used,
    pub sends: u64,
    pub receives: u64,
    /// Halves of messages whose peer is no known member of the communicator.
    pub left_out: u64,
}

impl<'a> EventFiles<'a> {
    pub fn new(archive: &'a Archive, definitions: &'a Definitions) -> EventFiles<'a> {
        EventFiles {
            archive,
            ranks: CommRanks::new(definitions),
            definitions,
            writers: BTreeMap::new(),
            used: Used::new(definitions),
            sends: 0,
            receives: 0,
            left_out: 0,
        }
    }

    fn writer(&mut self, place: Place) -> Result<&mut EventWriter, ExportError> {
        let archive = self.archive;
        match self.writers.entry(place.thread) {
            std::collections::btree_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::btree_map::Entry::Vacant(entry) => {
                Ok(entry.insert(archive.event_writer(definitions::location(place))?))
            }
        }
    }

    fn write(&mut self, place: Place, at: Moment, event: Event) -> Result<(), ExportError> {
        let archive = self.archive;
        self.writer(place)?.write(archive, timestamp(at), event)
    }

    fn message(&mut self, caller: Rank, message: Message) -> Option<MessageRecord> {
        match self.ranks.of_peer(message.comm, caller, message.peer) {
            Some(peer) => {
                let Message { comm, tag, bytes, .. } = message;
                Some(MessageRecord { peer, comm, tag: tag as u32, bytes })
            }
            None => {
                self.left_out += 1;
                None
            }
        }
    }

    fn beginning(
        &mut self,
        place: Place,
        at: Moment,
        call: &UnfoldedCall,
        beginning: Beginning,
    ) -> Result<(), ExportError> {
        let event = match beginning {
            Beginning::Send(message, request) => {
                let Some(record) = self.message(place.rank, message) else { return Ok(()) };
                self.sends += 1;
                match request {
                    Some(request) => Event::Isend(record, request),
                    None => Event::Send(record),
                }
            }
            Beginning::Receive(request, _) => Event::IrecvRequest(request),
            Beginning::Collective(_) if roles::collective(call.call.op).is_none() => return Ok(()),
            Beginning::Collective(Some(request)) => Event::CollectiveRequest(request),
            Beginning::Collective(None) => Event::CollectiveBegin,
        };
        self.write(place, at, event)
    }

    fn ending(&mut self, place: Place, at: Moment, ending: Ending) -> Result<(), ExportError> {
        let event = match ending {
            Ending::Send(request) => Event::IsendComplete(request),
            Ending::Receive(message, request) => {
                let Some(record) = self.message(place.rank, message) else { return Ok(()) };
                self.receives += 1;
                match request {
                    Some(request) => Event::Irecv(record, request),
                    None => Event::Recv(record),
                }
            }
            Ending::NoMessage(request) => Event::Cancelled(request),
            Ending::Collective(collective, request) => {
                let Some(record) = self.collective(place.rank, collective) else { return Ok(()) };
                match request {
                    Some(request) => Event::CollectiveComplete(record, request),
                    None => Event::CollectiveEnd(record),
                }
            }
        };
        self.write(place, at, event)
    }

    fn collective(&self, caller: Rank, collective: Collective) -> Option<CollectiveRecord> {
        let Collective { comm, bytes_out, bytes_in, .. } = collective;
        let op = roles::collective(collective.op)?;
        let inter = self
            .definitions
            .communicators
            .get(comm as usize)
            .is_some_and(|communicator| !communicator.remote_members.is_empty());
        let root = match collective.root {
            Peer::Rank(root) if inter && root == caller => ROOT_SELF,
            Peer::Rank(root) => self.ranks.of_peer(comm, caller, root).unwrap_or(ROOT_THIS_GROUP),
            Peer::Null if inter => ROOT_THIS_GROUP,
            _ => ROOT_NONE,
        };
        Some(CollectiveRecord { op, comm, root, bytes_out, bytes_in })
    }
}

impl Sink for EventFiles<'_> {
    fn enter_region(&mut self, place: Place, at: Moment, region: u32) -> Result<(), ExportError> {
        let archive = self.archive;
        self.writer(place)?.enter(archive, timestamp(at), region, &[])
    }

    fn leave_region(&mut self, place: Place, at: Moment, region: u32) -> Result<(), ExportError> {
        self.write(place, at, Event::Leave { region })
    }

    fn call(&mut self, place: Place, call: &UnfoldedCall) -> Result<(), ExportError> {
        let row = &call.call;
        let region = self.used.region_of(row.op);
        let mut attributes = Vec::new();
        if let Some(site) = row.callsite {
            let string = definitions::callsite_string(site);
            attributes.push(Attribute::Text(definitions::CALLSITE_ATTRIBUTE, string));
            let path = self.used.path_of(site);
            attributes.extend(path.map(|path| Attribute::Text(definitions::PATH_ATTRIBUTE, path)));
        }
        if row.calls != 1 {
            attributes.push(Attribute::Count(definitions::CALLS_ATTRIBUTE, row.calls));
        }
        if row.weight != 1.0 {
            attributes.push(Attribute::Real(definitions::WEIGHT_ATTRIBUTE, row.weight));
        }
        let archive = self.archive;
        self.writer(place)?.enter(archive, timestamp(call.start), region, &attributes)?;
        for beginning in &call.beginnings {
            self.beginning(place, call.start, call, *beginning)?;
        }
        for ending in &call.endings {
            self.ending(place, call.end, *ending)?;
        }
        self.write(place, call.end, Event::Leave { region })
    }

    fn end_rank(&mut self, rank: Rank) -> Result<(), ExportError> {
        // Even a rank that left nothing needs a location: others name it as their peer.
        self.writer(Place { rank, thread: ThreadIndex(0) })?;
        for (thread, writer) in std::mem::take(&mut self.writers) {
            let events = self.archive.close_event_writer(writer)?;
            self.used.locations.push(Location { place: Place { rank, thread }, events });
        }
        Ok(())
    }
}

/// OTF2 knows no time before the beginning; clocks that were brought together may show a little of it.
fn timestamp(at: Moment) -> u64 {
    at.0.max(0) as u64
}
