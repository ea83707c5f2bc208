//! Threads of ranks: how much of their time is useful, and what becomes of the rest.
//!
//! A rank has as many threads as its widest parallel region. All of them have the time of the run; what they do not
//! compute in is lost, and each loss has a kind and a place ([`Loss`]). As POP has it, the useful part is a product:
//! what ranks are outside MPI, times what threads run of that ([`Threads`]).
//!
//! Promises: the useful time and all losses add up to the time of all threads, exactly.
//! It does not replay anything: a loss is what was lost, not what mending it would gain.

mod account;
mod loss;
mod threads;
mod window;

pub use loss::{Loss, LossKind};
pub use threads::Threads;
