//! What processes that walk one graph send each other.

use super::collective_state::{CollectiveNews, ShareArrivals};
use super::exchange::{RemoteEvent, Standing};
use super::pending::Arrival;
use crate::lane_moment::LaneMoment;
use kizami_wire::{Wire, wire_newtype, wire_struct};

wire_newtype!(LaneMoment);
wire_struct!(Standing {
    announcing,
    next_start,
    first_parked,
    first_sender,
    first_held,
    patient,
    steps_done
});
wire_struct!([const LANES: usize] Arrival<LANES> { recorded, replayed, strand, step });
wire_struct!([const LANES: usize] CollectiveNews<LANES> { key, op, mixed, root, came, bytes });
wire_struct!([const LANES: usize] ShareArrivals<LANES> { count, last, each });

/// Which event it is.
const DEPARTED: u8 = 0;
const POSTED: u8 = 1;
const COLLECTIVE: u8 = 2;

impl<const LANES: usize> Wire for RemoteEvent<LANES> {
    fn encode(&self, message: &mut Vec<u8>) {
        let mut one = |which: u8, key: u64, arrival: &Arrival<LANES>| {
            which.encode(message);
            key.encode(message);
            arrival.encode(message);
        };
        match self {
            RemoteEvent::Departed(key, arrival) => one(DEPARTED, *key, arrival),
            RemoteEvent::Posted(key, arrival) => one(POSTED, *key, arrival),
            RemoteEvent::Collective(news) => {
                COLLECTIVE.encode(message);
                news.encode(message);
            }
        }
    }

    fn decode(message: &mut &[u8]) -> Option<RemoteEvent<LANES>> {
        Some(match u8::decode(message)? {
            DEPARTED => RemoteEvent::Departed(Wire::decode(message)?, Wire::decode(message)?),
            POSTED => RemoteEvent::Posted(Wire::decode(message)?, Wire::decode(message)?),
            COLLECTIVE => RemoteEvent::Collective(Wire::decode(message)?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::{Moment, Op, Rank};
    use kizami_wire::{decode, encode};

    fn arrival<const LANES: usize>(seed: i64) -> Arrival<LANES> {
        Arrival {
            recorded: Moment(seed),
            replayed: std::array::from_fn(|lane| LaneMoment(i64::MIN + seed + lane as i64)),
            strand: u32::MAX - seed as u32,
            step: 1 << 40 | seed as u64,
        }
    }

    fn events<const LANES: usize>() -> Vec<RemoteEvent<LANES>> {
        let news =
            |root, came| CollectiveNews { key: 7, op: Op(645), mixed: true, root, came, bytes: 1 << 33 };
        let each = vec![(Rank(3), arrival(5)), (Rank(1 << 20), arrival(6))];
        vec![
            RemoteEvent::Departed(u64::MAX, arrival(1)),
            RemoteEvent::Posted(2, arrival(2)),
            RemoteEvent::Collective(news(None, None)),
            RemoteEvent::Collective(news(
                Some(arrival(3)),
                Some(ShareArrivals { count: 9, last: arrival(4), each }),
            )),
        ]
    }

    fn events_survive_the_round_trip<const LANES: usize>() {
        let (events, whole) = (events::<LANES>(), encode(&events::<LANES>()));
        let decoded: Option<Vec<RemoteEvent<LANES>>> = decode(&whole);
        assert_eq!(format!("{decoded:?}"), format!("{:?}", Some(events)));
        for length in 0..whole.len() {
            assert!(decode::<Vec<RemoteEvent<LANES>>>(&whole[..length]).is_none(), "{length} bytes");
        }
    }

    #[test]
    fn events_of_any_number_of_lanes_survive_the_round_trip() {
        events_survive_the_round_trip::<0>();
        events_survive_the_round_trip::<1>();
        events_survive_the_round_trip::<4>();
        events_survive_the_round_trip::<8>();
        assert!(RemoteEvent::<1>::decode(&mut &[3; 99][..]).is_none(), "there is no such event");
    }

    #[test]
    fn standings_survive_the_round_trip() {
        let standing = Standing {
            announcing: true,
            next_start: Some(Moment(-5)),
            first_parked: None,
            first_sender: Some((Moment(i64::MAX), 3)),
            first_held: Some((Moment(7), 0)),
            patient: true,
            steps_done: u64::MAX,
        };
        for standing in [standing, Standing::default()] {
            let message = encode(&standing);
            assert_eq!(decode(&message), Some(standing));
            assert_eq!(decode::<Standing>(&message[1..]), None);
        }
    }
}
