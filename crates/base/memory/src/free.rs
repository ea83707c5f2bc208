//! How much memory there is.

use std::fs::read_to_string;

/// Where the system gives no figure.
const UNKNOWN_BYTES: u64 = 1 << 30;

/// Half of what may still be taken: of what the machine has free, what a job is allowed, or what the process is (`ulimit -d`),
/// whichever is less. Where the system gives no figure, a gigabyte.
pub fn half_of_free() -> u64 {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|reported| available_bytes(&reported));
    machine
        .into_iter()
        .chain(left_in_group())
        .chain(left_to_process())
        .min()
        .map_or(UNKNOWN_BYTES, |free| free / 2)
}

fn available_bytes(meminfo: &str) -> Option<u64> {
    kibibytes_of(meminfo, "MemAvailable:")
}

/// The figure of a line in kibibytes, in bytes.
fn kibibytes_of(reported: &str, name: &str) -> Option<u64> {
    let line = reported.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What is left to the process of memory that is no file's, if that has a limit.
fn left_to_process() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is there and of the right kind.
    let succeeded = unsafe { libc::getrlimit(libc::RLIMIT_DATA, &raw mut limit) } == 0;
    if !succeeded || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    let status = read_to_string("/proc/self/status").ok()?;
    let taken = kibibytes_of(&status, "VmData:")?;
    Some(limit.rlim_cur.saturating_sub(taken))
}

/// How control groups of one version report their limits.
struct Kind {
    /// What the line of the process begins with, behind its number.
    named: &'static str,
    folder: &'static str,
    most: &'static str,
    now: &'static str,
    /// The line with pages of files, which can be taken back; but for those that are memory that processes share.
    pages: &'static str,
    shared: &'static str,
}

const KINDS: [Kind; 2] = [
    Kind {
        named: ":",
        folder: "",
        most: "memory.max",
        now: "memory.current",
        pages: "file ",
        shared: "shmem ",
    },
    Kind {
        named: "memory:",
        folder: "/memory",
        most: "memory.limit_in_bytes",
        now: "memory.usage_in_bytes",
        pages: "total_cache ",
        shared: "total_shmem ",
    },
];

/// What is left to the control groups of this process, and those above them: a batch system ends a job that takes more.
fn left_in_group() -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    let of_kind = |kind: &Kind| {
        let of_line = |line: &str| Some(line.split_once(':')?.1.strip_prefix(kind.named)?.to_owned());
        left_in(kind, groups.lines().find_map(of_line)?)
    };
    KINDS.iter().filter_map(of_kind).min()
}

fn left_in(kind: &Kind, mut group: String) -> Option<u64> {
    let mut left = None;
    loop {
        let folder = format!("/sys/fs/cgroup{}{}", kind.folder, group.trim_end_matches('/'));
        let reported = |name: &str| read_to_string(format!("{folder}/{name}")).ok();
        let number = |name: &str| reported(name)?.trim().parse::<u64>().ok();
        if let (Some(most), Some(now)) = (number(kind.most), number(kind.now)) {
            let stat = reported("memory.stat").unwrap_or_default();
            let of = |line| bytes_of(&stat, line).unwrap_or(0);
            let pages = of(kind.pages).saturating_sub(of(kind.shared));
            let free = most.saturating_sub(now.saturating_sub(pages));
            left = left.into_iter().chain([free]).min();
        }
        match group.rfind('/') {
            Some(at) if group.len() > 1 => group.truncate(at.max(1)),
            _ => return left,
        }
    }
}

fn bytes_of(stat: &str, line: &str) -> Option<u64> {
    stat.lines().find_map(|other| other.strip_prefix(line))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_system_are_read() {
        assert_eq!(available_bytes("MemTotal:  9 kB\nMemAvailable:   2048 kB\n"), Some(2 << 20));
        assert_eq!(available_bytes("MemTotal: 9 kB\n"), None);
        assert_eq!(bytes_of("anon 7\nfile 4096\nfile_mapped 1\n", "file "), Some(4096));
        assert!(half_of_free() > 0);
    }
}
