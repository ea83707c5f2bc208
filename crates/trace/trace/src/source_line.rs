//! Places of the program, as people name them.

use crate::definitions::Definitions;
use serde::{Deserialize, Serialize};

/// A place calls are made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceLine {
    /// The last part of the path of the source file.
    pub file: Option<String>,
    /// Line there.
    pub line: Option<u32>,
    /// Function the call is in.
    pub function: String,
}

impl SourceLine {
    /// The place with this index.
    pub fn of(definitions: &Definitions, site: Option<u32>) -> SourceLine {
        match site.and_then(|site| definitions.callsites.get(site as usize)) {
            Some(site) => SourceLine {
                file: site.file.as_ref().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned()),
                line: site.line,
                function: site.function.clone(),
            },
            None => SourceLine { file: None, line: None, function: UNKNOWN.to_owned() },
        }
    }

    /// Nobody knows where it is.
    pub fn is_unknown(&self) -> bool {
        self.function == UNKNOWN
    }
}

/// Stands where a function would.
const UNKNOWN: &str = "(unknown place)";

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}"),
            (Some(file), None) => write!(f, "{} in {file}", self.function),
            _ => write!(f, "{}", self.function),
        }
    }
}
