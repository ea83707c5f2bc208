//! Clocks of different hosts: how far one is from another, how that changes, and how sure that is.
//!
//! Hosts ask each other for the time. Each answer gives a hard interval in which the offset lay
//! ([`Sample`]); the answers of one round together give a tighter one ([`Epoch`]). A [`ClockModel`] fits a
//! smooth line through the epochs of a run, and a [`Chain`] of models leads from a host to the root of the
//! tree of questions.
//!
//! It promises an estimate at any moment together with a bound that holds the truth, as long as clocks bend
//! no more between two epochs than [`ClockModel`] says; a mapping that never runs backwards; and finite
//! numbers for any input. All times are nanoseconds: "own" ones on the asking host's clock, "reference" ones
//! on the other's, both as that host counts them.
//!
//! A [`TickGrid`] is that way for the ticks of a counter, quick to look up, and a [`Mover`] repairs what no clock can: messages
//! that still seem to arrive before they were sent.
//!
//! It does no I/O, knows neither ranks nor messages, and queries no other clock: that is for its users.

mod chain;
mod epoch;
mod grid;
mod model;
mod shift;
mod smooth;

pub use chain::{Chain, Point};
pub use epoch::{Epoch, Sample};
pub use grid::TickGrid;
pub use model::{ClockModel, Estimate};
pub use shift::{Mover, Shift, shifted};

/// No two clocks are believed to run apart faster than this, in parts of a billion, until they were measured.
pub const UNMEASURED_DRIFT_PPB: f64 = 100_000.0;
