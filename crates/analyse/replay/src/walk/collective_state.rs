//! Collectives under way: who has come, and when the others may leave.
//!
//! Of ranks of other shares there is news: once for all of a share's members when the last of them has come, and at once
//! of the root and of members of prefix collectives, whom others wait for alone (`lower`).

use super::class_leaving::ClassCollectives;
use super::lane::Lane;
use super::lower::{Lower, Positions};
use super::pending::Arrival;
use crate::lane_moment::LaneMoment;
use kizami_graph::{MemberClasses, Members, Tie, TieKind};
use kizami_model::kind::{Flow, Kind};
use kizami_model::{Length, Op, Rank};
use kizami_network::CollectiveCall;
use rustc_hash::FxHashMap;

/// The communicator of all ranks.
const WORLD: u32 = 0;
/// From when on moments of a lane are counted.
const START: LaneMoment = LaneMoment(0);

/// What other partitions must receive of a collective.
#[derive(Clone, Debug)]
pub struct CollectiveNews<const LANES: usize> {
    /// The key of its ties.
    pub key: u64,
    /// The function.
    pub op: Op,
    /// Those of the share did not all call the same function.
    pub mixed: bool,
    /// The root has come.
    pub root: Option<Arrival<LANES>>,
    /// Ranks of the partition have arrived: all that were not announced before, or one by itself.
    pub came: Option<ShareArrivals<LANES>>,
    /// The largest part any of them has.
    pub bytes: u64,
}

/// Members of one share.
#[derive(Clone, Debug)]
pub struct ShareArrivals<const LANES: usize> {
    /// How many.
    pub count: u32,
    /// The last of them.
    pub last: Arrival<LANES>,
    /// Each of them, where that matters.
    pub each: Vec<(Rank, Arrival<LANES>)>,
}

/// What is known of the ranks a strand asks for.
pub(super) enum Answer<const LANES: usize> {
    /// They came then. In lanes with a model of the network this is when the asking rank may leave.
    Came(Arrival<LANES>),
    Wait,
    /// Not all called the same function: they do not belong together.
    Mixed,
}

/// One collective: who has come so far.
#[derive(Clone, Default)]
struct CollectiveState<const LANES: usize> {
    /// The function of the first who came.
    op: Option<Op>,
    mixed: bool,
    came: u32,
    came_here: u32,
    /// How many of those here were announced to the other partitions.
    announced: u32,
    left_here: u32,
    last: Option<Arrival<LANES>>,
    root: Option<Arrival<LANES>>,
    bytes: u64,
    each: Vec<(Rank, Arrival<LANES>)>,
    /// For each member in order, once all have come.
    results: Vec<Arrival<LANES>>,
    waiting: Vec<u32>,
    /// If it is a prefix collective.
    lower: Option<Box<Lower<LANES>>>,
}

/// Most communicators have one collective under way at a time: it has a place of its own, and finding it takes no
/// hashing. Others lie in a table.
struct Open<const LANES: usize> {
    /// By communicator, with the number of the collective.
    first: Vec<Option<(u32, Box<CollectiveState<LANES>>)>>,
    more: FxHashMap<u64, CollectiveState<LANES>>,
    /// How many have their place in `first`.
    near: usize,
}

impl<const LANES: usize> Open<LANES> {
    fn get_or_begin(&mut self, key: u64) -> &mut CollectiveState<LANES> {
        let first = &mut self.first[(key >> 32) as usize];
        let number = key as u32;
        let here = first.as_ref().is_some_and(|(known, _)| *known == number);
        if here || first.is_none() && !self.more.contains_key(&key) {
            self.near += usize::from(!here);
            let (_, state) = first.get_or_insert_with(|| (number, Box::default()));
            return state;
        }
        self.more.entry(key).or_default()
    }

    fn get(&self, key: u64) -> Option<&CollectiveState<LANES>> {
        match &self.first[(key >> 32) as usize] {
            Some((number, state)) if *number == key as u32 => Some(state),
            _ => self.more.get(&key),
        }
    }

    fn get_mut(&mut self, key: u64) -> Option<&mut CollectiveState<LANES>> {
        match &mut self.first[(key >> 32) as usize] {
            Some((number, state)) if *number == key as u32 => Some(state),
            _ => self.more.get_mut(&key),
        }
    }

    fn remove(&mut self, key: u64) {
        let first = &mut self.first[(key >> 32) as usize];
        if first.as_ref().is_some_and(|(number, _)| *number == key as u32) {
            *first = None;
            self.near -= 1;
        } else {
            self.more.remove(&key);
        }
    }

    fn len(&self) -> usize {
        self.near + self.more.len()
    }
}

/// All collectives under way, as one share sees them.
pub(super) struct Collectives<'a, const LANES: usize> {
    open: Open<LANES>,
    members: &'a Members,
    /// How many of the members of each communicator belong to this share.
    here: Vec<u32>,
    lanes: &'a [Lane; LANES],
    /// Some lane needs to know when each member came.
    modelled: bool,
    /// Functions in which ranks wait for lower ones.
    prefix: Vec<bool>,
    /// The first collective of the world that sets something up.
    first: Option<u64>,
    positions: Positions<'a>,
    /// Of a run stored by rank class.
    pub class_collectives: ClassCollectives,
}

/// How many members of each place are here.
fn here_by_comm(members: &Members, here: impl Fn(Rank) -> bool) -> Vec<u32> {
    let mut counts: Vec<u32> = Vec::new();
    for place in 0..members.sizes.len() as u32 {
        // A communicator comes before others with the same members.
        let count = match counts.get(members.comm(place) as usize) {
            Some(known) => *known,
            None => members.of(place).filter(|rank| here(*rank)).count() as u32,
        };
        counts.push(count);
    }
    counts
}

/// Whether ranks wait for lower ones in a function.
fn is_prefix(prefix: &[bool], op: Op) -> bool {
    prefix.get(usize::from(op.0)).copied().unwrap_or(false)
}

impl<'a, const LANES: usize> Collectives<'a, LANES> {
    pub(super) fn new(
        members: &'a Members,
        here: impl Fn(Rank) -> bool,
        lanes: &'a [Lane; LANES],
    ) -> Collectives<'a, LANES> {
        let functions = kizami_model::function::functions();
        let prefix = |kind: Kind| matches!(kind, Kind::Collective(which, _) if which.flow() == Flow::Prefix);
        Collectives {
            open: Open { first: vec![None; members.sizes.len()], more: FxHashMap::default(), near: 0 },
            members,
            here: here_by_comm(members, here),
            lanes,
            modelled: lanes.iter().any(Lane::is_model),
            prefix: std::iter::once(false).chain(functions.iter().map(|f| prefix(f.kind))).collect(),
            first: None,
            positions: Positions::new(members),
            class_collectives: ClassCollectives::default(),
        }
    }

    /// A rank of this partition has arrived. Strands that may go on are added to `woken`; returns what other partitions must
    /// receive.
    pub(super) fn come(
        &mut self,
        tie: Tie,
        op: Op,
        rank: Rank,
        arrival: Arrival<LANES>,
        woken: &mut Vec<u32>,
    ) -> Option<CollectiveNews<LANES>> {
        let size = self.members.coming(tie.place());
        let here = self.here[tie.place() as usize];
        let prefix = is_prefix(&self.prefix, op);
        let position = if prefix { self.positions.in_line(tie.place(), rank) } else { None };
        let state = self.open.get_or_begin(tie.key);
        state.called(op);
        state.came += 1;
        state.came_here += 1;
        state.bytes = state.bytes.max(tie.bytes());
        state.last = Some(state.last.map_or(arrival, |last| last.latest(arrival)));
        if self.modelled || prefix && position.is_none() {
            state.each.push((rank, arrival));
        }
        if let Some(position) = position {
            state.lower.get_or_insert_default().came(position, op, arrival, woken);
        }
        let as_root = matches!(tie.kind(), TieKind::EntersAsRoot | TieKind::PassesAsRoot);
        if as_root {
            state.root_came(arrival);
        }
        if matches!(tie.kind(), TieKind::Passes | TieKind::PassesAsRoot) {
            state.left_here += 1;
        }
        if as_root || state.came >= size {
            state.wake(state.came >= size, woken);
        }
        let came =
            if here < size { state.unannounced(here, position.map(|_| (rank, arrival))) } else { None };
        let news = (came.is_some() || as_root && here < size).then(|| CollectiveNews {
            key: tie.key,
            op,
            mixed: state.mixed,
            root: as_root.then_some(arrival),
            came,
            bytes: state.bytes,
        });
        self.forget(tie.key);
        news
    }

    /// News from another share.
    pub(super) fn receive(&mut self, news: CollectiveNews<LANES>, woken: &mut Vec<u32>) {
        let place = (news.key >> 32) as u32;
        let size = self.members.coming(place);
        let prefix = is_prefix(&self.prefix, news.op);
        let state = self.open.get_or_begin(news.key);
        state.called(news.op);
        state.mixed |= news.mixed;
        state.bytes = state.bytes.max(news.bytes);
        news.root.into_iter().for_each(|root| state.root_came(root));
        if let Some(ShareArrivals { count, last, mut each }) = news.came {
            state.came += count;
            state.last = Some(state.last.map_or(last, |known| known.latest(last)));
            for (rank, arrival) in each.iter().filter(|_| prefix) {
                if let Some(position) = self.positions.in_line(place, *rank) {
                    state.lower.get_or_insert_default().came(position, news.op, *arrival, woken);
                }
            }
            if self.modelled {
                state.each.append(&mut each);
            }
        }
        if state.root.is_some() || state.came >= size {
            state.wake(state.came >= size, woken);
        }
        self.forget(news.key);
    }

    /// How many are under way.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether all are waited for, where the recorded call was over before all came: for what the model makes of it, or
    /// to know who is lower.
    pub(super) fn outlasts(&self, tie: Tie) -> bool {
        match tie.kind() {
            TieKind::AwaitsRoot => self.modelled,
            TieKind::AwaitsLower => self.modelled || self.members.rank_classes(tie.place()).is_some(),
            _ => false,
        }
    }

    /// Whether those the strand waits for have come; else it is remembered.
    pub(super) fn ask(&mut self, tie: Tie, rank: Rank, strand: u32) -> Answer<LANES> {
        let place = tie.place();
        let size = self.members.coming(place);
        let lower = tie.kind() == TieKind::AwaitsLower;
        let position = if lower { self.positions.in_line(place, rank) } else { None };
        // It may be asked for before any arrival: by another thread of the rank than the one that came.
        let state = self.open.get_or_begin(tie.key);
        let all = state.came >= size;
        if let Some(position) = position
            && !(all && self.modelled && !state.mixed)
        {
            return state.ask_lower(position, strand, all, self.modelled);
        }
        let root_only = tie.kind() == TieKind::AwaitsRoot && !self.modelled;
        match (root_only, state.root, state.last) {
            // Whatever the others called: who came before and who after depends on the walk.
            (true, Some(root), _) => Answer::Came(root),
            _ if all && (root_only || state.mixed) => Answer::Mixed,
            (false, _, Some(last)) if all => {
                if state.each.is_empty() {
                    return Answer::Came(last);
                }
                self.result(tie, rank)
            }
            _ => {
                state.waiting.push(strand);
                Answer::Wait
            }
        }
    }

    /// When those came whom one cannot do without, if they have. A model may hold it until all others have come, too.
    pub(super) fn least(&self, tie: Tie, rank: Rank) -> Option<Arrival<LANES>> {
        match tie.kind() {
            TieKind::AwaitsRoot => self.open.get(tie.key)?.root,
            TieKind::AwaitsLower => {
                let position = self.positions.known(tie.place(), rank)?;
                match self.open.get(tie.key)?.lower.as_ref()?.answer(position)? {
                    Answer::Came(arrival) => Some(arrival),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What all together mean for one of them.
    fn result(&mut self, tie: Tie, rank: Rank) -> Answer<LANES> {
        let place = tie.place();
        let members = self.members;
        let positions = self.positions.of(place);
        let Some(state) = self.open.get_mut(tie.key) else { return Answer::Wait };
        if state.results.is_empty() {
            let prefix = state.op.is_some_and(|op| is_prefix(&self.prefix, op));
            let size = members.sizes[place as usize];
            let sets_up = |lane: &Lane| {
                let model = lane.model().zip(state.op);
                model.is_some_and(|(model, op)| model.sets_up(op, size, state.bytes))
            };
            // What a library sets up for the world serves the communicators that are made of it.
            let first = members.comm(place) == WORLD
                && self.lanes.iter().any(sets_up)
                && *self.first.get_or_insert(tie.key) == tie.key;
            let rank_classes = members.rank_classes(place);
            state.work_out(
                (positions, place, rank_classes),
                self.lanes,
                (prefix, first),
                &mut self.class_collectives,
            );
        }
        match positions.get(&rank).and_then(|position| state.results.get(*position as usize)) {
            Some(result) => {
                let mut result = *result;
                if tie.kind() == TieKind::AwaitsRoot
                    && let Some(root) = state.root
                {
                    (result.recorded, result.strand, result.step) = (root.recorded, root.strand, root.step);
                    for (lane, replayed) in result.replayed.iter_mut().enumerate() {
                        if !self.lanes[lane].is_model() {
                            *replayed = root.replayed[lane];
                        }
                    }
                }
                Answer::Came(result)
            }
            None => Answer::Mixed,
        }
    }

    /// Somebody of this share has left.
    pub(super) fn leave(&mut self, key: u64) {
        if let Some(state) = self.open.get_mut(key) {
            state.left_here += 1;
        }
        self.forget(key);
    }

    fn forget(&mut self, key: u64) {
        let place = (key >> 32) as usize;
        if let Some(state) = self.open.get(key)
            && state.left_here >= self.here[place]
            && state.came >= self.members.coming(place as u32)
        {
            self.open.remove(key);
        }
    }
}

impl<const LANES: usize> CollectiveState<LANES> {
    /// What other partitions receive of arrivals here: once all have arrived, and of `one` by itself at once.
    fn unannounced(
        &mut self,
        here: u32,
        one: Option<(Rank, Arrival<LANES>)>,
    ) -> Option<ShareArrivals<LANES>> {
        let all = self.came_here == here;
        let each = match one {
            Some(one) => vec![one],
            None if all => self.each.clone(),
            None => return None,
        };
        let (count, last) = match one {
            Some((_, arrival)) if !all => (1, arrival),
            _ => (here - self.announced, self.last?),
        };
        self.announced += count;
        Some(ShareArrivals { count, last, each })
    }

    /// Wakes strands that wait for the root or for all; if all have arrived, every strand.
    fn wake(&mut self, all: bool, woken: &mut Vec<u32>) {
        woken.append(&mut self.waiting);
        if all && let Some(lower) = &mut self.lower {
            lower.wake_all(woken);
        }
    }

    /// What is known of those up to a position. Where some lane has a model, a strand that has them waits for all others.
    fn ask_lower(&mut self, position: u32, strand: u32, all: bool, modelled: bool) -> Answer<LANES> {
        let lower = self.lower.get_or_insert_default();
        match lower.answer(position) {
            Some(answer) if !modelled || all => return answer,
            Some(_) => self.waiting.push(strand),
            // One before it called something else.
            None if all => return Answer::Mixed,
            None => lower.wait(position, strand),
        }
        Answer::Wait
    }

    /// The root has come. Where rows are missing there may be two: then it is the first of them, not who came first.
    fn root_came(&mut self, arrival: Arrival<LANES>) {
        self.root = Some(self.root.filter(|root| root.step < arrival.step).unwrap_or(arrival));
    }

    /// Somebody called this function.
    fn called(&mut self, op: Op) {
        self.mixed |= *self.op.get_or_insert(op) != op;
    }

    /// Works out for each member when those it waits for came, and in modelled lanes when it leaves. Of a run stored by rank
    /// class, for one rank of each class.
    fn work_out(
        &mut self,
        (positions, place, rank_classes): (&FxHashMap<Rank, u32>, u32, Option<&MemberClasses>),
        lanes: &[Lane; LANES],
        (prefix, first): (bool, bool),
        class_collectives: &mut ClassCollectives,
    ) {
        let Some(last) = self.last else { return };
        let mut each = vec![last; positions.len()];
        for (rank, arrival) in &self.each {
            if let Some(position) = positions.get(rank) {
                each[*position as usize] = *arrival;
            }
        }
        self.results = vec![last; each.len()];
        if prefix {
            let mut highest = each[0];
            for (result, arrival) in self.results.iter_mut().zip(&each) {
                highest = highest.latest(*arrival);
                *result = highest;
            }
        }
        let root = self
            .root
            .and_then(|root| {
                each.iter().position(|arrival| (arrival.strand, arrival.step) == (root.strand, root.step))
            })
            .unwrap_or(0);
        for (lane, setting) in lanes.iter().enumerate() {
            let Some(model) = setting.model() else { continue };
            let Some(op) = self.op else { continue };
            let enters: Vec<Length> =
                each.iter().map(|arrival| arrival.replayed[lane].saturating_since(START)).collect();
            let call = CollectiveCall { op, ranks: enters.len() as u32, bytes: self.bytes, first };
            if let Some(rank_classes) = rank_classes {
                let leaves =
                    class_collectives.leaves((lane, model), (place, rank_classes), call, &enters, root);
                for (result, leave) in self.results.iter_mut().zip(leaves) {
                    result.replayed[lane] = START.saturating_add(leave);
                }
                continue;
            }
            let Some(leaves) = model.leaves(call, &enters, root) else { continue };
            for (result, leave) in self.results.iter_mut().zip(leaves) {
                result.replayed[lane] = START.saturating_add(leave);
            }
        }
    }
}
