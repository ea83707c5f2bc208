//! The folder of a machine: reading it, writing it, putting two together.

use crate::error::MachineError;
use crate::tables::{CollectiveRow, MessageRow, NoiseRow};
use kizami_trace::TraceError;
use kizami_trace::columns::TableReader;
use kizami_trace::schema::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// The version of the format.
const SCHEMA: &str = "kizami-machine/1";
const ABOUT: &str = "machine.json";

/// What was measured, where and by whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The version of the format.
    pub schema: String,
    /// What people call it.
    pub name: String,
    /// Name of the first host.
    pub host: String,
    /// The MPI library and its version, as it says itself.
    pub mpi: String,
    /// The launcher's words.
    pub command: String,
    /// When, in seconds since 1970.
    pub measured_at: u64,
    /// The files it was imported from.
    #[serde(default)]
    pub imported_from: Vec<String>,
    /// What disturbed the measurement, for people.
    #[serde(default)]
    pub disturbed: Vec<String>,
}

/// A machine as it was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// What was measured, where and by whom.
    pub about: About,
    /// Collectives.
    pub collectives: Vec<CollectiveRow>,
    /// Messages between two ranks.
    pub messages: Vec<MessageRow>,
    /// Computation that takes longer than it should.
    pub noise: Vec<NoiseRow>,
}

/// Whether an MPI library, as it names itself, simulates its ranks.
pub(crate) fn is_simulator(library: &str) -> bool {
    ["SMPI", "SimGrid"].iter().any(|name| library.contains(name))
}

impl Machine {
    /// Reads one.
    pub fn open(path: &Path) -> Result<Machine, MachineError> {
        if !path.is_dir() {
            return Err(MachineError::NoMachine { path: path.to_path_buf() });
        }
        let file = path.join(ABOUT);
        let text = std::fs::read_to_string(&file).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => MachineError::NoMachine { path: path.to_path_buf() },
            _ => MachineError::File { doing: "read", path: file.clone(), source },
        })?;
        let damaged = |what: String| MachineError::Damaged { path: file.clone(), what };
        let about: About = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if about.schema != SCHEMA {
            return Err(damaged(format!(
                "its schema is {:?}, and this version reads {SCHEMA:?}",
                about.schema
            )));
        }
        Ok(Machine { about, collectives: rows(path)?, messages: rows(path)?, noise: rows(path)? })
    }

    /// Writes it into a new directory; nothing is left of it if that fails.
    pub fn write(&self, path: &Path) -> Result<(), MachineError> {
        let file = |doing, path: &Path| {
            let path = path.to_path_buf();
            move |source| MachineError::File { doing, path, source }
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let staging = tempfile::Builder::new()
            .prefix(".kizami-machine-")
            .tempdir_in(parent)
            .map_err(file("make a directory in", parent))?;
        CollectiveRow::write(&self.collectives, staging.path())?;
        MessageRow::write(&self.messages, staging.path())?;
        if !self.noise.is_empty() {
            NoiseRow::write(&self.noise, staging.path())?;
        }
        let about = About { schema: SCHEMA.to_owned(), ..self.about.clone() };
        let mut text = serde_json::to_string_pretty(&about).unwrap_or_default();
        text.push('\n');
        std::fs::write(staging.path().join(ABOUT), text).map_err(file("write", &path.join(ABOUT)))?;
        let staged = staging.keep();
        std::fs::rename(&staged, path).map_err(|source| {
            // What cannot be removed is named by what could not be done.
            let _ = std::fs::remove_dir_all(&staged);
            file("make", path)(source)
        })?;
        open_for_all(path);
        Ok(())
    }

    /// The numbers of ranks at which something was measured.
    pub fn ranks(&self) -> BTreeSet<u32> {
        self.collectives.iter().map(|row| row.ranks).collect()
    }

    /// The operations that were measured.
    pub fn operations(&self) -> BTreeSet<&str> {
        self.collectives.iter().map(|row| row.operation.as_str()).collect()
    }

    /// How many rows are not to be trusted.
    pub fn disturbed(&self) -> usize {
        let collectives = self.collectives.iter().filter(|row| row.disturbed.is_some()).count();
        collectives + self.messages.iter().filter(|row| row.disturbed.is_some()).count()
    }

    /// Takes over what another measurement of the same machine has.
    pub fn add(&mut self, other: Machine) {
        self.collectives.extend(other.collectives);
        self.messages.extend(other.messages);
        self.noise.extend(other.noise);
        self.about.disturbed.extend(other.about.disturbed);
        self.about.imported_from.extend(other.about.imported_from);
    }
}

/// Temporary folders are for their owner alone; a machine is for all who may read the folder around it.
fn open_for_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    // Whoever may not change this has a folder that works all the same.
    let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755));
}

fn rows<R: Record>(folder: &Path) -> Result<Vec<R>, MachineError> {
    let path = folder.join(R::PATH);
    if !path.exists() && !R::ALWAYS {
        return Ok(Vec::new());
    }
    let table = TableReader::open(&path).map_err(TraceError::from)?;
    Ok(R::read(&table)?)
}
