//! Who sends and who posts: for each message the step that sends it and the step that posts its receive.
//!
//! Messages of a channel are numbered, so each has a place in a long list and finding it takes no hashing. Each side of a
//! channel is one rank, so every entry is written by one thread alone; they are atomic because those of several ranks lie in
//! one list.

use crate::channels::Channels;
use crate::shares::{Lists, Share};
use crate::step::{StepKind, Tie, TieKind};
use kizami_parallel::map;
use std::sync::atomic::{AtomicU32, Ordering};

/// A step that is not there. Others are counted from 1, so that unwritten lists have none.
const NONE: u32 = 0;

/// Steps of one rank among those of all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RankSteps {
    pub first: usize,
    pub end: usize,
    /// Whether all are of one thread.
    pub one_thread: bool,
}

/// Where messages of one channel lie in the lists, and the steps of its ranks.
#[derive(Clone, Copy)]
struct Place {
    first: u64,
    from_step: usize,
    to_step: usize,
}

/// Both steps of all messages.
pub(crate) struct Messages {
    /// By channel.
    places: Vec<Place>,
    /// Counted from the first of the rank.
    sent: Vec<AtomicU32>,
    posted: Vec<AtomicU32>,
}

impl Messages {
    pub(crate) fn new(lists: Lists<'_>, ranks: &[RankSteps], channels: &Channels) -> Messages {
        let mut places = Vec::with_capacity(channels.list().len());
        let mut all = 0;
        // A rank without rows has no steps to be found.
        let first_step = |rank: u32| ranks.get(rank as usize).map_or(0, |steps| steps.first);
        for (channel, most) in channels.list().iter().zip(channels.most_counted()) {
            let (from_step, to_step) = (first_step(channel.from.0), first_step(channel.to.0));
            places.push(Place { first: all, from_step, to_step });
            all += u64::from(most);
        }
        let empty = || bytemuck::zeroed_vec(all as usize);
        let messages = Messages { places, sent: empty(), posted: empty() };
        map(lists.shares, |share| messages.of_share(lists, share));
        messages
    }

    /// Notes what the steps of a share send and post.
    fn of_share(&self, lists: Lists<'_>, share: &Share) {
        let steps = share.steps.clone().zip(&lists.steps[share.steps.clone()]);
        for (index, step) in steps.filter(|(_, step)| step.kind() != StepKind::Polling) {
            for tie in share.ties_of(step) {
                let place = match tie.kind() {
                    TieKind::Departs | TieKind::Posts => self.places[tie.place() as usize],
                    // Announcing ties come before awaiting ties.
                    kind if !kind.announces() => break,
                    _ => continue,
                };
                let (list, first_step) = match tie.kind() {
                    TieKind::Departs => (&self.sent, place.from_step),
                    _ => (&self.posted, place.to_step),
                };
                let number = u32::try_from(index.wrapping_sub(first_step).wrapping_add(1)).unwrap_or(NONE);
                list[place.of(*tie)].store(number, Ordering::Relaxed);
            }
        }
    }

    /// The place of a message among all.
    #[inline]
    pub(crate) fn place(&self, tie: Tie) -> usize {
        self.places[tie.place() as usize].of(tie)
    }

    /// How many places there are.
    pub(crate) fn places(&self) -> usize {
        self.sent.len()
    }

    /// The step that sends the message.
    #[inline]
    pub(crate) fn sent(&self, tie: Tie) -> Option<usize> {
        let place = self.places[tie.place() as usize];
        stored_step(&self.sent[place.of(tie)], place.from_step)
    }

    /// The step that posts its receive.
    #[inline]
    pub(crate) fn posted(&self, tie: Tie) -> Option<usize> {
        let place = self.places[tie.place() as usize];
        stored_step(&self.posted[place.of(tie)], place.to_step)
    }
}

impl Place {
    /// Messages are counted from 1.
    #[inline]
    fn of(self, tie: Tie) -> usize {
        (self.first + u64::from(tie.number()) - 1) as usize
    }
}

#[inline]
fn stored_step(step: &AtomicU32, first: usize) -> Option<usize> {
    let number = step.load(Ordering::Relaxed);
    (number != NONE).then(|| first + number as usize - 1)
}
