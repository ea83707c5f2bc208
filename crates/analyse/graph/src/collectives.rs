//! Which part a rank takes in a collective: who waits for whom.
//!
//! In a collective that gives every rank something of every rank, no rank leaves before all have entered. Where one
//! rank gives, the others wait for it alone; where one rank takes, only it waits. In a prefix sum a rank waits for
//! those of lower rank. Making a communicator, making, freeing and fencing a window, and `MPI_Finalize` wait for
//! all. In neighbourhood collectives each rank waits for its neighbours, and in rooted ones of inter-communicators the
//! root and each of the other group wait for each other: those are messages, see `build`.
//! Collectives of communicators with unknown members are not followed.

use crate::folding::Folding;
use crate::step::TieKind;
use kizami_model::kind::{CommunicatorCall, Flow, Form, Kind, WindowCall};
use kizami_model::{Call, CommKind, ObjectKind, Op, Peer, Rank};
use kizami_trace::Definitions;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How many take part in a collective that cannot be followed.
pub const NO_MEMBERS: u32 = 0;

/// Who takes part in the collectives of each communicator.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// How many; [`NO_MEMBERS`] if it cannot be followed. Windows come behind the communicators, and behind those
    /// each root that gives something to a communicator.
    pub sizes: Vec<u32>,
    /// World ranks of the members in the order of their ranks; empty where they are `0..size`. By communicator.
    pub(crate) lists: Vec<Vec<Rank>>,
    /// Whose list it is.
    pub(crate) comms: Vec<u32>,
    /// Of a run stored by rank class: the classes among the members. By communicator; else empty.
    pub(crate) rank_classes: Vec<MemberClasses>,
}

/// The rank classes of the members of a communicator.
#[derive(Clone, Debug, Default)]
pub struct MemberClasses {
    /// Those that stand for their class, in rising order.
    pub coming: Vec<Rank>,
    /// By place: the index among them.
    pub by_place: Vec<u32>,
}

impl Members {
    /// The members of a communicator in the order of their ranks in it; of a run stored by rank class, those that stand for a
    /// class.
    pub fn of(&self, place: u32) -> impl Iterator<Item = Rank> + '_ {
        let list = match self.rank_classes(place) {
            Some(rank_classes) => &rank_classes.coming[..],
            None => self.lists.get(self.comm(place) as usize).map_or(&[][..], Vec::as_slice),
        };
        let coming = self.coming(place);
        (0..coming).map(move |number| list.get(number as usize).copied().unwrap_or(Rank(number)))
    }

    /// How many of the members come: all, or one for each class.
    #[inline]
    pub fn coming(&self, place: u32) -> u32 {
        match self.rank_classes(place) {
            Some(rank_classes) => rank_classes.coming.len() as u32,
            None => self.sizes.get(place as usize).copied().unwrap_or(NO_MEMBERS),
        }
    }

    /// The rank classes of the members, in a run stored by rank class.
    #[inline]
    pub fn rank_classes(&self, place: u32) -> Option<&MemberClasses> {
        if self.rank_classes.is_empty() { None } else { self.rank_classes.get(self.comm(place) as usize) }
    }

    /// The communicator whose members they are.
    pub fn comm(&self, place: u32) -> u32 {
        self.comms.get(place as usize).copied().unwrap_or(place)
    }

    /// The same members once more.
    pub(crate) fn again(&mut self, comm: u32) -> u32 {
        self.sizes.push(self.sizes.get(comm as usize).copied().unwrap_or(NO_MEMBERS));
        self.comms.push(comm);
        self.sizes.len() as u32 - 1
    }

    /// Members `0..size` of one communicator: what a world is.
    pub fn world(size: u32) -> Members {
        Members { sizes: vec![size], lists: vec![Vec::new()], comms: vec![0], rank_classes: Vec::new() }
    }
}

/// What a call does in a collective.
pub(crate) enum Part {
    /// It is none.
    None,
    /// It may wait for others, but not in a way that can be followed.
    Unknown,
    /// It announces its arrival, and may wait.
    Takes { announces: TieKind, awaits: Option<TieKind>, place: u32, number: u32 },
    /// It waits for its neighbours.
    Neighbours { comm: u32 },
    /// It has a root in one group, which gives to, or takes from, all of the other.
    BetweenGroups { comm: u32, root_gives: bool },
}

/// What a function does among others; looked up once for each function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    None,
    All,
    Finalize,
    FromRoot,
    ToRoot,
    Lower,
    Neighbours,
    Window,
}

/// Where the results of a root are distinguished: a rank that waits for a root waits for no other.
pub(crate) type Roots = FxHashMap<(u32, Rank), u32>;

/// Counts the collectives of one rank after the other.
pub(crate) struct Collectives {
    roles: Vec<Role>,
    pub members: Members,
    /// Communicators of one rank: no rank to wait for.
    alone: Vec<bool>,
    inter: Vec<bool>,
    /// The world of each rank.
    worlds: FxHashMap<Rank, u32>,
    /// The communicator of each window.
    windows: FxHashMap<u32, u32>,
    pub roots: Roots,
    /// Collectives so far, of the rank being read.
    counts: FxHashMap<u32, u32>,
    rank: Option<Rank>,
    /// Of a run stored by rank class.
    folding: Option<Arc<Folding>>,
}

impl Collectives {
    pub(crate) fn new(definitions: &Definitions, folding: Option<Arc<Folding>>) -> Collectives {
        let comms = &definitions.communicators;
        let known = |comm: &kizami_trace::Communicator| {
            let whole = comm.members.len() == comm.size as usize && comm.members.iter().all(Option::is_some);
            whole && comm.remote_members.iter().all(Option::is_some) && comm.kind != CommKind::SelfOnly
        };
        let mut members = Members::default();
        for comm in comms {
            let list: Vec<Rank> =
                comm.members.iter().chain(&comm.remote_members).copied().flatten().collect();
            let size = if known(comm) { list.len() as u32 } else { NO_MEMBERS };
            let plain = (0..).zip(&list).all(|(number, rank)| rank.0 == number);
            members.sizes.push(size);
            members.comms.push(members.comms.len() as u32);
            members.lists.push(if plain || size == NO_MEMBERS { Vec::new() } else { list });
        }
        members.rank_classes = folding.as_ref().map_or_else(Vec::new, |folding| folding.among(definitions));
        let mut worlds = FxHashMap::default();
        for comm in comms.iter().filter(|comm| comm.kind == CommKind::World) {
            for member in comm.members.iter().flatten() {
                worlds.entry(*member).or_insert(comm.index);
            }
        }
        // The same members again: fences are counted apart from the collectives of the communicator.
        (0..comms.len() as u32).for_each(|comm| _ = members.again(comm));
        let windows = definitions.objects.iter().filter(|object| object.kind == ObjectKind::Window);
        Collectives {
            roles: (0..=kizami_model::function::functions().len() as u16).map(|op| role(Op(op))).collect(),
            members,
            alone: comms.iter().map(|comm| comm.kind == CommKind::SelfOnly || comm.size == 1).collect(),
            inter: comms.iter().map(|comm| !comm.remote_members.is_empty()).collect(),
            worlds,
            windows: windows.filter_map(|window| Some((window.index, window.comm?))).collect(),
            roots: FxHashMap::default(),
            counts: FxHashMap::default(),
            rank: None,
            folding,
        }
    }

    /// Adds the roots of another, which has read other ranks; returns what each of its places is called here.
    pub(crate) fn join(&mut self, other: &Collectives) -> Vec<u32> {
        let mut roots: Vec<_> = other.roots.iter().map(|(root, place)| (*place, *root)).collect();
        roots.sort_unstable_by_key(|(place, _)| *place);
        let mut places: Vec<u32> = (0..other.members.sizes.len() as u32).collect();
        for (place, (comm, root)) in roots {
            places[place as usize] =
                *self.roots.entry((comm, root)).or_insert_with(|| self.members.again(comm));
        }
        places
    }

    /// What the call does. Calls must come rank by rank, in the order of their start.
    pub(crate) fn part_of(&mut self, call: &Call) -> Part {
        let role = self.roles.get(usize::from(call.op.0)).copied().unwrap_or(Role::None);
        if role == Role::None || call.failed {
            return Part::None;
        }
        let comm = match role {
            Role::Finalize => self.worlds.get(&call.rank).copied(),
            Role::Window => call.object.and_then(|object| self.windows.get(&object).copied()).or(call.comm),
            _ => call.comm,
        };
        let Some(comm) = comm else { return Part::None };
        let neighbours = role == Role::Neighbours;
        let comm = self.folding.as_ref().filter(|_| !neighbours).map_or(comm, |folding| folding.comm(comm));
        if self.alone.get(comm as usize).copied().unwrap_or(false) {
            return Part::None;
        }
        if neighbours {
            return Part::Neighbours { comm };
        }
        if self.rank != Some(call.rank) {
            self.counts.clear();
            self.rank = Some(call.rank);
        }
        if self.members.sizes.get(comm as usize).is_none_or(|size| *size == NO_MEMBERS) {
            return Part::Unknown;
        }
        let inter = self.inter.get(comm as usize).copied().unwrap_or(false);
        if inter && matches!(role, Role::FromRoot | Role::ToRoot) {
            return Part::BetweenGroups { comm, root_gives: role == Role::FromRoot };
        }
        let place = match (role, call.root) {
            (Role::Window, _) => comm + self.alone.len() as u32,
            (Role::FromRoot, Peer::Rank(root)) => {
                let root = self.folding.as_ref().map_or(root, |folding| folding.rank_classes.like(root));
                *self.roots.entry((comm, root)).or_insert_with(|| self.members.again(comm))
            }
            _ => comm,
        };
        // All members count alike.
        let count = self.counts.entry(place).or_insert(0);
        *count = count.wrapping_add(1);
        let number = *count;
        use TieKind::*;
        let root = call.root == Peer::Rank(call.rank);
        let (announces, awaits) = match (role, root) {
            (Role::FromRoot, true) => (PassesAsRoot, None),
            (Role::FromRoot, false) => (Enters, Some(AwaitsRoot)),
            (Role::ToRoot, true) => (EntersAsRoot, Some(AwaitsAll)),
            (Role::ToRoot, false) => (Passes, None),
            (Role::Lower, _) => (Enters, Some(AwaitsLower)),
            _ => (Enters, Some(AwaitsAll)),
        };
        Part::Takes { announces, awaits, place, number }
    }
}

fn role(op: Op) -> Role {
    match op.kind() {
        Kind::Communicator(CommunicatorCall::New) => Role::All,
        Kind::Finalize => Role::Finalize,
        Kind::Window(WindowCall::New | WindowCall::Free | WindowCall::Fence) => Role::Window,
        Kind::Collective(_, Form::Persistent) => Role::None,
        Kind::Collective(collective, _) => match collective.flow() {
            Flow::All => Role::All,
            Flow::FromRoot => Role::FromRoot,
            Flow::ToRoot => Role::ToRoot,
            Flow::Prefix => Role::Lower,
            Flow::Neighbours => Role::Neighbours,
        },
        _ => Role::None,
    }
}
