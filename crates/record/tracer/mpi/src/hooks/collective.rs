//! Collectives: what each rank gives and obtains.
//!
//! `bytes_out` is what the rank's own send buffer holds of the operation (to each neighbour, in those among
//! neighbours) and `bytes_in` what its receive buffer obtains; arguments that MPI does not look at on this rank are not looked at here either.

use super::environment::count_number;
use super::{communicator_of, message};
use crate::call::Call;
use crate::communicators::Communicator;
use crate::requests::Kind;
use crate::status::peer;
use crate::stream::lock;
use crate::{abi, datatypes, rendezvous};
use kizami_model::{Op, SpreadCount};
use kizami_records::{CallRecord, PEER_NONE, PEER_NULL, PEER_ROOT};
use std::sync::Mutex;

/// Which collective; named as in the table of functions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

/// The arguments a collective may have; those it has not are zero.
#[derive(Clone, Copy, Default)]
pub struct Arguments {
    pub sendbuf: usize,
    pub recvbuf: usize,
    pub count: i64,
    pub datatype: usize,
    pub sendcount: i64,
    pub sendtype: usize,
    pub recvcount: i64,
    pub recvtype: usize,
    pub sendcounts: usize,
    pub sendtypes: usize,
    pub recvcounts: usize,
    pub recvtypes: usize,
    pub root: i32,
    /// Counts in arrays are 64 bits wide.
    pub wide: bool,
}

/// How the collective is made: at once, or by a request.
#[derive(Clone, Copy)]
pub enum Mode {
    Blocking,
    /// Started, to be completed by the request at this address.
    Started(usize),
    /// Set up as a persistent request at this address.
    Persistent(usize),
}

#[inline(always)]
pub fn collective(mut call: Call, which: Collective, comm: usize, arguments: &Arguments, mode: Mode) {
    let mut record = call.record();
    let handle = comm;
    let comm = communicator_of(&mut call, handle);
    record.comm = comm.local;
    if has_root(which) {
        record.peer = peer(arguments.root);
    }
    if !call.failed() {
        (record.bytes_out, record.bytes_in) = moved(&mut call.thread().datatypes, which, &comm, arguments);
        let spreads = matches!(which, Collective::Alltoallv | Collective::Alltoallw) && !comm.inter;
        // Who asked for few records does not get two for each of these calls.
        if spreads && call.thread().keeps_every_call() {
            count_spread(&mut call, &record, &comm, arguments);
        }
    }
    match mode {
        Mode::Blocking => {
            call.store(&record);
            rendezvous::after_collective(&mut call, comm, handle);
            return call.release();
        }
        Mode::Started(request) => message::post(&call, &mut record, Kind::Plain, 0, request),
        Mode::Persistent(request) => message::post(&call, &mut record, Kind::PersistentPlain, 0, request),
    }
    call.finish(&record);
}

/// Counts to whom a rank gives: the sum that a record has does not say what the exchange costs.
#[inline(never)]
fn count_spread(call: &mut Call, record: &CallRecord, comm: &Communicator, a: &Arguments) {
    static NUMBERS: Mutex<Vec<(Op, [u32; 2])>> = Mutex::new(Vec::new());
    // Who exchanges in place gives as much as it gets, and its send arguments are ignored.
    let (counts, types, datatype) = if a.sendbuf == abi::get().in_place {
        (a.recvcounts, a.recvtypes, a.recvtype)
    } else {
        (a.sendcounts, a.sendtypes, a.sendtype)
    };
    let own = comm.rank as usize;
    let count = |index| count_at(counts, a.wide, index);
    let given_to = (0..comm.reach as usize).filter(|index| *index != own && count(*index) > 0).count();
    // SAFETY: as for counts; without an array, all parts are of one datatype.
    let datatype = if types == 0 { datatype } else { unsafe { abi::get().load_handle(types, own) } };
    let kept_bytes = datatypes::bytes(&mut call.thread().datatypes, count(own), datatype);
    let kept = kept_bytes as f64 / record.bytes_out.max(1) as f64;
    let numbers = {
        let mut known = lock(&NUMBERS);
        let numbers = known.iter().find(|(op, _)| *op == record.op).map(|(_, numbers)| *numbers);
        numbers.unwrap_or_else(|| {
            let counted = [SpreadCount::RanksGivenTo, SpreadCount::ThousandthsKept];
            let numbers = counted.map(|counted| count_number(&counted.name(record.op)));
            known.push((record.op, numbers));
            numbers
        })
    };
    call.thread().record_count(numbers[0], given_to as u64, record.site);
    call.thread().record_count(numbers[1], (1_000.0 * kept) as u64, record.site);
}

#[inline(always)]
fn has_root(which: Collective) -> bool {
    use Collective::*;
    matches!(which, Bcast | Gather | Gatherv | Scatter | Scatterv | Reduce)
}

/// Bytes given and obtained.
#[inline(always)]
fn moved(types: &mut datatypes::Cache, which: Collective, comm: &Communicator, a: &Arguments) -> (u64, u64) {
    use Collective::*;
    let in_place = abi::get().in_place;
    let all = comm.reach as i64;
    let (degree_in, degree_out) = (comm.degree_in as i64, comm.degree_out as i64);
    let mut bytes = |count: i64, datatype: usize| datatypes::bytes(types, count, datatype);
    match which {
        Barrier => (0, 0),
        Bcast => {
            let (gives, takes) = roles(comm, a.root);
            let message = if gives || takes { bytes(a.count, a.datatype) } else { 0 };
            (if gives { message } else { 0 }, if takes { message } else { 0 })
        }
        Allreduce | Scan | Exscan => {
            let message = bytes(a.count, a.datatype);
            (message, message)
        }
        Reduce => {
            // Here the root is the one that takes, and in one communicator it gives as well.
            let (roots, gives) = roles(comm, a.root);
            let message = if roots || gives { bytes(a.count, a.datatype) } else { 0 };
            (if gives || !comm.inter { message } else { 0 }, if roots { message } else { 0 })
        }
        ReduceScatter => {
            // Counts are those of the group's own processes, also between two groups.
            let total = bytes(sum(a.recvcounts, a.wide, comm.size as usize), a.datatype);
            (total, bytes(count_at(a.recvcounts, a.wide, comm.rank as usize), a.datatype))
        }
        ReduceScatterBlock => {
            (bytes(a.recvcount * i64::from(comm.size), a.datatype), bytes(a.recvcount, a.datatype))
        }
        Gather | Gatherv => {
            let (roots, gives) = roles(comm, a.root);
            let gives = (gives || !comm.inter) && a.sendbuf != in_place;
            let out = if gives { bytes(a.sendcount, a.sendtype) } else { 0 };
            let taken = match (roots, which) {
                (false, _) => 0,
                (true, Gather) => a.recvcount * all,
                (true, _) => sum(a.recvcounts, a.wide, comm.reach as usize),
            };
            (out, bytes(taken, a.recvtype))
        }
        Scatter | Scatterv => {
            let (roots, takes) = roles(comm, a.root);
            let takes = (takes || !comm.inter) && a.recvbuf != in_place;
            let given = match (roots, which) {
                (false, _) => 0,
                (true, Scatter) => a.sendcount * all,
                (true, _) => sum(a.sendcounts, a.wide, comm.reach as usize),
            };
            let out = bytes(given, a.sendtype);
            (out, if takes { bytes(a.recvcount, a.recvtype) } else { 0 })
        }
        Allgather => {
            let total = bytes(a.recvcount * all, a.recvtype);
            let own = if a.sendbuf == in_place {
                bytes(a.recvcount, a.recvtype)
            } else {
                bytes(a.sendcount, a.sendtype)
            };
            (own, total)
        }
        Allgatherv => {
            let total = bytes(sum(a.recvcounts, a.wide, comm.reach as usize), a.recvtype);
            let own = if a.sendbuf == in_place {
                bytes(count_at(a.recvcounts, a.wide, comm.rank as usize), a.recvtype)
            } else {
                bytes(a.sendcount, a.sendtype)
            };
            (own, total)
        }
        Alltoall => {
            let taken = bytes(a.recvcount * all, a.recvtype);
            (if a.sendbuf == in_place { taken } else { bytes(a.sendcount * all, a.sendtype) }, taken)
        }
        Alltoallv => {
            let count = comm.reach as usize;
            let taken = bytes(sum(a.recvcounts, a.wide, count), a.recvtype);
            let in_place = a.sendbuf == in_place;
            (if in_place { taken } else { bytes(sum(a.sendcounts, a.wide, count), a.sendtype) }, taken)
        }
        Alltoallw => {
            let count = comm.reach as usize;
            let taken = sum_typed(types, a.recvcounts, a.recvtypes, a.wide, count);
            let in_place = a.sendbuf == in_place;
            (if in_place { taken } else { sum_typed(types, a.sendcounts, a.sendtypes, a.wide, count) }, taken)
        }
        NeighborAllgather => {
            (bytes(a.sendcount * degree_out, a.sendtype), bytes(a.recvcount * degree_in, a.recvtype))
        }
        NeighborAllgatherv => {
            let taken = sum(a.recvcounts, a.wide, comm.degree_in);
            (bytes(a.sendcount * degree_out, a.sendtype), bytes(taken, a.recvtype))
        }
        NeighborAlltoall => {
            (bytes(a.sendcount * degree_out, a.sendtype), bytes(a.recvcount * degree_in, a.recvtype))
        }
        NeighborAlltoallv => {
            let given = sum(a.sendcounts, a.wide, comm.degree_out);
            let taken = sum(a.recvcounts, a.wide, comm.degree_in);
            (bytes(given, a.sendtype), bytes(taken, a.recvtype))
        }
        NeighborAlltoallw => {
            let given = sum_typed(types, a.sendcounts, a.sendtypes, a.wide, comm.degree_out);
            (given, sum_typed(types, a.recvcounts, a.recvtypes, a.wide, comm.degree_in))
        }
    }
}

/// Whether this process is the root, and whether it is one of the others that take part. Between two groups
/// the root says so by `MPI_ROOT`, its fellows by `MPI_PROC_NULL`, and the other group names the root.
#[inline(always)]
fn roles(comm: &Communicator, root: i32) -> (bool, bool) {
    if comm.inter {
        let root = peer(root);
        (root == PEER_ROOT, root != PEER_ROOT && root != PEER_NULL && root != PEER_NONE)
    } else {
        (root == comm.rank, root != comm.rank)
    }
}

fn count_at(counts: usize, wide: bool, index: usize) -> i64 {
    // SAFETY: MPI asks for an array with a count for each process that takes part.
    unsafe {
        if wide { *(counts as *const i64).add(index) } else { i64::from(*(counts as *const i32).add(index)) }
    }
}

fn sum(counts: usize, wide: bool, length: usize) -> i64 {
    (0..length).map(|index| count_at(counts, wide, index)).sum()
}

fn sum_typed(cache: &mut datatypes::Cache, counts: usize, types: usize, wide: bool, length: usize) -> u64 {
    (0..length)
        .map(|index| {
            // SAFETY: as for counts.
            let datatype = unsafe { abi::get().load_handle(types, index) };
            datatypes::bytes(cache, count_at(counts, wide, index), datatype)
        })
        .sum()
}
