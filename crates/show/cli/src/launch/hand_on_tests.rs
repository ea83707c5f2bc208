//! Command lines as people type them, and what becomes of them.

use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn rewritten(launcher: Launcher, line: &str) -> String {
    let variables = [("LD_PRELOAD", OsString::from("/k.so")), ("KIZAMI_RAW", OsString::from("/r"))];
    let launch = hand_on(launcher, &words(line), &variables);
    assert!(!launch.needs_environment, "{line}");
    let words: Vec<_> = launch.command.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

#[test]
fn open_mpi_gets_x_directly_behind_its_name() {
    assert_eq!(
        rewritten(Launcher::OpenMpi, "mpirun -n 4 ./app -x 1"),
        "mpirun -x LD_PRELOAD=/k.so -x KIZAMI_RAW=/r -n 4 ./app -x 1"
    );
    assert_eq!(
        rewritten(Launcher::OpenMpi, "mpirun --unknown-option 3 ./app"),
        "mpirun -x LD_PRELOAD=/k.so -x KIZAMI_RAW=/r --unknown-option 3 ./app"
    );
}

#[test]
fn open_mpi_gets_it_for_every_program() {
    assert_eq!(
        rewritten(Launcher::OpenMpi, "mpirun -n 1 ./a : -n 2 ./b c"),
        "mpirun -x LD_PRELOAD=/k.so -x KIZAMI_RAW=/r -n 1 ./a : \
         -x LD_PRELOAD=/k.so -x KIZAMI_RAW=/r -n 2 ./b c"
    );
}

#[test]
fn a_preload_given_to_open_mpi_stays_behind_ours() {
    assert_eq!(
        rewritten(Launcher::OpenMpi, "mpirun -x LD_PRELOAD=/u.so -n 1 ./a -x LD_PRELOAD=/z.so : ./b"),
        "mpirun -x KIZAMI_RAW=/r -x LD_PRELOAD=/k.so:/u.so -n 1 ./a -x LD_PRELOAD=/z.so : \
         -x LD_PRELOAD=/k.so -x KIZAMI_RAW=/r ./b"
    );
    assert_eq!(
        rewritten(Launcher::OpenMpi, "mpirun -x LD_PRELOAD ./a"),
        "mpirun -x KIZAMI_RAW=/r -x LD_PRELOAD=/k.so ./a"
    );
}

#[test]
fn open_mpi_with_its_own_list_of_variables_gets_the_environment() {
    let variables = [("LD_PRELOAD", OsString::from("/k.so"))];
    for line in ["mpirun --mca mca_base_env_list A=1 ./app", "mpirun --app programs.txt"] {
        let launch = hand_on(Launcher::OpenMpi, &words(line), &variables);
        assert_eq!(launch, Launch { command: words(line), needs_environment: true });
    }
}

#[test]
fn hydra_gets_genv_once() {
    assert_eq!(
        rewritten(Launcher::Hydra, "mpiexec -n 1 ./a : -n 2 ./b"),
        "mpiexec -genv LD_PRELOAD /k.so -genv KIZAMI_RAW /r -n 1 ./a : -n 2 ./b"
    );
}

#[test]
fn a_preload_given_to_hydra_stays_behind_ours() {
    assert_eq!(
        rewritten(Launcher::Hydra, "mpiexec -genv LD_PRELOAD /u.so -n 2 ./a"),
        "mpiexec -genv KIZAMI_RAW /r -genv LD_PRELOAD /k.so:/u.so -n 2 ./a"
    );
    assert_eq!(
        rewritten(Launcher::Hydra, "mpiexec -n 1 ./a : -env LD_PRELOAD /u.so -n 2 ./b -env LD_PRELOAD x"),
        "mpiexec -genv LD_PRELOAD /k.so -genv KIZAMI_RAW /r -n 1 ./a : \
         -env LD_PRELOAD /k.so:/u.so -n 2 ./b -env LD_PRELOAD x"
    );
}

#[test]
fn a_preload_given_to_hydra_in_one_word_stays_behind_ours() {
    assert_eq!(
        rewritten(Launcher::Hydra, "mpiexec -genv LD_PRELOAD=/u.so -n 2 ./a"),
        "mpiexec -genv KIZAMI_RAW /r -genv LD_PRELOAD=/k.so:/u.so -n 2 ./a"
    );
}

#[test]
fn a_preload_in_open_mpis_list_stays_behind_ours() {
    let variables = [("LD_PRELOAD", OsString::from("/k.so"))];
    let launch = hand_on(
        Launcher::OpenMpi,
        &words("mpirun --mca mca_base_env_list A=1;LD_PRELOAD=/u.so ./a"),
        &variables,
    );
    let expected = words("mpirun --mca mca_base_env_list A=1;LD_PRELOAD=/k.so:/u.so ./a");
    assert_eq!((launch.command, launch.needs_environment), (expected, true));
}

#[test]
fn a_preload_given_to_srun_stays_behind_ours() {
    assert_eq!(
        rewritten(Launcher::Srun, "srun --export=ALL,LD_PRELOAD=/u.so -n 4 ./app"),
        "srun --export=ALL,LD_PRELOAD=/k.so:/u.so,KIZAMI_RAW=/r -n 4 ./app"
    );
}

#[test]
fn srun_gets_export() {
    assert_eq!(
        rewritten(Launcher::Srun, "srun -n 4 ./app --export=x"),
        "srun --export=ALL,LD_PRELOAD=/k.so,KIZAMI_RAW=/r -n 4 ./app --export=x"
    );
    assert_eq!(
        rewritten(Launcher::Srun, "srun --export=HOME,A=1 -n 4 ./app"),
        "srun --export=HOME,A=1,LD_PRELOAD=/k.so,KIZAMI_RAW=/r -n 4 ./app"
    );
    assert_eq!(
        rewritten(Launcher::Srun, "srun --export NONE ./a : -n2 ./b"),
        "srun --export=LD_PRELOAD=/k.so,KIZAMI_RAW=/r ./a : --export=ALL,LD_PRELOAD=/k.so,KIZAMI_RAW=/r -n2 ./b"
    );
}

#[test]
fn srun_gets_the_environment_where_its_list_cannot_say_it() {
    let variables = [("KIZAMI_RAW", OsString::from("/a,b"))];
    assert!(hand_on(Launcher::Srun, &words("srun ./app"), &variables).needs_environment);
}

#[test]
fn anything_else_is_left_alone() {
    let variables = [("LD_PRELOAD", OsString::from("/k.so"))];
    let launch = hand_on(Launcher::None, &words("./app -n 4 : -x"), &variables);
    assert_eq!(launch, Launch { command: words("./app -n 4 : -x"), needs_environment: true });
}

/// The same for a program built with AddressSanitizer, with options in the environment as well.
fn checked(launcher: Launcher, line: &str) -> String {
    let variables = [("ASAN_OPTIONS", OsString::from("verify_asan_link_order=0:log_path=e"))];
    let words: Vec<_> = hand_on(launcher, &words(line), &variables).command;
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[test]
fn options_for_a_sanitizer_stay_behind_ours() {
    let merged = "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0";
    let theirs = "ASAN_OPTIONS=detect_leaks=0";
    for (launcher, line) in [
        (Launcher::OpenMpi, "mpirun -x {} -n 1 ./a"),
        (Launcher::OpenMpi, "mpirun --mca mca_base_env_list A=1;{} ./a"),
        (Launcher::Hydra, "mpiexec -genv {} -n 1 ./a"),
        (Launcher::Srun, "srun --export=ALL,{} ./a"),
    ] {
        assert_eq!(checked(launcher, &line.replace("{}", theirs)), line.replace("{}", merged));
    }
    assert_eq!(
        checked(Launcher::Hydra, "mpiexec -genv ASAN_OPTIONS detect_leaks=0 ./a"),
        "mpiexec -genv ASAN_OPTIONS verify_asan_link_order=0:detect_leaks=0 ./a"
    );
    assert_eq!(
        checked(Launcher::OpenMpi, "mpirun -x ASAN_OPTIONS ./a"),
        "mpirun -x ASAN_OPTIONS=verify_asan_link_order=0:log_path=e ./a"
    );
}

#[test]
fn options_for_a_sanitizer_are_left_alone_where_none_is_needed() {
    assert_eq!(
        rewritten(Launcher::OpenMpi, "mpirun -x ASAN_OPTIONS=a=1 ./a"),
        "mpirun -x LD_PRELOAD=/k.so -x KIZAMI_RAW=/r -x ASAN_OPTIONS=a=1 ./a"
    );
}
