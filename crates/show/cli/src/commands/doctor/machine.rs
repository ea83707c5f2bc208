//! The machine's part: clock, disk, and the library for OTF2.

use super::finding::Finding;
use crate::disk::free_bytes;
use crate::show::quantity;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Below this a longer run may fill the disk: plain calls take 32 bytes each before sealing.
const COMFORTABLE_BYTES: u64 = 2_000_000_000;
const RESERVED_BYTES: i64 = 1 << 20;
const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// All checks of this kind.
pub fn check() -> Vec<Finding> {
    let mut findings = vec![clock()];
    findings.extend(disk(Path::new(".")));
    findings.push(otf2());
    findings
}

fn clock() -> Finding {
    let source = std::fs::read_to_string(CLOCKSOURCE).unwrap_or_default().trim().to_owned();
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    judge_clock(&source, &cpu)
}

fn judge_clock(source: &str, cpu: &str) -> Finding {
    let flags: Vec<&str> = cpu
        .lines()
        .find(|line| line.starts_with("flags"))
        .into_iter()
        .flat_map(str::split_whitespace)
        .collect();
    let steady = flags.contains(&"constant_tsc") && flags.contains(&"nonstop_tsc");
    let kernel = if source.is_empty() { "not known" } else { source };
    if steady {
        return Finding::good(
            "clock",
            format!("the timestamp counter is invariant; the kernel's clock source is {kernel}"),
        );
    }
    let missing = "the timestamp counter is not known to be invariant (constant_tsc, nonstop_tsc)";
    let fix = "none needed: the kernel's clock is used, at a somewhat higher cost per call; in a virtual \
               machine, let the host pass these flags on";
    Finding::warning("clock", format!("{missing}; the kernel's clock source is {kernel}"), fix)
}

/// Room in a folder, and whether it can be reserved there.
fn disk(folder: &Path) -> Vec<Finding> {
    let elsewhere = "record to another directory: kizami record -o /path/run.kz -- ...";
    let trial = folder.join(format!(".kizami-doctor-{}", std::process::id()));
    let file = match File::options().write(true).create_new(true).open(&trial) {
        Ok(file) => file,
        Err(error) => {
            let found = format!("the current directory is not writable: {error}");
            return vec![Finding::problem("disk", found, elsewhere)];
        }
    };
    // SAFETY: a system call on a descriptor that is open.
    let reserved = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, RESERVED_BYTES) } == 0;
    let error = std::io::Error::last_os_error();
    drop(file);
    let _ = std::fs::remove_file(&trial);
    let mut findings = vec![room(folder, elsewhere)];
    if !reserved {
        let found = format!("space cannot be reserved in the current directory: {error}");
        findings.push(match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Finding::problem("disk", found, elsewhere),
            _ => Finding::warning("disk", found, "works, but slower; prefer a local disk: -o /tmp/run.kz"),
        });
    }
    findings
}

fn room(folder: &Path, elsewhere: &str) -> Finding {
    let Some(free) = free_bytes(folder) else {
        return Finding::warning(
            "disk",
            "cannot determine the free space of the current directory",
            elsewhere,
        );
    };
    let found = format!("{} free in the current directory", quantity::bytes(free));
    if free < COMFORTABLE_BYTES {
        Finding::warning("disk", found, elsewhere)
    } else {
        Finding::good("disk", found)
    }
}

fn otf2() -> Finding {
    let names =
        [c"libotf2.so.10", c"libopen-trace-format2.so.10", c"libotf2.so", c"libopen-trace-format2.so"];
    // SAFETY: the names end with a zero byte; OTF2 runs nothing on loading that could disturb this process.
    let present = names.iter().any(|name| unsafe { !libc::dlopen(name.as_ptr(), libc::RTLD_LAZY).is_null() });
    if present {
        return Finding::good("OTF2", "library found: `kizami export --to otf2` works");
    }
    Finding::warning(
        "OTF2",
        "library not found; only `kizami export --to otf2` needs it",
        "Debian: apt install libotf2-trace-dev",
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn a_steady_counter_is_good_and_any_other_is_no_problem() {
        let steady = judge_clock("tsc", "flags : fpu tsc constant_tsc nonstop_tsc\n");
        assert_eq!(steady.verdict, Verdict::Good);
        let other = judge_clock("hpet", "flags : fpu tsc\n");
        assert_eq!(other.verdict, Verdict::Warning);
        assert!(other.found.contains("hpet"));
    }

    #[test]
    fn the_trial_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(disk(folder.path())[0].check, "disk");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_a_problem() {
        assert_eq!(disk(Path::new("/proc"))[0].verdict, Verdict::Problem);
    }
}
