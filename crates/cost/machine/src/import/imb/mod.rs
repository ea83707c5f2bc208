//! The text of the Intel MPI Benchmarks, 4.0 to 2021.x: IMB-MPI1, IMB-NBC and the put and get of IMB-RMA.
//!
//! A table begins with `# Benchmarking NAME`, says how many processes took part and has a heading and rows. The time of
//! the slowest rank counts. Of those that do not wait, `t_pure` is the plain time and `t_ovrl` the overlapped one.
//!
//! Left out: tables of several groups at once (`-multi`), what was measured with buffers of an accelerator, and benchmarks
//! of which nothing is in a machine, such as Exchange. Sizes that ran into the time limit are reported.

mod names;

use super::reading::{self, Line, Reading, Timing, number, whole_number};
use crate::error::MachineError;
use crate::machine::Machine;
use crate::tables::Pattern;
use names::{Benchmark, Version};
use std::path::PathBuf;

/// What rows say instead of times.
const FAILURES: &[&str] = &["time-out", "out-of-mem", "int-overflow"];
/// The slowest rank, or the only time there is.
const SLOWEST: &[&str] = &["t_max[usec]", "t[usec]"];

/// Reads what the Intel MPI Benchmarks printed.
pub fn imb(files: &[PathBuf]) -> Result<Machine, MachineError> {
    reading::all(files, "the Intel MPI Benchmarks", |reading, text| {
        let mut file =
            File { reading, version: None, command_follows: false, accelerator: false, table: None };
        reading::lines(text).try_for_each(|line| file.line(line))
    })
}

/// A table while it is read.
struct Table {
    name: String,
    ranks: Option<u32>,
    /// None: it is left out.
    benchmark: Option<Benchmark>,
    columns: Vec<String>,
}

struct File<'a> {
    reading: &'a mut Reading,
    version: Option<Version>,
    command_follows: bool,
    accelerator: bool,
    table: Option<Table>,
}

impl File<'_> {
    fn line(&mut self, line: Line<'_>) -> Result<(), MachineError> {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if words.iter().any(|word| ["#bytes", "#repetitions"].contains(word)) {
            return self.heading(line, &words);
        }
        match line.text.strip_prefix('#') {
            Some(comment) => self.comment(line, comment.trim()),
            None => self.row(line, &words),
        }
    }

    fn comment(&mut self, line: Line<'_>, comment: &str) -> Result<(), MachineError> {
        if std::mem::take(&mut self.command_follows) && !comment.is_empty() {
            self.accelerator =
                comment.split_whitespace().next().is_some_and(|program| program.ends_with("-GPU"));
            self.reading.command(comment);
        } else if let Some(name) = comment.strip_prefix("Benchmarking ") {
            self.begin(line, name.trim());
        } else if let Some(count) = comment.strip_prefix("#processes =") {
            // More may follow: the order of ranks.
            let count =
                count.split([';', ' ']).find(|word| !word.is_empty()).and_then(|word| word.parse().ok());
            let count =
                count.ok_or_else(|| self.reading.wrong(line, "the number of processes is not a number"))?;
            if let Some(table) = &mut self.table {
                table.ranks = Some(count);
            }
        } else if let Some((_, version)) = comment.split_once("MPI Benchmarks ") {
            self.version = Version::of(version);
        } else if comment.starts_with("Calling sequence was") {
            self.command_follows = true;
        } else if comment.starts_with("MODE: AGGREGATE") {
            self.leave_out(line, "calls without waiting for each are not measured for a machine");
        }
        Ok(())
    }

    fn begin(&mut self, line: Line<'_>, name: &str) {
        self.reading.table();
        let known = if self.accelerator {
            Err("it was measured with buffers of an accelerator")
        } else {
            Benchmark::named(name, self.version)
        };
        if let Err(why) = known {
            self.reading.leave_out(line, name, why);
        }
        self.table =
            Some(Table { name: name.to_owned(), ranks: None, benchmark: known.ok(), columns: Vec::new() });
    }

    fn leave_out(&mut self, line: Line<'_>, why: &str) {
        if let Some(table) = &mut self.table
            && table.benchmark.take().is_some()
        {
            self.reading.leave_out(line, &table.name, why);
        }
    }

    fn heading(&mut self, line: Line<'_>, words: &[&str]) -> Result<(), MachineError> {
        let Some(table) = &mut self.table else {
            return Err(self.reading.wrong(line, "a heading before it is said what was measured"));
        };
        if table.benchmark.is_none() {
            return Ok(());
        }
        table.columns = words.iter().map(|word| (*word).to_owned()).collect();
        let Some(ranks) = table.ranks else {
            return Err(self
                .reading
                .wrong(line, "a heading before it is said how many processes there were"));
        };
        let pairs =
            matches!(table.benchmark, Some(Benchmark::Message(_) | Benchmark::Stream | Benchmark::Remote(_)));
        if pairs && ranks != 2 {
            self.leave_out(line, "messages are measured between two ranks alone");
        }
        Ok(())
    }

    fn row(&mut self, line: Line<'_>, words: &[&str]) -> Result<(), MachineError> {
        let values: Option<Vec<f64>> = words.iter().map(|word| word.parse().ok()).collect();
        let Some(table) = &self.table else {
            self.reading.pass_over(line);
            return Ok(());
        };
        let failure =
            words.iter().find_map(|word| FAILURES.iter().find(|failure| word.starts_with(**failure)));
        match (&table.benchmark, values, failure) {
            (None, Some(_), _) | (None, None, Some(_)) => {}
            (Some(benchmark), Some(values), _) => {
                if values.len() != table.columns.len() {
                    let what = "the row has not as many columns as its heading; if the run was cut short here, remove it";
                    return Err(self.reading.wrong(line, what));
                }
                let row = Row { columns: table.columns.clone(), values };
                let (benchmark, ranks) = (benchmark.clone(), table.ranks.unwrap_or_default());
                return self.keep(line, &benchmark, ranks, &row);
            }
            (Some(_), None, Some(failure)) => {
                let ranks = table.ranks.unwrap_or_default();
                // The last number before the reason is the size, whether or not there is a group before it.
                let size = words.iter().map_while(|word| number(word)).last().unwrap_or_default();
                let what = format!("{} of {size} bytes at {ranks} ranks is missing: {failure}", table.name);
                self.reading.note(line, &what);
            }
            (_, None, None) => self.reading.pass_over(line),
        }
        Ok(())
    }

    fn keep(
        &mut self,
        line: Line<'_>,
        benchmark: &Benchmark,
        ranks: u32,
        row: &Row,
    ) -> Result<(), MachineError> {
        let wrong = |what| self.reading.wrong(line, what);
        let size = row
            .value(&["#bytes"])
            .map_or(Some(0), whole_number)
            .ok_or_else(|| wrong("the size has a fraction"))?;
        let repetitions = row.value(&["#repetitions"]).and_then(whole_number).unwrap_or(0);
        let defects = row.value(&["defects"]).is_some_and(|defects| defects > 0.0);
        let disturbed = defects.then(|| "the benchmark found wrong data in its buffers".to_owned());
        let timing = |us: f64| Timing { size, ns: us * 1e3, repetitions, disturbed: disturbed.clone() };
        let slowest = row.value(SLOWEST).map(timing);
        let missing = || self.reading.wrong(line, "the row does not have the times of its benchmark");
        match benchmark {
            Benchmark::Message(kind) => {
                let timing = slowest.ok_or_else(missing)?;
                self.reading.message(kind, ranks, timing);
            }
            Benchmark::Stream => {
                let rate = row.value(&["Msg/sec"]).ok_or_else(missing)?;
                if rate > 0.0 {
                    self.reading.message("stream", ranks, timing(1e6 / rate));
                } else {
                    self.reading.note(line, &format!("the rate of {size} bytes is missing"));
                }
            }
            Benchmark::Collective(of, pattern) => {
                let timing = slowest.ok_or_else(missing)?;
                self.reading.collective(line, of, *pattern, ranks, timing)?;
            }
            Benchmark::Remote(of) => {
                let timing = slowest.ok_or_else(missing)?;
                self.reading.collective(line, of, Pattern::Plain, ranks, timing)?;
            }
            Benchmark::Overlapped(of) => {
                let pure = row.value(&["t_pure[usec]"]).map(timing).ok_or_else(missing)?;
                let overlapped = row.value(&["t_ovrl[usec]"]).map(timing).ok_or_else(missing)?;
                self.reading.collective(line, of, Pattern::Plain, ranks, pure)?;
                self.reading.collective(line, of, Pattern::Overlapped, ranks, overlapped)?;
            }
        }
        Ok(())
    }
}

/// A row with its heading.
struct Row {
    columns: Vec<String>,
    values: Vec<f64>,
}

impl Row {
    /// What is in the first of these columns that is there; none if that cannot be.
    fn value(&self, wanted: &[&str]) -> Option<f64> {
        let place = wanted.iter().find_map(|name| self.columns.iter().position(|column| column == name))?;
        self.values.get(place).copied().filter(|value| value.is_finite() && *value >= 0.0)
    }
}
