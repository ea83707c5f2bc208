//! The types of the model in messages.

use crate::{Wire, wire_newtype};
use kizami_model::{Length, Moment, Op, Peer, Rank, StopReason, ThreadIndex};

wire_newtype!(Rank, ThreadIndex, Moment, Length, Op);

impl Wire for StopReason {
    fn encode(&self, message: &mut Vec<u8>) {
        (*self as u8).encode(message);
    }

    fn decode(message: &mut &[u8]) -> Option<StopReason> {
        StopReason::from_number(u8::decode(message)?)
    }
}

impl Wire for Peer {
    fn encode(&self, message: &mut Vec<u8>) {
        self.to_table().encode(message);
    }

    fn decode(message: &mut &[u8]) -> Option<Peer> {
        Some(Peer::from_table(Wire::decode(message)?))
    }
}
