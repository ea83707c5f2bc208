//! Damage of every kind is an error or a reported problem, never a panic and never silent nonsense.

use kizami_records::{CallRecord, Completion};
use kizami_rng::SplitMix64;
use kizami_seal::{SealError, SealOptions, seal};
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::{RankSelection, RunInfo, Trace, TraceError};
use std::path::{Path, PathBuf};

fn write_run(trace: &Path) {
    for rank in 0..3 {
        let who = SegmentOwner::rank(rank, 3);
        define(trace, &who, &[]);
        let mut segment = SegmentWriter::create(trace, &who, Some(0));
        for n in 0..400u32 {
            let at = u64::from(n) * 100;
            let receive = CallRecord { comm: 0, peer: 1, tag: 3, bytes_in: 64, ..call("MPI_Irecv", at, 9) };
            segment.call(&CallRecord { request: n + 1, ..receive });
            let came = Completion::Received { request: n + 1, peer: 1, tag: 3, bytes: n };
            segment.completion(&call("MPI_Wait", at + 20, 9), &[came]);
            segment.region(at + 40, 1, n % 2 == 0);
        }
        segment.finish();
    }
}

fn sealed() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.kz");
    write_run(&trace);
    seal(&trace, &SealOptions::default(), &|_| {}).unwrap();
    (folder, trace)
}

fn read_everything(path: &Path) -> Result<usize, TraceError> {
    let trace = Trace::open(path)?;
    trace.definitions()?;
    trace.region_spans()?;
    trace.stops()?;
    trace.calls(RankSelection::All)?.try_fold(0, |count, call| call.map(|_| count + 1))
}

#[test]
fn a_changed_table_is_found_out() {
    let (_folder, trace) = sealed();
    assert_eq!(read_everything(&trace).unwrap(), 2400);
    let run = RunInfo::read(&trace).unwrap();
    let mut random = SplitMix64::new(1);
    for file in &run.files {
        if file.path.starts_with("clocks") || file.path.ends_with("ops.parquet") {
            continue; // For other readers: this crate does not read them back.
        }
        let path = trace.join(&file.path);
        let good = std::fs::read(&path).unwrap();
        for _ in 0..5 {
            let mut bad = good.clone();
            let place = random.index(bad.len());
            bad[place] ^= 1 << random.below(8);
            std::fs::write(&path, &bad).unwrap();
            assert!(matches!(read_everything(&trace), Err(TraceError::Damaged { .. })), "{}", file.path);
        }
        std::fs::write(&path, &good[..good.len() / 2]).unwrap();
        assert!(read_everything(&trace).is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(read_everything(&trace), Err(TraceError::File { .. })));
        std::fs::write(&path, &good).unwrap();
    }
}

/// Puts another table in the place of one, as if it had been sealed so.
fn replace(trace: &Path, table: &str, by: &str) {
    let bytes = std::fs::read(trace.join(by)).unwrap();
    let mut run = RunInfo::read(trace).unwrap();
    run.files.iter_mut().find(|file| file.path == table).unwrap().crc32 = crc32fast::hash(&bytes);
    std::fs::write(trace.join(table), bytes).unwrap();
    std::fs::write(trace.join("run.json"), serde_json::to_vec(&run).unwrap()).unwrap();
}

#[test]
fn a_table_with_other_columns_is_refused() {
    let (_folder, trace) = sealed();
    replace(&trace, "events/part-00000.parquet", "clocks.parquet");
    let text = read_everything(&trace).unwrap_err().to_string();
    assert!(text.contains("no column") && text.contains("part-00000"), "{text}");
    let (_folder, trace) = sealed();
    replace(&trace, "defs/regions.parquet", "defs/ops.parquet");
    assert!(read_everything(&trace).unwrap_err().to_string().contains("no column \"index\""));
    let (_folder, trace) = sealed();
    replace(&trace, "stops.parquet", "defs/hosts.parquet");
    assert!(matches!(read_everything(&trace), Err(TraceError::Damaged { .. })));
}

#[test]
fn a_changed_run_json_is_refused_or_read() {
    let (_folder, trace) = sealed();
    let path = trace.join("run.json");
    let good = std::fs::read(&path).unwrap();
    let mut random = SplitMix64::new(3);
    for _ in 0..200 {
        let mut bad = good.clone();
        let place = random.index(bad.len());
        bad[place] = random.below(256) as u8;
        std::fs::write(&path, &bad).unwrap();
        drop(read_everything(&trace));
    }
    std::fs::write(&path, "{\"schema\": \"kizami-trace/99\"}").unwrap();
    assert!(matches!(Trace::open(&trace), Err(TraceError::OtherSchema { .. })));
    std::fs::write(&path, "{").unwrap();
    assert!(matches!(Trace::open(&trace), Err(TraceError::Damaged { .. })));
    let outside = String::from_utf8(good).unwrap().replace("stops.parquet", "../stops.parquet");
    std::fs::write(&path, outside).unwrap();
    assert!(read_everything(&trace).is_err());
}

#[test]
fn damaged_segments_are_sealed_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = SplitMix64::new(4);
    for round in 0..30 {
        let trace = folder.path().join(format!("{round}.kz"));
        write_run(&trace);
        for _ in 0..1 + random.below(8) {
            let mut files: Vec<PathBuf> =
                std::fs::read_dir(trace.join("raw")).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            let path = &files[random.index(files.len())];
            let mut bytes = std::fs::read(path).unwrap();
            let place = random.index(bytes.len());
            match random.below(4) {
                0 => bytes.truncate(place),
                1 => bytes[place] ^= 1 << random.below(8),
                _ => bytes[place] = 255,
            }
            std::fs::write(path, if bytes.is_empty() { vec![0] } else { bytes }).unwrap();
        }
        match seal(&trace, &SealOptions { window_rows: 100, ..SealOptions::default() }, &|_| {}) {
            Ok(run) => assert_eq!(read_everything(&trace).unwrap() as u64, run.totals.events),
            Err(error) => assert!(matches!(error, SealError::NothingReadable { .. }), "{error}"),
        }
    }
}

#[test]
fn missing_segments_are_reported_and_raw_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.kz");
    write_run(&trace);
    std::fs::remove_file(trace.join("raw/node1.1000.defs")).unwrap();
    std::fs::write(trace.join("raw/node1.1002.0.calls"), [7; 5000]).unwrap();
    let run = seal(&trace, &SealOptions::default(), &|_| {}).unwrap();
    let problems = run.health.problems.join("\n");
    assert!(problems.contains("rank 0: the segment with its definitions is missing"), "{problems}");
    assert!(problems.contains("node1.1002.0.calls: not a Kizami segment"), "{problems}");
    assert!(problems.contains("raw/ was kept") && trace.join("raw").is_dir(), "{problems}");
    let rows: Vec<_> =
        Trace::open(&trace).unwrap().calls(RankSelection::All).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 1600);
    assert_eq!(rows[0].peer, kizami_model::Peer::Unknown, "rank 0's communicators were lost");
}

#[test]
fn ranks_that_no_table_lists_are_not_believed() {
    let (_folder, trace) = sealed();
    let json = std::fs::read_to_string(trace.join("run.json")).unwrap();
    assert!(read_everything(&trace).is_ok());
    for ranks in ["4", "2147483648", "4294967295"] {
        let forged = json.replace("\"ranks\": 3,", &format!("\"ranks\": {ranks},"));
        assert_ne!(forged, json);
        std::fs::write(trace.join("run.json"), forged).unwrap();
        let refused = read_everything(&trace).unwrap_err().to_string();
        assert!(refused.contains(&format!("it states {ranks} ranks")), "{refused}");
    }
}
