//! Reductions of what ranks gave, by MPI's operations and by a program's own.

use crate::calls::read_count;
use crate::collective_plan::Plan;
use crate::convention::Object;
use crate::process::{Process, Stop};
use kizami_model::kind::CollectiveKind;
use kizami_mpi_stub::datatype::{Basic, TypeId};
use kizami_mpi_stub::process_group::{Contribution, Meeting};
use kizami_mpi_stub::reduction::Operation;

/// Reduces what ranks gave: all of them, or those before this one.
pub fn reduced(
    process: &Process,
    plan: &Plan,
    meeting: &mut Meeting,
    place: usize,
    size: usize,
) -> Result<(), Stop> {
    use CollectiveKind::*;
    let prefix = matches!(plan.kind, Scan | Exscan);
    let upto = match plan.kind {
        Scan => place + 1,
        Exscan => place,
        _ => size,
    };
    if !prefix && meeting.reduced.is_none() {
        meeting.reduced = together_of(process, plan, &meeting.given)?;
    }
    let of_those_before = if prefix { together_of(process, plan, &meeting.given[..upto])? } else { None };
    let Some(result) = (if prefix { &of_those_before } else { &meeting.reduced }) else { return Ok(()) };
    let element = process.types.get(plan.send.datatype).map_or(0, |datatype| datatype.size) as usize;
    let (from, count) = match plan.kind {
        ReduceScatter => {
            let before: i64 = (0..place).map(|index| read_count(plan.receive.counts, plan.wide, index)).sum();
            (before as usize * element, read_count(plan.receive.counts, plan.wide, place))
        }
        ReduceScatterBlock => (place * plan.receive.count as usize * element, plan.receive.count),
        _ => (0, plan.send.count),
    };
    let part = result.get(from..).unwrap_or(&[]);
    let bytes = (count.max(0) as usize * element).min(part.len());
    // SAFETY: the program gives a buffer with that much room, or none.
    unsafe { process.unpack(plan.receive.address, count, plan.send.datatype, &part[..bytes]) };
    Ok(())
}

/// The reduction of some ranks' data; nothing if somebody's is missing.
fn together_of(
    process: &Process,
    plan: &Plan,
    given: &[Option<Contribution>],
) -> Result<Option<Vec<u8>>, Stop> {
    let mut data = given.iter().map(|one| one.as_ref().and_then(|one| one.data.as_deref()));
    let Some(Some(first)) = data.next() else { return Ok(None) };
    let mut result = first.to_vec();
    for next in data {
        let Some(next) = next else { return Ok(None) };
        apply(process, plan, &mut result, next)?;
    }
    Ok(Some(result))
}

fn apply(process: &Process, plan: &Plan, into: &mut Vec<u8>, with: &[u8]) -> Result<(), Stop> {
    let operation =
        plan.operation.ok_or_else(|| Stop::Refused("uses an unknown reduction operation".to_owned()))?;
    if let Some(user) = (operation as usize).checked_sub(Operation::ALL.len()) {
        let function = process.operations.get(user).map_or(0, |operation| operation.function);
        if function == 0 {
            return Err(Stop::Refused("uses a reduction operation that was freed".to_owned()));
        }
        return call_user(process, plan, function, into, with);
    }
    let basic = basic_of(process, plan.send.datatype);
    let done = basic.is_some_and(|basic| Operation::ALL[operation as usize].apply(basic, into, with));
    if done {
        return Ok(());
    }
    Err(Stop::Refused("reduces a datatype that the MPI stub does not support".to_owned()))
}

/// The basic type of all data; also of a pair, which has a hole.
pub fn basic_of(process: &Process, datatype: TypeId) -> Option<Basic> {
    process.types.plain(datatype).or_else(|| {
        let mut found = None;
        process.types.blocks(datatype, 1, &mut |block| found = Some(block.basic));
        found
    })
}

/// Calls the program's own function: `inout = in op inout`, on data laid out as the program has it.
fn call_user(
    process: &Process,
    plan: &Plan,
    function: usize,
    into: &mut Vec<u8>,
    with: &[u8],
) -> Result<(), Stop> {
    let datatype = process.types.get(plan.send.datatype);
    let (extent, size) = datatype.map_or((1, 1), |datatype| (datatype.extent.max(1), datatype.size.max(1)));
    let count = into.len() as i64 / size;
    let room = (extent * count) as usize + 64;
    let (mut left, mut right) = (vec![0u8; room], vec![0u8; room]);
    let mut length = count as i32;
    let mut handle = process.convention.encode(Object::Datatype, Some(plan.send.datatype));
    // SAFETY: a reduction as the standard declares it, on copies that have room for the elements.
    unsafe {
        process.unpack(left.as_mut_ptr() as usize, count, plan.send.datatype, into);
        process.unpack(right.as_mut_ptr() as usize, count, plan.send.datatype, with);
        let reduce: extern "C" fn(*mut u8, *mut u8, *mut i32, *mut u64) = std::mem::transmute(function);
        reduce(left.as_mut_ptr(), right.as_mut_ptr(), &raw mut length, &raw mut handle);
        if let Some(data) = process.pack(right.as_ptr() as usize, count, plan.send.datatype) {
            *into = data;
        }
    }
    Ok(())
}
