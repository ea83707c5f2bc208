//! The first lines of reports in words, and which sends wait for their receivers.

// Each test takes what it needs.
#[allow(dead_code)]
mod samples;

use kizami_explain::{
    Cause, Diagnosis, Efficiency, Finding, Gain, Headline, NotUnderstood, Reconstructed, ReconstructedPlace,
    Report, SendProtocol, SendsWait, Threads, WaitBasis,
};
use kizami_phrases::quantity::percent;
use kizami_phrases::{protocols, verdict};
use samples::{at, check, finding_of, report};

fn gain(ns: i64, share: f64) -> Option<Gain> {
    Some(Gain { ns, error_ns: 5_000_000, share, share_error: 0.01, noise_left_out: false })
}

#[test]
fn what_ran_and_how_well() {
    let drawn = ReconstructedPlace {
        function: "MPI_Recv".to_owned(),
        place: at(50),
        calls: 8_028,
        exact_ns: 9_876_543,
        reconstructed_ns: 9_000_000,
        unknown_ns: 8_000_000,
    };
    let reconstructed = Reconstructed { rows_kept: 88, calls: 8_028, places: vec![drawn] };
    let plain = report();
    let doubtful = Report {
        efficiency: Efficiency { error: Some(0.021), ..plain.efficiency },
        not_understood: NotUnderstood { not_followed: 1, unmatched: 2, ..NotUnderstood::default() },
        reconstructed: Some(reconstructed),
        executable: String::new(),
        command: Vec::new(),
        ranks: 1,
        ..plain.clone()
    };
    let mut lines = Vec::new();
    for report in [&plain, &doubtful] {
        lines.push(verdict::headline(report, str::to_owned));
        lines.push(verdict::product(report, percent).join("; "));
        lines.push(format!("efficiency{}", verdict::efficiency_error(report)));
        lines.extend(verdict::reconstructed(report));
        lines.extend(verdict::doubts(report));
    }
    let factors = verdict::factors(&plain).into_iter().map(|factor| {
        let (name, value) = (factor.name, percent(factor.value));
        format!("{name} {value}: {} = {}", factor.formula, factor.numbers)
    });
    lines.extend(factors);
    let threads = Threads {
        threads: 8,
        most_threads: 2,
        regions: 100,
        useful: 0.42,
        mpi: 0.7,
        openmp: 0.6,
        in_regions: 0.8,
        all_ns: 1,
        asleep_ns: None,
        losses: Vec::new(),
    };
    lines.push(verdict::threads(&threads, percent));
    check("efficiency", &lines);
}

#[test]
fn what_a_finding_costs_and_gains() {
    let plain = finding_of(Diagnosis::Transfer {}, Cause::Call);
    let some = Finding { gain: gain(40_000_000, 0.1), ..plain.clone() };
    let both = Finding { balanced: gain(30_000_000, 0.07), ..some.clone() };
    let unsure = Gain { noise_left_out: true, share_error: 0.0, ..gain(40_000_000, 0.1).expect("a gain") };
    let findings = [
        plain.clone(),
        some.clone(),
        Finding { at_most: true, waiting_ns: 0, ..some.clone() },
        both.clone(),
        Finding { headline: Headline::Balanced, ..both.clone() },
        Finding { balanced: gain(1_000_000, 0.002), ..both },
        Finding { gain: Some(unsure), ..plain },
    ];
    check("costs", &findings.iter().map(|finding| verdict::cost(&report(), finding)).collect::<Vec<_>>());
}

fn sends(from_bytes: u64, to_bytes: u64, waits: SendsWait) -> SendProtocol {
    SendProtocol {
        from_host: Some("n0".to_owned()),
        to_host: Some("n1".to_owned()),
        within_host: false,
        from_bytes,
        to_bytes,
        sends: 1_000,
        ended_before_post: 12,
        ended_in_mpi: 3,
        ended_after_post: 20,
        late_progress: 0,
        waits,
        limit_bytes: (waits == SendsWait::AboveLimit).then_some(4_096),
        basis: WaitBasis::Seen,
    }
}

#[test]
fn which_sends_wait() {
    let (small, large) = (sends(1, 512, SendsWait::No), sends(8_192, 65_536, SendsWait::Yes));
    let within =
        |sends: SendProtocol| SendProtocol { within_host: true, to_host: sends.from_host.clone(), ..sends };
    let other = |sends: SendProtocol| SendProtocol { to_host: Some("n2".to_owned()), ..sends };
    let unknown = |sends: SendProtocol| SendProtocol { from_host: None, to_host: None, ..sends };
    let cases = [
        vec![small.clone(), large.clone()],
        vec![small.clone()],
        vec![large.clone()],
        vec![sends(1, 65_536, SendsWait::AboveLimit)],
        vec![sends(512, 512, SendsWait::Some)],
        vec![sends(512, 1_024, SendsWait::Some)],
        vec![within(small.clone()), unknown(large.clone())],
        vec![within(unknown(small.clone()))],
        vec![small.clone(), other(large.clone())],
        vec![sends(1, 65_536, SendsWait::No), other(large)],
        vec![SendProtocol { basis: WaitBasis::Size, ..small }],
    ];
    let lines = cases.into_iter().flat_map(|protocols| {
        let lines = protocols::sentences(&Report { protocols, ..report() });
        lines.into_iter().chain(["--".to_owned()])
    });
    check("sends", &lines.collect::<Vec<_>>());
}
