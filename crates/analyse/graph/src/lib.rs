//! The event graph of a run: who waits for whom.
//!
//! [`build()`] reads the rows of a trace once and turns each into a [`Step`] of fixed size with its *ties*: what it
//! announces to other ranks (a message leaves, a receive is posted, a rank enters a collective) and what it awaits
//! from them. Both sides of a tie carry the same key. Each rank finds its keys by counting for itself: messages by
//! communicator, sender, receiver and tag, collectives by communicator. So nothing has to be looked at together, and
//! steps stay in the order of the rows, one for each.
//!
//! A *strand* is the steps of one thread, in order. A walk of strands in which none passes a step before
//! everything it awaits has been announced is in happened-before order; that is what the `replay` crate does.
//!
//! Promises: no trace makes it fail, however odd. What cannot be followed keeps no ties and is counted in
//! [`Graph::not_followed`]. Memory: what one rank has open, one entry for each combination of communicator, sender,
//! receiver and tag, and the steps: where they do not fit, an allocator puts them elsewhere, as the command does.
//!
//! A run stored by rank class has a strand for each class. Messages are tied by the class that sends and how far they go, so
//! that several classes may await what one of them sends, and a class enters a collective once for all its ranks (`folding`).
//! Where its ranks come out differently, [`unfold`] gives each a strand of its own, over the same steps.
//!
//! It knows no costs and changes no times.

mod build;
mod cache;
mod channels;
mod check;
mod collectives;
mod error;
mod folding;
mod forwarding;
mod list;
mod locks;
pub mod protocol;
mod read;
mod shares;
mod step;
mod topology;
mod unfolding;
mod windows;

pub use build::Builder;
pub use cache::keep_no_graphs;
pub use channels::{Channel, ChannelIndex};
pub use collectives::{MemberClasses, Members, NO_MEMBERS};
pub use error::GraphError;
pub use folding::{Ask, Folding};
pub use list::List;
pub use protocol::{Clocks, Protocol};
pub use read::{RowObserver, build, build_unaligned, of_rows, read};
pub use step::{Exchanged, OffCore, Polls, Step, StepKind, Tie, TieKind};
pub use unfolding::{Unfolding, unfold};

use kizami_model::{Moment, Rank};
use std::sync::Arc;

/// The steps of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strand {
    /// Whose.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: u32,
    /// Index of its first step. [`Step::next`] leads on.
    pub first_step: u64,
    /// Whether it is the first of its rank: the one that started the others.
    pub first_of_rank: bool,
}

/// All steps of a run with their ties.
#[derive(Debug)]
pub struct Graph {
    /// One for each row, in the order of rows.
    pub steps: List<Step>,
    /// Of all steps; [`Step::ties`] says whose they are.
    pub ties: List<Tie>,
    /// By rank, then by first call.
    pub strands: Vec<Strand>,
    /// Ways messages take; keys of messages are made of their index and a number.
    pub channels: Vec<Channel>,
    /// Who takes part in the collectives of each communicator.
    pub members: Members,
    /// Whether sends wait for their receivers, by pair of hosts and size.
    pub protocols: Vec<Protocol>,
    /// Calls around which threads had no core, in the order of rows.
    pub off_core: Vec<OffCore>,
    /// Calls that may wait for others in a way that is not followed.
    pub not_followed: u64,
    /// Times of different ranks are not aligned: an awaited rank may come at any moment.
    pub clocks_unaligned: bool,
    /// Which ranks a strand stands for, in a run stored by rank class; none where every rank has its strands.
    pub folding: Option<Arc<Folding>>,
    /// Strands of all ranks have the steps of their classes, in a run stored by rank class; none where every step is of one
    /// strand. Ties of steps are then to be looked up by [`Graph::tie`].
    pub unfolding: Option<Unfolding>,
    /// What each strand awaits, in a run stored by rank class: every way once.
    pub asks: Vec<Ask>,
}

impl Graph {
    /// How many ranks the strands of this one stand for.
    #[inline]
    pub fn weight(&self, rank: Rank) -> u32 {
        self.folding.as_ref().map_or(1, |folding| folding.rank_classes.alike(rank))
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        match &self.folding {
            Some(folding) => folding.rank_classes.ranks(),
            None => self.strands.last().map_or(0, |strand| strand.rank.0 + 1),
        }
    }

    /// The ties of a step.
    #[inline]
    pub fn ties_of(&self, step: &Step) -> &[Tie] {
        let first = step.first_tie as usize;
        &self.ties[first..first + step.ties as usize]
    }

    /// A tie as a rank has it whose strands have the step.
    #[inline]
    pub fn tie(&self, rank: Rank, tie: Tie) -> Tie {
        self.unfolding.as_ref().map_or(tie, |unfolding| unfolding.of(rank, tie))
    }

    /// When the first step begins.
    pub fn begin(&self) -> Moment {
        let first = |strand: &Strand| self.steps[strand.first_step as usize].start;
        self.strands.iter().map(first).min().unwrap_or_default()
    }
}
