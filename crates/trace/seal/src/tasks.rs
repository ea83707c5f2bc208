//! The tables of tasks: the events of a threading runtime of each rank, followed and put on the run's clock.
//!
//! One rank after the other, one row at a time. Segments that cannot be read, and events that make no sense, become damage of
//! their rank; the rest becomes rows.

use super::Sources;
use super::causality::Repairs;
use super::discover::Process;
use super::host::RankClock;
use super::names::{ProcessNames, UNDEFINED};
use super::rank::RankOutcome;
use super::source::MappedSegment;
use kizami_model::{Length, Moment, Rank, ThreadIndex};
use kizami_threads::{
    Followed, Listener, Need, Piece, PieceKind, RegionRun, Settings, StreamEvents, ThreadInput, absences,
    follow,
};
use kizami_trace::columns::WrittenFile;
use kizami_trace::run::CountedTasks;
use kizami_trace::write::TaskTables;
use kizami_trace::{NeedRow, ParallelRow, Runtime, TaskKind, TaskRow, TraceError, Waited};
use std::path::Path;

/// The tables of tasks.
pub(crate) struct WrittenTasks {
    /// Their files.
    pub files: Vec<WrittenFile>,
    /// What was only counted, if anything was.
    pub counted: Option<CountedTasks>,
}

/// Writes the tables below `folder`, if any rank has tasks; `outcomes` get from when to when ranks ran, and what was
/// damaged.
pub(crate) fn write_tasks(
    sources: &Sources<'_>,
    repairs: &Repairs,
    folder: &Path,
    outcomes: &mut [RankOutcome],
) -> Result<WrittenTasks, TraceError> {
    let mut tables = TaskTables::new(folder);
    let mut counted: Option<CountedTasks> = None;
    for (rank, process) in sources.recorded.ranks.iter().enumerate() {
        let Some(process) = process.as_ref().filter(|process| !process.tasks.is_empty()) else { continue };
        let host = sources.clock.host_of_process(process);
        let Some(host) = host.and_then(|host| sources.clock.hosts.get(host)) else { continue };
        let mut rows = Rows {
            rank: Rank(rank as u32),
            clock: host.rank_clock(repairs.of(rank)),
            names: &sources.names.processes[rank],
            threads: Vec::new(),
            tables: &mut tables,
            span: None,
            counted: None,
        };
        let damage = rows.follow(process, |ns| host.own_ticks(i64::try_from(ns).unwrap_or(i64::MAX)))?;
        let span = rows.span;
        if let Some(more) = rows.counted {
            counted = Some(counted.map_or(more, |counted| counted.and(&more)));
        }
        let outcome = outcomes.binary_search_by_key(&(rank as u32), |outcome| outcome.rank);
        if let Ok(outcome) = outcome.map(|place| &mut outcomes[place]) {
            if let Some((start_ns, end_ns)) = span {
                outcome.spans(start_ns, end_ns);
            }
            let problems = outcome.damage.take().into_iter().chain(damage).collect::<Vec<_>>();
            outcome.damage = (!problems.is_empty()).then(|| problems.join("; "));
        }
    }
    Ok(WrittenTasks { files: tables.finish()?, counted })
}

/// Rows of one rank.
struct Rows<'a> {
    rank: Rank,
    clock: RankClock<'a>,
    names: &'a ProcessNames,
    /// Index of each thread that is followed.
    threads: Vec<ThreadIndex>,
    tables: &'a mut TaskTables,
    /// When the first piece began and the last ended.
    span: Option<(i64, i64)>,
    /// What was only counted.
    counted: Option<CountedTasks>,
}

impl Rows<'_> {
    /// Follows the threads of a process; returns what could not be believed.
    fn follow(
        &mut self,
        process: &Process,
        ticks_at: impl Fn(u64) -> u64 + Copy,
    ) -> Result<Vec<String>, TraceError> {
        let mut damage = Vec::new();
        let mut mapped = Vec::new();
        for (segment, thread) in process.tasks.iter().zip(process.task_threads()) {
            match MappedSegment::open(segment) {
                Ok(opened) => mapped.push((segment, thread, opened)),
                Err(problem) => damage.push(problem),
            }
        }
        let mut inputs = Vec::new();
        for (info, thread, mapped) in &mapped {
            let segment = match mapped.segment() {
                Ok(segment) => segment,
                Err(problem) => {
                    damage.push(problem);
                    continue;
                }
            };
            let mut first_pass = StreamEvents::of(&segment);
            let absences = absences(first_pass.by_ref(), ticks_at);
            if first_pass.damaged() > 0 {
                let (name, parts) = (info.file_name(), first_pass.damaged());
                damage.push(format!("{name}: {parts} parts cannot be believed"));
            }
            self.threads.push(ThreadIndex(*thread));
            inputs.push(ThreadInput {
                stream: info.header.thread.unwrap_or_default(),
                is_first: info.header.os_thread == info.header.pid,
                record_cost: info.header.call_cost,
                absences,
                events: StreamEvents::of(&segment),
            });
        }
        let followed = follow(inputs, Settings::default(), self)?;
        damage.extend(problems(&followed));
        self.counted = followed.counted.since.map(|since| CountedTasks {
            tasks: followed.counted.tasks,
            ranks: 1,
            since_ns: self.moment(since).0,
        });
        Ok(damage)
    }

    fn moment(&self, ticks: u64) -> Moment {
        Moment(self.clock.at(ticks))
    }

    fn length(&self, ticks: u64) -> Length {
        Length((ticks as f64 * self.clock.ns_per_tick()).round() as i64)
    }

    fn place(&self, site: u32) -> Option<u32> {
        let known = self.names.sites.get(site as usize).copied().filter(|_| site != kizami_records::NO_SITE);
        known.filter(|index| *index != UNDEFINED)
    }
}

/// What made no sense, in words.
fn problems(followed: &Followed) -> Option<String> {
    let Followed { strange, orphans, .. } = followed;
    (strange + orphans > 0).then(|| {
        format!("{strange} events of its threads are inconsistent, and {orphans} tasks ran without a recorded creation")
    })
}

impl Listener for Rows<'_> {
    type Error = TraceError;

    fn piece(&mut self, piece: &Piece, needs: &[Need]) -> Result<(), TraceError> {
        let (start, end) = (self.moment(piece.start), self.moment(piece.end));
        let (first, last) = self.span.unwrap_or((start.0, end.0));
        self.span = Some((first.min(start.0), last.max(end.0)));
        for need in needs {
            self.tables.need(NeedRow { rank: self.rank, task: piece.number, of: need.of, at: None })?;
        }
        // What goes on after it has waited does so where the piece before it ended.
        let made_by_another = piece.kind != PieceKind::Continued || piece.parent.is_none();
        self.tables.task(TaskRow {
            rank: self.rank,
            task: piece.number,
            parent: piece.parent,
            kind: match piece.kind {
                PieceKind::Initial => TaskKind::Initial,
                PieceKind::Share => TaskKind::Implicit,
                PieceKind::Task => TaskKind::Explicit,
                PieceKind::Continued => TaskKind::Continued,
            },
            callsite: self.place(piece.site),
            thread: self.threads[piece.thread],
            created: made_by_another.then(|| self.moment(piece.created)),
            start,
            end,
            running: self.length(piece.running),
            parent_running: piece
                .parent
                .filter(|_| made_by_another)
                .map(|_| self.length(piece.parent_running)),
            tracer: self.length(piece.tracer),
            weight: 1.0,
            waited: piece.waited.map(|waited| match waited {
                kizami_threads::Waited::ForNothing => Waited::Nothing,
                kizami_threads::Waited::ForChildren => Waited::Children,
                kizami_threads::Waited::ForGroup => Waited::Group,
                kizami_threads::Waited::AtBarrier => Waited::Barrier,
                kizami_threads::Waited::ForRegion => Waited::Region,
                kizami_threads::Waited::Together => Waited::Together,
            }),
            group: Some(piece.group).filter(|group| *group > 0),
            asleep: Some(self.length(piece.asleep)),
        })
    }

    fn region(&mut self, region: &RegionRun) -> Result<(), TraceError> {
        self.tables.parallel(ParallelRow {
            rank: self.rank,
            region: region.region,
            within: region.within,
            callsite: self.place(region.site),
            thread: self.threads[region.thread],
            start: self.moment(region.start),
            end: self.moment(region.end),
            threads: region.threads,
            running: self.length(region.running),
            longest: self.length(region.longest),
            locked: self.length(region.locked),
            away: self.length(region.away),
            tracer: self.length(region.tracer),
            tasks: region.tasks,
            runtime: match region.runtime {
                kizami_threads::Runtime::Unknown => None,
                kizami_threads::Runtime::Gnu => Some(Runtime::Gnu),
                kizami_threads::Runtime::Llvm => Some(Runtime::Llvm),
            },
            asleep: Some(self.length(region.asleep)),
        })
    }
}
