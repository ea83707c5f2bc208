//! What runs a program: a heap of terms, goals, and the rules of looking and binding.
//!
//! [`run`](run::run) goes through goals one after another, in any order; times are worked out from values and from the
//! times of what a goal looked at, and never from the order.

mod bind;
mod blocked;
mod collect;
mod compute;
mod goals;
mod heap;
mod look;
mod profile;
mod run;
mod text;
mod word;

pub(crate) use run::run;
pub(crate) use word::{LARGEST, Word};
