//! A folder in which the commands of one transcript run, and the golden traces that come into it.

use crate::shown;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

/// Names of the sealed traces, without their ending.
pub fn sealed() -> Vec<String> {
    let sealed = sources().into_iter().filter(|(_, path)| path.parent().is_some_and(is_of_a_schema));
    let sealed = sealed.filter(|(_, path)| path.join("run.json").is_file());
    sealed.map(|(name, _)| name.trim_end_matches(".kz").to_owned()).collect()
}

fn is_of_a_schema(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("schema-"))
}

/// Where each trace lies, as a folder or packed, by the name it has when it is unpacked.
fn sources() -> BTreeMap<String, PathBuf> {
    let mut sources = BTreeMap::new();
    for folder in entries(Path::new(GOLDEN)) {
        if is_of_a_schema(&folder) || folder.ends_with("broken") {
            for path in entries(&folder) {
                let name = path.file_name().expect("a name").to_string_lossy().replace(".tar.gz", ".kz");
                assert!(sources.insert(name, path).is_none(), "two traces with one name");
            }
        }
    }
    sources
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// A folder of its own; gone when this is.
pub struct Place {
    folder: tempfile::TempDir,
    sources: BTreeMap<String, PathBuf>,
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a temporary directory"), sources: sources() }
    }

    /// Runs commands one behind the other and adds to a transcript what they print and what they leave behind.
    pub fn run(&self, commands: &[String], text: &mut String) {
        for command in commands {
            let output = self.output(command);
            text.push_str(&format!("$ kizami {command}\n"));
            shown::printed(text, &self.without_path(&output.stdout));
            if !output.stderr.is_empty() {
                text.push_str("[standard error]\n");
                shown::printed(text, &self.without_path(&output.stderr));
            }
            if output.status.code() != Some(0) {
                text.push_str(&format!("[exit code {}]\n", output.status.code().expect("no signal")));
            }
        }
        for path in self.written() {
            shown::file(text, &path);
            remove(&path);
        }
        text.push('\n');
    }

    /// Runs one command on copies of the traces it names.
    pub fn output(&self, line: &str) -> Output {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.iter().for_each(|word| self.bring(word));
        let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
        command.args(words).current_dir(self.folder.path());
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("KIZAMI_") {
                command.env_remove(variable);
            }
        }
        command.output().expect("kizami runs")
    }

    /// Brings a trace under another name.
    pub fn bring_as(&self, source: &str, name: &str) {
        let source = self.sources.get(source).unwrap_or_else(|| panic!("there is no golden trace {source}"));
        copy(source, &self.folder.path().join(name));
    }

    /// Copies or unpacks a trace when a command names it for the first time.
    fn bring(&self, word: &str) {
        let target = self.folder.path().join(word);
        let Some(source) = self.sources.get(word).filter(|_| !target.exists()) else { return };
        if source.is_dir() {
            copy(source, &target);
        } else {
            let unpacked =
                Command::new("tar").arg("-xzf").arg(source).arg("-C").arg(self.folder.path()).status();
            assert!(unpacked.expect("tar runs").success(), "{}", source.display());
        }
    }

    /// What commands wrote beside the traces.
    fn written(&self) -> Vec<PathBuf> {
        let is_golden = |path: &PathBuf| {
            self.sources.contains_key(path.file_name().expect("a name").to_string_lossy().as_ref())
        };
        entries(self.folder.path()).into_iter().filter(|path| !is_golden(path)).collect()
    }

    fn without_path(&self, bytes: &[u8]) -> String {
        let text = std::str::from_utf8(bytes).expect("kizami prints UTF-8");
        text.replace(self.folder.path().to_str().expect("UTF-8"), "[FOLDER]")
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a new directory");
    for path in entries(from) {
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a file can be copied");
        }
    }
}

fn remove(path: &Path) {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.expect("it can be removed");
}
