//! One file while it is read: rows into the machine, and what has no place there into its notes.

use super::collectives::{Collective, Extent};
use crate::error::MachineError;
use crate::machine::Machine;
use crate::tables::{CollectiveRow, MessageRow, Pattern};
use std::path::{Path, PathBuf};

/// These benchmarks do not say how far two ranks are apart.
const PLACE: &str = "unknown";

/// A line of text with its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub number: usize,
    pub text: &'a str,
}

/// One time of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timing {
    /// The size as the table has it.
    pub size: u64,
    pub ns: f64,
    /// 0 if the table does not say.
    pub repetitions: u64,
    /// Why it is not to be trusted.
    pub disturbed: Option<String>,
}

/// Tables of one kind that have no place.
#[derive(Debug)]
struct LeftOut {
    what: String,
    why: String,
    first_line: usize,
    count: usize,
}

/// One file while it is read.
#[derive(Debug)]
pub(super) struct Reading {
    path: PathBuf,
    machine: Machine,
    left_out: Vec<LeftOut>,
    /// The first line that is no part of a table, and how many there are.
    passed_over: Option<(usize, String, usize)>,
    tables: usize,
}

/// The text of a file, whatever launchers wrote into it.
pub(super) fn text(path: &Path) -> Result<String, MachineError> {
    let bytes = std::fs::read(path).map_err(|source| MachineError::File {
        doing: "read",
        path: path.to_path_buf(),
        source,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Lines with something in them, without what is around it.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let numbered =
        text.lines().enumerate().map(|(before, text)| Line { number: before + 1, text: text.trim() });
    numbered.filter(|line| !line.text.is_empty())
}

/// Reads all files by `read` and puts them together. `whose` says in errors what was looked for.
pub(super) fn all(
    files: &[PathBuf],
    whose: &str,
    mut read: impl FnMut(&mut Reading, &str) -> Result<(), MachineError>,
) -> Result<Machine, MachineError> {
    let mut machine = Machine::default();
    for path in files {
        let mut reading = Reading::new(path);
        read(&mut reading, &text(path)?)?;
        let file = reading.finish(whose)?;
        if machine.about.command.is_empty() {
            machine.about.command.clone_from(&file.about.command);
        }
        machine.add(file);
    }
    let Some(first) = files.first() else {
        return Err(MachineError::Measuring {
            what: format!("there is no file to import; give what {whose} printed"),
        });
    };
    if machine.collectives.is_empty() && machine.messages.is_empty() {
        let why = machine.about.disturbed.join("; ");
        let what =
            format!("nothing in it can be used ({why}); give the output of other benchmarks of {whose}");
        return Err(MachineError::NotUnderstood { path: first.clone(), what });
    }
    Ok(machine)
}

impl Reading {
    fn new(path: &Path) -> Reading {
        let mut machine = Machine::default();
        machine.about.imported_from.push(path.display().to_string());
        Reading { path: path.to_path_buf(), machine, left_out: Vec::new(), passed_over: None, tables: 0 }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A row or a heading that cannot be right.
    pub(super) fn wrong(&self, line: Line<'_>, what: &str) -> MachineError {
        let what = format!("line {}: {what}: {:?}", line.number, line.text);
        MachineError::NotUnderstood { path: self.path.clone(), what }
    }

    /// A table begins here.
    pub(super) fn table(&mut self) {
        self.tables += 1;
    }

    /// A table has no place in a machine.
    pub(super) fn leave_out(&mut self, line: Line<'_>, what: &str, why: &str) {
        match self.left_out.iter_mut().find(|known| known.what == what && known.why == why) {
            Some(known) => known.count += 1,
            None => self.left_out.push(LeftOut {
                what: what.to_owned(),
                why: why.to_owned(),
                first_line: line.number,
                count: 1,
            }),
        }
    }

    /// A line is no part of a table: output of a launcher, or of the script that started it.
    pub(super) fn pass_over(&mut self, line: Line<'_>) {
        match &mut self.passed_over {
            Some((_, _, count)) => *count += 1,
            None => self.passed_over = Some((line.number, line.text.chars().take(60).collect(), 1)),
        }
    }

    /// Something people should know.
    pub(super) fn note(&mut self, line: Line<'_>, what: &str) {
        let note = format!("{} line {}: {what}", self.path.display(), line.number);
        self.machine.about.disturbed.push(note);
    }

    /// How the benchmark was started; of several the first counts.
    pub(super) fn command(&mut self, words: &str) {
        if self.machine.about.command.is_empty() {
            self.machine.about.command = words.to_owned();
        }
    }

    /// A row of a collective.
    pub(super) fn collective(
        &mut self,
        line: Line<'_>,
        of: &Collective,
        pattern: Pattern,
        ranks: u32,
        timing: Timing,
    ) -> Result<(), MachineError> {
        let bytes = match of.extent {
            Extent::Nothing => Some(0),
            Extent::Whole => Some(timing.size),
            Extent::Part => timing.size.checked_mul(u64::from(ranks)),
        };
        let bytes = bytes.ok_or_else(|| self.wrong(line, "the size is too large"))?;
        self.machine.collectives.push(CollectiveRow {
            operation: of.operation.clone(),
            pattern: pattern.name().to_owned(),
            algorithm: None,
            bytes,
            ranks,
            nodes: None,
            ranks_per_node: None,
            span_ns: timing.ns,
            low_ns: timing.ns,
            high_ns: timing.ns,
            first_ns: None,
            repetitions: timing.repetitions,
            disturbed: timing.disturbed,
        });
        Ok(())
    }

    /// A row of messages between two ranks.
    pub(super) fn message(&mut self, kind: &str, ranks: u32, timing: Timing) {
        self.machine.messages.push(MessageRow {
            kind: kind.to_owned(),
            place: PLACE.to_owned(),
            bytes: timing.size,
            ranks,
            time_ns: timing.ns,
            low_ns: timing.ns,
            high_ns: timing.ns,
            repetitions: timing.repetitions,
            disturbed: timing.disturbed,
        });
    }

    /// The file as a machine; an error if it has no table at all.
    fn finish(self, whose: &str) -> Result<Machine, MachineError> {
        let Reading { path, mut machine, left_out, passed_over, tables } = self;
        if tables == 0 {
            let what = format!("there is no table of {whose} in it; give the text that they printed");
            return Err(MachineError::NotUnderstood { path, what });
        }
        let name = path.display();
        for LeftOut { what, why, first_line, count } in left_out {
            let tables = if count == 1 { String::new() } else { format!(" and {} more", count - 1) };
            machine.about.disturbed.push(format!("{name} line {first_line}{tables}: {what} left out: {why}"));
        }
        if let Some((number, text, count)) = passed_over {
            let more = if count == 1 { String::new() } else { format!(" and {} more", count - 1) };
            let note = format!("{name} line {number}{more}: passed over, no part of a table: {text:?}");
            machine.about.disturbed.push(note);
        }
        Ok(machine)
    }
}

/// A number of a table that can be a time, a size or a rate.
pub(super) fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// A number of a table without a fraction.
pub(super) fn whole_number(value: f64) -> Option<u64> {
    (value.fract() == 0.0 && value < 9e15).then_some(value as u64)
}
