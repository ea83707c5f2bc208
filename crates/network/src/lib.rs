//! What messages and collectives cost.
//!
//! - [`LogGops`]: the model of a network with six parameters, and what one message takes in it;
//! - [`collectives`]: collectives as algorithms over messages, and which one a library takes;
//! - [`Fit`]: what a recorded run says about its network. Whoever walks the run tells it what each message took.
//!
//! When it is wrong: messages have the network to themselves, so links that are shared by many are not slower; all
//! ranks are equally far from each other; a library may take another algorithm for a collective than the one chosen
//! here.
//!
//! It knows no trace, no graph and no rank's state, and reads and writes nothing.

pub mod collectives;
mod fit;
mod loggops;

pub use fit::Fit;
pub use loggops::LogGops;
