//! A table declared once: its record, its file, its columns and what they mean.
//!
//! [`table!`](crate::table) makes the struct that programs use and everything that knows its columns: writing, reading, and
//! the list of columns in the book. A column is a field: its type says how it is stored ([`Cell`]), its comment what it means.
//!
//! Reading believes nothing: every column must be there, have the right type, the same length as the others, and a value
//! wherever the record must have one; otherwise the table is reported as damaged.

use super::cell::Cell;
use crate::TraceError;
use kizami_columns::{Field, Table, TableError, TableReader, TableWriter, WrittenFile};
use std::path::{Path, PathBuf};

/// One row of a table that is declared with [`table!`](crate::table).
pub trait Record: Sized {
    /// The file within a trace, or the folder of its parts (then it ends in `/`).
    const PATH: &'static str;
    /// Every trace has it; otherwise it is left out where it would be empty.
    const ALWAYS: bool;
    /// What the table is for.
    const ABOUT: &'static [&'static str];
    /// The columns in order, and what they mean.
    const COLUMNS: &'static [Column];

    /// The rows as columns.
    fn table(rows: &[Self]) -> Table;

    /// The rows of a file.
    fn read(table: &TableReader) -> Result<Vec<Self>, TraceError>;

    /// Writes the rows into the table's place below `folder`, the directory of a trace.
    fn write(rows: &[Self], folder: &Path) -> Result<WrittenFile, TraceError> {
        let mut file = Self::create(&folder.join(Self::PATH))?;
        file.append(&Self::table(rows))?;
        Ok(file.finish()?)
    }

    /// A file to which rows are appended.
    fn create(path: &Path) -> Result<TableWriter, TraceError> {
        let fields: Vec<Field> = Self::COLUMNS.iter().map(|column| column.field).collect();
        Ok(TableWriter::create(path, &fields)?)
    }
}

/// A column of a declared table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name and type.
    pub field: Field,
    /// What it means, line by line, as written at its declaration.
    pub about: &'static [&'static str],
}

/// Rows that are collected and appended to a file when there are many of them; the file is made with the first.
pub(crate) struct Buffered<R> {
    path: PathBuf,
    pub(crate) rows: Vec<R>,
    file: Option<TableWriter>,
}

impl<R: Record> Buffered<R> {
    /// Rows held before they are written.
    const HELD: usize = 1 << 17;

    pub(crate) fn new(path: &Path) -> Buffered<R> {
        Buffered { path: path.to_path_buf(), rows: Vec::new(), file: None }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= Self::HELD
    }

    pub(crate) fn flush(&mut self) -> Result<(), TraceError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(R::create(&self.path)?),
        };
        file.append(&R::table(&self.rows))?;
        self.rows.clear();
        Ok(())
    }

    /// Writes the rest; returns the file, if there is one.
    pub(crate) fn finish(mut self) -> Result<Option<WrittenFile>, TraceError> {
        self.flush()?;
        Ok(self.file.map(TableWriter::finish).transpose()?)
    }
}

/// Declares a table: `Record in "path", always { "column" field: Type, ... }`, each with its comment. Instead of `always`,
/// `if any` leaves the table out of traces where it would be empty.
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derive:ident),+)])?
        $record:ident in $path:literal, $presence:ident $(any)? {
            $($(#[doc = $doc:literal])+ $column:literal $field:ident: $type:ty,)+
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq $($(, $derive)+)?)]
        pub struct $record {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl $crate::schema::Record for $record {
            const PATH: &'static str = $path;
            const ALWAYS: bool = $crate::table!(@ $presence);
            const ABOUT: &'static [&'static str] = &[$($about),*];
            const COLUMNS: &'static [$crate::schema::Column] = &[$($crate::schema::Column {
                field: $crate::schema::field::<$type>($column),
                about: &[$($doc),+],
            }),+];

            fn table(rows: &[Self]) -> $crate::columns::Table {
                $crate::columns::Table::default()
                    $(.with(<$type as $crate::schema::Cell>::values(rows.iter().map(|row| &row.$field))))+
            }

            fn read(table: &$crate::columns::TableReader) -> Result<Vec<Self>, $crate::TraceError> {
                $(let mut $field = $crate::schema::column::<$type>(table, $column)?;)+
                let row = || Some($record { $($field: $field.next()?,)+ });
                Ok(std::iter::from_fn(row).collect())
            }
        }
    };
    (@ always) => { true };
    (@ if) => { false };
}

/// The cells of a column, one for each row of the table. A column that may have nulls may also be missing: the trace is older
/// than the column.
pub fn column<C: Cell>(table: &TableReader, name: &str) -> Result<std::vec::IntoIter<C>, TableError> {
    let counts = table.groups().iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0));
    let rows = counts.fold(0, usize::saturating_add);
    if !table.has_column(name) {
        let missing = || table.damaged(format!("it has no column {name:?}"));
        let cells = (0..rows).map(|_| C::before()).collect::<Option<Vec<C>>>();
        return cells.filter(|_| C::before().is_some()).map(Vec::into_iter).ok_or_else(missing);
    }
    let cells = C::read(table, name)?;
    if cells.len() != rows {
        let found = cells.len();
        return Err(table.damaged(format!("its column {name:?} has {found} rows instead of {rows}")));
    }
    Ok(cells.into_iter())
}
