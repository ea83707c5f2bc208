//! The walk knows the others only through its exchange: over channels, or by messages as between processes, everything
//! comes out as it does alone.

mod common;

use common::graph;
use kizami_graph::Graph;
use kizami_network::Fit;
use kizami_process_group::ProcessGroup;
use kizami_replay::exchange::{Alone, Exchange, Outgoing, RemoteEvent, Round, Standing};
use kizami_replay::{
    EndedStep, LaneMoment, Network, Observer, Replayed, SentObserver, Setting, Shares, Walk, Workers,
    replay_by,
};
use kizami_testing::{Costs, Stencil};
use kizami_wire::Wire;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Barrier, Mutex};

type Parcel = (Standing, Vec<RemoteEvent<2>>);

/// A channel to each other share and one from each; none to itself.
struct Channels {
    to: Vec<Option<Sender<Parcel>>>,
    from: Vec<Option<Receiver<Parcel>>>,
}

impl Channels {
    fn between(shares: usize) -> Vec<Channels> {
        let none = || Channels {
            to: (0..shares).map(|_| None).collect(),
            from: (0..shares).map(|_| None).collect(),
        };
        let mut all: Vec<Channels> = (0..shares).map(|_| none()).collect();
        for (one, other) in (0..shares).flat_map(|one| (0..shares).map(move |other| (one, other))) {
            if one != other {
                let (to, from) = channel();
                all[one].to[other] = Some(to);
                all[other].from[one] = Some(from);
            }
        }
        all
    }
}

impl Exchange<2> for Channels {
    fn end_round(&mut self, standing: Standing, outgoing: &mut Outgoing<2>) -> Option<Round<2>> {
        for (to, events) in self.to.iter().zip(&mut outgoing.to_each) {
            if let Some(to) = to {
                events.extend_from_slice(&outgoing.to_all);
                to.send((standing, std::mem::take(events))).ok()?;
            }
        }
        outgoing.to_all.clear();
        let mut round = Round { all: standing, incoming: Vec::new() };
        for from in self.from.iter().flatten() {
            let (standing, events) = from.recv().ok()?;
            round.all = round.all.and(standing);
            round.incoming.extend(events);
        }
        Some(round)
    }
}

/// Steps with when they end.
#[derive(Default)]
struct Ends(Vec<(u64, [LaneMoment; 2])>);

impl Observer<2> for Ends {
    fn step(&mut self, seen: &EndedStep<'_, 2>) {
        self.0.push((seen.index, seen.end));
    }
}

fn sorted(replayed: Replayed<Ends>) -> (Vec<(u64, [LaneMoment; 2])>, u64, u64, Fit) {
    let mut ends: Vec<_> = replayed.observers.into_iter().flat_map(|ends| ends.0).collect();
    ends.sort_unstable();
    (ends, replayed.followed, replayed.unmatched, replayed.learned)
}

impl SentObserver<2> for Ends {
    fn encode(&self, message: &mut Vec<u8>) {
        self.0.encode(message);
    }

    fn decode(&mut self, message: &mut &[u8]) -> Option<()> {
        self.0 = Wire::decode(message)?;
        Some(())
    }
}

fn stencil(ranks: u32) -> Graph {
    let stencil = Stencil::new(ranks, 30, Costs::default());
    let rows: Vec<_> = (0..ranks).flat_map(|rank| stencil.rank(rank)).collect();
    graph(&[(0..ranks).collect()], &rows)
}

#[test]
fn shares_that_meet_over_channels_walk_as_one() {
    let graph = stencil(12);
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let (recorded, fit, one) = (Setting::default(), Fit::default(), Shares::of(&graph, 1));
    let walk = Walk::new(&graph, [&recorded, &ideal], &fit, &one);
    let alone = sorted(Replayed::of_shares([walk.share(0, Ends::default(), &mut Alone, &|_| {})]));
    assert_eq!(alone.0.len(), graph.steps.len());

    let three = Shares::of(&graph, 3);
    let walk = Walk::new(&graph, [&recorded, &ideal], &fit, &three);
    let together = std::thread::scope(|scope| {
        let walkers: Vec<_> = Channels::between(three.count())
            .into_iter()
            .enumerate()
            .map(|(own, mut channels)| {
                let walk = &walk;
                scope.spawn(move || walk.share(own, Ends::default(), &mut channels, &|_| {}))
            })
            .collect();
        Replayed::of_shares(walkers.into_iter().map(|walker| walker.join().unwrap()))
    });
    assert_eq!(three.count(), 3);
    assert_eq!(sorted(together), alone);
}

/// Messages of all to all.
type Mailboxes = &'static [Vec<Mutex<Vec<u8>>>];

/// Threads in place of processes: messages lie in boxes.
#[derive(Debug)]
struct InBoxes {
    own: usize,
    boxes: Mailboxes,
    all: &'static Barrier,
}

impl ProcessGroup for InBoxes {
    fn index(&self) -> usize {
        self.own
    }

    fn size(&self) -> usize {
        self.boxes.len()
    }

    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        for (to, message) in messages.into_iter().enumerate() {
            *self.boxes[to][self.own].lock().unwrap() = message;
        }
        self.all.wait();
        let taken = |message: &Mutex<Vec<u8>>| std::mem::take(&mut *message.lock().unwrap());
        let messages = self.boxes[self.own].iter().map(taken).collect();
        self.all.wait();
        messages
    }

    fn all_gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        self.all_to_all(vec![message; self.size()])
    }
}

/// What each of so many processes finds.
fn by_processes(graph: &Graph, count: usize) -> Vec<Replayed<Ends>> {
    let row = || (0..count).map(|_| Mutex::default()).collect();
    let boxes: Mailboxes = Vec::leak((0..count).map(|_| row()).collect());
    let all: &'static Barrier = Box::leak(Box::new(Barrier::new(count)));
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let (recorded, fit) = (Setting::default(), Fit::default());
    let settings = [&recorded, &ideal];
    std::thread::scope(|scope| {
        let walk = |own| {
            let processes: &'static InBoxes = Box::leak(Box::new(InBoxes { own, boxes, all }));
            let workers = Workers { threads: 1, processes: Some(processes) };
            let fit = &fit;
            scope.spawn(move || replay_by(graph, settings, fit, workers, Ends::default, &|_| {}))
        };
        let walkers: Vec<_> = (0..count).map(walk).collect();
        walkers.into_iter().map(|walker| walker.join().unwrap()).collect()
    })
}

#[test]
fn processes_walk_as_one_even_if_some_have_no_share() {
    let graph = stencil(12);
    let alone = by_processes(&graph, 1).pop().map(sorted).unwrap();
    assert_eq!(alone.0.len(), graph.steps.len());
    for count in [2, 3, 17] {
        for replayed in by_processes(&graph, count) {
            let (ends, followed, unmatched, _) = sorted(replayed);
            assert_eq!((&ends, followed, unmatched), (&alone.0, alone.1, alone.2), "{count} processes");
        }
    }
}
