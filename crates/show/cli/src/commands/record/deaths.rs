//! Watching the ranks on this host end: when each of them did, so that a report can say who was the first.
//!
//! A rank that crashes takes the others with it, because its launcher ends them. Their segments tell nothing of that, but
//! whoever waits for the processes to end sees their order. This thread sleeps until the kernel says that a segment was
//! made or a process ended; it never touches a rank. What it cannot watch (other hosts, kernels before 5.3, containers
//! with numbers of their own) is not known, and nothing else is lost.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Processes that are watched at most: each takes a descriptor.
const MOST_WATCHED: usize = 512;
/// Bytes of notices that are read at a time.
const NOTICES: usize = 4096;

/// Launchers return while ranks they have ended are still being taken down: this long is waited for them.
const FAREWELL: Duration = Duration::from_secs(2);

/// A file is there a moment before its process has mapped it: so long, and so often, is looked again.
const AGAIN_MS: i32 = 20;
const TRIES: u32 = 50;

/// Numbers of processes, and when they were seen to end, in nanoseconds of this host's `CLOCK_MONOTONIC`.
pub type Deaths = BTreeMap<u32, u64>;

/// A thread that watches processes end, until it is asked what it saw.
pub struct Watcher {
    /// Wakes the thread for the last time.
    end: OwnedFd,
    thread: JoinHandle<Deaths>,
}

impl Watcher {
    /// Watches whoever makes segments in a folder; none if the system does not let us.
    pub fn begin(raw: &Path) -> Option<Watcher> {
        let folder = CString::new(raw.as_os_str().as_bytes()).ok()?;
        // SAFETY: plain system calls; what they give is ours, or refused.
        let (notices, end) = unsafe {
            (
                owned(libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK))?,
                owned(libc::eventfd(0, libc::EFD_CLOEXEC))?,
            )
        };
        // SAFETY: our own descriptor and a path that ends in zero.
        if unsafe { libc::inotify_add_watch(notices.as_raw_fd(), folder.as_ptr(), libc::IN_CREATE) } < 0 {
            return None;
        }
        let (raw, wake) = (raw.to_path_buf(), end.try_clone().ok()?);
        let watch = move || {
            Watching { notices, wake, watched: BTreeMap::new(), deaths: Deaths::new(), tries: TRIES }
                .run(&raw)
        };
        let thread = std::thread::Builder::new().name("deaths".into()).spawn(watch).ok()?;
        Some(Watcher { end, thread })
    }

    /// Who ended when, as far as it was seen.
    pub fn finish(self) -> Deaths {
        let one = 1u64.to_ne_bytes();
        // SAFETY: our own descriptor and eight bytes.
        unsafe { libc::write(self.end.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        self.thread.join().unwrap_or_default()
    }
}

struct Watching {
    notices: OwnedFd,
    wake: OwnedFd,
    /// By number of the process.
    watched: BTreeMap<u32, OwnedFd>,
    deaths: Deaths,
    /// How often those are still looked for that have made a file and not mapped it yet.
    tries: u32,
}

impl Watching {
    fn run(mut self, raw: &Path) -> Deaths {
        self.look(raw);
        let mut leave_at = None;
        loop {
            let idle_ms = if self.tries > 0 { AGAIN_MS } else { -1 };
            let left_ms = leave_at.map_or(idle_ms, |at: Instant| {
                at.saturating_duration_since(Instant::now()).as_millis() as i32
            });
            // Once the launcher has ended, its wake-up call stays readable, and only processes are of interest.
            let own = [self.notices.as_raw_fd(), if leave_at.is_some() { -1 } else { self.wake.as_raw_fd() }];
            let fds = own.into_iter().chain(self.watched.values().map(AsRawFd::as_raw_fd));
            let mut polls: Vec<libc::pollfd> =
                fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
            // SAFETY: a list of that many entries.
            let found = unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, left_ms) };
            if found < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                continue;
            }
            let now_ns = monotonic_ns();
            let ended: Vec<u32> =
                self.watched.keys().copied().zip(&polls[own.len()..]).filter_map(ready).collect();
            for process in ended {
                self.watched.remove(&process);
                self.deaths.entry(process).or_insert(now_ns);
            }
            if polls[0].revents != 0 {
                self.tries = TRIES;
                self.look(raw);
            } else if found == 0 && leave_at.is_none() {
                self.tries -= 1;
                self.look(raw);
                continue;
            }
            if polls[1].revents != 0 {
                leave_at = Some(Instant::now() + FAREWELL);
            }
            if found <= 0 || leave_at.is_some() && self.watched.is_empty() {
                return self.deaths;
            }
        }
    }

    /// Begins to watch whoever has made segments since the last look, and looks no more if all of them are watched.
    fn look(&mut self, raw: &Path) {
        let mut all_there = true;
        let mut notices = [0u8; NOTICES];
        // SAFETY: our own descriptor, which does not block, and a place of that size. The names are read off the folder.
        while unsafe { libc::read(self.notices.as_raw_fd(), notices.as_mut_ptr().cast(), NOTICES) } > 0 {}
        for entry in std::fs::read_dir(raw).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let process =
                name.strip_suffix(".defs").and_then(|name| name.rsplit('.').next()?.parse::<u32>().ok());
            let Some(process) = process.filter(|process| !self.watched.contains_key(process)) else {
                continue;
            };
            if self.watched.len() >= MOST_WATCHED || self.deaths.contains_key(&process) {
                continue;
            }
            // SAFETY: a plain system call; what it gives is ours.
            let opened = unsafe { owned(libc::syscall(libc::SYS_pidfd_open, process, 0) as RawFd) };
            // On another host, or in a container, the number may be somebody else's.
            match opened.filter(|_| has_mapped(process, &name)) {
                Some(opened) => _ = self.watched.insert(process, opened),
                None => all_there = false,
            }
        }
        if all_there {
            self.tries = 0;
        }
    }
}

fn ready((process, poll): (u32, &libc::pollfd)) -> Option<u32> {
    (poll.revents != 0).then_some(process)
}

/// Whether a process has mapped a file of this name.
fn has_mapped(process: u32, name: &str) -> bool {
    let maps = std::fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&maps).lines().any(|line| line.ends_with(name))
}

/// # Safety
/// The descriptor is nobody else's, or below zero.
unsafe fn owned(descriptor: RawFd) -> Option<OwnedFd> {
    // SAFETY: by contract.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// `CLOCK_MONOTONIC` of this host.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
