//! The tasks of a run of Fleng, as a trace.

use kizami_fleng::{Observer, Outcome, Task};
use kizami_model::{Ending, Length, Moment, Rank, ThreadIndex};
use kizami_trace::run::ClockInfo;
use kizami_trace::write::About;
use kizami_trace::{CallSite, Definitions, NeedRow, RankInfo, TaskKind, TaskRow, TraceError, TraceWriter};
use std::path::Path;

/// Writes tasks as they end.
pub struct TaskWriter {
    writer: TraceWriter,
    file: String,
    /// By kind of goal: its lines, few as they are, each with its place.
    places: Vec<Vec<(u32, u32)>>,
    failed: Option<TraceError>,
}

impl TaskWriter {
    /// Begins a trace of this program and query.
    pub fn create(directory: &Path, program: &Path, query: &str) -> Result<TaskWriter, TraceError> {
        let file = program.display().to_string();
        let about = About {
            executable: file.clone(),
            command: vec![file.clone(), query.to_owned()],
            mpi_library: "none: Fleng".to_owned(),
            started_unix_ns: 0,
        };
        let rank = RankInfo { threads: 1, ending: Ending::Finalized, ..RankInfo::absent(Rank(0)) };
        let definitions = Definitions { ranks: vec![rank], ..Definitions::default() };
        let writer = TraceWriter::create(directory, about, definitions)?;
        Ok(TaskWriter { writer, file, places: Vec::new(), failed: None })
    }

    /// The trace appears.
    pub fn finish(self, outcome: &Outcome) -> Result<(), TraceError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let end = outcome.end as i64;
        self.writer.finish(|run| {
            run.span_ns = end;
            run.clocks = ClockInfo {
                method: ClockInfo::VIRTUAL.to_owned(),
                note: "times are units of virtual time".to_owned(),
                aligned: true,
                ..ClockInfo::default()
            };
        })?;
        Ok(())
    }

    #[inline]
    fn place(&mut self, task: &Task<'_>) -> u32 {
        let known = self.places.get(task.kind as usize).map_or(&[][..], Vec::as_slice);
        match known.iter().find(|(line, _)| *line == task.line) {
            Some((_, place)) => *place,
            None => self.add_place(task),
        }
    }

    #[cold]
    fn add_place(&mut self, task: &Task<'_>) -> u32 {
        let kind = task.kind as usize;
        self.places.resize_with(self.places.len().max(kind + 1), Vec::new);
        let sites = &mut self.writer.definitions().callsites;
        let place = sites.len() as u32;
        sites.push(CallSite {
            index: place,
            offset: 0,
            module: Some(self.file.clone()),
            function: format!("{}/{}", task.name, task.arity),
            file: Some(self.file.clone()),
            line: Some(task.line),
            inlined_into: Vec::new(),
            path: None,
        });
        self.places[kind].push((task.line, place));
        place
    }

    fn write(&mut self, task: &Task<'_>) -> Result<(), TraceError> {
        let place = self.place(task);
        let moment = |units: u64| Moment(units as i64);
        self.writer.task(TaskRow {
            rank: Rank(0),
            task: task.number,
            parent: (task.parent > 0).then_some(task.parent),
            kind: TaskKind::Goal,
            callsite: Some(place),
            thread: ThreadIndex(task.thread),
            created: Some(moment(task.born)),
            start: moment(task.start),
            end: moment(task.end),
            running: moment(task.end) - moment(task.start),
            parent_running: None,
            tracer: Length::ZERO,
            weight: 1.0,
            waited: None,
            group: None,
            asleep: None,
        })?;
        for need in task.needs.iter().filter(|need| need.task > 0) {
            let (task, of) = (task.number, need.task);
            self.writer.need(NeedRow { rank: Rank(0), task, of, at: Some(moment(need.time)) })?;
        }
        Ok(())
    }
}

impl Observer for TaskWriter {
    fn finished(&mut self, task: &Task<'_>) {
        if self.failed.is_none() {
            self.failed = self.write(task).err();
        }
    }
}
