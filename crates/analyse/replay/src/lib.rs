//! The one engine that walks the event graph of a run and gives every event a new time.
//!
//! [`replay`] walks all strands of a [`kizami_graph::Graph`] in happened-before order and works out when every step
//! would begin and end under one or several [`Setting`]s at once: each is a *lane* of the same walk, so that matching
//! is paid for once. [`Observer`]s see every step as it ends, with whom it waited for. [`retime()`] does that for
//! a whole trace, and [`undisturb()`] for the setting in which only the tracer is missing; both write the result as a
//! trace again.
//!
//! The rules, for each lane. Between calls: the gap, scaled as the setting says. A call that did not wait takes
//! what it took. One that waited for a message ends `max(start' + own, sent' + way)`, where the way is the recorded
//! one from the start of the send to the end of the receive, and `own` what receiving costs once the message is
//! there. One that waited in a collective ends as long after the last one came as recorded. On an ideal network
//! communication takes no time and only partners are waited for; in the LogGOPS model messages and collectives take
//! what [`kizami_network`] says.
//!
//! A [`Walk`] goes over the ranks in shares. Each share knows the others only through an [`exchange::Exchange`]; those of
//! [`replay`] are threads, those of [`replay_by`] can be the processes of a [`ProcessGroup`](kizami_process_group::ProcessGroup),
//! which is all that is known of MPI here.
//!
//! Promises: with nothing changed every time comes out exactly as recorded. The result does not depend on the number
//! of threads or processes, as long as ranks agree who is the root of a collective. No graph makes it hang: what never comes is given
//! up in the order of recorded time, and counted.
//! Memory is for what is under way and a fixed amount for each strand.
//!
//! It does not know where a program spends its time or why; that is for the crates that read what comes out.

mod error;
mod lane_moment;
mod learned;
mod marks;
mod prefetch;
mod rank_classes;
mod retime;
pub mod setting;
mod step_changes;
mod times;
mod undisturb;
mod walk;
pub mod work_interval;

pub use error::ReplayError;
pub use lane_moment::LaneMoment;
pub use learned::Progress;
pub use marks::Marks;
pub use prefetch::prefetch;
pub use retime::{ReplayFacts, Request, retime, retime_by};
pub use setting::{Factor, Network, Pieces, PlaceFactor, Setting};
pub use step_changes::{StepChange, StepChanges};
pub use times::{LastEnd, Times};
pub use undisturb::undisturb;
pub use walk::lane::communicates;
pub use walk::observer::{EndedStep, Message, Observer, Wait, WaitKind};
pub use walk::processes::{SentObserver, Workers, replay_by};
pub use walk::{Arrival, CollectiveNews, Replayed, ShareArrivals, Shares, Walk, exchange, learn, replay};
pub use work_interval::WorkInterval;
