//! Shares walked by processes, one each, that know each other by letters.
//!
//! Every process has the whole graph and walks its own share of it. At the end of a round it writes a letter to all of
//! the others: how it stands, and what concerns ranks of all of them; then, if any of them has something for a few, a letter to
//! each of those. What its observer has found goes to all at the end, so all
//! of them have what one process alone would have. If there are more processes than shares, the last ones only listen.

use super::exchange::{Exchange, Outgoing, RemoteEvent, Round, Standing};
use super::letters::{Letter, Reading};
use super::observer::Observer;
use super::{Replayed, Shares, Walk, replay, rounds};
use crate::setting::Setting;
use kizami_graph::Graph;
use kizami_model::Moment;
use kizami_network::Fit;
use rustc_hash::FxHashMap;
use std::fmt::Debug;

/// The processes that walk together, seen from one of them.
pub trait Processes: Debug + Sync {
    /// The number of this one, from 0.
    fn own(&self) -> usize;

    /// How many there are.
    fn count(&self) -> usize;

    /// Gives each process a letter, itself among them, and gets one from each, in their order. All of them call it
    /// at the same time. If one of them fails, it does not return.
    fn exchange(&self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// The same with one letter for all.
    fn to_all(&self, letter: Vec<u8>) -> Vec<Vec<u8>>;
}

/// Who walks.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// Threads of this process, for what it does alone.
    pub threads: usize,
    /// The processes that share a walk, if there are several.
    pub processes: Option<&'static dyn Processes>,
}

impl From<usize> for Workers {
    fn from(threads: usize) -> Workers {
        Workers { threads, processes: None }
    }
}

/// An observer that finds so little that all processes can be told of it.
pub trait Told<const LANES: usize>: Observer<LANES> {
    /// Writes what it has found.
    fn write(&self, letter: &mut Letter);

    /// Takes what another one like it has found, before it has seen anything itself. Nothing if that cannot be read.
    fn read(&mut self, letter: &mut Reading<'_>) -> Option<()>;
}

/// The same as [`replay`], by threads or processes. Processes learn nothing about the network.
pub fn replay_by<const LANES: usize, O: Told<LANES>>(
    graph: &Graph,
    settings: [&Setting; LANES],
    fit: &Fit,
    workers: Workers,
    mut observer: impl FnMut() -> O,
    progress: &(dyn Fn(u64) + Sync),
) -> Replayed<O> {
    let shares = Shares::of(graph, workers.processes.map_or(1, |processes| processes.count()));
    let Some(processes) = workers.processes.filter(|_| shares.count() > 1) else {
        return replay(graph, settings, fit, workers.threads, observer, progress);
    };
    let walk = Walk::new(graph, settings, fit, &shares);
    let mut others = ByLetters { processes };
    let mut letter = Letter::default();
    if processes.own() < shares.count() {
        let walked = walk.share(processes.own(), observer(), &mut others, &progress);
        walked.write(&mut letter);
    } else {
        rounds::listen::<LANES>(&mut others, walk.slice);
    }
    let letters = processes.to_all(letter.0);
    let read = |(from, letter): (usize, &Vec<u8>)| {
        Replayed::read(observer(), &mut Reading(letter)).unwrap_or_else(|| unreadable(from))
    };
    Replayed::of_shares(letters.iter().take(shares.count()).enumerate().map(read))
}

/// Only another version of this program writes such letters.
fn unreadable(from: usize) -> ! {
    panic!("process {from} tells what this one does not understand; start the same program on all nodes")
}

impl<O> Replayed<O> {
    fn write<const LANES: usize>(&self, letter: &mut Letter)
    where
        O: Told<LANES>,
    {
        letter.number(self.followed);
        letter.number(self.unmatched);
        letter.signed(self.direct_only.0);
        letter.number(self.most_under_way);
        self.observers.iter().for_each(|observer| observer.write(letter));
    }

    fn read<const LANES: usize>(mut observer: O, letter: &mut Reading<'_>) -> Option<Replayed<O>>
    where
        O: Told<LANES>,
    {
        let (followed, unmatched) = (letter.number()?, letter.number()?);
        let (direct_only, most_under_way) = (Moment(letter.signed()?), letter.number()?);
        observer.read(letter)?;
        letter.is_over().then(|| Replayed {
            observers: vec![observer],
            followed,
            unmatched,
            direct_only,
            learned: Fit::default(),
            most_under_way,
            left: FxHashMap::default(),
        })
    }
}

/// The way of one process to the others.
struct ByLetters<'a> {
    processes: &'a dyn Processes,
}

impl<const LANES: usize> Exchange<LANES> for ByLetters<'_> {
    fn end_round(&mut self, standing: Standing, outgoing: &mut Outgoing<LANES>) -> Option<Round<LANES>> {
        let own = self.processes.own();
        let is_other = |(from, _): &(usize, &Vec<u8>)| *from != own;
        let mut round = Round { all: standing, incoming: Vec::new() };
        let letters = self.processes.to_all(to_all(standing, outgoing).0);
        let mut is_for_some = outgoing.is_for_some();
        for (from, letter) in letters.iter().enumerate().filter(is_other) {
            let (standing, for_some) =
                read_to_all(&mut Reading(letter), &mut round.incoming).unwrap_or_else(|| unreadable(from));
            round.all = round.all.and(standing);
            is_for_some |= for_some;
        }
        // Mostly few have something for a few others, or nobody has.
        if is_for_some {
            let letters = self.processes.exchange(to_each(self.processes.count(), outgoing));
            for (from, letter) in letters.iter().enumerate().filter(is_other) {
                read_events(&mut Reading(letter), &mut round.incoming).unwrap_or_else(|| unreadable(from));
            }
        }
        Some(round)
    }
}

/// A letter for all: how a process stands, whether it has something for some, and what is for all.
fn to_all<const LANES: usize>(standing: Standing, outgoing: &mut Outgoing<LANES>) -> Letter {
    let mut letter = Letter::default();
    standing.write(&mut letter);
    letter.flag(outgoing.is_for_some());
    outgoing.to_all.drain(..).for_each(|event| event.write(&mut letter));
    letter
}

fn read_to_all<const LANES: usize>(
    letter: &mut Reading<'_>,
    events: &mut Vec<RemoteEvent<LANES>>,
) -> Option<(Standing, bool)> {
    let told = (Standing::read(letter)?, letter.flag()?);
    read_events(letter, events)?;
    Some(told)
}

/// A letter for each of so many processes, of which some may have no share.
fn to_each<const LANES: usize>(processes: usize, outgoing: &mut Outgoing<LANES>) -> Vec<Vec<u8>> {
    let mut letters = vec![Vec::new(); processes];
    for (place, events) in letters.iter_mut().zip(&mut outgoing.to_each) {
        let mut letter = Letter::default();
        events.drain(..).for_each(|event| event.write(&mut letter));
        *place = letter.0;
    }
    letters
}

fn read_events<const LANES: usize>(
    letter: &mut Reading<'_>,
    events: &mut Vec<RemoteEvent<LANES>>,
) -> Option<()> {
    while !letter.is_over() {
        events.push(RemoteEvent::read(letter)?);
    }
    Some(())
}
