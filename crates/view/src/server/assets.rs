//! The files of the page, as they were when the program was built.

/// By name.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The file a path means: exactly its name, nothing else.
pub(super) fn find(path: &str) -> Option<(&'static str, &'static [u8])> {
    let name = match path {
        "/" => "index.html",
        path => path.strip_prefix('/')?,
    };
    FILES.iter().find(|(own, _)| *own == name).copied()
}

/// Its media type.
pub(super) fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}
