//! What the process that ranks run in may do: compute, read files, and write to what it was given. Nothing else.
//!
//! A skeleton's folder is a program, and may come from anybody. [`enter`] takes from this process, for good, what its code
//! could do harm with, by two means of the kernel that need no privilege:
//!
//! - Landlock: no file is made, written, cut, renamed or removed, nothing is executed, no TCP port is bound or connected to, no
//!   signal leaves the process.
//! - seccomp: of all system calls only those in [`ALLOWED`] and [`CHECKED`] are made, so there is no other process, no socket of
//!   any kind, and no file is opened for writing.
//!
//! Limits on core files and on the size of files come with them. Reading is left as it is: a program needs its parameters,
//! and what it reads it can tell nobody. Where the kernel has one of the two, the other stands alone; [`missing`] says so.

use kizami_entry::{Denied, answer_system_calls};
use libc::{c_int, c_long, sock_filter};
use std::io;

/// System calls that read, or change nothing but this process.
const ALLOWED: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_stat,
    libc::SYS_fstat,
    libc::SYS_lstat,
    libc::SYS_poll,
    libc::SYS_lseek,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_brk,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_pread64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_access,
    libc::SYS_sched_yield,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_dup,
    libc::SYS_nanosleep,
    libc::SYS_getpid,
    libc::SYS_exit,
    libc::SYS_uname,
    libc::SYS_getcwd,
    libc::SYS_readlink,
    libc::SYS_gettimeofday,
    libc::SYS_getrlimit,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_getuid,
    libc::SYS_getgid,
    libc::SYS_geteuid,
    libc::SYS_getegid,
    libc::SYS_getppid,
    libc::SYS_getpgrp,
    libc::SYS_sigaltstack,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_gettid,
    libc::SYS_time,
    libc::SYS_futex,
    libc::SYS_sched_getaffinity,
    libc::SYS_getdents64,
    libc::SYS_set_tid_address,
    libc::SYS_fadvise64,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_exit_group,
    libc::SYS_newfstatat,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_set_robust_list,
    libc::SYS_getcpu,
    libc::SYS_preadv,
    libc::SYS_getrandom,
    libc::SYS_statx,
    libc::SYS_rseq,
    libc::SYS_faccessat2,
    libc::SYS_restart_syscall,
];

/// Calls that fail and no more: libraries ask for what they can do without.
const FAILING: &[(c_long, c_int)] = &[
    (libc::SYS_ioctl, libc::ENOTTY),
    (libc::SYS_prctl, libc::EPERM),
    // The C library starts threads by `clone` then, whose flags can be looked at.
    (libc::SYS_clone3, libc::ENOSYS),
    (libc::SYS_membarrier, libc::ENOSYS),
    (libc::SYS_mlock, libc::EPERM),
    (libc::SYS_sched_setaffinity, libc::EPERM),
    (libc::SYS_sched_getparam, libc::EPERM),
    (libc::SYS_sched_getscheduler, libc::EPERM),
    (libc::SYS_openat2, libc::ENOSYS),
];

/// What an argument of a call must be.
#[derive(Clone, Copy)]
enum Must {
    /// None of these bits.
    Lack(u32),
    /// All of these bits.
    Have(u32),
    /// One of these numbers.
    BeOneOf(&'static [u32]),
    /// This process.
    BeThisProcess,
    /// A null pointer.
    BeNull,
}

/// Calls that are made if an argument is as it must be.
const CHECKED: &[(c_long, u32, Must)] = &[
    (libc::SYS_open, 1, Must::Lack(OPENING_CHANGES)),
    (libc::SYS_openat, 2, Must::Lack(OPENING_CHANGES)),
    // A thread, not a process.
    (libc::SYS_clone, 0, Must::Have((libc::CLONE_VM | libc::CLONE_THREAD) as u32)),
    // `abort` sends itself a signal.
    (libc::SYS_tgkill, 0, Must::BeThisProcess),
    (libc::SYS_prlimit64, 2, Must::BeNull),
    // Others let the kernel send signals to whom they name.
    (
        libc::SYS_fcntl,
        1,
        Must::BeOneOf(&[
            libc::F_DUPFD as u32,
            libc::F_DUPFD_CLOEXEC as u32,
            libc::F_GETFD as u32,
            libc::F_SETFD as u32,
            libc::F_GETFL as u32,
        ]),
    ),
];

/// Flags with which a file is opened for more than reading.
const OPENING_CHANGES: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;

/// What the kernel has not, in words; nothing where ranks are restricted as they should be.
pub fn missing() -> Option<String> {
    let without = [("Landlock", landlock_version() == 0), ("seccomp", !has_seccomp())];
    let names: Vec<&str> = without.iter().filter(|(_, missing)| *missing).map(|(name, _)| *name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "this kernel has no {}, so the sandbox is weaker; run only skeletons that you trust",
            names.join(" and no ")
        )
    })
}

/// Takes from this process what a skeleton needs not; threads that it starts from now on are held as well. `denied` is where
/// calls are noted that ranks make all the same, and `nowhere` an open `/dev/null`.
pub fn enter(denied: &'static Denied, nowhere: c_int) -> io::Result<()> {
    for limit in [libc::RLIMIT_CORE, libc::RLIMIT_FSIZE] {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a structure of the right kind.
        succeeded(unsafe { libc::setrlimit(limit, &none) })?;
    }
    // SAFETY: numbers alone; without it neither of the two is allowed to who is not root.
    succeeded(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    answer_system_calls(denied, nowhere);
    restrict_files()?;
    if has_seccomp() { filter_calls() } else { Ok(()) }
}

fn succeeded(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Version of Landlock, 0 where there is none.
fn landlock_version() -> i64 {
    const VERSION: u32 = 1;
    // SAFETY: asks for a number.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, VERSION) }.max(0)
}

fn has_seccomp() -> bool {
    const GET_ACTION_AVAIL: u32 = 2;
    let action = libc::SECCOMP_RET_TRAP;
    // SAFETY: asks whether an action is known.
    unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}

/// Rights of Landlock, as the kernel's header numbers them: those of files in bits 0 to 15.
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const WRITE_FILE: u64 = 1 << 1;
const TRUNCATE: u64 = 1 << 14;

#[repr(C)]
struct Ruleset {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathRule {
    allowed: u64,
    parent: c_int,
}

fn restrict_files() -> io::Result<()> {
    let version = landlock_version();
    if version == 0 {
        return Ok(());
    }
    // Each version knows more rights of files: 13 at first, then linking, cutting, and controlling devices.
    let rights = match version {
        1 => 13,
        2 => 14,
        3 | 4 => 15,
        _ => 16,
    };
    let files = ((1u64 << rights) - 1) & !(READ_FILE | READ_DIR);
    let ruleset = Ruleset {
        files,
        network: if version >= 4 { 3 } else { 0 },
        scoped: if version >= 6 { 3 } else { 0 },
    };
    let known = match version {
        1..=3 => 8,
        4 | 5 => 16,
        _ => size_of::<Ruleset>(),
    };
    // SAFETY: a structure as long as this version knows it, and descriptors of our own.
    unsafe {
        let rules = libc::syscall(libc::SYS_landlock_create_ruleset, &raw const ruleset, known, 0) as c_int;
        succeeded(rules)?;
        // Who writes to nowhere harms nobody.
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        let rule = PathRule { allowed: files & (WRITE_FILE | TRUNCATE), parent: null };
        const PATH_BENEATH: c_int = 1;
        let added =
            libc::syscall(libc::SYS_landlock_add_rule, rules, PATH_BENEATH, &raw const rule, 0) as c_int;
        libc::close(null);
        succeeded(added)?;
        let restricted = libc::syscall(libc::SYS_landlock_restrict_self, rules, 0) as c_int;
        libc::close(rules);
        succeeded(restricted)
    }
}

/// Where the kernel puts a call's number, its architecture, and its arguments for a filter.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;
const X86_64: u32 = 0xc000_003e;
/// Numbers from here on are of another way to call.
const X32: u32 = 0x4000_0000;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Goes on if it holds, and leaves out so many steps if not.
fn unless(code: u16, k: u32, skipped: u8) -> sock_filter {
    sock_filter { code, jt: 0, jf: skipped, k }
}

/// The filter, as a program of the kernel's.
fn filter(process: u32) -> Vec<sock_filter> {
    let allow = step(RETURN, libc::SECCOMP_RET_ALLOW);
    let mut steps = vec![
        step(LOAD, ARCHITECTURE),
        sock_filter { code: EQUAL, jt: 1, jf: 0, k: X86_64 },
        step(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, NUMBER),
        unless(AT_LEAST, X32, 1),
        step(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
    ];
    for call in ALLOWED {
        steps.extend([unless(EQUAL, *call as u32, 1), allow]);
    }
    for (call, error) in FAILING {
        let fail = step(RETURN, libc::SECCOMP_RET_ERRNO | *error as u32);
        steps.extend([unless(EQUAL, *call as u32, 1), fail]);
    }
    for (call, argument, must) in CHECKED {
        let low = ARGUMENTS + 8 * argument;
        let mut checks = match *must {
            Must::Lack(bits) => vec![step(LOAD, low), step(AND, bits), unless(EQUAL, 0, 1), allow],
            Must::Have(bits) => vec![step(LOAD, low), step(AND, bits), unless(EQUAL, bits, 1), allow],
            Must::BeThisProcess => vec![step(LOAD, low), unless(EQUAL, process, 1), allow],
            Must::BeNull => {
                vec![step(LOAD, low), unless(EQUAL, 0, 3), step(LOAD, low + 4), unless(EQUAL, 0, 1), allow]
            }
            Must::BeOneOf(numbers) => std::iter::once(step(LOAD, low))
                .chain(numbers.iter().flat_map(|number| [unless(EQUAL, *number, 1), allow]))
                .collect(),
        };
        checks.push(step(RETURN, libc::SECCOMP_RET_TRAP));
        steps.push(unless(EQUAL, *call as u32, checks.len() as u8));
        steps.append(&mut checks);
    }
    steps.push(step(RETURN, libc::SECCOMP_RET_TRAP));
    steps
}

fn filter_calls() -> io::Result<()> {
    let mut steps = filter(std::process::id());
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: a program that the kernel checks and copies.
    succeeded(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) as c_int
    })
}

/// What a system call is called, for messages.
pub fn name_of_call(number: u32) -> String {
    let known: &[(c_long, &str)] = &[
        (libc::SYS_execve, "execve"),
        (libc::SYS_execveat, "execveat"),
        (libc::SYS_fork, "fork"),
        (libc::SYS_vfork, "vfork"),
        (libc::SYS_clone, "clone"),
        (libc::SYS_socket, "socket"),
        (libc::SYS_connect, "connect"),
        (libc::SYS_kill, "kill"),
        (libc::SYS_tgkill, "tgkill"),
        (libc::SYS_unlink, "unlink"),
        (libc::SYS_unlinkat, "unlinkat"),
        (libc::SYS_rename, "rename"),
        (libc::SYS_mkdir, "mkdir"),
        (libc::SYS_rmdir, "rmdir"),
        (libc::SYS_symlink, "symlink"),
        (libc::SYS_truncate, "truncate"),
        (libc::SYS_ftruncate, "ftruncate"),
        (libc::SYS_creat, "creat"),
        (libc::SYS_ptrace, "ptrace"),
    ];
    let found = known.iter().find(|(call, _)| *call == c_long::from(number));
    found.map_or_else(|| format!("system call {number}"), |(_, name)| format!("system call {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a filter as the kernel does.
    fn decides(call: c_long, arguments: [u64; 3]) -> u32 {
        let mut data = [0u32; 16];
        (data[0], data[1]) = (call as u32, X86_64);
        for (index, argument) in arguments.iter().enumerate() {
            (data[4 + 2 * index], data[5 + 2 * index]) = (*argument as u32, (*argument >> 32) as u32);
        }
        let steps = filter(7);
        let (mut at, mut held) = (0, 0);
        loop {
            let step = steps[at];
            at += 1;
            match step.code {
                LOAD => held = data[step.k as usize / 4],
                AND => held &= step.k,
                EQUAL => at += usize::from(if held == step.k { step.jt } else { step.jf }),
                AT_LEAST => at += usize::from(if held >= step.k { step.jt } else { step.jf }),
                _ => return step.k,
            }
        }
    }

    #[test]
    fn the_filter_lets_through_what_reads_and_nothing_that_acts() {
        let (allow, trap) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_TRAP);
        let flags = |flags: c_int| [0, 0, flags as u64];
        assert_eq!(decides(libc::SYS_read, [0; 3]), allow);
        assert_eq!(decides(libc::SYS_openat, flags(libc::O_RDONLY | libc::O_CLOEXEC)), allow);
        for writes in
            [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_TMPFILE | libc::O_RDWR]
        {
            assert_eq!(decides(libc::SYS_openat, flags(writes)), trap);
            assert_eq!(decides(libc::SYS_open, [0, writes as u64, 0]), trap);
        }
        assert_eq!(decides(libc::SYS_clone, [(libc::CLONE_VM | libc::CLONE_THREAD) as u64, 0, 0]), allow);
        assert_eq!(decides(libc::SYS_clone, [(libc::CLONE_VM | libc::SIGCHLD) as u64, 0, 0]), trap);
        assert_eq!(decides(libc::SYS_tgkill, [7, 0, 0]), allow);
        assert_eq!(decides(libc::SYS_tgkill, [8, 0, 0]), trap);
        assert_eq!(decides(libc::SYS_prlimit64, [0, 0, 0]), allow);
        assert_eq!(decides(libc::SYS_prlimit64, [0, 0, 1 << 40]), trap);
        assert_eq!(decides(libc::SYS_fcntl, [0, libc::F_DUPFD as u64, 0]), allow);
        assert_eq!(decides(libc::SYS_fcntl, [0, libc::F_SETOWN as u64, 0]), trap);
        assert_eq!(decides(libc::SYS_ioctl, [0; 3]), libc::SECCOMP_RET_ERRNO | libc::ENOTTY as u32);
        for acts in [
            libc::SYS_execve,
            libc::SYS_fork,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_kill,
            libc::SYS_unlink,
            libc::SYS_rename,
            libc::SYS_creat,
            libc::SYS_ptrace,
            libc::SYS_io_uring_setup,
            libc::SYS_memfd_create,
            libc::SYS_shmget,
            1000,
        ] {
            assert_eq!(decides(acts, [0; 3]), trap, "{acts}");
        }
        assert_eq!(decides(i64::from(X32) + libc::SYS_read, [0; 3]), libc::SECCOMP_RET_KILL_PROCESS);
    }
}
