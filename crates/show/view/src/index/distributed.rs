//! Building an index by several processes: each reads and packs its partition of the row groups, the first writes them.
//!
//! They go in rounds of a few groups each, so that neither rows that are not packed yet nor messages grow with the run. In
//! each round all tell each other which kinds of rows are new to them, and give them the same numbers; then rows are packed
//! with those and sent to the first. Adding up shares of time, a tenth of the work, is left to the first.

use super::block::{BLOCK_ROWS, Row, pack};
use super::build::{Kinds, Packed, READING, RankBlocks, Ranks, Source, finish};
use super::file::{Room, Unfinished};
use super::kind::Kind;
use kizami_process_group::ProcessGroup;
use kizami_trace::{Span, Stop, Trace, TraceError};
use kizami_wire::{Bytes, decode, encode, wire_struct};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Groups a process reads in a round, at most,
const GROUPS_OF_A_ROUND: usize = 16;
/// and all processes together, unless there are more of them: the first gets all of a round at once.
const GROUPS_OF_ALL: usize = 256;

/// Rows of one rank in a group.
struct Piece {
    rank: u32,
    thread: u32,
    rows: Vec<Row>,
}

/// Packed rows of one group.
struct Group {
    number: u64,
    pieces: Vec<RankBlocks>,
    bytes: Bytes,
}

wire_struct!(Group { number, pieces, bytes });

/// Makes an index that is kept in the trace if there is room for it.
pub(super) fn build(
    source: &impl Source,
    trace: &Trace,
    ranks: Ranks<'_>,
    stops: &[Stop],
    group: &dyn ProcessGroup,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<(), TraceError> {
    let (groups, own) = (source.groups(), group.partition(source.groups()));
    let each = (GROUPS_OF_ALL / group.size()).clamp(1, GROUPS_OF_A_ROUND);
    let rounds = groups.div_ceil(group.size()).div_ceil(each);
    let mut numbers = Numbers::default();
    let mut written = match group.is_first() {
        true => Some(Written::begin(trace)),
        false => None,
    };
    for round in 0..rounds {
        let begin = (own.start + round * each).min(own.end);
        let read = read(source, begin..(begin + each).min(own.end), ranks, &numbers.own)?;
        numbers.agree(group);
        let packed: Vec<Group> =
            read.into_par_iter().map(|(number, pieces)| numbers.pack(number, pieces)).collect();
        let messages = group.gather(encode(&packed));
        if let Some(written) = &mut written {
            for message in &messages {
                written.add(decode(message).ok_or_else(|| {
                    TraceError::damaged(trace.path(), "another process sent rows that cannot be decoded")
                })?);
            }
            progress(READING * (round + 1) as f64 / rounds as f64);
        }
    }
    match written {
        Some(written) => written.finish(numbers.all.all(), ranks, stops, progress),
        None => Ok(()),
    }
}

type ReadGroup = (u64, Vec<Piece>);

fn read(
    source: &impl Source,
    groups: Range<usize>,
    ranks: Ranks<'_>,
    kinds: &Kinds,
) -> Result<Vec<ReadGroup>, TraceError> {
    let read = |group: usize| {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut known = FxHashMap::default();
        source.read(group, |span: Span| {
            let Some(rank) = ranks.place(span.rank) else { return };
            let kind = *known
                .entry((span.op.0, span.site, span.thread, span.part))
                .or_insert_with(|| kinds.number(Kind::new(span.op, span.site, span.thread, span.part)));
            let row = Row { start_ns: span.start_ns, end_ns: span.end_ns.max(span.start_ns), kind };
            match pieces.last_mut() {
                Some(last) if last.rank == rank => last.rows.push(row),
                _ => pieces.push(Piece { rank, thread: span.thread, rows: vec![row] }),
            }
        })?;
        Ok((group as u64, pieces))
    };
    groups.into_par_iter().map(read).collect()
}

/// Numbers of kinds, in this process and in all.
#[derive(Default)]
struct Numbers {
    own: Kinds,
    all: Kinds,
    /// By the number in this process.
    of_all: Vec<u32>,
}

impl Numbers {
    /// Exchanges with the others which kinds are new.
    fn agree(&mut self, group: &dyn ProcessGroup) {
        let new = self.own.since(self.of_all.len());
        for message in group.all_gather(bytemuck::cast_slice(&new).to_vec()) {
            for kind in message.chunks_exact(size_of::<Kind>()) {
                self.all.number(bytemuck::pod_read_unaligned(kind));
            }
        }
        self.of_all.extend(new.into_iter().map(|kind| self.all.number(kind)));
    }

    fn pack(&self, number: u64, pieces: Vec<Piece>) -> Group {
        let mut bytes = Vec::new();
        let pack_piece = |mut piece: Piece| {
            piece.rows.iter_mut().for_each(|row| row.kind = self.of_all[row.kind as usize]);
            let blocks = piece.rows.chunks(BLOCK_ROWS).map(|rows| pack(rows, &mut bytes)).collect();
            RankBlocks { rank: piece.rank, thread: piece.thread, blocks }
        };
        let pieces = pieces.into_iter().map(pack_piece).collect();
        Group { number, pieces, bytes: Bytes(bytes) }
    }
}

/// What the first process has written. If it cannot, the others must not wait for it: it receives their messages all the same.
struct Written {
    file: Result<Unfinished, TraceError>,
    groups: Vec<(u64, Vec<RankBlocks>)>,
    bytes: u64,
}

impl Written {
    fn begin(trace: &Trace) -> Written {
        Written { file: Unfinished::create(trace, Room::Kept), groups: Vec::new(), bytes: 0 }
    }

    fn add(&mut self, groups: Vec<Group>) {
        for mut group in groups {
            let wrote = match &self.file {
                Ok(file) => file.write(self.bytes, &group.bytes.0),
                Err(_) => return,
            };
            if let Err(error) = wrote {
                self.file = Err(error);
                return;
            }
            for block in group.pieces.iter_mut().flat_map(|piece| &mut piece.blocks) {
                block.offset += self.bytes;
            }
            self.bytes += group.bytes.0.len() as u64;
            self.groups.push((group.number, group.pieces));
        }
    }

    /// What found no room is made again, elsewhere, by whoever needs it.
    fn finish(
        mut self,
        kinds: Vec<Kind>,
        ranks: Ranks<'_>,
        stops: &[Stop],
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<(), TraceError> {
        self.groups.sort_by_key(|(number, _)| *number);
        let pieces = self.groups.into_iter().flat_map(|(_, pieces)| pieces).collect();
        let packed = Packed { pieces, kinds, bytes: self.bytes };
        match self.file.and_then(|file| finish(file, packed, ranks, stops, progress)) {
            Ok(_) | Err(TraceError::Write { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
