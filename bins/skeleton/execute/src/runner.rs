//! Runs ranks: alone, one after another, or together, each until it waits. In this process, which is one that
//! [`crate::child`] has started.

use crate::ExecuteError;
use crate::child::Board;
use crate::jit::Program;
use crate::skeleton::Skeleton;
use kizami_entry::{Beginning, Heap, Heaps, Observed, Process, Stacks, State, Stop, Traps};
use kizami_mpi_stub::communicator::Communicator;
use kizami_mpi_stub::event::{Entry, Stream};
use kizami_mpi_stub::process_group::{Alone, Learned, ProcessGroup, Together};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Whether ranks run alone or together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankMode {
    /// Alone, unless what they receive steers them.
    #[default]
    Auto,
    /// One after another, in passes.
    Alone,
    /// All at once, with messages handed over.
    Together,
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    pub skeleton: &'a Skeleton,
    /// What places that depend on data give.
    pub oracles: Observed,
    pub ranks: u32,
    pub arguments: Vec<String>,
    pub mode: RankMode,
    pub ranks_per_node: u32,
    pub threads: u32,
    /// Communicators of each rank are kept, for rows.
    pub for_rows: bool,
    /// Bytes that all ranks may have together, if that is limited.
    pub memory: Option<u64>,
}

/// What all ranks did, told once for each kind of rank.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The streams that differ.
    pub kinds: Vec<Stream>,
    pub(crate) by_fingerprint: FxHashMap<u128, u32>,
    /// By rank: which of them.
    pub kind_of: Vec<u32>,
    /// By rank: its communicators behind the first two.
    pub comms: Vec<Box<[Communicator]>>,
    /// Calls of all ranks.
    pub calls: u64,
    /// How often ranks were run.
    pub passes: u32,
    /// They ran together.
    pub together: bool,
    /// Ranks whose program said by its exit code that something was wrong.
    pub failed: u32,
    /// Processor time of the process that they ran in.
    pub processor_seconds: f64,
}

impl Gathered {
    fn add(&mut self, process: &mut Process, for_rows: bool) {
        let kinds = &mut self.kinds;
        let kind = *self.by_fingerprint.entry(process.stream.fingerprint()).or_insert_with(|| {
            kinds.push(process.stream.clone());
            kinds.len() as u32 - 1
        });
        self.kind_of.push(kind);
        self.calls += process.stream.calls;
        self.failed += u32::from(matches!(process.state, State::Over(Stop::Ended(code)) if code != 0));
        if for_rows {
            self.comms.push(process.comms.drain(2..).flatten().collect());
        }
    }

    /// How often each of so many counted loops goes round, over all ranks.
    pub fn rounds(&self, loops: usize) -> Vec<u64> {
        let mut ranks_of = vec![0u64; self.kinds.len()];
        self.kind_of.iter().for_each(|kind| ranks_of[*kind as usize] += 1);
        let mut rounds = vec![0u64; loops];
        for (stream, ranks) in self.kinds.iter().zip(ranks_of) {
            for entry in stream.entries() {
                let Entry::Trips(trips) = entry else { continue };
                for pair in trips.chunks_exact(2) {
                    let room = &mut rounds[pair[0] as usize];
                    *room = room.wrapping_add(pair[1].wrapping_mul(ranks));
                }
            }
        }
        rounds
    }

    /// Adds what another thread gathered of the ranks behind these.
    fn append(&mut self, other: Gathered) {
        let fingerprints: FxHashMap<u32, u128> =
            other.by_fingerprint.iter().map(|(fingerprint, kind)| (*kind, *fingerprint)).collect();
        let mut numbers = Vec::new();
        for (kind, stream) in (0..).zip(other.kinds) {
            let kinds = &mut self.kinds;
            numbers.push(*self.by_fingerprint.entry(fingerprints[&kind]).or_insert_with(|| {
                kinds.push(stream);
                kinds.len() as u32 - 1
            }));
        }
        self.kind_of.extend(other.kind_of.iter().map(|kind| numbers[*kind as usize]));
        self.comms.extend(other.comms);
        self.calls += other.calls;
        self.failed += other.failed;
    }
}

/// The command line as C has it.
struct CommandLine {
    _texts: Vec<CString>,
    pointers: Vec<usize>,
}

impl CommandLine {
    fn new(arguments: &[String]) -> CommandLine {
        let all = std::iter::once("skeleton").chain(arguments.iter().map(String::as_str));
        let texts: Vec<CString> =
            all.map(|text| CString::new(text.replace('\0', "")).unwrap_or_default()).collect();
        let pointers = texts.iter().map(|text| text.as_ptr() as usize).chain([0]).collect();
        CommandLine { _texts: texts, pointers }
    }
}

/// Runs all ranks in this process, alone if that is enough.
pub fn gather_here(plan: &Plan, board: &Board) -> Result<Gathered, ExecuteError> {
    match plan.mode {
        RankMode::Together => together(plan, board),
        RankMode::Alone => alone(plan, board),
        RankMode::Auto if plan.skeleton.needs_payloads() => together(plan, board),
        RankMode::Auto => match alone(plan, board) {
            Err(ExecuteError::NeedsOthers { .. } | ExecuteError::Unsettled { .. }) => together(plan, board),
            other => other,
        },
    }
}

fn process(
    plan: &Plan,
    program: &Program,
    line: &CommandLine,
    others: *mut ProcessGroup,
    (heap, stack_top): (Heap, usize),
) -> Box<Process> {
    Process::new(Beginning {
        size: plan.ranks,
        convention: program.convention,
        process_group: others,
        oracles: plan.oracles.values(),
        heap,
        stack_top,
        ranks_per_node: plan.ranks_per_node,
        main: program.main,
        constructors: program.constructors,
        argc: line.pointers.len() as i32 - 1,
        argv: line.pointers.as_ptr() as usize,
    })
}

/// What ended a rank, unless it was its end.
fn problem(plan: &Plan, process: &Process, stop: &Stop) -> Option<ExecuteError> {
    let rank =
        |what: String| ExecuteError::Rank { rank: process.rank, ranks: plan.ranks, what: named(plan, what) };
    match stop {
        Stop::Ended(_) => None,
        Stop::Aborted(code) => {
            Some(rank(format!("it called MPI_Abort({code}) after {} calls", process.stream.calls)))
        }
        Stop::Refused(what) => Some(rank(what.clone())),
        Stop::NeedsOthers(what) => {
            Some(ExecuteError::NeedsOthers { rank: process.rank, what: named(plan, what.clone()) })
        }
        Stop::Crashed(signal) => {
            Some(rank(format!("it crashed with signal {signal} after {} calls", process.stream.calls)))
        }
    }
}

/// Puts the place in the source for its number.
fn named(plan: &Plan, what: String) -> String {
    let Some((before, rest)) = what.split_once(" (call site ") else { return what };
    let site = rest.trim_end_matches(')').parse::<u32>().ok();
    let found = site.and_then(|site| plan.skeleton.manifest.call_sites.iter().find(|known| known.id == site));
    found.map_or(what.clone(), |site| format!("{before} ({}:{})", site.file, site.line))
}

/// How much a rank may have, so that all find room in what can be addressed.
fn room(ranks: u32) -> (usize, usize) {
    let stack = if ranks <= 4096 { 8 << 20 } else { 256 << 10 };
    let heap = (16usize << 40) / ranks.max(1) as usize;
    (stack, heap.min(64 << 30) & !0xfff)
}

fn together(plan: &Plan, board: &Board) -> Result<Gathered, ExecuteError> {
    let memory = |why| ExecuteError::Memory { ranks: plan.ranks, why };
    let program = Program::compile(plan.skeleton)?;
    let line = CommandLine::new(&plan.arguments);
    let (stack, heap) = room(plan.ranks);
    let stacks = Stacks::reserve(plan.ranks as usize, stack).map_err(memory)?;
    let heaps = Heaps::reserve(plan.ranks as usize, heap).map_err(memory)?;
    let mut others = Box::new(ProcessGroup::Together(Together::new(plan.ranks)));
    let place: *mut ProcessGroup = &raw mut *others;
    let mut all: Vec<Box<Process>> = (0..plan.ranks)
        .map(|rank| {
            let index = rank as usize;
            let mut one = process(plan, &program, &line, place, (heaps.get(index), stacks.top(index)));
            one.reset(rank);
            one
        })
        .collect();
    let _traps = Traps::set();
    board.begin(1);
    let mut saved: Vec<Vec<u8>> = vec![Vec::new(); plan.ranks as usize];
    let mut queue: VecDeque<u32> = (0..plan.ranks).collect();
    let mut queued = vec![true; plan.ranks as usize];
    let mut resident = None;
    while let Some(rank) = queue.pop_front() {
        let index = rank as usize;
        queued[index] = false;
        if program.data_bytes() > 0 && resident != Some(rank) {
            if let Some(before) = resident {
                program.save(&mut saved[before as usize]);
            }
            program.load(&saved[index]);
            resident = Some(rank);
        }
        board.resume(rank);
        all[index].resume();
        if let State::Over(stop) = all[index].state.clone() {
            board.done.fetch_add(1, Ordering::Relaxed);
            if let Some(problem) = problem(plan, &all[index], &stop) {
                return Err(problem);
            }
        }
        // SAFETY: no rank runs now, so nobody else looks at it.
        if let ProcessGroup::Together(together) = unsafe { &mut *place } {
            for woken in together.woken.drain(..) {
                let other = woken as usize;
                if all[other].state == State::Waiting && !queued[other] {
                    queued[other] = true;
                    queue.push_back(woken);
                }
            }
        }
    }
    if let Some(first) = all.iter().find(|process| process.state == State::Waiting) {
        let waiting = all.iter().filter(|process| process.state == State::Waiting).count() as u32;
        let what = format!("the first of them, rank {}, has made {} calls", first.rank, first.stream.calls);
        return Err(ExecuteError::Hang { waiting, ranks: plan.ranks, what });
    }
    let mut gathered = Gathered { passes: 1, together: true, ..Gathered::default() };
    for process in &mut all {
        gathered.add(process, plan.for_rows);
    }
    Ok(gathered)
}

/// More passes than this are not made: what needs more is better run together.
const MOST_PASSES: u32 = 12;

fn alone(plan: &Plan, board: &Board) -> Result<Gathered, ExecuteError> {
    let threads = plan.threads.clamp(1, plan.ranks.max(1));
    let each = plan.ranks.div_ceil(threads);
    let shares: Vec<(u32, u32)> =
        (0..threads).map(|share| (share * each, ((share + 1) * each).min(plan.ranks))).collect();
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for share in shares {
            let (ask, asked) = std::sync::mpsc::channel::<Arc<Learned>>();
            let (results, result) = std::sync::mpsc::channel();
            scope.spawn(move || {
                let mut worker = match Worker::new(plan) {
                    Ok(worker) => worker,
                    Err(why) => return drop(results.send(Err(why))),
                };
                while let Ok(known) = asked.recv() {
                    if results.send(Ok(worker.pass(plan, board, share, known))).is_err() {
                        return;
                    }
                }
            });
            workers.push((ask, result));
        }
        let mut known = Arc::new(Learned::default());
        for pass in 1..=MOST_PASSES {
            board.begin(pass);
            for (ask, _) in &workers {
                drop(ask.send(known.clone()));
            }
            let (mut learned, mut gathered, mut problem) = (Learned::default(), Gathered::default(), None);
            for (_, result) in &workers {
                let Ok(result) = result.recv() else { continue };
                let done: Pass = result?;
                learned.merge(done.learned);
                gathered.append(done.gathered);
                problem = problem.or(done.problem);
            }
            if let Some(ExecuteError::NeedsOthers { .. }) = problem {
                return Err(problem.unwrap_or(ExecuteError::Unsettled { passes: pass }));
            }
            if learned == *known {
                gathered.passes = pass;
                return problem.map_or(Ok(gathered), Err);
            }
            learned.settle();
            known = Arc::new(learned);
        }
        Err(ExecuteError::Unsettled { passes: MOST_PASSES })
    })
}

/// What a thread found in one pass over its ranks.
struct Pass {
    learned: Learned,
    gathered: Gathered,
    /// Counts only if it is there in the last pass: before, ranks may be told wrong values.
    problem: Option<ExecuteError>,
}

/// A thread's own program, and the one process that is all its ranks.
struct Worker {
    process: Box<Process>,
    others: Box<ProcessGroup>,
    program: Program,
    _heaps: Heaps,
    _stacks: Stacks,
    _line: CommandLine,
    _traps: Traps,
}

impl Worker {
    fn new(plan: &Plan) -> Result<Worker, ExecuteError> {
        let memory = |why| ExecuteError::Memory { ranks: 1, why };
        let program = Program::compile(plan.skeleton)?;
        let line = CommandLine::new(&plan.arguments);
        let (stack, heap) = room(1);
        let stacks = Stacks::reserve(1, stack).map_err(memory)?;
        let heaps = Heaps::reserve(1, heap).map_err(memory)?;
        let mut others = Box::new(ProcessGroup::Alone(Alone::default()));
        let process = process(plan, &program, &line, &raw mut *others, (heaps.get(0), stacks.top(0)));
        let traps = Traps::set();
        Ok(Worker { process, others, program, _heaps: heaps, _stacks: stacks, _line: line, _traps: traps })
    }

    fn pass(&mut self, plan: &Plan, board: &Board, (from, to): (u32, u32), known: Arc<Learned>) -> Pass {
        *self.others = ProcessGroup::Alone(Alone::after(known));
        let (mut gathered, mut found) = (Gathered::default(), None);
        for rank in from..to {
            self.program.restore();
            self.process.reset(rank);
            board.resume(rank);
            self.process.resume();
            board.done.fetch_add(1, Ordering::Relaxed);
            if let State::Over(stop) = &self.process.state
                && found.is_none()
            {
                found = problem(plan, &self.process, stop);
                if let Some(ExecuteError::NeedsOthers { .. }) = found {
                    break;
                }
            }
            gathered.add(&mut self.process, plan.for_rows);
        }
        let learned = match &mut *self.others {
            ProcessGroup::Alone(alone) => std::mem::take(&mut alone.learned),
            ProcessGroup::Together(_) => Learned::default(),
        };
        Pass { learned, gathered, problem: found }
    }
}
