//! Which algorithms the launcher's MPI has.

use anyhow::{Context, Result, bail};
use kizami_machine::measure::Algorithms;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What tells Open MPI's algorithms.
const OMPI_INFO: &str = "ompi_info";

/// Those of a library, by what it says of itself, that was started by this launcher.
pub fn of(library: &str, launcher: &str) -> Result<Algorithms> {
    if library.contains("Open MPI") {
        let info = beside(launcher);
        let asked =
            Command::new(&info).args(["--param", "coll", "tuned", "--level", "9", "--parsable"]).output();
        let asked = asked
            .with_context(|| format!("cannot run {}, which lists Open MPI's algorithms", info.display()))?;
        let algorithms = Algorithms::of_open_mpi(&String::from_utf8_lossy(&asked.stdout));
        if algorithms.is_empty() {
            bail!("{} lists no collective algorithms; is its component `tuned` installed?", info.display());
        }
        return Ok(algorithms);
    }
    if library.contains("MPICH") {
        return Ok(Algorithms::of_mpich());
    }
    bail!("the algorithms of {library} are not known; leave out --algorithms")
}

/// The one that belongs to the launcher, else the one on the path.
fn beside(launcher: &str) -> PathBuf {
    let given = Path::new(launcher);
    let places = std::env::var_os("PATH").unwrap_or_default();
    let found = match given.components().count() {
        1 => std::env::split_paths(&places).map(|folder| folder.join(given)).find(|path| path.exists()),
        _ => Some(given.to_path_buf()),
    };
    // A link is followed only if its own folder has none.
    let folders = found.iter().filter_map(|path| path.parent().map(Path::to_path_buf));
    let behind = found.iter().filter_map(|path| Some(path.canonicalize().ok()?.parent()?.to_path_buf()));
    let own = folders.chain(behind).map(|folder| folder.join(OMPI_INFO)).find(|path| path.exists());
    own.unwrap_or_else(|| PathBuf::from(OMPI_INFO))
}
