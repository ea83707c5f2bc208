//! Commands that several processes do together, where a launcher has started them: `mpirun -n 8 kizami report run.kz`.
//!
//! On one host, threads of one process are faster than several processes, and hold the run once: there the first does all,
//! with a thread for each, and the others end. Else all of them do the same, and share the replays. The first one speaks: it
//! alone prints, shows progress, and writes files. One that fails comes to the next meeting with the reason, and there is
//! one at the end for all, so the others hear of it where they meet next: nobody waits for who never comes, one sentence is
//! printed, and all end with the exit code it deserves. One that panics, or whose MPI fails, ends all at once. If one is
//! killed, the launcher does that.
//!
//! Commands that cannot be shared are done once: by the first process that was given the command line, while the others end.

use crate::cores::all_cores;
use crate::{cores, live, show};
use anyhow::{Context, Result, bail};
use kizami_process_group::{Contribution, MpiGroup, MpiGroupError, ProcessGroup, Received, Single};
use kizami_replay::Workers;
use kizami_terminal::failure;
use kizami_trace::Trace;
use std::cell::OnceCell;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

/// Exit code of a process that panics.
const PANICKED: i32 = 101;

thread_local! {
    /// MPI is called by the thread that has joined, which is the first one.
    static GROUP: OnceCell<MpiGroup> = const { OnceCell::new() };
}

/// This process among those that work together.
#[derive(Clone, Copy, Debug)]
pub struct Together {
    others: Option<&'static Others>,
    /// Threads it may have unless it is told how many: one for each process it works for.
    most_threads: usize,
}

/// What is known of the others.
#[derive(Debug)]
struct Others {
    own: usize,
    count: usize,
    here: usize,
}

/// One of them has failed. This is how the others leave what they were doing: unwinding puts away what they hold.
#[derive(Debug)]
struct Failure {
    process: usize,
    code: u8,
    message: String,
}

impl Together {
    const ALONE: Together = Together { others: None, most_threads: usize::MAX };

    /// Whether this process is the one that prints and writes.
    pub fn is_first(&self) -> bool {
        self.others.is_none_or(|others| others.own == 0)
    }

    /// Whether there are others.
    pub fn has_others(&self) -> bool {
        self.others.is_some()
    }

    /// Processes on this host, which have to share its memory.
    pub fn processes_here(&self) -> usize {
        self.others.map_or(1, |others| others.here)
    }

    /// As many threads as were asked for; else all cores, as far as there are no other processes to use them.
    pub fn threads(&self, asked: Option<usize>) -> usize {
        asked.unwrap_or_else(|| all_cores().min(self.most_threads))
    }

    /// The other processes, if there are some.
    pub fn processes(&self) -> Option<&'static dyn ProcessGroup> {
        self.others.map(|others| others as &dyn ProcessGroup)
    }

    /// The same for whoever divides work among them however few there are.
    pub fn group(&self) -> &'static dyn ProcessGroup {
        self.others.map_or(&Single, |others| others as &dyn ProcessGroup)
    }

    /// Has the processes of this host share its cores, where work takes as many threads as there are.
    pub fn share_cores(&self) {
        if self.has_others() {
            // Some launchers have given each its cores already.
            let threads = cores::of_host().div_ceil(self.processes_here()).min(all_cores()).max(1);
            // Refused only if some were used already; then there are as many as before.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        }
    }

    /// Who replays.
    pub fn workers(&self, asked: Option<usize>) -> Workers {
        Workers { threads: self.threads(asked), processes: self.processes() }
    }

    /// Makes sure that all processes do the same, with the same trace. What one of them could not open is heard of here.
    pub fn agree(&self, arguments: &impl Debug, trace: &Trace) -> Result<()> {
        if !self.has_others() {
            return Ok(());
        }
        self.must_be_alike(arguments, &serde_json::to_string(trace.run())?)
    }

    /// The same where no trace is there yet, or many.
    pub fn agree_on(&self, arguments: &impl Debug) -> Result<()> {
        self.must_be_alike(arguments, "")
    }

    fn must_be_alike(&self, arguments: &impl Debug, found: &str) -> Result<()> {
        if self.first_alike(arguments, found)? != 0 {
            bail!(
                "its options, trace or version of kizami differ from those of the first process; give all processes the same sealed trace; to analyse several traces, start kizami without the launcher"
            );
        }
        Ok(())
    }

    /// The first process that was given the same arguments, and has found the same.
    fn first_alike(&self, arguments: &impl Debug, found: &str) -> Result<usize> {
        let Some(others) = self.others else { return Ok(0) };
        let mut hasher = DefaultHasher::new();
        format!("{}\n{arguments:?}\n{found}", env!("CARGO_PKG_VERSION")).hash(&mut hasher);
        let messages = others.all_gather(hasher.finish().to_le_bytes().into());
        messages.iter().position(|message| *message == messages[others.own]).context("no message of its own")
    }

    /// The number, such as an exit code, that the first process has come to.
    pub fn said_by_first(&self, number: u8) -> u8 {
        self.group().broadcast(vec![number]).first().copied().unwrap_or(number)
    }
}

/// Does the work of a command that cannot be shared: of the processes that a launcher has started with the same command
/// line the first does it, and the others end with nothing said. Where MPI is not found, each does it.
pub fn once(arguments: &impl Debug, work: impl FnOnce() -> Result<u8>) -> Result<u8> {
    let Ok(Some(others)) = join() else { return work() };
    let mut is_own = true;
    let code = together(others, |together| {
        let place = std::env::current_dir().unwrap_or_default();
        is_own = others.own == together.first_alike(arguments, &place.display().to_string())?;
        Ok(0)
    })?;
    if code != 0 || !is_own {
        return Ok(code);
    }
    show::speak();
    work()
}

/// Has processes of several hosts make something ready together. Then the first one does the work, without MPI, and the others
/// end: waiting by MPI takes a core. On one host the first does all.
pub fn then_alone(
    arguments: &impl Debug,
    prepare: impl FnOnce(Together) -> Result<()>,
    work: impl FnOnce() -> Result<u8>,
) -> Result<u8> {
    let Some(others) = join()? else { return work() };
    let code = match others.are_here() {
        true => leave_to_first(others, arguments)?,
        false => together(others, |together| {
            together.agree_on(arguments)?;
            prepare(together)?;
            Ok(0)
        })?,
    };
    if code == 0 && others.own == 0 { work() } else { Ok(code) }
}

/// Does the work of a command that threads can do, and processes where it has to be on several hosts, or is said how many threads
/// each has.
pub fn by_threads(
    arguments: &impl Debug,
    threads: Option<usize>,
    work: impl FnOnce(Together) -> Result<u8>,
) -> Result<u8> {
    let Some(others) = join()? else { return work(Together::ALONE) };
    if threads.is_some() || !others.are_here() {
        return together(others, work);
    }
    let code = leave_to_first(others, arguments)?;
    if code != 0 || others.own > 0 {
        return Ok(code);
    }
    work(Together { others: None, most_threads: others.count })
}

/// Ends what processes of one host have in common: from now on the first has the cores of all. Not 0 if they were not given the
/// same.
fn leave_to_first(others: &'static Others, arguments: &impl Debug) -> Result<u8> {
    let mut cores = Vec::new();
    let code = together(others, |together| {
        together.agree_on(arguments)?;
        cores = others.all_gather(cores::own());
        Ok(0)
    })?;
    if others.own == 0 {
        cores::use_all_of(&cores);
    }
    Ok(code)
}

/// Does the work of a command, together with other processes if a launcher has started some.
pub fn run(work: impl FnOnce(Together) -> Result<u8>) -> Result<u8> {
    match join()? {
        Some(others) => together(others, work),
        None => work(Together::ALONE),
    }
}

fn together(others: &'static Others, work: impl FnOnce(Together) -> Result<u8>) -> Result<u8> {
    if others.own > 0 {
        show::keep_silent();
        kizami_graph::keep_no_graphs();
    }
    let worked = catch_unwind(AssertUnwindSafe(|| {
        let worked = work(Together { others: Some(others), most_threads: 1 });
        others.part(&worked);
        worked
    }));
    let code = match worked {
        Ok(worked) => worked?,
        Err(panic) => match panic.downcast::<Failure>() {
            Ok(failure) => others.report(&failure)?,
            Err(_) => others.abort(PANICKED, "failed for the reason above; this is a bug in kizami"),
        },
    };
    with_group(MpiGroup::end)?;
    Ok(code)
}

fn join() -> Result<Option<&'static Others>, MpiGroupError> {
    static OTHERS: OnceLock<Others> = OnceLock::new();
    let Some(group) = MpiGroup::join()? else { return Ok(None) };
    let others = Others { own: group.index(), count: group.size(), here: group.size_on_host() };
    GROUP.with(|place| {
        place.get_or_init(|| group);
    });
    Ok(Some(OTHERS.get_or_init(|| others)))
}

fn with_group<T>(use_them: impl FnOnce(&MpiGroup) -> T) -> T {
    GROUP.with(|group| use_them(group.get().expect("only the first thread exchanges messages")))
}

impl ProcessGroup for Others {
    fn index(&self) -> usize {
        self.own
    }

    fn size(&self) -> usize {
        self.count
    }

    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.meet(Contribution::ToEach(messages))
    }

    fn all_gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        self.meet(Contribution::ToAll(message))
    }

    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>, from: &[(usize, usize)]) -> Vec<Vec<u8>> {
        with_group(|group| group.exchange(&messages, from))
            .unwrap_or_else(|error| self.abort(1, &format!("aborts: {error}")))
    }
}

impl Others {
    /// Whether all of them are on this host.
    fn are_here(&self) -> bool {
        self.here == self.count
    }

    /// Meets the others for the last time, and tells them if the work has failed.
    fn part(&self, worked: &Result<u8>) {
        self.meet(match worked {
            Ok(_) => Contribution::Done,
            Err(error) => {
                let mut words = vec![failure::exit_code(error)];
                words.extend(failure::message(error).into_bytes());
                Contribution::Failed(words)
            }
        });
    }

    /// Leaves if one of them has failed.
    fn meet(&self, contribution: Contribution) -> Vec<Vec<u8>> {
        match with_group(|group| group.collective(contribution)) {
            Ok(Received::Messages(messages)) => messages,
            Ok(Received::Failure(process, words)) => {
                let (code, message) = words.split_first().unwrap_or((&1, &[]));
                let message = String::from_utf8_lossy(message).into_owned();
                resume_unwind(Box::new(Failure { process, code: *code, message }))
            }
            Err(error) => self.abort(1, &format!("aborts: {error}")),
        }
    }

    /// Says why one of them has failed, once, and gives the exit code. Launchers kill the others as soon as one ends like
    /// that, so nobody ends before it is said.
    fn report(&self, failure: &Failure) -> Result<u8> {
        let Failure { process, code, message } = failure;
        match process {
            0 => failure::report(message),
            _ => failure::report(&format!("process {process} of {}: {message}", self.count)),
        }
        live::remove_all();
        with_group(|group| group.collective(Contribution::Done))?;
        Ok(*code)
    }

    fn abort(&self, code: i32, why: &str) -> ! {
        let label = show::style::Paint::stderr().bad("kizami: error:");
        show::say_in_any_case(&[format!("{label} process {} of {} {why}", self.own, self.count)]);
        live::remove_all();
        with_group(|group| group.abort(code))
    }
}
