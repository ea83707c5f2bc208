//! What is kept beside a trace is believed only if it is whole and of that trace, and no link makes it write elsewhere.

mod place;

use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::Trace;
use kizami_trace::derived::{Derived, Draft, HEAD_BYTES, Numbers, Scratch};
use place::Place;
use std::os::unix::fs::symlink;

const NUMBERS: Numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/// A trace of one rank with so many calls.
fn sealed(calls: u64) -> Place {
    let place = Place::new();
    let who = SegmentOwner::rank(0, 1);
    define(&place.trace, &who, &[]);
    let mut segment = SegmentWriter::create(&place.trace, &who, Some(0));
    (0..calls).for_each(|number| segment.call(&call("MPI_Wtime", 10 * number, 1)));
    segment.finish();
    place.seal();
    place
}

fn derived(place: &Place) -> Derived {
    Derived::of(&place.open()).unwrap()
}

fn files_in(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn kept_results_are_read_again() {
    let place = sealed(3);
    derived(&place).write("x.bin", 7, NUMBERS, &[b"some", b"thing"]).unwrap();
    let kept = derived(&place).read("x.bin", 7).unwrap();
    assert_eq!((kept.content(), kept.numbers), (&b"something"[..], NUMBERS));
    assert_eq!(files_in(&place.trace.join("derived")), 1, "nothing is left of writing it");
}

#[test]
fn nothing_else_is_believed() {
    let place = sealed(3);
    derived(&place).write("x.bin", 7, NUMBERS, &[b"something"]).unwrap();
    assert!(derived(&place).read("x.bin", 8).is_none(), "another version");
    let path = place.trace.join("derived/x.bin");
    std::fs::copy(&path, place.trace.join("derived/y.bin")).unwrap();
    assert!(derived(&place).read("y.bin", 7).is_none(), "another file");
    let other = sealed(4);
    derived(&other);
    std::fs::copy(&path, other.trace.join("derived/x.bin")).unwrap();
    assert!(derived(&other).read("x.bin", 7).is_none(), "of another trace");

    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        assert!(derived(&place).read("x.bin", 7).is_none(), "byte {at}");
        std::fs::write(&path, &whole[..at]).unwrap();
        assert!(derived(&place).read("x.bin", 7).is_none(), "cut at {at}");
    }
    std::fs::write(&path, &whole).unwrap();
    assert!(derived(&place).read("x.bin", 7).is_some());
}

#[test]
fn what_was_written_piece_by_piece_is_checked_as_a_whole() {
    let place = sealed(3);
    let draft = Draft::kept(&place.open(), "x.bin", 1).unwrap();
    draft.write_at(4, b"tables").unwrap();
    draft.write_at(0, b"rows").unwrap();
    assert_eq!(&draft.map().unwrap()[..4], b"rows");
    assert_eq!(draft.finish(NUMBERS).unwrap().content(), b"rowstables");
    let path = place.trace.join("derived/x.bin");
    let whole = std::fs::read(&path).unwrap();
    assert!(derived(&place).read("x.bin", 1).is_some());
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x80;
        std::fs::write(&path, damaged).unwrap();
        assert!(derived(&place).read("x.bin", 1).is_none(), "byte {at}");
    }
}

#[test]
fn long_files_are_summed_up_by_several_threads_as_by_one() {
    let place = sealed(3);
    let long: Vec<u8> =
        (0..40u32 << 20).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    derived(&place).write("x.bin", 1, NUMBERS, &[&long[..5], &long[5..]]).unwrap();
    assert_eq!(derived(&place).read("x.bin", 1).unwrap().content(), long);
    let bytes = std::fs::read(place.trace.join("derived/x.bin")).unwrap();
    let mut once = crc32fast::Hasher::new();
    once.update(&bytes[..HEAD_BYTES - 8]);
    once.update(&long);
    assert_eq!(bytes[HEAD_BYTES - 8..HEAD_BYTES], u64::from(once.finalize()).to_le_bytes());
}

#[test]
fn a_folder_that_changes_places_with_a_link_is_written_to_all_the_same() {
    let place = sealed(3);
    let (folder, elsewhere) = (place.trace.join("derived"), tempfile::tempdir().unwrap());
    let opened = derived(&place);
    let draft = Draft::kept(&place.open(), "y.bin", 1).unwrap();
    let aside = place.trace.join("aside");
    std::fs::rename(&folder, &aside).unwrap();
    symlink(elsewhere.path(), &folder).unwrap();
    opened.write("x.bin", 1, NUMBERS, &[b"kept"]).unwrap();
    draft.finish(NUMBERS).unwrap();
    opened.keep_trace("made.kz", 1, &sealed(5).trace).unwrap();
    assert_eq!(files_in(elsewhere.path()), 0);
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&aside, &folder).unwrap();
    assert!(opened.read("x.bin", 1).is_some() && opened.read("y.bin", 1).is_some());
    assert!(opened.trace("made.kz", 1).is_some());
}

#[test]
fn a_kept_trace_is_written_beside_even_if_its_name_leads_elsewhere() {
    let place = sealed(3);
    let kept = derived(&place).keep_trace("made.kz", 1, &sealed(5).trace).unwrap();
    let (folder, elsewhere) = (place.trace.join("derived"), tempfile::tempdir().unwrap());
    std::fs::create_dir(elsewhere.path().join("made.kz")).unwrap();
    let aside = place.trace.join("aside");
    std::fs::rename(&folder, &aside).unwrap();
    symlink(elsewhere.path(), &folder).unwrap();
    Derived::of(&kept).unwrap().write("x.bin", 1, NUMBERS, &[b"kept"]).unwrap();
    assert_eq!(files_in(&elsewhere.path().join("made.kz")), 0);
    assert!(aside.join("made.kz/derived/x.bin").is_file());
}

#[test]
fn a_folder_that_is_a_link_is_not_used() {
    let place = sealed(3);
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), place.trace.join("derived")).unwrap();
    let trace = place.open();
    assert!(Derived::of(&trace).is_none());
    assert_eq!(Scratch::beside(&trace).path(), std::env::temp_dir());
    let draft = Draft::kept(&trace, "x.bin", 1).unwrap();
    draft.write_at(0, b"still of use").unwrap();
    assert_eq!(draft.finish(NUMBERS).unwrap().content(), b"still of use");
    assert_eq!(files_in(elsewhere.path()), 0);
}

#[test]
fn a_file_that_is_a_link_is_neither_read_nor_written_through() {
    let place = sealed(3);
    derived(&place).write("x.bin", 1, NUMBERS, &[b"kept"]).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let precious = elsewhere.path().join("precious");
    let path = place.trace.join("derived/x.bin");
    std::fs::rename(&path, &precious).unwrap();
    symlink(&precious, &path).unwrap();
    assert!(derived(&place).read("x.bin", 1).is_none());
    let before = std::fs::read(&precious).unwrap();
    derived(&place).write("x.bin", 1, NUMBERS, &[b"new"]).unwrap();
    assert_eq!(std::fs::read(&precious).unwrap(), before);
    assert_eq!(derived(&place).read("x.bin", 1).unwrap().content(), b"new");
}

#[test]
fn a_kept_trace_is_the_one_that_was_kept() {
    let place = sealed(3);
    let keep = |made: &Place| derived(&place).keep_trace("made.kz", 1, &made.trace).unwrap();
    assert!(derived(&place).trace("made.kz", 1).is_none());
    keep(&sealed(5));
    let calls = |trace: Option<Trace>| trace.map(|trace| trace.run().totals.calls);
    assert_eq!(calls(derived(&place).trace("made.kz", 1)), Some(5));
    assert_eq!(calls(derived(&place).trace("made.kz", 2)), None);
    // Another one in its place, and a link to one.
    let path = place.trace.join("derived/made.kz");
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::rename(sealed(6).trace.as_path(), &path).unwrap();
    assert_eq!(calls(derived(&place).trace("made.kz", 1)), None);
    std::fs::remove_dir_all(&path).unwrap();
    let elsewhere = sealed(5);
    symlink(&elsewhere.trace, &path).unwrap();
    assert_eq!(calls(derived(&place).trace("made.kz", 1)), None);
    keep(&sealed(7));
    assert_eq!(calls(derived(&place).trace("made.kz", 1)), Some(7));
    assert!(elsewhere.trace.join("run.json").is_file(), "only the link is gone");
}
