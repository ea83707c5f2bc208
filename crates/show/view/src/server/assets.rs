//! The files of the page, as they were when the program was built.

/// By name.
const FILES: &[(&str, &[u8])] = &[
    ("index.html", include_bytes!("../../assets/index.html")),
    ("app.js", include_bytes!("../../assets/app.js")),
    ("app.css", include_bytes!("../../assets/app.css")),
    ("icon.svg", include_bytes!("../../assets/icon.svg")),
];

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
        _ => "application/octet-stream",
    }
}
