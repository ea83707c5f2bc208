//! `order.bin`: the sequence of calls of every thread, with loops folded and what ranks have in common stored once.
//!
//! ```text
//! "KZORDER2"; number of runs of threads; for each: rank of the first, how many ranks, thread index; the shared sequences
//! ```
//!
//! Numbers are seven bits to a byte, the lowest first. The shared sequences are as
//! [`kizami_sequence::Sharing`] makes them; the n-th belongs to the n-th thread of the runs. Reading takes any
//! bytes: nothing is unrolled or listed before it is asked for.

use super::calls::SequenceCalls;
use super::signature::Neighbourhood;
use kizami_model::{Rank, ThreadIndex};
use kizami_sequence::{FoldedSequence, Shared, Sharing};
use kizami_trace::TraceError;
use kizami_wire::varint::{self, Input};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"KZORDER2";

/// Ranks one after the other, each with a thread of this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u32,
    ranks: u32,
    thread: u32,
}

/// Collects the sequences of all threads.
pub struct SequenceWriter {
    runs: Vec<Run>,
    sharing: Sharing,
}

impl Default for SequenceWriter {
    fn default() -> SequenceWriter {
        SequenceWriter::new()
    }
}

impl SequenceWriter {
    /// With nothing in it yet.
    pub fn new() -> SequenceWriter {
        SequenceWriter { runs: Vec::new(), sharing: Sharing::new() }
    }

    /// Adds the sequence of one thread; threads come by rank.
    pub fn add(&mut self, rank: u32, thread: u32, folded: &FoldedSequence, near: &Neighbourhood) {
        match self.runs.last_mut() {
            Some(run) if run.thread == thread && run.first.checked_add(run.ranks) == Some(rank) => {
                run.ranks += 1;
            }
            _ => self.runs.push(Run { first: rank, ranks: 1, thread }),
        }
        self.sharing.add(folded, |comm| near.place(Rank(rank), comm));
    }

    /// The bytes of an `order.bin`.
    pub fn finish(self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        varint::put(&mut bytes, self.runs.len() as u64);
        for run in &self.runs {
            for number in [run.first, run.ranks, run.thread] {
                varint::put(&mut bytes, u64::from(number));
            }
        }
        bytes.extend_from_slice(&self.sharing.finish());
        bytes
    }
}

/// The order of the calls of all threads.
#[derive(Debug)]
pub struct Sequences {
    path: PathBuf,
    bytes: Vec<u8>,
    runs: Vec<Run>,
    /// Where the shared sequences begin.
    shared: usize,
    near: Arc<Neighbourhood>,
}

impl Sequences {
    pub(crate) fn parse(path: &Path, bytes: Vec<u8>, near: Neighbourhood) -> Result<Sequences, TraceError> {
        let (runs, shared) =
            parse_runs(&bytes).ok_or_else(|| TraceError::damaged(path, "its list of threads is damaged"))?;
        let order = Sequences { path: path.to_path_buf(), bytes, runs, shared, near: Arc::new(near) };
        let threads = order.runs.iter().fold(0u64, |sum, run| sum + u64::from(run.ranks));
        let sequences = order.open()?.ranks() as u64;
        if threads != sequences {
            let what = format!("it has {sequences} sequences for {threads} threads");
            return Err(TraceError::damaged(path, what));
        }
        Ok(order)
    }

    fn open(&self) -> Result<Shared<'_>, TraceError> {
        Shared::open(&self.bytes[self.shared..]).map_err(|damage| self.damaged(damage))
    }

    fn damaged(&self, damage: impl std::fmt::Display) -> TraceError {
        TraceError::damaged(&self.path, damage.to_string())
    }

    /// The threads that have a sequence, in their order.
    pub fn threads(&self) -> impl Iterator<Item = (Rank, ThreadIndex)> + '_ {
        let each = |run: &Run| {
            let thread = ThreadIndex(run.thread);
            (run.first..run.first.saturating_add(run.ranks)).map(move |rank| (Rank(rank), thread))
        };
        self.runs.iter().flat_map(each)
    }

    /// How many kinds of sequences there are: threads of a kind differ in peers, sizes and counts at most.
    pub fn kinds(&self) -> Result<usize, TraceError> {
        Ok(self.open()?.groups())
    }

    /// The sequence of a thread; none if it has none.
    pub fn sequence(&self, rank: Rank, thread: ThreadIndex) -> Result<Option<Sequence>, TraceError> {
        let mut before = 0usize;
        for run in &self.runs {
            let within = rank.0.checked_sub(run.first).filter(|within| *within < run.ranks);
            if let Some(within) = within.filter(|_| run.thread == thread.0) {
                let index = before + within as usize;
                let folded = self.open()?.folded(index, |comm| self.near.place(rank, comm));
                let folded = folded.map_err(|damage| self.damaged(damage))?;
                return Ok(Some(Sequence { path: self.path.clone(), rank, folded, near: self.near.clone() }));
            }
            before += run.ranks as usize;
        }
        Ok(None)
    }
}

fn parse_runs(bytes: &[u8]) -> Option<(Vec<Run>, usize)> {
    bytes.starts_with(MAGIC).then_some(())?;
    let mut input = Input::new(&bytes[MAGIC.len()..]);
    let mut number = || u32::try_from(input.number()?).ok();
    let count = number()?;
    let mut runs = Vec::new();
    for _ in 0..count {
        let [first, ranks, thread] = [number()?, number()?, number()?];
        first.checked_add(ranks)?;
        runs.push(Run { first, ranks, thread });
    }
    Some((runs, bytes.len() - input.left()))
}

/// The sequence of calls of one thread.
pub struct Sequence {
    pub(super) path: PathBuf,
    pub(super) rank: Rank,
    pub(super) folded: FoldedSequence,
    pub(super) near: Arc<Neighbourhood>,
}

impl Sequence {
    /// All calls in their order; ends after an error.
    pub fn calls(&self) -> SequenceCalls<'_> {
        SequenceCalls::of(self)
    }

    /// Calls at the end that were not recorded.
    pub fn lost(&self) -> u64 {
        self.folded.lost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SequenceCall;
    use kizami_model::{Call, CommKind, ObjectKind, Peer};
    use kizami_records::sequence_codec::{ANY_SOURCE, ANY_TAG, GOES_ON, Numbering, REQUEST, SKIPS};
    use kizami_sequence::{Recorder, Signature, Sizes};
    use kizami_trace::definitions::{Communicator, Definitions, Object};
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn definitions() -> Definitions {
        let comm = |index, kind, members: &[u32], remote: &[u32]| Communicator {
            index,
            identity: kizami_trace::CommIdentity(u64::from(index)),
            parent: None,
            kind,
            name: None,
            size: members.len() as u32,
            members: members.iter().map(|rank| Some(Rank(*rank))).collect(),
            remote_members: remote.iter().map(|rank| Some(Rank(*rank))).collect(),
            dims: Vec::new(),
            periodic: Vec::new(),
        };
        let object = |index, rank| Object {
            index,
            rank: Rank(rank),
            kind: ObjectKind::Window,
            name: String::new(),
            bytes: 0,
            comm: Some(2),
        };
        Definitions {
            communicators: vec![
                comm(0, CommKind::World, &[0, 1, 2, 3], &[]),
                comm(1, CommKind::SelfOnly, &[], &[]),
                comm(2, CommKind::Split, &[3, 1], &[]),
                comm(3, CommKind::Inter, &[0, 1], &[2, 3]),
            ],
            objects: vec![object(0, 0), object(1, 1), object(2, 3), object(3, 1)],
            ..Definitions::default()
        }
    }

    fn calls(rank: u32) -> Vec<Call> {
        let row = |name: &str| kizami_testing::call(name, rank, 0, 10);
        let right = Peer::Rank(Rank((rank + 1) % 4));
        let mut calls = Vec::new();
        for round in 0..50 {
            calls.push(Call {
                comm: Some(0),
                peer: right,
                tag: Some(-7),
                bytes_out: Some(0),
                callsite: Some(3),
                request: Some(round),
                ..row("MPI_Isend")
            });
            calls.push(Call { peer: Peer::Null, tag: Some(1), comm: Some(0), ..row("MPI_Send") });
            calls.push(Call { calls: 100 + round as u32, ..row("MPI_Test") });
            let root = Peer::Rank(Rank(rank ^ 2));
            calls.push(Call { comm: Some(3), root, bytes_in: Some(4), ..row("MPI_Bcast") });
            let own = Peer::Rank(Rank(rank));
            calls.push(Call { comm: Some(3), root: own, bytes_out: Some(4), ..row("MPI_Bcast") });
            calls.push(Call { comm: Some(1), peer: own, tag: Some(0), ..row("MPI_Probe") });
        }
        if rank % 2 == 1 {
            let object = Some(if rank == 1 { 3 } else { 2 });
            let peer = Peer::Rank(Rank(4 - rank));
            calls.push(Call { object, peer, bytes_out: Some(9), ..row("MPI_Put") });
            calls.push(Call { object, peer: Peer::Rank(Rank(77)), failed: true, ..row("MPI_Put") });
        }
        calls
    }

    fn folded(rank: u32, near: &Neighbourhood) -> FoldedSequence {
        let memory: Vec<AtomicU64> = (0..Sizes::default().bytes() / 8).map(|_| AtomicU64::new(0)).collect();
        let mut recorder = Recorder::start(&memory, Sizes::default()).expect("good sizes");
        let mut requests = Numbering::FIRST;
        for call in calls(rank) {
            near.record(&call, &mut requests, |signature, values| _ = recorder.call(signature, values));
        }
        let bytes: Vec<u8> =
            memory.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        FoldedSequence::read(&[], &bytes).expect("undamaged")
    }

    /// A sequence as it is recorded, with lists that go on.
    fn recorded() -> FoldedSequence {
        let op = |name: &str| kizami_model::Op::by_name(name).unwrap().0;
        let shape =
            |name: &str, flags: u16| Signature { op: op(name), flags, comm: 1, ..Signature::default() };
        let memory: Vec<AtomicU64> = (0..Sizes::default().bytes() / 8).map(|_| AtomicU64::new(0)).collect();
        let mut recorder = Recorder::start(&memory, Sizes::default()).expect("good sizes");
        recorder.call(&shape("MPI_Recv_init", REQUEST), &[8]);
        for _ in 0..20 {
            recorder.call(&shape("MPI_Startall", 0), &[3, 1 << 32 | 1]);
            recorder.call(&shape("MPI_Irecv", REQUEST | ANY_SOURCE | ANY_TAG | SKIPS), &[100, 2]);
            recorder.call(&shape("MPI_Waitall", GOES_ON), &[1 << 32 | 1 << 31, 2 << 32 | 5, 40]);
            recorder.call(&shape("MPI_Waitall", 0), &[4 << 32 | 1]);
        }
        let bytes: Vec<u8> =
            memory.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        FoldedSequence::read(&[], &bytes).expect("undamaged")
    }

    fn written() -> Vec<u8> {
        let near = Neighbourhood::of(&definitions());
        let mut writer = SequenceWriter::new();
        (0..4).for_each(|rank| writer.add(rank, 0, &folded(rank, &near), &near));
        writer.add(3, 1, &folded(2, &near), &near);
        writer.add(3, 2, &recorded(), &near);
        writer.finish()
    }

    fn parse(bytes: Vec<u8>) -> Result<Sequences, TraceError> {
        Sequences::parse(Path::new("order.bin"), bytes, Neighbourhood::of(&definitions()))
    }

    #[test]
    fn sequences_survive_a_round_trip() {
        let order = parse(written()).expect("undamaged");
        let threads: Vec<(u32, u32)> = order.threads().map(|(rank, thread)| (rank.0, thread.0)).collect();
        assert_eq!(threads, [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2)]);
        for rank in 0..4 {
            let sequence = order.sequence(Rank(rank), ThreadIndex(0)).expect("undamaged").expect("there");
            let found: Vec<SequenceCall> = sequence.calls().map(|call| call.expect("undamaged")).collect();
            let expected: Vec<SequenceCall> = calls(rank).iter().map(SequenceCall::of).collect();
            assert_eq!(found, expected, "rank {rank}");
        }
        let sequence = order.sequence(Rank(3), ThreadIndex(2)).expect("undamaged").expect("there");
        let calls: Vec<SequenceCall> = sequence.calls().map(|call| call.expect("undamaged")).collect();
        // Of each round the start, its part, the receive and the wait.
        assert_eq!(calls.len(), 1 + 20 * 4);
        let [part, receive, wait] = [&calls[2], &calls[3], &calls[4]];
        assert_eq!((part.request, part.bytes_in), (Some(5), Some(8)));
        assert_eq!((receive.request, receive.bytes_in), (Some(8), Some(40)));
        assert_eq!((receive.peer, receive.tag), (Peer::Rank(Rank(2)), Some(5)));
        assert_eq!(wait.completes, [8, 5]);
        assert!(order.sequence(Rank(1), ThreadIndex(1)).expect("undamaged").is_none());
        assert!(order.sequence(Rank(4), ThreadIndex(0)).expect("undamaged").is_none());
    }

    fn look_at_all(bytes: Vec<u8>) {
        let Ok(order) = parse(bytes) else { return };
        for (rank, thread) in order.threads().take(20) {
            if let Ok(Some(sequence)) = order.sequence(rank, thread) {
                sequence.calls().take(10_000).for_each(drop);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_bytes_are_sequences_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            look_at_all([MAGIC.to_vec(), bytes.clone()].concat());
            look_at_all(bytes);
        }

        #[test]
        fn changed_bytes_are_sequences_or_an_error(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
            end in any::<prop::sample::Index>(),
        ) {
            let mut bytes = written();
            for (place, value) in &changes {
                let at = place.index(bytes.len());
                bytes[at] = *value;
            }
            look_at_all(bytes[..end.index(bytes.len())].to_vec());
            look_at_all(bytes);
        }
    }
}
