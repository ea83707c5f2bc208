//! The process that ranks run in, seen from the one that started it.
//!
//! Ranks run in a child that has given up what a skeleton needs not ([`crate::sandbox`]) and that sends what they did through a
//! pipe ([`crate::wire`]); the parent writes the trace. So a skeleton can neither touch the user's files nor the trace of
//! another run, and if it takes too much memory or crashes for good, its process ends and the parent says which rank it was.

use crate::runner::{Gathered, Plan, gather_here};
use crate::{ExecuteError, fortran_runtime, sandbox, wire};
use kizami_entry::{Denied, files};
use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How often the parent looks at how much memory the child has, and how far it is.
const GLANCE: Duration = Duration::from_millis(10);

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Which time over all ranks.
    pub pass: u32,
    /// Ranks that have ended in it.
    pub done: u32,
    /// Of how many.
    pub ranks: u32,
    /// Memory of the process that they run in, in bytes.
    pub memory: u64,
    /// How long it has run.
    pub elapsed: Duration,
}

/// What both processes see: numbers that the child writes.
#[derive(Debug, Default)]
pub struct Board {
    /// Which time over all ranks.
    pub pass: AtomicU32,
    /// Ranks that have ended in it.
    pub done: AtomicU32,
    /// The rank that was begun or resumed last.
    pub rank: AtomicU32,
    /// Ranks run already, and not only compilers.
    pub begun: AtomicU32,
    /// A call that was denied.
    denied: Denied,
}

impl Board {
    /// A rank goes on.
    #[inline]
    pub fn resume(&self, rank: u32) {
        self.rank.store(rank, Ordering::Relaxed);
    }

    /// A pass over all ranks begins.
    pub fn begin(&self, pass: u32) {
        self.pass.store(pass, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.begun.store(1, Ordering::Relaxed);
    }

    /// Memory that parent and child share. It stays: a page for each run.
    fn shared() -> io::Result<&'static Board> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping of zeros, which is what an empty board is.
        unsafe {
            let at = libc::mmap(std::ptr::null_mut(), size_of::<Board>(), access, flags, -1, 0);
            if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(&*at.cast::<Board>()) }
        }
    }
}

/// Runs all ranks of a plan in a process of their own; tells how far they are.
pub fn gather(plan: &Plan, report: &dyn Fn(&Progress)) -> Result<Gathered, ExecuteError> {
    let cannot = |why: io::Error| ExecuteError::Process { what: format!("cannot be started: {why}") };
    let board = Board::shared().map_err(cannot)?;
    let (from, to) = pipe().map_err(cannot)?;
    let parent = std::process::id();
    // SAFETY: the child goes on alone, with this thread's memory as it is, and never returns from here.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(cannot(io::Error::last_os_error()));
    }
    if child == 0 {
        drop(from);
        run_child(plan, board, to, parent);
    }
    drop(to);
    let mut watched = Watched { child, ended: None };
    let outcome = watch(plan, board, from, &watched, report);
    let usage = watched.wait();
    let (bytes, limit) = outcome?;
    if let Some(limit) = limit {
        let rank = board.rank.load(Ordering::Relaxed);
        return Err(ExecuteError::MemoryLimit { rank, ranks: plan.ranks, limit });
    }
    if let Some((call, rank)) = board.denied.get() {
        let what = format!(
            "forbidden {}; review the source of the skeleton before you run it again",
            sandbox::name_of_call(call)
        );
        return Err(ExecuteError::Rank { rank: rank.min(plan.ranks), ranks: plan.ranks, what });
    }
    let Some(outcome) = wire::decode(&bytes, plan) else {
        return Err(ExecuteError::Process { what: watched.words(board) });
    };
    let mut gathered = outcome?;
    gathered.processor_seconds = usage;
    Ok(gathered)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are ours alone.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// The child, and how it ended. It is ended and waited for in any case.
struct Watched {
    child: libc::pid_t,
    ended: Option<i32>,
}

impl Watched {
    /// Ends the child.
    fn kill(&self) {
        // SAFETY: a child that was not waited for yet, so the number is still its own.
        unsafe { libc::kill(self.child, libc::SIGKILL) };
    }

    /// Waits for its end; gives its processor time in seconds.
    fn wait(&mut self) -> f64 {
        let mut status = 0;
        // SAFETY: all of it is numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: room for what is told.
        while unsafe { libc::wait4(self.child, &mut status, 0, &mut usage) } < 0 {
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return 0.0;
            }
        }
        self.ended = Some(status);
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// How it ended, for one that said nothing that can be understood.
    fn words(&self, board: &Board) -> String {
        let rank = board.rank.load(Ordering::Relaxed);
        let during = if board.begun.load(Ordering::Relaxed) == 0 {
            "before any rank started".to_owned()
        } else {
            format!("while rank {rank} was running")
        };
        match self.ended {
            Some(status) if libc::WIFSIGNALED(status) => {
                format!("was killed by signal {} {during}", libc::WTERMSIG(status))
            }
            Some(status) if libc::WEXITSTATUS(status) != 0 => {
                format!("exited with code {} {during}", libc::WEXITSTATUS(status))
            }
            _ => "sent data that cannot be decoded".to_owned(),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.kill();
            self.wait();
        }
    }
}

/// What the child sends, and the limit if it was ended for taking more memory.
type Sent = (Vec<u8>, Option<u64>);

/// Takes what the child sends until it ends, and ends it if it takes too much memory.
fn watch(
    plan: &Plan,
    board: &Board,
    from: OwnedFd,
    watched: &Watched,
    report: &dyn Fn(&Progress),
) -> Result<Sent, ExecuteError> {
    let begun = Instant::now();
    let lost = |why: io::Error| ExecuteError::Process { what: format!("cannot be read from: {why}") };
    let mut from = File::from(from);
    let (mut came, mut room) = (Vec::new(), vec![0u8; 1 << 16]);
    let mut glanced = begun;
    loop {
        let mut asked = libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor that is open.
        let ready = unsafe { libc::poll(&mut asked, 1, GLANCE.as_millis() as i32) };
        if ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return Err(lost(io::Error::last_os_error()));
        }
        if ready > 0 {
            match from.read(&mut room).map_err(lost)? {
                0 => return Ok((came, None)),
                count => came.extend_from_slice(&room[..count]),
            }
        }
        if glanced.elapsed() < GLANCE {
            continue;
        }
        glanced = Instant::now();
        let memory = memory_of(watched.child);
        if let Some(limit) = plan.memory
            && memory.max(came.len() as u64) > limit
        {
            watched.kill();
            return Ok((came, Some(limit)));
        }
        report(&Progress {
            pass: board.pass.load(Ordering::Relaxed),
            done: board.done.load(Ordering::Relaxed).min(plan.ranks),
            ranks: plan.ranks,
            memory,
            elapsed: begun.elapsed(),
        });
    }
}

/// Bytes that a process has written to and that are no file's, in memory or swapped out.
fn memory_of(process: libc::pid_t) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kibibytes = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    (kibibytes("RssAnon:") + kibibytes("VmSwap:")) * 1024
}

/// The child: gives up what it needs not, runs the ranks, sends what they did.
fn run_child(plan: &Plan, board: &'static Board, to: OwnedFd, parent: u32) -> ! {
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let prepared = prepare(plan, board, &to, parent);
        let outcome = prepared.and_then(|()| gather_here(plan, board));
        wire::encode(&outcome, BufWriter::with_capacity(1 << 16, File::from(to))).is_ok()
    }));
    // Nothing of the parent's is to be finished here: neither buffers nor files.
    // SAFETY: it ends the process.
    unsafe { libc::_exit(i32::from(outcome.is_err())) }
}

fn prepare(plan: &Plan, board: &'static Board, to: &OwnedFd, parent: u32) -> Result<(), ExecuteError> {
    let cannot = |why: io::Error| ExecuteError::Process { what: format!("cannot be restricted: {why}") };
    // SAFETY: numbers alone.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: as above.
    if unsafe { libc::getppid() } as u32 != parent {
        // SAFETY: it ends the process, which nobody waits for any more.
        unsafe { libc::_exit(1) };
    }
    // It starts a compiler and loads what that made, which ranks may not.
    if fortran_runtime::is_needed(&plan.skeleton.bitcode) {
        let failed = |what| ExecuteError::Compile { path: plan.skeleton.bitcode.clone(), what };
        fortran_runtime::load().map_err(failed)?;
    }
    let nowhere = leave_descriptors(to.as_raw_fd()).map_err(cannot)?;
    sandbox::enter(&board.denied, nowhere).map_err(cannot)
}

/// Closes all descriptors but `kept`, and sends what is printed nowhere; gives an open `/dev/null`. What comes in stays where
/// it can only be read.
fn leave_descriptors(kept: RawFd) -> io::Result<RawFd> {
    // SAFETY: descriptors of this process, which is a copy and alone.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if nowhere < 0 {
            return Err(io::Error::last_os_error());
        }
        let reads_only = libc::fcntl(0, libc::F_GETFL) & libc::O_ACCMODE == libc::O_RDONLY;
        for file in if reads_only { 1..3 } else { 0..3 } {
            libc::dup2(nowhere, file);
        }
        let (low, high) = (kept.min(nowhere), kept.max(nowhere));
        for (first, last) in [(3, low - 1), (low + 1, high - 1), (high + 1, RawFd::MAX)] {
            if first <= last && libc::syscall(libc::SYS_close_range, first, last, 0) < 0 {
                // Older than the call: one by one.
                for file in first..=last.min(1 << 16) {
                    libc::close(file);
                }
            }
        }
        files::keep_descriptors(high);
        Ok(nowhere)
    }
}
