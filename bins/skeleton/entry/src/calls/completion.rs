//! Waits, tests, starts of persistent requests.
//!
//! A rank alone finds everything done. Together, a wait lets others go on until what it waits for is there; a test that finds
//! nothing lets them go on once.

use super::{Arguments, Handler, Outcome, collective, message};
use crate::convention::Object;
use crate::process::{Process, Stop};
use crate::requests::{Doing, Prepared, Receive, Request};
use kizami_mpi_stub::event::{Partner, flag};
use kizami_mpi_stub::process_group::ProcessGroup;

pub fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "Wait" => wait,
        "Waitall" => wait_all,
        "Waitany" => wait_any,
        "Waitsome" => wait_some,
        "Test" => test,
        "Testall" => test_all,
        "Testany" => test_any,
        "Testsome" => test_some,
        "Start" => start,
        "Startall" => start_all,
        "Request_free" => free,
        "Cancel" => cancel,
        "Request_get_status" => get_status,
        _ => return None,
    })
}

/// The request at a place in the program's list; nothing for a null one.
#[inline]
fn at(process: &Process, list: usize, index: usize) -> Option<u32> {
    // SAFETY: the program gives a list of that many requests.
    unsafe { process.convention.load(Object::Request, list, index) }
}

/// Whether a request is there that something is to come of.
fn is_active(process: &mut Process, place: Option<u32>) -> bool {
    let request = place.and_then(|place| process.requests.get(place));
    request.is_some_and(|request| !matches!(request.doing, Doing::Idle))
}

fn is_done(process: &mut Process, place: Option<u32>) -> Result<bool, Stop> {
    if process.is_alone() {
        return Ok(true);
    }
    let Some(request) = place.and_then(|place| process.requests.get(place)) else { return Ok(true) };
    match request.doing {
        _ if request.cancelled => Ok(true),
        Doing::Nothing | Doing::Idle => Ok(true),
        Doing::Receive => {
            let receive = request.receive;
            Ok(message::is_there(process, &receive))
        }
        Doing::Collective => match request.plan.clone() {
            Some(plan) => collective::is_ready(process, &plan),
            None => Ok(true),
        },
    }
}

/// Ends a request that is done; its number joins `numbers`.
#[inline]
fn complete(
    process: &mut Process,
    list: usize,
    index: usize,
    (status, status_index): (usize, usize),
    numbers: &mut Vec<(u32, u32)>,
) -> Result<(), Stop> {
    let nobody = (process.convention.any_source, process.convention.any_tag, 0);
    let place = at(process, list, index);
    let found = place.and_then(|place| Some((place, process.requests.get(place)?)));
    let Some((place, request)) = found.filter(|(_, request)| request.doing != Doing::Idle) else {
        // SAFETY: the program gives a status, or says that it wants none.
        unsafe { process.convention.store_status(status, status_index, nobody.0, nobody.1, 0) };
        return Ok(());
    };
    let (number, keeps) = (request.number, request.prepared.is_some());
    let arrived = match request.doing {
        Doing::Receive => received(process, place)?,
        Doing::Collective => {
            if let Some(plan) = request.plan.take() {
                collective::finish(process, &plan)?;
            }
            nobody
        }
        Doing::Nothing | Doing::Idle => nobody,
    };
    match numbers.last_mut() {
        Some((first, count)) if *first + *count == number => *count += 1,
        _ => numbers.push((number, 1)),
    }
    if !keeps {
        process.requests.remove(place);
        // SAFETY: the program's list, in which MPI makes the request null.
        unsafe { process.convention.store(Object::Request, list, index, None) };
    } else if let Some(request) = process.requests.get(place) {
        request.doing = Doing::Idle;
    }
    // SAFETY: as above.
    unsafe { process.convention.store_status(status, status_index, arrived.0, arrived.1, arrived.2) };
    Ok(())
}

/// What came for a receive that is done: from whom, with which tag, how much.
#[inline]
fn received(process: &mut Process, place: u32) -> Result<(i32, i32, u64), Stop> {
    let (any_source, any_tag) = (process.convention.any_source, process.convention.any_tag);
    let (alone, proc_null) = (process.is_alone(), process.convention.proc_null);
    let Some(Request { number, receive, cancelled, .. }) = process.requests.get(place) else {
        return Ok((any_source, any_tag, 0));
    };
    // Alone, everything comes as it was posted.
    if alone && receive.source != proc_null {
        return Ok((receive.source, receive.tag, receive.bytes));
    }
    let (number, receive) = (*number, *receive);
    if *cancelled {
        process.stream.came(number, Partner::Any, any_tag, u64::MAX);
        return Ok((any_source, any_tag, 0));
    }
    let arrival = message::take(process, &receive);
    let arrived = (arrival.source, arrival.tag, arrival.bytes);
    let as_posted = arrived == (receive.source, receive.tag, receive.bytes);
    if receive.source != proc_null && !as_posted {
        let partner = process.partner(receive.comm, arrival.source)?;
        process.stream.came(number, partner, arrival.tag, arrival.bytes);
    }
    Ok(arrived)
}

#[inline]
fn note(process: &mut Process, a: &Arguments, numbers: &[(u32, u32)]) {
    process.note(a.op, flag::NO_COMM | flag::REQUESTS, 0);
    process.stream.requests(numbers);
}

/// A test that found nothing; others go on before it is asked again.
fn note_poll(process: &mut Process, a: &Arguments) {
    process.note(a.op, flag::NO_COMM | flag::POLL, 0);
    if let ProcessGroup::Together(together) = process.process_group() {
        together.woken.push(process.rank);
        process.wait();
    }
}

fn wait_for(process: &mut Process, list: usize, index: usize) -> Result<(), Stop> {
    loop {
        let place = at(process, list, index);
        if is_done(process, place)? {
            return Ok(());
        }
        process.wait();
    }
}

fn all(process: &mut Process, a: &Arguments, list: usize, count: usize, statuses: usize) -> Outcome {
    if !process.is_alone() {
        for index in 0..count {
            wait_for(process, list, index)?;
        }
    }
    let mut numbers = std::mem::take(&mut process.completed);
    numbers.clear();
    for index in 0..count {
        complete(process, list, index, (statuses, index), &mut numbers)?;
    }
    note(process, a, &numbers);
    process.completed = numbers;
    Ok(0)
}

fn wait(process: &mut Process, a: &Arguments) -> Outcome {
    all(process, a, a.address(0), 1, a.address(1))
}

fn wait_all(process: &mut Process, a: &Arguments) -> Outcome {
    all(process, a, a.address(1), a.int(0).max(0) as usize, a.address(2))
}

/// Those of a list that are done, and whether any is active at all.
fn done_of(process: &mut Process, list: usize, count: usize) -> Result<(Vec<usize>, bool), Stop> {
    let (mut done, mut any) = (Vec::new(), false);
    for index in 0..count {
        let place = at(process, list, index);
        if is_active(process, place) {
            any = true;
            if is_done(process, place)? {
                done.push(index);
            }
        }
    }
    Ok((done, any))
}

fn wait_any(process: &mut Process, a: &Arguments) -> Outcome {
    let (list, count) = (a.address(1), a.int(0).max(0) as usize);
    let mut numbers = Vec::new();
    loop {
        let (done, any) = done_of(process, list, count)?;
        if let Some(index) = done.first() {
            complete(process, list, *index, (a.address(3), 0), &mut numbers)?;
            a.give(2, *index as i32);
            break;
        }
        if !any {
            a.give(2, process.convention.undefined);
            break;
        }
        process.wait();
    }
    fix_fortran_index(process, a, 2);
    note(process, a, &numbers);
    Ok(0)
}

/// Fortran counts places in lists from 1.
fn fix_fortran_index(process: &Process, a: &Arguments, place: usize) {
    let address = a.address(place) as *mut i32;
    // SAFETY: the place of an index, which has just been stored.
    unsafe {
        if process.convention.fortran && address.read_unaligned() >= 0 {
            address.write_unaligned(address.read_unaligned() + 1);
        }
    }
}

fn some(process: &mut Process, a: &Arguments, done: &[usize]) -> Outcome {
    let mut numbers = Vec::new();
    let first = i32::from(process.convention.fortran);
    for (position, index) in done.iter().enumerate() {
        complete(process, a.address(1), *index, (a.address(4), position), &mut numbers)?;
        // SAFETY: the program gives room for that many indices.
        unsafe { (a.address(3) as *mut i32).add(position).write_unaligned(*index as i32 + first) };
    }
    a.give(2, done.len() as i32);
    note(process, a, &numbers);
    Ok(0)
}

fn wait_some(process: &mut Process, a: &Arguments) -> Outcome {
    loop {
        let (done, any) = done_of(process, a.address(1), a.int(0).max(0) as usize)?;
        if !done.is_empty() {
            return some(process, a, &done);
        }
        if !any {
            a.give(2, process.convention.undefined);
            note(process, a, &[]);
            return Ok(0);
        }
        process.wait();
    }
}

fn test_some(process: &mut Process, a: &Arguments) -> Outcome {
    let (done, any) = done_of(process, a.address(1), a.int(0).max(0) as usize)?;
    if !done.is_empty() {
        return some(process, a, &done);
    }
    a.give(2, if any { 0 } else { process.convention.undefined });
    if any {
        note_poll(process, a);
    } else {
        note(process, a, &[]);
    }
    Ok(0)
}

fn test(process: &mut Process, a: &Arguments) -> Outcome {
    let place = at(process, a.address(0), 0);
    let done = is_done(process, place)?;
    a.give(1, i32::from(done));
    if done {
        return all(process, a, a.address(0), 1, a.address(2));
    }
    note_poll(process, a);
    Ok(0)
}

fn test_all(process: &mut Process, a: &Arguments) -> Outcome {
    let count = a.int(0).max(0) as usize;
    for index in 0..count {
        let place = at(process, a.address(1), index);
        if !is_done(process, place)? {
            a.give(2, 0);
            note_poll(process, a);
            return Ok(0);
        }
    }
    a.give(2, 1);
    all(process, a, a.address(1), count, a.address(3))
}

fn test_any(process: &mut Process, a: &Arguments) -> Outcome {
    let (list, count) = (a.address(1), a.int(0).max(0) as usize);
    let (done, any) = done_of(process, list, count)?;
    let mut numbers = Vec::new();
    match done.first() {
        Some(index) => {
            complete(process, list, *index, (a.address(4), 0), &mut numbers)?;
            a.give(2, *index as i32);
            a.give(3, 1);
        }
        None => {
            a.give(2, process.convention.undefined);
            a.give(3, i32::from(!any));
            if any {
                note_poll(process, a);
                return Ok(0);
            }
        }
    }
    fix_fortran_index(process, a, 2);
    note(process, a, &numbers);
    Ok(0)
}

fn begin(process: &mut Process, list: usize, count: usize) -> Result<Vec<(u32, u32)>, Stop> {
    let first = process.requests.take_numbers(count as u32);
    let mut started: Vec<(u32, u32)> = Vec::new();
    for index in 0..count {
        let nothing = || Stop::Refused("starts a request that is not persistent".to_owned());
        let place = at(process, list, index).ok_or_else(nothing)?;
        let request = process.requests.get(place).ok_or_else(nothing)?;
        let (prepared, number) = *request.prepared.clone().ok_or_else(nothing)?;
        let (mut doing, mut posted, mut begun) = (Doing::Nothing, Receive::default(), None);
        match prepared {
            Prepared::Send(send) => message::post_send(process, send)?,
            Prepared::Receive(receive) => {
                (doing, posted) = (Doing::Receive, receive);
                message::post_receive(process, &mut posted)?;
            }
            Prepared::Collective(mut plan) => {
                collective::begin(process, &mut plan)?;
                (doing, begun) = (Doing::Collective, Some(plan));
            }
        }
        if let Some(request) = process.requests.get(place) {
            (request.doing, request.receive, request.plan) = (doing, posted, begun);
            request.number = first + index as u32;
        }
        match started.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => started.push((number, 1)),
        }
    }
    Ok(started)
}

fn start(process: &mut Process, a: &Arguments) -> Outcome {
    let started = begin(process, a.address(0), 1)?;
    note(process, a, &started);
    Ok(0)
}

fn start_all(process: &mut Process, a: &Arguments) -> Outcome {
    let started = begin(process, a.address(1), a.int(0).max(0) as usize)?;
    note(process, a, &started);
    Ok(0)
}

fn free(process: &mut Process, a: &Arguments) -> Outcome {
    if let Some(place) = at(process, a.address(0), 0) {
        process.requests.remove(place);
    }
    // SAFETY: the program's request, which MPI makes null.
    unsafe { process.convention.store(Object::Request, a.address(0), 0, None) };
    process.note_plain(a.op, None);
    Ok(0)
}

fn cancel(process: &mut Process, a: &Arguments) -> Outcome {
    let place = at(process, a.address(0), 0);
    let rank = process.rank;
    if process.is_alone() {
        return Err(Stop::NeedsOthers("the result depends on whether a message has arrived".to_owned()));
    }
    let process_group = process.process_group();
    if let Some(request) = place.and_then(|place| process.requests.get(place))
        && request.doing == Doing::Receive
        && let (ProcessGroup::Together(together), Some(ticket)) = (process_group, request.receive.ticket)
    {
        request.cancelled = together.cancel(rank, ticket);
    }
    process.note_plain(a.op, None);
    Ok(0)
}

fn get_status(process: &mut Process, a: &Arguments) -> Outcome {
    let place = a.word(0);
    let id = process.convention.decode(Object::Request, place);
    let done = is_done(process, id)?;
    a.give(1, i32::from(done));
    if !done {
        note_poll(process, a);
        return Ok(0);
    }
    if let Some(request) = id.and_then(|id| process.requests.get(id))
        && request.doing == Doing::Receive
        && request.receive.ticket.is_some()
    {
        return Err(Stop::Refused(
            "queries the status of a receive, which the MPI stub does not support".to_owned(),
        ));
    }
    process.note_plain(a.op, None);
    Ok(0)
}
