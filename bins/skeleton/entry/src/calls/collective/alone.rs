//! Collectives of a rank that runs alone: what others give is known from the pass before, if it can steer the program.

use super::reduced::{basic_of, reduced};
use super::{contribution, slice_of};
use crate::collective_plan::{Plan, Side};
use crate::process::{Process, Stop};
use kizami_model::kind::CollectiveKind;
use kizami_mpi_stub::datatype::TypeId;
use kizami_mpi_stub::process_group::{Contribution, Key, Meeting, ProcessGroup};
use kizami_mpi_stub::reduction::Operation;

/// A rank alone: whole numbers come from the pass before, everything else is left as it is.
pub fn alone(process: &mut Process, plan: &Plan, key: Key) -> Result<(), Stop> {
    use CollectiveKind::*;
    let comm = process.comm(plan.comm)?;
    let (size, place) = (comm.group.size(), comm.rank);
    let is_root = plan.root == place as i32;
    let whole = |side: &Side| process.types.is_whole_numbers(side.datatype);
    let ProcessGroup::Alone(alone) = process.process_group() else { return Ok(()) };
    let in_place = process.convention.in_place;
    let store = |slice: (usize, i64, TypeId), data: &[u8]| {
        if slice.0 != in_place {
            // SAFETY: the program gives a buffer with that much room, or none.
            unsafe { process.unpack(slice.0, slice.1, slice.2, data) };
        }
    };
    let all = (plan.receive.address, plan.receive.count, plan.receive.datatype);
    match plan.kind {
        Barrier => {}
        Bcast if whole(&plan.send) && plan.send.address != 0 => {
            let given = if is_root { contribution(process, plan)?.data } else { None };
            if let Some(known) = alone.same(key, given)
                && !is_root
            {
                store(all, known);
            }
        }
        Bcast => {}
        Reduce | Allreduce | ReduceScatter | ReduceScatterBlock => {
            reduce_alone(process, plan, key, is_root)?;
        }
        Scan | Exscan if whole(&plan.send) => prefix_alone(process, plan, key, size, place)?,
        Gather | Gatherv | Allgather | Allgatherv if whole(&plan.receive) || whole(&plan.send) => {
            let obtains = is_root || matches!(plan.kind, Allgather | Allgatherv);
            if plan.receive.address == 0 && plan.send.address == 0 {
                return Ok(());
            }
            let Some(given) = contribution(process, plan)?.data else { return Ok(()) };
            if let Some(known) = alone.each(key, size, place, given)
                && obtains
            {
                for (from, data) in known.iter().enumerate() {
                    if let Some(data) = data {
                        store(slice_of(process, plan, &plan.receive, from), data);
                    }
                }
            }
        }
        Scatter | Scatterv if whole(&plan.receive) || whole(&plan.send) => {
            scatter_alone(process, plan, key, is_root, place)?;
        }
        Alltoall | Alltoallv | Alltoallw | NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw
        | NeighborAllgather | NeighborAllgatherv
            if whole(&plan.send) && plan.receive.address != 0 =>
        {
            let all_same = plan.send.address == 0;
            if !all_same {
                return Err(Stop::NeedsOthers(
                    "integers from other ranks may affect control flow".to_owned(),
                ));
            }
        }
        _ => {}
    }
    Ok(())
}

fn reduce_alone(process: &Process, plan: &Plan, key: Key, is_root: bool) -> Result<(), Stop> {
    if plan.send.address == 0 && plan.receive.address == 0 {
        return Ok(());
    }
    let Some(own) = contribution(process, plan)?.data else { return Ok(()) };
    let obtains = is_root || plan.kind != CollectiveKind::Reduce;
    let comm = process.comm(plan.comm)?;
    let operation = plan.operation.and_then(|operation| Operation::ALL.get(operation as usize).copied());
    let ProcessGroup::Alone(alone) = process.process_group() else { return Ok(()) };
    let whole = process.types.is_whole_numbers(plan.send.datatype);
    let known = match (whole, basic_of(process, plan.send.datatype), operation) {
        (true, Some(basic), Some(operation)) => {
            alone.reduce(key, basic, operation, own.clone()).map(<[u8]>::to_vec)
        }
        (true, ..) => return Err(Stop::NeedsOthers("the reduction operation is user-defined".to_owned())),
        _ => None,
    };
    if obtains {
        // What others gave is not known yet, or does not matter: then its own is as good.
        let mut meeting = Meeting::of(Vec::new());
        meeting.reduced = Some(known.unwrap_or(own));
        reduced(process, plan, &mut meeting, comm.rank as usize, comm.group.size() as usize)?;
    }
    Ok(())
}

fn prefix_alone(process: &Process, plan: &Plan, key: Key, size: u32, place: u32) -> Result<(), Stop> {
    let Some(own) = contribution(process, plan)?.data else { return Ok(()) };
    let ProcessGroup::Alone(alone) = process.process_group() else { return Ok(()) };
    let Some(known) = alone.each(key, size, place, own) else { return Ok(()) };
    let given: Vec<Option<Contribution>> = known
        .iter()
        .take(place as usize + 1)
        .map(|one| {
            let data = one.as_ref().map(|one| one.to_vec());
            Some(Contribution { data, ..Contribution::default() })
        })
        .collect();
    let mut meeting = Meeting::of(given);
    reduced(process, plan, &mut meeting, place as usize, size as usize)
}

fn scatter_alone(process: &Process, plan: &Plan, key: Key, is_root: bool, place: u32) -> Result<(), Stop> {
    let ProcessGroup::Alone(alone) = process.process_group() else { return Ok(()) };
    let mut given = None;
    if is_root {
        let parts = contribution(process, plan)?;
        if let Some(data) = parts.data {
            let ends: Vec<u8> = parts.ends.iter().flat_map(|end| (*end as u64).to_ne_bytes()).collect();
            given = Some([&ends[..], &data[..]].concat());
        }
    }
    let size = process.comm(plan.comm)?.group.size() as usize;
    let Some(known) = alone.same(key, given) else { return Ok(()) };
    let (ends, data) = known.split_at(size * 8);
    let end = |index: usize| {
        let bytes: [u8; 8] = ends[index * 8..][..8].try_into().unwrap_or([0; 8]);
        u64::from_ne_bytes(bytes) as usize
    };
    let begin = (place as usize).checked_sub(1).map_or(0, end);
    if plan.receive.address != process.convention.in_place {
        let part = &data[begin..end(place as usize)];
        // SAFETY: the program gives a buffer with that much room, or none.
        unsafe { process.unpack(plan.receive.address, plan.receive.count, plan.receive.datatype, part) };
    }
    Ok(())
}
