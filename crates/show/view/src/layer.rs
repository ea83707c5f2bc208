//! A layer of the picture: a trace, or a trace on an ideal network, with everything worked out about it so far.
//!
//! What takes long is worked out in the background, one thing at a time, when it is first asked for.

use crate::by_rank::ByRank;
use crate::ideal::Ideal;
use crate::index::Index;
use crate::insight::Insight;
use crate::links::Links;
use crate::schedules::{ScheduleBounds, Schedules};
use crate::slot::{Answer, Slot};
use crate::threads::RankThreads;
use crate::verdict::{self, Verdict};
use kizami_explain::ExactCalls;
use kizami_model::Rank;
use kizami_tasks::{Strategy, Survey, TaskGraph, TasksError, memory_needed, recorded_by};
use kizami_trace::run::ClockInfo;
use kizami_trace::{Definitions, LinkLoad, ParallelRow, RegionSpan, TaskRow, Trace, TraceError};
use serde::Serialize;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One trace that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The trace.
    pub trace: Trace,
    /// What the numbers in its rows stand for.
    pub definitions: Definitions,
    /// If it was reconstructed: what the reduced trace knows exactly.
    exact: Option<ExactCalls>,
    index: Slot<Index>,
    insight: Slot<Insight>,
    ideal: Slot<Index>,
    verdict: Slot<Verdict>,
    tasks: ByRank<RankTasks>,
    threads: ByRank<Slot<RankThreads>>,
    links: Slot<Links>,
    regions: OnceLock<Vec<RegionSpan>>,
    /// Whoever has it works; others wait for their turn, so that memory is for one thing at a time.
    turn: Mutex<()>,
}

/// The tasks of one rank.
#[derive(Debug, Default)]
struct RankTasks {
    survey: Slot<Survey>,
    recorded_by: OnceLock<Option<Strategy>>,
    /// How long they take on so many processors.
    schedules: Schedules,
}

impl RankTasks {
    fn is_under_way(&self) -> bool {
        self.survey.is_under_way()
    }

    /// Whether they take so much memory that they are not kept beside others.
    fn is_large(&self) -> bool {
        matches!(self.survey.peek(), Answer::Ready(survey) if survey.graph().len() > MANY_TASKS)
    }
}

/// Ranks whose tasks are kept, at most.
const MOST_TASK_RANKS: usize = 4;
/// Ranks whose threads are kept, at most.
pub(crate) const MOST_THREAD_RANKS: usize = 8;
/// More tasks of a rank are not kept beside those of others.
const MANY_TASKS: usize = 1_000_000;

impl Opened {
    /// Opens a trace; its index is mapped if it was kept.
    pub fn open(path: &Path) -> Result<Arc<Opened>, TraceError> {
        Opened::of(Trace::open(path)?)
    }

    /// The same with a trace that is open.
    pub fn of(trace: Trace) -> Result<Arc<Opened>, TraceError> {
        Opened::reconstructed(trace, None)
    }

    /// The same with a trace that was reconstructed from one that knows this exactly; or from none.
    pub fn reconstructed(trace: Trace, exact: Option<ExactCalls>) -> Result<Arc<Opened>, TraceError> {
        let definitions = trace.definitions()?;
        let opened = Opened {
            trace,
            definitions,
            exact,
            index: Slot::default(),
            insight: Slot::default(),
            ideal: Slot::default(),
            verdict: Slot::default(),
            tasks: ByRank::new(MOST_TASK_RANKS),
            threads: ByRank::new(MOST_THREAD_RANKS),
            links: Slot::default(),
            regions: OnceLock::new(),
            turn: Mutex::default(),
        };
        if let Some(index) = Index::kept(&opened.trace) {
            opened.index.fill(index);
        }
        if let Some(verdict) = verdict::kept(&opened.trace) {
            opened.verdict.fill(verdict);
        }
        Ok(Arc::new(opened))
    }

    /// Whether it has tasks.
    pub fn has_tasks(&self) -> bool {
        self.trace.has_parts_of::<TaskRow>()
    }

    /// Whether there is nothing else in it.
    pub fn is_only_tasks(&self) -> bool {
        self.has_tasks() && self.trace.run().totals.events == 0
    }

    /// Whether its times are units of virtual time, not of a clock.
    pub fn is_virtual(&self) -> bool {
        self.trace.run().clocks.method == ClockInfo::VIRTUAL
    }

    /// What its tables say about regions; nothing if they cannot be read.
    pub fn regions(&self) -> &[RegionSpan] {
        self.regions.get_or_init(|| self.trace.region_spans().unwrap_or_default())
    }

    /// The index, made now if it is not there.
    pub fn index_now(&self) -> Result<Arc<Index>, String> {
        self.index.wait(|progress| Index::build(&self.trace, progress).map_err(|error| error.to_string()))
    }

    /// Messages and waits, worked out now.
    pub fn insight_now(&self) -> Result<Arc<Insight>, String> {
        self.insight.wait(|progress| {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            Insight::of(&self.trace, threads(), progress).map_err(|error| error.to_string())
        })
    }

    /// The verdict, worked out now.
    pub fn verdict_now(&self) -> Result<Arc<Verdict>, String> {
        self.verdict.wait(|progress| {
            let insight = self.insight_now()?;
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let (exact, definitions) = (self.exact.as_ref(), &self.definitions);
            let explained = verdict::explain(&self.trace, exact, &insight, definitions, threads(), progress);
            explained.map_err(|error| error.to_string())
        })
    }

    /// The index of the run on an ideal network, worked out now.
    pub fn ideal_now(&self) -> Result<Arc<Index>, String> {
        self.ideal.wait(|progress| {
            // Ranks of a kind may come apart there.
            if self.trace.run().is_stored_by_rank_class() {
                let next = "write it with `kizami replay --network ideal -o`, and view both";
                return Err(format!("Ranks of one rank class may differ on an ideal network: {next}."));
            }
            let insight = self.insight_now()?;
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let half = |part: f64| progress(part / 2.0);
            let ideal = Ideal::of(&insight, threads(), &half);
            let index = Index::of_source(&ideal, &self.trace, &|part| progress(0.5 + part / 2.0));
            index.map_err(|error| error.to_string())
        })
    }

    /// The tasks of a rank, as far as they are read; of ranks that nobody asked for since many others they are forgotten.
    fn tasks_of(&self, rank: Rank) -> Arc<RankTasks> {
        self.tasks.of(rank, RankTasks::is_large, RankTasks::is_under_way)
    }

    /// What links carried, read now.
    pub fn links_now(&self) -> Result<Arc<Links>, String> {
        self.links.wait(|_| Links::of(&self.trace).map_err(|error| error.to_string()))
    }

    /// The index, begun in the background if nobody has.
    pub fn index(self: &Arc<Opened>) -> Answer<Index> {
        self.begin(self.index.begun(), Opened::index_now);
        self.index.peek()
    }

    /// Messages and waits; the same.
    pub fn insight(self: &Arc<Opened>) -> Answer<Insight> {
        self.begin(self.insight.begun(), Opened::insight_now);
        self.insight.peek()
    }

    /// The verdict; the same.
    pub fn verdict(self: &Arc<Opened>) -> Answer<Verdict> {
        self.begin(self.verdict.begun(), Opened::verdict_now);
        self.verdict.peek()
    }

    /// The tasks of a rank; the same, but giving way to nobody: nothing can be shown without them.
    pub fn survey(self: &Arc<Opened>, rank: Rank) -> Answer<Survey> {
        let tasks = self.tasks_of(rank);
        if !tasks.survey.begun() {
            let (own, tasks) = (Arc::clone(self), Arc::clone(&tasks));
            let read = move || {
                // Failures are kept in the slot.
                drop(tasks.survey.wait(|_| {
                    let _turn = own.turn.lock().unwrap_or_else(PoisonError::into_inner);
                    own.read_tasks(rank)
                }));
            };
            std::thread::spawn(read);
        }
        tasks.survey.peek()
    }

    /// What the threads of a rank did; the same.
    pub fn threads(self: &Arc<Opened>, rank: Rank) -> Answer<RankThreads> {
        let threads = self.threads.of(rank, |_| false, Slot::is_under_way);
        if !threads.begun() {
            let (own, threads) = (Arc::clone(self), Arc::clone(&threads));
            std::thread::spawn(move || drop(own.lay_out(rank, &threads)));
        }
        threads.peek()
    }

    /// What the threads of a rank did, read now.
    pub fn threads_now(&self, rank: Rank) -> Result<Arc<RankThreads>, String> {
        self.lay_out(rank, &self.threads.of(rank, |_| false, Slot::is_under_way))
    }

    fn lay_out(&self, rank: Rank, threads: &Slot<RankThreads>) -> Result<Arc<RankThreads>, String> {
        threads.wait(|_| {
            let index = self.index_now()?;
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            RankThreads::of(&self.trace, &index, rank).map_err(|error| error.to_string())
        })
    }

    /// Reads the tasks of a rank, unless they take more memory than is to be had.
    fn read_tasks(&self, rank: Rank) -> Result<Survey, String> {
        let message = |error: TasksError| error.to_string();
        let needed = memory_needed(&self.trace, rank).map_err(message)?;
        if needed > kizami_memory::half_of_free() {
            let next =
                "`kizami tasks --bounds` reports work, span, source lines and bounds without loading them";
            return Err(format!(
                "Loading all tasks needs {} MB, more than half of the free memory: {next}.",
                needed >> 20
            ));
        }
        TaskGraph::of(&self.trace, rank).map(Survey::of).map_err(message)
    }

    /// What so many processors do with the tasks of a rank; by default as the runtime does that ran them.
    pub fn schedule(
        &self,
        rank: Rank,
        survey: &Arc<Survey>,
        processors: u32,
        strategy: Option<Strategy>,
    ) -> ScheduleBounds {
        let tasks = self.tasks_of(rank);
        let recorded = || *tasks.recorded_by.get_or_init(|| recorded_by(&self.trace, rank).ok().flatten());
        let followed = survey.graph().can_follow_runtime();
        let strategy = strategy.or_else(|| recorded().filter(|_| followed)).unwrap_or_default();
        tasks.schedules.of(survey, processors, strategy)
    }

    /// What links carried; the same, because reading it takes little.
    pub fn links(self: &Arc<Opened>) -> Answer<Links> {
        self.begin_at_once(self.links.begun(), Opened::links_now);
        self.links.peek()
    }

    /// The index of the run on an ideal network; the same.
    pub fn ideal(self: &Arc<Opened>) -> Answer<Index> {
        self.begin(self.ideal.begun(), Opened::ideal_now);
        self.ideal.peek()
    }

    /// What there is of the index of the run on an ideal network; nothing is begun.
    pub fn ideal_so_far(&self) -> Answer<Index> {
        self.ideal.peek()
    }

    /// Works something out in the background before others, unless that was begun.
    fn begin_at_once<T: 'static>(
        self: &Arc<Opened>,
        begun: bool,
        now: fn(&Opened) -> Result<Arc<T>, String>,
    ) {
        if !begun {
            let own = Arc::clone(self);
            std::thread::spawn(move || drop(now(&own)));
        }
    }

    /// The same, giving way to others.
    fn begin<T: 'static>(self: &Arc<Opened>, begun: bool, now: fn(&Opened) -> Result<Arc<T>, String>) {
        if !begun {
            let own = Arc::clone(self);
            // Failures are kept in the slot.
            std::thread::spawn(move || {
                yield_to_others();
                // What takes many seconds anyway lets the first picture be drawn in peace.
                if matches!(own.index.peek(), Answer::Ready(_)) && own.trace.run().totals.events > MANY_EVENTS
                {
                    std::thread::sleep(FIRST_PICTURE);
                }
                drop(now(&own));
            });
        }
    }
}

/// From so many events on, work in the background waits for the first picture.
const MANY_EVENTS: u64 = 5_000_000;
/// About as long as a browser takes to draw it.
const FIRST_PICTURE: std::time::Duration = std::time::Duration::from_millis(1_200);

/// Makes this thread, and those it will start, give way to all others: what somebody waits for in front of the screen is
/// answered first. The index is not made this way: nothing can be shown without it.
fn yield_to_others() {
    const LAST: libc::c_int = 19;
    // SAFETY: a plain system call about the calling thread (0) alone; refused, work is only done less politely.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, LAST) };
}

/// How many threads to work with.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How the times of a layer came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// As the trace has them.
    Trace,
    /// Replayed on an ideal network.
    Ideal,
}

/// One layer.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its trace.
    pub opened: Arc<Opened>,
    /// Where its times come from.
    pub origin: Origin,
}

/// How the times of a layer came to be, in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum LayerKind {
    /// By a clock.
    Recorded,
    /// By a clock, and the tracer taken out.
    Undisturbed,
    /// By a replay.
    Replayed,
    /// By a program that counts virtual time itself.
    Virtual,
}

impl LayerKind {
    /// The word people read: `recorded`, `corrected`, `predicted` or `virtual`.
    pub fn word(self) -> &'static str {
        match self {
            LayerKind::Recorded => "recorded",
            LayerKind::Undisturbed => "corrected",
            LayerKind::Replayed => "predicted",
            LayerKind::Virtual => "virtual",
        }
    }
}

impl Layer {
    /// Its index, begun in the background if nobody has.
    pub fn index(&self) -> Answer<Index> {
        match self.origin {
            Origin::Trace => self.opened.index(),
            Origin::Ideal => self.opened.ideal(),
        }
    }

    /// Whether what links of its network carried is known, at its own times.
    pub fn has_links(&self) -> bool {
        self.origin == Origin::Trace && self.opened.trace.has_parts_of::<LinkLoad>()
    }

    /// Whether its parallel regions are known, at its own times.
    pub fn has_regions(&self) -> bool {
        self.origin == Origin::Trace && self.opened.trace.has_parts_of::<ParallelRow>()
    }

    /// How its times came to be.
    pub fn kind(&self) -> LayerKind {
        let run = self.opened.trace.run();
        match self.origin {
            Origin::Ideal => LayerKind::Replayed,
            Origin::Trace if run.replayed.is_some() => LayerKind::Replayed,
            Origin::Trace if run.undisturbed.is_some() => LayerKind::Undisturbed,
            Origin::Trace if self.opened.is_virtual() => LayerKind::Virtual,
            Origin::Trace => LayerKind::Recorded,
        }
    }
}
