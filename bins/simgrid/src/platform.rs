//! The machine as it was named, as a file that SimGrid reads: one of SimGrid's that was looked at, or a short form's.

use anyhow::{Context, Result, bail};
use kizami_platform::{MOST_FILE_BYTES, Platform, check_for_simgrid};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// A platform on the disk, gone with this value. SimGrid gets the text that was checked, whatever becomes of the file it was
/// read from.
pub struct PlatformFile(NamedTempFile);

impl PlatformFile {
    /// Reads and checks it, or makes it.
    pub fn of(named: &str) -> Result<PlatformFile> {
        let path = Path::new(named);
        if path.is_file() {
            let mut text = String::new();
            File::open(path)
                .and_then(|file| file.take(MOST_FILE_BYTES + 1).read_to_string(&mut text))
                .with_context(|| format!("cannot read platform file {named}"))?;
            check_for_simgrid(&text).with_context(|| format!("cannot simulate on platform {named}"))?;
            return PlatformFile::write(&text);
        }
        if named.ends_with(".xml") {
            bail!("platform file {named} does not exist");
        }
        let platform = Platform::parse(named).with_context(|| {
            format!("{named} is neither a file nor a platform short form such as fat-tree:64x16,2:1 (see `kizami help platform`)")
        })?;
        let text = platform.to_simgrid_xml();
        check_for_simgrid(&text).with_context(|| format!("cannot simulate on platform {named}"))?;
        PlatformFile::write(&text)
    }

    fn write(text: &str) -> Result<PlatformFile> {
        let mut file = tempfile::Builder::new()
            .suffix(".xml")
            .tempfile()
            .context("cannot create a temporary platform file")?;
        file.write_all(text.as_bytes()).context("cannot write the temporary platform file")?;
        Ok(PlatformFile(file))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
