//! Tables as Parquet columns: describing, writing and reading them without Arrow.
//!
//! A table here is a list of named columns of one of a few kinds. Nullable columns are `OPTIONAL`; lists are
//! the standard three-level lists with elements that are never null, so that every Parquet reader shows them
//! as lists.
//!
//! Promises: whatever a file holds, the answer is values or a [`TableError`], and no length in it is believed before data
//! backs it. What a table means is not known here: that is for those who declare it.

mod bounds;
pub mod encode;
mod error;
mod names;
mod read;
mod source;
mod write;

pub use error::TableError;
pub use names::Names;
pub use read::{Cells, Lists, TableReader, checksum_of};
pub use write::{CellValues, ChecksumFile, Table, TableWriter, Values, WrittenFile};

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Int32,
    Int64,
    Bool,
    Double,
    Text,
    Int32List,
    Int64List,
    BoolList,
    TextList,
}

impl Kind {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Int32 => "int32",
            Kind::Int64 => "int64",
            Kind::Bool => "bool",
            Kind::Double => "double",
            Kind::Text => "text",
            Kind::Int32List => "list of int32",
            Kind::Int64List => "list of int64",
            Kind::BoolList => "list of bool",
            Kind::TextList => "list of text",
        }
    }

    fn is_list(self) -> bool {
        matches!(self, Kind::Int32List | Kind::Int64List | Kind::BoolList | Kind::TextList)
    }
}

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether values may be missing. Lists are never missing, only empty.
    pub nullable: bool,
}

impl Field {
    fn parquet(&self) -> Result<Type> {
        let repetition = if self.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let list = |element| {
            let element = Arc::new(leaf("element", element, false, Repetition::REQUIRED)?);
            let middle = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![element])
                .build()?;
            Type::group_type_builder(self.name)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::List))
                .with_converted_type(ConvertedType::LIST)
                .with_fields(vec![Arc::new(middle)])
                .build()
        };
        match self.kind {
            Kind::Int32 => leaf(self.name, Physical::INT32, false, repetition),
            Kind::Int64 => leaf(self.name, Physical::INT64, false, repetition),
            Kind::Bool => leaf(self.name, Physical::BOOLEAN, false, repetition),
            Kind::Double => leaf(self.name, Physical::DOUBLE, false, repetition),
            Kind::Text => leaf(self.name, Physical::BYTE_ARRAY, true, repetition),
            Kind::Int32List => list(Physical::INT32),
            Kind::Int64List => list(Physical::INT64),
            Kind::BoolList => list(Physical::BOOLEAN),
            Kind::TextList => list(Physical::BYTE_ARRAY),
        }
    }
}

fn leaf(name: &str, physical: Physical, text: bool, repetition: Repetition) -> Result<Type> {
    let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    if text || physical == Physical::BYTE_ARRAY {
        builder.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8).build()
    } else {
        builder.build()
    }
}

/// The Parquet schema of a table with these columns.
pub fn schema(fields: &[Field]) -> Result<TypePtr> {
    let columns = fields.iter().map(|field| field.parquet().map(Arc::new)).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(columns).build()?))
}
