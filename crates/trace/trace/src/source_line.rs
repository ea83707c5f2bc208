//! Source locations of calls, as reports print them.

use crate::calling_context;
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
    /// The innermost caller by which this differs from other calls on the same line, where there are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Box<SourceLine>>,
}

impl SourceLine {
    /// That of the call site with this index: the innermost call on its path whose function has a name.
    pub fn of(definitions: &Definitions, site: Option<u32>) -> SourceLine {
        let places = definitions.contexts.places(definitions);
        site.and_then(|site| places.get(site as usize))
            .cloned()
            .unwrap_or_else(|| SourceLine::in_function(UNKNOWN))
    }

    /// A function of which no lines are known.
    pub fn in_function(function: impl Into<String>) -> SourceLine {
        SourceLine { file: None, line: None, function: function.into(), caller: None }
    }

    /// The same line, whoever called its function.
    pub fn of_any_caller(self) -> SourceLine {
        SourceLine { caller: None, ..self }
    }

    /// The innermost function that makes the calls of both call sites, as the lines in it that lead to them. None if there is
    /// none, or none with a name.
    pub fn between(definitions: &Definitions, first: u32, second: u32) -> Option<[SourceLine; 2]> {
        calling_context::between(definitions, first, second)
    }

    /// The path to the call site with this index, from the line that [`SourceLine::of`] gives to the outermost function.
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
            path.extend(inlined_into.iter().map(SourceLine::in_function));
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
        SourceLine {
            file: site.file.as_deref().map(file_name),
            line: site.line,
            function: site.function.clone(),
            caller: None,
        }
    }
}

impl From<&PathFrame> for SourceLine {
    fn from(frame: &PathFrame) -> SourceLine {
        SourceLine {
            file: frame.file.as_deref().map(file_name),
            line: frame.line,
            function: frame.function.clone(),
            caller: None,
        }
    }
}

/// The name of a file without its directories.
pub(crate) fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Stands between a place and the caller that distinguishes it.
pub const CALLED_FROM: &str = " <- ";

/// Stands where a function would.
const UNKNOWN: &str = "(unknown place)";

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let function =
            || if f.alternate() { self.function.clone() } else { function_name::shown(&self.function) };
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}")?,
            (Some(file), None) => write!(f, "{} in {file}", function())?,
            _ => f.write_str(&function())?,
        }
        let Some(caller) = &self.caller else { return Ok(()) };
        f.write_str(CALLED_FROM)?;
        caller.fmt(f)
    }
}
