//! What messages and collectives cost.
//!
//! - [`LogGops`]: the model of a network with six parameters, and what one message takes in it;
//! - [`Messages`]: what one message costs, as a model has it or as it was measured ([`Curve`]s by size);
//! - [`collectives`]: collectives as algorithms over messages, and which one a library takes;
//! - [`Fit`]: what a recorded run says about its network. The walk of the run adds what each message took;
//! - [`Spread`]: to whom a program gives, where the function leaves that to the program;
//! - [`messages_of_collectives`]: what messages must cost for collectives to take what they took.
//!
//! When it is wrong: in [`LogGops`] messages have the network to themselves, so links that are shared by many are not
//! slower, and all ranks are equally far from each other; a library may take another algorithm for a collective than
//! the one chosen here. Networks with shared links are in the crate `platform`.
//!
//! It knows no trace, no graph and no rank's state, and reads and writes nothing.

mod calibrate;
pub mod collectives;
mod costs;
mod curve;
mod fit;
mod loggops;
mod messages;
mod spread;

pub use calibrate::{LARGE_BYTES, ObservedCollective, messages_of_collectives};
pub use costs::{CollectiveCall, Costs, FirstCalls, MeasuredCosts, Trust};
pub use curve::Curve;
pub use fit::Fit;
pub use loggops::LogGops;
pub use messages::{MeasuredMessages, Messages};
pub use spread::{Spread, Spreads};
