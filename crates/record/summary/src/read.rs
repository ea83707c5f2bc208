//! What a reducer knew, read from its block and from the parts that it handed over before.
//!
//! Any bytes can be given. What makes no sense is left out and counted as damage; nothing panics, and no more
//! memory is asked for than the bytes given are worth.
//!
//! A block of a process that was killed is as good as any: sums are off by at most the one call that was being
//! added, and a row is there as a whole or not at all.

use super::bins::BINS;
use super::block::{
    ALL, BLOCK_BYTES, Block, CLASSES, DECADES, KEY_OTHER, KEY_USED, KINDS, LIVE, LONG_DECADE, MAGIC, NO_PAGE,
    PAYLOAD_WORDS, PEERS, SAMPLED, SLOTS, SLOW, Sums, VERSION,
};
use super::gaps::kinds_of;
use super::keep::{RARE_CALLS, lower, rows_wished};
use super::slices::Entry;
use super::state::{Gap, KeptRow, Kind, Mark, Peer, PeerSums, Sketch, Slice, State, total};
use super::take::{CERTAIN, ROWS, SUMS};
use kizami_wire::varint::Input;
use std::collections::BTreeMap;

/// Why a block cannot be read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Shorter than a block.
    Short,
    /// Does not begin as a block does (also: made on a machine with another byte order).
    NoBlock,
    /// Made by another version.
    Version(u32),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Unreadable::Short => out.write_str("it is too short"),
            Unreadable::NoBlock => out.write_str("it does not begin as it should"),
            Unreadable::Version(version) => write!(out, "it is of version {version}"),
        }
    }
}

impl std::error::Error for Unreadable {}

/// How many calls were added in all.
pub fn calls(block: &[u8]) -> Result<u64, Unreadable> {
    Ok(copied(block)?.calls())
}

fn copied(block: &[u8]) -> Result<Box<Block>, Unreadable> {
    if block.len() < BLOCK_BYTES {
        return Err(Unreadable::Short);
    }
    let block = Block::copied(block);
    if block.magic != MAGIC {
        return Err(Unreadable::NoBlock);
    }
    if block.version != VERSION || block.bytes as usize != BLOCK_BYTES {
        return Err(Unreadable::Version(block.version));
    }
    Ok(block)
}

/// Reads a block and the parts its reducer handed over, in that order.
pub fn read<'a>(block: &[u8], parts: impl IntoIterator<Item = &'a [u8]>) -> Result<State, Unreadable> {
    let block = copied(block)?;
    let mut reading = Reading::begin(&block);
    for part in parts {
        if reading.part(part).is_none() {
            reading.state.missing.damage += 1;
        }
    }
    Ok(reading.end())
}

/// A part's epoch and rows, until it is known whether the epoch was handed over as a whole.
#[derive(Default)]
struct EpochRows {
    epoch: u64,
    rows: Vec<KeptRow>,
}

struct Reading<'a> {
    block: &'a Block,
    state: State,
    /// Index in `state.kinds` by place in the block.
    kind_at: Vec<Option<usize>>,
    next_entry: u64,
    mark_calls: u64,
    epochs: Vec<EpochRows>,
}

impl<'a> Reading<'a> {
    fn begin(block: &'a Block) -> Reading<'a> {
        let mut state = State {
            ticks_per_second: block.ticks_per_second,
            span: (block.first_start, block.last_start.saturating_add(1)),
            common: share(block.base),
            other_peers: peer_sums(&block.other_peers),
            ..State::default()
        };
        let missing = &mut state.missing;
        missing.calls_without_kind = block.calls_without_kind;
        missing.calls_without_bins = block.calls_without_bins;
        missing.calls_of_wrong_class = block.calls_of_wrong_class;
        missing.messages_without_peer = block.messages_without_peer;
        missing.rows_lost = block.rows_lost;
        for peer in block.peers[..PEERS].iter().filter(|peer| peer.key != 0) {
            let key = !peer.key;
            let (communicator, rank) = ((key >> 32) as u32, key as u32);
            state.peers.push(Peer { communicator, rank, sums: peer_sums(peer) });
        }
        state.peers.sort_unstable_by_key(|peer| (peer.communicator, peer.rank));
        let mut reading = Reading {
            block,
            state,
            kind_at: vec![None; KINDS],
            next_entry: 0,
            mark_calls: 0,
            epochs: Vec::new(),
        };
        reading.kinds();
        reading.gaps();
        reading
    }

    fn kinds(&mut self) {
        let mut used: Vec<usize> =
            (0..KINDS).filter(|&at| self.block.kinds[at].key & KEY_USED != 0).collect();
        used.sort_unstable_by_key(|&at| self.block.kinds[at].key);
        let mut taken = [false; CLASSES];
        for at in used {
            let kind = &self.block.kinds[at];
            let known = kind.key & KEY_OTHER == 0;
            let mut found = Kind {
                site: known.then_some((kind.key >> 24) as u32),
                op: Some((kind.key >> 8) as u16).filter(|&op| known || op != u16::MAX),
                size_class: known.then_some(kind.key as u8),
                ..Kind::default()
            };
            for (decade, &class) in kind.classes.iter().enumerate().filter(|(_, class)| **class != 0) {
                match taken.get_mut(usize::from(class)) {
                    Some(taken) if !*taken => *taken = true,
                    _ => {
                        self.state.missing.damage += 1;
                        continue;
                    }
                }
                let class = &self.block.classes[usize::from(class)];
                found.classes[decade] = class.sums;
            }
            if !known && found.op.is_none() {
                // What found no class at all is with the calls of whatever function.
                found.classes[0] = found.classes[0].plus(self.block.classes[0].sums);
            }
            found.sketch = self.sketch(&kind.pages);
            if found.sums() != Sums::default() {
                self.kind_at[at] = Some(self.state.kinds.len());
                self.state.kinds.push(found);
            }
        }
    }

    fn gaps(&mut self) {
        for gap in self.block.gaps.iter().filter(|gap| gap.key & KEY_USED != 0) {
            let (before, kind) = kinds_of(gap.key);
            let after = before.and_then(|before| self.kind_at.get(before).copied().flatten());
            match self.kind_at[kind] {
                Some(kind) => {
                    self.state.kinds[kind].gaps.push(Gap { after, calls: gap.calls, ticks: gap.ticks });
                }
                None => self.state.missing.damage += 1,
            }
        }
        let block = self.block;
        let places = (0..KINDS).filter_map(|at| Some((&block.kinds[at], self.kind_at[at]?)));
        for (kind, index) in places {
            let found = &mut self.state.kinds[index];
            let recorded = found.gaps.iter().fold(0u64, |sum, gap| sum.saturating_add(gap.calls));
            let calls = found.sums().calls.saturating_sub(recorded);
            // Class 0 is for what found no class at all.
            let classes = kind.classes.iter().filter(|class| **class != 0);
            let classes = classes.filter_map(|class| block.classes.get(usize::from(*class)));
            let mut ticks = classes.fold(0u64, |sum, class| sum.saturating_add(class.before_ticks));
            if found.op.is_none() {
                ticks = ticks.saturating_add(block.classes[0].before_ticks);
            }
            if calls > 0 {
                found.gaps.push(Gap { after: None, calls, ticks });
            }
            found.gaps.sort_unstable_by_key(|gap| gap.after);
        }
    }

    fn sketch(&self, pages: &[u16]) -> Sketch {
        let mut sketch = Sketch::default();
        for (octave, &page) in pages.iter().enumerate().filter(|(_, page)| !matches!(**page, 0 | NO_PAGE)) {
            let first = usize::from(page);
            for (bin, &calls) in self.block.bins.iter().skip(first).take(BINS).enumerate() {
                if calls != 0 {
                    sketch.bins.insert((octave * BINS + bin) as u16, u64::from(calls));
                }
            }
        }
        sketch
    }

    fn part(&mut self, part: &[u8]) -> Option<()> {
        let mut reader = Input::new(part);
        match reader.byte()? {
            SUMS => {
                let (first, entries) = (reader.number()?, reader.number()?);
                // What is still in the block is read from there.
                if first >= self.block.log >> 16 || first < self.next_entry {
                    return Some(());
                }
                self.next_entry = first.saturating_add(entries);
                self.entries(reader)
            }
            ROWS => {
                let (epoch, before, rows) = (reader.number()?, reader.number()?, reader.number()?);
                if epoch >= self.block.epoch {
                    return Some(());
                }
                if before == 0 {
                    self.epochs.retain(|known| known.epoch != epoch);
                    self.epochs.push(EpochRows { epoch, rows: Vec::new() });
                }
                for _ in 0..rows {
                    let row = self.row(&mut reader)?;
                    self.epochs.iter_mut().find(|known| known.epoch == epoch)?.rows.push(row);
                }
                Some(())
            }
            _ => None,
        }
    }

    fn row(&self, reader: &mut Input) -> Option<KeptRow> {
        let class = usize::try_from(reader.number()?).ok()?;
        let certain = reader.byte()? & CERTAIN != 0;
        let threshold = if certain { ALL } else { upper_half(reader.number()?)? };
        let (start_ticks, duration_ticks) = (reader.number()?, reader.number()?);
        let number = upper_half(reader.number()?)?;
        let words = reader.byte()?;
        let mut payload = [0; PAYLOAD_WORDS];
        for (index, word) in payload.iter_mut().enumerate() {
            if words >> index & 1 != 0 {
                *word = reader.word()?;
            }
        }
        let (kind, decade) = self.place(class)?;
        let probability = probability(threshold)?;
        Some(KeptRow {
            kind,
            decade,
            start_ticks,
            duration_ticks,
            number: share(number),
            probability,
            payload,
        })
    }

    /// Kind and decade of a class of the block.
    fn place(&self, class: usize) -> Option<(usize, usize)> {
        let class = self.block.classes.get(class)?;
        let kind = (*self.kind_at.get(usize::from(class.kind))?)?;
        Some((kind, usize::from(class.decade))).filter(|&(_, decade)| decade < DECADES)
    }

    fn entries(&mut self, mut reader: Input) -> Option<()> {
        while !reader.is_empty() {
            let usual = |kind: usize| (self.block.kinds[kind].bytes_out, self.block.kinds[kind].bytes_in);
            match Entry::read(&mut reader, usual)? {
                Entry::Mark { length_ticks, calls, ticks } => {
                    self.mark_calls = calls.unwrap_or(self.mark_calls);
                    let start = self.state.marks.last().map_or(self.state.span.0, |mark| mark.end);
                    let end = start.saturating_add(length_ticks);
                    self.state.marks.push(Mark { start, end, calls: self.mark_calls, ticks });
                }
                Entry::Slice { kind, length_ticks, classes } => {
                    let first = self.block.kinds[kind].first_start;
                    let kind = &mut self.state.kinds[self.kind_at[kind]?];
                    let start = kind.slices.last().map_or(first, |slice| slice.end);
                    kind.slices.push(Slice {
                        start,
                        end: start.saturating_add(length_ticks),
                        classes: *classes,
                    });
                }
            }
        }
        Some(())
    }

    fn end(mut self) -> State {
        let block = self.block;
        if self.entries(Input::new(&block.log_bytes[..block.log_length()])).is_none() {
            self.state.missing.damage += 1;
        }
        self.rest_of_sums();
        let mut rows: Vec<KeptRow> =
            std::mem::take(&mut self.epochs).into_iter().flat_map(|e| e.rows).collect();
        rows.extend(self.rows_in_block());
        rows.sort_unstable_by_key(|row| row.start_ticks);
        self.state.rows = rows;
        self.state
    }

    /// What is in no mark or slice makes one more of each.
    fn rest_of_sums(&mut self) {
        let end = self.state.span.1;
        let mut all = Sums::default();
        for kind in &mut self.state.kinds {
            let mut recorded = [Sums::default(); DECADES];
            for slice in &kind.slices {
                recorded = std::array::from_fn(|decade| recorded[decade].plus(slice.classes[decade]));
            }
            let over = (0..DECADES).any(|decade| recorded[decade].calls > kind.classes[decade].calls);
            self.state.missing.damage += u64::from(over);
            let rest = std::array::from_fn(|decade| kind.classes[decade].minus(recorded[decade]));
            all = all.plus(kind.sums());
            if total(&rest) != Sums::default() {
                let start = kind.slices.last().map_or(self.state.span.0, |slice| slice.end);
                kind.slices.push(Slice { start, end: end.max(start.saturating_add(1)), classes: rest });
            }
        }
        let marks = self.state.marks.iter();
        let recorded = marks.fold(Sums::default(), |sums, mark| {
            sums.plus(Sums { calls: mark.calls, ticks: mark.ticks, ..Sums::default() })
        });
        let rest = all.minus(recorded);
        if rest.calls != 0 || rest.ticks != 0 {
            let start = self.state.marks.last().map_or(self.state.span.0, |mark| mark.end);
            let end = end.max(start.saturating_add(1));
            self.state.marks.push(Mark { start, end, calls: rest.calls, ticks: rest.ticks });
        }
    }

    /// The rows of the epoch that was not handed over, as many as were wished for.
    fn rows_in_block(&mut self) -> Vec<KeptRow> {
        let block = self.block;
        let mut certain = Vec::new();
        let mut sampled: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in (1..SLOTS).filter(|&at| block.slots[at].state & LIVE != 0) {
            let slot = &block.slots[at];
            let class = usize::from(slot.class);
            if slot.epoch != block.epoch as u16 || class >= CLASSES {
                continue;
            }
            let below = slot.number < block.classes[class].threshold;
            if slot.state & SAMPLED != 0 && below {
                sampled.entry(class).or_default().push(at);
            } else if slot.state & SLOW != 0 {
                certain.push(at);
            }
        }
        let thresholds = self.thin(&mut sampled, &mut certain);
        let mut rows = Vec::new();
        let sampled = sampled.into_iter().flat_map(|(class, rows)| {
            let threshold = thresholds.get(&class).copied().unwrap_or(ALL);
            rows.into_iter().map(move |at| (at, threshold))
        });
        for (at, threshold) in certain.into_iter().map(|at| (at, ALL)).chain(sampled) {
            let slot = &block.slots[at];
            let threshold = if slot.state & SLOW != 0 { ALL } else { threshold };
            match (self.place(usize::from(slot.class)), probability(threshold)) {
                (Some((kind, decade)), Some(probability)) => rows.push(KeptRow {
                    kind,
                    decade,
                    start_ticks: slot.start,
                    duration_ticks: slot.duration,
                    number: share(slot.number),
                    probability,
                    payload: slot.payload,
                }),
                _ => self.state.missing.damage += 1,
            }
        }
        rows
    }

    /// Does to the last epoch what the reducer does to those it hands over. Returns the thresholds.
    fn thin(
        &self,
        sampled: &mut BTreeMap<usize, Vec<usize>>,
        certain: &mut Vec<usize>,
    ) -> BTreeMap<usize, u64> {
        let block = self.block;
        let number = |at: usize| block.slots[at].number;
        let calls = self.state.kinds.iter().fold(0u64, |sum, kind| sum.saturating_add(kind.sums().calls));
        let wish = rows_wished(block.rows_wish, calls.saturating_sub(block.epoch_calls));
        let mut thresholds: BTreeMap<usize, u64> =
            sampled.keys().map(|&class| (class, block.classes[class].threshold)).collect();
        for rows in sampled.values_mut() {
            rows.sort_unstable_by_key(|&at| number(at));
        }
        let mut limit = block.limit.min(super::keep::CLASS_ROWS);
        loop {
            let kept = certain.len() + sampled.values().map(Vec::len).sum::<usize>();
            if kept as u64 <= wish || limit == 0 {
                return thresholds;
            }
            limit = lower(limit);
            for (&class, rows) in sampled.iter_mut() {
                let rare = block.classes[class].sums.calls <= RARE_CALLS;
                if rare || usize::from(block.classes[class].decade) >= LONG_DECADE {
                    continue;
                }
                while rows.len() > limit as usize {
                    let largest = rows[rows.len() - 1];
                    if number(largest) < block.base {
                        thresholds.insert(class, block.base);
                        break;
                    }
                    thresholds.insert(class, number(largest));
                    rows.pop();
                    if block.slots[largest].state & SLOW != 0 {
                        certain.push(largest);
                    }
                }
            }
        }
    }
}

/// A threshold or number as a share of all.
fn share(number: u64) -> f64 {
    number as f64 / ALL as f64
}

/// A number of which the upper half was written.
fn upper_half(half: u64) -> Option<u64> {
    u32::try_from(half).ok().map(|half| u64::from(half) << 32)
}

/// How probable a row below this threshold is; none at all is below 0.
fn probability(threshold: u64) -> Option<f64> {
    match threshold {
        0 => None,
        ALL => Some(1.0),
        below => Some(share(below)),
    }
}

fn peer_sums(peer: &super::block::Peer) -> PeerSums {
    PeerSums {
        messages_out: peer.messages_out,
        bytes_out: peer.bytes_out,
        messages_in: peer.messages_in,
        bytes_in: peer.bytes_in,
    }
}
