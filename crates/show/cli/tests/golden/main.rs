//! Every command over every golden trace: what it prints, how it ends and what it writes, compared with snapshots.
//!
//! Traces and command lines lie beside this file: `schema-*/` has traces as they were recorded once, `broken/` some that
//! cannot be opened, `commands.txt` what is run. Inputs never change, so outputs are exact: a difference is a change of
//! behaviour, to be accepted with `INSTA_UPDATE=always` if it is meant, and explained in the commit.
//!
//! Nothing is recorded here and no MPI is needed; that is what the test `mpi` is for.

mod book;
mod commands;
mod json;
mod place;
mod repeated;
mod schemas;
mod shown;

use place::Place;

/// Runs the commands of a transcript and compares it with its snapshot.
fn check(name: &str) {
    let place = Place::new();
    let mut text = String::new();
    for line in commands::of(name) {
        place.run(&line, &mut text);
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// One test for each transcript, so that they run side by side and fail one by one.
macro_rules! transcripts {
    ($($test:ident $name:literal)*) => {
        $(
            #[test]
            fn $test() {
                check($name);
            }
        )*

        /// No trace and no transcript is forgotten in the list.
        #[test]
        fn every_transcript_has_its_test() {
            let mut listed = vec![$($name.to_owned()),*];
            listed.sort();
            assert_eq!(listed, commands::transcripts());
        }
    };
}

transcripts! {
    counters "counters"
    coverage "coverage"
    errors "errors"
    files "files"
    fleng "fleng"
    fortran_f08 "fortran-f08"
    fortran_mpif "fortran-mpif"
    help "help"
    hung "hung"
    hybrid "hybrid"
    kept "kept"
    kept_mpich "kept-mpich"
    killed "killed"
    helpers "helpers"
    late_sender "late-sender"
    late_sender_20 "late-sender-20"
    mpi4py "mpi4py"
    mpich4 "mpich4"
    mpich5 "mpich5"
    one_sided "one-sided"
    openmpi4 "openmpi4"
    openmpi5 "openmpi5"
    paper "paper"
    paths "paths"
    persistent "persistent"
    raw "raw"
    raw_counters "raw-counters"
    raw_kept "raw-kept"
    reduced "reduced"
    reduced_paper "reduced-paper"
    regions "regions"
    replayed "replayed"
    simulated "simulated"
    standard_abi "standard-abi"
    stopped_together "stopped-together"
    threads "threads"
    two_hosts "two-hosts"
    two_hosts_repaired "two-hosts-repaired"
    undisturbed "undisturbed"
    wildcard "wildcard"
}
