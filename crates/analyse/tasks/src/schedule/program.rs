//! A run as a runtime sees it: what each task does in its order, made of the pieces that were recorded.
//!
//! Pieces of a task are put together again. Between them stands what the task waited for, so that a simulated runtime can let it
//! wait as long as that takes there. Promises: tasks keep the length they have in virtual time, and make others as long after
//! their beginning as they did there. It knows no runtime.

use crate::TaskGraph;
use crate::graph::{Part, Role};
use kizami_model::Length;
use kizami_rng::Xorshift64;
use rustc_hash::FxHashMap;

/// No task.
pub(super) const NO_INDEX: u32 = u32::MAX;

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// It makes a task.
    Make(u32),
    /// It waits for the tasks it has made.
    Children,
    /// It waits for all tasks of a group.
    Group(u32),
    /// It meets the other shares of its region.
    Barrier,
    /// It begins a region, and waits for its end.
    Region(u32),
    /// It ends.
    End,
}

/// Something a task does, so long after its beginning; waiting does not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub at: Length,
    pub act: Act,
}

/// A parallel region.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Region {
    first_share: u32,
    pub shares: u32,
    /// Whether it was begun inside another one.
    pub is_nested: bool,
}

/// Lists, one for each of something, in one piece of memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists<T> {
    first: Vec<u32>,
    all: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// From pairs of owner and item, iterated twice in the same order.
    pub(super) fn of(count: usize, nothing: T, each: impl Fn(&mut dyn FnMut(u32, T))) -> Lists<T> {
        let mut first = vec![0u32; count + 1];
        each(&mut |of, _| first[of as usize + 1] += 1);
        for place in 0..count {
            first[place + 1] += first[place];
        }
        let mut next = first.clone();
        let mut all = vec![nothing; first[count] as usize];
        each(&mut |of, what| {
            all[next[of as usize] as usize] = what;
            next[of as usize] += 1;
        });
        Lists { first, all }
    }

    pub(super) fn range(&self, of: u32) -> std::ops::Range<usize> {
        self.first[of as usize] as usize..self.first[of as usize + 1] as usize
    }

    /// What is at a place among all.
    pub(super) fn at(&self, place: u32) -> T {
        self.all[place as usize]
    }

    pub(super) fn get(&self, of: u32) -> &[T] {
        &self.all[self.range(of)]
    }
}

/// All of it.
#[derive(Clone)]
pub(super) struct Program {
    /// By task.
    pub steps: Lists<Step>,
    /// By task: those that depend on it.
    pub dependents: Lists<u32>,
    /// By task: on how many others it depends.
    pub depends_on: Vec<u32>,
    /// By task: who made it.
    pub parent: Vec<u32>,
    /// By task: whether it is the share of a thread in a region.
    pub is_share: Vec<bool>,
    /// By task: how many ancestors it has.
    pub depth: Vec<u32>,
    /// By task: the group it belongs to; [`NO_INDEX`] if none.
    pub group: Vec<u32>,
    pub groups: u32,
    /// Tasks that are there from the beginning.
    pub initial: Vec<u32>,
    pub regions: Vec<Region>,
    /// Shares of all regions.
    shares: Vec<u32>,
}

/// A step with what sorts it among those of its task.
#[derive(Clone, Copy)]
struct Sorted {
    made: i64,
    is_make: bool,
    step: Step,
}

impl Program {
    /// The same with each task longer or shorter by chance, by this share at most.
    pub(super) fn shaken(&self, seed: u64, share: f64) -> Program {
        let mut shaken = self.clone();
        let mut random = Xorshift64::new(seed);
        for task in 0..shaken.parent.len() as u32 {
            let times = 1.0 + share * (2.0 * random.unit() - 1.0);
            let steps = shaken.steps.range(task);
            shaken.steps.all[steps].iter_mut().for_each(|step| step.at = step.at.scaled(times));
        }
        shaken
    }

    /// None if the tasks do not record what they waited for.
    pub(super) fn of(graph: &TaskGraph) -> Option<Program> {
        let roles = graph.roles()?;
        let tasks = Tasks::of(graph, roles);
        let regions = Regions::of(graph, roles, &tasks);
        let groups = Groups::of(roles);
        let count = tasks.first.len();
        let mut steps = Lists::of(count, Sorted::NONE, |tell| {
            each_step(graph, roles, &tasks, &regions, &groups, tell);
        });
        for task in 0..count as u32 {
            let range = steps.range(task);
            // The order is that of the run, in which a task that is made at once with a wait was made before.
            steps.all[range].sort_unstable_by_key(|step| (step.made, !step.is_make));
        }
        let depends = |tell: &mut dyn FnMut(u32, u32)| {
            for (task, piece) in (0..).zip(&tasks.first) {
                if roles[*piece as usize].part == Part::Explicit {
                    let of = |need: &crate::Need| tasks.of[need.of as usize];
                    let needs =
                        graph.needs(*piece).iter().map(of).filter(|of| *of != NO_INDEX && *of != task);
                    needs.for_each(|of| tell(of, task));
                }
            }
        };
        let mut depends_on = vec![0; count];
        depends(&mut |_, task| depends_on[task as usize] += 1);
        let all = steps.all.iter().map(|sorted| sorted.step).collect();
        let group = tasks.first.iter().map(|piece| groups.number(&roles[*piece as usize])).collect();
        let initial =
            (0..).zip(&tasks.parent).filter(|(_, parent)| **parent == NO_INDEX).map(|(task, _)| task);
        let is_share = tasks.first.iter().map(|piece| roles[*piece as usize].part == Part::Share).collect();
        Some(Program {
            is_share,
            steps: Lists { first: steps.first, all },
            dependents: Lists::of(count, NO_INDEX, depends),
            depends_on,
            initial: initial.collect(),
            parent: tasks.parent,
            depth: tasks.depth,
            group,
            groups: groups.0.len() as u32,
            regions: regions.list,
            shares: regions.shares,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    pub(super) fn shares(&self, region: u32) -> &[u32] {
        let Region { first_share, shares, .. } = self.regions[region as usize];
        &self.shares[first_share as usize..][..shares as usize]
    }

    /// As many shares as the widest region has that is in no other.
    pub(super) fn widest(&self) -> u32 {
        self.regions.iter().filter(|region| !region.is_nested).map(|region| region.shares).max().unwrap_or(1)
    }
}

impl Sorted {
    const NONE: Sorted = Sorted { made: 0, is_make: false, step: Step { at: Length::ZERO, act: Act::End } };
}

/// Which pieces make which task.
struct Tasks {
    /// By piece: its task; [`NO_INDEX`] where a piece belongs to none.
    of: Vec<u32>,
    /// By piece: how long its task had run before.
    before: Vec<Length>,
    /// By task: its first piece, how long it runs, who made it, how many ancestors it has.
    first: Vec<u32>,
    length: Vec<Length>,
    parent: Vec<u32>,
    depth: Vec<u32>,
}

impl Tasks {
    fn of(graph: &TaskGraph, roles: &[Role]) -> Tasks {
        let mut tasks = Tasks {
            of: Vec::with_capacity(graph.len()),
            before: Vec::with_capacity(graph.len()),
            first: Vec::new(),
            length: Vec::new(),
            parent: Vec::new(),
            depth: Vec::new(),
        };
        for (number, (piece, role)) in (0u32..).zip(graph.tasks().iter().zip(roles)) {
            let maker = piece.parent.map_or(NO_INDEX, |parent| tasks.of[parent as usize]);
            let task = match role.part {
                Part::Together => NO_INDEX,
                part if part.goes_on() && maker != NO_INDEX => maker,
                _ => {
                    tasks.first.push(number);
                    tasks.length.push(Length::ZERO);
                    tasks.parent.push(maker);
                    tasks.depth.push(if maker == NO_INDEX { 0 } else { tasks.depth[maker as usize] + 1 });
                    tasks.first.len() as u32 - 1
                }
            };
            tasks.of.push(task);
            let length = tasks.length.get_mut(task as usize);
            tasks.before.push(length.as_deref().copied().unwrap_or(Length::ZERO));
            if let Some(length) = length {
                *length += piece.work();
            }
        }
        tasks
    }
}

/// Groups by number.
struct Groups(FxHashMap<u32, u32>);

impl Groups {
    fn of(roles: &[Role]) -> Groups {
        let mut known = FxHashMap::default();
        for role in roles.iter().filter(|role| role.group > 0) {
            let next = known.len() as u32;
            known.entry(role.group).or_insert(next);
        }
        Groups(known)
    }

    fn number(&self, role: &Role) -> u32 {
        if role.group == 0 { NO_INDEX } else { self.0.get(&role.group).copied().unwrap_or(NO_INDEX) }
    }
}

/// Regions, by the piece that began each.
struct Regions {
    list: Vec<Region>,
    shares: Vec<u32>,
    of_piece: FxHashMap<u32, u32>,
}

impl Regions {
    fn of(graph: &TaskGraph, roles: &[Role], tasks: &Tasks) -> Regions {
        let mut begun: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (number, (piece, role)) in (0u32..).zip(graph.tasks().iter().zip(roles)) {
            if let (Part::Share, Some(parent)) = (role.part, piece.parent) {
                begun.entry(parent).or_default().push(tasks.of[number as usize]);
            }
        }
        let mut found = Regions { list: Vec::new(), shares: Vec::new(), of_piece: FxHashMap::default() };
        let mut order: Vec<(u32, Vec<u32>)> = begun.into_iter().collect();
        order.sort_unstable();
        for (piece, shares) in order {
            let opener = tasks.of[piece as usize];
            let is_nested =
                opener != NO_INDEX && roles[tasks.first[opener as usize] as usize].part != Part::Initial;
            let (first_share, count) = (found.shares.len() as u32, shares.len() as u32);
            found.of_piece.insert(piece, found.list.len() as u32);
            found.list.push(Region { first_share, shares: count, is_nested });
            found.shares.extend(shares);
        }
        found
    }
}

fn each_step(
    graph: &TaskGraph,
    roles: &[Role],
    tasks: &Tasks,
    regions: &Regions,
    groups: &Groups,
    tell: &mut dyn FnMut(u32, Sorted),
) {
    for (number, (piece, role)) in (0u32..).zip(graph.tasks().iter().zip(roles)) {
        let (task, at) = (tasks.of[number as usize], tasks.before[number as usize]);
        let is_first = task != NO_INDEX && tasks.first[task as usize] == number;
        let made = role.made.0;
        if is_first && tasks.parent[task as usize] != NO_INDEX && role.part != Part::Share {
            let parent = piece.parent.unwrap_or_default() as usize;
            let into = piece.created - graph.tasks()[parent].start;
            let step = Step { at: tasks.before[parent] + into, act: Act::Make(task) };
            tell(tasks.of[parent], Sorted { made, is_make: true, step });
        }
        let act = match role.part {
            Part::AfterChildren => Some(Act::Children),
            Part::AfterGroup => {
                Some(Act::Group(groups.number(role))).filter(|act| *act != Act::Group(NO_INDEX))
            }
            Part::AfterBarrier => Some(Act::Barrier),
            Part::AfterRegion => piece
                .parent
                .and_then(|parent| regions.of_piece.get(&parent))
                .map(|region| Act::Region(*region)),
            _ => None,
        };
        if let Some(act) = act.filter(|_| !is_first && task != NO_INDEX) {
            tell(task, Sorted { made, is_make: false, step: Step { at, act } });
        }
        if is_first {
            let step = Step { at: tasks.length[task as usize], act: Act::End };
            tell(task, Sorted { made: i64::MAX, is_make: false, step });
        }
    }
}
