//! The tables of tasks as they are written: in parts, each of which a reader can hold.
//!
//! Rows are made in less time than it takes to write them. So they are handed on in batches to a thread for each table, which
//! makes columns of them while more rows come.

use crate::TraceError;
use crate::schema::{Record, part_name};
use crate::task_tables::{NeedRow, ParallelRow, TaskRow};
use kizami_columns::{Field, TableWriter, WrittenFile};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Rows of a part, a multiple of those of a batch.
const PART_ROWS: usize = 1 << 20;

/// Rows that are handed on together, and become a row group. What is left at the end is written after all work.
const BATCH_ROWS: usize = 1 << 16;

/// Batches that wait to be written at most. Whoever makes rows faster waits.
const BATCHES_AHEAD: usize = 4;

/// All of them.
pub struct TaskTables {
    tasks: Rows<TaskRow>,
    needs: Rows<NeedRow>,
    parallel: Rows<ParallelRow>,
}

impl TaskTables {
    /// Of a trace that is put together in `folder`.
    pub fn new(folder: &Path) -> TaskTables {
        TaskTables { tasks: Rows::new(folder), needs: Rows::new(folder), parallel: Rows::new(folder) }
    }

    /// Adds a task. They come by rank, then by number.
    #[inline]
    pub fn task(&mut self, task: TaskRow) -> Result<(), TraceError> {
        self.tasks.push(task)
    }

    /// Adds what a task needed. They come by rank, then by the task's number.
    #[inline]
    pub fn need(&mut self, need: NeedRow) -> Result<(), TraceError> {
        self.needs.push(need)
    }

    /// Adds a parallel region. They come by rank, then by start.
    pub fn parallel(&mut self, region: ParallelRow) -> Result<(), TraceError> {
        self.parallel.push(region)
    }

    /// Writes the rest; returns the files.
    pub fn finish(self) -> Result<Vec<WrittenFile>, TraceError> {
        Ok([self.tasks.finish()?, self.needs.finish()?, self.parallel.finish()?].concat())
    }
}

/// Rows of one of them, on their way to a file.
struct Rows<R> {
    folder: PathBuf,
    batch: Vec<R>,
    /// From the first full batch on; not where the system gives no thread.
    beside: Option<Beside<R>>,
    /// What is written without one.
    here: Parts<R>,
}

impl<R: Record + Send + 'static> Rows<R> {
    fn new(folder: &Path) -> Rows<R> {
        let folder = folder.join(R::PATH);
        Rows { here: Parts::new(&folder), folder, batch: Vec::new(), beside: None }
    }

    #[inline]
    fn push(&mut self, row: R) -> Result<(), TraceError> {
        self.batch.push(row);
        if self.batch.len() == BATCH_ROWS { self.hand_on() } else { Ok(()) }
    }

    #[cold]
    fn hand_on(&mut self) -> Result<(), TraceError> {
        if self.beside.is_none() && self.here.is_empty() {
            self.beside = Beside::start(Parts::new(&self.folder));
        }
        match &self.beside {
            Some(beside) if beside.swap(&mut self.batch) => Ok(()),
            // It ends early only because it failed.
            Some(_) => self.beside.take().map_or(Ok(()), |beside| beside.finish().map(drop)),
            None => {
                self.here.write(&self.batch)?;
                self.batch.clear();
                Ok(())
            }
        }
    }

    fn finish(mut self) -> Result<Vec<WrittenFile>, TraceError> {
        if !self.batch.is_empty() && self.beside.is_some() {
            self.hand_on()?;
        }
        match self.beside {
            Some(beside) => beside.finish(),
            None => {
                self.here.write(&self.batch)?;
                self.here.finish()
            }
        }
    }
}

/// A thread that writes batches.
struct Beside<R> {
    full: SyncSender<Vec<R>>,
    /// Batches that were written, to be filled again.
    empty: Receiver<Vec<R>>,
    thread: JoinHandle<Result<Vec<WrittenFile>, TraceError>>,
}

impl<R: Record + Send + 'static> Beside<R> {
    /// None where the system gives no thread.
    fn start(mut parts: Parts<R>) -> Option<Beside<R>> {
        let (full, batches) = sync_channel::<Vec<R>>(BATCHES_AHEAD);
        let (give_back, empty) = sync_channel(BATCHES_AHEAD);
        let work = move || {
            for mut batch in batches {
                parts.write(&batch)?;
                batch.clear();
                // Nobody takes it any more once all rows are there.
                _ = give_back.try_send(batch);
            }
            parts.finish()
        };
        let thread = std::thread::Builder::new().name("kizami-tables".to_owned()).spawn(work).ok()?;
        Some(Beside { full, empty, thread })
    }

    /// Takes a full batch and leaves an empty one; false if the thread has ended.
    fn swap(&self, batch: &mut Vec<R>) -> bool {
        let empty = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH_ROWS));
        self.full.send(std::mem::replace(batch, empty)).is_ok()
    }

    fn finish(self) -> Result<Vec<WrittenFile>, TraceError> {
        drop(self.full);
        match self.thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// The files of one table.
struct Parts<R> {
    folder: PathBuf,
    /// The one that is being filled, and how many rows it has.
    open: Option<(TableWriter, usize)>,
    files: Vec<WrittenFile>,
    rows: std::marker::PhantomData<fn(&R)>,
}

impl<R: Record> Parts<R> {
    fn new(folder: &Path) -> Parts<R> {
        Parts { folder: folder.to_path_buf(), open: None, files: Vec::new(), rows: std::marker::PhantomData }
    }

    fn is_empty(&self) -> bool {
        self.open.is_none() && self.files.is_empty()
    }

    fn write(&mut self, rows: &[R]) -> Result<(), TraceError> {
        if rows.is_empty() {
            return Ok(());
        }
        let (mut file, before) = match self.open.take() {
            Some(open) => open,
            None => (self.create()?, 0),
        };
        file.append(&R::table(rows))?;
        match before + rows.len() {
            full if full >= PART_ROWS => self.files.push(file.finish()?),
            some => self.open = Some((file, some)),
        }
        Ok(())
    }

    fn create(&self) -> Result<TableWriter, TraceError> {
        let path = self.folder.join(part_name(self.files.len()));
        let fields: Vec<Field> = R::COLUMNS.iter().map(|column| column.field).collect();
        // Numbers and times rise from row to row, or hardly change.
        Ok(TableWriter::of_differences(&path, &fields)?)
    }

    fn finish(mut self) -> Result<Vec<WrittenFile>, TraceError> {
        if let Some((file, _)) = self.open.take() {
            self.files.push(file.finish()?);
        }
        Ok(self.files)
    }
}
