//! Full disks and directories that cannot be written: the application must not notice.

use crate::mpi::{Mpi, Scratch, finish, mpi, sorted_lines};
use std::path::Path;
use std::process::Command;

/// A tiny file system of its own, unmounted at the end.
pub struct SmallDisk<'a>(&'a Path);

impl SmallDisk<'_> {
    pub fn mount<'a>(path: &'a Path, size: &str) -> SmallDisk<'a> {
        let size = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path).status();
        assert!(mounted.is_ok_and(|status| status.success()), "a tmpfs can be mounted (needs root)");
        SmallDisk(path)
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

fn check_full_disk(mpi: &Mpi) {
    let scratch = Scratch::new();
    let program = mpi.workload("stencil2d", &["64", "1500"]);
    let bare = mpi.run_bare(2, &program, &scratch.make("bare"));
    assert!(bare.status.success(), "{}", String::from_utf8_lossy(&bare.stderr));
    let directory = scratch.make("small");
    let disk = SmallDisk::mount(&directory, "1m");
    for attempt in 0..3 {
        let out = directory.join(format!("run{attempt}.kz"));
        let output = finish(mpi.record_command(2, &program, &directory, &out));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(sorted_lines(&bare), sorted_lines(&output), "results on a full disk differ");
    }
    drop(disk);
}

fn check_read_only(mpi: &Mpi) {
    let scratch = Scratch::new();
    let program = mpi.workload("stencil2d", &["16", "50"]);
    let bare = mpi.run_bare(2, &program, &scratch.make("bare"));
    let directory = scratch.make("read-only");
    let _disk = SmallDisk::mount(&directory, "1m");
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&directory).status();
    assert!(remounted.is_ok_and(|status| status.success()));
    let output = finish(mpi.record_command(2, &program, &directory, &directory.join("run.kz")));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sorted_lines(&bare), sorted_lines(&output), "results in a read-only directory differ");
}

#[test]
fn full_disk_with_open_mpi() {
    check_full_disk(&mpi("openmpi"));
}

#[test]
fn full_disk_with_mpich() {
    check_full_disk(&mpi("mpich"));
}

#[test]
fn read_only_directory_with_open_mpi() {
    check_read_only(&mpi("openmpi"));
}

#[test]
fn read_only_directory_with_mpich() {
    check_read_only(&mpi("mpich"));
}
