//! The graph of a trace, kept in its `derived/` folder: the next command does not have to match again.
//!
//! One file with the lists of the graph as they lie in memory, and their lengths in its head. Whatever goes wrong with it
//! (a folder that cannot be written to, a full disk, a damaged file, one that contradicts itself or the trace) leaves
//! things as they were without it. Large graphs are not kept: they take fifty times the room of their trace, and writing one takes about as long as making it.

use crate::channels::Channel;
use crate::check::Claims;
use crate::collectives::Members;
use crate::list::List;
use crate::protocol::{Basis, Decision, Protocol, Shown};
use crate::step::{OffCore, Step, Tie};
use crate::{Graph, Strand};
use bytemuck::{Pod, Zeroable};
use kizami_model::Rank;
use kizami_trace::Trace;
use kizami_trace::derived::{Derived, HEAD_BYTES, Numbers};
use memmap2::Mmap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Changes whenever steps, ties or what they mean do.
const VERSION: u32 = 13;
/// Bytes a graph may have to be kept.
const LARGEST: usize = 64 << 20;
const NAME: &str = "graph.bin";

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

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ProtocolRow {
    hosts: [u32; 2],
    bytes: [u64; 2],
    sends: u64,
    shown: [u64; 4],
    /// Bytes above which sends wait.
    limit_bytes: u64,
    within_host: u32,
    decision: u16,
    basis: u16,
}

/// Each at the index of its number.
const BASES: [Basis; 4] = [Basis::Seen, Basis::OtherSizes, Basis::OtherHosts, Basis::Size];

impl ProtocolRow {
    fn of(protocol: &Protocol) -> ProtocolRow {
        let shown = protocol.shown;
        let (decision, limit_bytes) = match protocol.decision {
            Decision::Eager => (0, 0),
            Decision::Waits => (1, 0),
            Decision::WaitsAbove(bytes) => (2, bytes),
            Decision::ByTimes => (3, 0),
        };
        ProtocolRow {
            hosts: [protocol.from_host, protocol.to_host],
            bytes: [protocol.from_bytes, protocol.to_bytes],
            sends: protocol.sends,
            shown: [shown.before_post, shown.when_in_mpi, shown.after_post, shown.late_progress],
            limit_bytes,
            within_host: u32::from(protocol.within_host),
            decision,
            basis: protocol.basis as u16,
        }
    }

    fn protocol(self) -> Option<Protocol> {
        let [before_post, when_in_mpi, after_post, late_progress] = self.shown;
        Some(Protocol {
            from_host: self.hosts[0],
            to_host: self.hosts[1],
            within_host: self.within_host != 0,
            from_bytes: self.bytes[0],
            to_bytes: self.bytes[1],
            sends: self.sends,
            shown: Shown { before_post, when_in_mpi, after_post, late_progress },
            decision: match self.decision {
                0 => Decision::Eager,
                1 => Decision::Waits,
                2 => Decision::WaitsAbove(self.limit_bytes),
                _ => Decision::ByTimes,
            },
            basis: *BASES.get(usize::from(self.basis))?,
        })
    }
}

/// The graph that was kept for a trace, if it can be believed.
pub(crate) fn load(trace: &Trace) -> Option<Graph> {
    let kept = Derived::of(trace)?.read(NAME, VERSION)?;
    let [steps, ties, strands, channels, places, lists, members, protocols, not_followed, off_core] =
        kept.numbers;
    let map = Arc::new(kept.map);
    let mut at = HEAD_BYTES;
    let steps = take::<Step>(&map, &mut at, steps)?;
    let ties = take::<Tie>(&map, &mut at, ties)?;
    let strands = rows::<StrandRow>(&map, &mut at, strands)?;
    let channels = rows::<ChannelRow>(&map, &mut at, channels)?;
    let places = rows::<PlaceRow>(&map, &mut at, places)?;
    let lengths = rows::<u32>(&map, &mut at, lists)?;
    let members = rows::<u32>(&map, &mut at, members)?;
    let protocols = rows::<ProtocolRow>(&map, &mut at, protocols)?;
    let off_core = rows::<OffCore>(&map, &mut at, off_core)?;
    let protocols = protocols.into_iter().map(ProtocolRow::protocol).collect::<Option<_>>()?;
    let mut listed = members.into_iter().map(Rank);
    let lists = lengths.iter().map(|length| listed.by_ref().take(*length as usize).collect()).collect();
    let graph = Graph {
        folding: None,
        unfolding: None,
        asks: Vec::new(),
        clocks_unaligned: false,
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
            rank_classes: Vec::new(),
            comms: places.iter().map(|place| place.comm).collect(),
        },
        protocols,
        off_core,
        not_followed,
    };
    let definitions = trace.definitions().ok()?;
    Claims::of(trace.run(), &definitions).hold_for(&graph).then_some(graph)
}

/// Another process keeps graphs.
static KEEPS_NONE: AtomicBool = AtomicBool::new(false);

/// From now on this process keeps no graph it makes: another one that makes the same does.
pub fn keep_no_graphs() {
    KEEPS_NONE.store(true, Ordering::Relaxed);
}

/// Keeps the graph of a trace, if there is room.
pub(crate) fn save(trace: &Trace, graph: &Graph) {
    let bytes = size_of_val(&graph.steps[..]) + size_of_val(&graph.ties[..]);
    // Of a run stored by rank class it is made at once.
    if bytes > LARGEST || graph.folding.is_some() || KEEPS_NONE.load(Ordering::Relaxed) {
        return;
    }
    let Some(derived) = Derived::of(trace) else { return };
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
    let protocols: Vec<ProtocolRow> = graph.protocols.iter().map(ProtocolRow::of).collect();
    let parts: [&[u8]; 9] = [
        bytemuck::cast_slice(&graph.steps),
        bytemuck::cast_slice(&graph.ties),
        bytemuck::cast_slice(&strands),
        bytemuck::cast_slice(&channels),
        bytemuck::cast_slice(&places),
        bytemuck::cast_slice(&lengths),
        bytemuck::cast_slice(&members),
        bytemuck::cast_slice(&protocols),
        bytemuck::cast_slice(&graph.off_core),
    ];
    let counts = [
        graph.steps.len(),
        graph.ties.len(),
        strands.len(),
        channels.len(),
        places.len(),
        lengths.len(),
        members.len(),
        protocols.len(),
    ];
    let mut numbers = Numbers::default();
    numbers.iter_mut().zip(counts).for_each(|(number, count)| *number = count as u64);
    numbers[counts.len()] = graph.not_followed;
    numbers[counts.len() + 1] = graph.off_core.len() as u64;
    // Nothing is lost if that fails: it will be matched again.
    let _ = derived.write(NAME, VERSION, numbers, &parts);
}

/// The next list of a mapped file, left where it is.
fn take<T: Pod>(map: &Arc<Mmap>, at: &mut usize, count: u64) -> Option<List<T>> {
    let list = List::mapped(Arc::clone(map), *at, usize::try_from(count).ok()?)?;
    *at += size_of_val(&list[..]);
    Some(list)
}

/// The next list of a mapped file, copied.
fn rows<T: Pod>(map: &Mmap, at: &mut usize, count: u64) -> Option<Vec<T>> {
    let bytes = usize::try_from(count).ok()?.checked_mul(size_of::<T>())?;
    let part = map.get(*at..at.checked_add(bytes)?)?;
    *at += bytes;
    Some(part.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
}
