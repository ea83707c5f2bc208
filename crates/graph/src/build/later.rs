//! What is known of ties only when all rows have been read.
//!
//! While rows are read every send awaits its receiver and every receive tells that it is posted. When it is known which
//! sends wait, the ties of all others go, and what is left moves together.

use super::Parts;
use crate::protocol::{
    self, Decision, Judge, Learned, Protocol, RankSteps, SURELY_RENDEZVOUS, Send, Verdict,
};
use crate::step::{Step, StepKind, Tie, TieKind};

/// Who waits for the receiver of a message, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    /// Nobody.
    Never,
    /// Nobody did, but one would where there is less room.
    InModels,
    /// Its sender, until the receive is posted.
    Posted,
    /// Its sender, until the receiver is back in MPI: it tells so there.
    BackInMpi,
}

impl Parts<'_> {
    /// Finds out which sends wait for their receivers, and leaves only the ties of those.
    pub(super) fn decide_who_waits(&mut self) -> Vec<Protocol> {
        let ranks = self.rank_steps();
        let lists = (&self.steps[..], &self.ties[..]);
        let learned =
            protocol::learn(lists, &self.waiting, &ranks, &self.channels, self.definitions, self.clocks);
        let judge = Judge::new(lists, &ranks, self.channels.list(), &learned.messages, &learned.pairs);
        let mut told_in_mpi = Vec::new();
        let awaited = awaited(&judge, &self.waiting, &learned, &mut told_in_mpi);
        let channels = self.channels.list();
        let kept = |tie: Tie| match tie.kind() {
            // Tags below zero are not those of messages.
            TieKind::Posts if channels[tie.place() as usize].tag >= 0 => {
                let awaited = awaited[learned.messages.place(tie)];
                matches!(awaited, Awaited::InModels | Awaited::Posted).then_some(tie)
            }
            TieKind::AwaitsPost => match awaited[learned.messages.place(tie)] {
                Awaited::Never => None,
                Awaited::InModels => Some(tie.as_kind(TieKind::MayAwaitPost)),
                Awaited::Posted | Awaited::BackInMpi => Some(tie),
            },
            _ => Some(tie),
        };
        keep(&mut self.steps, &mut self.ties, kept);
        self.later.extend(told_in_mpi);
        learned.protocols
    }

    /// Of a run told by kinds, whose times were worked out: large messages wait for their receivers where a model of the
    /// network says so.
    pub(super) fn let_large_wait_in_models(&mut self) -> Vec<Protocol> {
        let kept = |tie: Tie| match tie.kind() {
            TieKind::Posts => (tie.bytes() > SURELY_RENDEZVOUS).then_some(tie),
            TieKind::AwaitsPost => {
                (tie.bytes() > SURELY_RENDEZVOUS).then_some(tie.as_kind(TieKind::MayAwaitPost))
            }
            _ => Some(tie),
        };
        keep(&mut self.steps, &mut self.ties, kept);
        Vec::new()
    }

    /// Steps of each rank, by rank.
    fn rank_steps(&self) -> Vec<RankSteps> {
        let ranks = self.strands.iter().map(|strand| strand.rank.0 as usize + 1).max().unwrap_or(0);
        let mut steps = vec![RankSteps::default(); ranks];
        let mut end = self.steps.len();
        for of_rank in self.strands.chunk_by(|a, b| a.rank == b.rank).rev() {
            let first = of_rank[0].first_step as usize;
            steps[of_rank[0].rank.0 as usize] = RankSteps { first, end, one_thread: of_rank.len() == 1 };
            end = first;
        }
        steps
    }

    /// Gives steps the ties that were found behind them.
    pub(super) fn add_later_ties(&mut self) {
        let mut later = std::mem::take(&mut self.later);
        later.extend(std::mem::take(&mut self.locks).ties(&mut self.channels));
        later.sort_by_key(|(step, _)| *step);
        for of_step in later.chunk_by(|a, b| a.0 == b.0) {
            let step = &mut self.steps[of_step[0].0 as usize];
            let own = step.first_tie as usize..step.first_tie as usize + step.ties as usize;
            step.first_tie = self.ties.len() as u64;
            step.ties += of_step.len() as u32;
            // What is told comes before what is awaited.
            let mut all: Vec<Tie> = self.ties[own].to_vec();
            all.extend(of_step.iter().map(|(_, tie)| *tie));
            all.sort_by_key(|tie| !tie.kind().tells());
            for tie in all {
                self.ties.push(tie);
            }
        }
    }
}

/// Who waits for the receiver, by place of the message. Receivers that are waited for until they are back in MPI tell so
/// with the ties in `told_in_mpi`, by step.
fn awaited(
    judge: &Judge<'_>,
    waiting: &[u64],
    learned: &Learned,
    told_in_mpi: &mut Vec<(u64, Tie)>,
) -> Vec<Awaited> {
    let mut awaited = vec![Awaited::Never; learned.messages.places()];
    let mut sends = Vec::new();
    for step in waiting.iter().map(|index| &judge.steps[*index as usize]) {
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
            let known = &mut awaited[learned.messages.place(*tie)];
            *known = by.max(*known);
        }
        if by_times {
            judge.step(step, &mut sends);
            for send in sends.iter().filter(|send| !judge.surely_did_not_wait(step, send.tie)) {
                if let Some(by) = waited(send, &sends, learned) {
                    let known = &mut awaited[learned.messages.place(send.tie)];
                    if let (Awaited::BackInMpi, Some(back)) = (by, send.back)
                        && *known != Awaited::BackInMpi
                    {
                        told_in_mpi.push((back as u64, send.tie.as_kind(TieKind::Posts)));
                    }
                    *known = by.max(*known);
                }
            }
        }
    }
    awaited
}

/// What a send whose own times count waited for.
fn waited(send: &Send, of_step: &[Send], learned: &Learned) -> Option<Awaited> {
    let ruling = learned.rules.of(&learned.pairs, send.tie);
    let back = send.back.filter(|_| ruling.needs_receiver).map(|_| Awaited::BackInMpi);
    match (ruling.decision, send.verdict) {
        // All of this size wait: what was not over soon after was held up by something else as well.
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
