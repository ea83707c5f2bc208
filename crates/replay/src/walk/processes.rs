//! Shares walked by processes, one each, that know each other by letters.
//!
//! Every process has the whole graph and walks its own share of it. At the end of a round it writes a letter to all of the
//! others: how it stands, what concerns ranks of all of them, and to whom it will write; then a letter to each of those.
//! What its observer has found goes to all at the end, so all of them have what one process alone would have. If there are
//! more processes than shares, the last ones only listen.

use super::exchange::{Exchange, Outgoing, RemoteEvent, Round, Standing};
use super::letters::{Letter, Reading};
use super::observer::Observer;
use super::{Replayed, Shares, Walk, replay, rounds};
use crate::setting::Setting;
use kizami_company::Company;
use kizami_graph::Graph;
use kizami_model::Moment;
use kizami_network::Fit;
use rustc_hash::FxHashMap;

/// Who walks.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// Threads of this process, for what it does alone.
    pub threads: usize,
    /// The processes that share a walk, if there are several.
    pub processes: Option<&'static dyn Company>,
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
    processes: &'a dyn Company,
}

impl<const LANES: usize> Exchange<LANES> for ByLetters<'_> {
    fn end_round(&mut self, standing: Standing, outgoing: &mut Outgoing<LANES>) -> Option<Round<LANES>> {
        let own = self.processes.own();
        let mut round = Round { all: standing, incoming: Vec::new() };
        let to_some = to_some(outgoing);
        let letters = self.processes.to_all(to_all(standing, outgoing, &to_some).0);
        // Mostly few have something for a few others, or nobody has.
        let (mut is_for_some, mut from) = (!to_some.is_empty(), Vec::new());
        for (sender, letter) in letters.iter().enumerate().filter(|(sender, _)| *sender != own) {
            let (standing, for_some) =
                read_to_all(&mut Reading(letter), &mut round.incoming).unwrap_or_else(|| unreadable(sender));
            round.all = round.all.and(standing);
            is_for_some |= !for_some.is_empty();
            from.extend(for_some.iter().filter(|(to, _)| *to == own).map(|(_, bytes)| (sender, *bytes)));
        }
        if is_for_some {
            let letters = self.processes.to_some(to_some, &from);
            for ((sender, _), letter) in from.iter().zip(&letters) {
                read_events(&mut Reading(letter), &mut round.incoming).unwrap_or_else(|| unreadable(*sender));
            }
        }
        Some(round)
    }
}

/// Letters for those that not all must hear of, with their receivers.
fn to_some<const LANES: usize>(outgoing: &mut Outgoing<LANES>) -> Vec<(usize, Vec<u8>)> {
    let some = outgoing.to_each.iter_mut().enumerate().filter(|(_, events)| !events.is_empty());
    some.map(|(to, events)| {
        let mut letter = Letter::default();
        events.drain(..).for_each(|event| event.write(&mut letter));
        (to, letter.0)
    })
    .collect()
}

/// A letter for all: how a process stands, for whom it has letters, and what is for all.
fn to_all<const LANES: usize>(
    standing: Standing,
    outgoing: &mut Outgoing<LANES>,
    to_some: &[(usize, Vec<u8>)],
) -> Letter {
    let mut letter = Letter::default();
    standing.write(&mut letter);
    letter.number(to_some.len() as u64);
    for (to, written) in to_some {
        letter.number(*to as u64);
        letter.number(written.len() as u64);
    }
    outgoing.to_all.drain(..).for_each(|event| event.write(&mut letter));
    letter
}

/// How another process stands, and for whom it has letters of how many bytes.
type ToldToAll = (Standing, Vec<(usize, usize)>);

fn read_to_all<const LANES: usize>(
    letter: &mut Reading<'_>,
    events: &mut Vec<RemoteEvent<LANES>>,
) -> Option<ToldToAll> {
    let (standing, count) = (Standing::read(letter)?, letter.number()?);
    let announced = |_| Some((letter.number()? as usize, letter.number()? as usize));
    let for_some = (0..count).map(announced).collect::<Option<_>>()?;
    read_events(letter, events)?;
    Some((standing, for_some))
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
