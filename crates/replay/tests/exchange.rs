//! The walk knows the others only through its exchange: over channels, as between processes, everything comes out as it
//! does alone.

mod common;

use common::graph;
use kizami_network::Fit;
use kizami_replay::exchange::{Alone, Exchange, RemoteEvent, Round, Standing};
use kizami_replay::{LaneMoment, Network, Observer, Replayed, Seen, Setting, Shares, Walk};
use kizami_testing::{Costs, Stencil};
use std::sync::mpsc::{Receiver, Sender, channel};

type Mail = (Standing, Vec<RemoteEvent<2>>);

/// A channel to each other share and one from each; none to itself.
struct Channels {
    to: Vec<Option<Sender<Mail>>>,
    from: Vec<Option<Receiver<Mail>>>,
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
    fn end_round(&mut self, standing: Standing, outgoing: &mut [Vec<RemoteEvent<2>>]) -> Option<Round<2>> {
        for (to, events) in self.to.iter().zip(outgoing) {
            if let Some(to) = to {
                to.send((standing, std::mem::take(events))).ok()?;
            }
        }
        let mut round = Round { all: standing, incoming: Vec::new() };
        for from in self.from.iter().flatten() {
            let (standing, events) = from.recv().ok()?;
            round.all = round.all.and(standing);
            round.incoming.push(events);
        }
        Some(round)
    }
}

/// Steps with when they end.
#[derive(Default)]
struct Ends(Vec<(u64, [LaneMoment; 2])>);

impl Observer<2> for Ends {
    fn step(&mut self, seen: &Seen<'_, 2>) {
        self.0.push((seen.index, seen.end));
    }
}

fn sorted(replayed: Replayed<Ends>) -> (Vec<(u64, [LaneMoment; 2])>, u64, u64, Fit) {
    let mut ends: Vec<_> = replayed.observers.into_iter().flat_map(|ends| ends.0).collect();
    ends.sort_unstable();
    (ends, replayed.followed, replayed.unmatched, replayed.learned)
}

#[test]
fn shares_that_meet_over_channels_walk_as_one() {
    let ranks = 12;
    let stencil = Stencil::new(ranks, 30, Costs::default());
    let rows: Vec<_> = (0..ranks).flat_map(|rank| stencil.rank(rank)).collect();
    let graph = graph(&[(0..ranks).collect()], &rows);
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
