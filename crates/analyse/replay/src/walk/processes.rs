//! Partitions walked by processes, one each, that exchange messages.
//!
//! Every process has the whole graph and walks its own share of it. At the end of a round it sends a message to all of the
//! others: how it stands, what concerns ranks of all of them, and to whom it will send; then a message to each of those.
//! What its observer has found goes to all at the end, so all of them have what one process alone would have. If there are
//! more processes than shares, the last ones only listen.

use super::exchange::{Exchange, Outgoing, RemoteEvent, Round, Standing};
use super::observer::Observer;
use super::{Replayed, Shares, Walk, replay, rounds};
use crate::setting::Setting;
use kizami_graph::Graph;
use kizami_model::Moment;
use kizami_network::Fit;
use kizami_process_group::ProcessGroup;
use kizami_wire::Wire;
use rustc_hash::FxHashMap;

/// Who walks.
#[derive(Clone, Copy, Debug)]
pub struct Workers {
    /// Threads of this process, for what it does alone.
    pub threads: usize,
    /// The processes that share a walk, if there are several.
    pub processes: Option<&'static dyn ProcessGroup>,
}

impl From<usize> for Workers {
    fn from(threads: usize) -> Workers {
        Workers { threads, processes: None }
    }
}

/// An observer whose findings are small enough to be sent to all processes.
pub trait SentObserver<const LANES: usize>: Observer<LANES> {
    /// Appends what it has found to a message.
    fn encode(&self, message: &mut Vec<u8>);

    /// Takes over what another one like it has found, before it has observed anything itself. `None` if that cannot be decoded.
    fn decode(&mut self, message: &mut &[u8]) -> Option<()>;
}

/// The same as [`replay`], by threads or processes. Processes learn nothing about the network.
pub fn replay_by<const LANES: usize, O: SentObserver<LANES>>(
    graph: &Graph,
    settings: [&Setting; LANES],
    fit: &Fit,
    workers: Workers,
    mut observer: impl FnMut() -> O,
    progress: &(dyn Fn(u64) + Sync),
) -> Replayed<O> {
    let shares = Shares::of(graph, workers.processes.map_or(1, |processes| processes.size()));
    let Some(processes) = workers.processes.filter(|_| shares.count() > 1) else {
        return replay(graph, settings, fit, workers.threads, observer, progress);
    };
    let walk = Walk::new(graph, settings, fit, &shares);
    let mut others = ByMessages { processes };
    let mut message = Vec::new();
    if processes.index() < shares.count() {
        let walked = walk.share(processes.index(), observer(), &mut others, &progress);
        walked.encode(&mut message);
    } else {
        rounds::listen::<LANES>(&mut others, walk.slice);
    }
    let messages = processes.all_gather(message);
    let decode = |(from, message): (usize, &Vec<u8>)| {
        Replayed::decode(observer(), message).unwrap_or_else(|| undecodable(from))
    };
    Replayed::of_shares(messages.iter().take(shares.count()).enumerate().map(decode))
}

/// Only another version of this program sends such messages.
fn undecodable(from: usize) -> ! {
    panic!("process {from} sent a message that this one cannot decode; start the same program on all nodes")
}

impl<O> Replayed<O> {
    fn encode<const LANES: usize>(&self, message: &mut Vec<u8>)
    where
        O: SentObserver<LANES>,
    {
        self.followed.encode(message);
        self.unmatched.encode(message);
        self.direct_only.encode(message);
        self.most_under_way.encode(message);
        self.observers.iter().for_each(|observer| observer.encode(message));
    }

    fn decode<const LANES: usize>(mut observer: O, mut message: &[u8]) -> Option<Replayed<O>>
    where
        O: SentObserver<LANES>,
    {
        let (followed, unmatched) = Wire::decode(&mut message)?;
        let (direct_only, most_under_way): (Moment, u64) = Wire::decode(&mut message)?;
        observer.decode(&mut message)?;
        message.is_empty().then(|| Replayed {
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
struct ByMessages<'a> {
    processes: &'a dyn ProcessGroup,
}

impl<const LANES: usize> Exchange<LANES> for ByMessages<'_> {
    fn end_round(&mut self, standing: Standing, outgoing: &mut Outgoing<LANES>) -> Option<Round<LANES>> {
        let own = self.processes.index();
        let mut round = Round { all: standing, incoming: Vec::new() };
        let to_some = to_some(outgoing);
        let messages = self.processes.all_gather(to_all(standing, outgoing, &to_some));
        // Mostly few have something for a few others, or none has.
        let (mut is_for_some, mut from) = (!to_some.is_empty(), Vec::new());
        for (sender, message) in messages.iter().enumerate().filter(|(sender, _)| *sender != own) {
            let (standing, for_some) =
                decode_to_all(message, &mut round.incoming).unwrap_or_else(|| undecodable(sender));
            round.all = round.all.and(standing);
            is_for_some |= !for_some.is_empty();
            from.extend(for_some.iter().filter(|(to, _)| *to == own).map(|(_, bytes)| (sender, *bytes)));
        }
        if is_for_some {
            let messages = self.processes.exchange(to_some, &from);
            for ((sender, _), message) in from.iter().zip(&messages) {
                decode_events(message, &mut round.incoming).unwrap_or_else(|| undecodable(*sender));
            }
        }
        Some(round)
    }
}

/// Messages that not all must get, with their receivers.
fn to_some<const LANES: usize>(outgoing: &mut Outgoing<LANES>) -> Vec<(usize, Vec<u8>)> {
    let some = outgoing.to_each.iter_mut().enumerate().filter(|(_, events)| !events.is_empty());
    some.map(|(to, events)| {
        let mut message = Vec::new();
        events.drain(..).for_each(|event| event.encode(&mut message));
        (to, message)
    })
    .collect()
}

/// The message to all: how a process stands, for whom it has messages, and what is for all.
fn to_all<const LANES: usize>(
    standing: Standing,
    outgoing: &mut Outgoing<LANES>,
    to_some: &[(usize, Vec<u8>)],
) -> Vec<u8> {
    let announced: Vec<(usize, usize)> = to_some.iter().map(|(to, message)| (*to, message.len())).collect();
    let mut message = kizami_wire::encode(&(standing, announced));
    outgoing.to_all.drain(..).for_each(|event| event.encode(&mut message));
    message
}

/// How another process stands, and for whom it has messages of how many bytes.
type ToAll = (Standing, Vec<(usize, usize)>);

fn decode_to_all<const LANES: usize>(
    mut message: &[u8],
    events: &mut Vec<RemoteEvent<LANES>>,
) -> Option<ToAll> {
    let head = Wire::decode(&mut message)?;
    decode_events(message, events)?;
    Some(head)
}

fn decode_events<const LANES: usize>(mut message: &[u8], events: &mut Vec<RemoteEvent<LANES>>) -> Option<()> {
    while !message.is_empty() {
        events.push(RemoteEvent::decode(&mut message)?);
    }
    Some(())
}
