//! Source locations of calls, as reports print them.

use crate::definitions::{CallSite, Definitions, PathFrame, has_name};
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
    /// That of the call site with this index: the innermost call on its path whose function has a name.
    pub fn of(definitions: &Definitions, site: Option<u32>) -> SourceLine {
        match site.and_then(|site| definitions.callsites.get(site as usize)) {
            Some(site) => match definitions.named_frame(site) {
                Some(frame) => SourceLine::from(frame),
                None => SourceLine::from(site),
            },
            None => SourceLine { file: None, line: None, function: UNKNOWN.to_owned() },
        }
    }

    /// The path to the call site with this index, from the place that [`SourceLine::of`] gives to the outermost function.
    /// Functions that a function was inlined into follow it, without lines.
    pub fn path(definitions: &Definitions, site: Option<u32>) -> Vec<SourceLine> {
        let site = site.and_then(|site| definitions.callsites.get(site as usize));
        let Some(site) = site else { return Vec::new() };
        let named = definitions.named_frame(site);
        let own = named.is_none().then(|| (SourceLine::from(site), &site.inlined_into));
        let begin = named.map_or(site.path, |frame| Some(frame.index));
        let callers = definitions.callers(begin).map(|frame| (SourceLine::from(frame), &frame.inlined_into));
        let mut path = Vec::new();
        for (line, inlined_into) in own.into_iter().chain(callers) {
            path.push(line);
            path.extend(inlined_into.iter().map(|function| SourceLine {
                file: None,
                line: None,
                function: function.clone(),
            }));
        }
        path
    }

    /// Whether it is more than an address in a module.
    pub fn has_name(&self) -> bool {
        has_name(&self.function, self.file.as_deref())
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
        SourceLine { file: site.file.as_deref().map(name), line: site.line, function: site.function.clone() }
    }
}

impl From<&PathFrame> for SourceLine {
    fn from(frame: &PathFrame) -> SourceLine {
        SourceLine {
            file: frame.file.as_deref().map(name),
            line: frame.line,
            function: frame.function.clone(),
        }
    }
}

/// The name of a file without its directories.
fn name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
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
