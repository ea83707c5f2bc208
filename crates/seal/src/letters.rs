//! What processes that seal together tell each other, as bytes.
//!
//! Both sides are the same version of this program, so there is nothing here that tells versions apart. A letter that makes
//! no sense is no letter.

use super::rank::{RankDrawn, RankOutcome, RankReduced};
use kizami_clock::Shift;
use kizami_model::{Length, Moment, Op, Peer, Rank, StopReason, ThreadIndex};
use kizami_trace::definitions::{Stop, UnderWay};
use kizami_trace::write::OpTotal;
use std::collections::BTreeMap;

/// Something that can be told in a letter.
pub(crate) trait Told: Sized {
    fn tell(&self, letter: &mut Vec<u8>);

    /// Takes it from the beginning of what is left of a letter.
    fn hear(letter: &mut &[u8]) -> Option<Self>;
}

/// A letter that tells one thing.
pub(crate) fn letter(thing: &impl Told) -> Vec<u8> {
    let mut letter = Vec::new();
    thing.tell(&mut letter);
    letter
}

/// What a letter tells, and that is all of it.
pub(crate) fn read<T: Told>(mut letter: &[u8]) -> Option<T> {
    T::hear(&mut letter).filter(|_| letter.is_empty())
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Told for $number {
            fn tell(&self, letter: &mut Vec<u8>) {
                letter.extend(self.to_le_bytes());
            }

            fn hear(letter: &mut &[u8]) -> Option<$number> {
                let (bytes, rest) = letter.split_first_chunk()?;
                *letter = rest;
                Some(<$number>::from_le_bytes(*bytes))
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, i32, i64);

macro_rules! wrapped {
    ($($kind:ident),+) => {$(
        impl Told for $kind {
            fn tell(&self, letter: &mut Vec<u8>) {
                self.0.tell(letter);
            }

            fn hear(letter: &mut &[u8]) -> Option<$kind> {
                Some($kind(Told::hear(letter)?))
            }
        }
    )+};
}

wrapped!(Rank, ThreadIndex, Moment, Length, Op);

/// Every field must be named.
macro_rules! fields {
    ($kind:ident: $($field:ident),+) => {
        impl Told for $kind {
            fn tell(&self, letter: &mut Vec<u8>) {
                let $kind { $($field),+ } = self;
                $($field.tell(letter);)+
            }

            fn hear(letter: &mut &[u8]) -> Option<$kind> {
                Some($kind { $($field: Told::hear(letter)?),+ })
            }
        }
    };
}

fields!(Stop: rank, thread, start, end, reason, late, lost_calls);
fields!(UnderWay: rank, thread, start, op, callsite, comm, peer, tag, recv_peer, recv_tag, root, object, requests);
fields!(OpTotal: rows, calls, total_ns, bytes_out, bytes_in, overhead_ns);
fields!(RankDrawn: importance, unfinished);
fields!(Shift: at_ns, shift_ns);
fields!(RankOutcome: rank, calls, mpi_ns, overhead_ns, first_ns, last_ns, under_way, damage, stops, counts, reduced, drawn);

/// Where ranks were reduced, nothing is divided.
impl Told for RankReduced {
    fn tell(&self, _: &mut Vec<u8>) {}

    fn hear(_: &mut &[u8]) -> Option<RankReduced> {
        None
    }
}

impl Told for StopReason {
    fn tell(&self, letter: &mut Vec<u8>) {
        (*self as u8).tell(letter);
    }

    fn hear(letter: &mut &[u8]) -> Option<StopReason> {
        StopReason::from_number(u8::hear(letter)?)
    }
}

impl Told for Peer {
    fn tell(&self, letter: &mut Vec<u8>) {
        self.to_table().tell(letter);
    }

    fn hear(letter: &mut &[u8]) -> Option<Peer> {
        Some(Peer::from_table(Told::hear(letter)?))
    }
}

impl<T: Told> Told for Option<T> {
    fn tell(&self, letter: &mut Vec<u8>) {
        u8::from(self.is_some()).tell(letter);
        self.iter().for_each(|thing| thing.tell(letter));
    }

    fn hear(letter: &mut &[u8]) -> Option<Option<T>> {
        Some(match u8::hear(letter)? {
            0 => None,
            _ => Some(T::hear(letter)?),
        })
    }
}

impl<T: Told> Told for Vec<T> {
    fn tell(&self, letter: &mut Vec<u8>) {
        (self.len() as u64).tell(letter);
        self.iter().for_each(|thing| thing.tell(letter));
    }

    fn hear(letter: &mut &[u8]) -> Option<Vec<T>> {
        let count = u64::hear(letter)?;
        (0..count).map(|_| T::hear(letter)).collect()
    }
}

impl Told for String {
    fn tell(&self, letter: &mut Vec<u8>) {
        (self.len() as u64).tell(letter);
        letter.extend(self.as_bytes());
    }

    fn hear(letter: &mut &[u8]) -> Option<String> {
        let length = usize::try_from(u64::hear(letter)?).ok()?;
        let (text, rest) = letter.split_at_checked(length)?;
        *letter = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl<A: Told, B: Told> Told for (A, B) {
    fn tell(&self, letter: &mut Vec<u8>) {
        self.0.tell(letter);
        self.1.tell(letter);
    }

    fn hear(letter: &mut &[u8]) -> Option<(A, B)> {
        Some((A::hear(letter)?, B::hear(letter)?))
    }
}

impl<K: Told + Ord, V: Told> Told for BTreeMap<K, V> {
    fn tell(&self, letter: &mut Vec<u8>) {
        (self.len() as u64).tell(letter);
        for (key, value) in self {
            key.tell(letter);
            value.tell(letter);
        }
    }

    fn hear(letter: &mut &[u8]) -> Option<BTreeMap<K, V>> {
        Some(Vec::<(K, V)>::hear(letter)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            first_ns: Some(i64::MIN),
            under_way: vec![call],
            damage: Some("segment vm.1.0.calls: 3 bytes".to_owned()),
            stops: vec![stop.clone(), stop],
            counts: BTreeMap::from([((1, 2), (3, 4)), ((5, 6), (7, 8))]),
            drawn: Some(RankDrawn { importance: 2, unfinished: 1 }),
            ..RankOutcome::default()
        }
    }

    #[test]
    fn what_is_told_is_heard() {
        let told = vec![outcome(), RankOutcome::default()];
        let heard: Vec<RankOutcome> = read(&letter(&told)).expect("a letter");
        assert_eq!(format!("{heard:?}"), format!("{told:?}"));
    }

    #[test]
    fn half_a_letter_or_more_than_one_is_none() {
        let whole = letter(&vec![outcome()]);
        for length in 0..whole.len() {
            assert!(read::<Vec<RankOutcome>>(&whole[..length]).is_none(), "{length}");
        }
        let more = [&whole[..], &[0]].concat();
        assert!(read::<Vec<RankOutcome>>(&more).is_none());
        assert!(read::<String>(&u64::MAX.to_le_bytes()).is_none());
    }
}
