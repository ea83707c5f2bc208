//! Rows read back, one after the other or some at a time.
//!
//! Only one part is open at a time and only one batch of its rows is in memory. Row groups whose ranks were
//! not asked for are not read at all, and of those in which ranks begin and end that were, only the rows between are put
//! together: many may read a trace at the same time, each a few of its ranks. Rows are put together column by column: what is
//! null costs nothing.

use crate::TraceError;
use crate::ranks_of_run::RanksOfRun;
use crate::schema::event_cell::{EventCell, InCall};
use crate::schema::events::event_columns;
use crate::write::building::List;
use bytes::Bytes;
use kizami_columns::TableReader;
use kizami_model::{Call, Length, Moment, Op, Peer, Rank, ThreadIndex};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

/// Rows decoded at a time: few enough to stay in the cache of a core until they are used.
const BATCH_ROWS: usize = 1 << 10;

/// Whose rows to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankSelection {
    /// Everybody's.
    All,
    /// One rank's.
    One(Rank),
    /// Those of a range of ranks.
    Range(RangeInclusive<u32>),
}

/// The rows of a trace, sorted by rank, then by start, read as they are asked for.
///
/// After an error there are no more rows.
pub struct Calls {
    parts: std::vec::IntoIter<Part>,
    ranks: RangeInclusive<i64>,
    /// Whose rows there can be, if that is known.
    run: Option<RanksOfRun>,
    /// The part being read, and its next row group.
    part: Option<(TableReader, usize)>,
    group: Option<Stretch>,
    /// Rows that were decoded, and the next of them.
    batch: Vec<Call>,
    next: usize,
    failed: bool,
}

/// Where the rows of a part lie.
enum Part {
    File(PathBuf),
    Memory(Bytes),
}

impl Calls {
    /// The rows of one part of `events/` that was read into memory, whatever it holds.
    pub fn in_memory(part: Vec<u8>) -> Calls {
        Calls::of_parts(vec![Part::Memory(part.into())], 0..=i64::MAX)
    }

    /// The rows of these parts of `events/`, in their order. Nobody has looked whether they are as they were written.
    pub fn of_files(parts: Vec<PathBuf>, selection: &RankSelection) -> Calls {
        let ranks = match selection {
            RankSelection::All => 0..=i64::MAX,
            RankSelection::One(rank) => i64::from(rank.0)..=i64::from(rank.0),
            RankSelection::Range(ranks) => i64::from(*ranks.start())..=i64::from(*ranks.end()),
        };
        Calls::of_parts(parts.into_iter().map(Part::File).collect(), ranks)
    }

    fn of_parts(parts: Vec<Part>, ranks: RangeInclusive<i64>) -> Calls {
        let (part, group, batch) = (None, None, Vec::new());
        Calls { parts: parts.into_iter(), ranks, run: None, part, group, batch, next: 0, failed: false }
    }

    /// Of a run with so many ranks: rows of others are refused, and peers that it does not have are unknown.
    pub(crate) fn of_run(self, run: RanksOfRun) -> Calls {
        Calls { run: Some(run), ..self }
    }

    /// The next rows, as many as are decoded at a time; none at the end. Not to be mixed with asking for single rows.
    pub fn next_batch(&mut self) -> Result<&[Call], TraceError> {
        self.decode()?;
        self.next = self.batch.len();
        Ok(&self.batch)
    }

    /// The same, put into a list of the caller; what was in it is lost.
    pub fn read_batch(&mut self, batch: &mut Vec<Call>) -> Result<(), TraceError> {
        std::mem::swap(&mut self.batch, batch);
        let decoded = self.decode();
        std::mem::swap(&mut self.batch, batch);
        self.batch.clear();
        decoded
    }

    /// Decodes the next rows into the batch; none at the end, or after an error.
    fn decode(&mut self) -> Result<(), TraceError> {
        self.next = 0;
        if self.failed {
            self.batch.clear();
            return Ok(());
        }
        let decoded = self.try_decode();
        if decoded.is_err() {
            self.failed = true;
            self.batch.clear();
        }
        decoded
    }

    fn try_decode(&mut self) -> Result<(), TraceError> {
        loop {
            if let (Some(group), Some((part, _))) = (&mut self.group, &self.part) {
                if group.read(&mut self.batch).map_err(|what| part.damaged(what))? {
                    if self.ranks != (0..=i64::MAX) {
                        self.batch.retain(|call| self.ranks.contains(&i64::from(call.rank.0)));
                    }
                    if let Some(run) = self.run {
                        let checked = self.batch.iter_mut().try_for_each(|call| run.row(call));
                        checked.map_err(|what| part.damaged(what))?;
                    }
                    if !self.batch.is_empty() {
                        return Ok(());
                    }
                    continue;
                }
                self.group = None;
            }
            if !self.next_group()? {
                self.batch.clear();
                return Ok(());
            }
        }
    }

    /// Opens the next row group with rows that are wanted; false at the end.
    fn next_group(&mut self) -> Result<bool, TraceError> {
        loop {
            let Some((part, next)) = &mut self.part else {
                let reader = match self.parts.next() {
                    Some(Part::File(path)) => TableReader::open(&path)?,
                    Some(Part::Memory(bytes)) => TableReader::in_memory(bytes, Path::new("(in memory)"))?,
                    None => return Ok(false),
                };
                self.part = Some((reader, 0));
                continue;
            };
            let index = *next;
            *next += 1;
            if index >= part.groups().len() {
                self.part = None;
                continue;
            }
            if wanted(part, index, &self.ranks) {
                self.group = Some(Stretch::open(part, index, &self.ranks)?);
                return Ok(true);
            }
        }
    }
}

impl Iterator for Calls {
    type Item = Result<Call, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.batch.len()
            && let Err(error) = self.decode()
        {
            return Some(Err(error));
        }
        let call = self.batch.get_mut(self.next)?;
        self.next += 1;
        Some(Ok(std::mem::replace(call, Call::BLANK)))
    }
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("ranks", &self.ranks).finish_non_exhaustive()
    }
}

/// Whether a row group may hold rows of these ranks. Without statistics it may.
fn wanted(part: &TableReader, group: usize, ranks: &RangeInclusive<i64>) -> bool {
    part.range(group, "rank").is_none_or(|held| {
        i64::from(*held.start()) <= *ranks.end() && i64::from(*held.end()) >= *ranks.start()
    })
}

macro_rules! group {
    ($($(#[doc = $doc:literal])+ $name:ident: $cell:ident, $($packing:ident)+ = $field:ident: $type:ty;)+) => {
        /// The columns of one row group.
        struct Group {
            $($name: Option<<$cell as EventCell>::Reader>,)+
        }

        impl Group {
            fn open(part: &TableReader, group: usize) -> Result<Group, TraceError> {
                // What may be null may also be missing: the trace is older than the column.
                Ok(Group {
                    $($name: match <$type as InCall<$cell>>::NULLABLE && !part.has_column(stringify!($name)) {
                        true => None,
                        false => Some(<$cell as EventCell>::open(part, group, stringify!($name))?),
                    },)+
                })
            }

            /// Decodes the next rows of all columns, at most so many; returns how many.
            fn decode(&mut self, most: usize) -> Result<usize, String> {
                let mut rows = None;
                $(if let Some(column) = &mut self.$name {
                    let count = <$cell as EventCell>::decode(column, most)?;
                    if *rows.get_or_insert(count) != count {
                        return Err("its columns have different lengths".to_owned());
                    }
                })+
                Ok(rows.unwrap_or(0))
            }

            /// Stores what was decoded in the calls.
            fn give(&mut self, calls: &mut [Call]) -> Result<(), String> {
                $(if let Some(column) = &mut self.$name {
                    <$cell as EventCell>::give(column, calls, |call| -> &mut $type { &mut call.$field })?;
                })+
                Ok(())
            }
        }
    };
}
event_columns!(group);

/// The rows of a row group from the first that is wanted to the last. There may be others between them.
struct Stretch {
    columns: Group,
    /// Rows before the first.
    before: usize,
    /// Rows that are still to be read, or more.
    left: usize,
}

impl Stretch {
    fn open(part: &TableReader, group: usize, ranks: &RangeInclusive<i64>) -> Result<Stretch, TraceError> {
        let columns = Group::open(part, group)?;
        let rows = rows_between(part, group, ranks).unwrap_or(0..usize::MAX);
        Ok(Stretch { columns, before: rows.start, left: rows.len() })
    }

    /// The next rows instead of those that were there; false if there are none.
    fn read(&mut self, rows: &mut Vec<Call>) -> Result<bool, String> {
        while self.before > 0 {
            match self.columns.decode(self.before.min(BATCH_ROWS))? {
                0 => return Ok(false),
                passed => self.before -= passed,
            }
        }
        let count = match self.left {
            0 => 0,
            left => self.columns.decode(left.min(BATCH_ROWS))?,
        };
        self.left -= count;
        rows.resize(count, Call::BLANK);
        for row in rows.iter_mut() {
            let mut completes = std::mem::take(&mut row.completes);
            completes.clear();
            *row = Call { completes, ..Call::BLANK };
        }
        self.columns.give(rows)?;
        Ok(count > 0)
    }
}

/// Where the rows of these ranks lie in a row group, as its column of ranks says; none if all of it is to be read.
fn rows_between(part: &TableReader, group: usize, ranks: &RangeInclusive<i64>) -> Option<Range<usize>> {
    // Rows of impossible ranks are returned when all are read.
    if *ranks.start() <= 0 && *ranks.end() >= i64::from(i32::MAX) {
        return None;
    }
    let is_wanted = |rank: &i32| ranks.contains(&i64::from(*rank));
    let held = part.range(group, "rank");
    if held.is_some_and(|held| is_wanted(held.start()) && is_wanted(held.end())) {
        return None;
    }
    // Whoever reads the rows will say what is wrong with them.
    let held = part.int32_group(group, "rank", None).ok()?;
    let (first, last) = (held.iter().position(is_wanted), held.iter().rposition(is_wanted));
    let (Some(first), Some(last)) = (first, last) else { return Some(0..0) };
    // Behind the last row of ranks there must be none of other columns either.
    Some(first..if last + 1 == held.len() { usize::MAX } else { last + 1 })
}
