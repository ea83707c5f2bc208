//! Source locations of calls, as reports print them.

use crate::definitions::{CallSite, Definitions};
use crate::function_name;
use serde::{Deserialize, Serialize};

/// Where calls are made from: a source line, or without debug information a function or an address in a module.
///
/// `{}` shortens the name of a function; `{:#}` gives all of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceLine {
    /// File name of the source, without directories.
    pub file: Option<String>,
    /// Line in the file.
    pub line: Option<u32>,
    /// The function that contains the call.
    pub function: String,
}

impl SourceLine {
    /// That of the call site with this index.
    pub fn of(definitions: &Definitions, site: Option<u32>) -> SourceLine {
        match site.and_then(|site| definitions.callsites.get(site as usize)) {
            Some(site) => SourceLine::from(site),
            None => SourceLine { file: None, line: None, function: UNKNOWN.to_owned() },
        }
    }

    /// The call site is not known.
    pub fn is_unknown(&self) -> bool {
        self.function == UNKNOWN
    }

    /// The function without template arguments and parameters.
    pub fn short_function(&self) -> String {
        function_name::short(&self.function)
    }
}

impl From<&CallSite> for SourceLine {
    fn from(site: &CallSite) -> SourceLine {
        SourceLine {
            file: site.file.as_ref().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned()),
            line: site.line,
            function: site.function.clone(),
        }
    }
}

/// Stands where a function would.
const UNKNOWN: &str = "(unknown place)";

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let function =
            || if f.alternate() { self.function.clone() } else { function_name::shown(&self.function) };
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}"),
            (Some(file), None) => write!(f, "{} in {file}", function()),
            _ => f.write_str(&function()),
        }
    }
}
