//! Recordings made by hand, for tests of what becomes of their times.

#![allow(dead_code, reason = "each user needs only some of it")]

use kizami_records::{CallRecord, Completion};
use kizami_testing::segments::{self, SegmentOwner, SegmentWriter, call, define};
use proptest::prelude::*;
use std::path::PathBuf;
use tempfile::TempDir;

pub const WORLD: u32 = 0;

/// A recording that goes away with the test.
pub struct Place {
    folder: TempDir,
    ranks: u32,
    cost_ns: u64,
}

impl Place {
    pub fn new(ranks: u32, cost_ns: u64) -> Place {
        Place { folder: tempfile::tempdir().unwrap(), ranks, cost_ns }
    }

    pub fn recorded(&self) -> PathBuf {
        self.folder.path().join("run.kz")
    }

    pub fn clean(&self) -> PathBuf {
        self.folder.path().join("clean.kz")
    }

    /// Writes one thread of a rank.
    pub fn thread(&self, rank: u32, thread: u32, write: impl FnOnce(&mut SegmentWriter)) {
        let who = SegmentOwner { call_cost: self.cost_ns << 10, ..SegmentOwner::rank(rank, self.ranks) };
        if thread == 0 {
            define(&self.recorded(), &who, &[]);
        }
        let mut segment = SegmentWriter::create(&self.recorded(), &who, Some(thread));
        write(&mut segment);
        segment.finish();
    }
}

pub fn barrier(start: u64, end: u64) -> CallRecord {
    CallRecord { comm: WORLD, ..call("MPI_Barrier", start, end - start) }
}

pub fn send(start: u64, end: u64, peer: i32, bytes: u64) -> CallRecord {
    let send = call("MPI_Send", start, end - start);
    CallRecord { comm: WORLD, peer, tag: 3, bytes_out: bytes, ..send }
}

pub fn receive(start: u64, end: u64, peer: i32, bytes: u64) -> CallRecord {
    let receive = call("MPI_Recv", start, end - start);
    CallRecord { comm: WORLD, peer, tag: 3, bytes_in: bytes, ..receive }
}

/// One call of a made-up rank: which, how long after the last, how long, to or from whom.
pub type Deed = (u8, u32, u32, u8);

pub fn write_deeds(segment: &mut SegmentWriter, rank: u32, ranks: u32, deeds: &[Deed]) {
    let mut at = u64::from(rank) * 7;
    let mut open = Vec::new();
    for (number, (kind, gap, length, other)) in deeds.iter().enumerate() {
        let start = at + u64::from(*gap);
        let end = start + u64::from(*length);
        at = end;
        let peer = (u32::from(*other) % ranks) as i32;
        let bytes = if other % 2 == 0 { 8 } else { 1 << 20 };
        let request = number as u32 + 1;
        let as_op = |name, record| CallRecord { op: segments::op(name), ..record };
        match kind {
            0 => segment.call(&send(start, end, peer, bytes)),
            1 => segment.call(&receive(start, end, peer, bytes)),
            2 => {
                open.push(request);
                segment.call(&as_op("MPI_Isend", CallRecord { request, ..send(start, end, peer, bytes) }));
            }
            3 => {
                open.push(request);
                segment.call(&as_op("MPI_Irecv", CallRecord { request, ..receive(start, end, peer, bytes) }));
            }
            4 => {
                let posted = |request| Completion::AsPosted { request, count: 1 };
                let done: Vec<Completion> = open.drain(..).map(posted).collect();
                segment.completion(&call("MPI_Waitall", start, u64::from(*length)), &done);
            }
            5 => segment.call(&barrier(start, end)),
            6 => {
                let bcast = call("MPI_Bcast", start, u64::from(*length));
                segment.call(&CallRecord { comm: WORLD, peer, bytes_out: 8, ..bcast });
            }
            7 => {
                let test = call("MPI_Test", start, 1);
                segment.fold(&test, 1 + u64::from(*other), end, u64::from(*length) / 2);
            }
            8 => segment.call(&CallRecord {
                comm: WORLD,
                peer,
                tag: 3,
                ..call("MPI_Probe", start, end - start)
            }),
            9 => {
                let reduce = call("MPI_Reduce", start, u64::from(*length));
                segment.call(&CallRecord { comm: WORLD, peer, bytes_out: 8, ..reduce });
            }
            _ => segment.call(&call("MPI_Comm_rank", start, u64::from(*length))),
        }
    }
}

pub fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    proptest::collection::vec((0u8..11, 0u32..3_000, 0u32..5_000, any::<u8>()), 0..60)
}
