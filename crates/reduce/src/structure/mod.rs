//! The order of all calls, with loops folded.

mod block;
mod column;
mod dictionary;
mod fold;
mod folded;
mod lane;
mod operation;
mod read;
mod record;
mod recorder;
mod share;
mod signature;
mod varint;
mod window;

pub use block::Sizes;
pub use column::Place;
pub use folded::{Call, Calls, Folded, Shape};
pub use read::Damage;
pub use recorder::Recorder;
pub use share::{Shared, Sharing};
pub use signature::{Signature, VALUES_MOST};

#[cfg(test)]
mod tests;
