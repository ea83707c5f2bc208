//! Groups.

use super::{Arguments, Handler, Outcome};
use crate::convention::Object;
use crate::process::{Process, Stop};
use kizami_mpi_stub::group::Group;

pub fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "Group_size" => size,
        "Group_rank" => rank,
        "Group_incl" => including,
        "Group_excl" => excluding,
        "Group_range_incl" => range_including,
        "Group_range_excl" => range_excluding,
        "Group_union" => union,
        "Group_intersection" => intersection,
        "Group_difference" => without,
        "Group_translate_ranks" => translate,
        "Group_compare" => compare,
        "Group_free" => free,
        _ => return None,
    })
}

/// The group that a handle names.
pub fn get(process: &Process, word: u64) -> Result<Group, Stop> {
    let id = process.convention.decode(Object::Group, word);
    id.and_then(|id| process.groups.get(id as usize)?.clone())
        .ok_or_else(|| Stop::Refused("uses an invalid group".to_owned()))
}

/// Stores the handle of a new group.
pub fn give(process: &mut Process, place: usize, group: Group) {
    let id = if group.size() == 0 {
        0
    } else {
        process.groups.push(Some(group));
        process.groups.len() as u32 - 1
    };
    // SAFETY: MPI stores the group there.
    unsafe { process.convention.store(Object::Group, place, 0, Some(id)) };
}

/// As `MPI_Group_compare` says it: 0 equal, 2 the same ranks in another order, 3 others.
pub fn difference(one: &Group, two: &Group) -> i32 {
    if one == two {
        return 0;
    }
    let sorted = |group: &Group| {
        let mut ranks: Vec<u32> = group.iter().collect();
        ranks.sort_unstable();
        ranks
    };
    if one.size() == two.size() && sorted(one) == sorted(two) { 2 } else { 3 }
}

fn size(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(1, get(process, a.word(0))?.size() as i32);
    process.note_plain(a.op, None);
    Ok(0)
}

fn rank(process: &mut Process, a: &Arguments) -> Outcome {
    let place = get(process, a.word(0))?.place(process.rank);
    a.give(1, place.map_or(process.convention.undefined, |place| place as i32));
    process.note_plain(a.op, None);
    Ok(0)
}

fn made(process: &mut Process, a: &Arguments, place: usize, group: Group) -> Outcome {
    give(process, a.address(place), group);
    process.note_plain(a.op, None);
    Ok(0)
}

fn places(a: &Arguments) -> Vec<u32> {
    a.ints(2, a.int(1).max(0) as usize).into_iter().map(|place| place as u32).collect()
}

fn outside() -> Stop {
    Stop::Refused("names a rank that is not in the group".to_owned())
}

fn including(process: &mut Process, a: &Arguments) -> Outcome {
    let group = get(process, a.word(0))?.including(&places(a)).ok_or_else(outside)?;
    made(process, a, 3, group)
}

fn excluding(process: &mut Process, a: &Arguments) -> Outcome {
    let group = get(process, a.word(0))?.excluding(&places(a));
    made(process, a, 3, group)
}

fn ranges(a: &Arguments) -> Vec<u32> {
    let numbers = a.ints(2, a.int(1).max(0) as usize * 3);
    let ranges: Vec<[i32; 3]> = numbers.chunks_exact(3).map(|range| [range[0], range[1], range[2]]).collect();
    Group::places_of(&ranges)
}

fn range_including(process: &mut Process, a: &Arguments) -> Outcome {
    let group = get(process, a.word(0))?.including(&ranges(a)).ok_or_else(outside)?;
    made(process, a, 3, group)
}

fn range_excluding(process: &mut Process, a: &Arguments) -> Outcome {
    let group = get(process, a.word(0))?.excluding(&ranges(a));
    made(process, a, 3, group)
}

fn union(process: &mut Process, a: &Arguments) -> Outcome {
    let group = get(process, a.word(0))?.union(&get(process, a.word(1))?);
    made(process, a, 2, group)
}

fn intersection(process: &mut Process, a: &Arguments) -> Outcome {
    let group = get(process, a.word(0))?.shared(&get(process, a.word(1))?, true);
    made(process, a, 2, group)
}

fn without(process: &mut Process, a: &Arguments) -> Outcome {
    let group = get(process, a.word(0))?.shared(&get(process, a.word(1))?, false);
    made(process, a, 2, group)
}

fn translate(process: &mut Process, a: &Arguments) -> Outcome {
    let (from, to) = (get(process, a.word(0))?, get(process, a.word(3))?);
    let (nobody, undefined) = (process.convention.proc_null, process.convention.undefined);
    for (index, place) in a.ints(2, a.int(1).max(0) as usize).into_iter().enumerate() {
        let found = from.world(place as u32).and_then(|world| to.place(world));
        let answer = if place == nobody { nobody } else { found.map_or(undefined, |place| place as i32) };
        // SAFETY: MPI asks for room for that many.
        unsafe { (a.address(4) as *mut i32).add(index).write_unaligned(answer) };
    }
    process.note_plain(a.op, None);
    Ok(0)
}

fn compare(process: &mut Process, a: &Arguments) -> Outcome {
    a.give(2, difference(&get(process, a.word(0))?, &get(process, a.word(1))?));
    process.note_plain(a.op, None);
    Ok(0)
}

fn free(process: &mut Process, a: &Arguments) -> Outcome {
    // SAFETY: the program's group, which MPI makes null.
    unsafe { process.convention.store(Object::Group, a.address(0), 0, None) };
    process.note_plain(a.op, None);
    Ok(0)
}
