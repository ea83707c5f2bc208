//! The graph of a trace, kept in its `derived/` folder: the next command does not have to match again.
//!
//! One file with a head, the lists of the graph as they lie in memory, and a checksum over both. It is believed only
//! if it was made by this version from exactly these tables, and is whole. Whatever goes wrong with it (a folder that
//! cannot be written to, a full disk, a damaged file) leaves things as they were without it. Very large graphs are not
//! kept: they take more than ten times the room of their trace.

use crate::channels::Channel;
use crate::collectives::Members;
use crate::list::List;
use crate::step::{Step, Tie};
use crate::{Graph, Strand, scratch_folder};
use bytemuck::{Pod, Zeroable};
use kizami_model::Rank;
use kizami_store::Trace;
use memmap2::MmapMut;
use std::fs::{File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Changes whenever steps, ties or what they mean do.
const VERSION: u64 = 5;
const MAGIC: u64 = u64::from_le_bytes(*b"kizgraph");
/// Bytes a graph may have to be kept.
const LARGEST: usize = 1 << 30;
const NAME: &str = "graph.bin";

#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Head {
    magic: u64,
    version: u64,
    /// Of the tables it was made from.
    made_from: u64,
    steps: u64,
    ties: u64,
    strands: u64,
    channels: u64,
    places: u64,
    lists: u64,
    members: u64,
    not_followed: u64,
    /// Of the head with 0 here, and of all that follows it.
    crc32: u64,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct StrandRow {
    first_step: u64,
    rank: u32,
    thread: u32,
    first_of_rank: u64,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ChannelRow {
    comm: u32,
    from: u32,
    to: u32,
    tag: i32,
}

/// How many members a place has, and whose they are.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PlaceRow {
    size: u32,
    comm: u32,
}

/// The graph that was kept for a trace, if it can be believed.
pub(crate) fn load(trace: &Trace) -> Option<Graph> {
    let file = File::open(trace.path().join("derived").join(NAME)).ok()?;
    // SAFETY: the file is written under another name and never changed afterwards; the mapping is private.
    let map = unsafe { memmap2::MmapOptions::new().map_copy(&file) }.ok()?;
    let head: Head = bytemuck::pod_read_unaligned(map.get(..size_of::<Head>())?);
    let known = (head.magic, head.version, head.made_from) == (MAGIC, VERSION, made_from(trace));
    if !known || checksum(head, &[&map[size_of::<Head>()..]]) != head.crc32 {
        return None;
    }
    let map = Arc::new(map);
    let mut at = size_of::<Head>();
    let steps = take::<Step>(&map, &mut at, head.steps)?;
    let ties = take::<Tie>(&map, &mut at, head.ties)?;
    let strands = rows::<StrandRow>(&map, &mut at, head.strands)?;
    let channels = rows::<ChannelRow>(&map, &mut at, head.channels)?;
    let places = rows::<PlaceRow>(&map, &mut at, head.places)?;
    let lengths = rows::<u32>(&map, &mut at, head.lists)?;
    let members = rows::<u32>(&map, &mut at, head.members)?;
    let mut listed = members.into_iter().map(Rank);
    let lists = lengths.iter().map(|length| listed.by_ref().take(*length as usize).collect()).collect();
    Some(Graph {
        apart: false,
        steps,
        ties,
        strands: strands
            .into_iter()
            .map(|row| Strand {
                rank: Rank(row.rank),
                thread: row.thread,
                first_step: row.first_step,
                first_of_rank: row.first_of_rank != 0,
            })
            .collect(),
        channels: channels
            .into_iter()
            .map(|row| Channel { comm: row.comm, from: Rank(row.from), to: Rank(row.to), tag: row.tag })
            .collect(),
        members: Members {
            sizes: places.iter().map(|place| place.size).collect(),
            lists,
            comms: places.iter().map(|place| place.comm).collect(),
        },
        not_followed: head.not_followed,
    })
}

/// Keeps the graph of a trace, if there is room.
pub(crate) fn save(trace: &Trace, graph: &Graph) {
    if size_of_val(&graph.steps[..]) + size_of_val(&graph.ties[..]) > LARGEST {
        return;
    }
    let folder = scratch_folder(trace);
    if folder.starts_with(trace.path()) {
        let unfinished = folder.join(format!("{NAME}.{}.tmp", std::process::id()));
        let written =
            write(trace, graph, &unfinished).and_then(|()| std::fs::rename(&unfinished, folder.join(NAME)));
        if written.is_err() {
            // Nothing is lost: it will be matched again.
            std::fs::remove_file(&unfinished).unwrap_or(());
        }
    }
}

fn write(trace: &Trace, graph: &Graph, path: &PathBuf) -> std::io::Result<()> {
    let strands: Vec<StrandRow> = graph
        .strands
        .iter()
        .map(|strand| StrandRow {
            first_step: strand.first_step,
            rank: strand.rank.0,
            thread: strand.thread,
            first_of_rank: u64::from(strand.first_of_rank),
        })
        .collect();
    let channels: Vec<ChannelRow> = graph
        .channels
        .iter()
        .map(|way| ChannelRow { comm: way.comm, from: way.from.0, to: way.to.0, tag: way.tag })
        .collect();
    let places = graph.members.sizes.iter().zip(&graph.members.comms);
    let places: Vec<PlaceRow> = places.map(|(size, comm)| PlaceRow { size: *size, comm: *comm }).collect();
    let lengths: Vec<u32> = graph.members.lists.iter().map(|list| list.len() as u32).collect();
    let members: Vec<u32> = graph.members.lists.iter().flatten().map(|rank| rank.0).collect();
    let parts: [&[u8]; 7] = [
        bytemuck::cast_slice(&graph.steps),
        bytemuck::cast_slice(&graph.ties),
        bytemuck::cast_slice(&strands),
        bytemuck::cast_slice(&channels),
        bytemuck::cast_slice(&places),
        bytemuck::cast_slice(&lengths),
        bytemuck::cast_slice(&members),
    ];
    let mut head = Head {
        magic: MAGIC,
        version: VERSION,
        made_from: made_from(trace),
        steps: graph.steps.len() as u64,
        ties: graph.ties.len() as u64,
        strands: strands.len() as u64,
        channels: channels.len() as u64,
        places: places.len() as u64,
        lists: lengths.len() as u64,
        members: members.len() as u64,
        not_followed: graph.not_followed,
        crc32: 0,
    };
    head.crc32 = checksum(head, &parts);
    let mut file = BufWriter::new(OpenOptions::new().write(true).create_new(true).open(path)?);
    file.write_all(bytemuck::bytes_of(&head))?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.flush()
}

fn checksum(head: Head, parts: &[&[u8]]) -> u64 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(bytemuck::bytes_of(&Head { crc32: 0, ..head }));
    parts.iter().for_each(|part| checksum.update(part));
    u64::from(checksum.finalize())
}

/// Tells tables apart by their checksums.
fn made_from(trace: &Trace) -> u64 {
    let mut hash = rustc_hash::FxHasher::default();
    for file in &trace.run().files {
        (file.path.as_str(), file.bytes, file.crc32).hash(&mut hash);
    }
    kizami_model::function::fingerprint().hash(&mut hash);
    hash.finish()
}

/// The next list of a mapped file, left where it is.
fn take<T: Pod>(map: &Arc<MmapMut>, at: &mut usize, count: u64) -> Option<List<T>> {
    let list = List::mapped(Arc::clone(map), *at, usize::try_from(count).ok()?)?;
    *at += size_of_val(&list[..]);
    Some(list)
}

/// The next list of a mapped file, copied.
fn rows<T: Pod>(map: &MmapMut, at: &mut usize, count: u64) -> Option<Vec<T>> {
    let bytes = usize::try_from(count).ok()?.checked_mul(size_of::<T>())?;
    let part = map.get(*at..at.checked_add(bytes)?)?;
    *at += bytes;
    Some(part.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}
