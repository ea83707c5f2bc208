//! Made-up reports for tests: one with everything and evil names, one with nothing, one that is big.

use kizami_explain::{
    BlockedCall, CallTotal, Cause, Diagnosis, Efficiency, Finding, Gain, Hang, HangKind, Headline,
    MatrixCell, NetworkFit, NotUnderstood, PathPart, Pattern, Phase, RankTime, Reconstructed,
    ReconstructedPlace, Report, SizeClass, SourceLine, WaitTotal, Who,
};
use kizami_whatif::{Change, Location};

/// What must never come out as it is.
pub const EVIL: &str = "f<script>alert(\"1|2\")</script>&'`";

fn place() -> SourceLine {
    SourceLine::in_function(EVIL)
}

/// A report of a run in which nothing happened.
pub fn empty() -> Report {
    Report {
        trace: "run.kz".to_owned(),
        executable: String::new(),
        command: Vec::new(),
        mpi_library: String::new(),
        ranks: 0,
        events: 0,
        span_ns: 0,
        run_ns: 0,
        shared_cores: None,
        stolen: None,
        efficiency: Efficiency {
            cores: None,
            own_cores_ns: None,
            parallel: 1.0,
            load_balance: 1.0,
            serialisation: 1.0,
            transfer: 1.0,
            average_computation_ns: 0,
            longest_computation_ns: 0,
            ideal_ns: 0,
            error: None,
        },
        findings: Vec::new(),
        blame: Vec::new(),
        waits: Vec::new(),
        waits_by_place: Vec::new(),
        completions: Vec::new(),
        completions_by_place: Vec::new(),
        critical_path: Vec::new(),
        functions: Vec::new(),
        places: Vec::new(),
        computation: Vec::new(),
        rank_times: Vec::new(),
        outliers: Vec::new(),
        matrix: Vec::new(),
        sizes: Vec::new(),
        phases: Vec::new(),
        network: NetworkFit { latency_ns: 0.0, bandwidth: 0.0 },
        protocols: Vec::new(),
        not_understood: NotUnderstood::default(),
        reconstructed: None,
        hang: None,
        threads: None,
    }
}

/// A small report with something in every section, and names that try to be markup.
pub fn hostile() -> Report {
    full(4, 3, 8)
}

/// A report of 1,024 ranks, of which each sends to four others, with far more places than are shown.
pub fn big() -> Report {
    full(1024, 5_000, 4096)
}

fn full(ranks: u32, places: usize, pairs: u32) -> Report {
    let wait = WaitTotal {
        pattern: Pattern::LateSender,
        at: Some((EVIL.to_owned(), place())),
        count: 60,
        ns: 1_200_000_000,
        share: 0.7,
        worst_rank: ranks - 1,
        worst_ns: 400_000_000,
    };
    let call = CallTotal {
        function: EVIL.to_owned(),
        place: Some(place()),
        calls: 123_456,
        ns: 9_876_543,
        share: 0.01,
        bytes: 1 << 40,
    };
    let part = PathPart {
        what: format!("computation before {EVIL}"),
        place: place(),
        rank: 0,
        ns: 100_000_000,
        share: 0.1,
        imbalance_ns: 50_000_000,
    };
    let gain = Gain {
        ns: 410_000_000,
        error_ns: 25_000_000,
        share: 0.947,
        share_error: 0.057,
        noise_left_out: false,
    };
    let finding = Finding {
        diagnosis: Diagnosis::Imbalance { who: Who::Named(vec![0]) },
        cause: Cause::Computation,
        ranks: vec![0],
        place: place(),
        path: vec![place(); 3],
        function: EVIL.to_owned(),
        after: Some(place()),
        within: None,
        region: Some(EVIL.to_owned()),
        waiting_ns: 1_200_000_000,
        propagated_ns: 10_000_000,
        share: 0.7,
        waiting_ranks: 3,
        waiting_in: Some((EVIL.to_owned(), place())),
        gain: Some(gain),
        balanced: Some(gain),
        headline: Headline::Balanced,
        at_most: false,
        after_first: false,
        option: Some(Change::Balance(Location::Line { file: EVIL.to_owned(), line: 1 }).into()),
    };
    let phase = Phase {
        place: place(),
        iterations: 20,
        median_ns: 20_000_000,
        shortest_ns: 19_000_000,
        longest_ns: 28_000_000,
        longest: 8,
        scatter_ns: 500_000,
    };
    let reconstructed = ReconstructedPlace {
        function: EVIL.to_owned(),
        place: place(),
        calls: 123_456,
        exact_ns: 9_876_543,
        reconstructed_ns: 9_000_000,
        unknown_ns: 8_000_000,
    };
    let hang = Hang {
        kind: HangKind::Inside,
        ranks: 4,
        cycle: Vec::new(),
        causes: Vec::new(),
        died_first: None,
        mistakes: Vec::new(),
        ended_early: Vec::new(),
        calls: vec![BlockedCall {
            rank: 0,
            thread: 0,
            function: EVIL.to_owned(),
            place: place(),
            callsite: None,
            since_ns: 0,
            polls: false,
            waits_for: None,
        }],
        running: false,
        until_ns: None,
    };
    Report {
        trace: format!("{EVIL}.kz"),
        executable: format!("/home/me/{EVIL}"),
        command: vec![EVIL.to_owned()],
        mpi_library: format!("An MPI by {EVIL}"),
        ranks,
        events: 1_000_000,
        span_ns: 800_000_000,
        run_ns: 433_000_000,
        shared_cores: None,
        stolen: None,
        efficiency: Efficiency {
            cores: None,
            own_cores_ns: None,
            parallel: 0.238,
            load_balance: 0.25,
            serialisation: 0.999,
            transfer: 0.951,
            average_computation_ns: 103_000_000,
            longest_computation_ns: 412_000_000,
            ideal_ns: 412_500_000,
            error: None,
        },
        findings: vec![finding.clone(), Finding { gain: None, ..finding }],
        blame: Vec::new(),
        waits: vec![WaitTotal { at: None, ..wait.clone() }],
        waits_by_place: vec![wait.clone(); places],
        completions: vec![WaitTotal { at: None, pattern: Pattern::NxNCompletion, ..wait.clone() }],
        completions_by_place: vec![WaitTotal { pattern: Pattern::NxNCompletion, ..wait }; places],
        critical_path: vec![part; places],
        functions: vec![CallTotal { place: None, ..call.clone() }; places],
        places: vec![call; places],
        computation: Vec::new(),
        rank_times: (0..ranks)
            .map(|rank| RankTime {
                rank,
                computation_ns: i64::from(rank % 7) * 50_000_000,
                mpi_ns: 433_000_000 - i64::from(rank % 7) * 50_000_000,
                waiting_ns: 100_000_000,
            })
            .collect(),
        outliers: (0..ranks).filter(|rank| rank % 7 == 0).collect(),
        matrix: (0..pairs)
            .map(|pair| MatrixCell {
                from: pair % ranks,
                to: pair.wrapping_mul(2_654_435_761) % ranks,
                messages: u64::from(pair) + 1,
                bytes: u64::from(pair) << 20,
            })
            .collect(),
        sizes: (0..40)
            .map(|bits| SizeClass {
                from_bytes: 1 << bits,
                to_bytes: (2 << bits) - 1,
                messages: 1 + bits,
                bytes: (1 + bits) << bits,
            })
            .collect(),
        phases: vec![phase],
        network: NetworkFit { latency_ns: 4_220.0, bandwidth: 1.25e9 },
        protocols: Vec::new(),
        not_understood: NotUnderstood {
            not_followed: 12,
            unmatched: 3,
            problems: vec![EVIL.to_owned(); 20],
            unrecorded: vec![EVIL.to_owned()],
        },
        reconstructed: Some(Reconstructed {
            rows_kept: 10,
            calls: 1_000_000,
            places: vec![reconstructed; places],
        }),
        hang: Some(hang),
        threads: None,
    }
}
