//! Who waited for whom in a run, and who is to blame for it.
//!
//! [`Waits`] watches the first walk of a graph and keeps every wait, with its [`Pattern`]. [`blame()`] follows each back to what
//! the one waited for was doing meanwhile: computing, in a call, or waiting itself, which is passed on.
//!
//! Promises: every nanosecond of waiting that is kept is blamed on a rank, once. Of the same waits, the same is made whatever
//! the number of threads, to the last bit. Memory is in proportion to the number of waits, which is bounded, and of those who
//! were late for each: few, unless clocks of different hosts disagree.
//!
//! It does not know what is wrong with a program, or what mending it would gain.

mod agenda;
mod arrivals;
mod back;
mod blame;
mod case;
mod culprit;
mod culprits;
mod excesses;
mod inquiry;
mod late_complete;
mod lateness;
mod loads;
mod marks;
mod pair_interner;
mod pattern;
mod waits;

pub use back::before;
pub use blame::blame;
pub use culprit::{Blame, Blamed, Culprit, Doing, Excess, Fine, Occasion, Waited, middle};
pub use excesses::keep_longest;
pub use late_complete::divide;
pub use marks::{ByStep, RankSet};
pub use pair_interner::PairInterner;
pub use pattern::Pattern;
pub use waits::{Key, LongWait, Total, Waits};
