//! The tables of tasks as they are written: in parts, each of which a reader can hold.

use crate::TraceError;
use crate::columns::{Field, TableWriter, WrittenFile};
use crate::schema::{Record, part_name};
use crate::task_tables::{NeedRow, ParallelRow, TaskRow};
use std::path::{Path, PathBuf};

/// Rows of a part.
const PART_ROWS: usize = 1 << 20;
/// Rows that are held before they are written.
const GROUP_ROWS: usize = 1 << 16;

/// All of them.
pub struct TaskTables {
    tasks: Parts<TaskRow>,
    needs: Parts<NeedRow>,
    parallel: Parts<ParallelRow>,
}

impl TaskTables {
    /// Of a trace that is put together in `folder`.
    pub fn new(folder: &Path) -> TaskTables {
        TaskTables { tasks: Parts::new(folder), needs: Parts::new(folder), parallel: Parts::new(folder) }
    }

    /// Adds a task. They come by rank, then by number.
    pub fn task(&mut self, task: TaskRow) -> Result<(), TraceError> {
        self.tasks.push(task)
    }

    /// Adds what a task needed. They come by rank, then by the task's number.
    pub fn need(&mut self, need: NeedRow) -> Result<(), TraceError> {
        self.needs.push(need)
    }

    /// Adds a parallel region. They come by rank, then by start.
    pub fn parallel(&mut self, region: ParallelRow) -> Result<(), TraceError> {
        self.parallel.push(region)
    }

    /// Writes the rest; gives the files.
    pub fn finish(self) -> Result<Vec<WrittenFile>, TraceError> {
        Ok([self.tasks.finish()?, self.needs.finish()?, self.parallel.finish()?].concat())
    }
}

/// One of them: rows go to the file of the part in groups that a processor's cache can hold.
struct Parts<R> {
    folder: PathBuf,
    rows: Vec<R>,
    part: Option<TableWriter>,
    /// Rows in the part.
    written: usize,
    files: Vec<WrittenFile>,
}

impl<R: Record> Parts<R> {
    fn new(folder: &Path) -> Parts<R> {
        Parts { folder: folder.join(R::PATH), rows: Vec::new(), part: None, written: 0, files: Vec::new() }
    }

    fn push(&mut self, row: R) -> Result<(), TraceError> {
        self.rows.push(row);
        if self.rows.len() < GROUP_ROWS {
            return Ok(());
        }
        self.flush()?;
        if self.written >= PART_ROWS { self.end_part() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        let part = match &mut self.part {
            Some(part) => part,
            none => {
                let path = self.folder.join(part_name(self.files.len()));
                let fields: Vec<Field> = R::COLUMNS.iter().map(|column| column.field).collect();
                // Numbers and times rise from row to row, or hardly change.
                none.insert(TableWriter::of_differences(&path, &fields)?)
            }
        };
        part.append(&R::table(&self.rows))?;
        self.written += self.rows.len();
        self.rows.clear();
        Ok(())
    }

    fn end_part(&mut self) -> Result<(), TraceError> {
        self.written = 0;
        self.files.extend(self.part.take().map(TableWriter::finish).transpose()?);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<WrittenFile>, TraceError> {
        if !self.rows.is_empty() {
            self.flush()?;
        }
        self.end_part()?;
        Ok(self.files)
    }
}
