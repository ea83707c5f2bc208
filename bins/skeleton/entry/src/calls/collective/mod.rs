//! Collectives: what a rank gives, what it obtains, and what a recording says of it.

mod alone;
mod reduced;

use super::{Arguments, Handler, Outcome, read_count};
use crate::collective_plan::{Plan, Side};
use crate::convention::Object;
use crate::process::{Process, Stop};
use crate::requests::{Doing, Prepared};
use kizami_model::Op;
use kizami_model::kind::{CollectiveKind, Form, Kind};
use kizami_mpi_stub::datatype::{Basic, TypeId};
use kizami_mpi_stub::event::flag;
use kizami_mpi_stub::process_group::{Contribution, Meeting, ProcessGroup};
use reduced::reduced;

pub fn handler(op: Op) -> Option<Handler> {
    match op.kind() {
        Kind::Collective(_, Form::Blocking) => Some(blocking),
        Kind::Collective(_, Form::NonBlocking) => Some(started),
        Kind::Collective(_, Form::Persistent) => Some(persistent),
        _ => None,
    }
}

/// What an argument of a collective is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    SendBuffer,
    ReceiveBuffer,
    Buffer,
    Count,
    Datatype,
    SendCount,
    SendType,
    ReceiveCount,
    ReceiveType,
    SendCounts,
    ReceiveCounts,
    SendDisplacements,
    ReceiveDisplacements,
    SendTypes,
    ReceiveTypes,
    Operation,
    Root,
    Comm,
    Other,
}

/// What the arguments are, by their names in the table of functions: every collective has its own order.
pub fn roles(op: Op) -> Vec<Role> {
    let Some(function) = op.function() else { return Vec::new() };
    let Kind::Collective(kind, _) = function.kind else { return Vec::new() };
    let role = |name: &str| match name {
        "sendbuf" => Role::SendBuffer,
        "recvbuf" => Role::ReceiveBuffer,
        "buffer" => Role::Buffer,
        "count" => Role::Count,
        "datatype" => Role::Datatype,
        "sendcount" => Role::SendCount,
        "sendtype" => Role::SendType,
        "recvcount" => Role::ReceiveCount,
        "recvtype" => Role::ReceiveType,
        "sendcounts" => Role::SendCounts,
        "recvcounts" => Role::ReceiveCounts,
        "displs" if kind == CollectiveKind::Scatterv => Role::SendDisplacements,
        "sdispls" => Role::SendDisplacements,
        "displs" | "rdispls" => Role::ReceiveDisplacements,
        "sendtypes" => Role::SendTypes,
        "recvtypes" => Role::ReceiveTypes,
        "op" => Role::Operation,
        "root" => Role::Root,
        "comm" => Role::Comm,
        _ => Role::Other,
    };
    function.arguments.iter().map(|argument| role(argument.name)).collect()
}

fn plan(process: &Process, a: &Arguments) -> Result<Plan, Stop> {
    let Kind::Collective(kind, _) = a.op.kind() else {
        return Err(Stop::Refused("is not a collective".to_owned()));
    };
    let mut plan = Plan {
        kind,
        comm: 0,
        send: Side::default(),
        receive: Side::default(),
        root: 0,
        operation: None,
        wide: a.wide,
        key: None,
    };
    let datatype = |word: u64| process.convention.decode(Object::Datatype, word);
    let (mut send_type, mut receive_type) = (None, None);
    for (index, role) in a.roles().iter().enumerate() {
        let (send, receive) = (&mut plan.send, &mut plan.receive);
        match role {
            Role::SendBuffer => send.address = a.address(index),
            Role::ReceiveBuffer => receive.address = a.address(index),
            Role::Buffer => (send.address, receive.address) = (a.address(index), a.address(index)),
            Role::Count => (send.count, receive.count) = (a.number(index), a.number(index)),
            Role::Datatype => (send_type, receive_type) = (datatype(a.word(index)), datatype(a.word(index))),
            Role::SendCount => send.count = a.number(index),
            Role::SendType => send_type = datatype(a.word(index)),
            Role::ReceiveCount => receive.count = a.number(index),
            Role::ReceiveType => receive_type = datatype(a.word(index)),
            Role::SendCounts => send.counts = a.address(index),
            Role::ReceiveCounts => receive.counts = a.address(index),
            Role::SendDisplacements => send.displacements = a.address(index),
            Role::ReceiveDisplacements => receive.displacements = a.address(index),
            Role::SendTypes => send.types = a.address(index),
            Role::ReceiveTypes => receive.types = a.address(index),
            Role::Operation => plan.operation = process.convention.decode(Object::Op, a.word(index)),
            Role::Root => plan.root = a.int(index),
            Role::Comm => plan.comm = process.comm_id(a.word(index))?,
            Role::Other => {}
        }
    }
    // Types that do not matter on this rank may be anything.
    plan.send.datatype = send_type.unwrap_or(Basic::Byte as TypeId);
    plan.receive.datatype = receive_type.unwrap_or(Basic::Byte as TypeId);
    Ok(plan)
}

fn has_root(kind: CollectiveKind) -> bool {
    use CollectiveKind::*;
    matches!(kind, Bcast | Gather | Gatherv | Scatter | Scatterv | Reduce)
}

fn note(process: &mut Process, a: &Arguments, plan: &Plan, flags: u16) -> Result<(), Stop> {
    let (out, obtained) = moved(process, plan)?;
    let mut flags = flags | if has_root(plan.kind) { flag::ROOT } else { 0 };
    flags |= if out != 0 { flag::OUT } else { 0 };
    flags |= if obtained != 0 { flag::IN } else { 0 };
    process.note(a.op, flags, plan.comm);
    if out != 0 {
        process.stream.number(out);
    }
    if obtained != 0 {
        process.stream.number(obtained);
    }
    if flags & flag::ROOT != 0 {
        process.stream.number(plan.root as u32 as u64);
    }
    Ok(())
}

fn blocking(process: &mut Process, a: &Arguments) -> Outcome {
    let mut plan = plan(process, a)?;
    begin(process, &mut plan)?;
    while !is_ready(process, &plan)? {
        process.wait();
    }
    finish(process, &plan)?;
    note(process, a, &plan, 0)?;
    Ok(0)
}

/// The last argument of a function that begins a request.
fn request_place(a: &Arguments) -> usize {
    let arguments = a.op.function().map_or(0, |function| function.arguments.len());
    a.address(arguments.saturating_sub(1))
}

fn started(process: &mut Process, a: &Arguments) -> Outcome {
    let mut plan = plan(process, a)?;
    begin(process, &mut plan)?;
    note(process, a, &plan, flag::BEGINS)?;
    let (place, request) = process.requests.add();
    (request.doing, request.plan) = (Doing::Collective, Some(Box::new(plan)));
    // SAFETY: MPI stores the request there.
    unsafe { process.convention.store(Object::Request, request_place(a), 0, Some(place)) };
    Ok(0)
}

fn persistent(process: &mut Process, a: &Arguments) -> Outcome {
    let plan = plan(process, a)?;
    note(process, a, &plan, flag::BEGINS)?;
    let place = process.requests.prepare(Prepared::Collective(Box::new(plan)));
    // SAFETY: MPI stores the request there.
    unsafe { process.convention.store(Object::Request, request_place(a), 0, Some(place)) };
    Ok(0)
}

/// Sum of a list of counts.
fn sum(plan: &Plan, counts: usize, length: usize) -> i64 {
    (0..length).map(|index| read_count(counts, plan.wide, index)).sum()
}

fn sum_typed(process: &Process, plan: &Plan, side: &Side, length: usize) -> u64 {
    let one = |index: usize| {
        // SAFETY: MPI asks for a list of that many types.
        let datatype = unsafe { process.convention.load(Object::Datatype, side.types, index) };
        let count = read_count(side.counts, plan.wide, index);
        datatype.map_or(0, |datatype| process.bytes(datatype, count))
    };
    (0..length).map(one).sum()
}

/// Bytes given and obtained, as the recorder counts them.
fn moved(process: &Process, plan: &Plan) -> Result<(u64, u64), Stop> {
    use CollectiveKind::*;
    let comm = process.comm(plan.comm)?;
    let (all, place) = (i64::from(comm.group.size()), comm.rank as usize);
    let size = all as usize;
    let (send, receive) = (&plan.send, &plan.receive);
    let in_place = process.convention.in_place;
    let gives_in_place = send.address == in_place;
    let is_root = plan.root == comm.rank as i32;
    let given = |count: i64| process.bytes(send.datatype, count);
    let taken = |count: i64| process.bytes(receive.datatype, count);
    let neighbours = match plan.kind.flow() {
        kizami_model::kind::Flow::Neighbours => comm.neighbours(),
        _ => None,
    };
    let (degree_in, degree_out) =
        neighbours.map_or((0, 0), |(sources, destinations)| (sources.len(), destinations.len()));
    Ok(match plan.kind {
        Barrier => (0, 0),
        Bcast if is_root => (given(send.count), 0),
        Bcast => (0, taken(receive.count)),
        Allreduce | Scan | Exscan => (given(send.count), given(send.count)),
        Reduce => (given(send.count), if is_root { given(send.count) } else { 0 }),
        ReduceScatter => {
            (given(sum(plan, receive.counts, size)), given(read_count(receive.counts, plan.wide, place)))
        }
        ReduceScatterBlock => (given(receive.count * all), given(receive.count)),
        Gather | Gatherv => {
            let out = if gives_in_place { 0 } else { given(send.count) };
            let obtained = match (is_root, plan.kind) {
                (false, _) => 0,
                (true, Gather) => taken(receive.count * all),
                (true, _) => taken(sum(plan, receive.counts, size)),
            };
            (out, obtained)
        }
        Scatter | Scatterv => {
            let out = match (is_root, plan.kind) {
                (false, _) => 0,
                (true, Scatter) => given(send.count * all),
                (true, _) => given(sum(plan, send.counts, size)),
            };
            (out, if receive.address == in_place { 0 } else { taken(receive.count) })
        }
        Allgather if gives_in_place => (taken(receive.count), taken(receive.count * all)),
        Allgather => (given(send.count), taken(receive.count * all)),
        Allgatherv => {
            let total = taken(sum(plan, receive.counts, size));
            let own = taken(read_count(receive.counts, plan.wide, place));
            (if gives_in_place { own } else { given(send.count) }, total)
        }
        Alltoall => {
            let total = taken(receive.count * all);
            (if gives_in_place { total } else { given(send.count * all) }, total)
        }
        Alltoallv => {
            let total = taken(sum(plan, receive.counts, size));
            (if gives_in_place { total } else { given(sum(plan, send.counts, size)) }, total)
        }
        Alltoallw => {
            let total = sum_typed(process, plan, receive, size);
            (if gives_in_place { total } else { sum_typed(process, plan, send, size) }, total)
        }
        NeighborAllgather | NeighborAlltoall => {
            (given(send.count * degree_out as i64), taken(receive.count * degree_in as i64))
        }
        NeighborAllgatherv => {
            (given(send.count * degree_out as i64), taken(sum(plan, receive.counts, degree_in)))
        }
        NeighborAlltoallv => {
            (given(sum(plan, send.counts, degree_out)), taken(sum(plan, receive.counts, degree_in)))
        }
        NeighborAlltoallw => {
            (sum_typed(process, plan, send, degree_out), sum_typed(process, plan, receive, degree_in))
        }
    })
}

/// Where the data for, or of, the `index`th other is: address, count, type.
fn slice_of(process: &Process, plan: &Plan, side: &Side, index: usize) -> (usize, i64, TypeId) {
    if side.types != 0 {
        // SAFETY: MPI asks for lists with an entry for each.
        let datatype = unsafe { process.convention.load(Object::Datatype, side.types, index) };
        let neighbours = plan.kind == CollectiveKind::NeighborAlltoallw;
        let offset = read_count(side.displacements, plan.wide || neighbours, index);
        let count = read_count(side.counts, plan.wide, index);
        return (shift(side.address, offset), count, datatype.unwrap_or(Basic::Byte as TypeId));
    }
    let extent = process.types.get(side.datatype).map_or(0, |datatype| datatype.extent);
    if side.counts != 0 {
        let offset = read_count(side.displacements, plan.wide, index) * extent;
        return (shift(side.address, offset), read_count(side.counts, plan.wide, index), side.datatype);
    }
    (shift(side.address, index as i64 * side.count * extent), side.count, side.datatype)
}

/// An address so many bytes further; where no data is, there is none further on either.
fn shift(address: usize, bytes: i64) -> usize {
    if address == 0 { 0 } else { address.wrapping_add_signed(bytes as isize) }
}

/// Packs what is at one place.
fn packed(process: &Process, (address, count, datatype): (usize, i64, TypeId)) -> Option<Vec<u8>> {
    // SAFETY: the program gives a buffer with that much data, or none.
    unsafe { process.pack(address, count, datatype) }
}

/// Several parts in a row, with their ends.
fn parts(process: &Process, plan: &Plan, side: &Side, count: usize) -> Contribution {
    let (mut data, mut ends) = (Some(Vec::new()), Vec::with_capacity(count));
    for index in 0..count {
        match (packed(process, slice_of(process, plan, side, index)), &mut data) {
            (Some(part), Some(data)) => data.extend(part),
            _ => data = None,
        }
        ends.push(data.as_ref().map_or(0, Vec::len));
    }
    Contribution { data, ends, numbers: Vec::new() }
}

/// What this rank gives.
fn contribution(process: &Process, plan: &Plan) -> Result<Contribution, Stop> {
    use CollectiveKind::*;
    let comm = process.comm(plan.comm)?;
    let (size, place) = (comm.group.size() as usize, comm.rank as usize);
    let in_place = plan.send.address == process.convention.in_place;
    let is_root = plan.root == comm.rank as i32;
    let whole = |side: &Side| Contribution {
        data: packed(process, (side.address, side.count, side.datatype)),
        ..Contribution::default()
    };
    let own_of_receive = || Contribution {
        data: packed(process, slice_of(process, plan, &plan.receive, place)),
        ..Contribution::default()
    };
    Ok(match plan.kind {
        Barrier => Contribution::default(),
        Bcast if is_root => whole(&plan.send),
        Bcast => Contribution::default(),
        Reduce | Allreduce | Scan | Exscan | ReduceScatter | ReduceScatterBlock => {
            let address = if in_place { plan.receive.address } else { plan.send.address };
            let count = match plan.kind {
                ReduceScatter => sum(plan, plan.receive.counts, size),
                ReduceScatterBlock => plan.receive.count * size as i64,
                _ => plan.send.count,
            };
            whole(&Side { address, count, ..plan.send })
        }
        Gather | Gatherv if in_place => own_of_receive(),
        Allgather | Allgatherv if in_place => own_of_receive(),
        Gather | Gatherv | Allgather | Allgatherv => whole(&plan.send),
        NeighborAllgather | NeighborAllgatherv => whole(&plan.send),
        Scatter | Scatterv if is_root => parts(process, plan, &plan.send, size),
        Scatter | Scatterv => Contribution::default(),
        Alltoall | Alltoallv | Alltoallw => {
            parts(process, plan, if in_place { &plan.receive } else { &plan.send }, size)
        }
        NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
            let (_, destinations) = comm.neighbours().ok_or_else(no_neighbours)?;
            let mut given = parts(process, plan, &plan.send, destinations.len());
            given.numbers = destinations.iter().map(|to| to.map_or(-1, i64::from)).collect();
            given
        }
    })
}

fn no_neighbours() -> Stop {
    Stop::Refused("is called on a communicator without a topology".to_owned())
}

/// Comes to the collective.
pub fn begin(process: &mut Process, plan: &mut Plan) -> Result<(), Stop> {
    let comm = process.comms[plan.comm as usize].as_mut();
    let comm = comm.ok_or_else(|| Stop::Refused("uses an invalid communicator".to_owned()))?;
    comm.collectives += 1;
    let key = (comm.identity, comm.collectives);
    let (size, place) = (comm.group.size(), comm.rank);
    plan.key = Some(key);
    match process.process_group() {
        ProcessGroup::Together(together) => {
            let given = contribution(process, plan)?;
            together.arrive(key, size, place, given);
            Ok(())
        }
        ProcessGroup::Alone(_) => alone::alone(process, plan, key),
    }
}

/// Whether everybody this rank waits for is there.
pub fn is_ready(process: &mut Process, plan: &Plan) -> Result<bool, Stop> {
    let (ProcessGroup::Together(together), Some(key)) = (process.process_group(), plan.key) else {
        return Ok(true);
    };
    let comm = process.comm(plan.comm)?;
    let Some(meeting) = together.meeting(key) else { return Ok(true) };
    let there = |place: u32| meeting.given.get(place as usize).is_some_and(Option::is_some);
    use kizami_model::kind::Flow;
    let ready = match plan.kind.flow() {
        Flow::All => meeting.arrived == comm.group.size(),
        Flow::FromRoot => there(plan.root as u32),
        Flow::ToRoot => plan.root != comm.rank as i32 || meeting.arrived == comm.group.size(),
        Flow::Prefix => (0..comm.rank).all(there),
        Flow::Neighbours => {
            let (sources, _) = comm.neighbours().ok_or_else(no_neighbours)?;
            sources.into_iter().flatten().all(there)
        }
    };
    if !ready {
        together.wait(key, process.rank);
    }
    Ok(ready)
}

/// Takes what came of it.
pub fn finish(process: &mut Process, plan: &Plan) -> Result<(), Stop> {
    let (ProcessGroup::Together(together), Some(key)) = (process.process_group(), plan.key) else {
        return Ok(());
    };
    if let Some(meeting) = together.meeting(key) {
        obtain(process, plan, meeting)?;
    }
    together.leave(key);
    Ok(())
}

fn obtain(process: &mut Process, plan: &Plan, meeting: &mut Meeting) -> Result<(), Stop> {
    use CollectiveKind::*;
    let comm = process.comm(plan.comm)?;
    let (place, size) = (comm.rank as usize, comm.group.size() as usize);
    let is_root = plan.root == comm.rank as i32;
    let receive = &plan.receive;
    let store = |slice: (usize, i64, TypeId), data: Option<&[u8]>| {
        if let Some(data) = data
            && slice.0 != process.convention.in_place
        {
            // SAFETY: the program gives a buffer with that much room, or none.
            unsafe { process.unpack(slice.0, slice.1, slice.2, data) };
        }
    };
    let whole = (receive.address, receive.count, receive.datatype);
    let given = |from: usize| meeting.given.get(from).and_then(Option::as_ref);
    match plan.kind {
        Barrier => {}
        Bcast if is_root => {}
        Bcast => store(whole, given(plan.root as usize).and_then(|root| root.data.as_deref())),
        Gather | Gatherv if !is_root => {}
        Gather | Gatherv | Allgather | Allgatherv => {
            for from in 0..size {
                store(
                    slice_of(process, plan, receive, from),
                    given(from).and_then(|one| one.data.as_deref()),
                );
            }
        }
        Scatter | Scatterv => store(whole, given(plan.root as usize).and_then(|root| root.part(place))),
        Alltoall | Alltoallv | Alltoallw => {
            for from in 0..size {
                store(slice_of(process, plan, receive, from), given(from).and_then(|one| one.part(place)));
            }
        }
        Reduce if !is_root => {}
        Reduce | Allreduce | ReduceScatter | ReduceScatterBlock | Scan | Exscan => {
            reduced(process, plan, meeting, place, size)?;
        }
        NeighborAllgather | NeighborAllgatherv => {
            let (sources, _) = comm.neighbours().ok_or_else(no_neighbours)?;
            for (index, source) in sources.iter().enumerate() {
                let data = source.and_then(|from| given(from as usize)?.data.as_deref());
                store(slice_of(process, plan, receive, index), data);
            }
        }
        NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
            let (sources, _) = comm.neighbours().ok_or_else(no_neighbours)?;
            let grid = matches!(comm.topology, Some(kizami_mpi_stub::topology::Topology::Cartesian(_)));
            for (index, source) in sources.iter().enumerate() {
                let Some(from) = source.and_then(|from| given(from as usize)) else { continue };
                // On a grid what its neighbour sends up comes from below; in graphs the nth edge to us is the nth from it.
                let edge = if grid { index ^ 1 } else { nth_edge(&from.numbers, place, &sources, index) };
                store(slice_of(process, plan, receive, index), from.part(edge));
            }
        }
    }
    Ok(())
}

fn nth_edge(destinations: &[i64], place: usize, sources: &[Option<u32>], index: usize) -> usize {
    let before = sources[..index].iter().filter(|source| **source == sources[index]).count();
    let mine = |(_, to): &(usize, &i64)| **to == place as i64;
    destinations.iter().enumerate().filter(mine).nth(before).map_or(usize::MAX, |(edge, _)| edge)
}
