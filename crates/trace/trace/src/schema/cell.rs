//! How values are stored in columns.
//!
//! A type that can be a column says which kind of column it is, how it is written, and which values of a file it believes.

use crate::definitions::{ClockKind, CommIdentity, Pid};
use crate::reduced_tables::What;
use crate::task_tables::{Runtime, TaskKind, Waited};
use kizami_columns::{CellValues, Field, Kind, Names, TableError, TableReader, Values};
use kizami_model::{CommKind, Ending, Length, Moment, ObjectKind, Op, Peer, Rank, StopReason, ThreadIndex};

/// A value that has a column of its own.
pub trait Cell: Sized {
    /// What the column holds.
    const KIND: Kind;
    /// Whether values may be missing, for people. (Files allow it everywhere but in lists.)
    const NULLABLE: bool = false;

    /// The column of values.
    fn values<'a>(cells: impl Iterator<Item = &'a Self>) -> Values
    where
        Self: 'a;

    /// All values of a column that is in a file.
    fn read(table: &TableReader, name: &str) -> Result<Vec<Self>, TableError>;

    /// What a row of a trace has that was written before there was the column; none if it cannot be missing.
    fn before() -> Option<Self> {
        None
    }
}

/// Name and type of a column.
pub const fn field<C: Cell>(name: &'static str) -> Field {
    Field { name, kind: C::KIND, nullable: C::NULLABLE }
}

/// A value that is stored as a number or text, one in a row.
trait Plain: Sized {
    type Stored;
    fn stored(&self) -> Self::Stored;
    /// None for a value that makes no sense.
    fn believed(stored: &Self::Stored) -> Option<Self>;
}

/// A type that columns hold one of in a row.
trait Stored: Sized {
    fn values(cells: CellValues<Self>) -> Values;
    fn read(table: &TableReader, name: &str) -> Result<Vec<Option<Self>>, TableError>;
    /// For messages.
    fn shown(&self) -> String;
}

macro_rules! stored {
    ($($type:ty: $values:ident, $read:ident;)+) => { $(
        impl Stored for $type {
            fn values(cells: CellValues<$type>) -> Values {
                Values::$values(cells)
            }
            fn read(table: &TableReader, name: &str) -> Result<Vec<Option<$type>>, TableError> {
                table.$read(name)
            }
            fn shown(&self) -> String {
                format!("{self:?}")
            }
        }
    )+ };
}

stored! {
    i32: Int32, int32;
    i64: Int64, int64;
    f64: Double, double;
    String: Text, text;
}

/// Implements [`Cell`] for a plain type and for options of it.
macro_rules! plain {
    ($($type:ty: $kind:ident $stored:ty, |$value:ident| $store:expr, |$from:ident| $believe:expr;)+) => { $(
        impl Plain for $type {
            type Stored = $stored;
            fn stored(&self) -> $stored {
                let $value = self;
                $store
            }
            fn believed($from: &$stored) -> Option<$type> {
                $believe
            }
        }

        impl Cell for $type {
            const KIND: Kind = Kind::$kind;

            fn values<'a>(cells: impl Iterator<Item = &'a $type>) -> Values {
                Stored::values(CellValues::all(cells.map(Plain::stored)))
            }

            fn read(table: &TableReader, name: &str) -> Result<Vec<$type>, TableError> {
                let cells = <$stored as Stored>::read(table, name)?;
                cells.into_iter().map(|cell| must_be(table, name, cell)).collect()
            }
        }

        impl Cell for Option<$type> {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = true;

            fn values<'a>(cells: impl Iterator<Item = &'a Option<$type>>) -> Values {
                Stored::values(cells.map(|cell| cell.as_ref().map(Plain::stored)).collect())
            }

            fn read(table: &TableReader, name: &str) -> Result<Vec<Option<$type>>, TableError> {
                let cells = <$stored as Stored>::read(table, name)?;
                Ok(cells.iter().map(|cell| cell.as_ref().and_then(Plain::believed)).collect())
            }

            fn before() -> Option<Option<$type>> {
                Some(None)
            }
        }
    )+ };
}

/// A value that must be there and make sense.
fn must_be<P: Plain<Stored: Stored>>(
    table: &TableReader,
    name: &str,
    cell: Option<P::Stored>,
) -> Result<P, TableError> {
    let Some(stored) = cell else { return Err(table.damaged(format!("its column {name:?} has nulls"))) };
    let unknown = || table.damaged(format!("its column {name:?} has the unknown value {}", stored.shown()));
    P::believed(&stored).ok_or_else(unknown)
}

/// A count; one that no table holds is cut.
fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

plain! {
    i32: Int32 i32, |value| *value, |stored| Some(*stored);
    i64: Int64 i64, |value| *value, |stored| Some(*stored);
    f64: Double f64, |value| *value, |stored| Some(*stored);
    String: Text String, |value| value.clone(), |stored| Some(stored.clone());
    u32: Int32 i32, |value| *value as i32, |stored| u32::try_from(*stored).ok();
    u64: Int64 i64, |value| count(*value), |stored| u64::try_from(*stored).ok();
    Rank: Int32 i32, |rank| rank.0 as i32, |stored| u32::try_from(*stored).ok().map(Rank);
    ThreadIndex: Int32 i32, |thread| thread.0 as i32, |stored| u32::try_from(*stored).ok().map(ThreadIndex);
    Pid: Int64 i64, |pid| i64::from(pid.0), |stored| u32::try_from(*stored).ok().map(Pid);
    Moment: Int64 i64, |moment| moment.0, |stored| Some(Moment(*stored));
    Length: Int64 i64, |length| length.0, |stored| Some(Length(*stored));
    Peer: Int32 i32, |peer| peer.to_table().unwrap_or(UNKNOWN_MEMBER), |stored| Some(Peer::from_table(Some(*stored)));
    CommIdentity: Text String, |identity| format!("{:016x}", identity.0),
        |stored| u64::from_str_radix(stored, 16).ok().map(CommIdentity);
    // A function that this version does not know is shown as unknown.
    Op: Text String, |op| op.name().to_owned(), |stored| Some(Op::by_name(stored).unwrap_or(Op(0)));
    CommKind: Text String, |kind| kind.name().to_owned(), |stored| CommKind::from_name(stored);
    ObjectKind: Text String, |kind| kind.name().to_owned(), |stored| ObjectKind::from_name(stored);
    ClockKind: Text String, |kind| kind.name().to_owned(), |stored| ClockKind::from_name(stored);
    Ending: Text String, |ending| ending.name().to_owned(), |stored| Ending::from_name(stored);
    Runtime: Text String, |runtime| runtime.name().to_owned(), |stored| Runtime::from_name(stored);
    What: Text String, |what| what.name().to_owned(), |stored| What::from_name(stored);
    // A reason of a later version is another reason.
    StopReason: Text String, |reason| reason.name().to_owned(),
        |stored| Some(StopReason::from_name(stored).unwrap_or(StopReason::Other));
}

/// What each row of a column of names means. Of these columns there are so many rows that no text is made of each.
fn all_names<C: Copy>(
    table: &TableReader,
    name: &str,
    missing: Option<C>,
    meaning: impl Fn(&str) -> Option<C>,
) -> Result<Vec<C>, TableError> {
    let meaning = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        meaning(&text).ok_or_else(|| format!("the unknown value {text:?}"))
    };
    let names = Names { missing, meaning };
    let mut all = Vec::new();
    for group in 0..table.groups().len() {
        all.append(&mut table.names(group, name, &names)?);
    }
    Ok(all)
}

impl Cell for TaskKind {
    const KIND: Kind = Kind::Text;

    fn values<'a>(cells: impl Iterator<Item = &'a TaskKind>) -> Values {
        Values::Name(CellValues::all(cells.map(|kind| kind.name())))
    }

    fn read(table: &TableReader, name: &str) -> Result<Vec<TaskKind>, TableError> {
        all_names(table, name, None, TaskKind::from_name)
    }
}

impl Cell for Option<Waited> {
    const KIND: Kind = Kind::Text;
    const NULLABLE: bool = true;

    fn values<'a>(cells: impl Iterator<Item = &'a Option<Waited>>) -> Values {
        Values::Name(cells.map(|waited| waited.map(Waited::name)).collect())
    }

    fn read(table: &TableReader, name: &str) -> Result<Vec<Option<Waited>>, TableError> {
        all_names(table, name, Some(None), |text| Some(Waited::from_name(text)))
    }

    fn before() -> Option<Option<Waited>> {
        Some(None)
    }
}

/// Implements [`Cell`] for lists.
macro_rules! lists {
    ($($type:ty: $kind:ident $read:ident, |$value:ident| $store:expr, |$from:ident| $believe:expr;)+) => { $(
        impl Cell for Vec<$type> {
            const KIND: Kind = Kind::$kind;

            fn values<'a>(cells: impl Iterator<Item = &'a Vec<$type>>) -> Values {
                Values::$kind(cells.map(|list| list.iter().map(|$value| $store).collect()).collect())
            }

            fn read(table: &TableReader, name: &str) -> Result<Vec<Vec<$type>>, TableError> {
                let lists = table.$read(name)?.into_iter();
                Ok(lists.map(|list| list.into_iter().map(|$from| $believe).collect()).collect())
            }
        }
    )+ };
}

/// A member that left no definition.
const UNKNOWN_MEMBER: i32 = -3;

lists! {
    u32: Int32List int32_lists, |value| *value as i32, |stored| stored as u32;
    bool: BoolList bool_lists, |value| *value, |stored| stored;
    String: TextList text_lists, |value| value.clone(), |stored| stored;
    Option<Rank>: Int32List int32_lists, |rank| rank.map_or(UNKNOWN_MEMBER, |rank| rank.0 as i32),
        |stored| u32::try_from(stored).ok().map(Rank);
}
