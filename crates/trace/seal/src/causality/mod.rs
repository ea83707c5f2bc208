//! Messages that seem to arrive before they were sent: counting them, and repairing what clocks left.
//!
//! Sends are matched to receives over all ranks, in the order of time. A receive that ends before its send
//! began is a violation. Violations that remain with the corrected clocks are repaired by a controlled logical
//! clock (`shift`): the receiver's times from there on are moved later, by no more than needed, and the move
//! fades again. Where nothing is violated nothing is moved.
//!
//! It promises that no matched message arrives before it was sent once the repairs are applied, that the order
//! of events within a rank stays, and that memory is for messages under way, 16 bytes for each repair, and a
//! little for each rank.
//!
//! It looks at messages only, not at collectives. Ranks that lost calls or looked away cannot be matched by
//! order and are left out, with their partners' messages from and to them. A message that violates by far more
//! than the clocks can be wrong was matched wrongly, and is only counted.

mod spool;
mod walk;

use super::clock::RunClock;
use super::discover::Recorded;
use super::rank::RankOutcome;
use kizami_clock::Shift;
use kizami_model::{Length, Moment, Rank};
use kizami_trace::TraceError;
use kizami_trace::definitions::Repair;
use spool::Spool;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Messages against the order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Matched messages.
    pub messages: u64,
    /// Violations with hosts put side by side by wall clocks.
    pub by_wall_clock: u64,
    /// Violations with the clocks as sealed.
    pub violations: u64,
    /// Receives whose send was not found, and messages that must have been matched wrongly.
    pub doubtful: u64,
    /// By how much a violated rank was moved at most.
    pub largest_shift_ns: i64,
}

/// How far each rank is moved, and from when on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs {
    /// By rank; each in the order of time.
    pub by_rank: Vec<Vec<Shift>>,
}

impl Repairs {
    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.by_rank.iter().map(|shifts| shifts.len() as u64).sum()
    }

    /// The moves of one rank.
    pub(crate) fn of(&self, rank: usize) -> &[Shift] {
        self.by_rank.get(rank).map_or(&[], Vec::as_slice)
    }

    /// As rows of a table, at the times they have once they are applied.
    pub(crate) fn rows(&self) -> Vec<Repair> {
        let of_rank = |(rank, shifts): (u32, &Vec<Shift>)| {
            let row = move |shift: &Shift| Repair {
                rank: Rank(rank),
                at: Moment(shift.at_ns.saturating_add(shift.shift_ns)),
                shift: Length(shift.shift_ns),
            };
            shifts.iter().map(row).collect::<Vec<_>>()
        };
        (0..).zip(&self.by_rank).flat_map(of_rank).collect()
    }
}

/// Looks at all messages of the sealed parts `events`; `work` is a folder for what is needed meanwhile.
pub(crate) fn check(
    events: &[PathBuf],
    recorded: &Recorded,
    clock: &RunClock,
    outcomes: &[RankOutcome],
    work: &Path,
) -> Result<(Findings, Repairs), TraceError> {
    let complete: HashSet<u32> =
        outcomes.iter().filter(|rank| rank.is_complete()).map(|rank| rank.rank).collect();
    let spool = Spool::write(events, &complete, work)?;
    let hosts: Vec<usize> = recorded
        .ranks
        .iter()
        .map(|process| process.as_ref().and_then(|process| clock.host_of_process(process)).unwrap_or(0))
        .collect();
    let found = walk::walk(&spool, clock, &hosts);
    spool.remove()?;
    Ok(found)
}
