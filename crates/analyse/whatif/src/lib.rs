//! What could be different about a run, and what that would gain.
//!
//! A [`Change`] is one thing that can be different: the one type for options of `kizami replay`, for what findings and ideas
//! offer, and for what `run.json` says about a replayed trace. [`balance()`] works out what is different if work is spread over
//! ranks, within the [`Epochs`] of a run; [`Paces`], what is different if some ranks are as fast as the others. A [`Gain`] is the difference of two replays, with its error.
//!
//! It replays nothing, and does not know which change would help.

mod balance;
mod change;
mod epochs;
mod gain;
mod location;
mod pace;
mod values;

pub use balance::balance;
pub use change::{Change, ChangeError, Changes};
pub use epochs::{Epochs, each_call};
pub use gain::{Gain, NINE_IN_TEN, sum_error_ns};
pub use location::{Location, NoCallThere, sites_at};
pub use pace::Paces;
pub use values::{EagerLimit, ModelChange, RankList, ThreadCount, Times, ValueError};
