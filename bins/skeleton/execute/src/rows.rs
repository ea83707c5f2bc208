//! From a stream to rows: what a recording of the same calls would have in its tables.
//!
//! Times are not in a stream: rows begin where the clock that is given says, and take no time; only a replay knows who waits.

use crate::skeleton::Skeleton;
use kizami_model::meaning::{Role, meaning, start_op};
use kizami_model::{Call, CommKind, Moment, Op, Peer, Rank, Shape, ThreadIndex};
use kizami_mpi_stub::communicator::{Communicator, Identity};
use kizami_mpi_stub::event::{Entry, NO_SITE, Partner, Stream, StreamCall, flag};
use kizami_mpi_stub::topology::Topology;
use kizami_trace::{CallSite, CommIdentity, Communicator as CommRow, Definitions, Neighbours};
use std::collections::HashMap;

/// Says how long a rank computes before a call.
pub trait Clock {
    /// Nanoseconds before a call at a place, with how often loops ran since the last call. Calls are asked for in order.
    fn gap_ns(&mut self, call: (Op, u16), trips: &[u64]) -> f64;
}

/// No computation at all.
pub struct NoTime;

impl Clock for NoTime {
    fn gap_ns(&mut self, _: (Op, u16), _: &[u64]) -> f64 {
        0.0
    }
}

/// The communicators of a run, by the number all ranks agree on.
#[derive(Default)]
pub struct Communicators {
    rows: Vec<CommRow>,
    by_identity: HashMap<Identity, u32>,
    neighbours: Vec<Neighbours>,
}

impl Communicators {
    /// The two that are always there, and those that ranks made.
    pub fn of(ranks: u32, made: &[Box<[Communicator]>]) -> Communicators {
        let mut all = Communicators::default();
        let whole = (0..ranks).map(|rank| Some(Rank(rank))).collect();
        all.push(CommKind::World, Identity::WORLD, None, ranks, whole);
        all.push(CommKind::SelfOnly, Identity(2), None, 1, Vec::new());
        for (rank, comm) in in_order(made) {
            all.add(rank, comm);
        }
        all
    }

    fn push(
        &mut self,
        kind: CommKind,
        identity: Identity,
        parent: Option<u32>,
        size: u32,
        members: Vec<Option<Rank>>,
    ) -> u32 {
        let index = self.rows.len() as u32;
        self.by_identity.insert(identity, index);
        self.rows.push(CommRow {
            index,
            identity: CommIdentity(identity.0),
            parent,
            kind,
            name: None,
            size,
            members,
            remote_members: Vec::new(),
            dims: Vec::new(),
            periodic: Vec::new(),
        });
        index
    }

    fn add(&mut self, rank: u32, comm: &Communicator) {
        let index = match self.by_identity.get(&comm.identity) {
            Some(index) => *index,
            None => {
                let parent = comm.parent.and_then(|parent| self.by_identity.get(&parent).copied());
                let members = comm.group.iter().map(|world| Some(Rank(world))).collect();
                self.push(comm.kind, comm.identity, parent, comm.group.size(), members)
            }
        };
        let row = &mut self.rows[index as usize];
        row.name = row.name.take().or_else(|| comm.name.clone());
        match &comm.topology {
            Some(Topology::Cartesian(grid)) if comm.kind == CommKind::Cartesian => {
                (row.dims, row.periodic) = (grid.dims.clone(), grid.periodic.clone());
            }
            Some(Topology::Graph { .. } | Topology::Distributed(_)) => {
                let world = |place: Option<u32>| place.and_then(|place| comm.world_rank(place)).map(Rank);
                if let Some((sources, destinations)) = comm.neighbours() {
                    self.neighbours.push(Neighbours {
                        comm: index,
                        rank: Rank(rank),
                        sources: sources.into_iter().map(world).collect(),
                        destinations: destinations.into_iter().map(world).collect(),
                    });
                }
            }
            _ => {}
        }
    }

    /// The index of a rank's communicator.
    fn index(&self, comms: &[Communicator], local: u16) -> Option<u32> {
        match local {
            0 | 1 => Some(u32::from(local)),
            local => {
                let comm = comms.get(usize::from(local) - 2)?;
                self.by_identity.get(&comm.identity).copied()
            }
        }
    }

    /// Everything rows refer to.
    pub fn definitions(self, skeleton: &Skeleton) -> Definitions {
        let sites = &skeleton.manifest.call_sites;
        let callsites = (0..)
            .zip(sites)
            .map(|(index, site)| CallSite {
                index,
                offset: u64::from(site.id),
                module: None,
                function: site.function.clone(),
                file: (!site.file.is_empty()).then(|| site.file.clone()),
                line: (site.line != 0).then_some(site.line),
                inlined_into: Vec::new(),
                path: None,
            })
            .collect();
        let mut neighbours = self.neighbours;
        neighbours.sort_by_key(|row| (row.comm, row.rank));
        Definitions { communicators: self.rows, callsites, neighbours, ..Definitions::default() }
    }
}

/// The communicators of all ranks such that everybody's own come in the order in which it made them. That order is what tells
/// which communicator of one rank is which of another that does the same.
fn in_order(made: &[Box<[Communicator]>]) -> Vec<(u32, &Communicator)> {
    let mut depths: HashMap<Identity, u32> = HashMap::new();
    let mut rounds = 0;
    loop {
        let mut changed = false;
        rounds += 1;
        for comms in made {
            let mut least = 0;
            for comm in comms {
                let depth = depths.entry(comm.identity).or_insert(least);
                changed |= *depth < least;
                *depth = (*depth).max(least);
                least = *depth + 1;
            }
        }
        // Where there is an order, each round settles one more of them; without one, any will do.
        if !changed || rounds > depths.len() {
            break;
        }
    }
    let each = made.iter().zip(0..).flat_map(|(comms, rank)| comms.iter().map(move |comm| (rank, comm)));
    let mut all: Vec<(u32, &Communicator)> = each.collect();
    all.sort_by_cached_key(|(_, comm)| depths[&comm.identity]);
    all
}

/// One rank of a run, to be told as rows.
pub struct RankRows<'a> {
    pub rank: u32,
    pub ranks: u32,
    pub comms: &'a [Communicator],
    pub communicators: &'a Communicators,
    /// By the number of a site: its index in the table.
    pub sites: &'a HashMap<u16, u32>,
}

/// A receive that waits for its completion.
struct Open {
    row: usize,
    second_half: bool,
    posted: Option<u64>,
}

impl RankRows<'_> {
    /// All rows, in order.
    pub fn expand(&self, stream: &Stream, clock: &mut dyn Clock) -> Vec<Call> {
        let mut made = Expansion {
            of: self,
            rows: Vec::with_capacity(stream.calls as usize),
            next_request: 1,
            open: HashMap::new(),
            persistent: HashMap::new(),
            came: HashMap::new(),
        };
        let (mut now, mut trips): (f64, &[u64]) = (0.0, &[]);
        for entry in stream.entries() {
            match entry {
                Entry::Trips(counted) => trips = counted,
                Entry::Came { request, partner, tag, bytes } => {
                    made.came.insert(request, (partner, tag, bytes));
                }
                Entry::Call(call) => {
                    now += clock.gap_ns((call.op, call.site), trips);
                    trips = &[];
                    made.call(&call, Moment(now as i64));
                }
            }
        }
        made.rows
    }

    fn peer(&self, partner: Partner) -> Peer {
        match partner {
            Partner::Null => Peer::Null,
            Partner::Any => Peer::Any,
            other => other.rank(self.rank, self.ranks).map_or(Peer::Unknown, |rank| Peer::Rank(Rank(rank))),
        }
    }

    fn root(&self, call: &StreamCall) -> Peer {
        let Some(place) = call.root else { return Peer::None };
        let world = match call.comm {
            0 => Some(place),
            1 => Some(self.rank),
            local => self.comms.get(usize::from(local) - 2).and_then(|comm| comm.world_rank(place)),
        };
        world.map_or(Peer::Unknown, |world| Peer::Rank(Rank(world)))
    }
}

/// Rows under way.
struct Expansion<'a, 'b> {
    of: &'a RankRows<'b>,
    rows: Vec<Call>,
    next_request: u64,
    open: HashMap<u64, Open>,
    /// What a persistent request does: as its making told it.
    persistent: HashMap<u64, (Call, Option<u64>, Shape)>,
    came: HashMap<u32, (Partner, i32, u64)>,
}

impl Expansion<'_, '_> {
    fn call(&mut self, call: &StreamCall, now: Moment) {
        let of = self.of;
        let mut row = Call::new(Rank(of.rank), ThreadIndex(0), call.op, now, now);
        let has = |flag: u16| call.flags & flag != 0;
        row.comm = if has(flag::NO_COMM) { None } else { of.communicators.index(of.comms, call.comm) };
        row.callsite = if call.site == NO_SITE { None } else { of.sites.get(&call.site).copied() };
        (row.any_source, row.any_tag) = (has(flag::ANY_SOURCE), has(flag::ANY_TAG));
        if let Some((partner, tag)) = call.message {
            (row.peer, row.tag) = (of.peer(partner), Some(tag));
        }
        if let Some((partner, tag)) = call.receive {
            (row.recv_peer, row.recv_tag) = (of.peer(partner), Some(tag));
        }
        (row.bytes_out, row.bytes_in, row.root) = (call.bytes_out, call.bytes_in, of.root(call));
        let means = meaning(call.op);
        if has(flag::BEGINS) {
            row.request = Some(self.take_number());
        }
        match (means.shape, means.role) {
            (Shape::Start, _) => return self.started(call, row),
            (_, Role::Receive) => self.post(&mut row, call.bytes_in, false),
            (_, Role::SendReceive) => self.post(&mut row, call.bytes_in, true),
            (shape, Role::Persistent) => {
                if let Some(request) = row.request {
                    self.persistent.insert(request, (row.clone(), call.bytes_in, shape));
                }
                (row.bytes_out, row.bytes_in) = (None, None);
                if row.any_tag {
                    row.tag = None;
                }
            }
            (Shape::Completion, _) => self.complete(&mut row, call),
            (Shape::Probe, _) if has(flag::POLL) && row.any_tag => row.tag = None,
            _ => {}
        }
        self.rows.push(row);
    }

    fn take_number(&mut self) -> u64 {
        self.next_request += 1;
        self.next_request - 1
    }

    /// A receive was posted: nothing came yet.
    fn post(&mut self, row: &mut Call, posted: Option<u64>, second_half: bool) {
        row.bytes_in = None;
        let source = if second_half { row.recv_peer } else { row.peer };
        if row.any_tag {
            let tag = if second_half { &mut row.recv_tag } else { &mut row.tag };
            *tag = None;
        }
        if let (Some(request), true) = (row.request, source != Peer::Null) {
            self.open.insert(request, Open { row: self.rows.len(), second_half, posted });
        }
    }

    fn started(&mut self, call: &StreamCall, row: Call) {
        let single = call.op == start_op();
        if !single {
            self.rows.push(row.clone());
        }
        for run in call.requests {
            let (first, count) = (run & 0xffff_ffff, run >> 32);
            for number in first..first + count {
                let request = self.take_number();
                let Some((made, posted, shape)) = self.persistent.get(&number).cloned() else { continue };
                let mut part = Call {
                    start: row.start,
                    end: row.end,
                    op: start_op(),
                    callsite: row.callsite,
                    request: Some(request),
                    calls: u32::from(single),
                    ..made
                };
                if shape == Shape::Receive {
                    self.post(&mut part, posted, false);
                }
                self.rows.push(part);
            }
        }
    }

    fn complete(&mut self, row: &mut Call, call: &StreamCall) {
        for run in call.requests {
            let (first, count) = (run & 0xffff_ffff, run >> 32);
            for number in first..first + count {
                row.completes.push(number);
                let came = self.came.remove(&(number as u32));
                let Some(open) = self.open.remove(&number) else { continue };
                let posted = &mut self.rows[open.row];
                match came {
                    None => posted.bytes_in = open.posted,
                    // It was cancelled: its row stays as it was posted.
                    Some((Partner::Any, ..)) => {}
                    Some((partner, tag, bytes)) => {
                        let peer = self.of.peer(partner);
                        if open.second_half {
                            (posted.recv_peer, posted.recv_tag) = (peer, Some(tag));
                        } else {
                            (posted.peer, posted.tag) = (peer, Some(tag));
                        }
                        posted.bytes_in = Some(bytes);
                    }
                }
            }
        }
    }
}

/// By the number of a site: its index in the table of places.
pub fn site_index(skeleton: &Skeleton) -> HashMap<u16, u32> {
    (0..).zip(&skeleton.manifest.call_sites).map(|(index, site)| (site.id as u16, index)).collect()
}
