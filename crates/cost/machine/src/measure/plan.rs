//! The order of a measurement: for each number of ranks a fresh program, all operations at their first sizes, then the
//! sizes where costs bend, until the budget is used up.

use super::disturbance;
use super::session::{Answer, Here, Question, Session};
use super::sizes::Chooser;
use super::statistics::summary;
use crate::error::MachineError;
use crate::machine::{About, Machine, is_simulator};
use crate::tables::{CollectiveRow, MessageRow, NoiseRow};
use kizami_stats::{quantile, sorted};
use std::time::Instant;

/// Computation that is timed again and again to see whether something else runs.
const WORK_NS: u64 = 200_000;
const WORK_REPETITIONS: u64 = 200;
/// How many times as long as it takes alone it may take.
const WORK_PATIENCE: f64 = 6.0;
/// Measurements an operation has, about, for sharing out the time.
const SIZES_EXPECTED: f64 = 13.0;
/// Until the median is this sure.
const TOLERANCE: f64 = 0.02;
const MOST_REPETITIONS: u64 = 1_000;
/// Messages below this many bytes are all alike: the smallest power of two that holds one number.
const SMALLEST: u32 = 2;

/// How much may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Time in all.
    pub seconds: f64,
    /// The largest size.
    pub largest_bytes: u64,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The part of the budget that is used up.
    pub share: f64,
    /// How many ranks are being measured.
    pub ranks: u32,
    /// Rows so far.
    pub rows: usize,
}

/// What is measured, in the order of how often programs need it. Those marked by size have one.
const OPERATIONS: &[(&str, &str, Sized)] = &[
    ("message", "pingpong", Sized::Whole),
    ("message", "send", Sized::Whole),
    ("message", "receive", Sized::Whole),
    ("message", "stream", Sized::Whole),
    ("message", "exchange", Sized::Whole),
    ("message", "crossing", Sized::Whole),
    ("MPI_Sendrecv", "shift", Sized::Whole),
    ("MPI_Barrier", "plain", Sized::No),
    ("MPI_Allreduce", "plain", Sized::Whole),
    ("MPI_Bcast", "plain", Sized::Whole),
    ("MPI_Reduce", "plain", Sized::Whole),
    ("MPI_Alltoall", "plain", Sized::Parts),
    ("MPI_Alltoallv", "plain", Sized::Parts),
    ("MPI_Alltoallv", "sparse", Sized::Whole),
    ("MPI_Allgather", "plain", Sized::Parts),
    ("MPI_Allgatherv", "plain", Sized::Parts),
    ("MPI_Gather", "plain", Sized::Parts),
    ("MPI_Scatter", "plain", Sized::Parts),
    ("MPI_Scan", "plain", Sized::Whole),
    ("MPI_Exscan", "plain", Sized::Whole),
    ("MPI_Reduce_scatter_block", "plain", Sized::Parts),
    ("MPI_Reduce_scatter", "plain", Sized::Parts),
    ("MPI_Gatherv", "plain", Sized::Parts),
    ("MPI_Scatterv", "plain", Sized::Parts),
    ("MPI_Alltoallv", "skewed", Sized::Parts),
    ("MPI_Alltoallw", "plain", Sized::Parts),
    ("MPI_Neighbor_allgather", "plain", Sized::Whole),
    ("MPI_Neighbor_alltoall", "plain", Sized::Whole),
    ("MPI_Put", "plain", Sized::Whole),
    ("MPI_Get", "plain", Sized::Whole),
    ("MPI_Ibarrier", "plain", Sized::No),
    ("MPI_Iallreduce", "plain", Sized::Whole),
    ("MPI_Iallreduce", "overlapped", Sized::Whole),
    ("MPI_Ibcast", "plain", Sized::Whole),
    ("MPI_Ibcast", "overlapped", Sized::Whole),
    ("MPI_Ireduce", "plain", Sized::Whole),
    ("MPI_Ireduce", "overlapped", Sized::Whole),
    ("MPI_Ialltoall", "plain", Sized::Parts),
    ("MPI_Ialltoall", "overlapped", Sized::Parts),
    ("MPI_Ialltoallv", "plain", Sized::Parts),
    ("MPI_Ialltoallw", "plain", Sized::Parts),
    ("MPI_Iallgather", "plain", Sized::Parts),
    ("MPI_Iallgather", "overlapped", Sized::Parts),
    ("MPI_Iallgatherv", "plain", Sized::Parts),
    ("MPI_Igather", "plain", Sized::Parts),
    ("MPI_Igatherv", "plain", Sized::Parts),
    ("MPI_Iscatter", "plain", Sized::Parts),
    ("MPI_Iscatterv", "plain", Sized::Parts),
    ("MPI_Iscan", "plain", Sized::Whole),
    ("MPI_Iexscan", "plain", Sized::Whole),
    ("MPI_Ireduce_scatter", "plain", Sized::Parts),
    ("MPI_Ireduce_scatter_block", "plain", Sized::Parts),
];

/// What the size of a plain operation means, if it is measured.
pub(super) fn sized_operation(operation: &str) -> Option<Sized> {
    OPERATIONS
        .iter()
        .find(|(name, pattern, _)| *name == operation && *pattern == "plain")
        .map(|(.., sized)| *sized)
}

/// Every second power of two, the same for all that are to be compared.
pub(super) fn sizes_up_to(sized: Sized, ranks: u32, largest_bytes: u64) -> Vec<u64> {
    let largest = largest_bytes.max(1).ilog2().max(SMALLEST);
    let powers = match sized {
        Sized::No => return vec![0],
        Sized::Whole => SMALLEST..=largest,
        Sized::Parts => smallest_of_parts(ranks).min(largest)..=largest,
    };
    powers.step_by(2).map(|power| 1 << power).collect()
}

/// As a power of two: each part holds one number at least.
fn smallest_of_parts(ranks: u32) -> u32 {
    SMALLEST + ranks.next_power_of_two().ilog2()
}

/// What the size of an operation means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sized {
    /// It has none.
    No,
    /// That of one message or vector.
    Whole,
    /// That of parts for all ranks together.
    Parts,
}

/// Measures at these numbers of ranks. `words` says how to start the measuring program with so many.
pub fn measure(
    ranks: &[u32],
    budget: Budget,
    words: impl Fn(u32) -> Vec<String>,
    progress: &dyn Fn(Progress),
) -> Result<Machine, MachineError> {
    let mut machine = Machine::default();
    let began = Instant::now();
    for (number, count) in ranks.iter().enumerate() {
        let tell = |share: f64, rows| {
            let share = (number as f64 + share.min(1.0)) / ranks.len() as f64;
            progress(Progress { share, ranks: *count, rows });
        };
        // What fewer ranks left over is for more of them, which take longer.
        let left = budget.seconds - began.elapsed().as_secs_f64();
        let seconds = left.max(0.2 * budget.seconds) / (ranks.len() - number) as f64;
        match measure_at(&words(*count), Budget { seconds, ..budget }, &tell) {
            Ok((here, measured)) => {
                machine.about = about(&here, std::mem::take(&mut machine.about));
                machine.add(measured);
            }
            // What was measured with fewer ranks took minutes, and is as good as before.
            Err(error) if number > 0 => {
                machine.about.disturbed.push(format!("nothing from {count} ranks on: {error}"));
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(machine)
}

/// Measures with one program, started by these words.
fn measure_at(
    words: &[String],
    budget: Budget,
    tell: &dyn Fn(f64, usize),
) -> Result<(Here, Machine), MachineError> {
    let (mut session, here) = Session::start(words)?;
    let measured = Measurement::new(&here, budget).run(&mut session, tell)?;
    session.end()?;
    Ok((here, measured))
}

fn about(here: &Here, before: About) -> About {
    let measured_at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    About {
        host: here.host.clone(),
        mpi: here.library.clone(),
        measured_at: measured_at.map_or(0, |since| since.as_secs()),
        ..before
    }
}

/// What is known of one operation so far.
struct Measured {
    chooser: Chooser,
    kind: (&'static str, &'static str, Sized),
}

/// One number of ranks.
struct Measurement<'a> {
    here: &'a Here,
    budget: Budget,
    began: Instant,
    question_seconds: f64,
    machine: Machine,
    /// How often nothing but computation was timed, to see whether something else runs.
    work_ns: Vec<f64>,
}

impl<'a> Measurement<'a> {
    fn new(here: &'a Here, budget: Budget) -> Measurement<'a> {
        let question_seconds = 0.8 * budget.seconds / (OPERATIONS.len() as f64 * SIZES_EXPECTED);
        let (machine, work_ns) = (Machine::default(), Vec::new());
        Measurement { here, budget, began: Instant::now(), question_seconds, machine, work_ns }
    }

    fn run(mut self, session: &mut Session, tell: &dyn Fn(f64, usize)) -> Result<Machine, MachineError> {
        self.look_for_others(session)?;
        let mut operations: Vec<Measured> = OPERATIONS.iter().map(|kind| self.begin(*kind)).collect();
        loop {
            let mut asked = 0;
            for operation in &mut operations {
                let sizes = operation.chooser.next_sizes();
                asked += sizes.len();
                self.ask(session, operation, &sizes)?;
                tell(self.share(), self.rows());
                if self.share() >= 1.0 {
                    return self.finish(session);
                }
            }
            if asked == 0 {
                return self.finish(session);
            }
        }
    }

    fn begin(&self, kind: (&'static str, &'static str, Sized)) -> Measured {
        let largest = self.budget.largest_bytes.max(1).ilog2().max(SMALLEST);
        let chooser = match kind.2 {
            Sized::No => Chooser::new(0, 0),
            Sized::Whole => Chooser::new(SMALLEST, largest),
            Sized::Parts => Chooser::new(smallest_of_parts(self.here.ranks).min(largest), largest),
        };
        Measured { chooser, kind }
    }

    fn ask(
        &mut self,
        session: &mut Session,
        operation: &mut Measured,
        sizes: &[u64],
    ) -> Result<(), MachineError> {
        let (name, pattern, sized) = operation.kind;
        let bytes = |size: u64| if sized == Sized::No { 0 } else { size };
        let questions: Vec<Question> =
            sizes.iter().map(|size| self.question(name, pattern, bytes(*size))).collect();
        let mut measured = Vec::new();
        for (size, answer) in sizes.iter().zip(session.ask(&questions)?) {
            if let Answer::Row { first_ns, repetitions, spans_ns } = answer
                && let Some(median_ns) =
                    self.keep(operation.kind, bytes(*size), (first_ns, repetitions), &spans_ns)
            {
                measured.push((*size, median_ns));
            }
        }
        operation.chooser.add_measured(&measured);
        Ok(())
    }

    fn question(&self, name: &str, pattern: &str, bytes: u64) -> Question {
        Question {
            operation: name.to_owned(),
            pattern: pattern.to_owned(),
            bytes,
            most_repetitions: MOST_REPETITIONS,
            seconds: self.question_seconds,
            tolerance: TOLERANCE,
        }
    }

    /// Keeps what was measured; returns the median.
    fn keep(
        &mut self,
        (name, pattern, _): (&str, &str, Sized),
        bytes: u64,
        (first_ns, repetitions): (Option<f64>, u64),
        spans_ns: &[f64],
    ) -> Option<f64> {
        let summarised = summary(spans_ns)?;
        let Here { ranks, nodes, ranks_per_node, .. } = *self.here;
        if name == "message" {
            self.machine.messages.push(MessageRow {
                kind: pattern.to_owned(),
                place: if nodes > 1 { "node" } else { "core" }.to_owned(),
                bytes,
                ranks,
                time_ns: summarised.median,
                low_ns: summarised.low,
                high_ns: summarised.high,
                repetitions,
                disturbed: None,
            });
        } else {
            self.machine.collectives.push(CollectiveRow {
                operation: name.to_owned(),
                pattern: pattern.to_owned(),
                algorithm: None,
                bytes,
                ranks,
                nodes: Some(nodes),
                ranks_per_node: Some(ranks_per_node),
                span_ns: summarised.median,
                low_ns: summarised.low,
                high_ns: summarised.high,
                first_ns,
                repetitions,
                disturbed: None,
            });
        }
        Some(summarised.median)
    }

    /// Times computation on all ranks at once.
    fn look_for_others(&mut self, session: &mut Session) -> Result<(), MachineError> {
        let seconds = WORK_PATIENCE * 1e-9 * (WORK_NS * WORK_REPETITIONS) as f64;
        let work = Question {
            most_repetitions: WORK_REPETITIONS,
            seconds,
            tolerance: 0.0,
            ..self.question("noise", "spin", WORK_NS)
        };
        if let Some(Answer::Row { spans_ns, .. }) = session.ask(&[work])?.into_iter().next() {
            self.work_ns.extend(spans_ns);
        }
        Ok(())
    }

    /// Looks for others once more, and marks everything if there were any.
    fn finish(mut self, session: &mut Session) -> Result<Machine, MachineError> {
        self.look_for_others(session)?;
        let Measurement { here, mut machine, work_ns, .. } = self;
        let cores = std::thread::available_parallelism().map_or(u32::MAX, |cores| cores.get() as u32);
        // A simulator takes no turns, and of other hosts nothing is known.
        let crowded = if here.nodes > 1 { None } else { disturbance::crowded(here.ranks, cores) };
        let others = || disturbance::found(&work_ns, 2 * WORK_REPETITIONS);
        let disturbed = if is_simulator(&here.library) { None } else { crowded.or_else(others) };
        for row in &mut machine.collectives {
            row.disturbed.clone_from(&disturbed);
        }
        for row in &mut machine.messages {
            row.disturbed.clone_from(&disturbed);
        }
        machine.about.disturbed.extend(disturbed.map(|why| format!("at {} ranks: {why}", here.ranks)));
        let in_order = sorted(&work_ns);
        if let (Some(quick_ns), Some(summarised), Some(p99_ns)) =
            (quantile(&in_order, 0.0), summary(&work_ns), quantile(&in_order, 0.99))
        {
            let repetitions = work_ns.len() as u64;
            let (ranks, median_ns) = (here.ranks, summarised.median);
            machine.noise.push(NoiseRow { work_ns: quick_ns, ranks, median_ns, p99_ns, repetitions });
        }
        Ok(machine)
    }

    fn share(&self) -> f64 {
        self.began.elapsed().as_secs_f64() / self.budget.seconds
    }

    fn rows(&self) -> usize {
        self.machine.collectives.len() + self.machine.messages.len()
    }
}
