//! Writes raw segments the way a traced process does, for tests and measurements.

#![expect(missing_docs, reason = "fields are those of a segment's header")]

use kizami_model::{CommKind, Ending, Op, StopReason};
use kizami_records::kind::{COUNTED, OFF_CORE, REDUCED, REGION_BEGIN, REGION_END, STOP};
use kizami_records::{
    CallRecord, Completion, Definition, ListItems, ReducedBy, Started, pack_fold, pack_list_head, pair,
};
use kizami_segment::header::{DEFINITIONS_THREAD, RANK_UNKNOWN, store_text};
use kizami_segment::{Appender, CallNoteView, SLOT_BYTES, WindowShape, head};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

/// What the header of a segment says; the defaults are those of a rank that finalized.
#[derive(Clone, Debug)]
pub struct SegmentOwner {
    pub host: String,
    pub boot_id: String,
    pub pid: u32,
    pub rank: Option<u32>,
    pub world_size: u32,
    pub world_key: u64,
    pub launch: u64,
    pub ending: Ending,
    pub abort_code: i32,
    /// Whether ticks are those of a counter of 2 GHz, or nanoseconds.
    pub tsc: bool,
    pub base_ticks: u64,
    pub last_ticks: u64,
    pub realtime_ns: u64,
    /// In 1/1024 tick.
    pub call_cost: u64,
    pub lost_calls: u64,
    pub lost_errno: u32,
    pub in_call: Option<(Op, u64)>,
    /// What that call was given.
    pub note: CallNoteView,
    /// How much of the file is mapped; it is at least as large.
    pub window: WindowShape,
}

impl SegmentOwner {
    pub fn rank(rank: u32, world_size: u32) -> SegmentOwner {
        SegmentOwner {
            host: "node1".to_owned(),
            boot_id: "boot-1".to_owned(),
            pid: 1000 + rank,
            rank: Some(rank),
            world_size,
            world_key: 0,
            launch: 0,
            ending: Ending::Finalized,
            abort_code: 0,
            tsc: false,
            base_ticks: 1_000_000,
            last_ticks: 2_000_000,
            realtime_ns: 1_700_000_000_000_000_000,
            call_cost: 0,
            lost_calls: 0,
            lost_errno: 0,
            in_call: None,
            note: CallNoteView::default(),
            window: WindowShape::CALLS,
        }
    }
}

/// One segment being written.
pub struct SegmentWriter {
    appender: Appender,
    pub path: PathBuf,
}

impl SegmentWriter {
    /// A segment of `who` below `trace/raw`: of its definitions, or of a thread.
    pub fn create(trace: &Path, who: &SegmentOwner, thread: Option<u32>) -> SegmentWriter {
        let raw = trace.join("raw");
        std::fs::create_dir_all(&raw).unwrap();
        let name = match thread {
            None => format!("{}.{}.defs", who.host, who.pid),
            Some(thread) => format!("{}.{}.{thread}.calls", who.host, who.pid),
        };
        let path = raw.join(name);
        let c_path = CString::new(path.to_str().unwrap()).unwrap();
        let appender = Appender::create(&c_path, who.window).unwrap();
        fill_header(appender.header(), who, thread);
        SegmentWriter { appender, path }
    }

    /// A record of any kind, in whole slots.
    pub fn slots(&mut self, first: [u64; 4], rest: Vec<[u64; 4]>) {
        self.appender.push(first, rest.into_iter()).unwrap();
    }

    pub fn call(&mut self, call: &CallRecord) {
        let shape = call.op.function().unwrap().shape;
        match call.pack(shape) {
            Some(words) => self.slots(words, Vec::new()),
            None => {
                let [first, second] = call.pack_wide();
                self.slots(first, vec![second]);
            }
        }
    }

    pub fn completion(&mut self, call: &CallRecord, items: &[Completion]) {
        let packed: Vec<[u64; 2]> = items.iter().map(|item| item.pack()).collect();
        let list = match packed.as_slice() {
            [] => ListItems::None,
            [one] => ListItems::One(*one),
            more => ListItems::Listed(more.len()),
        };
        let first =
            pack_list_head(call.op, call.start_ticks, call.duration_ticks, call.site, call.failed, list);
        let rest = if packed.len() > 1 { pairs(&packed) } else { Vec::new() };
        self.slots(first, rest);
    }

    pub fn start(&mut self, call: &CallRecord, started: &[Started]) {
        let words: Vec<u64> = started.iter().map(|s| pair(s.persistent, s.request)).collect();
        let list = match words.as_slice() {
            [] => ListItems::None,
            [one] => ListItems::One([*one, 0]),
            more => ListItems::Listed(more.len()),
        };
        let first =
            pack_list_head(call.op, call.start_ticks, call.duration_ticks, call.site, call.failed, list);
        let four = |words: &[u64]| std::array::from_fn(|index| words.get(index).copied().unwrap_or(0));
        let rest = if words.len() > 1 { words.chunks(4).map(four).collect() } else { Vec::new() };
        self.slots(first, rest);
    }

    /// Failed polls: the first, how many in all, when the last ended, ticks inside all.
    pub fn fold(&mut self, call: &CallRecord, count: u64, end_ticks: u64, inside_ticks: u64) {
        let [mut first, mut second] = pack_fold(call);
        first[3] = count;
        (second[0], second[1]) = (inside_ticks, end_ticks);
        self.slots(first, vec![second]);
    }

    pub fn region(&mut self, at_ticks: u64, region: u32, begins: bool) {
        let op = if begins { REGION_BEGIN } else { REGION_END };
        self.slots([head(op, at_ticks), u64::from(region), 0, 0], Vec::new());
    }

    pub fn stop(&mut self, start_ticks: u64, duration_ticks: u64, reason: StopReason, detail: u64) {
        self.slots([head(STOP, start_ticks), duration_ticks, reason as u64, detail], Vec::new());
    }

    /// What one counter counted before and inside the call that follows.
    pub fn counted(&mut self, before: u64, inside: u64) {
        self.slots([head(COUNTED, 0), 1, before, inside], Vec::new());
    }

    /// How long the thread had no core before and inside the call that follows.
    pub fn off_core(&mut self, before_ns: u64, inside_ns: u64) {
        self.slots([head(OFF_CORE, 0), before_ns, inside_ns, 0], Vec::new());
    }

    /// A piece that a reducer handed over.
    pub fn reduced(&mut self, by: ReducedBy, bytes: &[u8]) {
        let slot = |piece: &[u8]| {
            let mut slot = [0; SLOT_BYTES];
            slot[..piece.len()].copy_from_slice(piece);
            std::array::from_fn(|word| u64::from_le_bytes(slot[word * 8..word * 8 + 8].try_into().unwrap()))
        };
        let rest = bytes.chunks(SLOT_BYTES).map(slot).collect();
        self.slots([head(REDUCED, 0), bytes.len() as u64, by as u64, 0], rest);
    }

    pub fn definition(&mut self, definition: &Definition) {
        definition.append_to(&mut self.appender).unwrap();
    }

    /// Ends the segment as a process that ends well does.
    pub fn finish(self) -> PathBuf {
        self.path
    }
}

fn pairs(items: &[[u64; 2]]) -> Vec<[u64; 4]> {
    let slot = |pair: &[[u64; 2]]| {
        let second = pair.get(1).copied().unwrap_or([0, 0]);
        [pair[0][0], pair[0][1], second[0], second[1]]
    };
    items.chunks(2).map(slot).collect()
}

fn fill_header(header: &kizami_segment::Header, who: &SegmentOwner, thread: Option<u32>) {
    let ns = |ticks: u64| if who.tsc { ticks / 2 } else { ticks };
    header.table.store(kizami_model::function::fingerprint(), Relaxed);
    header.pid.store(who.pid, Relaxed);
    header.thread.store(thread.unwrap_or(DEFINITIONS_THREAD), Relaxed);
    header.rank.store(who.rank.unwrap_or(RANK_UNKNOWN), Relaxed);
    header.world_size.store(who.world_size, Relaxed);
    header.world_key.store(who.world_key, Relaxed);
    header.launch.store(who.launch, Relaxed);
    header.ending.store(who.ending as u8, Relaxed);
    header.clock_is_tsc.store(u8::from(who.tsc), Relaxed);
    header.abort_code.store(who.abort_code, Relaxed);
    header.base_ticks.store(who.base_ticks, Relaxed);
    header.first_reading.ticks.store(who.base_ticks, Relaxed);
    header.first_reading.monotonic_ns.store(ns(who.base_ticks), Relaxed);
    header.last_reading.ticks.store(who.last_ticks, Relaxed);
    header.last_reading.monotonic_ns.store(ns(who.last_ticks), Relaxed);
    header.realtime_ns.store(who.realtime_ns, Relaxed);
    header.call_cost.store(who.call_cost, Relaxed);
    header.lost_calls.store(who.lost_calls, Relaxed);
    header.lost_errno.store(who.lost_errno, Relaxed);
    let in_call = who.in_call.map_or(0, |(op, start)| head(op.0, start));
    header.in_call.store(in_call, Relaxed);
    let (note, given) = (&header.in_call_note, &who.note);
    note.site.store(given.site, Relaxed);
    note.requests.store(given.requests, Relaxed);
    note.peer.store(given.peer, Relaxed);
    note.tag.store(given.tag, Relaxed);
    note.recv_peer.store(given.recv_peer, Relaxed);
    note.recv_tag.store(given.recv_tag, Relaxed);
    note.handle.store(given.handle, Relaxed);
    store_text(&header.host, &who.host);
    store_text(&header.boot_id, &who.boot_id);
    store_text(&header.library, "Some MPI v1.0");
    store_text(&header.executable, "/opt/app/stencil");
}

pub fn op(name: &str) -> Op {
    Op::by_name(name).unwrap()
}

/// A call of which only function and time are set.
pub fn call(name: &str, start_ticks: u64, duration_ticks: u64) -> CallRecord {
    CallRecord::new(op(name), start_ticks, duration_ticks)
}

/// When a rank of a ring does what, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct RingTimes {
    /// From one message to the next.
    pub every: u64,
    /// From a send to the receive behind it.
    pub receives_after: u64,
    /// That each call takes.
    pub call: u64,
}

/// The segments of one rank of a ring: each message goes to the next one, and then one is taken from the one before.
pub fn write_ring(
    trace: &Path,
    who: &SegmentOwner,
    (rank, ranks): (u32, u32),
    messages: u64,
    times: RingTimes,
) {
    define(trace, who, &[]);
    let mut segment = SegmentWriter::create(trace, who, Some(0));
    let on = |name, peer: u32, at| CallRecord {
        comm: 0,
        peer: (peer % ranks) as i32,
        bytes_out: 8,
        bytes_in: 8,
        ..call(name, at, times.call)
    };
    for message in 0..messages {
        let at = message * times.every;
        segment.call(&on("MPI_Send", rank + 1, at));
        segment.call(&on("MPI_Recv", rank + ranks - 1, at + times.receives_after));
    }
    segment.finish();
}

/// `MPI_COMM_WORLD` as local communicator 0, `MPI_COMM_SELF` as 1.
pub fn world_definitions(rank: u32, size: u32) -> Vec<Definition> {
    let comm = |local, identity, kind, rank, size| Definition::Communicator {
        local,
        identity,
        parent: 0,
        kind,
        rank,
        size,
        remote: None,
    };
    vec![
        comm(0, 0xAAAA, CommKind::World, rank, size),
        comm(1, 0x5E1F_0000 + u64::from(rank), CommKind::SelfOnly, 0, 1),
    ]
}

/// Writes the definitions of `who`: the world and what else is given.
pub fn define(trace: &Path, who: &SegmentOwner, more: &[Definition]) {
    let mut segment = SegmentWriter::create(trace, who, None);
    for definition in world_definitions(who.rank.unwrap_or(0), who.world_size).iter().chain(more) {
        segment.definition(definition);
    }
    segment.finish();
}
