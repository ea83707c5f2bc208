//! What processes that seal one recording send each other.

use super::rank::{RankOutcome, RankReduced};
use kizami_wire::{Wire, wire_struct};

wire_struct!(RankOutcome {
    rank,
    calls,
    mpi_ns,
    overhead_ns,
    cores,
    off_core_ns,
    first_ns,
    last_ns,
    under_way,
    damage,
    stops,
    counts,
    reduced,
});

/// Recordings with reduced ranks are not divided.
impl Wire for RankReduced {
    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(_: &mut &[u8]) -> Option<RankReduced> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::{Length, Moment, Op, Peer, Rank, StopReason, ThreadIndex};
    use kizami_trace::definitions::{Stop, UnderWay};
    use kizami_wire::{decode, encode};
    use std::collections::BTreeMap;

    fn outcome() -> RankOutcome {
        let mut call = UnderWay::new(Rank(7), ThreadIndex(1), Op(3), Moment(-5));
        (call.peer, call.recv_peer, call.tag) = (Some(Peer::Any), Some(Peer::Rank(Rank(2))), Some(9));
        let stop = Stop {
            rank: Rank(7),
            thread: ThreadIndex(0),
            start: Moment(1),
            end: Moment(2),
            reason: StopReason::Lost,
            late: Some(Length(-3)),
            lost_calls: u64::MAX,
        };
        RankOutcome {
            rank: 7,
            calls: 11,
            mpi_ns: -1,
            cores: Some("0-3".to_owned()),
            off_core_ns: 5,
            first_ns: Some(i64::MIN),
            under_way: vec![call],
            damage: Some("segment vm.1.0.calls: 3 bytes".to_owned()),
            stops: vec![stop.clone(), stop],
            counts: BTreeMap::from([((1, 2), (3, 4)), ((5, 6), (7, 8))]),
            ..RankOutcome::default()
        }
    }

    #[test]
    fn outcomes_survive_the_round_trip() {
        let sent = vec![outcome(), RankOutcome::default()];
        let received: Vec<RankOutcome> = decode(&encode(&sent)).expect("a message");
        assert_eq!(format!("{received:?}"), format!("{sent:?}"));
    }
}
