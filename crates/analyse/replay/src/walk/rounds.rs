//! The rounds of one walker: what it says at the end of each, and what all conclude from what all said.
//!
//! When no events are left, either the horizon moves on, or, if everything before it has been walked, the strand whose
//! call ended first in the recorded run goes on without what it waits for: nothing it waited for can come from calls
//! that ended later. All of that is decided by what the whole graph says, never by who was faster.

use super::exchange::{Exchange, Outgoing, Standing};
use super::observer::Observer;
use super::worker::Worker;
use kizami_model::{Length, Moment};

/// Walks one share to the end. Strands are kept within `slice` of recorded time; `progress` is called with how many steps all
/// shares together have done.
pub(super) fn walk_share<const LANES: usize, O: Observer<LANES>>(
    worker: &mut Worker<'_, LANES, O>,
    exchange: &mut impl Exchange<LANES>,
    slice: Length,
    progress: &dyn Fn(u64),
) {
    while let Some(round) = exchange.end_round(standing(worker), &mut worker.outgoing) {
        progress(round.all.steps_done);
        let Some(decision) = decide(&round.all, slice) else { return };
        act(worker, decision);
        worker.receive(round.incoming);
        worker.run();
    }
}

/// Takes part in the rounds without a share, until the walk is over.
pub(super) fn listen<const LANES: usize>(exchange: &mut impl Exchange<LANES>, slice: Length) {
    while let Some(round) = exchange.end_round(Standing::default(), &mut Outgoing::new(0)) {
        if decide(&round.all, slice).is_none() {
            return;
        }
    }
}

/// What all do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// Receive what others announced.
    Hear,
    /// Go on up to this moment of recorded time.
    Extend(Moment),
    /// This strand goes on without what it waits for.
    GiveUp(u32),
}

fn standing<const LANES: usize, O: Observer<LANES>>(worker: &mut Worker<'_, LANES, O>) -> Standing {
    let announcing = !worker.outgoing.is_empty();
    // Only when no partition has anything to announce is it certain which strands are parked; looking for the first one takes
    // time.
    let [first_parked, first_sender, first_held] = if announcing { [None; 3] } else { worker.first_parked() };
    Standing {
        announcing,
        next_start: worker.next_start(),
        first_parked,
        first_sender,
        first_held,
        patient: worker.patient > 0,
        steps_done: worker.steps_done,
    }
}

/// Nothing when the walk is over.
fn decide(all: &Standing, slice: Length) -> Option<Decision> {
    if all.announcing {
        return Some(Decision::Hear);
    }
    match (all.first_parked, all.next_start) {
        // What a patient one waits for may begin at any time, and others may wait for it.
        (_, Some(next)) if all.patient => Some(Decision::Extend(next.saturating_add(slice))),
        // Nobody comes any more. A sender that waits in vain did not wait, and whom a model holds can do without those
        // who are missing; the others may wait for either. Who was over first did not wait for what the other did next.
        (Some((_, strand)), None) if all.patient => {
            let held =
                all.first_held.filter(|(end, _)| all.first_sender.is_none_or(|(sent, _)| *end <= sent));
            Some(Decision::GiveUp(held.or(all.first_sender).map_or(strand, |(_, first)| first)))
        }
        // All that began before its call ended has been walked, and a little more: clocks may be wrong.
        (Some((end, strand)), next) if next.is_none_or(|next| end.saturating_add(slice) < next) => {
            Some(Decision::GiveUp(strand))
        }
        (_, Some(next)) => Some(Decision::Extend(next.saturating_add(slice))),
        _ => None,
    }
}

fn act<const LANES: usize, O: Observer<LANES>>(worker: &mut Worker<'_, LANES, O>, decision: Decision) {
    match decision {
        Decision::Hear => {}
        Decision::Extend(horizon) => worker.extend(horizon),
        Decision::GiveUp(strand) if worker.has(strand) => worker.give_up(strand),
        Decision::GiveUp(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: Length = Length(100);

    #[test]
    fn no_strand_is_given_up_while_messages_are_under_way() {
        let parked = Standing { first_parked: Some((Moment(5), 1)), ..Standing::default() };
        let announcing = Standing { announcing: true, ..Standing::default() };
        assert_eq!(decide(&parked.and(announcing), SLICE), Some(Decision::Hear));
        assert_eq!(decide(&parked, SLICE), Some(Decision::GiveUp(1)));
        assert_eq!(decide(&Standing::default(), SLICE), None);
    }

    #[test]
    fn a_sender_and_one_held_by_a_model_go_on_in_the_order_of_their_ends() {
        let hung = Standing {
            first_parked: Some((Moment(5), 1)),
            first_sender: Some((Moment(50), 2)),
            patient: true,
            ..Standing::default()
        };
        assert_eq!(decide(&hung, SLICE), Some(Decision::GiveUp(2)));
        for (end, first) in [(49, 3), (50, 3), (51, 2)] {
            let held = Standing { first_held: Some((Moment(end), 3)), ..hung };
            assert_eq!(decide(&held, SLICE), Some(Decision::GiveUp(first)), "{end}");
        }
    }

    #[test]
    fn the_first_of_all_parts_counts() {
        let one = Standing {
            first_parked: Some((Moment(500), 1)),
            next_start: Some(Moment(700)),
            ..Standing::default()
        };
        let other = Standing {
            first_parked: Some((Moment(90), 7)),
            next_start: Some(Moment(150)),
            ..Standing::default()
        };
        assert_eq!(one.and(other), other.and(one));
        // The one that begins at 150 is within a slice of what ended at 90.
        assert_eq!(decide(&one.and(other), SLICE), Some(Decision::Extend(Moment(250))));
        let later = Standing { next_start: Some(Moment(191)), ..other };
        assert_eq!(decide(&one.and(later), SLICE), Some(Decision::GiveUp(7)));
    }
}
