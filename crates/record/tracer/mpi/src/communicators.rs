//! Communicators: from a handle to what is known of it.
//!
//! Each thread keeps the last few in a small cache; behind it stands one table for the process. A freed
//! handle may be given to another communicator, so every freeing makes all caches void.

use crate::cancellation::Uncancelled;
use crate::identity::Identity;
use crate::process::Process;
use crate::real::own;
use crate::stream::lock;
use crate::{abi, process};
use kizami_model::CommKind;
use kizami_records::{Definition, NO_COMM};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is known of a communicator.
#[derive(Clone, Copy, Debug)]
pub struct Communicator {
    handle: usize,
    /// Its number in this process.
    pub local: u32,
    identity: u64,
    /// This process's rank in it.
    pub rank: i32,
    /// How many processes are in it, or in the group of this process.
    pub size: i32,
    /// How many processes a collective reaches: its size, or the size of the remote group.
    pub reach: i32,
    /// Whether it is an inter-communicator.
    pub inter: bool,
    /// Whether it has all ranks of the world, and no others.
    pub spans_world: bool,
    /// Neighbours that a neighbourhood collective receives from and sends to.
    pub degree_in: usize,
    pub degree_out: usize,
}

impl Communicator {
    /// Whether it is `MPI_COMM_WORLD` itself.
    pub fn is_world(&self) -> bool {
        self.handle == abi::get().comm_world
    }
}

/// Stands for "no communicator known".
pub const NONE: Communicator = Communicator {
    handle: 0,
    local: NO_COMM,
    identity: 0,
    rank: 0,
    size: 0,
    reach: 0,
    inter: false,
    spans_world: false,
    degree_in: 0,
    degree_out: 0,
};

struct Table {
    known: Vec<Communicator>,
    next_local: u32,
    /// How many communicators were made from a parent, or with a set of members: (key, count).
    counts: Vec<(u64, u64)>,
    world_group: Option<usize>,
    /// Duplications under way: number of the request, handle, parent and sequence.
    duplications: Vec<(u32, usize, (u64, u64))>,
}

static TABLE: Mutex<Table> = Mutex::new(Table {
    known: Vec::new(),
    next_local: 0,
    counts: Vec::new(),
    world_group: None,
    duplications: Vec::new(),
});
/// Which world this process belongs to.
static WORLD_KEY: AtomicU64 = AtomicU64::new(0);
/// Changes whenever a handle is freed.
static EPOCH: AtomicU64 = AtomicU64::new(1);

const CACHED: usize = 16;

/// The communicators a thread used last. All zeros when it is empty.
pub struct Cache {
    epoch: u64,
    entries: [Communicator; CACHED],
}

impl Cache {
    fn clear(&mut self, epoch: u64) {
        self.entries.fill(NONE);
        self.epoch = epoch;
    }
}

/// What is known of the communicator with this handle, as [`abi::Abi::handle`] gives it. That is asked before the way to the cache
/// is found: it would take a register until then.
#[inline(always)]
pub fn of(cache: &mut Cache, handle: usize) -> Communicator {
    let slot = slot_of(handle);
    let entry = &cache.entries[slot];
    if entry.handle == handle && cache.epoch == EPOCH.load(Ordering::Relaxed) && handle != 0 {
        return *entry;
    }
    look_up(cache, slot, handle)
}

/// Its number alone, [`NO_COMM`] if it is not known.
#[inline(always)]
pub fn number_of(cache: &mut Cache, handle: usize) -> u32 {
    let entry = &cache.entries[slot_of(handle)];
    if entry.handle == handle && cache.epoch == EPOCH.load(Ordering::Relaxed) && handle != 0 {
        return entry.local;
    }
    look_up(cache, slot_of(handle), handle).local
}

#[inline(always)]
fn slot_of(handle: usize) -> usize {
    (handle ^ handle >> 6 ^ handle >> 11) % CACHED
}

#[cold]
fn look_up(cache: &mut Cache, slot: usize, handle: usize) -> Communicator {
    let _uncancelled = Uncancelled::new();
    let epoch = EPOCH.load(Ordering::Relaxed);
    if cache.epoch != epoch {
        cache.clear(epoch);
    }
    let Some(process) = process::existing() else { return NONE };
    let mut table = lock(&TABLE);
    if table.world_group.is_none() || handle == abi::get().comm_null {
        return NONE;
    }
    let known = table.known.iter().find(|known| known.handle == handle).copied();
    // A communicator that came from somewhere we do not look (a session, a process that was spawned):
    // its ranks agree on who is in it and how often they met it.
    let found = known.unwrap_or_else(|| {
        let key = members_key(&table, handle, Identity::new(CommKind::Other as u64)).number();
        let occurrence = table.count(key);
        table.add(process, handle, Identity::new(key).with(occurrence), 0, CommKind::Other)
    });
    cache.entries[slot] = found;
    found
}

/// Enters the world and the communicator of each process with itself, right after `MPI_Init`.
pub fn enter_world(process: &Process, key: u64) {
    let abi = abi::get();
    let mut group = 0usize;
    // SAFETY: MPI is initialised; a place for a handle.
    unsafe { own::MPI_Comm_group(abi.comm_world, &raw mut group) };
    let mut table = lock(&TABLE);
    table.world_group = Some(abi.handle(group));
    // Worlds that were spawned have keys of their own, and so has everything made from them.
    WORLD_KEY.store(key, Ordering::Relaxed);
    let world = Identity::new(CommKind::World as u64).with(key);
    table.add(process, abi.comm_world, world, 0, CommKind::World);
    let rank = u64::from(process.world_rank().unwrap_or(0));
    let alone = Identity::new(CommKind::SelfOnly as u64).with(rank).with(key);
    table.add(process, abi.comm_self, alone, 0, CommKind::SelfOnly);
}

/// The index of the communicator that is now being made from this parent. All ranks of the parent take part, also
/// those that get none, so the number is the same everywhere.
pub fn next_of_parent(cache: &mut Cache, parent: usize) -> (u64, u64) {
    let parent = identity(cache, parent);
    (parent, lock(&TABLE).count(parent))
}

/// A communicator was made from `parent` as its `sequence`th.
pub fn made_from_parent(handle: usize, (parent, sequence): (u64, u64), kind: CommKind) {
    let _uncancelled = Uncancelled::new();
    let Some(process) = process::existing() else { return };
    let mut table = lock(&TABLE);
    // Several disjoint communicators may come from one call: their first members distinguish them.
    let leader = if kind == CommKind::Duplicate { 0 } else { leader(&table, handle) };
    let identity = Identity::new(kind as u64).with(parent).with(sequence).with(leader);
    table.add(process, handle, identity, parent, kind);
}

/// A communicator was made by its members alone (`MPI_Comm_create_group`, `MPI_Intercomm_create`).
pub fn made_by_members(handle: usize, parent: u64, tag: i32, kind: CommKind) {
    let _uncancelled = Uncancelled::new();
    let Some(process) = process::existing() else { return };
    let mut table = lock(&TABLE);
    let key = Identity::new(kind as u64).with(parent).with(tag as u64);
    let key = members_key(&table, handle, key).number();
    let occurrence = table.count(key);
    table.add(process, handle, Identity::new(key).with(occurrence), parent, kind);
}

/// A duplication was started by the request with this number.
pub fn duplicating(request: u32, handle: usize, how: (u64, u64)) {
    lock(&TABLE).duplications.push((request, handle, how));
}

/// The duplication that the request with this number stands for is complete.
pub fn duplicated(request: u32) {
    let taken = {
        let duplications = &mut lock(&TABLE).duplications;
        let position = duplications.iter().position(|(number, _, _)| *number == request);
        position.map(|index| duplications.swap_remove(index))
    };
    if let Some((_, handle, how)) = taken {
        made_from_parent(handle, how, CommKind::Duplicate);
    }
}

/// The communicator's identity as a parent, for those made by members alone.
pub fn identity(cache: &mut Cache, handle: usize) -> u64 {
    of(cache, abi::get().handle(handle)).identity
}

/// Identity and this process's rank in it of the communicator with this number, if it has not been freed.
pub fn identity_and_rank(local: u32) -> Option<(u64, u32)> {
    let table = lock(&TABLE);
    let known = table.known.iter().find(|known| known.local == local)?;
    Some((known.identity, known.rank as u32))
}

/// Forgets a communicator that is about to be freed: once it is, another thread may be given its handle.
pub fn forget(cache: &mut Cache, handle: usize) -> Communicator {
    let forgotten = of(cache, handle);
    lock(&TABLE).known.retain(|known| known.handle != handle);
    EPOCH.fetch_add(1, Ordering::Relaxed);
    forgotten
}

/// Remembers a communicator whose freeing failed.
pub fn remember(communicator: Communicator) {
    lock(&TABLE).known.push(communicator);
}

/// The communicator with this handle if it is known already: MPI is not asked, so the handle may be no handle at
/// all.
pub fn known(handle: usize) -> Communicator {
    let handle = abi::get().handle(handle);
    lock(&TABLE).known.iter().find(|known| known.handle == handle).copied().unwrap_or(NONE)
}

impl Table {
    /// Whether a communicator of this size has exactly the ranks of the world. Others may be as large: those of
    /// processes that were spawned.
    fn spans_world(&self, process: &Process, handle: usize, size: i32) -> bool {
        let world_size = u64::from(process.world_size());
        size as u64 == world_size
            && world_ranks(self, handle, Group::Local, None).iter().all(|rank| *rank < world_size)
    }

    fn count(&mut self, key: u64) -> u64 {
        match self.counts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.counts.push((key, 0));
                0
            }
        }
    }

    fn add(
        &mut self,
        process: &Process,
        handle: usize,
        id: Identity,
        parent: u64,
        kind: CommKind,
    ) -> Communicator {
        let (mut rank, mut size, mut inter, mut remote) = (0i32, 0i32, 0i32, 0i32);
        // SAFETY: a communicator that the program has just made or used; places for numbers.
        unsafe {
            own::MPI_Comm_rank(handle, &raw mut rank);
            own::MPI_Comm_size(handle, &raw mut size);
            own::MPI_Comm_test_inter(handle, &raw mut inter);
        }
        let inter = inter != 0;
        let mut group = None;
        if inter {
            // SAFETY: as above, and it has a remote group.
            unsafe { own::MPI_Comm_remote_size(handle, &raw mut remote) };
            let (local_leader, remote_leader) = leaders(self, handle);
            group = Some((remote as u32, u8::from(local_leader > remote_leader)));
        }
        if self.next_local == NO_COMM {
            self.next_local += 1;
        }
        let local = self.next_local;
        self.next_local += 1;
        let identity = id.number();
        process.define(&Definition::Communicator {
            local,
            identity,
            parent,
            kind,
            rank: rank as u32,
            size: size as u32,
            remote: group,
        });
        process.define(&Definition::CommunicatorHandle { local, handle: handle as u64 });
        let (degree_in, degree_out) = if inter { (0, 0) } else { topology(process, handle, local, kind) };
        let reach = if inter { remote } else { size };
        let spans_world = !inter && self.spans_world(process, handle, size);
        let made = Communicator {
            handle,
            local,
            identity,
            rank,
            size,
            reach,
            inter,
            spans_world,
            degree_in,
            degree_out,
        };
        self.known.push(made);
        made
    }
}

/// World rank of the first member (of either group).
fn leader(table: &Table, handle: usize) -> u64 {
    let mut inter = 0i32;
    // SAFETY: a communicator that the program has just made or used; a place for a number.
    unsafe { own::MPI_Comm_test_inter(handle, &raw mut inter) };
    if inter != 0 {
        let (local, remote) = leaders(table, handle);
        return local.min(remote);
    }
    world_ranks(table, handle, Group::Local, Some(1)).first().copied().unwrap_or(0)
}

fn leaders(table: &Table, handle: usize) -> (u64, u64) {
    let first = |group| world_ranks(table, handle, group, Some(1)).first().copied().unwrap_or(u64::MAX);
    (first(Group::Local), first(Group::Remote))
}

/// Mixes in who is in a communicator; both groups, the one with the smaller leader first.
fn members_key(table: &Table, handle: usize, key: Identity) -> Identity {
    let mut inter = 0i32;
    // SAFETY: a communicator that the program has just made or used; a place for a number.
    unsafe { own::MPI_Comm_test_inter(handle, &raw mut inter) };
    let mut groups = vec![world_ranks(table, handle, Group::Local, None)];
    if inter != 0 {
        groups.push(world_ranks(table, handle, Group::Remote, None));
    }
    groups.sort();
    groups.concat().into_iter().fold(key.with(WORLD_KEY.load(Ordering::Relaxed)), Identity::with)
}

#[derive(Clone, Copy)]
enum Group {
    Local,
    Remote,
}

/// World ranks of the first so many members of a communicator's group, or of all.
fn world_ranks(table: &Table, handle: usize, which: Group, first: Option<i32>) -> Vec<u64> {
    let Some(world_group) = table.world_group else { return Vec::new() };
    let mut group = 0usize;
    // SAFETY: a communicator that the program has just made or used, and that has that group; a place for a handle.
    unsafe {
        match which {
            Group::Local => own::MPI_Comm_group(handle, &raw mut group),
            Group::Remote => own::MPI_Comm_remote_group(handle, &raw mut group),
        };
    }
    let group_handle = abi::get().handle(group);
    let mut size = 0i32;
    // SAFETY: a group of our own; a place for a number.
    unsafe { own::MPI_Group_size(group_handle, &raw mut size) };
    let count = first.unwrap_or(size).min(size);
    let ranks: Vec<i32> = (0..count).collect();
    let mut translated = vec![0i32; ranks.len()];
    // SAFETY: groups of our own, of which the first is not used again; both lists have that many numbers.
    unsafe {
        let (from, to) = (ranks.as_ptr(), translated.as_mut_ptr());
        own::MPI_Group_translate_ranks(group_handle, count, from, world_group, to);
        own::MPI_Group_free(&raw mut group);
    }
    translated.into_iter().map(|rank| rank as u32 as u64).collect()
}

/// Writes down the topology of a communicator; returns how many neighbours it has in each direction.
fn topology(process: &Process, handle: usize, local: u32, made_as: CommKind) -> (usize, usize) {
    let abi = abi::get();
    let mut kind = 0i32;
    if abi.kind == abi::Kind::Smpi {
        // It does not take the question, and has no topology but this one.
        kind = if made_as == CommKind::Cartesian { abi.cart } else { 0 };
    } else {
        // SAFETY: a communicator that the program has just made or used; a place for a number.
        unsafe { own::MPI_Topo_test(handle, &raw mut kind) };
    }
    if kind == abi.cart {
        let mut count = 0i32;
        // SAFETY: as above; it is Cartesian.
        unsafe { own::MPI_Cartdim_get(handle, &raw mut count) };
        let length = count.max(0) as usize;
        let (mut dims, mut periods, mut coords) =
            (vec![0i32; length], vec![0i32; length], vec![0i32; length]);
        // SAFETY: as above; lists with a number for each dimension.
        unsafe {
            own::MPI_Cart_get(handle, count, dims.as_mut_ptr(), periods.as_mut_ptr(), coords.as_mut_ptr());
        }
        let dims = dims.into_iter().map(|dim| dim as u32).collect();
        let periodic = periods.into_iter().map(|period| period != 0).collect();
        process.define(&Definition::Cartesian { local, dims, periodic });
        return (2 * length, 2 * length);
    }
    let (sources, destinations) = if kind == abi.graph {
        let (mut rank, mut count) = (0i32, 0i32);
        // SAFETY: as above, of a communicator with a graph; places for numbers.
        unsafe {
            own::MPI_Comm_rank(handle, &raw mut rank);
            own::MPI_Graph_neighbors_count(handle, rank, &raw mut count);
        }
        let mut neighbours = vec![0i32; count.max(0) as usize];
        // SAFETY: as above; the list has that many numbers.
        unsafe { own::MPI_Graph_neighbors(handle, rank, count, neighbours.as_mut_ptr()) };
        (neighbours.clone(), neighbours)
    } else if kind == abi.dist_graph {
        distributed_neighbours(handle)
    } else {
        return (0, 0);
    };
    let degrees = (sources.len(), destinations.len());
    process.define(&Definition::Neighbours { local, sources, destinations });
    degrees
}

fn distributed_neighbours(handle: usize) -> (Vec<i32>, Vec<i32>) {
    let (mut incoming, mut outgoing, mut weighted) = (0i32, 0i32, 0i32);
    // SAFETY: a communicator with a distributed graph that the program has just made or used; places for numbers.
    unsafe {
        let weighted = &raw mut weighted;
        own::MPI_Dist_graph_neighbors_count(handle, &raw mut incoming, &raw mut outgoing, weighted);
    }
    let list = |count: i32| vec![0i32; count.max(0) as usize];
    let (mut sources, mut destinations) = (list(incoming), list(outgoing));
    // Weights are asked for into places of our own: the names for "unweighted" differ between libraries.
    let (mut source_weights, mut destination_weights) = (list(incoming.max(1)), list(outgoing.max(1)));
    // SAFETY: as above, with lists of the given length.
    unsafe {
        own::MPI_Dist_graph_neighbors(
            handle,
            incoming,
            sources.as_mut_ptr(),
            source_weights.as_mut_ptr(),
            outgoing,
            destinations.as_mut_ptr(),
            destination_weights.as_mut_ptr(),
        );
    }
    (sources, destinations)
}
