//! What is known of a strand in lanes that need to know more than when its calls begin and end: those that hide waits
//! behind computation, and those with a model of the network.

use super::lane::Lane;
use super::lanes::LaneSet;
use crate::lane_moment::LaneMoment;
use crate::setting::Pieces;
use kizami_model::Length;

/// A table of such states by strand and lane; empty if no lane needs them.
pub(super) fn states<T: Copy + Default, const LANES: usize>(
    lanes: LaneSet,
    strands: usize,
) -> Vec<[T; LANES]> {
    vec![[T::default(); LANES]; if lanes.is_empty() { 0 } else { strands }]
}

/// A strand in a lane that hides waits behind computation.
#[derive(Clone, Copy)]
pub(super) struct Overlap {
    /// When the step would begin if no rank had been waited for in the overlapped calls right before it.
    pub unheld: LaneMoment,
    /// When the overlapped call right before it is over, and the last piece of computation behind it is done.
    pub held: LaneMoment,
    /// From when on the computation behind the call before is under way: where its wait is overlapped, before its end.
    pub free: LaneMoment,
    /// In how many pieces that computation is done, where it is overlapped.
    pub pieces: Pieces,
}

impl Default for Overlap {
    fn default() -> Overlap {
        Overlap {
            unheld: LaneMoment::default(),
            held: LaneMoment::MINUS_INFINITY,
            free: LaneMoment::default(),
            pieces: Pieces::Endless,
        }
    }
}

impl Overlap {
    /// A gap, and then a step at a place, follow a call that ended then.
    pub(super) fn follow(&mut self, lane: &Lane, site: Option<u32>, end: LaneMoment, gap: Length) {
        // What is overlapped together is worked on behind the last wait of all.
        let last_piece = match lane.overlaps(site) {
            Some(_) => Length::ZERO,
            None => self.pieces.last(gap),
        };
        self.held = end.saturating_add(last_piece);
    }

    /// When a step begins that would begin at `start`: not before the call before it is over, however much of that was
    /// overlapped.
    pub(super) fn hold(&mut self, start: LaneMoment, last_end: Option<LaneMoment>) -> LaneMoment {
        self.unheld = start;
        match last_end {
            Some(end) if self.free < end => start.max(end).max(self.held),
            _ => start,
        }
    }
}

/// A strand in a lane with a model of the network.
#[derive(Clone, Copy)]
pub(super) struct InModel {
    /// When it is done with its own messages.
    pub busy_until: LaneMoment,
    /// When the network takes the next message.
    pub network_free: LaneMoment,
    /// When the last message of the step left, or asked for its receiver.
    pub left: LaneMoment,
    /// What taking messages costs.
    pub handling: Length,
}

impl Default for InModel {
    fn default() -> InModel {
        InModel {
            busy_until: LaneMoment::default(),
            network_free: LaneMoment::MINUS_INFINITY,
            left: LaneMoment::MINUS_INFINITY,
            handling: Length::ZERO,
        }
    }
}

impl InModel {
    /// A step begins.
    pub(super) fn begin(&mut self, start: LaneMoment) {
        *self = InModel { busy_until: start, network_free: self.network_free, ..InModel::default() };
    }
}
