//! Threads of ranks: how much of their time is useful, and what becomes of the rest.
//!
//! A rank has as many threads as its widest parallel region. All of them have the time of the run; what they do not
//! compute in is lost, and each loss has a kind and a place ([`Loss`]). As POP has it, the useful part is a product:
//! what ranks are outside MPI, times what threads run of that ([`Threads`]).
//!
//! What a rank computes between two calls is made of parallel regions and serial parts. [`changes()`] says which of that
//! is shorter or longer if a loss is gone or there are other threads, step by step, so that a replay can show what the
//! run gains ([`ThreadChange`]).
//!
//! Promises: the useful time and all losses add up to the time of all threads, exactly.
//! It does not replay anything: a loss is what was lost, and gains are filled in by who replays.

mod account;
mod changes;
mod loss;
mod regions;
mod sharing;
mod spans;
mod strand;
mod threads;
mod window;

pub use changes::{AloneRun, ThreadChange, ThreadChanges, changed_alone, changes};
pub use loss::{Fix, Loss, LossKind};
pub use regions::Regions;
pub use sharing::Sharing;
pub use spans::{Chain, Spans};
pub use threads::Threads;
pub use window::Window;
