//! What programs do, and their span by definition: each task is followed from the moment it is made.

use kizami_records::threading::{Dependence, Purpose};
use kizami_rng::SplitMix64;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Something a task does.
#[derive(Clone, Debug)]
pub enum Act {
    Run(u64),
    Make(Rc<Vec<Act>>, Vec<Dependence>),
    Wait,
    Group,
    GroupEnd,
    Lock(u64),
    Barrier,
    /// What each thread of it does.
    Region(Vec<Rc<Vec<Act>>>),
}

fn dependences(random: &mut SplitMix64) -> Vec<Dependence> {
    let purposes = [Purpose::In, Purpose::Out, Purpose::Exclusive, Purpose::Set];
    let count = if random.below(2) == 0 { 0 } else { 1 + random.below(3) };
    (0..count).map(|_| Dependence { address: random.below(4), purpose: purposes[random.index(4)] }).collect()
}

/// What a task does that may make others so deep.
pub fn task(random: &mut SplitMix64, depth: u64) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut open = 0;
    for _ in 0..1 + random.below(6) {
        acts.push(Act::Run(random.below(30)));
        match random.below(9) {
            0..=3 if depth > 0 => {
                acts.push(Act::Make(Rc::new(task(random, depth - 1)), dependences(random)));
            }
            4 => acts.push(Act::Wait),
            5 => {
                acts.push(Act::Group);
                open += 1;
            }
            6 if open > 0 => {
                acts.push(Act::GroupEnd);
                open -= 1;
            }
            7 => acts.push(Act::Lock(random.below(9))),
            8 if depth > 0 => acts.push(Act::Region(vec![Rc::new(task(random, depth - 1))])),
            _ => {}
        }
    }
    acts.extend((0..open).map(|_| Act::GroupEnd));
    acts
}

/// A program for so many threads.
pub fn program(random: &mut SplitMix64, threads: usize) -> Vec<Act> {
    let mut acts = vec![Act::Run(random.below(50))];
    for _ in 0..1 + random.below(3) {
        let (barriers, shares) = (random.below(3), 1 + random.below(threads as u64));
        let mut share = || {
            let mut acts = task(random, 3);
            for _ in 0..barriers {
                acts.push(Act::Barrier);
                acts.extend(task(random, 2));
            }
            Rc::new(acts)
        };
        acts.push(Act::Region((0..shares).map(|_| share()).collect()));
        acts.push(Act::Run(random.below(50)));
    }
    acts
}

/// Work and span, as they are defined.
#[derive(Default)]
pub struct Ideal {
    pub work: u64,
    pub span: u64,
    pub tasks: u64,
    /// For each open group and region: when the last task in it ends.
    scopes: Vec<u64>,
}

/// Who did what with an address, by when they end.
#[derive(Default)]
struct Address {
    before: u64,
    writers: u64,
    purpose: Option<Purpose>,
    readers: Option<u64>,
}

impl Ideal {
    pub fn of(program: &[Act]) -> Ideal {
        let mut ideal = Ideal::default();
        let end = ideal.follow(program, 0);
        ideal.span = ideal.span.max(end);
        ideal
    }

    fn follow(&mut self, acts: &[Act], mut now: u64) -> u64 {
        let mut children = 0;
        let mut addresses: BTreeMap<u64, Address> = BTreeMap::new();
        for act in acts {
            match act {
                Act::Run(length) => {
                    now += length;
                    self.work += length;
                }
                Act::Make(child, dependences) => {
                    self.tasks += 1;
                    let start = dependences.iter().fold(now, |start, one| {
                        let known = addresses.entry(one.address).or_default();
                        start.max(known.ready(purpose_of(dependences, one.address)))
                    });
                    let end = self.follow(child, start);
                    let mut own: Vec<u64> = dependences.iter().map(|one| one.address).collect();
                    own.sort_unstable();
                    own.dedup();
                    for address in own {
                        let known = addresses.entry(address).or_default();
                        known.note(purpose_of(dependences, address), end);
                    }
                    children = children.max(end);
                    self.scopes.iter_mut().for_each(|scope| *scope = (*scope).max(end));
                    self.span = self.span.max(end);
                }
                Act::Wait => now = now.max(children),
                Act::Group => self.scopes.push(0),
                Act::GroupEnd => now = now.max(self.scopes.pop().unwrap()),
                Act::Lock(_) | Act::Barrier => {}
                Act::Region(shares) => {
                    self.scopes.push(0);
                    let mut at = vec![now; shares.len()];
                    let phases: Vec<Vec<&[Act]>> = shares
                        .iter()
                        .map(|share| share.split(|act| matches!(act, Act::Barrier)).collect())
                        .collect();
                    for phase in 0..phases[0].len() {
                        for (share, at) in phases.iter().zip(&mut at) {
                            *at = self.follow(share[phase], *at);
                        }
                        let all = at.iter().copied().max().unwrap().max(*self.scopes.last().unwrap());
                        at.fill(all);
                    }
                    self.scopes.pop();
                    now = at[0];
                }
            }
        }
        now
    }
}

fn purpose_of(dependences: &[Dependence], address: u64) -> Purpose {
    let mut own = dependences.iter().filter(|one| one.address == address).map(|one| one.purpose);
    let first = own.next().unwrap();
    if own.all(|other| other == first) { first } else { Purpose::Out }
}

impl Address {
    fn joins(&self, purpose: Purpose) -> bool {
        purpose != Purpose::Out && self.purpose == Some(purpose) && self.readers.is_none()
    }

    fn ready(&self, purpose: Purpose) -> u64 {
        match purpose {
            Purpose::In => self.writers,
            _ if self.joins(purpose) => self.before,
            _ => self.writers.max(self.readers.unwrap_or(0)),
        }
    }

    fn note(&mut self, purpose: Purpose, end: u64) {
        if purpose == Purpose::In {
            self.readers = self.readers.max(Some(end));
        } else if self.joins(purpose) {
            self.writers = self.writers.max(end);
        } else {
            self.before = self.writers.max(self.readers.unwrap_or(0));
            (self.writers, self.purpose, self.readers) = (end, Some(purpose), None);
        }
    }
}
