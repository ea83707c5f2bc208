//! Programs whose calls are all made in one helper function: findings and ideas name who called it.

// Each test takes what it needs.
#[allow(dead_code)]
mod scripts;

use kizami_explain::{Idea, WhatIf};
use kizami_testing::Act::*;
use kizami_trace::{CallSite, Definitions, PathFrame};
use kizami_whatif::Change;
use scripts::{Looped, Places};

const ITERATIONS: usize = 10;
const LONGER_NS: i64 = 400_000;

fn run() -> Looped {
    // Line 20 of the solver comes late on rank 0.
    let body = |late_ns| {
        vec![
            Compute(100_000),
            Together("MPI_Allreduce"),
            Compute(100_000 + late_ns),
            Together("MPI_Allreduce"),
            Compute(100_000),
            Together("MPI_Allreduce"),
        ]
    };
    let bodies = vec![body(LONGER_NS), body(0), body(0), body(0)];
    Looped { bodies, iterations: ITERATIONS, places: Places::Shared }
}

/// Calls are made at `sum.c:5`, which lines 10, 20 and 30 of `solve` use, and that line 3 of `main`.
fn by_one_helper(definitions: &mut Definitions) {
    let frame = |index: u32, caller: Option<u32>, function: &str, line: u32| PathFrame {
        index,
        caller,
        offset: u64::from(line),
        module: Some("/bin/solver".to_owned()),
        function: function.to_owned(),
        file: Some(format!("/src/{function}.c")),
        line: Some(line),
        inlined_into: Vec::new(),
    };
    definitions.paths = vec![
        frame(0, None, "main", 3),
        frame(1, Some(0), "solve", 10),
        frame(2, Some(0), "solve", 20),
        frame(3, Some(0), "solve", 30),
    ];
    let sites = definitions.callsites.iter_mut().filter(|site| matches!(site.index, 2 | 4 | 6));
    for site in sites {
        *site = CallSite {
            function: "sum".to_owned(),
            module: Some("/bin/solver".to_owned()),
            file: Some("/src/sum.c".to_owned()),
            line: Some(5),
            path: Some(site.index / 2),
            ..site.clone()
        };
    }
}

#[test]
fn a_finding_lies_in_the_function_that_makes_both_calls() {
    let (report, _) = run().explained_with(by_one_helper);
    let finding = &report.findings[0];
    assert_eq!(finding.place.to_string(), "sum.c:5 <- solve.c:20");
    let within = finding.within.as_ref().expect("both calls are made in one function");
    assert_eq!(within.clone().map(|place| place.to_string()), ["solve.c:10", "solve.c:20"]);
    assert_eq!(within[1].function, "solve");
    let option = finding.option.as_ref().expect("an option").to_string();
    assert_eq!(option, "--remove-excess sum.c:5^solve.c:20");
    let (_, place) = finding.waiting_in.as_ref().expect("others wait");
    assert_eq!(place.to_string(), "sum.c:5 <- solve.c:20");
    assert_eq!(finding.gain.map(|gain| gain.ns), Some(ITERATIONS as i64 * LONGER_NS));
}

#[test]
fn what_an_option_names_is_what_its_gain_is_of() {
    let (report, ideas) = run().explained_with(by_one_helper);
    let gain = |option: &str| -> i64 {
        let of = |idea: &&WhatIf| idea.option.as_ref().is_some_and(|changes| changes.to_string() == option);
        ideas.iter().find(of).unwrap_or_else(|| panic!("{option}: {ideas:?}")).gain.ns
    };
    let iterations = ITERATIONS as i64;
    assert_eq!(gain("--callsite sum.c:5^solve.c:20=0.5"), iterations * (100_000 + LONGER_NS) / 2);
    assert_eq!(gain("--callsite sum.c:5^solve.c:30=0.5"), iterations * 100_000 / 2);
    // The helper contains none of the computation, and main all of it.
    let functions: Vec<&str> = ideas
        .iter()
        .filter_map(|idea| match &idea.what {
            Idea::HalveBelow(function) => Some(function.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(functions, Vec::<&str>::new());
    assert!(
        report.critical_path.iter().all(|part| part.place.caller.is_some() || part.place.line != Some(5))
    );
}

#[test]
fn a_caller_is_read_as_it_is_printed() {
    let mut definitions = run().definitions();
    by_one_helper(&mut definitions);
    for (option, sites) in [
        ("--balance sum.c:5", &[2, 4, 6][..]),
        ("--balance sum.c:5^solve.c:20", &[4]),
        ("--balance sum.c:5 <- solve.c:20", &[4]),
        ("--balance sum.c:5^solve", &[2, 4, 6]),
    ] {
        let change: Change = option.parse().expect("an option");
        assert_eq!(change.resolve(&definitions), Ok(Change::Balance(sites.to_vec())), "{option}");
    }
}
