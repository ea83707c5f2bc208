//! What ranks did that does not fit together, and is probably why they hang: different collectives in the same place of the
//! order on one communicator, and a message that was sent where its receiver waits for one with another tag.

use super::hang::{Called, Mistake, RanksInCall};
use super::ledger::{Channel, Expected, Ledger, Place, RequestKind, Turn};
use kizami_model::kind::{Form, Kind};
use kizami_model::{Ending, Op, Peer};
use kizami_trace::{Definitions, SourceLine, UnderWay};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Mistakes of a run whose ranks in `doomed` can never go on.
pub(super) fn mistakes(
    calls: &[UnderWay],
    definitions: &Definitions,
    ledger: &Ledger,
    doomed: &BTreeSet<u32>,
) -> Vec<Mistake> {
    let observations = Observations { calls, definitions, ledger };
    let mut mistakes = observations.mismatches();
    mistakes.extend(observations.other_tags(doomed));
    mistakes
}

struct Observations<'a> {
    calls: &'a [UnderWay],
    definitions: &'a Definitions,
    ledger: &'a Ledger,
}

impl Observations<'_> {
    /// Where ranks are inside a collective that others have called, or call, as another one: the first of each communicator.
    fn mismatches(&self) -> Vec<Mistake> {
        /// A rank, with what it calls or called, and where.
        type Entered = (u32, Op, Option<u32>);
        let mut entered: BTreeMap<(Place, u64), Vec<Entered>> = BTreeMap::new();
        for call in self.calls {
            if let Some(at) = self.ledger.ordinal(call) {
                entered.entry(at).or_default().push((call.rank.0, call.op, call.callsite));
            }
        }
        for (rank, of_rank) in (0..).zip(&self.ledger.ranks) {
            let turns = of_rank.last_turns.iter();
            for (place, (number, op, site)) in
                turns.flat_map(|(place, turns)| turns.iter().map(move |turn| (place, *turn)))
            {
                if let Some(ranks) = entered.get_mut(&(*place, number)) {
                    ranks.push((rank, op, site));
                }
            }
        }
        let mut told = BTreeSet::new();
        let mut found = Vec::new();
        for ((place, _), mut ranks) in entered {
            ranks.sort_unstable_by_key(|(rank, ..)| *rank);
            let mut by_function: BTreeMap<&str, RanksInCall> = BTreeMap::new();
            for (rank, op, site) in ranks {
                let group = by_function
                    .entry(op.name())
                    .or_insert_with(|| RanksInCall { ranks: Vec::new(), call: self.called(op, site) });
                group.ranks.push(rank);
            }
            if by_function.len() > 1 && told.insert(place) {
                found.push(Mistake::DifferentCollectives { ranks: by_function.into_values().collect() });
            }
        }
        found
    }

    /// Messages to ranks that can never go on, as they wait for a message of the same rank with another tag, which that rank
    /// does not send any more.
    fn other_tags(&self, doomed: &BTreeSet<u32>) -> Vec<Mistake> {
        let awaited = self.awaited(doomed);
        if awaited.is_empty() {
            return Vec::new();
        }
        let mut left: FxHashMap<(u32, u32, u32), Vec<(Channel, Turn)>> = FxHashMap::default();
        for (channel, last) in self.ledger.not_taken() {
            let (comm, from, to, _) = channel;
            left.entry((comm, from, to)).or_default().push((channel, last));
        }
        let mut told = FxHashSet::default();
        let mut found = Vec::new();
        for (receiver, expected) in &awaited {
            let (Some(comm), Peer::Rank(from), Some(wanted)) = (expected.comm, expected.source, expected.tag)
            else {
                continue;
            };
            let takes = |tag: i32| {
                awaited.iter().any(|(rank, other)| {
                    rank == receiver
                        && other.comm == Some(comm)
                        && matches!(other.source, Peer::Any | Peer::Rank(_))
                        && (other.source == Peer::Any || other.source == Peer::Rank(from))
                        && other.tag.is_none_or(|awaited| awaited == tag)
                })
            };
            let messages = left.get(&(comm, from.0, *receiver)).map_or(&[][..], Vec::as_slice);
            let other =
                messages.iter().filter(|((.., tag), _)| !takes(*tag)).min_by_key(|(channel, _)| *channel);
            let Some(((.., tag), (_, op, site))) = other.filter(|_| self.has_stopped(from.0)) else {
                continue;
            };
            if told.insert((from.0, *receiver, *tag)) {
                let (from, to, call) = (from.0, *receiver, self.called(*op, *site));
                found.push(Mistake::OtherTag { from, to, tag: *tag, wanted, call });
            }
        }
        found
    }

    /// What ranks that can never go on wait for, or have posted receives for.
    fn awaited(&self, doomed: &BTreeSet<u32>) -> Vec<(u32, Expected)> {
        let waits = |call: &&UnderWay| matches!(call.op.kind(), Kind::Receive(Form::Blocking) | Kind::Probe);
        let inside = self.calls.iter().filter(waits).filter_map(|call| {
            Some((call.rank.0, Expected { comm: call.comm, source: call.peer?, tag: call.tag }))
        });
        let open = (0..).zip(&self.ledger.ranks).flat_map(|(rank, of_rank)| {
            of_rank.open.values().filter_map(move |open| match open.asked {
                RequestKind::Receive(expected) | RequestKind::Both(_, expected) => Some((rank, expected)),
                _ => None,
            })
        });
        inside.chain(open).filter(|(rank, _)| doomed.contains(rank)).collect()
    }

    /// Whether a rank sends nothing any more: it is inside a call, or gone.
    fn has_stopped(&self, rank: u32) -> bool {
        let ended = |ending: Ending| matches!(ending, Ending::Finalized | Ending::Exited | Ending::Aborted);
        self.calls.iter().any(|call| call.rank.0 == rank)
            || self.definitions.ranks.get(rank as usize).is_some_and(|info| ended(info.ending))
    }

    fn called(&self, op: Op, site: Option<u32>) -> Called {
        Called { function: op.name().to_owned(), place: SourceLine::of(self.definitions, site) }
    }
}
