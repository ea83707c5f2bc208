//! Clocks that are wrong by a known amount: what sealing makes of them, against the truth.
//!
//! Every rank gets a clock of its own, made of the machine's one clock by a known rule, so the true time of
//! every recorded call can be worked out from its raw record and compared with its row.

use crate::mpi::{Mpi, Scratch, finish, mpi};
use kizami_model::Rank;
use kizami_records::{Record, Records};
use kizami_segment::{HeaderView, Segment};
use kizami_trace::{RankSelection, Trace};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A wrong clock, by the tracer's rule.
#[derive(Clone, Copy)]
struct Wrong {
    offset_ns: f64,
    drift_ppm: f64,
    wander_ns: f64,
    wander_period_s: f64,
}

impl Wrong {
    fn shows_more_by(&self, true_ns: f64) -> f64 {
        let seconds = true_ns / 1e9;
        let wander = (seconds / self.wander_period_s * std::f64::consts::TAU).sin() * self.wander_ns;
        self.offset_ns + seconds * 1e3 * self.drift_ppm + wander
    }

    /// The moment at which it shows this.
    fn true_ns(&self, shown_ns: u64) -> f64 {
        let mut true_ns = shown_ns as f64;
        for _ in 0..20 {
            true_ns = shown_ns as f64 - self.shows_more_by(true_ns);
        }
        true_ns
    }
}

/// When, on its own clock, each call of a rank began, in order.
fn raw_starts(out: &Path, rank: u32) -> Vec<u64> {
    let mut starts = Vec::new();
    for entry in std::fs::read_dir(out.join("raw")).expect("raw is kept").flatten() {
        let bytes = std::fs::read(entry.path()).expect("a segment");
        let header = HeaderView::read(&bytes).expect("a header");
        if header.rank != Some(rank) || header.thread.is_none() {
            continue;
        }
        let segment = Segment::parse(&bytes).expect("a segment");
        starts.extend(Records::of(&segment).filter_map(|record| match record {
            Record::Call(call) => Some(header.base_ticks + call.start_ticks),
            _ => None,
        }));
    }
    starts
}

/// Errors of all rows of all ranks but 0, and the bound that was promised.
fn errors(mpi: &Mpi, ranks: u32, seconds: f64) -> (Vec<f64>, f64) {
    let scratch = Scratch::new();
    let out = scratch.path().join("run.kz");
    let steps = (seconds * 900.0) as u32;
    let program = mpi.workload("registration", &[&steps.to_string(), "1000", "10"]);
    let wrong = |rank: u32| Wrong {
        offset_ns: f64::from(rank) * 5e6,
        drift_ppm: if rank == 0 { 0.0 } else { 20.0 * f64::from(rank) - 40.0 },
        wander_ns: if rank == 0 { 0.0 } else { 3000.0 },
        wander_period_s: 30.0,
    };
    let described: Vec<String> = (0..ranks)
        .map(|rank| {
            let Wrong { offset_ns, drift_ppm, wander_ns, wander_period_s } = wrong(rank);
            format!("{rank}={offset_ns},{drift_ppm},{wander_ns},{wander_period_s}")
        })
        .collect();
    let mut command = mpi.record_command(ranks, &program, scratch.path(), &out);
    command.env("KIZAMI_TEST_CLOCK", described.join(";")).env("KIZAMI_KEEP_RAW", "true");
    let output = finish(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = Trace::open(&out).expect("a trace");
    // The root's clock is right: its readings say which true moment the run began at.
    let clocks = trace.clocks().expect("clocks");
    let reading = clocks.iter().find(|row| row.rank == Some(Rank(0)) && row.monotonic.is_some());
    let reading = reading.expect("a reading of the root");
    let begun_ns = reading.monotonic.expect("a reading").0 as f64 - reading.at.expect("its moment").0 as f64;
    let mut errors = Vec::new();
    for rank in 1..ranks {
        let rows = trace.calls(RankSelection::One(Rank(rank))).expect("rows");
        let rows: Vec<i64> = rows.map(|row| row.expect("a row").start.0).collect();
        let raw = raw_starts(&out, rank);
        assert_eq!(rows.len(), raw.len());
        let wrong = wrong(rank);
        errors.extend(rows.iter().zip(raw).map(|(row, raw)| *row as f64 - (wrong.true_ns(raw) - begun_ns)));
    }
    (errors, trace.run().clocks.bound_ns.expect("a bound") as f64)
}

fn check(mpi: &Mpi, ranks: u32) {
    // `KIZAMI_CLOCK_SECONDS` makes it a measurement.
    let seconds = std::env::var("KIZAMI_CLOCK_SECONDS").ok().and_then(|text| text.parse().ok());
    let (mut errors, bound) = errors(mpi, ranks, seconds.unwrap_or(5.0));
    let outside = errors.iter().filter(|error| error.abs() > bound).count();
    errors.iter_mut().for_each(|error| *error = error.abs());
    errors.sort_by(f64::total_cmp);
    let at = |part: f64| errors[((errors.len() - 1) as f64 * part) as usize];
    println!(
        "{} {ranks} ranks: {} rows, error median {:.0} p99 {:.0} most {:.0} ns, bound {bound:.0} ns, {outside} outside",
        mpi.name,
        errors.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    assert!(errors.len() > 10_000);
    assert_eq!(outside, 0, "the truth lies outside the bound of {bound} ns: off by {} ns", at(1.0));
}

#[test]
fn the_truth_lies_within_the_bound_with_open_mpi() {
    check(&mpi("openmpi"), 2);
}

#[test]
fn the_truth_lies_within_the_bound_with_mpich() {
    check(&mpi("mpich"), 2);
}

/// Containers may have a time namespace each: clocks of one host that are a constant apart.
fn ranks_in_time_namespaces_agree(mpi: &Mpi) {
    let scratch = Scratch::new();
    let script = scratch.path().join("in-its-own-time");
    // The second rank lives a thousand seconds ahead.
    let own_time = "#!/bin/sh\nif [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ]; then\n  exec unshare --time --monotonic 1000 \"$@\"\nfi\nexec \"$@\"\n";
    std::fs::write(&script, own_time).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let may = Command::new("unshare").args(["--time", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        println!("no time namespaces to be had here: nothing is checked");
        return;
    }
    for clock in ["monotonic", "counter"] {
        let out = scratch.path().join(format!("{clock}.kz"));
        let mut program = mpi.workload("halo", &["100"]);
        program.0.insert(0, script.clone().into());
        let mut command = mpi.record_command(2, &program, scratch.path(), &out);
        command.env("KIZAMI_CLOCK", clock);
        let output = finish(command);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let trace = Trace::open(&out).expect("a trace");
        let (run, seconds) = (trace.run(), trace.run().span_ns / 1_000_000_000);
        assert!(seconds < 500 && run.health.complete, "{clock}: {seconds} s, {:?}", run.health);
    }
}

#[test]
fn ranks_in_time_namespaces_agree_with_open_mpi() {
    ranks_in_time_namespaces_agree(&mpi("openmpi"));
}

#[test]
fn ranks_in_time_namespaces_agree_with_mpich() {
    ranks_in_time_namespaces_agree(&mpi("mpich"));
}
