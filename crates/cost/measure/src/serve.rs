//! From commands to answers.

use crate::MeasureError;
use crate::answers::Answers;
use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::collectives::Prepared;
use crate::command::{Command, Limits};
use crate::hosts::Hosts;
use crate::messages::{Messages, Route};
use crate::noise::{Noise, Pace};
use crate::operation::{Form, Operation};
use crate::rank::Rank;
use crate::sampling::{self, Measured};
use crate::subject::Subject;
use crate::windows::Remote;
use kizami_mpi::{Collective, Comm, Mpi, MpiError};
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, StdinLock, StdoutLock};

/// Room for a command.
const LINE_BYTES: usize = 256;

/// More is not measured, so that no count of MPI overflows.
const MOST_BYTES: usize = 1 << 30;

/// How much of the library's version is reported.
const VERSION_CHARACTERS: usize = 120;

/// Measures what is requested, as the only thing this process does: MPI cannot be started twice.
///
/// An error is returned if MPI cannot be started. If something fails later, this says so and ends all ranks.
pub fn run() -> Result<(), MeasureError> {
    let mpi = Mpi::load()?;
    let measured = mpi.init()?;
    // What is not measured goes its own way, so that the first call on the world is the first.
    let world = mpi.duplicate(&measured)?;
    let hosts = Hosts::ask(&mpi, &world)?;
    let clock = Clock::compare(&mpi, &world, &hosts.elsewhere)?;
    let mut server = Server::new(Rank { mpi, world, measured, clock });
    let served = server.introduce(&hosts).and_then(|()| server.serve());
    let mpi = &server.rank.mpi;
    if let Err(error) = served.and_then(|()| mpi.finalize()) {
        eprintln!("kizami: measuring ended: {error}");
        mpi.abort(1);
    }
    Ok(())
}

/// What is kept between commands.
struct Server {
    rank: Rank,
    memory: Memory,
    input: StdinLock<'static>,
    answers: Answers<StdoutLock<'static>>,
}

/// What was found out, the same on all ranks, and buffers.
#[derive(Default)]
struct Memory {
    buffers: Buffers,
    /// Operations that were called.
    called: HashSet<String>,
    medians_ns: HashMap<(String, String, usize), f64>,
    pace: Option<Pace>,
}

/// What to measure.
#[derive(Clone, Copy)]
struct Task<'a> {
    op: &'a str,
    pattern: &'a str,
    operation: Operation,
    bytes: usize,
    limits: Limits,
}

impl Server {
    fn new(rank: Rank) -> Server {
        let (input, output) = (io::stdin().lock(), io::stdout().lock());
        Server { rank, memory: Memory::default(), input, answers: Answers::new(output) }
    }

    /// Tells where the ranks are and which MPI this is.
    fn introduce(&mut self, hosts: &Hosts) -> Result<(), MpiError> {
        if !self.rank.is_first() {
            return Ok(());
        }
        let mpi = &self.rank.mpi;
        let version = mpi.library_version()?;
        let version: Vec<&str> = version.lines().next().unwrap_or("").split_whitespace().collect();
        let version: String = version.join(" ").chars().take(VERSION_CHARACTERS).collect();
        let host: String = mpi.processor_name()?.split_whitespace().collect();
        let (ranks, Hosts { nodes, ranks_per_node, .. }) = (self.rank.world.size(), hosts);
        self.answers.say(&format!("here {ranks} {nodes} {ranks_per_node} {host} | {version}"));
        Ok(())
    }

    fn serve(&mut self) -> Result<(), MpiError> {
        while let Command::Measure { op, pattern, bytes, limits } = self.next()? {
            let what = format!("{op} {pattern} {bytes}");
            let Some(operation) = Operation::named(&op, &pattern) else {
                self.say(&format!("cannot {what} there is no such operation or pattern"));
                continue;
            };
            let task = Task { op: &op, pattern: &pattern, operation, bytes, limits };
            if let Some(reason) = self.hindrance(task) {
                self.say(&format!("cannot {what} {reason}"));
                continue;
            }
            match self.memory.measure(&self.rank, task) {
                Ok((first_ns, measured)) => {
                    if self.rank.is_first() {
                        self.answers.row(&what, first_ns, &measured.spans_ns);
                    }
                }
                // Only one rank may know of it, so there is no going on.
                Err(error @ MpiError::Failed { .. }) => return Err(error),
                // All ranks find these, since all have the same library and sizes.
                Err(reason) => self.say(&format!("cannot {what} {reason}")),
            }
        }
        Ok(())
    }

    /// Why something cannot be measured here at all.
    fn hindrance(&self, task: Task<'_>) -> Option<&'static str> {
        let alone = self.rank.world.size() < 2;
        match task.operation {
            Operation::Message(route) if alone && route != Route::Shift => Some("it needs two ranks"),
            _ if task.bytes > MOST_BYTES => Some("it is more than 1 GiB"),
            Operation::Message(Route::Stream) if task.bytes > MOST_BYTES / 16 => {
                Some("it is more than 64 MiB")
            }
            _ => None,
        }
    }

    fn say(&mut self, line: &str) {
        if self.rank.is_first() {
            self.answers.say(line);
        }
    }

    /// The next command, which rank 0 reads and broadcasts.
    fn next(&mut self) -> Result<Command, MpiError> {
        let mut line = [0; LINE_BYTES];
        if self.rank.is_first() {
            let text = self.read();
            line[..text.len()].copy_from_slice(text.as_bytes());
        }
        self.rank.mpi.call(&self.rank.world, Collective::Bcast { data: &mut line, root: 0 })?;
        let text = String::from_utf8_lossy(&line);
        Ok(Command::parse(text.trim_end_matches('\0')).unwrap_or(Command::Quit))
    }

    /// Reads until there is a command. Nobody there to ask or to answer means to quit.
    fn read(&mut self) -> String {
        let mut text = String::new();
        while self.answers.is_open() {
            text.clear();
            match self.input.read_line(&mut text) {
                Ok(0) | Err(_) => break,
                Ok(_) if text.trim().is_empty() => {}
                Ok(_) if text.len() <= LINE_BYTES && Command::parse(&text).is_some() => return text,
                Ok(_) => self.answers.say(&format!("misunderstood {}", text.trim())),
            }
        }
        "quit".to_owned()
    }
}

impl Memory {
    /// Measures one row: the first call, if it is one, and the repetitions.
    fn measure(&mut self, rank: &Rank, task: Task<'_>) -> Result<(Option<f64>, Measured), MpiError> {
        let first_ns = match self.called.contains(task.op) {
            true => None,
            false => {
                // On the world itself: some libraries make something there once.
                let span_ns =
                    self.with(rank, &rank.measured, task, 0.0, |subject| sampling::once(rank, subject))?;
                self.called.insert(task.op.to_owned());
                Some(span_ns)
            }
        };
        let known_ns = self.needed(rank, task)?;
        let measured = self.repeat(rank, task, known_ns)?;
        Ok((first_ns, measured))
    }

    /// What must be known before: how long a collective takes that is to be overlapped, or how long a message is on
    /// its way that is to be there already.
    fn needed(&mut self, rank: &Rank, task: Task<'_>) -> Result<f64, MpiError> {
        let (pattern, operation) = match task.operation {
            Operation::Collective(name, Form::Overlapped, spread) => {
                ("plain", Operation::Collective(name, Form::Started, spread))
            }
            Operation::Message(Route::Receive) => ("pingpong", Operation::Message(Route::PingPong)),
            _ => return Ok(0.0),
        };
        if let Some(known_ns) = self.medians_ns.get(&(task.op.to_owned(), pattern.to_owned(), task.bytes)) {
            return Ok(*known_ns);
        }
        Ok(self.repeat(rank, Task { pattern, operation, ..task }, 0.0)?.median_ns)
    }

    /// Repeats it on the world, and keeps the median.
    fn repeat(&mut self, rank: &Rank, task: Task<'_>, known_ns: f64) -> Result<Measured, MpiError> {
        let measured = self.with(rank, &rank.measured, task, known_ns, |subject| {
            sampling::repeat(rank, subject, task.limits)
        })?;
        let what = (task.op.to_owned(), task.pattern.to_owned(), task.bytes);
        self.medians_ns.insert(what, measured.median_ns);
        Ok(measured)
    }

    /// Prepares something, does something with it, and clears it away.
    fn with<T>(
        &mut self,
        rank: &Rank,
        comm: &Comm,
        task: Task<'_>,
        known_ns: f64,
        measure: impl FnOnce(&mut dyn Subject) -> Result<T, MpiError>,
    ) -> Result<T, MpiError> {
        let (buffers, bytes) = (&mut self.buffers, task.bytes);
        let mut subject: Box<dyn Subject + '_> = match task.operation {
            Operation::Collective(name, form, spread) => {
                Box::new(Prepared::prepare(rank, comm, (name, form, spread), bytes, known_ns, buffers)?)
            }
            Operation::Message(route) => {
                Box::new(Messages::prepare(rank, comm, route, bytes, known_ns, buffers))
            }
            Operation::Put => Box::new(Remote::prepare(rank, comm, true, bytes, buffers)?),
            Operation::Get => Box::new(Remote::prepare(rank, comm, false, bytes, buffers)?),
            Operation::Noise => {
                let pace = match self.pace {
                    Some(pace) => pace,
                    None => *self.pace.insert(Pace::find(rank)?),
                };
                Box::new(Noise::new(bytes, pace))
            }
        };
        let result = measure(&mut *subject)?;
        subject.finish(rank)?;
        Ok(result)
    }
}
