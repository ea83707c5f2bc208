//! What is known of ties only when all rows have been read.

use super::{Parts, SURELY_RENDEZVOUS};
use crate::GraphError;
use crate::step::{Tie, TieKind};

impl Parts<'_> {
    /// Receives of small messages have told that they are posted, in case somebody waits for that: where nobody does,
    /// nobody need hear it.
    pub(super) fn forget_unwanted_posts(&mut self) {
        let Some(wanted) = self.synchronous.take() else { return };
        let channels = self.channels.list();
        let unwanted = |tie: &Tie| {
            tie.kind() == TieKind::Posts
                && tie.bytes() <= SURELY_RENDEZVOUS
                // Tags below zero are not those of messages.
                && channels[tie.place() as usize].tag >= 0
                && !wanted.contains(&tie.key)
        };
        for step in self.steps.as_mut_slice() {
            let own = step.first_tie as usize..step.first_tie as usize + step.ties as usize;
            let ties = &mut self.ties.as_mut_slice()[own];
            let mut kept = 0;
            for index in 0..ties.len() {
                if !unwanted(&ties[index]) {
                    ties[kept] = ties[index];
                    kept += 1;
                }
            }
            step.ties = kept as u32;
        }
    }

    /// Gives steps the ties that were found behind them.
    pub(super) fn add_later_ties(&mut self) -> Result<(), GraphError> {
        let mut later = std::mem::take(&mut self.later);
        later.extend(std::mem::take(&mut self.locks).ties(&mut self.channels));
        later.sort_by_key(|(step, _)| *step);
        for of_step in later.chunk_by(|a, b| a.0 == b.0) {
            let step = self.steps.at_mut(of_step[0].0 as usize);
            let own = step.first_tie as usize..step.first_tie as usize + step.ties as usize;
            step.first_tie = self.ties.len() as u64;
            step.ties += of_step.len() as u32;
            // What is told comes before what is awaited.
            let mut all: Vec<Tie> = self.ties[own].to_vec();
            all.extend(of_step.iter().map(|(_, tie)| *tie));
            all.sort_by_key(|tie| !tie.kind().tells());
            for tie in all {
                self.ties.push(tie)?;
            }
        }
        Ok(())
    }
}
