//! Collectives under way: who has come, and when the others may leave.
//!
//! Ranks of other threads of the walk come by mail: one letter for all of a thread's members once the last of them
//! has come, and one for the root at once.

use super::board::Note;
use super::lane::Lane;
use crate::collectives::{algorithm, leaves_ns};
use kizami_graph::{Members, Tie, TieKind};
use kizami_model::{Op, Rank};
use rustc_hash::FxHashMap;

/// News of a collective for other threads.
#[derive(Clone, Debug)]
pub(super) struct News<const LANES: usize> {
    pub key: u64,
    pub op: u16,
    /// Those of the thread did not all call the same function.
    pub mixed: bool,
    /// The root has come.
    pub root: Option<Note<LANES>>,
    /// All of one thread have come.
    pub came: Option<Arrivals<LANES>>,
    pub bytes: u64,
}

/// The members of one thread.
#[derive(Clone, Debug)]
pub(super) struct Arrivals<const LANES: usize> {
    count: u32,
    last: Note<LANES>,
    /// Each of them, where that matters.
    each: Vec<(Rank, Note<LANES>)>,
}

/// What is known of those a strand asks for.
pub(super) enum Answer<const LANES: usize> {
    /// They came then. In lanes with a model of the network this is when the one who asks may leave.
    Came(Note<LANES>),
    Wait,
    /// Not all called the same function: they do not belong together.
    Mixed,
}

#[derive(Clone, Default)]
struct Meeting<const LANES: usize> {
    /// The function; 0 until somebody came.
    op: u16,
    mixed: bool,
    came: u32,
    came_here: u32,
    left_here: u32,
    last: Option<Note<LANES>>,
    root: Option<Note<LANES>>,
    bytes: u64,
    each: Vec<(Rank, Note<LANES>)>,
    /// For each member in order, once all have come.
    results: Vec<Note<LANES>>,
    waiting: Vec<u32>,
}

/// Most communicators have one collective under way at a time: it has a place of its own, and finding it takes no
/// hashing. Others lie in a table.
struct Open<const LANES: usize> {
    /// By communicator, with the number of the collective.
    first: Vec<Option<(u32, Box<Meeting<LANES>>)>>,
    more: FxHashMap<u64, Meeting<LANES>>,
    /// How many have their place in `first`.
    near: usize,
}

impl<const LANES: usize> Open<LANES> {
    fn get_or_begin(&mut self, key: u64) -> &mut Meeting<LANES> {
        let first = &mut self.first[(key >> 32) as usize];
        let number = key as u32;
        let here = first.as_ref().is_some_and(|(known, _)| *known == number);
        if here || first.is_none() && !self.more.contains_key(&key) {
            self.near += usize::from(!here);
            let (_, meeting) = first.get_or_insert_with(|| (number, Box::default()));
            return meeting;
        }
        self.more.entry(key).or_default()
    }

    fn get(&self, key: u64) -> Option<&Meeting<LANES>> {
        match &self.first[(key >> 32) as usize] {
            Some((number, meeting)) if *number == key as u32 => Some(meeting),
            _ => self.more.get(&key),
        }
    }

    fn get_mut(&mut self, key: u64) -> Option<&mut Meeting<LANES>> {
        match &mut self.first[(key >> 32) as usize] {
            Some((number, meeting)) if *number == key as u32 => Some(meeting),
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

pub(super) struct Meetings<'a, const LANES: usize> {
    open: Open<LANES>,
    members: &'a Members,
    /// How many of the members of each communicator belong to this thread.
    here: Vec<u32>,
    lanes: &'a [Lane; LANES],
    /// Some lane needs to know when each member came.
    modelled: bool,
    /// Functions in which ranks wait for lower ones.
    prefix: Vec<bool>,
    /// Places of ranks, by communicator.
    positions: FxHashMap<u32, FxHashMap<Rank, u32>>,
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

impl<'a, const LANES: usize> Meetings<'a, LANES> {
    pub(super) fn new(
        members: &'a Members,
        here: impl Fn(Rank) -> bool,
        lanes: &'a [Lane; LANES],
    ) -> Meetings<'a, LANES> {
        let functions = kizami_model::function::functions();
        let prefix = |name: &str| name.ends_with("scan");
        Meetings {
            open: Open { first: vec![None; members.sizes.len()], more: FxHashMap::default(), near: 0 },
            members,
            here: here_by_comm(members, here),
            lanes,
            modelled: lanes.iter().any(Lane::is_model),
            prefix: std::iter::once(false).chain(functions.iter().map(|f| prefix(f.shape_name))).collect(),
            positions: FxHashMap::default(),
        }
    }

    /// Somebody of this thread has come. Those who may go on are added to `woken`; gives what other threads must hear.
    pub(super) fn come(
        &mut self,
        tie: Tie,
        op: Op,
        rank: Rank,
        note: Note<LANES>,
        woken: &mut Vec<u32>,
    ) -> Option<News<LANES>> {
        let size = self.members.sizes[tie.place() as usize];
        let here = self.here[tie.place() as usize];
        let keep_each = self.modelled || self.prefix.get(usize::from(op.0)).copied().unwrap_or(false);
        let meeting = self.open.get_or_begin(tie.key);
        meeting.called(op.0);
        meeting.came += 1;
        meeting.came_here += 1;
        meeting.bytes = meeting.bytes.max(tie.bytes());
        meeting.last = Some(meeting.last.map_or(note, |last| last.latest(note)));
        if keep_each {
            meeting.each.push((rank, note));
        }
        let as_root = matches!(tie.kind(), TieKind::EntersAsRoot | TieKind::PassesAsRoot);
        if as_root {
            meeting.root_came(note);
        }
        if matches!(tie.kind(), TieKind::Passes | TieKind::PassesAsRoot) {
            meeting.left_here += 1;
        }
        let all_here = meeting.came_here == here && here < size;
        if as_root || meeting.came >= size {
            woken.append(&mut meeting.waiting);
        }
        let news = (all_here || as_root && here < size).then(|| News {
            key: tie.key,
            op: op.0,
            mixed: meeting.mixed,
            root: as_root.then_some(note),
            came: if all_here { meeting.all_here(here) } else { None },
            bytes: meeting.bytes,
        });
        self.forget(tie.key);
        news
    }

    /// News from another thread.
    pub(super) fn hear(&mut self, news: News<LANES>, woken: &mut Vec<u32>) {
        let size = self.members.sizes[(news.key >> 32) as usize];
        let meeting = self.open.get_or_begin(news.key);
        meeting.called(news.op);
        meeting.mixed |= news.mixed;
        meeting.bytes = meeting.bytes.max(news.bytes);
        news.root.into_iter().for_each(|root| meeting.root_came(root));
        if let Some(Arrivals { count, last, mut each }) = news.came {
            meeting.came += count;
            meeting.last = Some(meeting.last.map_or(last, |known| known.latest(last)));
            meeting.each.append(&mut each);
        }
        if meeting.root.is_some() || meeting.came >= size {
            woken.append(&mut meeting.waiting);
        }
        self.forget(news.key);
    }

    /// How many are under way.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether all are waited for, where the recorded call was over before all came: to know who is lower, or what
    /// the model makes of it.
    pub(super) fn outlasts(&self, kind: TieKind) -> bool {
        kind == TieKind::AwaitsLower || kind == TieKind::AwaitsRoot && self.modelled
    }

    /// Whether those the strand waits for have come; else it is remembered.
    pub(super) fn ask(&mut self, tie: Tie, rank: Rank, strand: u32) -> Answer<LANES> {
        let place = tie.place();
        let size = self.members.sizes[place as usize];
        // It may be asked for before anybody came: by another thread than the one that came for the rank.
        let meeting = self.open.get_or_begin(tie.key);
        let all = meeting.came >= size;
        let root_only = tie.kind() == TieKind::AwaitsRoot && !self.modelled;
        match (root_only, meeting.root, meeting.last) {
            // Whatever the others called: who came before and who after depends on the walk.
            (true, Some(root), _) => Answer::Came(root),
            _ if all && (root_only || meeting.mixed) => Answer::Mixed,
            (false, _, Some(last)) if all => {
                if meeting.each.is_empty() {
                    return Answer::Came(last);
                }
                self.result(tie, rank)
            }
            _ => {
                meeting.waiting.push(strand);
                Answer::Wait
            }
        }
    }

    /// What all together mean for one of them.
    fn result(&mut self, tie: Tie, rank: Rank) -> Answer<LANES> {
        let place = tie.place();
        let members = self.members;
        let positions = self
            .positions
            .entry(members.comm(place))
            .or_insert_with(|| members.of(place).zip(0..).collect::<FxHashMap<Rank, u32>>());
        let Some(meeting) = self.open.get_mut(tie.key) else { return Answer::Wait };
        if meeting.results.is_empty() {
            let prefix = self.prefix.get(usize::from(meeting.op)).copied().unwrap_or(false);
            meeting.work_out(positions, self.lanes, prefix);
        }
        match positions.get(&rank).and_then(|position| meeting.results.get(*position as usize)) {
            Some(result) => {
                let mut result = *result;
                if tie.kind() == TieKind::AwaitsRoot
                    && let Some(root) = meeting.root
                {
                    (result.recorded_ns, result.strand, result.step) =
                        (root.recorded_ns, root.strand, root.step);
                    for (lane, new_ns) in result.new_ns.iter_mut().enumerate() {
                        if !self.lanes[lane].is_model() {
                            *new_ns = root.new_ns[lane];
                        }
                    }
                }
                Answer::Came(result)
            }
            None => Answer::Mixed,
        }
    }

    /// Somebody of this thread has left.
    pub(super) fn leave(&mut self, key: u64) {
        if let Some(meeting) = self.open.get_mut(key) {
            meeting.left_here += 1;
        }
        self.forget(key);
    }

    fn forget(&mut self, key: u64) {
        let place = (key >> 32) as usize;
        if let Some(meeting) = self.open.get(key)
            && meeting.left_here >= self.here[place]
            && meeting.came >= self.members.sizes[place]
        {
            self.open.remove(key);
        }
    }
}

impl<const LANES: usize> Meeting<LANES> {
    /// What other threads hear when all of this one have come.
    fn all_here(&self, count: u32) -> Option<Arrivals<LANES>> {
        Some(Arrivals { count, last: self.last?, each: self.each.clone() })
    }

    /// The root has come. Where rows are missing there may be two: then it is the first of them, not who came first.
    fn root_came(&mut self, note: Note<LANES>) {
        self.root = Some(self.root.filter(|root| root.step < note.step).unwrap_or(note));
    }

    /// Somebody called this function.
    fn called(&mut self, op: u16) {
        if self.op == 0 {
            self.op = op;
        }
        self.mixed |= self.op != op;
    }

    /// Works out for each member when those it waits for came, and in modelled lanes when it leaves.
    fn work_out(&mut self, positions: &FxHashMap<Rank, u32>, lanes: &[Lane; LANES], prefix: bool) {
        let Some(last) = self.last else { return };
        let mut each = vec![last; positions.len()];
        for (rank, note) in &self.each {
            if let Some(position) = positions.get(rank) {
                each[*position as usize] = *note;
            }
        }
        self.results = vec![last; each.len()];
        if prefix {
            let mut highest = each[0];
            for (result, note) in self.results.iter_mut().zip(&each) {
                highest = highest.latest(*note);
                *result = highest;
            }
        }
        let root =
            self.root.and_then(|root| each.iter().position(|note| note.step == root.step)).unwrap_or(0);
        for (lane, setting) in lanes.iter().enumerate() {
            let Some(model) = setting.model() else { continue };
            let ranks = each.len() as u32;
            let Some(how) = algorithm(Op(self.op), ranks, self.bytes) else { continue };
            let enters: Vec<i64> = each.iter().map(|note| note.new_ns[lane]).collect();
            for (result, leave_ns) in
                self.results.iter_mut().zip(leaves_ns(how, &enters, root, self.bytes, model))
            {
                result.new_ns[lane] = leave_ns;
            }
        }
    }
}
