//! What is found in the store becomes part of a skeleton, so it must be the user's own.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};

/// What a command said.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const SOURCE: &str =
    "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n";

/// Builds with no cache folder but what `variable` says.
fn build(folder: &Path, variable: &str, value: &Path) -> Output {
    std::fs::write(folder.join("program.c"), SOURCE).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_kizami-skeleton"))
        .args(["build", "-o", "skel", "--", "mpicc.mpich", "-g", "-o", "program", "program.c"])
        .current_dir(folder)
        .env_remove("KIZAMI_SKELETON_STORE")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("HOME")
        .env(variable, value)
        .output();
    output.expect("it starts")
}

#[test]
fn it_is_made_for_its_owner_alone() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().to_path_buf();
    let built = build(&folder, "TMPDIR", &folder);
    assert!(built.status.success(), "{}", said(&built));
    let user = std::fs::metadata(&folder).expect("ours").uid();
    let about = std::fs::metadata(folder.join(format!("kizami-skeleton-{user}"))).expect("the store");
    assert_eq!(about.mode() & 0o777, 0o700);
}

#[test]
fn one_that_others_can_write_to_is_refused() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().to_path_buf();
    let store = folder.join("store");
    std::fs::create_dir(&store).expect("a folder");
    for mode in [0o770, 0o707, 0o777] {
        std::fs::set_permissions(&store, PermissionsExt::from_mode(mode)).expect("ours");
        let built = build(&folder, "KIZAMI_SKELETON_STORE", &store);
        assert_eq!(built.status.code(), Some(1));
        assert!(said(&built).contains("is writable by other users"), "{}", said(&built));
    }
}

/// Needs root, to make a folder that is another user's.
#[test]
fn one_that_another_user_made_is_refused() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().to_path_buf();
    let user = std::fs::metadata(&folder).expect("ours").uid();
    let (store, elsewhere) = (folder.join(format!("kizami-skeleton-{user}")), folder.join("elsewhere"));
    std::fs::create_dir(&elsewhere).expect("a folder");
    std::os::unix::fs::symlink(&elsewhere, &store).expect("a link");
    std::os::unix::fs::lchown(&store, Some(12345), None).expect("root may");
    let refused = |what: &str| {
        let built = build(&folder, "TMPDIR", &folder);
        assert_eq!(built.status.code(), Some(1), "{what}");
        assert!(said(&built).contains("belongs to another user"), "{what}: {}", said(&built));
    };
    refused("a link");
    std::fs::remove_file(&store).expect("ours");
    std::fs::create_dir(&store).expect("a folder");
    std::os::unix::fs::chown(&store, Some(12345), None).expect("root may");
    refused("a folder");
}
