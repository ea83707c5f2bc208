//! Exact sums of all calls by class, and a weighted sample of them.

mod bins;
mod block;
pub mod draw;
pub mod estimate;
mod keep;
pub mod paper;
mod profile;
mod reducer;
mod settings;
mod slices;
mod state;
mod take;
mod varint;

pub use block::{BLOCK_BYTES, Block, DECADES, LONG_DECADE, PAYLOAD_WORDS, Sums};
pub use estimate::Estimate;
pub use keep::{CLASS_ROWS, LONG_ROWS, RARE_CALLS};
pub use profile::{Merged, Profile};
pub use reducer::{NO_PEER, Reducer, Row};
pub use settings::Settings;
pub use state::{
    KeptRow, Kind, Mark, Missing, Peer, PeerSums, Sketch, Slice, State, Unreadable, read, total,
};
pub use take::PART_BYTES;
