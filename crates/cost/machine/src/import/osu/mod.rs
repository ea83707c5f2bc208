//! The text of the OSU micro-benchmarks, 5.x to 7.x.
//!
//! A table has a title (`# OSU MPI Allreduce Latency Test v7.4`), some lines about it, a heading with its columns and rows.
//! With `-f` collectives have the time of the slowest rank, and that counts; else only the average of all ranks is there.
//! Of those that do not wait, the pure communication is the plain time and the overall one the overlapped. `osu_bw` becomes
//! the time of a message when many follow each other, `osu_latency` half of a round trip; `osu_bibw` is left out: nothing in
//! a machine says how many messages may cross at once.
//!
//! Tables measured with buffers of an accelerator are left out: they would stand for the same calls as those without.
//! How many ranks there were is not in these files: [`ranks`] finds it in their names.

mod columns;
mod ranks;
mod titles;

use super::collectives::Collective;
use super::reading::{self, Line, Reading, Timing, number, whole_number};
use crate::error::MachineError;
use crate::machine::Machine;
use crate::tables::Pattern;
use columns::{Column, Heading, Row};
use std::path::PathBuf;
use titles::{Benchmark, Title};

/// What messages and one-sided calls are always measured with.
const PAIR: u32 = 2;
/// Lines that say something about a table, and nothing that is needed.
const ABOUT_TABLES: &[&str] =
    &["Datatype:", "Window creation:", "Overall =", "Rank 0 Memory", "Send Buffer", "["];
/// Of windows: the target takes no part, so the time is that of the call.
const PASSIVE: &[&str] =
    &["MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_lock/unlock", "MPI_Win_lock_all/unlock_all"];

/// Reads what the OSU micro-benchmarks printed. `ranks` is how many there were; without it the files' names say so.
pub fn osu(files: &[PathBuf], ranks: Option<u32>) -> Result<Machine, MachineError> {
    reading::all(files, "the OSU micro-benchmarks", |reading, text| {
        let mut file = File { ranks: ranks::of(reading.path(), ranks), reading, table: None };
        reading::lines(text).try_for_each(|line| file.line(line))
    })
}

/// A table while it is read.
struct Table {
    /// None: it is left out.
    benchmark: Option<Benchmark>,
    heading: Option<Heading>,
}

struct File<'a> {
    reading: &'a mut Reading,
    ranks: Result<u32, String>,
    table: Option<Table>,
}

impl File<'_> {
    fn line(&mut self, line: Line<'_>) -> Result<(), MachineError> {
        if let Some(title) = titles::title(line.text) {
            self.begin(line, title);
            return Ok(());
        }
        let about = line.text.trim_start_matches(['#', ' ']);
        if let Some(how) = about.strip_prefix("Synchronization:") {
            self.synchronization(line, how.trim());
            return Ok(());
        }
        if line.text.starts_with('#') && ABOUT_TABLES.iter().any(|known| about.starts_with(known)) {
            return Ok(());
        }
        let Some(table) = &mut self.table else {
            self.reading.pass_over(line);
            return Ok(());
        };
        if let Some(heading) = columns::heading(about) {
            table.heading = Some(heading);
            return Ok(());
        }
        let used = table.benchmark.is_some();
        if used && line.text.starts_with('#') && about.starts_with("Size") {
            return Err(self.reading.wrong(line, "a column of this heading is not known"));
        }
        match (columns::row(line.text), &table.benchmark, &table.heading) {
            (None, ..) => self.reading.pass_over(line),
            (Some(_), None, _) => {}
            (Some(_), Some(_), None) => return Err(self.reading.wrong(line, "a row before its heading")),
            (Some(row), Some(benchmark), Some(heading)) => {
                let row = heading.fit(&row).ok_or_else(|| {
                    let what = "the row has not as many columns as its heading; if the run was cut short here, remove it";
                    self.reading.wrong(line, what)
                })?;
                let benchmark = benchmark.clone();
                return self.row(line, &benchmark, &row);
            }
        }
        Ok(())
    }

    fn begin(&mut self, line: Line<'_>, title: Title<'_>) {
        self.reading.table();
        let benchmark = match title.benchmark() {
            Ok(benchmark) => Some(benchmark),
            Err(why) => {
                self.reading.leave_out(line, title.text, why);
                None
            }
        };
        self.table = Some(Table { benchmark, heading: None });
    }

    /// Times of one-sided calls in which the target has to take part are mostly those of the synchronization.
    fn synchronization(&mut self, line: Line<'_>, how: &str) {
        if let Some(table) = &mut self.table
            && matches!(table.benchmark, Some(Benchmark::Remote(_)))
            && !PASSIVE.contains(&how)
        {
            table.benchmark = None;
            self.reading.leave_out(line, &format!("one-sided calls with {how}"), "its time is in theirs");
        }
    }

    fn row(&mut self, line: Line<'_>, benchmark: &Benchmark, row: &Row<'_>) -> Result<(), MachineError> {
        match benchmark {
            Benchmark::PingPong => {
                let timing = self.timing(line, row, &[Column::Average])?;
                self.reading.message("pingpong", PAIR, timing);
            }
            Benchmark::Stream => return self.stream(line, row),
            Benchmark::Remote(of) => {
                let timing = self.timing(line, row, &[Column::Average])?;
                self.reading.collective(line, of, Pattern::Plain, PAIR, timing)?;
            }
            Benchmark::Blocking(of) => {
                self.collective(line, row, (of, Pattern::Plain), &[Column::Slowest, Column::Average])?;
            }
            Benchmark::Nonblocking(of) => {
                self.collective(line, row, (of, Pattern::Plain), &[Column::Pure])?;
                self.collective(line, row, (of, Pattern::Overlapped), &[Column::Overall])?;
            }
        }
        Ok(())
    }

    fn collective(
        &mut self,
        line: Line<'_>,
        row: &Row<'_>,
        (of, pattern): (&Collective, Pattern),
        wanted: &[Column],
    ) -> Result<(), MachineError> {
        let ranks = self
            .ranks
            .clone()
            .map_err(|what| MachineError::NotUnderstood { path: self.reading.path().to_path_buf(), what })?;
        let timing = self.timing(line, row, wanted)?;
        self.reading.collective(line, of, pattern, ranks, timing)
    }

    /// A rate becomes the time of one message; a rate of 0.00 says nothing.
    fn stream(&mut self, line: Line<'_>, row: &Row<'_>) -> Result<(), MachineError> {
        let megabytes_per_second = self.value(line, row, &[Column::Bandwidth])?;
        let size = self.whole(line, row, Column::Size)?;
        if megabytes_per_second == 0.0 || size == 0 {
            self.reading.note(line, &format!("the rate of {size} bytes is missing: too small to be printed"));
            return Ok(());
        }
        let ns = size as f64 / (megabytes_per_second * 1e6) * 1e9;
        let timing = Timing { size, ns, repetitions: 0, disturbed: disturbed(row) };
        self.reading.message("stream", PAIR, timing);
        Ok(())
    }

    fn timing(&self, line: Line<'_>, row: &Row<'_>, wanted: &[Column]) -> Result<Timing, MachineError> {
        Ok(Timing {
            size: self.whole(line, row, Column::Size)?,
            ns: self.value(line, row, wanted)? * 1e3,
            repetitions: self.whole(line, row, Column::Iterations)?,
            disturbed: disturbed(row),
        })
    }

    /// What is in the first of these columns that is there.
    fn value(&self, line: Line<'_>, row: &Row<'_>, wanted: &[Column]) -> Result<f64, MachineError> {
        let word = wanted.iter().find_map(|column| row.word(*column));
        word.and_then(number)
            .ok_or_else(|| self.reading.wrong(line, "the row does not have what its title promises"))
    }

    /// A number without a fraction; 0 if there is no such column.
    fn whole(&self, line: Line<'_>, row: &Row<'_>, column: Column) -> Result<u64, MachineError> {
        let Some(word) = row.word(column) else { return Ok(0) };
        let value = number(word).and_then(whole_number);
        value
            .ok_or_else(|| self.reading.wrong(line, "a size or a number of iterations is not a whole number"))
    }
}

fn disturbed(row: &Row<'_>) -> Option<String> {
    let failed = row.word(Column::Validation).is_some_and(|word| !word.eq_ignore_ascii_case("pass"));
    failed.then(|| "the benchmark found wrong data in its buffers".to_owned())
}
