//! The file is read back packet by packet and followed the way Perfetto's trace processor does.

use super::schema::{
    AnnotationValue, INSTANT, InternedName, SLICE_BEGIN, SLICE_END, TracePacket, TrackDescriptor,
};
use super::*;
use crate::made_up::{self, MESSAGES};
use prost::Message;
use std::collections::{BTreeMap, HashMap};

/// A whole file.
#[derive(Clone, PartialEq, Message)]
struct TraceFile {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

/// A slice, with texts looked up.
#[derive(Debug)]
struct Slice {
    track: u64,
    name: String,
    category: String,
    start: u64,
    end: u64,
    arrival: u64,
    depth: usize,
    sent: Vec<u64>,
    received: Vec<u64>,
    texts: BTreeMap<String, String>,
}

fn packets(source: Source) -> (Vec<TracePacket>, Summary) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("run.pftrace");
    let summary = write(source, &out, &|_, _| ()).unwrap();
    (TraceFile::decode(std::fs::read(out).unwrap().as_slice()).unwrap().packet, summary)
}

fn descriptors(packets: &[TracePacket]) -> Vec<&TrackDescriptor> {
    packets.iter().filter_map(|packet| packet.track_descriptor.as_ref()).collect()
}

/// Texts by kind and number.
type Texts = [HashMap<u64, String>; 4];

fn learn(texts: &mut Texts, packet: &TracePacket) {
    let Some(data) = &packet.interned_data else { return };
    let lists: [&Vec<InternedName>; 4] = [
        &data.event_categories,
        &data.event_names,
        &data.debug_annotation_names,
        &data.debug_annotation_string_values,
    ];
    for (texts, list) in texts.iter_mut().zip(lists) {
        for entry in list {
            let earlier = texts.insert(entry.iid.unwrap(), entry.name.clone().unwrap());
            assert_eq!(earlier, None, "a text is written once");
        }
    }
}

fn slices(packets: &[TracePacket]) -> Vec<Slice> {
    let mut texts = Texts::default();
    let mut open: HashMap<u64, Vec<Slice>> = HashMap::new();
    let mut done = Vec::new();
    for packet in packets {
        learn(&mut texts, packet);
        let Some(event) = &packet.track_event else { continue };
        let (track, at) = (event.track_uuid.unwrap(), packet.timestamp.unwrap());
        let stack = open.entry(track).or_default();
        if event.r#type == Some(SLICE_END) {
            let mut slice = stack.pop().expect("an end follows a beginning");
            slice.end = at;
            assert!(slice.start <= slice.end);
            done.push(slice);
            continue;
        }
        if event.r#type == Some(INSTANT) {
            let slice = stack.last_mut().expect("messages arrive in calls");
            (slice.arrival, slice.received) = (at, event.terminating_flow_ids.clone());
            continue;
        }
        assert_eq!(event.r#type, Some(SLICE_BEGIN));
        let notes = event.debug_annotations.iter().map(|note| {
            let value = match note.value.as_ref().unwrap() {
                AnnotationValue::Bool(value) => value.to_string(),
                AnnotationValue::Uint(value) => value.to_string(),
                AnnotationValue::Int(value) => value.to_string(),
                AnnotationValue::Double(value) => value.to_string(),
                AnnotationValue::StringIid(iid) => texts[3][iid].clone(),
            };
            (texts[2][&note.name_iid.unwrap()].clone(), value)
        });
        let slice = Slice {
            track,
            name: texts[1][&event.name_iid.unwrap()].clone(),
            category: texts[0][&event.category_iids[0]].clone(),
            start: at,
            end: 0,
            arrival: 0,
            depth: stack.len(),
            sent: event.flow_ids.clone(),
            received: Vec::new(),
            texts: notes.collect(),
        };
        stack.push(slice);
    }
    assert!(open.values().all(Vec::is_empty));
    done
}

#[test]
fn ranks_are_processes_in_their_order() {
    let (packets, _) = packets(made_up::everything());
    let tracks = descriptors(&packets);
    assert_eq!((tracks[0].uuid, tracks[0].process_ordering), (Some(0), Some(1)));
    let processes: Vec<_> = tracks.iter().filter_map(|track| track.process.as_ref()).collect();
    let names: Vec<_> = processes.iter().map(|process| process.process_name.as_deref().unwrap()).collect();
    assert_eq!(names, ["rank 0", "rank 1", "rank 2", "rank 3"]);
    let order: Vec<_> = processes.iter().map(|process| process.legacy_sort_index.unwrap()).collect();
    assert_eq!(order, [0, 1, 2, 3]);
    assert_eq!(processes[2].process_labels, ["beta"]);
    let mut ids: Vec<_> = tracks.iter().map(|track| track.uuid.unwrap()).collect();
    let mut tids: Vec<_> = tracks.iter().filter_map(|track| track.thread.as_ref()?.tid).collect();
    ids.sort();
    tids.sort();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "tracks are told apart: {ids:?}");
    assert_eq!(tids, [1, 2, 3, 4, 5], "the second thread of rank 1 follows the ranks");
}

#[test]
fn arrows_tie_each_send_to_its_receive() {
    let (packets, summary) = packets(made_up::everything());
    let tracks: HashMap<u64, i32> = descriptors(&packets)
        .iter()
        .filter_map(|track| Some((track.uuid?, track.thread.as_ref()?.pid? - 1)))
        .collect();
    let slices = slices(&packets);
    let from: HashMap<u64, &Slice> =
        slices.iter().flat_map(|s| s.sent.iter().map(move |f| (*f, s))).collect();
    let mut found = Vec::new();
    for receiver in &slices {
        for flow in &receiver.received {
            let sender = from[flow];
            assert!(sender.start <= receiver.arrival, "an arrow goes forward in time");
            assert_eq!(receiver.arrival, receiver.end);
            found.push((tracks[&sender.track] as u32, tracks[&receiver.track] as u32));
        }
    }
    let mut expected: Vec<_> = MESSAGES.iter().map(|message| (message.0, message.1)).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!((summary.sends, summary.receives), (MESSAGES.len() as u64 + 1, MESSAGES.len() as u64));
    // Two alike were received in the other order than they were sent: arrows follow the posted receives.
    let bytes = |slice: &Slice| slice.texts["bytes_out"].clone();
    let wait = slices.iter().find(|slice| slice.name == "MPI_Wait" && slice.start == 3110).unwrap();
    assert_eq!(bytes(from[&wait.received[0]]), "201");
}

#[test]
fn slices_match_the_rows() {
    let (packets, summary) = packets(made_up::everything());
    let slices = slices(&packets);
    let arrivals = slices.iter().filter(|slice| !slice.received.is_empty()).count();
    assert_eq!((slices.len() * 2 + arrivals) as u64, summary.written);
    let send = slices.iter().find(|slice| slice.name == "MPI_Send" && slice.start == 1000).unwrap();
    assert_eq!((send.category.as_str(), send.end, send.depth), ("point-to-point", 1100, 1));
    let texts: Vec<_> = send.texts.iter().map(|(name, text)| format!("{name}={text}")).collect();
    assert_eq!(
        texts,
        [
            "bytes_out=100",
            "call path=send<int, \"x\"> a, b.cc:42 <- solve main.c:30 <- main main.c:7",
            "call site=send<int, \"x\"> a, b.cc:42",
            "communicator=MPI_COMM_WORLD",
            "peer=1",
            "tag=7"
        ]
    );
    let polls = slices.iter().find(|slice| slice.texts.contains_key("calls")).unwrap();
    assert_eq!((polls.name.as_str(), polls.texts["calls"].as_str()), ("MPI_Test", "500"));
}

#[test]
fn regions_enclose_their_calls() {
    let (packets, _) = packets(made_up::everything());
    let slices = slices(&packets);
    let of = |name: &str| {
        let named = slices.iter().filter(|slice| slice.name == name);
        named.map(|slice| (slice.start, slice.end, slice.depth)).collect::<Vec<_>>()
    };
    // In rank 1 the outer one ends inside a call, so it moves to the call's end and takes the inner with it.
    assert_eq!(of("solve"), [(900, 5000, 0), (8000, 8110, 0)]);
    assert_eq!(of("exchange"), [(2000, 2100, 1), (8015, 8110, 1)]);
    assert!(slices.iter().filter(|slice| slice.name == "solve").all(|slice| slice.category == "region"));
}
