//! Sends, receives, probes.

use super::{Arguments, Handler, Outcome};
use crate::convention::Object;
use crate::process::{Process, Stop};
use crate::requests::{Doing, Elements, Prepared, Receive, Send};
use kizami_mpi_stub::event::{Partner, flag};
use kizami_mpi_stub::process_group::{Message, ProcessGroup, Wanted};

pub fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "Send" | "Ssend" | "Bsend" | "Rsend" => send,
        "Isend" | "Issend" | "Ibsend" | "Irsend" => isend,
        "Send_init" | "Ssend_init" | "Bsend_init" | "Rsend_init" => send_init,
        "Recv" => receive,
        "Irecv" => ireceive,
        "Recv_init" => receive_init,
        "Sendrecv" => send_receive,
        "Sendrecv_replace" => send_receive_replace,
        "Probe" => probe,
        "Iprobe" => iprobe,
        "Mprobe" => mprobe,
        "Improbe" => improbe,
        "Mrecv" => mreceive,
        "Imrecv" => imreceive,
        _ => return None,
    })
}

/// Buffer, count and datatype, which stand together in all these functions.
#[inline(always)]
fn elements(process: &Process, a: &Arguments, first: usize) -> Result<Elements, Stop> {
    let datatype = process.type_id(a.word(first + 2))?;
    Ok(Elements { address: a.address(first), count: a.number(first + 1), datatype })
}

/// Hands a message over.
#[inline(always)]
pub fn post_send(process: &mut Process, send: Send) -> Result<(), Stop> {
    let convention = process.convention;
    if send.dest == convention.proc_null {
        return Ok(());
    }
    let ProcessGroup::Together(together) = process.process_group() else { return Ok(()) };
    let comm = process.comm(send.comm)?;
    let Some(to) = comm.world_rank(send.dest as u32) else {
        return Err(Stop::Refused(format!("sends to rank {}, which is not in the communicator", send.dest)));
    };
    let Elements { address, count, datatype } = send.from;
    // SAFETY: the program gives a buffer with that much data, or none.
    let data = unsafe { process.pack(address, count, datatype) }.map(Vec::into_boxed_slice);
    let bytes = process.bytes(datatype, count);
    together.send(to, Message { comm: comm.identity, source: comm.rank, tag: send.tag, bytes, data });
    Ok(())
}

/// Posts a receive.
#[inline(always)]
pub fn post_receive(process: &mut Process, receive: &mut Receive) -> Result<(), Stop> {
    let convention = process.convention;
    receive.ticket = None;
    if receive.source == convention.proc_null {
        return Ok(());
    }
    match process.process_group() {
        ProcessGroup::Alone(_) if receive.source == convention.any_source => {
            Err(Stop::NeedsOthers("the source is MPI_ANY_SOURCE".to_owned()))
        }
        ProcessGroup::Alone(_) if receive.tag == convention.any_tag => {
            Err(Stop::NeedsOthers("the tag is MPI_ANY_TAG".to_owned()))
        }
        ProcessGroup::Alone(_) => Ok(()),
        ProcessGroup::Together(together) => {
            let wanted = wanted(process, receive.comm, receive.source, receive.tag)?;
            receive.ticket = Some(together.post(process.rank, wanted));
            Ok(())
        }
    }
}

fn wanted(process: &Process, comm: u32, source: i32, tag: i32) -> Result<Wanted, Stop> {
    let convention = process.convention;
    Ok(Wanted {
        comm: process.comm(comm)?.identity,
        source: (source != convention.any_source).then_some(source as u32),
        tag: (tag != convention.any_tag).then_some(tag),
    })
}

/// What came for a receive.
pub struct Arrival {
    pub source: i32,
    pub tag: i32,
    pub bytes: u64,
}

/// Waits for a receive, and unpacks it.
pub fn finish_receive(process: &mut Process, receive: &Receive) -> Arrival {
    while !is_there(process, receive) {
        process.wait();
    }
    take(process, receive)
}

/// Whether a receive is done.
pub fn is_there(process: &Process, receive: &Receive) -> bool {
    match (process.process_group(), receive.ticket) {
        (ProcessGroup::Together(together), Some(ticket)) => together.has(process.rank, ticket),
        _ => true,
    }
}

/// Unpacks what came for a receive that is done.
#[inline]
pub fn take(process: &mut Process, receive: &Receive) -> Arrival {
    let convention = process.convention;
    if receive.source == convention.proc_null {
        return Arrival { source: convention.proc_null, tag: convention.any_tag, bytes: 0 };
    }
    if let (ProcessGroup::Together(together), Some(ticket)) = (process.process_group(), receive.ticket)
        && let Some(message) = together.take(process.rank, ticket)
    {
        if let Some(data) = &message.data {
            let Elements { address, count, datatype } = receive.into;
            // SAFETY: the program gives a buffer with that much room, or none.
            unsafe { process.unpack(address, count, datatype, data) };
        }
        return Arrival { source: message.source as i32, tag: message.tag, bytes: message.bytes };
    }
    Arrival { source: receive.source, tag: receive.tag, bytes: receive.bytes }
}

/// Flags of wildcards.
#[inline(always)]
fn wildcards(process: &Process, source: i32, tag: i32) -> u16 {
    let any_source = if source == process.convention.any_source { flag::ANY_SOURCE } else { 0 };
    any_source | if tag == process.convention.any_tag { flag::ANY_TAG } else { 0 }
}

#[inline(always)]
fn send_of(process: &Process, a: &Arguments) -> Result<(Send, Partner, u64), Stop> {
    let comm = process.comm_id(a.word(5))?;
    let from = elements(process, a, 0)?;
    let send = Send { comm, dest: a.int(3), tag: a.int(4), from };
    let partner = process.partner(comm, send.dest)?;
    Ok((send, partner, process.bytes(from.datatype, from.count)))
}

/// Notes a message that leaves; nothing goes to nobody.
#[inline(always)]
fn note_send(process: &mut Process, a: &Arguments, send: &Send, partner: Partner, bytes: u64, flags: u16) {
    let moves = partner != Partner::Null && flags & flag::OUT != 0;
    let flags = if moves { flags } else { flags & !flag::OUT };
    process.note(a.op, flags | flag::MESSAGE, send.comm);
    process.stream.message(partner, send.tag);
    if moves {
        process.stream.number(bytes);
    }
}

fn send(process: &mut Process, a: &Arguments) -> Outcome {
    let (send, partner, bytes) = send_of(process, a)?;
    post_send(process, send)?;
    note_send(process, a, &send, partner, bytes, flag::OUT);
    Ok(0)
}

fn isend(process: &mut Process, a: &Arguments) -> Outcome {
    let (send, partner, bytes) = send_of(process, a)?;
    post_send(process, send)?;
    note_send(process, a, &send, partner, bytes, flag::OUT | flag::BEGINS);
    let (place, _) = process.requests.add();
    // SAFETY: MPI stores the request there.
    unsafe { process.convention.store(Object::Request, a.address(6), 0, Some(place)) };
    Ok(0)
}

fn send_init(process: &mut Process, a: &Arguments) -> Outcome {
    let (send, partner, bytes) = send_of(process, a)?;
    note_send(process, a, &send, partner, bytes, flag::OUT | flag::BEGINS);
    let place = process.requests.prepare(Prepared::Send(send));
    // SAFETY: MPI stores the request there.
    unsafe { process.convention.store(Object::Request, a.address(6), 0, Some(place)) };
    Ok(0)
}

#[inline(always)]
fn receive_of(process: &Process, a: &Arguments) -> Result<(Receive, Partner), Stop> {
    let comm = process.comm_id(a.word(5))?;
    let into = elements(process, a, 0)?;
    let bytes = process.bytes(into.datatype, into.count);
    let receive = Receive { ticket: None, comm, source: a.int(3), tag: a.int(4), bytes, into };
    Ok((receive, process.partner(comm, receive.source)?))
}

/// The flags and words of a receive: who, which tag, how much.
#[inline(always)]
fn note_receive(
    process: &mut Process,
    a: &Arguments,
    comm: u32,
    from: (Partner, i32),
    bytes: u64,
    flags: u16,
) {
    let moves = from.0 != Partner::Null;
    process.note(a.op, flags | flag::MESSAGE | if moves { flag::IN } else { 0 }, comm);
    process.stream.message(from.0, from.1);
    if moves {
        process.stream.number(bytes);
    }
}

fn receive(process: &mut Process, a: &Arguments) -> Outcome {
    let (mut receive, partner) = receive_of(process, a)?;
    let flags = wildcards(process, receive.source, receive.tag);
    post_receive(process, &mut receive)?;
    let arrival = finish_receive(process, &receive);
    let came =
        if partner == Partner::Null { partner } else { process.partner(receive.comm, arrival.source)? };
    let tag = if partner == Partner::Null { receive.tag } else { arrival.tag };
    note_receive(process, a, receive.comm, (came, tag), arrival.bytes, flags);
    // SAFETY: the program gives a status, or says that it wants none.
    unsafe { process.convention.store_status(a.address(6), 0, arrival.source, arrival.tag, arrival.bytes) };
    Ok(0)
}

fn ireceive(process: &mut Process, a: &Arguments) -> Outcome {
    let (mut receive, partner) = receive_of(process, a)?;
    let flags = wildcards(process, receive.source, receive.tag) | flag::BEGINS;
    post_receive(process, &mut receive)?;
    note_receive(process, a, receive.comm, (partner, receive.tag), receive.bytes, flags);
    let (place, request) = process.requests.add();
    (request.doing, request.receive) = (Doing::Receive, receive);
    // SAFETY: MPI stores the request there.
    unsafe { process.convention.store(Object::Request, a.address(6), 0, Some(place)) };
    Ok(0)
}

fn receive_init(process: &mut Process, a: &Arguments) -> Outcome {
    let (receive, partner) = receive_of(process, a)?;
    let flags = wildcards(process, receive.source, receive.tag) | flag::BEGINS;
    note_receive(process, a, receive.comm, (partner, receive.tag), receive.bytes, flags);
    let place = process.requests.prepare(Prepared::Receive(receive));
    // SAFETY: MPI stores the request there.
    unsafe { process.convention.store(Object::Request, a.address(6), 0, Some(place)) };
    Ok(0)
}

fn send_receive(process: &mut Process, a: &Arguments) -> Outcome {
    let (from, into) = (elements(process, a, 0)?, elements(process, a, 5)?);
    both(process, a, from, into, (a.int(3), a.int(4)), (a.int(8), a.int(9)), (10, 11))
}

fn send_receive_replace(process: &mut Process, a: &Arguments) -> Outcome {
    let one = elements(process, a, 0)?;
    both(process, a, one, one, (a.int(3), a.int(4)), (a.int(5), a.int(6)), (7, 8))
}

fn both(
    process: &mut Process,
    a: &Arguments,
    from: Elements,
    into: Elements,
    (dest, send_tag): (i32, i32),
    (source, receive_tag): (i32, i32),
    (comm, status): (usize, usize),
) -> Outcome {
    let comm = process.comm_id(a.word(comm))?;
    let to = process.partner(comm, dest)?;
    let giver = process.partner(comm, source)?;
    let bytes = process.bytes(into.datatype, into.count);
    let mut receive = Receive { ticket: None, comm, source, tag: receive_tag, bytes, into };
    post_send(process, Send { comm, dest, tag: send_tag, from })?;
    post_receive(process, &mut receive)?;
    let arrival = finish_receive(process, &receive);
    let (mut came, mut tag) = (giver, receive_tag);
    if giver != Partner::Null {
        (came, tag) = (process.partner(comm, arrival.source)?, arrival.tag);
    }
    let mut flags = flag::MESSAGE | flag::RECEIVE | wildcards(process, source, receive_tag);
    flags |= if to == Partner::Null { 0 } else { flag::OUT };
    flags |= if came == Partner::Null { 0 } else { flag::IN };
    process.note(a.op, flags, comm);
    process.stream.message(to, send_tag);
    process.stream.message(came, tag);
    if to != Partner::Null {
        process.stream.number(process.bytes(from.datatype, from.count));
    }
    if came != Partner::Null {
        process.stream.number(arrival.bytes);
    }
    // SAFETY: the program gives a status, or says that it wants none.
    unsafe {
        process.convention.store_status(a.address(status), 0, arrival.source, arrival.tag, arrival.bytes)
    };
    Ok(0)
}

/// Looks for a message until there is one, if it must; gives who, which tag, how much.
fn look(process: &mut Process, a: &Arguments, comm: u32, must: bool) -> Result<Option<Arrival>, Stop> {
    let (source, tag) = (a.int(0), a.int(1));
    if source == process.convention.proc_null {
        return Ok(Some(Arrival { source, tag: process.convention.any_tag, bytes: 0 }));
    }
    loop {
        let ProcessGroup::Together(together) = process.process_group() else {
            return Err(Stop::NeedsOthers("the result depends on which messages have arrived".to_owned()));
        };
        if let Some(message) = together.probe(process.rank, wanted(process, comm, source, tag)?) {
            let (source, tag) = (message.source as i32, message.tag);
            return Ok(Some(Arrival { source, tag, bytes: message.bytes }));
        }
        if !must {
            // Others must go on, or a rank that asks again and again would be the only one that runs.
            together.woken.push(process.rank);
            process.wait();
            let ProcessGroup::Together(together) = process.process_group() else { return Ok(None) };
            if together.probe(process.rank, wanted(process, comm, source, tag)?).is_none() {
                return Ok(None);
            }
            continue;
        }
        process.wait();
    }
}

/// Notes what a probe found.
fn found(
    process: &mut Process,
    a: &Arguments,
    comm: u32,
    arrival: &Arrival,
    status: usize,
) -> Result<(), Stop> {
    let partner = process.partner(comm, arrival.source)?;
    let tag = if partner == Partner::Null { a.int(1) } else { arrival.tag };
    process.note(a.op, flag::MESSAGE | wildcards(process, a.int(0), a.int(1)), comm);
    process.stream.message(partner, tag);
    // SAFETY: the program gives a status, or says that it wants none.
    unsafe {
        process.convention.store_status(a.address(status), 0, arrival.source, arrival.tag, arrival.bytes)
    };
    Ok(())
}

fn note_poll(process: &mut Process, a: &Arguments, comm: u32) -> Result<(), Stop> {
    let partner = process.partner(comm, a.int(0))?;
    process.note(a.op, flag::MESSAGE | flag::POLL | wildcards(process, a.int(0), a.int(1)), comm);
    process.stream.message(partner, a.int(1));
    Ok(())
}

fn probe(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(2))?;
    if let Some(arrival) = look(process, a, comm, true)? {
        found(process, a, comm, &arrival, 3)?;
    }
    Ok(0)
}

fn iprobe(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(2))?;
    let arrival = look(process, a, comm, false)?;
    a.give(3, i32::from(arrival.is_some()));
    match arrival {
        Some(arrival) => found(process, a, comm, &arrival, 4)?,
        None => note_poll(process, a, comm)?,
    }
    Ok(0)
}

/// Takes a found message away, for a receive that names it.
fn keep_message(process: &mut Process, a: &Arguments, comm: u32, place: usize) -> Result<(), Stop> {
    let wanted = wanted(process, comm, a.int(0), a.int(1))?;
    let ProcessGroup::Together(together) = process.process_group() else { return Ok(()) };
    let message = together.take_unexpected(process.rank, wanted);
    let id = match message {
        Some(message) => {
            process.messages.push(Some((message, comm)));
            process.messages.len() as u32 - 1
        }
        None => 0,
    };
    // SAFETY: MPI stores the message's handle there.
    unsafe { process.convention.store(Object::Message, a.address(place), 0, Some(id)) };
    Ok(())
}

fn mprobe(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(2))?;
    if let Some(arrival) = look(process, a, comm, true)? {
        keep_message(process, a, comm, 3)?;
        found(process, a, comm, &arrival, 4)?;
    }
    Ok(0)
}

fn improbe(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(2))?;
    let arrival = look(process, a, comm, false)?;
    a.give(3, i32::from(arrival.is_some()));
    match arrival {
        Some(arrival) => {
            keep_message(process, a, comm, 4)?;
            found(process, a, comm, &arrival, 5)?;
        }
        None => note_poll(process, a, comm)?,
    }
    Ok(0)
}

/// Takes the message that a matched probe found, and makes its handle null.
fn matched_message(process: &mut Process, place: usize) -> Result<(Message, u32), Stop> {
    // SAFETY: the program gives the message it got from a matched probe, which MPI makes null.
    let id = unsafe { process.convention.load(Object::Message, place, 0) };
    // SAFETY: as above.
    unsafe { process.convention.store(Object::Message, place, 0, None) };
    let kept = id.and_then(|id| process.messages.get_mut(id as usize)?.take());
    kept.ok_or_else(|| Stop::Refused("receives an invalid message handle".to_owned()))
}

fn imreceive(process: &mut Process, a: &Arguments) -> Outcome {
    let into = elements(process, a, 0)?;
    let (message, comm) = matched_message(process, a.address(3))?;
    let bytes = process.bytes(into.datatype, into.count);
    let convention = process.convention;
    let ProcessGroup::Together(together) = process.process_group() else {
        return Err(Stop::NeedsOthers("it receives a message matched by a probe".to_owned()));
    };
    let ticket = Some(together.post_matched(process.rank, message));
    let (source, tag) = (convention.any_source, convention.any_tag);
    note_receive(
        process,
        a,
        comm,
        (Partner::Any, tag),
        bytes,
        flag::BEGINS | flag::ANY_SOURCE | flag::ANY_TAG,
    );
    let (place, request) = process.requests.add();
    request.doing = Doing::Receive;
    request.receive = Receive { ticket, comm, source, tag, bytes, into };
    // SAFETY: MPI stores the request there.
    unsafe { convention.store(Object::Request, a.address(4), 0, Some(place)) };
    Ok(0)
}

fn mreceive(process: &mut Process, a: &Arguments) -> Outcome {
    let into = elements(process, a, 0)?;
    let (message, comm) = matched_message(process, a.address(3))?;
    if let Some(data) = &message.data {
        // SAFETY: the program gives a buffer with that much room, or none.
        unsafe { process.unpack(into.address, into.count, into.datatype, data) };
    }
    let partner = process.partner(comm, message.source as i32)?;
    note_receive(process, a, comm, (partner, message.tag), message.bytes, 0);
    // SAFETY: the program gives a status, or says that it wants none.
    unsafe {
        let (source, tag) = (message.source as i32, message.tag);
        process.convention.store_status(a.address(4), 0, source, tag, message.bytes);
    }
    Ok(0)
}
