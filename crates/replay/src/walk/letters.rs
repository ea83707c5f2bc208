//! What processes tell each other, as bytes: numbers one behind the other, the lowest byte first.
//!
//! Letters are read by the version that has written them, so they have no names and no version. One that is cut short or
//! says what nobody writes gives nothing, never something else.

use super::collective_state::{CollectiveNews, ShareArrivals};
use super::exchange::{RemoteEvent, Standing};
use super::pending::Arrival;
use crate::lane_moment::LaneMoment;
use kizami_model::{Moment, Op, Rank};

/// A letter that is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letter(pub Vec<u8>);

/// What is left to read of a letter.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a>(pub &'a [u8]);

impl Letter {
    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    /// Adds a number that may be negative.
    pub fn signed(&mut self, number: i64) {
        self.0.extend(number.to_le_bytes());
    }

    /// Adds yes or no.
    pub(super) fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn small(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Letter, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }
}

impl Reading<'_> {
    /// The next number.
    pub fn number(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// The next number that may be negative.
    pub fn signed(&mut self) -> Option<i64> {
        self.bytes().map(i64::from_le_bytes)
    }

    /// Whether all has been read.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes::<1>().map(|[byte]| byte)
    }

    /// The next yes or no.
    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn small(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn moment(&mut self) -> Option<Moment> {
        self.signed().map(Moment)
    }

    /// Nothing if it cannot be read; in it, nothing if there was nothing.
    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }
}

impl Standing {
    pub(super) fn write(&self, letter: &mut Letter) {
        letter.flag(self.telling);
        letter.optional(self.next_start, |letter, start| letter.signed(start.0));
        for first in [self.first_parked, self.first_sender, self.first_held] {
            letter.optional(first, |letter, (end, strand)| {
                letter.signed(end.0);
                letter.small(strand);
            });
        }
        letter.flag(self.patient);
        letter.number(self.steps_done);
    }

    pub(super) fn read(letter: &mut Reading<'_>) -> Option<Standing> {
        let first = |letter: &mut Reading<'_>| letter.moment().zip(letter.small());
        Some(Standing {
            telling: letter.flag()?,
            next_start: letter.optional(Reading::moment)?,
            first_parked: letter.optional(first)?,
            first_sender: letter.optional(first)?,
            first_held: letter.optional(first)?,
            patient: letter.flag()?,
            steps_done: letter.number()?,
        })
    }
}

impl<const LANES: usize> Arrival<LANES> {
    fn write(&self, letter: &mut Letter) {
        letter.signed(self.recorded.0);
        self.replayed.iter().for_each(|at| letter.signed(at.0));
        letter.small(self.strand);
        letter.number(self.step);
    }

    fn read(letter: &mut Reading<'_>) -> Option<Arrival<LANES>> {
        let recorded = letter.moment()?;
        let mut replayed = [LaneMoment::default(); LANES];
        for at in &mut replayed {
            *at = LaneMoment(letter.signed()?);
        }
        Some(Arrival { recorded, replayed, strand: letter.small()?, step: letter.number()? })
    }
}

/// Which event it is.
const DEPARTED: u8 = 0;
const POSTED: u8 = 1;
const COLLECTIVE: u8 = 2;

impl<const LANES: usize> RemoteEvent<LANES> {
    pub(super) fn write(&self, letter: &mut Letter) {
        let mut one = |which, key: u64, arrival: &Arrival<LANES>| {
            letter.byte(which);
            letter.number(key);
            arrival.write(letter);
        };
        match self {
            RemoteEvent::Departed(key, arrival) => one(DEPARTED, *key, arrival),
            RemoteEvent::Posted(key, arrival) => one(POSTED, *key, arrival),
            RemoteEvent::Collective(news) => {
                letter.byte(COLLECTIVE);
                news.write(letter);
            }
        }
    }

    pub(super) fn read(letter: &mut Reading<'_>) -> Option<RemoteEvent<LANES>> {
        Some(match letter.byte()? {
            DEPARTED => RemoteEvent::Departed(letter.number()?, Arrival::read(letter)?),
            POSTED => RemoteEvent::Posted(letter.number()?, Arrival::read(letter)?),
            COLLECTIVE => RemoteEvent::Collective(CollectiveNews::read(letter)?),
            _ => return None,
        })
    }
}

impl<const LANES: usize> CollectiveNews<LANES> {
    fn write(&self, letter: &mut Letter) {
        letter.number(self.key);
        letter.small(self.op.0.into());
        letter.flag(self.mixed);
        letter.optional(self.root.as_ref(), |letter, root| root.write(letter));
        letter.optional(self.came.as_ref(), |letter, came| came.write(letter));
        letter.number(self.bytes);
    }

    fn read(letter: &mut Reading<'_>) -> Option<CollectiveNews<LANES>> {
        Some(CollectiveNews {
            key: letter.number()?,
            op: Op(letter.small()?.try_into().ok()?),
            mixed: letter.flag()?,
            root: letter.optional(Arrival::read)?,
            came: letter.optional(ShareArrivals::read)?,
            bytes: letter.number()?,
        })
    }
}

impl<const LANES: usize> ShareArrivals<LANES> {
    fn write(&self, letter: &mut Letter) {
        letter.small(self.count);
        self.last.write(letter);
        letter.number(self.each.len() as u64);
        for (rank, arrival) in &self.each {
            letter.small(rank.0);
            arrival.write(letter);
        }
    }

    fn read(letter: &mut Reading<'_>) -> Option<ShareArrivals<LANES>> {
        let (count, last, members) = (letter.small()?, Arrival::read(letter)?, letter.number()?);
        let member = |_| Some((Rank(letter.small()?), Arrival::read(letter)?));
        Some(ShareArrivals { count, last, each: (0..members).map(member).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn events_come_back<const LANES: usize>() {
        let events = events::<LANES>();
        let mut letter = Letter::default();
        events.iter().for_each(|event| event.write(&mut letter));
        let mut reading = Reading(&letter.0);
        let read: Vec<_> = events.iter().map(|_| RemoteEvent::<LANES>::read(&mut reading)).collect();
        assert!(reading.is_over());
        assert_eq!(format!("{:?}", read.into_iter().flatten().collect::<Vec<_>>()), format!("{events:?}"));
        let mut last = Letter::default();
        events[3].write(&mut last);
        for length in 0..last.0.len() {
            assert!(RemoteEvent::<LANES>::read(&mut Reading(&last.0[..length])).is_none(), "{length} bytes");
        }
    }

    #[test]
    fn what_is_written_comes_back_in_any_number_of_lanes() {
        events_come_back::<0>();
        events_come_back::<1>();
        events_come_back::<4>();
        events_come_back::<8>();
        assert!(RemoteEvent::<1>::read(&mut Reading(&[3; 99])).is_none(), "there is no such event");
    }

    #[test]
    fn standings_come_back() {
        let standing = Standing {
            telling: true,
            next_start: Some(Moment(-5)),
            first_parked: None,
            first_sender: Some((Moment(i64::MAX), 3)),
            first_held: Some((Moment(7), 0)),
            patient: true,
            steps_done: u64::MAX,
        };
        for standing in [standing, Standing::default()] {
            let mut letter = Letter::default();
            standing.write(&mut letter);
            assert_eq!(Standing::read(&mut Reading(&letter.0)), Some(standing));
            assert_eq!(Standing::read(&mut Reading(&letter.0[1..])), None);
        }
    }
}
