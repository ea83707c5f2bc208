//! What a program does, apart from how many ranks do it.
//!
//! The calls of each rank are folded into loops (`fold`); ranks that do the same form a class (`rank_classes`); what depends on
//! the number of ranks becomes a formula in it: how often loops go round and how many bytes move (`numbers`), and whom a
//! rank talks to (`peers`). From that the calls of a run with another number of ranks are made (`generate`).
//!
//! Promises: a formula holds for every rank and every occurrence in all runs it was made from, or there is none and the
//! place is named. It does not guess: wildcards whose senders differ, communicators of some of the ranks, and several
//! threads of a rank are refused.

mod calls;
mod fold;
mod numbers;
mod observed;
mod peers;
mod program;
mod rank_classes;

pub(crate) use calls::takes_part;
pub use calls::{Item, RankCalls, RunCalls, Token, Tokens, means_the_same};
pub use fold::{Node, fold};
pub use numbers::{CountFormula, Factor, SizeFormula};
pub use peers::{Grid, PeerFormula, dims};
pub use program::{Leaf, Part, Program, RankClass, RunTiming, Timing};
pub use rank_classes::Scheme;
