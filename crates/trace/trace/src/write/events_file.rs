//! The file of one part's rows.
//!
//! Which columns there are and how each is packed is declared in [`crate::schema`]. Statistics are kept only where readers
//! skip by them.

use super::group::{GroupWriter, PackedColumn};
use super::rows::Rows;
use crate::TraceError;
use crate::schema::events::{DIFFERENCES, EVENTS, SKIPPED_BY};
use kizami_columns::encode::{ChunkEncoder, Packing};
use kizami_columns::{ChecksumFile, Field, WrittenFile, schema};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The open file.
pub(crate) struct EventsFile {
    path: PathBuf,
    writer: SerializedFileWriter<ChecksumFile>,
    columns: Vec<PackedColumn>,
    encoder: ChunkEncoder,
}

impl EventsFile {
    pub(crate) fn create(path: &Path) -> Result<EventsFile, TraceError> {
        let failed = |error| TraceError::write(path, error);
        let file = ChecksumFile::create(path)?;
        let fields: Vec<Field> = EVENTS.iter().map(|column| column.field).collect();
        let schema = schema(&fields).map_err(failed)?;
        let sorted = |column_idx| SortingColumn { column_idx, descending: false, nulls_first: false };
        let properties =
            WriterProperties::builder().set_sorting_columns(Some(vec![sorted(0), sorted(2)])).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(failed)?;
        let packed = |((column, differences), skipped_by): ((&ColumnDescPtr, _), _)| {
            let packing = if differences { Packing::Differences } else { Packing::Repeats };
            PackedColumn::new(column.clone(), packing, skipped_by)
        };
        let columns = writer.schema_descr().columns().iter();
        let differences = DIFFERENCES.iter().map(|(_, differences)| *differences);
        let skipped_by = SKIPPED_BY.iter().map(|(_, skipped_by)| *skipped_by);
        let columns = columns.zip(differences).zip(skipped_by).map(packed).collect();
        let encoder = ChunkEncoder::new().map_err(failed)?;
        Ok(EventsFile { path: path.to_path_buf(), writer, columns, encoder })
    }

    /// Writes the rows as one row group.
    pub(crate) fn write_group(&mut self, rows: &Rows) -> Result<(), TraceError> {
        let written = self.writer.next_row_group().and_then(|group| {
            let mut group = GroupWriter::new(rows.len(), group, &mut self.columns, &mut self.encoder);
            rows.write(&mut group)?;
            group.close()
        });
        written.map_err(|error| TraceError::write(&self.path, error))
    }

    pub(crate) fn finish(self) -> Result<WrittenFile, TraceError> {
        let failed = |error| TraceError::write(&self.path, error);
        Ok(self.writer.into_inner().map_err(failed)?.finish(&self.path)?)
    }
}
