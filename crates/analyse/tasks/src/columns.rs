//! The few columns of `tasks/` and `needs/` that virtual time is made of, one row group at a time.

use crate::TasksError;
use crate::graph::Part;
use kizami_model::Rank;
use kizami_trace::columns::{Names, TableReader};
use kizami_trace::schema::Record;
use kizami_trace::{TaskKind, Trace, TraceError, Waited};
use std::cell::RefCell;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

/// Stands for a value that is not there.
pub(crate) const MISSING: i64 = i64::MIN;
/// Stands for a place that is not known.
pub(crate) const NO_PLACE: i32 = -1;

/// Where the rows of one rank lie in a table. One part is open at a time: a large run has more of them than a process may open.
pub(crate) struct Groups {
    files: Vec<PathBuf>,
    open: RefCell<Option<(usize, Rc<TableReader>)>>,
    places: Vec<GroupPlace>,
}

#[derive(Clone, Debug)]
struct GroupPlace {
    file: usize,
    group: usize,
    /// Which of the group's rows are the rank's.
    rows: Range<usize>,
    /// Rows of the rank in groups before.
    before: usize,
}

impl Groups {
    pub(crate) fn of<R: Record>(trace: &Trace, rank: Rank) -> Result<Groups, TraceError> {
        let files = trace.files_of::<R>()?;
        let rank = rank.0 as i32;
        let (mut places, mut before) = (Vec::new(), 0usize);
        for (file, path) in files.iter().enumerate() {
            let reader = TableReader::open(path)?;
            for group in 0..reader.groups().len() {
                let all = usize::try_from(reader.groups()[group].num_rows()).unwrap_or(0);
                let rows = match reader.range(group, "rank") {
                    Some(held) if !held.contains(&rank) => continue,
                    Some(held) if held == (rank..=rank) => 0..all,
                    _ => {
                        // Rows are sorted by rank.
                        let ranks = reader.int32_group(group, "rank", None)?;
                        ranks.partition_point(|other| *other < rank)
                            ..ranks.partition_point(|other| *other <= rank)
                    }
                };
                if !rows.is_empty() {
                    places.push(GroupPlace { file, group, rows: rows.clone(), before });
                    before = before.saturating_add(rows.len());
                }
            }
        }
        Ok(Groups { files, open: RefCell::new(None), places })
    }

    /// The part that has a group.
    fn table(&self, place: &GroupPlace) -> Result<Rc<TableReader>, TraceError> {
        let mut open = self.open.borrow_mut();
        match &*open {
            Some((file, table)) if *file == place.file => Ok(Rc::clone(table)),
            _ => {
                let table = Rc::new(TableReader::open(&self.files[place.file])?);
                *open = Some((place.file, Rc::clone(&table)));
                Ok(table)
            }
        }
    }

    /// An error that says what is wrong with the part that has a group.
    pub(crate) fn damaged(&self, group: usize, what: &str) -> TraceError {
        TraceError::damaged(&self.files[self.places[group].file], what)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.places.last().map_or(0, |place| place.before + place.rows.len())
    }

    /// How many rows are in groups before this one.
    pub(crate) fn before(&self, group: usize) -> usize {
        self.places.get(group).map_or(self.rows(), |place| place.before)
    }

    /// The group that has a row.
    pub(crate) fn group_of(&self, row: usize) -> usize {
        self.places.partition_point(|place| place.before <= row).saturating_sub(1)
    }

    /// Whether the tasks have a column: older versions did not write all of them.
    pub(crate) fn has_column(&self, group: usize, name: &str) -> Result<bool, TraceError> {
        Ok(self.table(&self.places[group])?.has_column(name))
    }

    pub(crate) fn int64(
        &self,
        group: usize,
        name: &str,
        missing: Option<i64>,
    ) -> Result<Vec<i64>, TraceError> {
        let place = &self.places[group];
        let values = self.table(place)?.int64_group(place.group, name, missing)?;
        Ok(cut(values, &place.rows))
    }

    pub(crate) fn int32(
        &self,
        group: usize,
        name: &str,
        missing: Option<i32>,
    ) -> Result<Vec<i32>, TraceError> {
        let place = &self.places[group];
        let values = self.table(place)?.int32_group(place.group, name, missing)?;
        Ok(cut(values, &place.rows))
    }

    /// The first task of a group that does not have the number it should have, with that number. Where the file says from
    /// which number to which a group goes, that is believed: nothing but the answer would be wrong.
    pub(crate) fn misnumbered(&self, group: usize) -> Result<Option<(i64, i64)>, TraceError> {
        let place = &self.places[group];
        let (first, last) = (place.before as i64 + 1, (place.before + place.rows.len()) as i64);
        if self.table(place)?.range64(place.group, "task") == Some(first..=last) {
            return Ok(None);
        }
        let numbers = self.int64(group, "task", None)?;
        Ok(numbers.into_iter().zip(first..).find(|(number, right)| number != right))
    }

    fn names<C: Copy>(
        &self,
        group: usize,
        name: &str,
        missing: Option<C>,
        meaning: impl Fn(&str) -> Option<C>,
    ) -> Result<Vec<C>, TraceError> {
        let place = &self.places[group];
        let table = self.table(place)?;
        if let (Some(missing), false) = (missing, table.has_column(name)) {
            return Ok(vec![missing; place.rows.len()]);
        }
        let meaning = |text: &[u8]| {
            let text = String::from_utf8_lossy(text);
            meaning(&text).ok_or_else(|| format!("the unknown value {text:?}"))
        };
        Ok(cut(table.names(place.group, name, &Names { missing, meaning })?, &place.rows))
    }
}

fn cut<T: Copy>(values: Vec<T>, rows: &Range<usize>) -> Vec<T> {
    match values.len() == rows.len() {
        true => values,
        false => values[rows.clone()].to_vec(),
    }
}

/// When tasks ran, in one row group.
pub(crate) enum Ran {
    /// Measured.
    Recorded { running: Vec<i64>, parent_running: Vec<i64>, tracer: Vec<i64> },
    /// In virtual time.
    Virtual { created: Vec<i64>, start: Vec<i64>, end: Vec<i64> },
}

/// Tasks of one row group.
pub(crate) struct TaskColumns {
    /// 0 where there is none.
    pub parent: Vec<i64>,
    pub place: Vec<i32>,
    pub ran: Ran,
}

impl TaskColumns {
    pub(crate) fn read(tasks: &Groups, group: usize, is_virtual: bool) -> Result<TaskColumns, TraceError> {
        let needed = |name: &str| tasks.int64(group, name, None);
        let ran = match is_virtual {
            true => Ran::Virtual {
                created: tasks.int64(group, "created_ns", Some(MISSING))?,
                start: needed("start_ns")?,
                end: needed("end_ns")?,
            },
            false => Ran::Recorded {
                running: needed("running_ns")?,
                parent_running: tasks.int64(group, "parent_running_ns", Some(MISSING))?,
                tracer: needed("tracer_ns")?,
            },
        };
        let place = tasks.int32(group, "callsite", Some(NO_PLACE))?;
        Ok(TaskColumns { parent: tasks.int64(group, "parent", Some(0))?, place, ran })
    }
}

/// The kinds of the tasks of a row group. They are read once, apart from the rest, which is read again when the path is
/// followed.
pub(crate) fn parts(tasks: &Groups, group: usize) -> Result<Vec<(bool, Option<Part>)>, TasksError> {
    let kinds = tasks.names(group, "kind", None, TaskKind::from_name)?;
    let waited = tasks.names(group, "waited", Some(None), |text| Some(Waited::from_name(text)))?;
    let both = kinds.into_iter().zip(waited);
    Ok(both.map(|(kind, waited)| (kind == TaskKind::Continued, Part::of(kind, waited))).collect())
}

/// What tasks needed, row by row.
pub(crate) struct Needs<'a> {
    groups: &'a Groups,
    with_moments: bool,
    group: usize,
    task: Vec<i64>,
    of: Vec<i64>,
    at: Vec<i64>,
    next: usize,
    /// The first task of each group that was read.
    pub firsts: Vec<i64>,
}

impl<'a> Needs<'a> {
    /// `with_moments`: also when they were there.
    pub(crate) fn new(groups: &'a Groups, with_moments: bool) -> Needs<'a> {
        let (task, of, at) = (Vec::new(), Vec::new(), Vec::new());
        Needs { groups, with_moments, group: 0, task, of, at, next: 0, firsts: Vec::new() }
    }

    /// Sees to it that there is a next row, if there is one at all.
    #[inline]
    fn look(&mut self) -> Result<bool, TraceError> {
        if self.next < self.task.len() { Ok(true) } else { self.next_group() }
    }

    #[cold]
    fn next_group(&mut self) -> Result<bool, TraceError> {
        if self.group == self.groups.len() {
            return Ok(false);
        }
        let last = self.task.last().copied().unwrap_or(0);
        (self.task, self.of) = pairs(self.groups, self.group)?;
        if !self.task.is_sorted() || self.task.first().is_some_and(|first| *first < last) {
            return Err(self.groups.damaged(self.group, "its rows are not sorted by task"));
        }
        if self.with_moments {
            self.at = self.groups.int64(self.group, "at_ns", Some(MISSING))?;
        }
        self.firsts.extend(self.task.first());
        (self.group, self.next) = (self.group + 1, 0);
        Ok(true)
    }

    /// The next thing this task needed: the task that made it, and when it was there if that is said.
    #[inline]
    pub(crate) fn of(&mut self, task: i64) -> Result<Option<(i64, i64)>, TraceError> {
        if !self.look()? || self.task[self.next] != task {
            return Ok(None);
        }
        let at = if self.with_moments { self.at[self.next] } else { MISSING };
        let of = self.of[self.next];
        self.next += 1;
        Ok(Some((of, at)))
    }
}

/// Who needed something of whom, in one row group.
pub(crate) fn pairs(needs: &Groups, group: usize) -> Result<(Vec<i64>, Vec<i64>), TraceError> {
    Ok((needs.int64(group, "task", None)?, needs.int64(group, "of", None)?))
}
