//! The machine as it was named: a file of SimGrid's, or a short form that becomes one.

use anyhow::{Context, Result, bail};
use kizami_network::platform::Platform;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A platform on the disk.
pub enum PlatformFile {
    /// Of the user.
    Given(PathBuf),
    /// Written for a short form; gone with this value.
    Written(NamedTempFile),
}

impl PlatformFile {
    /// Finds it, or writes it.
    pub fn of(named: &str) -> Result<PlatformFile> {
        let path = Path::new(named);
        if path.is_file() {
            return Ok(PlatformFile::Given(path.to_path_buf()));
        }
        if named.ends_with(".xml") {
            bail!("there is no platform file {named}");
        }
        let platform = Platform::parse(named).with_context(|| {
            format!("{named} is neither a file nor a short form such as fat-tree:64x16,2:1 (see `kizami help platform`)")
        })?;
        let mut file = tempfile::Builder::new()
            .suffix(".xml")
            .tempfile()
            .context("cannot make a file for the platform")?;
        file.write_all(platform.to_simgrid_xml().as_bytes()).context("cannot write the platform")?;
        Ok(PlatformFile::Written(file))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        match self {
            PlatformFile::Given(path) => path,
            PlatformFile::Written(file) => file.path(),
        }
    }
}
