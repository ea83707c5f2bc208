//! Calls and regions as slices on the tracks of their threads.

use super::flows::flow;
use super::names::{Kind, Names};
use super::schema::{
    AnnotationValue, DebugAnnotation, INSTANT, ORDERING_EXPLICIT, ProcessDescriptor, SEQUENCE_CLEARED,
    SEQUENCE_NEEDED, SLICE_BEGIN, SLICE_END, ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent,
};
use crate::ExportError;
use crate::call_site::{path_text, site_text};
use crate::output::Output;
use crate::unfold::{Place, Sink, UnfoldedCall};
use kizami_model::{Call, CommKind, Family, Moment, Peer, Rank, ThreadIndex};
use kizami_trace::{Definitions, RankInfo};
use kizami_traffic::{Beginning, Ending};
use prost::Message;
use std::collections::HashMap;

/// Everything is one sequence, so every text is written once.
const SEQUENCE: u32 = 1;
/// The key of `Trace.packet`: field 1, length-delimited.
const PACKET_KEY: u8 = 1 << 3 | 2;
/// The track that carries the order of all processes.
const ROOT_TRACK: u64 = 0;
/// Names of regions are numbered behind those of functions, communicators and then paths behind call sites.
const SECOND_RANGE: u64 = 1 << 32;
const THIRD_RANGE: u64 = 2 << 32;
/// Number of the name and category of an arrival, behind everything.
const ARRIVAL: u64 = 3 << 32;

/// Names of annotations, by their numbers.
const ANNOTATIONS: [&str; 13] = [
    "peer",
    "tag",
    "bytes_out",
    "bytes_in",
    "communicator",
    "root",
    "recv_peer",
    "recv_tag",
    "request",
    "call site",
    "call path",
    "calls",
    "weight",
];

/// Number of an annotation.
#[derive(Clone, Copy)]
enum Note {
    Peer,
    Tag,
    BytesOut,
    BytesIn,
    Communicator,
    Root,
    RecvPeer,
    RecvTag,
    Request,
    CallSite,
    CallPath,
    Calls,
    Weight,
}

/// Writes packets as it receives calls.
pub(super) struct Packets<'a> {
    output: Output,
    definitions: &'a Definitions,
    names: Names,
    buffer: Vec<u8>,
    /// Tracks of the threads of the rank being written.
    tracks: HashMap<ThreadIndex, u64>,
    last_track: u64,
    /// Threads beyond the first of each rank, so far: each needs an id no rank has.
    more_threads: u64,
    pub written: u64,
    pub sends: u64,
    pub receives: u64,
    /// Messages are drawn.
    pub arrows: bool,
}

impl<'a> Packets<'a> {
    /// Begins a file.
    pub fn new(output: Output, definitions: &'a Definitions) -> Result<Packets<'a>, ExportError> {
        let mut packets = Packets {
            output,
            definitions,
            names: Names::default(),
            buffer: Vec::new(),
            tracks: HashMap::new(),
            last_track: ROOT_TRACK,
            more_threads: 0,
            written: 0,
            sends: 0,
            receives: 0,
            arrows: true,
        };
        packets.describe(
            TrackDescriptor {
                uuid: Some(ROOT_TRACK),
                process_ordering: Some(ORDERING_EXPLICIT),
                thread_ordering: Some(ORDERING_EXPLICIT),
                ..TrackDescriptor::default()
            },
            Some(SEQUENCE_CLEARED),
        )?;
        // Readers that know nothing of explicit orders show processes as they come.
        for info in &definitions.ranks {
            packets.describe_rank(info)?;
        }
        Ok(packets)
    }

    /// Ends the file.
    pub fn finish(self) -> Result<(), ExportError> {
        self.output.finish()
    }

    fn packet(&mut self, packet: &TracePacket) -> Result<(), ExportError> {
        self.buffer.clear();
        self.buffer.push(PACKET_KEY);
        packet.encode_length_delimited(&mut self.buffer).expect("a vector takes any number of bytes");
        self.output.write(&self.buffer)
    }

    fn describe(&mut self, track: TrackDescriptor, flags: Option<u32>) -> Result<(), ExportError> {
        self.packet(&TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: flags,
            track_descriptor: Some(track),
            ..TracePacket::default()
        })
    }

    fn event(&mut self, at: Moment, event: TrackEvent) -> Result<(), ExportError> {
        self.written += 1;
        let interned_data = self.names.take_pending();
        let named = event.name_iid.is_some();
        self.packet(&TracePacket {
            timestamp: Some(timestamp(at)),
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: named.then_some(SEQUENCE_NEEDED),
            track_event: Some(event),
            interned_data,
            ..TracePacket::default()
        })
    }

    fn end(&mut self, at: Moment, track: u64) -> Result<(), ExportError> {
        let r#type = Some(SLICE_END);
        self.event(at, TrackEvent { r#type, track_uuid: Some(track), ..TrackEvent::default() })
    }

    /// Marks the arrival of messages. Arrows go from the slice that begins earlier to the one that begins
    /// later, and a receive may well begin before its send does: so they end in an instant of its own.
    fn arrival(&mut self, at: Moment, track: u64, flows: Vec<u64>) -> Result<(), ExportError> {
        let category = self.names.refer(Kind::Category, ARRIVAL, || "message".to_owned());
        let name = self.names.refer(Kind::Event, ARRIVAL, || "received".to_owned());
        let event = TrackEvent {
            category_iids: vec![category],
            r#type: Some(INSTANT),
            name_iid: Some(name),
            track_uuid: Some(track),
            terminating_flow_ids: flows,
            ..TrackEvent::default()
        };
        self.event(at, event)
    }

    /// The track of a thread, described when it is first needed.
    fn track(&mut self, place: Place) -> Result<u64, ExportError> {
        if let Some(track) = self.tracks.get(&place.thread) {
            return Ok(*track);
        }
        self.last_track += 1;
        let ranks = self.definitions.ranks.len() as u64;
        let track = ranks + self.last_track;
        // The first thread has its process's id, as in any system; the others count on behind the ranks.
        let tid = if place.thread == ThreadIndex(0) {
            i64::from(pid(place.rank))
        } else {
            self.more_threads += 1;
            (ranks + self.more_threads) as i64
        };
        let order = place.thread.0 as i32;
        self.describe(
            TrackDescriptor {
                uuid: Some(track),
                parent_uuid: Some(process_track(place.rank)),
                sibling_order_rank: Some(order),
                thread: Some(ThreadDescriptor {
                    pid: Some(pid(place.rank)),
                    tid: Some(tid),
                    legacy_sort_index: Some(order),
                    thread_name: Some(format!("thread {}", place.thread)),
                }),
                ..TrackDescriptor::default()
            },
            None,
        )?;
        self.tracks.insert(place.thread, track);
        Ok(track)
    }

    fn describe_rank(&mut self, info: &RankInfo) -> Result<(), ExportError> {
        let rank = info.rank;
        let host = info.host.and_then(|host| self.definitions.hosts.get(host as usize));
        self.describe(
            TrackDescriptor {
                uuid: Some(process_track(rank)),
                sibling_order_rank: Some(rank.0 as i32),
                process: Some(ProcessDescriptor {
                    pid: Some(pid(rank)),
                    legacy_sort_index: Some(rank.0 as i32),
                    process_name: Some(format!("rank {rank}")),
                    process_labels: host.map(|host| host.name.clone()).into_iter().collect(),
                }),
                ..TrackDescriptor::default()
            },
            None,
        )
    }

    fn note(&mut self, notes: &mut Vec<DebugAnnotation>, note: Note, value: Option<AnnotationValue>) {
        if value.is_some() {
            let number = note as usize;
            let name = self.names.refer(Kind::Annotation, number as u64, || ANNOTATIONS[number].to_owned());
            notes.push(DebugAnnotation { name_iid: Some(name), value });
        }
    }

    fn notes(&mut self, call: &Call) -> Vec<DebugAnnotation> {
        use AnnotationValue::{Double, Int, Uint};
        let peer = |peer: Peer| peer.to_table().map(|value| Int(value.into()));
        let mut notes = Vec::new();
        self.note(&mut notes, Note::Peer, peer(call.peer));
        self.note(&mut notes, Note::Tag, call.tag.map(|tag| Int(tag.into())));
        self.note(&mut notes, Note::RecvPeer, peer(call.recv_peer));
        self.note(&mut notes, Note::RecvTag, call.recv_tag.map(|tag| Int(tag.into())));
        self.note(&mut notes, Note::BytesOut, call.bytes_out.map(Uint));
        self.note(&mut notes, Note::BytesIn, call.bytes_in.map(Uint));
        self.note(&mut notes, Note::Root, peer(call.root));
        self.note(&mut notes, Note::Request, call.request.map(Uint));
        let comm = call.comm.map(|comm| self.communicator(comm));
        self.note(&mut notes, Note::Communicator, comm);
        let site = call.callsite.and_then(|site| self.call_site(site));
        self.note(&mut notes, Note::CallSite, site);
        let path = call.callsite.and_then(|site| self.call_path(site));
        self.note(&mut notes, Note::CallPath, path);
        self.note(&mut notes, Note::Calls, (call.calls != 1).then_some(Uint(call.calls.into())));
        self.note(&mut notes, Note::Weight, (call.weight != 1.0).then_some(Double(call.weight)));
        notes
    }

    fn communicator(&mut self, comm: u32) -> AnnotationValue {
        let communicator = self.definitions.communicators.get(comm as usize);
        let text = || match communicator.map(|c| (&c.name, c.kind)) {
            Some((Some(name), _)) => name.clone(),
            Some((None, CommKind::World)) => "MPI_COMM_WORLD".to_owned(),
            Some((None, CommKind::SelfOnly)) => "MPI_COMM_SELF".to_owned(),
            Some((None, kind)) => format!("communicator {comm} ({})", kind.name()),
            None => format!("communicator {comm}"),
        };
        AnnotationValue::StringIid(self.names.refer(Kind::Value, SECOND_RANGE + u64::from(comm), text))
    }

    fn call_site(&mut self, site: u32) -> Option<AnnotationValue> {
        let known = self.definitions.callsites.get(site as usize)?;
        let text = self.names.refer(Kind::Value, site.into(), || site_text(known));
        Some(AnnotationValue::StringIid(text))
    }

    fn call_path(&mut self, site: u32) -> Option<AnnotationValue> {
        let known = self.definitions.callsites.get(site as usize)?;
        known.path?;
        let path = || path_text(self.definitions, known).unwrap_or_default();
        let text = self.names.refer(Kind::Value, THIRD_RANGE + u64::from(site), path);
        Some(AnnotationValue::StringIid(text))
    }

    fn category(&mut self, family: Option<Family>) -> u64 {
        let number = family.map_or(0, |family| 1 + family as u64);
        self.names.refer(Kind::Category, number, || family.map_or("region", Family::name).to_owned())
    }
}

impl Sink for Packets<'_> {
    fn enter_region(&mut self, place: Place, at: Moment, region: u32) -> Result<(), ExportError> {
        let track = self.track(place)?;
        let known = self.definitions.regions.get(region as usize);
        let text = || known.map_or_else(|| format!("region {region}"), |region| region.name.clone());
        let name = self.names.refer(Kind::Event, SECOND_RANGE + u64::from(region), text);
        let category = self.category(None);
        let event = TrackEvent {
            category_iids: vec![category],
            r#type: Some(SLICE_BEGIN),
            name_iid: Some(name),
            track_uuid: Some(track),
            ..TrackEvent::default()
        };
        self.event(at, event)
    }

    fn leave_region(&mut self, place: Place, at: Moment, _region: u32) -> Result<(), ExportError> {
        let track = self.track(place)?;
        self.end(at, track)
    }

    fn call(&mut self, place: Place, call: &UnfoldedCall) -> Result<(), ExportError> {
        let track = self.track(place)?;
        let (row, rank) = (&call.call, place.rank);
        let family = row.op.function().map_or(Family::Environment, |function| function.family);
        let category = self.category(Some(family));
        let name = self.names.refer(Kind::Event, row.op.0.into(), || row.op.name().to_owned());
        let arrows = self.arrows;
        let sent = call.beginnings.iter().filter_map(|beginning| match beginning {
            Beginning::Send(m, _) if arrows => Some(flow(m.comm, rank, m.peer, m.tag, m.number)),
            _ => None,
        });
        let flow_ids: Vec<u64> = sent.collect();
        let received = call.endings.iter().filter_map(|ending| match ending {
            Ending::Receive(m, _) if arrows => Some(flow(m.comm, m.peer, rank, m.tag, m.number)),
            _ => None,
        });
        let received: Vec<u64> = received.collect();
        self.sends += flow_ids.len() as u64;
        self.receives += received.len() as u64;
        let event = TrackEvent {
            category_iids: vec![category],
            debug_annotations: self.notes(row),
            r#type: Some(SLICE_BEGIN),
            name_iid: Some(name),
            track_uuid: Some(track),
            flow_ids,
            ..TrackEvent::default()
        };
        self.event(call.start, event)?;
        if !received.is_empty() {
            self.arrival(call.end, track, received)?;
        }
        self.end(call.end, track)
    }

    fn end_rank(&mut self, _rank: Rank) -> Result<(), ExportError> {
        self.tracks.clear();
        Ok(())
    }
}

/// Track of a rank. Threads follow behind all ranks.
fn process_track(rank: Rank) -> u64 {
    ROOT_TRACK + 1 + u64::from(rank.0)
}

/// Perfetto takes process 0 for the idle task, so ranks count from one.
fn pid(rank: Rank) -> i32 {
    rank.0 as i32 + 1
}

fn timestamp(at: Moment) -> u64 {
    at.0.max(0) as u64
}
