//! The run that is made from a reduced trace belongs to that trace, whatever lies in its place.

use kizami_reconstruct::reconstruct;
use kizami_records::CallRecord;
use kizami_reduced::{Importance, Keep, ReduceOptions, reduce};
use kizami_seal::{SealOptions, seal};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::Trace;
use std::path::{Path, PathBuf};

/// A reduced trace of two ranks that make so many barriers.
fn reduced(folder: &Path, name: &str, barriers: u64) -> PathBuf {
    let full = folder.join(format!("{name}-full.kz"));
    for rank in 0..2 {
        let who = SegmentOwner::rank(rank, 2);
        define(&full, &who, &[]);
        let mut segment = SegmentWriter::create(&full, &who, Some(0));
        for number in 0..barriers {
            segment.call(&CallRecord { comm: 0, ..call("MPI_Barrier", 1_000 * number, 500) });
        }
        segment.finish();
    }
    seal(&full, &SealOptions::default(), &|_| {}).unwrap();
    let options =
        ReduceOptions { keep: Keep::Fraction(0.1), seed: 1, importance: Importance::Classes, all_below: 0 };
    let output = folder.join(format!("{name}.kz"));
    reduce(&Trace::open(&full).unwrap(), &output, &options, &|_, _| {}).unwrap();
    output
}

fn reconstructed(trace: &Path) -> Trace {
    reconstruct(Trace::open(trace).unwrap(), 1, &|_| {}, &|_| {}).unwrap()
}

#[test]
fn that_of_another_trace_is_not_taken_for_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (short, long) = (reduced(folder.path(), "short", 100), reduced(folder.path(), "long", 300));
    assert_eq!(reconstructed(&short).run().totals.calls, 200);
    assert_eq!(reconstructed(&long).run().totals.calls, 600);
    let kept = |trace: &Path| trace.join("derived/drawn.kz");
    let made = std::fs::metadata(kept(&short).join("run.json")).unwrap().modified().unwrap();
    assert_eq!(reconstructed(&short).path(), kept(&short));
    let again = std::fs::metadata(kept(&short).join("run.json")).unwrap().modified().unwrap();
    assert_eq!(made, again, "it is made once");

    std::fs::remove_dir_all(kept(&short)).unwrap();
    std::fs::rename(kept(&long), kept(&short)).unwrap();
    assert_eq!(reconstructed(&short).run().totals.calls, 200);
    let left: Vec<_> = std::fs::read_dir(short.join("derived")).unwrap().flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().starts_with("drawn-")), "{left:?}");
}

#[test]
fn a_folder_that_is_a_link_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let trace = reduced(folder.path(), "run", 100);
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, trace.join("derived")).unwrap();
    let folders = std::cell::RefCell::new(Vec::new());
    let report = |folder: &Path| folders.borrow_mut().push(folder.to_path_buf());
    let made = reconstruct(Trace::open(&trace).unwrap(), 1, &|_| {}, &report).unwrap();
    assert_eq!(made.run().totals.calls, 200);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    // It lies among temporary files and is its reader's to remove.
    let folders = folders.into_inner();
    assert_eq!(folders, [made.path().parent().unwrap()]);
    std::fs::remove_dir_all(&folders[0]).unwrap();
}
