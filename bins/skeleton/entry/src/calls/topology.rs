//! Topologies of communicators: grids, graphs, and graphs of which each rank knows its own part.

use super::communicator::{made, next_child};
use super::{Arguments, Handler, Outcome};
use crate::process::{Process, Stop};
use kizami_model::CommKind;
use kizami_mpi_stub::communicator::graph_neighbours;
use kizami_mpi_stub::group::Group;
use kizami_mpi_stub::process_group::{Contribution, ProcessGroup};
use kizami_mpi_stub::topology::{Grid, Neighbours, Topology, dims_create};
use std::sync::Arc;

pub fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "Dims_create" => dims,
        "Cart_create" => cart_create,
        "Cart_sub" => cart_sub,
        "Cart_coords" => cart_coordinates,
        "Cart_rank" => cart_rank,
        "Cart_shift" => cart_shift,
        "Cart_get" => cart_get,
        "Cartdim_get" => cart_dimensions,
        "Cart_map" => cart_map,
        "Graph_map" => graph_map,
        "Topo_test" => topology_test,
        "Graph_create" => graph_create,
        "Graphdims_get" => graph_dimensions,
        "Graph_get" => graph_get,
        "Graph_neighbors_count" => graph_count,
        "Graph_neighbors" => graph_list,
        "Dist_graph_create_adjacent" => distributed_adjacent,
        "Dist_graph_create" => distributed,
        "Dist_graph_neighbors_count" => distributed_count,
        "Dist_graph_neighbors" => distributed_list,
        _ => return None,
    })
}

fn dims(process: &mut Process, a: &Arguments) -> Outcome {
    let count = a.int(1).max(0) as usize;
    let mut lengths = a.ints(2, count);
    if count > 0 && dims_create(a.int(0).max(0) as u32, &mut lengths).is_none() {
        return Err(Stop::Refused(format!("cannot arrange {} ranks in {count} dimensions", a.int(0))));
    }
    store_ints(a.address(2), &lengths);
    process.note_plain(a.op, None);
    Ok(0)
}

/// Stores `int`s of the program's.
fn store_ints(address: usize, values: &[i32]) {
    for (index, value) in values.iter().enumerate() {
        // SAFETY: MPI asks for room for that many.
        unsafe { (address as *mut i32).add(index).write_unaligned(*value) };
    }
}

fn cart_create(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let count = a.int(1).max(0) as usize;
    let grid = Grid {
        dims: a.ints(2, count).into_iter().map(|length| length.max(0) as u32).collect(),
        periodic: a.ints(3, count).into_iter().map(|ring| ring != 0).collect(),
    };
    let sequence = next_child(process, parent);
    let comm = process.comm(parent)?;
    let size = grid.size();
    if size > comm.group.size() {
        return Err(Stop::Refused(format!(
            "creates a grid of {size} positions for {} ranks",
            comm.group.size()
        )));
    }
    let group = if size == comm.group.size() {
        comm.group.clone()
    } else {
        Group::of((0..size).filter_map(|place| comm.world_rank(place)).collect())
    };
    let child = (comm.rank < size).then(|| {
        let mut child = comm.child(sequence, CommKind::Cartesian, group, comm.rank);
        child.topology = Some(Topology::Cartesian(Arc::new(grid)));
        child
    });
    made(process, a, parent, 5, child)
}

/// The grid of a communicator.
fn grid(process: &Process, comm: u32) -> Result<Arc<Grid>, Stop> {
    match &process.comm(comm)?.topology {
        Some(Topology::Cartesian(grid)) => Ok(grid.clone()),
        _ => Err(Stop::Refused("is called on a communicator without a Cartesian topology".to_owned())),
    }
}

fn cart_sub(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let grid = grid(process, parent)?;
    let remain: Vec<bool> = a.ints(1, grid.dims.len()).into_iter().map(|keep| keep != 0).collect();
    let sequence = next_child(process, parent);
    let comm = process.comm(parent)?;
    let (part, places) = grid.without(comm.rank, &remain);
    let rank = places.iter().position(|place| *place == comm.rank).unwrap_or(0) as u32;
    let group = comm.group.including(&places);
    let child = group.map(|group| {
        let mut child = comm.child(sequence, CommKind::Cartesian, group, rank);
        child.topology = Some(Topology::Cartesian(Arc::new(part)));
        child
    });
    made(process, a, parent, 2, child)
}

fn cart_coordinates(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let at: Vec<i32> =
        grid(process, comm)?.coordinates(a.int(1) as u32).into_iter().map(|at| at as i32).collect();
    store_ints(a.address(3), &at[..at.len().min(a.int(2).max(0) as usize)]);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn cart_rank(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let grid = grid(process, comm)?;
    let at: Vec<i64> = a.ints(1, grid.dims.len()).into_iter().map(i64::from).collect();
    let rank =
        grid.rank(&at).ok_or_else(|| Stop::Refused(format!("names coordinates outside the grid: {at:?}")))?;
    a.give(2, rank as i32);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn cart_shift(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let grid = grid(process, comm)?;
    let (direction, steps) = (a.int(1), i64::from(a.int(2)));
    let place = process.comm(comm)?.rank;
    if direction < 0 || direction as usize >= grid.dims.len() {
        return Err(Stop::Refused(format!("shifts in dimension {direction}, which the grid does not have")));
    }
    let nobody = process.convention.proc_null;
    let at = |steps| grid.shifted(place, direction as usize, steps).map_or(nobody, |rank| rank as i32);
    a.give(3, at(-steps));
    a.give(4, at(steps));
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn cart_get(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let grid = grid(process, comm)?;
    let most = a.int(1).max(0) as usize;
    let at = grid.coordinates(process.comm(comm)?.rank);
    let places = grid.dims.iter().zip(&grid.periodic).zip(at).take(most);
    for (index, ((length, ring), at)) in places.enumerate() {
        for (argument, value) in [*length as i32, i32::from(*ring), at as i32].into_iter().enumerate() {
            store_ints(a.address(2 + argument) + index * 4, &[value]);
        }
    }
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn cart_dimensions(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    a.give(1, grid(process, comm)?.dims.len() as i32);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn cart_map(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let places: i64 = a.ints(2, a.int(1).max(0) as usize).into_iter().map(i64::from).product();
    let rank = process.comm(comm)?.rank;
    a.give(4, if i64::from(rank) < places { rank as i32 } else { process.convention.undefined });
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn graph_map(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let rank = process.comm(comm)?.rank as i32;
    a.give(4, if rank < a.int(1) { rank } else { process.convention.undefined });
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn topology_test(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let [cart, graph, distributed] = process.convention.topologies;
    a.give(
        1,
        match process.comm(comm)?.topology {
            None => process.convention.undefined,
            Some(Topology::Cartesian(_)) => cart,
            Some(Topology::Graph { .. }) => graph,
            Some(Topology::Distributed(_)) => distributed,
        },
    );
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn graph_create(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let count = a.int(1).max(0) as usize;
    let index: Arc<[i32]> = a.ints(2, count).into();
    let edges: Arc<[i32]> = a.ints(3, index.last().map_or(0, |last| *last as usize)).into();
    let sequence = next_child(process, parent);
    let comm = process.comm(parent)?;
    let group = Group::of((0..count as u32).filter_map(|place| comm.world_rank(place)).collect());
    let child = (comm.rank < count as u32).then(|| {
        let mut child = comm.child(sequence, CommKind::Graph, group, comm.rank);
        child.topology = Some(Topology::Graph { index, edges });
        child
    });
    made(process, a, parent, 5, child)
}

type Lists = (Arc<[i32]>, Arc<[i32]>);

fn graph(process: &Process, comm: u32) -> Result<Lists, Stop> {
    match &process.comm(comm)?.topology {
        Some(Topology::Graph { index, edges }) => Ok((index.clone(), edges.clone())),
        _ => Err(Stop::Refused("is called on a communicator without a graph topology".to_owned())),
    }
}

fn graph_dimensions(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let (index, edges) = graph(process, comm)?;
    a.give(1, index.len() as i32);
    a.give(2, edges.len() as i32);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn graph_get(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let (index, edges) = graph(process, comm)?;
    store_ints(a.address(3), &index[..index.len().min(a.int(1).max(0) as usize)]);
    store_ints(a.address(4), &edges[..edges.len().min(a.int(2).max(0) as usize)]);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn graph_count(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let (index, edges) = graph(process, comm)?;
    a.give(2, graph_neighbours(&index, &edges, a.int(1) as u32).len() as i32);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn graph_list(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let (index, edges) = graph(process, comm)?;
    let list = graph_neighbours(&index, &edges, a.int(1) as u32);
    store_ints(a.address(3), &list[..list.len().min(a.int(2).max(0) as usize)]);
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn make_distributed(
    process: &mut Process,
    a: &Arguments,
    parent: u32,
    place: usize,
    neighbours: Neighbours,
) -> Outcome {
    let sequence = next_child(process, parent);
    let comm = process.comm(parent)?;
    let mut child = comm.child(sequence, CommKind::DistributedGraph, comm.group.clone(), comm.rank);
    child.distribute(neighbours);
    made(process, a, parent, place, Some(child))
}

fn distributed_adjacent(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let ranks =
        |place: usize, count: usize| a.ints(place, count).into_iter().map(|rank| rank as u32).collect();
    let (into, out) = (a.int(1).max(0) as usize, a.int(4).max(0) as usize);
    let neighbours =
        Neighbours { sources: ranks(2, into), destinations: ranks(5, out), ..Neighbours::default() };
    make_distributed(process, a, parent, 9, neighbours)
}

fn distributed(process: &mut Process, a: &Arguments) -> Outcome {
    let parent = process.comm_id(a.word(0))?;
    let count = a.int(1).max(0) as usize;
    let (sources, degrees) = (a.ints(2, count), a.ints(3, count));
    let total = degrees.iter().map(|degree| (*degree).max(0) as usize).sum();
    let mut to = a.ints(4, total).into_iter();
    let mut numbers = Vec::new();
    for (source, degree) in sources.iter().zip(degrees) {
        for destination in to.by_ref().take(degree.max(0) as usize) {
            numbers.extend([i64::from(*source), i64::from(destination)]);
        }
    }
    let comm = process.comms[parent as usize].as_mut();
    let comm = comm.ok_or_else(|| Stop::Refused("uses an invalid communicator".to_owned()))?;
    comm.collectives += 1;
    let (key, size, place) = ((comm.identity, comm.collectives), comm.group.size(), comm.rank);
    let ProcessGroup::Together(together) = process.process_group() else {
        return Err(Stop::NeedsOthers("other ranks define its neighbours".to_owned()));
    };
    together.arrive(key, size, place, Contribution { numbers, ..Contribution::default() });
    while together.meeting(key).is_some_and(|meeting| meeting.arrived < size) {
        together.wait(key, process.rank);
        process.wait();
    }
    let mut neighbours = Neighbours::default();
    if let Some(meeting) = together.meeting(key) {
        for pair in meeting.given.iter().flatten().flat_map(|given| given.numbers.chunks_exact(2)) {
            if pair[0] == i64::from(place) {
                neighbours.destinations.push(pair[1] as u32);
            }
            if pair[1] == i64::from(place) {
                neighbours.sources.push(pair[0] as u32);
            }
        }
    }
    together.leave(key);
    make_distributed(process, a, parent, 8, neighbours)
}

fn own_neighbours(process: &Process, comm: u32) -> Result<Arc<Neighbours>, Stop> {
    match &process.comm(comm)?.topology {
        Some(Topology::Distributed(own)) => Ok(own.clone()),
        _ => {
            Err(Stop::Refused("is called on a communicator without a distributed graph topology".to_owned()))
        }
    }
}

fn distributed_count(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let own = own_neighbours(process, comm)?;
    a.give(1, own.sources.len() as i32);
    a.give(2, own.destinations.len() as i32);
    a.give(3, i32::from(own.source_weights.is_some()));
    process.note_plain(a.op, Some(comm));
    Ok(0)
}

fn distributed_list(process: &mut Process, a: &Arguments) -> Outcome {
    let comm = process.comm_id(a.word(0))?;
    let own = own_neighbours(process, comm)?;
    for (place, count, list) in [(2, 1, &own.sources), (5, 4, &own.destinations)] {
        let most = list.len().min(a.int(count).max(0) as usize);
        let ranks: Vec<i32> = list[..most].iter().map(|rank| *rank as i32).collect();
        store_ints(a.address(place), &ranks);
    }
    process.note_plain(a.op, Some(comm));
    Ok(0)
}
