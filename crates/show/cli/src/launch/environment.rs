//! The variables that wake the tracer, and where the tracer is.
//!
//! `LD_PRELOAD` loads it, `KIZAMI_RAW` makes it record; which MPI it has before it, it finds out by itself. An
//! `LD_PRELOAD` of the user's is kept behind ours, so that both are loaded.

use super::launcher::Launcher;
use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// File name of the tracer.
pub const LIBRARY_NAME: &str = "libkizami.so";
/// Folder the tracer writes to; without it the tracer does nothing.
pub const RAW_VARIABLE: &str = "KIZAMI_RAW";

/// The tracer's file: the one given, or the one installed with this program.
pub fn find_library(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        let found = given.canonicalize().with_context(|| {
            format!("cannot use the tracer {} (KIZAMI_LIBRARY or --library)", given.display())
        })?;
        return preloadable(found);
    }
    let executable =
        std::env::current_exe().context("cannot determine the path of kizami; set KIZAMI_LIBRARY")?;
    let executable = executable.canonicalize().unwrap_or(executable);
    let folder = executable.parent().unwrap_or(Path::new("/"));
    let places = ["", "../lib", "../lib64", "../lib/kizami", "deps", "..", "../deps"];
    let found = places.iter().map(|place| folder.join(place).join(LIBRARY_NAME)).find(|path| path.is_file());
    match found {
        Some(path) => preloadable(path.canonicalize().unwrap_or(path)),
        None => bail!(
            "cannot find the tracer {LIBRARY_NAME} in {} or in its ../lib; put it there, or set KIZAMI_LIBRARY to \
             its path (in a source tree, `cargo build --release` makes both)",
            folder.display()
        ),
    }
}

/// The loader separates preloaded libraries by colons and spaces, and knows no quotes.
fn preloadable(library: PathBuf) -> Result<PathBuf> {
    if library.as_os_str().to_string_lossy().contains([' ', ':']) {
        bail!(
            "{} cannot be preloaded, because its path contains a space or a colon; copy {LIBRARY_NAME} elsewhere and set KIZAMI_LIBRARY to the copy",
            library.display()
        );
    }
    Ok(library)
}

/// All variables for the ranks of one recording; `wishes` are those that say how to record.
pub fn variables(
    launcher: Launcher,
    library: &Path,
    raw: &Path,
    wishes: Vec<(&'static str, OsString)>,
) -> Vec<(&'static str, OsString)> {
    let theirs = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    let mut variables = vec![("LD_PRELOAD", preload(library, &theirs)), (RAW_VARIABLE, raw.into())];
    if launcher == Launcher::Smpi {
        let theirs = std::env::var_os(TUNABLES).unwrap_or_default();
        variables.push((TUNABLES, with_room_for_copies(&theirs)));
    }
    variables.extend(wishes);
    variables
}

/// Settings of the C library.
const TUNABLES: &str = "GLIBC_TUNABLES";

/// A simulator loads the tracer once for each rank, and each copy takes 160 bytes of a space that the C library
/// reserves when the process starts: by this, enough for 6,500 ranks.
fn with_room_for_copies(theirs: &OsStr) -> OsString {
    let mut value = theirs.to_owned();
    if !value.is_empty() {
        value.push(":");
    }
    value.push("glibc.rtld.optional_static_tls=1048576");
    value
}

/// The tracer in front of what is preloaded anyway, once.
fn preload(library: &Path, theirs: &OsStr) -> OsString {
    let mut value = library.as_os_str().to_owned();
    let others = theirs.to_string_lossy();
    for other in others.split([' ', ':']).filter(|other| !other.is_empty() && Path::new(other) != library) {
        value.push(":");
        value.push(other);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_preload_is_kept_behind_ours() {
        let library = Path::new("/k/libkizami.so");
        assert_eq!(preload(library, OsStr::new("")), "/k/libkizami.so");
        assert_eq!(preload(library, OsStr::new("/a.so /b.so")), "/k/libkizami.so:/a.so:/b.so");
        assert_eq!(preload(library, OsStr::new("/a.so:/k/libkizami.so")), "/k/libkizami.so:/a.so");
    }

    #[test]
    fn the_users_tunables_are_kept_before_ours() {
        assert_eq!(with_room_for_copies(OsStr::new("")), "glibc.rtld.optional_static_tls=1048576");
        let both = "glibc.malloc.check=1:glibc.rtld.optional_static_tls=1048576";
        assert_eq!(with_room_for_copies(OsStr::new("glibc.malloc.check=1")), both);
    }

    #[test]
    fn a_path_the_loader_cannot_read_is_said() {
        let error = preloadable(PathBuf::from("/my files/libkizami.so")).unwrap_err();
        assert!(error.to_string().contains("space"));
    }
}
