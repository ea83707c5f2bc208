//! What is known of ties only when all rows have been read.
//!
//! While rows are read every send awaits its receiver and every receive announces that it is posted. When it is known which
//! sends wait, the ties of all others go, and what is left moves together. All of that is done for all shares at the same
//! time; ties of different shares come into one list at the very end, when there are as few as there will be.

use super::Parts;
use crate::channels::Channel;
use crate::forwarding::Forwarding;
use crate::protocol::{
    self, Decision, Judge, Learned, Protocol, RankSteps, SURELY_RENDEZVOUS, Send, Verdict,
};
use crate::shares::{Lists, Share, move_into, split};
use crate::step::{Step, StepKind, Tie, TieKind};
use kizami_model::Rank;
use kizami_parallel::map;
use std::sync::atomic::{AtomicU8, Ordering};

/// Who waits for the receiver of a message, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Awaited {
    /// Nobody.
    Never,
    /// Nobody did, but one would where there is less room.
    InModels,
    /// Its sender, until the receive is posted.
    Posted,
    /// Its sender, until the receiver is back in MPI: it announces that there.
    BackInMpi,
}

/// The same by place of the message. Each is written by the share of its sender alone.
struct AwaitedReceivers(Vec<AtomicU8>);

impl AwaitedReceivers {
    fn of(&self, place: usize) -> Awaited {
        match self.0[place].load(Ordering::Relaxed) {
            0 => Awaited::Never,
            1 => Awaited::InModels,
            2 => Awaited::Posted,
            _ => Awaited::BackInMpi,
        }
    }

    /// An unspecified rank waits, if no specific one does.
    fn raise(&self, place: usize, by: Awaited) {
        if by > self.of(place) {
            self.0[place].store(by as u8, Ordering::Relaxed);
        }
    }
}

impl Parts<'_> {
    /// Finds out which sends wait for their receivers, and leaves only the ties of those.
    pub(super) fn decide_who_waits(&mut self, steps: &mut [Step], shares: &mut [Share]) -> Vec<Protocol> {
        let ranks = self.rank_steps(steps.len());
        let lists = Lists { steps, shares };
        let channels = self.channels.list();
        let learned = protocol::learn(lists, &ranks, &self.channels, self.definitions, self.clocks);
        let awaited = AwaitedReceivers(bytemuck::zeroed_vec(learned.messages.places()));
        let announced_in_mpi = map(lists.shares, |share| {
            let judge = Judge::new(lists, share, &ranks, channels, &learned.messages, &learned.pairs);
            find_awaited(&judge, &learned, &awaited)
        });
        self.later.extend(announced_in_mpi.into_iter().flatten());
        keep_in_all(steps, shares, |tie| kept(tie, channels, &learned, &awaited));
        learned.protocols
    }

    /// Steps of each rank, by rank.
    fn rank_steps(&self, steps: usize) -> Vec<RankSteps> {
        let ranks = self.strands.iter().map(|strand| strand.rank.0 as usize + 1).max().unwrap_or(0);
        let mut of_ranks = vec![RankSteps::default(); ranks];
        let mut end = steps;
        for of_rank in self.strands.chunk_by(|a, b| a.rank == b.rank).rev() {
            let first = of_rank[0].first_step as usize;
            of_ranks[of_rank[0].rank.0 as usize] = RankSteps { first, end, one_thread: of_rank.len() == 1 };
            end = first;
        }
        of_ranks
    }

    /// What all ranks do in collectives that may pass through them.
    fn forwarding(&self, steps: &[Step], shares: &[Share]) -> Forwarding {
        let mut forwarding = Forwarding::default();
        if self.folding.is_some() {
            return forwarding;
        }
        for (rank, of_rank) in (0..).map(Rank).zip(self.rank_steps(steps.len())) {
            let share = shares.partition_point(|share| share.steps.end <= of_rank.first);
            let own = &steps[of_rank.first..of_rank.end];
            if let Some(share) = shares.get(share) {
                forwarding.add(rank, of_rank.first as u64, own, share, &self.collectives.members);
            }
        }
        forwarding
    }

    /// Ties of all shares in one list, those that were found behind their steps at its end.
    pub(super) fn all_ties(&mut self, steps: &mut [Step], mut shares: Vec<Share>) -> Vec<Tie> {
        let mut later = std::mem::take(&mut self.later);
        later.extend(std::mem::take(&mut self.locks).ties(&mut self.channels));
        let forwarding = self.forwarding(steps, &shares);
        later.extend(forwarding.ties(&self.collectives.members, &mut self.channels));
        let lengths: Vec<usize> = shares.iter().map(|share| share.steps.len()).collect();
        let own_steps = || lengths.iter().copied();
        let kept = map(shares.iter_mut().zip(split(steps, own_steps())), |(share, steps)| {
            let kept = share.ties.len();
            add_later_ties(share, steps, &later);
            share.ties.shrink_to_fit();
            kept
        });
        if let [one] = &mut shares[..] {
            return std::mem::take(&mut one.ties);
        }
        let added: Vec<usize> =
            shares.iter().zip(&kept).map(|(share, kept)| share.ties.len() - kept).collect();
        let mut ties: Vec<Tie> = bytemuck::zeroed_vec(kept.iter().chain(&added).sum());
        let (of_kept, of_added) = ties.split_at_mut(kept.iter().sum());
        let (mut before, mut behind) = (0, of_kept.len());
        let places = split(of_kept, kept.iter().copied()).zip(split(of_added, added.iter().copied()));
        let moves = places.map(|(kept, added)| {
            let moves = Moves { kept: kept.len(), before, behind };
            (before, behind) = (before + kept.len(), behind + added.len());
            (moves, kept, added)
        });
        let of_shares = shares.into_iter().zip(split(steps, own_steps())).zip(moves);
        map(of_shares, |((mut share, steps), (moves, kept, added))| {
            added.copy_from_slice(&share.ties[moves.kept..]);
            share.ties.truncate(moves.kept);
            move_into(share.ties, kept);
            steps.iter_mut().for_each(|step| step.first_tie = moves.of(step));
        });
        ties
    }
}

/// Where ties of a share go.
struct Moves {
    /// How many of them are not at the end of all.
    kept: usize,
    /// Where those begin.
    before: usize,
    /// Where the others begin.
    behind: usize,
}

impl Moves {
    /// Where the ties of a step begin. One without ties has none at the end of all, even if it is the last of its share.
    fn of(&self, step: &Step) -> u64 {
        let first = step.first_tie as usize;
        let is_kept = first < self.kept || step.ties == 0;
        let moved = if is_kept { first + self.before } else { first - self.kept + self.behind };
        moved as u64
    }
}

/// Of a run stored by rank class, whose times were worked out: large messages wait for their receivers where a model of the
/// network says so.
pub(super) fn let_large_wait_in_models(steps: &mut [Step], shares: &mut [Share]) -> Vec<Protocol> {
    keep_in_all(steps, shares, |tie| match tie.kind() {
        TieKind::Posts => (tie.bytes() > SURELY_RENDEZVOUS).then_some(tie),
        TieKind::AwaitsPost => {
            (tie.bytes() > SURELY_RENDEZVOUS).then_some(tie.as_kind(TieKind::MayAwaitPost))
        }
        _ => Some(tie),
    });
    Vec::new()
}

/// What is left of a tie when it is known who waits.
fn kept(tie: Tie, channels: &[Channel], learned: &Learned, awaited: &AwaitedReceivers) -> Option<Tie> {
    match tie.kind() {
        // Tags below zero are not those of messages.
        TieKind::Posts if channels[tie.place() as usize].tag >= 0 => {
            let awaited = awaited.of(learned.messages.place(tie));
            matches!(awaited, Awaited::InModels | Awaited::Posted).then_some(tie)
        }
        TieKind::AwaitsPost => match awaited.of(learned.messages.place(tie)) {
            Awaited::Never => None,
            Awaited::InModels => Some(tie.as_kind(TieKind::MayAwaitPost)),
            Awaited::Posted | Awaited::BackInMpi => Some(tie),
        },
        _ => Some(tie),
    }
}

/// Adds to steps of a partition the ties that were found behind them.
fn add_later_ties(share: &mut Share, steps: &mut [Step], later: &[(u64, Tie)]) {
    let first = share.steps.start;
    let own = later.iter().filter(|(step, _)| share.steps.contains(&(*step as usize)));
    let mut own: Vec<(u64, Tie)> = own.copied().collect();
    own.sort_by_key(|(step, _)| *step);
    for of_step in own.chunk_by(|a, b| a.0 == b.0) {
        let step = &mut steps[of_step[0].0 as usize - first];
        // Announcing ties come before awaiting ties.
        let mut all: Vec<Tie> = share.ties_of(step).to_vec();
        all.extend(of_step.iter().map(|(_, tie)| *tie));
        all.sort_by_key(|tie| !tie.kind().announces());
        step.first_tie = share.ties.len() as u64;
        step.ties += of_step.len() as u32;
        share.ties.extend(all);
    }
}

/// Finds who waits for the receivers of what a share sends. Receivers that are waited for until they are back in MPI announce
/// that with the ties that come out, by step.
fn find_awaited(judge: &Judge<'_>, learned: &Learned, awaited: &AwaitedReceivers) -> Vec<(u64, Tie)> {
    let mut announced_in_mpi = Vec::new();
    let mut sends = Vec::new();
    for step in judge.waiting() {
        let mut by_times = false;
        for tie in judge.ties_of(step) {
            let by = match tie.kind() {
                TieKind::AwaitsReady | TieKind::LooksReady => Awaited::Posted,
                TieKind::AwaitsPost if judge.surely_did_not_wait(step, *tie) => continue,
                TieKind::AwaitsPost => {
                    let ruling = learned.rules.of(&learned.pairs, *tie);
                    by_times |= ruling.by_times();
                    match ruling.decision {
                        Decision::Waits if learned.messages.posted(*tie).is_some() => Awaited::Posted,
                        Decision::Waits | Decision::ByTimes if tie.bytes() <= SURELY_RENDEZVOUS => continue,
                        Decision::Eager if tie.bytes() <= SURELY_RENDEZVOUS => continue,
                        _ => Awaited::InModels,
                    }
                }
                _ => continue,
            };
            awaited.raise(learned.messages.place(*tie), by);
        }
        if by_times {
            judge.step(step, &mut sends);
            for send in sends.iter().filter(|send| !judge.surely_did_not_wait(step, send.tie)) {
                if let Some(by) = waited(send, &sends, learned) {
                    let place = learned.messages.place(send.tie);
                    if let (Awaited::BackInMpi, Some(back)) = (by, send.back)
                        && awaited.of(place) != Awaited::BackInMpi
                    {
                        announced_in_mpi.push((back as u64, send.tie.as_kind(TieKind::Posts)));
                    }
                    awaited.raise(place, by);
                }
            }
        }
    }
    announced_in_mpi
}

/// What a send whose own times count waited for.
fn waited(send: &Send, of_step: &[Send], learned: &Learned) -> Option<Awaited> {
    let ruling = learned.rules.of(&learned.pairs, send.tie);
    let back = send.back.filter(|_| ruling.needs_receiver).map(|_| Awaited::BackInMpi);
    match (ruling.decision, send.verdict) {
        // All of this size wait: what was not over soon after was delayed by something else as well.
        (Decision::Waits, _) => back,
        (Decision::ByTimes, Verdict::WhenInMpi | Verdict::LateProgress) => back,
        (Decision::ByTimes, Verdict::InTime) => back.filter(|_| ruling.mostly_waits),
        (Decision::ByTimes, Verdict::AfterPost) if ruling.mostly_waits => back.or(Some(Awaited::Posted)),
        (Decision::ByTimes, Verdict::AfterPost) => send.soon.then_some(Awaited::Posted),
        // Whoever is waited for last hides the others.
        (Decision::ByTimes, Verdict::Hidden) => {
            let shows = |other: &Send| other.verdict == Verdict::AfterPost;
            (ruling.mostly_waits && of_step.iter().any(shows)).then_some(Awaited::Posted)
        }
        _ => None,
    }
}

/// Keeps some of the ties of all shares.
fn keep_in_all(steps: &mut [Step], shares: &mut [Share], kept: impl Fn(Tie) -> Option<Tie> + Sync) {
    let lengths: Vec<usize> = shares.iter().map(|share| share.steps.len()).collect();
    map(shares.iter_mut().zip(split(steps, lengths)), |(share, steps)| {
        keep(steps, &mut share.ties, &kept);
    });
}

/// Keeps some of the ties, or others in their place, and moves them together. Ties lie in the order of their steps but for
/// those of polls, which were given theirs when the call behind them was read.
fn keep(steps: &mut [Step], ties: &mut Vec<Tie>, kept: impl Fn(Tie) -> Option<Tie>) {
    let polling = steps.iter().enumerate().filter(|(_, step)| step.kind() == StepKind::Polling);
    let mut polling: Vec<(u64, usize)> = polling.map(|(index, step)| (step.first_tie, index)).collect();
    polling.sort_unstable();
    let mut polling = polling.into_iter().peekable();
    let mut end = 0;
    let mut move_ties = |step: &mut Step| {
        let own = step.first_tie as usize..step.first_tie as usize + step.ties as usize;
        let first = end;
        for index in own {
            if let Some(tie) = kept(ties[index]) {
                ties[end] = tie;
                end += 1;
            }
        }
        (step.first_tie, step.ties) = (first as u64, (end - first) as u32);
    };
    for index in 0..steps.len() {
        if steps[index].kind() == StepKind::Polling {
            continue;
        }
        while let Some((_, polls)) = polling.next_if(|(first, _)| *first < steps[index].first_tie) {
            move_ties(&mut steps[polls]);
        }
        move_ties(&mut steps[index]);
    }
    polling.for_each(|(_, polls)| move_ties(&mut steps[polls]));
    ties.truncate(end);
}
