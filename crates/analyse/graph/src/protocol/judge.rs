//! What the times of one send say: was it over before its receiver was ready, or did it wait for that?
//!
//! Looked at is the call in which the send is over: itself, or the one that completes its request. A late receive counts
//! only against calls that had nothing else to wait for at that time: an exchange with a neighbour that comes late ends
//! late whether its sends waited or not.
//!
//! A receiver is also late that has posted its receive, or has it still before it, and stays outside MPI: most libraries
//! move a message only while both sides are inside. A send that was long and over right after the receiver came back
//! waited for that.

use super::hosts::Pairs;
use super::messages::{Messages, RankSteps};
use crate::channels::Channel;
use crate::shares::{Lists, Share};
use crate::step::{Step, StepKind, Tie, TieKind};
use kizami_model::{Family, Length, Moment, Op, Rank};

/// Waiting that is shorter than this cannot be distinguished from what a send takes by itself.
const LEAST_WAIT: Length = Length(5_000);
/// The same if nothing but the end of the call speaks for it.
const LEAST_WAIT_FOR_MPI: Length = Length(20_000);
/// What sends take by themselves per byte, at most: 1 GB/s.
const COPYING_NS_PER_BYTE: u64 = 1;
/// Calls of the receiver that are looked at to find when it came back to MPI.
const MOST_CALLS: usize = 256;

/// What one send shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nobody knows when its receive was posted.
    Unposted,
    /// Times of both sides cannot be compared.
    Unknown,
    /// The receive was posted before it could be waited for.
    InTime,
    /// The receive was posted during the call, which may have waited for something else.
    Hidden,
    /// Over before the receive was posted.
    BeforePost,
    /// Over before the receive was posted, when the receiver came back to MPI.
    WhenInMpi,
    /// Over after the receive was posted during the call, with nothing else to wait for.
    AfterPost,
    /// The receive was posted in time; over when the receiver came back to MPI.
    LateProgress,
    /// The receive was posted in time, and the send was over while the receiver was outside MPI.
    OwnProgress,
}

/// Judges sends of the ranks of a share.
pub(crate) struct Judge<'a> {
    lists: Lists<'a>,
    share: &'a Share,
    ranks: &'a [RankSteps],
    channels: &'a [Channel],
    messages: &'a Messages,
    pairs: &'a Pairs,
    /// By function: whether a rank inside it moves messages.
    progresses: Vec<bool>,
}

/// One send of a step that is being judged.
#[derive(Clone, Copy)]
pub(crate) struct Send {
    pub tie: Tie,
    pub verdict: Verdict,
    /// The step that posts its receive.
    posted: usize,
    /// It was over soon after its receive was posted.
    pub soon: bool,
    /// The step with which the receiver came back to MPI, if that may have been waited for.
    pub back: Option<usize>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        lists: Lists<'a>,
        share: &'a Share,
        ranks: &'a [RankSteps],
        channels: &'a [Channel],
        messages: &'a Messages,
        pairs: &'a Pairs,
    ) -> Judge<'a> {
        let functions = kizami_model::function::functions().len() as u16;
        let progresses = (0..=functions).map(|op| moves_messages(Op(op))).collect();
        Judge { lists, share, ranks, channels, messages, pairs, progresses }
    }

    /// Judges all sends that are over in a step, into `sends`.
    #[inline]
    pub(crate) fn step(&self, step: &Step, sends: &mut Vec<Send>) {
        sends.clear();
        for tie in self.ties_of(step) {
            if tie.kind() == TieKind::AwaitsPost {
                let posted = self.messages.posted(*tie);
                let verdict = if posted.is_some() { Verdict::InTime } else { Verdict::Unposted };
                let posted = posted.unwrap_or(0);
                sends.push(Send { tie: *tie, verdict, posted, soon: false, back: None });
            }
        }
        if !sends.is_empty() {
            self.sends(step, sends);
        }
    }

    /// Whether a message that stays with its rank was sent before its receive was posted: one clock says so, whatever
    /// others of its size do.
    pub(crate) fn surely_did_not_wait(&self, step: &Step, message: Tie) -> bool {
        let channel = &self.channels[message.place() as usize];
        // Few do, and looking up a message takes longer than all the rest.
        let posted = || self.messages.posted(message);
        channel.from == channel.to
            && posted().is_some_and(|posted| self.lists.steps[posted].start >= step.end)
    }

    fn sends(&self, step: &Step, sends: &mut [Send]) {
        // The last receive that was posted during the call, long after it began.
        let mut last: Option<Moment> = None;
        for send in sends.iter_mut().filter(|send| send.verdict != Verdict::Unposted) {
            let Some(margin) = self.pairs.margin(send.tie.place()) else {
                send.verdict = Verdict::Unknown;
                continue;
            };
            let post = self.lists.steps[send.posted].start;
            // Polls are not over when they end.
            if post > step.end.saturating_add(margin) && step.kind() != StepKind::Polling {
                send.verdict = Verdict::BeforePost;
            } else if post <= step.end && post > step.start.saturating_add(margin) {
                send.verdict = Verdict::Hidden;
                let wait = post.saturating_since(step.start);
                let own = LEAST_WAIT_FOR_MPI.saturating_add(copying(send.tie));
                send.soon = step.end.saturating_since(post) <= own.max(wait / 2);
                if wait > LEAST_WAIT.saturating_add(margin).saturating_add(copying(send.tie)) {
                    last = last.max(Some(post));
                }
            }
        }
        let long = step.length() > LEAST_WAIT_FOR_MPI && step.kind() != StepKind::Polling;
        if last.is_none() && !long {
            return;
        }
        let alone = match last {
            None => self.others(step).all(|came| came <= step.start),
            Some(last) => {
                let others = self.others(step).max();
                if others.is_none_or(|others| others < last) {
                    let hidden = sends.iter_mut().filter(|send| send.verdict == Verdict::Hidden);
                    hidden
                        .filter(|send| self.lists.steps[send.posted].start == last)
                        .for_each(|send| send.verdict = Verdict::AfterPost);
                }
                others.is_none_or(|others| others <= step.start)
            }
        };
        if long && alone {
            sends.iter_mut().for_each(|send| self.receiver_outside(step, send));
        }
    }

    /// When each came of what else a step waits for; at the end of time if that is not known.
    fn others(&self, step: &Step) -> impl Iterator<Item = Moment> + '_ {
        let never = Moment(i64::MAX);
        let start = move |index: Option<usize>| index.map_or(never, |index| self.lists.steps[index].start);
        self.ties_of(step).iter().filter_map(move |tie| match tie.kind() {
            TieKind::AwaitsPost => None,
            kind if kind.announces() || kind.is_of_its_call() => None,
            TieKind::Awaits | TieKind::Looks => Some(start(self.messages.sent(*tie))),
            kind if kind.awaits_readiness() => Some(start(self.messages.posted(*tie))),
            _ => Some(never),
        })
    }

    /// Looks whether a long send was over when its receiver, which was outside MPI, came back.
    fn receiver_outside(&self, step: &Step, send: &mut Send) {
        let Some(margin) = self.pairs.margin(send.tie.place()) else { return };
        let outside_at = match send.verdict {
            Verdict::InTime | Verdict::BeforePost => step.start,
            // It may only have posted the receive and gone on.
            Verdict::AfterPost if !self.receives_in(send.posted, send.tie) => {
                self.lists.steps[send.posted].end
            }
            _ => return,
        };
        let to = self.channels[send.tie.place() as usize].to;
        let Some(back) = self.comes_back(to, send.posted, outside_at) else { return };
        let came = self.lists.steps[back].start;
        if came > step.end.saturating_add(margin) {
            if send.verdict == Verdict::InTime {
                send.verdict = Verdict::OwnProgress;
            }
            return;
        }
        let waited = came.saturating_since(step.start);
        let rest = step.end.saturating_since(came);
        let own = LEAST_WAIT_FOR_MPI.saturating_add(margin).saturating_add(copying(send.tie));
        if waited > own {
            send.back = Some(back);
        }
        if waited > own && rest <= own.max(waited / 2) {
            send.verdict = match send.verdict {
                Verdict::InTime => Verdict::LateProgress,
                Verdict::BeforePost => Verdict::WhenInMpi,
                other => other,
            };
        }
    }

    /// Whether a step takes the message itself.
    fn receives_in(&self, step: usize, message: Tie) -> bool {
        // The receiver may be in any share.
        let ties = self.lists.ties_of(step);
        ties.iter().any(|tie| tie.kind() == TieKind::Awaits && tie.key == message.key)
    }

    /// The first call after a moment with which a rank comes back to MPI, if it is outside at that moment. `near` is one
    /// of its steps, from which on calls are looked at.
    fn comes_back(&self, rank: Rank, near: usize, at: Moment) -> Option<usize> {
        let RankSteps { first, end, .. } =
            *self.ranks.get(rank.0 as usize).filter(|steps| steps.one_thread)?;
        let moves = |index: &usize| self.moves(&self.lists.steps[*index]);
        let mut back = near;
        if self.lists.steps[near].start <= at {
            let mut later = (near + 1..end.min(near + MOST_CALLS)).filter(moves);
            back = later.find(|index| self.lists.steps[*index].start > at)?;
        }
        for index in (first..back).rev().take(MOST_CALLS).filter(moves) {
            // The last one that began before it shows whether the rank is inside.
            if self.lists.steps[index].start <= at {
                return (self.lists.steps[index].end <= at).then_some(back);
            }
            back = index;
        }
        None
    }

    fn moves(&self, step: &Step) -> bool {
        self.progresses.get(usize::from(step.op().0)).copied().unwrap_or(false)
    }

    /// Steps of the partition that may wait until a receiver is ready.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &'a Step> {
        self.share.waiting(self.lists.steps)
    }

    /// The ties of a step of the share.
    #[inline]
    pub(crate) fn ties_of(&self, step: &Step) -> &'a [Tie] {
        self.share.ties_of(step)
    }
}

/// What a send takes by itself because of its size.
fn copying(tie: Tie) -> Length {
    Length(tie.bytes().saturating_mul(COPYING_NS_PER_BYTE).min(i64::MAX as u64) as i64)
}

/// Whether a rank inside such a call moves messages of others.
fn moves_messages(op: Op) -> bool {
    op.function().is_some_and(|function| {
        matches!(
            function.family,
            Family::PointToPoint | Family::Completion | Family::Collective | Family::OneSided
        )
    })
}
