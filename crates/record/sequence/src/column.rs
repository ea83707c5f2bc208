//! One number of each of many ranks, stored by the rules that give it.
//!
//! What is alike on all ranks is stored once, and so is what follows from a rank's place: the neighbour at a fixed
//! distance, the partner in a butterfly. The rule that covers most ranks holds for all that nothing else is said
//! about; others name their ranks as a few strided runs; what follows no rule is listed.
//!
//! ```text
//! (number of further rules * 2 + whether there is a list), the first rule, further rules each with its ranks, the list
//! rule    key (zigzag) * 4 + kind: 0 the key itself, 1 own rank + key modulo size, 2 own rank ^ key, 3 position + key
//! ranks   number of runs; for each: distance of its first from the last of the one before, length - 1, stride if longer than 1
//! list    its length; for each: distance of the position from the one before, the number (zigzag)
//! ```

use kizami_wire::varint::{self, Input, put};
use std::collections::BTreeMap;

/// Where a rank is in a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommPosition {
    /// Its rank there.
    pub rank: u32,
    /// How many there are, or for an inter-communicator how many on the other side.
    pub size: u32,
}

/// Further rules that are looked for.
const RULES_MOST: usize = 16;
/// A rule's key has room for two bits more.
const KEY_LIMIT: u64 = 1 << 60;
/// A rule for fewer ranks than this is not worth its ranks.
const WORTH: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Same,
    Shifted,
    Exchanged,
    Counted,
}

/// How a number is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    kind: Kind,
    key: i64,
}

impl Rule {
    /// The rules that give this number.
    fn all(number: i64, place: Option<CommPosition>, position: usize) -> impl Iterator<Item = Rule> {
        let inside = place.filter(|place| (0..i64::from(place.size)).contains(&number));
        let shifted = inside.map(|place| {
            let size = i64::from(place.size);
            Rule { kind: Kind::Shifted, key: (number - i64::from(place.rank)).rem_euclid(size) }
        });
        let exchanged =
            inside.map(|place| Rule { kind: Kind::Exchanged, key: number ^ i64::from(place.rank) });
        let counted = Rule { kind: Kind::Counted, key: number.wrapping_sub(position as i64) };
        let all = [Some(Rule { kind: Kind::Same, key: number }), shifted, exchanged, Some(counted)];
        all.into_iter().flatten().filter(|rule| rule.key.unsigned_abs() < KEY_LIMIT)
    }

    fn apply(self, place: Option<CommPosition>, position: usize) -> Option<i64> {
        match self.kind {
            Kind::Same => Some(self.key),
            Kind::Counted => Some(self.key.wrapping_add(position as i64)),
            Kind::Exchanged => Some(i64::from(place?.rank) ^ self.key),
            Kind::Shifted => {
                let place = place.filter(|place| place.size > 0)?;
                Some(i64::from(place.rank).checked_add(self.key)?.rem_euclid(i64::from(place.size)))
            }
        }
    }

    fn write(self, bytes: &mut Vec<u8>) {
        put(bytes, varint::zigzag(self.key) << 2 | self.kind as u64);
    }

    fn read(input: &mut Input<'_>) -> Option<Rule> {
        let number = input.number()?;
        let kind = [Kind::Same, Kind::Shifted, Kind::Exchanged, Kind::Counted][(number & 3) as usize];
        Some(Rule { kind, key: varint::unzigzag(number >> 2) })
    }
}

/// Stores one number for each position.
pub(crate) fn write(bytes: &mut Vec<u8>, numbers: &[i64], places: &[Option<CommPosition>]) {
    let place = |position: usize| places.get(position).copied().flatten();
    let mut left: Vec<usize> = (0..numbers.len()).collect();
    let mut rules: Vec<(Rule, Vec<usize>)> = Vec::new();
    while !left.is_empty() && rules.len() <= RULES_MOST {
        let mut found = BTreeMap::new();
        for &position in &left {
            for rule in Rule::all(numbers[position], place(position), position) {
                *found.entry(rule).or_insert(0usize) += 1;
            }
        }
        // The first of the best: rules are in the order in which they are preferred.
        let best = found.into_iter().rev().max_by_key(|&(_, count)| count);
        let Some((rule, _)) = best.filter(|&(_, count)| rules.is_empty() || count >= WORTH) else { break };
        let (covered, rest) = left
            .into_iter()
            .partition(|&position| rule.apply(place(position), position) == Some(numbers[position]));
        rules.push((rule, covered));
        left = rest;
    }
    if rules.is_empty() {
        rules.push((Rule { kind: Kind::Same, key: 0 }, Vec::new()));
    }
    let further = rules.len().saturating_sub(1) as u64;
    put(bytes, further << 1 | u64::from(!left.is_empty()));
    for (index, (rule, covered)) in rules.iter().enumerate() {
        rule.write(bytes);
        if index > 0 {
            write_set(bytes, covered);
        }
    }
    if !left.is_empty() {
        put(bytes, left.len() as u64);
        let mut before = 0;
        for position in left {
            put(bytes, (position - before) as u64);
            put(bytes, varint::zigzag(numbers[position]));
            before = position;
        }
    }
}

/// Reads a column on; returns the number at a position.
pub(crate) fn read(input: &mut Input<'_>, position: usize, place: Option<CommPosition>) -> Option<i64> {
    let head = input.number()?;
    let mut rule = Rule::read(input)?;
    for _ in 0..head >> 1 {
        let further = Rule::read(input)?;
        if Set::read(input)?.position_of(position).is_some() {
            rule = further;
        }
    }
    let mut listed = None;
    if head & 1 == 1 {
        let mut at = 0u64;
        for _ in 0..input.length()? {
            at = at.checked_add(input.number()?)?;
            let number = varint::unzigzag(input.number()?);
            if at == position as u64 {
                listed = Some(number);
            }
        }
    }
    listed.or_else(|| rule.apply(place, position))
}

/// A number's length in a column that is skipped.
pub(crate) fn skip(input: &mut Input<'_>) -> Option<()> {
    // The number itself may need a place; where the column ends does not.
    let mut probe = *input;
    read(&mut probe, usize::MAX, Some(CommPosition { rank: 0, size: 1 }))?;
    *input = probe;
    Some(())
}

/// Stores positions that go up.
pub(crate) fn write_set(bytes: &mut Vec<u8>, positions: &[usize]) {
    let mut runs = Vec::new();
    let mut rest = positions;
    while let [first, tail @ ..] = rest {
        let stride = tail.first().map_or(0, |second| second - first);
        let more = tail.iter().enumerate().take_while(|&(index, &next)| next == first + (index + 1) * stride);
        let more = more.count();
        runs.push((*first, more, stride));
        rest = &rest[more + 1..];
    }
    put(bytes, runs.len() as u64);
    let mut before = 0;
    for (first, more, stride) in runs {
        put(bytes, (first - before) as u64);
        put(bytes, more as u64);
        if more > 0 {
            put(bytes, stride as u64);
        }
        before = first + more * stride;
    }
}

/// Positions, as strided runs.
pub(crate) struct Set {
    /// First, how many more, stride.
    runs: Vec<(u64, u64, u64)>,
}

impl Set {
    pub(crate) fn read(input: &mut Input<'_>) -> Option<Set> {
        let mut before = 0u64;
        let mut runs = Vec::new();
        for _ in 0..input.length()? {
            let first = before.checked_add(input.number()?)?;
            let more = input.number()?;
            let stride = if more > 0 { input.number()? } else { 0 };
            if more > 0 && stride == 0 {
                return None;
            }
            before = first.checked_add(more.checked_mul(stride)?)?;
            runs.push((first, more, stride));
        }
        Some(Set { runs })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.runs.iter().fold(0u64, |sum, &(_, more, _)| sum.saturating_add(more).saturating_add(1))
    }

    /// The index in the set.
    pub(crate) fn position_of(&self, wanted: usize) -> Option<usize> {
        let wanted = wanted as u64;
        let mut before = 0u64;
        for &(first, more, stride) in &self.runs {
            if let Some(distance) = wanted.checked_sub(first)
                && distance.is_multiple_of(stride)
                && distance.checked_div(stride).unwrap_or(0) <= more
            {
                return usize::try_from(before + distance.checked_div(stride).unwrap_or(0)).ok();
            }
            before = before.checked_add(more)?.checked_add(1)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places(count: usize) -> Vec<Option<CommPosition>> {
        (0..count).map(|rank| Some(CommPosition { rank: rank as u32, size: count as u32 })).collect()
    }

    fn size(numbers: &[i64], places: &[Option<CommPosition>]) -> usize {
        let mut bytes = Vec::new();
        write(&mut bytes, numbers, places);
        for (position, &number) in numbers.iter().enumerate() {
            let mut input = Input::new(&bytes);
            assert_eq!(read(&mut input, position, places.get(position).copied().flatten()), Some(number));
            assert!(input.is_empty());
        }
        let mut input = Input::new(&bytes);
        skip(&mut input).expect("a whole column");
        assert!(input.is_empty());
        bytes.len()
    }

    #[test]
    fn neighbours_partners_and_roots_take_a_few_bytes() {
        let ranks = 1024i64;
        let column = |number: fn(i64) -> i64| (0..ranks).map(number).collect::<Vec<_>>();
        assert_eq!(size(&column(|_| 0), &places(1024)), 2);
        assert_eq!(size(&column(|rank| (rank + 1) % 1024), &places(1024)), 2);
        assert_eq!(size(&column(|rank| (rank + 1023) % 1024), &places(1024)), 3);
        assert_eq!(size(&column(|rank| rank ^ 64), &places(1024)), 3);
        // The left neighbour on a ring of 32 in each row.
        assert_eq!(size(&column(|rank| rank / 32 * 32 + (rank + 31) % 32), &places(1024)), 9);
        // The same where the row ends.
        assert_eq!(size(&column(|rank| if rank % 32 == 0 { -2 } else { rank - 1 }), &places(1024)), 8);
        assert_eq!(size(&[], &[]), 2);
    }

    proptest! {
        #[test]
        fn columns_survive_a_round_trip(
            numbers in prop::collection::vec(prop_oneof![8 => -4i64..40, 1 => any::<i32>().prop_map(i64::from), 1 => any::<i64>()], 1..100),
            with in any::<bool>(),
        ) {
            size(&numbers, &places(if with { numbers.len() } else { 0 }));
        }

        #[test]
        fn any_bytes_are_some_column_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = read(&mut Input::new(&bytes), 3, Some(CommPosition { rank: 3, size: 0 }));
            let _ = Set::read(&mut Input::new(&bytes)).map(|set| set.position_of(7).is_some() && set.count() > 3);
        }
    }
}
