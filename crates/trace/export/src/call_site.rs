//! Where calls are made from, as texts.

use kizami_trace::{CallSite, Definitions, PathFrame};

/// A call site as one text: `function file:line`, as much of it as is known.
pub(super) fn site_text(site: &CallSite) -> String {
    place(&site.function, site.file.as_deref(), site.line)
}

/// The functions that led to a call site, from the one that makes the call to the outermost. None if they are not known.
pub(super) fn path_text(definitions: &Definitions, site: &CallSite) -> Option<String> {
    site.path?;
    let caller = |frame: &PathFrame| place(&frame.function, frame.file.as_deref(), frame.line);
    let callers = definitions.callers(site.path).map(caller);
    Some(std::iter::once(site_text(site)).chain(callers).collect::<Vec<_>>().join(" <- "))
}

fn place(function: &str, file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{function} {file}:{line}"),
        (Some(file), None) => format!("{function} {file}"),
        (None, _) => function.to_owned(),
    }
}
