//! Communicators, their names and attributes.

use super::{Arguments, Handler, Outcome};
use crate::convention::Object;
use crate::process::{Keyval, Process, Stop};
use kizami_model::CommKind;
use kizami_mpi_stub::communicator::Communicator;
use kizami_mpi_stub::group::Group;
use kizami_mpi_stub::process_group::{Contribution, ProcessGroup};

pub fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "Comm_rank" => rank,
        "Comm_size" => size,
        "Comm_group" => group,
        "Comm_test_inter" => test_inter,
        "Comm_compare" => compare,
        "Comm_dup" => duplicate,
        "Comm_dup_with_info" => duplicate_with_info,
        "Comm_idup" => duplicate_later,
        "Comm_split" => split,
        "Comm_split_type" => split_type,
        "Comm_create" => create,
        "Comm_create_group" => create_of_group,
        "Comm_free" | "Comm_disconnect" => free,
        "Comm_set_name" => set_name,
        "Comm_get_name" => get_name,
        "Comm_set_errhandler" | "Errhandler_set" => set_handler,
        "Comm_get_errhandler" | "Errhandler_get" => get_handler,
        "Comm_set_info" => only_noted,
        "Comm_get_info" => get_info,
        "Comm_create_keyval" | "Keyval_create" => create_keyval,
        "Comm_free_keyval" | "Keyval_free" => free_keyval,
        "Comm_set_attr" | "Attr_put" => set_attribute,
        "Comm_get_attr" | "Attr_get" => get_attribute,
        "Comm_delete_attr" | "Attr_delete" => delete_attribute,
        "Comm_get_parent" => get_parent,
        _ => return None,
    })
}

fn only_noted(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn rank(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    a.give(1, process.comm(comm)?.rank as i32);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn size(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    a.give(1, process.comm(comm)?.group.size() as i32);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn group(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let group = process.comm(comm)?.group.clone();
    super::group::give(process, a.address(1), group);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn test_inter(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(1, 0);
    only_noted(process, a)
}

fn compare(process: &mut Process, a: &Arguments) -> Outcome {
    let (one, two) = (process.comm_id(a.word(0))?, process.comm_id(a.word(1))?);
    let result = if one == two {
        0
    } else {
        match super::group::difference(&process.comm(one)?.group, &process.comm(two)?.group) {
            0 => 1,
            other => other,
        }
    };
    a.give(2, result);
    process.note_plain(a.op, None);
    Ok(0)
}

/// Stores the handle of a new communicator, or none, and notes the call on its parent.
pub fn made(
    process: &mut Process,
    a: &Arguments,
    parent: u32,
    place: usize,
    comm: Option<Communicator>,
) -> Outcome {
    let id = comm.map(|comm| process.add_comm(comm)).transpose()?;
    // SAFETY: MPI stores the communicator there.
    unsafe { process.convention.store(Object::Comm, a.address(place), 0, id) };
    process.note_plain(a.op, Some(parent));
    Ok(0)
}

/// The next number of a communicator that is made from this one.
pub fn next_child(process: &mut Process, parent: u32) -> u32 {
    match process.comms.get_mut(parent as usize) {
        Some(Some(comm)) => {
            comm.children += 1;
            comm.children
        }
        _ => 0,
    }
}

fn copy(process: &mut Process, parent: u32) -> Result<Communicator, Stop> {
    let sequence = next_child(process, parent);
    let comm = process.comm(parent)?;
    let mut child = comm.child(sequence, CommKind::Duplicate, comm.group.clone(), comm.rank);
    child.topology = comm.topology.clone();
    // What the copy functions of attributes say decides; without one nothing is copied.
    let attributes = comm.attributes.clone();
    for (key, value) in attributes {
        if let Some(value) = copied(process, parent, key, value) {
            child.attributes.push((key, value));
        }
    }
    Ok(child)
}

fn copied(process: &Process, comm: u32, key: i32, value: usize) -> Option<usize> {
    let keyval = *process.keyvals.get(key as usize)?;
    match keyval.copy {
        0 => None,
        function => {
            let (mut out, mut flag) = (0usize, 0i32);
            let handle = process.convention.encode(Object::Comm, Some(comm));
            type Copy = extern "C" fn(u64, i32, usize, usize, *mut usize, *mut i32) -> i32;
            // SAFETY: the program's copy function, as the standard declares it.
            let function: Copy = unsafe { std::mem::transmute(function) };
            function(handle, key, keyval.extra, value, &raw mut out, &raw mut flag);
            (flag != 0).then_some(out)
        }
    }
}

fn duplicate(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let child = copy(process, parent)?;
    made(process, a, parent, 1, Some(child))
}

fn duplicate_with_info(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let child = copy(process, parent)?;
    made(process, a, parent, 2, Some(child))
}

fn duplicate_later(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let child = copy(process, parent)?;
    let id = process.add_comm(child)?;
    process.note(a.op, kizami_mpi_stub::event::flag::BEGINS, parent);
    let (request, _) = process.requests.add();
    // SAFETY: MPI stores communicator and request there.
    unsafe {
        process.convention.store(Object::Comm, a.address(1), 0, Some(id));
        process.convention.store(Object::Request, a.address(2), 0, Some(request));
    }
    Ok(0)
}

/// Those with one colour, in the order of their keys, and this rank's place among them.
fn of_colour(
    process: &mut Process,
    parent: u32,
    colour: i32,
    key: i32,
) -> Result<Option<(Group, u32)>, Stop> {
    let undefined = process.convention.undefined;
    let comm = process.comms[parent as usize].as_mut();
    let comm = comm.ok_or_else(|| Stop::Refused("uses an invalid communicator".to_owned()))?;
    comm.collectives += 1;
    let meeting_key = (comm.identity, comm.collectives);
    let (size, place) = (comm.group.size(), comm.rank);
    match process.process_group() {
        ProcessGroup::Alone(alone) => {
            let Some((places, own)) = alone.split(meeting_key, size, place, colour, key) else {
                // Not known in the first pass: as if it were alone.
                return Ok((colour != undefined).then(|| (Group::of(vec![process.rank]), 0)));
            };
            let comm = process.comm(parent)?;
            let group = match (&comm.group, &places) {
                (Group::All(_), _) => places,
                (of, Group::List(list)) => of.including(list).unwrap_or(places),
                _ => places,
            };
            Ok((colour != undefined).then_some((group, own)))
        }
        ProcessGroup::Together(together) => {
            let numbers = vec![i64::from(colour), i64::from(key)];
            together.arrive(meeting_key, size, place, Contribution { numbers, ..Contribution::default() });
            loop {
                let Some(meeting) = together.meeting(meeting_key) else { return Ok(None) };
                if meeting.arrived == size {
                    break;
                }
                together.wait(meeting_key, process.rank);
                process.wait();
            }
            let mut same: Vec<(i64, u32)> = Vec::new();
            if let Some(meeting) = together.meeting(meeting_key) {
                for (other, given) in meeting.given.iter().enumerate() {
                    let Some([theirs, order]) =
                        given.as_ref().map(|given| [given.numbers[0], given.numbers[1]])
                    else {
                        continue;
                    };
                    if theirs == i64::from(colour) {
                        same.push((order, other as u32));
                    }
                }
            }
            together.leave(meeting_key);
            same.sort_unstable();
            let places: Vec<u32> = same.iter().map(|(_, place)| *place).collect();
            let own = places.iter().position(|other| *other == place).unwrap_or(0) as u32;
            let group = process.comm(parent)?.group.including(&places);
            Ok(group.filter(|_| colour != undefined).map(|group| (group, own)))
        }
    }
}

fn split_by(
    process: &mut Process,
    a: &Arguments,
    parent: u32,
    colour: i32,
    key: i32,
    place: usize,
) -> Outcome {
    let sequence = next_child(process, parent);
    let part = of_colour(process, parent, colour, key)?;
    let comm = process.comm(parent)?;
    let child = part.map(|(group, rank)| comm.child(sequence, CommKind::Split, group, rank));
    made(process, a, parent, place, child)
}

fn split(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    split_by(process, a, parent, a.int(1), a.int(2), 3)
}

fn split_type(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let undefined = process.convention.undefined;
    let colour =
        if a.int(1) == undefined { undefined } else { (process.rank / process.ranks_per_node) as i32 };
    split_by(process, a, parent, colour, a.int(2), 4)
}

fn create(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let sequence = next_child(process, parent);
    let group = super::group::get(process, a.word(1))?;
    let comm = process.comm(parent)?;
    let child = group.place(process.rank).map(|rank| comm.child(sequence, CommKind::Create, group, rank));
    made(process, a, parent, 2, child)
}

fn create_of_group(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let group = super::group::get(process, a.word(1))?;
    let members = group.iter().fold(0u64, |sum, rank| sum.wrapping_mul(31).wrapping_add(u64::from(rank) + 1));
    let comm = process.comm(parent)?;
    let child = group.place(process.rank).map(|rank| {
        let mut child = comm.child(0, CommKind::Create, group, rank);
        child.identity = child.identity.with(members).with(a.int(2) as u64);
        child
    });
    let repeated = child.as_ref().map_or(0, |child| {
        process
            .comms
            .iter()
            .flatten()
            .filter(|other| other.parent == child.parent && other.kind == child.kind)
            .count()
    });
    let child = child.map(|mut child| {
        child.identity = child.identity.with(repeated as u64);
        child
    });
    made(process, a, parent, 3, child)
}

fn free(process: &mut Process, a: &Arguments) -> Outcome {
    // SAFETY: the program gives the communicator to be freed.
    let id = unsafe { process.convention.load(Object::Comm, a.address(0), 0) };
    let id = id.ok_or_else(|| Stop::Refused("frees an invalid communicator".to_owned()))?;
    // Its number stays taken, since rows name it.
    // SAFETY: as above; MPI makes the handle null.
    unsafe { process.convention.store(Object::Comm, a.address(0), 0, None) };
    process.note_plain(a.op, Some(id));
    Ok(0)
}

fn set_name(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    if !process.convention.fortran {
        let name = text(a.address(1));
        if let Some(Some(comm)) = process.comms.get_mut(comm as usize) {
            comm.name = Some(name);
        }
    }
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

/// A C string of the program.
pub fn text(address: usize) -> String {
    if address == 0 {
        return String::new();
    }
    // SAFETY: MPI asks for a C string there.
    unsafe { std::ffi::CStr::from_ptr(address as *const _) }.to_string_lossy().into_owned()
}

/// Stores a C string, and its length if there is a place for it.
pub fn give_text(a: &Arguments, place: usize, length: usize, text: &str) {
    let to = a.address(place) as *mut u8;
    // SAFETY: MPI says that there is room for any such name.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to, text.len());
        *to.add(text.len()) = 0;
    }
    a.give(length, text.len() as i32);
}

fn get_name(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let name = process.comm(comm)?.name.clone().unwrap_or_else(|| match comm {
        0 => "MPI_COMM_WORLD".to_owned(),
        1 => "MPI_COMM_SELF".to_owned(),
        _ => String::new(),
    });
    give_text(a, 1, 2, &name);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn set_handler(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let handler = process.convention.decode(Object::Errhandler, a.word(1)).unwrap_or(0);
    if let Some(Some(comm)) = process.comms.get_mut(comm as usize) {
        comm.error_handler = handler;
    }
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn get_handler(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let handler = process.comm(comm)?.error_handler;
    // SAFETY: MPI stores the handler there.
    unsafe { process.convention.store(Object::Errhandler, a.address(1), 0, Some(handler)) };
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn get_info(process: &mut Process, a: &Arguments) -> Outcome {
    process.infos.push(Vec::new());
    let id = process.infos.len() as u32 - 1;
    // SAFETY: MPI stores the info there.
    unsafe { process.convention.store(Object::Info, a.address(1), 0, Some(id)) };
    only_noted(process, a)
}

/// Keys of the program's are numbered from here on, so that none is one of the standard's.
const FIRST_KEY: i32 = 100;

fn create_keyval(process: &mut Process, a: &Arguments) -> Outcome {
    let keyval = Keyval { copy: a.address(0), extra: a.address(3) };
    while process.keyvals.len() < FIRST_KEY as usize {
        process.keyvals.push(Keyval { copy: 0, extra: 0 });
    }
    process.keyvals.push(keyval);
    a.give(2, process.keyvals.len() as i32 - 1);
    process.note_plain(a.op, None);
    Ok(0)
}

fn free_keyval(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(0, process.convention.no_keyval);
    process.note_plain(a.op, None);
    Ok(0)
}

fn set_attribute(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    if let Some(Some(comm)) = process.comms.get_mut(comm as usize) {
        comm.attributes.retain(|(key, _)| *key != a.int(1));
        comm.attributes.push((a.int(1), a.address(2)));
    }
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn get_attribute(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let key = a.int(1);
    let value = if key == process.convention.tag_upper_bound {
        Some(&raw const process.constants[0] as usize)
    } else {
        process.comm(comm)?.attributes.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    };
    a.give(3, i32::from(value.is_some()));
    if let Some(value) = value {
        a.give_wide(2, value as i64);
    }
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn delete_attribute(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    if let Some(Some(comm)) = process.comms.get_mut(comm as usize) {
        comm.attributes.retain(|(key, _)| *key != a.int(1));
    }
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn get_parent(process: &mut Process, a: &Arguments) -> Outcome {
    // SAFETY: MPI stores the communicator there; nobody spawned this rank.
    unsafe { process.convention.store(Object::Comm, a.address(0), 0, None) };
    process.note_plain(a.op, None);
    Ok(0)
}
