//! A call: how it is packed into one slot, or into two where one is too narrow, and what comes out again.

use crate::kind::WIDE;
use crate::words::{pair, unpair};
use kizami_model::{Op, Shape};
use kizami_segment::{head, ticks_of};

/// No communicator.
pub const NO_COMM: u32 = COMM_MAX as u32;
/// No call site known.
pub const NO_SITE: u32 = 0;
/// No peer.
pub const PEER_NONE: i32 = -1;
/// `MPI_PROC_NULL`.
pub const PEER_NULL: i32 = -2;
/// `MPI_ANY_SOURCE`.
pub const PEER_ANY: i32 = -3;
/// `MPI_ROOT`: this process is the root of a collective on an inter-communicator.
pub const PEER_ROOT: i32 = -4;

pub(crate) const DURATION_MAX: u64 = (1 << 36) - 1;
pub(crate) const SITE_MAX: u64 = (1 << 16) - 1;
const COMM_MAX: u64 = (1 << 12) - 1;
const BYTES_MAX: u64 = (1 << 38) - 1;
const PEER_LIMIT: i32 = 1 << 23;

/// One call before packing, or after unpacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// The function.
    pub op: Op,
    /// Start, in ticks since the segment's base.
    pub start_ticks: u64,
    /// Length in ticks.
    pub duration_ticks: u64,
    /// Local number of the call site, [`NO_SITE`] if unknown.
    pub site: u32,
    /// Local number of the communicator, [`NO_COMM`] if none.
    pub comm: u32,
    /// Peer or root by its rank in the communicator, or one of the `PEER_` values.
    pub peer: i32,
    /// Tag of a message.
    pub tag: i32,
    /// Source of the receiving half of a send-receive.
    pub recv_peer: i32,
    /// Tag of the receiving half of a send-receive.
    pub recv_tag: i32,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes obtained.
    pub bytes_in: u64,
    /// Number of the request started, 0 if none.
    pub request: u32,
    /// Local number of the window, file or datatype, 0 if none.
    pub object: u32,
    /// The source was a wildcard.
    pub any_source: bool,
    /// The tag was a wildcard.
    pub any_tag: bool,
    /// The call returned an error code.
    pub failed: bool,
    /// It is no call but a part of the one before it: one rank of the group it was given.
    pub part: bool,
}

impl CallRecord {
    /// Whether it only prepares a message that later calls start, such as `MPI_Send_init`.
    #[inline]
    pub fn prepares(&self) -> bool {
        self.op.function().is_some_and(|function| function.prepares)
    }

    /// A call of which nothing but its time is known yet.
    #[inline(always)]
    pub fn new(op: Op, start_ticks: u64, duration_ticks: u64) -> CallRecord {
        CallRecord {
            op,
            start_ticks,
            duration_ticks,
            site: NO_SITE,
            comm: NO_COMM,
            peer: PEER_NONE,
            tag: 0,
            recv_peer: PEER_NONE,
            recv_tag: 0,
            bytes_out: 0,
            bytes_in: 0,
            request: 0,
            object: 0,
            any_source: false,
            any_tag: false,
            failed: false,
            part: false,
        }
    }

    /// The one-slot form, if everything fits. `shape` must be the shape of `op`.
    #[inline(always)]
    pub fn pack(&self, shape: Shape) -> Option<[u64; 4]> {
        let (bytes, a, fits) = match shape {
            Shape::Send => (self.bytes_out, self.tag as u32, true),
            Shape::Receive | Shape::Probe => (self.bytes_in, self.tag as u32, true),
            Shape::Collective => (self.bytes_out, self.bytes_in as u32, self.bytes_in >> 32 == 0),
            Shape::ObjectOut => (self.bytes_out, self.object, self.tag == 0),
            Shape::ObjectIn => (self.bytes_in, self.object, self.tag == 0),
            Shape::Object => (0, self.object, self.bytes_out | self.bytes_in == 0 && self.tag == 0),
            Shape::Timed => (0, self.object, self.bytes_out | self.bytes_in == 0),
            Shape::SendReceive | Shape::Completion | Shape::Start => return None,
        };
        let fits = fits
            & (self.duration_ticks <= DURATION_MAX)
            & (u64::from(self.site) <= SITE_MAX)
            & (u64::from(self.comm) <= COMM_MAX)
            & (bytes <= BYTES_MAX)
            & (self.peer < PEER_LIMIT)
            & !(self.failed | self.part);
        if !fits {
            return None;
        }
        Some([
            head(self.op.0, self.start_ticks),
            (self.duration_ticks << 28) | (u64::from(self.site) << 12) | u64::from(self.comm),
            (u64::from(self.any_source) << 63)
                | (u64::from(self.any_tag) << 62)
                | (bytes << 24)
                | (self.peer as u64 & 0xff_ffff),
            (u64::from(a) << 32) | u64::from(self.request),
        ])
    }

    /// The two-slot form, in which everything fits.
    pub fn pack_wide(&self) -> [[u64; 4]; 2] {
        let flags = u64::from(self.failed)
            | u64::from(self.any_source) << 1
            | u64::from(self.any_tag) << 2
            | u64::from(self.part) << 3;
        [
            [
                head(WIDE, self.start_ticks),
                (u64::from(self.op.0) << 54) | (flags << 48) | (self.duration_ticks & ((1 << 48) - 1)),
                self.bytes_out,
                self.bytes_in,
            ],
            [
                pair(self.site, self.comm),
                pair(self.peer as u32, self.tag as u32),
                pair(self.recv_peer as u32, self.recv_tag as u32),
                pair(self.request, self.object),
            ],
        ]
    }

    #[inline]
    pub(crate) fn unpack(words: [u64; 4], op: Op, shape: Shape) -> CallRecord {
        let mut call = CallRecord::new(op, ticks_of(words[0]), words[1] >> 28);
        call.site = (words[1] >> 12 & SITE_MAX) as u32;
        call.comm = (words[1] & COMM_MAX) as u32;
        call.any_source = words[2] >> 63 != 0;
        call.any_tag = words[2] >> 62 & 1 != 0;
        call.peer = ((words[2] as u32) << 8) as i32 >> 8;
        let bytes = words[2] >> 24 & BYTES_MAX;
        let a = (words[3] >> 32) as u32;
        call.request = words[3] as u32;
        match shape {
            Shape::Send => (call.bytes_out, call.tag) = (bytes, a as i32),
            Shape::Receive | Shape::Probe => (call.bytes_in, call.tag) = (bytes, a as i32),
            Shape::Collective => (call.bytes_out, call.bytes_in) = (bytes, u64::from(a)),
            Shape::ObjectOut => (call.bytes_out, call.object) = (bytes, a),
            Shape::ObjectIn => (call.bytes_in, call.object) = (bytes, a),
            _ => call.object = a,
        }
        call
    }

    pub(crate) fn unpack_wide(first: [u64; 4], second: [u64; 4]) -> Option<CallRecord> {
        let op = Op((first[1] >> 54) as u16);
        op.function()?;
        let flags = first[1] >> 48 & 63;
        let mut call = CallRecord::new(op, ticks_of(first[0]), first[1] & ((1 << 48) - 1));
        (call.bytes_out, call.bytes_in) = (first[2], first[3]);
        (call.site, call.comm) = unpair(second[0]);
        let (peer, tag) = unpair(second[1]);
        (call.peer, call.tag) = (peer as i32, tag as i32);
        let (recv_peer, recv_tag) = unpair(second[2]);
        (call.recv_peer, call.recv_tag) = (recv_peer as i32, recv_tag as i32);
        (call.request, call.object) = unpair(second[3]);
        (call.failed, call.any_source, call.any_tag) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
        call.part = flags & 8 != 0;
        Some(call)
    }
}
