//! What sentences are made from in tests.

use kizami_explain::{
    Cause, Diagnosis, Efficiency, Finding, Headline, NetworkFit, NotUnderstood, Report, SourceLine, Who,
};

/// Compares lines with their snapshot.
pub fn check(name: &str, lines: &[String]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, lines.join("\n")));
}

/// A line of a source file.
pub fn at(line: u32) -> SourceLine {
    SourceLine { file: Some("solver.c".to_owned()), line: Some(line), ..SourceLine::in_function("step") }
}

/// Nobody knows where.
pub fn unknown() -> SourceLine {
    SourceLine::in_function("(unknown place)")
}

/// These ranks.
pub fn named(ranks: &[u32]) -> Who {
    Who::Named(ranks.to_vec())
}

/// Something that was found.
pub fn finding_of(diagnosis: Diagnosis, cause: Cause) -> Finding {
    Finding {
        diagnosis,
        cause,
        ranks: vec![3],
        place: at(42),
        path: Vec::new(),
        function: "MPI_Send".to_owned(),
        after: Some(at(17)),
        within: None,
        region: None,
        waiting_ns: 1_200_000_000,
        propagated_ns: 10_000_000,
        share: 0.314,
        waiting_ranks: 5,
        waiting_in: Some(("MPI_Recv".to_owned(), at(50))),
        gain: None,
        balanced: None,
        headline: Headline::Gain,
        at_most: false,
        after_first: false,
        option: None,
    }
}

/// A run of four ranks in which nothing was found.
pub fn report() -> Report {
    Report {
        trace: "run.kz".to_owned(),
        executable: "/home/me/solver".to_owned(),
        command: Vec::new(),
        mpi_library: "Open MPI 5".to_owned(),
        ranks: 4,
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
        threads: None,
        hang: None,
    }
}
