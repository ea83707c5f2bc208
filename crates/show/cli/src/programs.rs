//! Finding programs on the `PATH`: by name, or by how their names begin.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The first executable of this name on the `PATH`; a name with a slash is taken as it is.
pub fn on_path(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 || name.is_absolute() {
        return is_executable(name).then(|| name.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_executable(file))
}

/// Names of the executables in these folders that begin so, without that.
pub fn names_behind(prefix: &str, folders: impl Iterator<Item = PathBuf>) -> BTreeSet<String> {
    let entries = folders.filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().to_str()?.strip_prefix(prefix)?.to_owned();
        is_executable(&entry.path()).then_some(name)
    });
    named.collect()
}

/// Whether this file can be run.
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
